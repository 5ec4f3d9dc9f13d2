//! What is done to the compiler's PTX before it is kept.
//!
//! - Comments go: they name the compiler and number its call sequences.
//! - `.file`, `.loc` and debug sections go: they name paths.
//! - The markers `__launch_bounds_<entry>` that `#[kernel(launch_bounds(…))]` leaves, two u32 each, become `.maxntid`
//!   and `.minnctapersm` of their entry, and go. rustc has no attribute for these directives.
//! - What no entry reaches goes.
//! - Mangled names become short ones that hold no hash of a folder (`names.rs`).

use std::collections::BTreeMap;

use crate::kernel_crate::ImageSpec;
use crate::ptx::{Bounds, Item, Kind, Ptx};
use crate::{Error, Result, names};

/// The prefix of the markers' names.
pub const MARKER: &str = "__launch_bounds_";

/// PTX as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The text.
    pub text: String,
    /// Its kernels with their launch bounds.
    pub entries: BTreeMap<String, Bounds>,
}

/// Turns the compiler's text into the one that is kept.
///
/// # Errors
/// [`Error::Ptx`] if the text is not for the version and target asked for, has no entry, or has a marker that fits no
/// entry or says something no GPU can do.
pub fn finish(crate_name: &str, module: &str, spec: &ImageSpec, raw: &str) -> Result<Finished> {
    let fault = |line, why| Error::Ptx { module: module.into(), line, why };
    let mut ptx = Ptx::parse(module, raw)?;
    if ptx.isa() != Some(spec.isa) || ptx.target() != Some(&spec.target()) {
        let why = format!(
            "expected .version {}.{} and .target {}, found {} and {}",
            spec.isa / 10,
            spec.isa % 10,
            spec.target(),
            ptx.isa().map_or("none".into(), |isa| format!(".version {}.{}", isa / 10, isa % 10)),
            ptx.target().map_or("none".into(), |target| format!(".target {target}")),
        );
        return Err(fault(0, why));
    }
    if ptx.entries().next().is_none() {
        let why = format!(
            "no kernel: is there a #[kernel(module = {module}, …)] in this crate, and is its file part of the crate?"
        );
        return Err(fault(0, why));
    }

    let markers: Vec<Item> = ptx.items.iter().filter(|item| item.name.starts_with(MARKER)).cloned().collect();
    for marker in &markers {
        let bounds = marker_bounds(marker).map_err(|why| fault(marker.line, why))?;
        let name = &marker.name[MARKER.len()..];
        let entry = ptx.items.iter_mut().find(|item| item.kind == Kind::Entry && item.name == name);
        let entry = entry
            .ok_or_else(|| fault(marker.line, format!("launch bounds of `{name}`, which is no entry")))?;
        insert_bounds(entry, bounds).map_err(|why| fault(entry.line, why))?;
    }

    let mut kept: Vec<usize> = ptx.entries().flat_map(|entry| ptx.reached_from(entry)).collect();
    kept.extend((0..ptx.items.len()).filter(|index| {
        let item = &ptx.items[*index];
        item.kind == Kind::Directive && !matches!(item.name.as_str(), ".file" | ".loc" | ".section")
    }));
    kept.sort_unstable();
    kept.dedup();

    let mut items: Vec<Item> = kept.into_iter().map(|index| ptx.items[index].clone()).collect();
    names::shorten(&mut items);

    let mut text = format!("// {crate_name}, module {module}. Written by gpu-builder; do not edit.\n");
    let mut last = Kind::Prototype;
    for item in &items {
        if item.kind != last || !matches!(item.kind, Kind::Directive | Kind::Variable) {
            text.push('\n');
        }
        last = item.kind;
        text.push_str(&item.text);
        text.push('\n');
    }
    let entries = ptx.entries().map(|entry| (entry.name.clone(), entry.bounds())).collect();
    Ok(Finished { text, entries })
}

/// What a marker says. The compiler writes it as words or as bytes, and leaves zeros at the end out.
fn marker_bounds(marker: &Item) -> Result<Bounds, String> {
    let odd = || format!("launch bounds are two u32, and this is `{}`", marker.text);
    let values = match marker.text.split_once('{') {
        Some((_, list)) => {
            let list = list.split_once('}').ok_or_else(odd)?.0;
            list.split(',')
                .map(|value| value.trim().parse::<u32>().map_err(|_| odd()))
                .collect::<Result<Vec<_>, _>>()?
        }
        None => Vec::new(),
    };
    let head = marker.text.split('=').next().unwrap_or("");
    let words = if head.contains(".b8 ") && head.contains("[8]") && values.len() <= 8 {
        let mut bytes = [0u8; 8];
        for (byte, value) in bytes.iter_mut().zip(values) {
            *byte = u8::try_from(value).map_err(|_| odd())?;
        }
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        [word(0), word(4)]
    } else if (head.contains(".u32 ") || head.contains(".b32 ")) && head.contains("[2]") && values.len() <= 2
    {
        [values.first().copied().unwrap_or(0), values.get(1).copied().unwrap_or(0)]
    } else {
        return Err(odd());
    };
    Ok(Bounds { max_threads: words[0], min_blocks: words[1] })
}

/// Writes `.maxntid` and `.minnctapersm` between an entry's parameters and its body.
fn insert_bounds(entry: &mut Item, bounds: Bounds) -> Result<(), String> {
    let Bounds { max_threads, min_blocks } = bounds;
    let name = &entry.name;
    if max_threads > 1024 {
        return Err(format!("`{name}` is bounded to {max_threads} threads; a block has at most 1024"));
    }
    if min_blocks > 32 {
        return Err(format!(
            "`{name}` wants {min_blocks} blocks on a multiprocessor, which holds at most 32"
        ));
    }
    if max_threads == 0 && min_blocks > 0 {
        return Err(format!("`{name}` wants {min_blocks} blocks on a multiprocessor but bounds no threads"));
    }
    if entry.bounds() != Bounds::default() {
        return Err(format!("`{name}` has launch bounds already: `{}`", entry.performance_directives()));
    }
    let at = entry.params_range().ok_or_else(|| format!("`{name}` has no parameter list"))?.end;
    let mut directives = String::new();
    if max_threads > 0 {
        directives.push_str(&format!("\n.maxntid {max_threads}, 1, 1"));
    }
    if min_blocks > 0 {
        directives.push_str(&format!("\n.minnctapersm {min_blocks}"));
    }
    entry.text.insert_str(at, &directives);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = include_str!("../tests/recorded/raw.ptx");
    const SPEC: ImageSpec = ImageSpec { arch: 75, exact: false, isa: 74 };

    fn with_marker(marker: &str) -> Result<Finished> {
        let text = format!(
            ".version 7.4\n.target sm_75\n.address_size 64\n{marker}\n.visible .entry k()\n{{\nret;\n}}"
        );
        finish("c", "m", &SPEC, &text)
    }

    #[test]
    fn bounds_go_between_parameters_and_body_and_the_marker_goes() {
        let done = finish("kernels", "one", &SPEC, RAW).expect("recorded PTX");
        assert!(
            done.text.contains("\n)\n.maxntid 256, 1, 1\n.minnctapersm 4\n{\n\t.reg .pred"),
            "{}",
            done.text
        );
        assert!(done.text.contains(".visible .entry empty()\n{\n"));
        assert!(!done.text.contains(MARKER));
        assert_eq!(done.entries["scale"], Bounds { max_threads: 256, min_blocks: 4 });
        assert_eq!(done.entries["empty"], Bounds::default());
        assert_eq!(done.entries.len(), 2);
    }

    #[test]
    fn what_no_entry_reaches_and_every_comment_of_the_compiler_goes() {
        let text = finish("kernels", "one", &SPEC, RAW).expect("recorded PTX").text;
        for gone in ["memcpy", "unused", "LLVM", "callseq", "begin inline asm", "\n\n\n"] {
            assert!(!text.contains(gone), "`{gone}` is still there");
        }
        for kept in
            ["helper(", "table[16]", "tile[]", "bounds_check\n(", "bounds_check(\n", "st.relaxed.gpu.global"]
        {
            assert!(text.contains(kept), "`{kept}` is gone");
        }
        assert!(
            text.starts_with(
                "// kernels, module one. Written by gpu-builder; do not edit.\n\n.version 7.4\n"
            )
        );
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn finishing_the_same_text_twice_changes_nothing() {
        let once = finish("kernels", "one", &SPEC, RAW).expect("recorded PTX");
        assert_eq!(finish("kernels", "one", &SPEC, &once.text).expect("finished PTX"), once);
    }

    #[test]
    fn markers_are_read_as_bytes_and_as_words() {
        let bounds = |marker: &str| with_marker(marker).expect(marker).entries["k"];
        let both = Bounds { max_threads: 1024, min_blocks: 2 };
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[8] = {0, 4, 0, 0, 2};"), both);
        assert_eq!(bounds(".visible .global .align 4 .u32 __launch_bounds_k[2] = {1024, 2};"), both);
        let threads = Bounds { max_threads: 64, min_blocks: 0 };
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[8] = {64};"), threads);
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[8];"), Bounds::default());
    }

    #[test]
    fn markers_that_make_no_sense_are_refused() {
        let why = |marker: &str| with_marker(marker).expect_err(marker).to_string();
        let word = |a, b| format!(".global .align 4 .u32 __launch_bounds_k[2] = {{{a}, {b}}};");
        assert!(why(&word(1025, 0)).contains("1025 threads"));
        assert!(why(&word(128, 33)).contains("33 blocks"));
        assert!(why(&word(0, 4)).contains("bounds no threads"));
        assert!(why(".global .align 8 .u64 __launch_bounds_k[2] = {1, 2};").contains("two u32"));
        assert!(
            why(".global .align 4 .u32 __launch_bounds_other[2] = {1, 2};")
                .contains("`other`, which is no entry")
        );
    }

    #[test]
    fn another_version_or_target_than_asked_for_is_refused() {
        let other = |spec| finish("c", "m", &spec, RAW).expect_err("another header").to_string();
        assert!(
            other(ImageSpec { isa: 80, ..SPEC })
                .contains("expected .version 8.0 and .target sm_75, found .version 7.4")
        );
        assert!(other(ImageSpec { exact: true, ..SPEC }).contains(".target sm_75a"));
    }

    #[test]
    fn a_module_without_kernels_is_refused() {
        let text = ".version 7.4\n.target sm_75\n.address_size 64\n";
        assert!(finish("c", "m", &SPEC, text).expect_err("no entry").to_string().contains("no kernel"));
    }

    #[test]
    fn debug_information_goes() {
        let text = ".version 7.4\n.target sm_75\n.file 1 \"/home/me/x.rs\"\n.visible .entry k()\n{\nret;\n}\n\
                    .section .debug_str\n{\n.b8 47,0\n}\n";
        let text = finish("c", "m", &SPEC, text).expect("one entry").text;
        assert!(!text.contains("/home/me") && !text.contains(".debug_str"), "{text}");
    }
}
