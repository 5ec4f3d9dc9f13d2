//! What is done to the compiler's PTX before it is kept.
//!
//! - Each kernel gets a text of its own, with what it reaches: a driver that compiles it compiles nothing else.
//! - Comments go: they name the compiler and number its call sequences.
//! - `.file`, `.loc` and debug sections go: they name paths.
//! - The markers `__launch_bounds_<entry>` that `#[kernel]` leaves, four u32 each, become `.maxntid`, `.minnctapersm`
//!   and `.reqnctapercluster` of their entry and the comment `// -O1` before it all, and go. rustc has no attribute for
//!   these directives.
//! - Parameters of 128 bytes aligned to 16, which are tensor maps, become aligned to 64: the hardware wants it, and rustc takes
//!   no parameters aligned to more than 16.
//! - Labels lose the number of their function, so that a kernel's text does not depend on its neighbours.
//! - Mangled names become short ones that hold no hash of a folder (`names.rs`).
//! - Indentation goes, and the names of parameters, registers and labels become short (`compact.rs`).

use std::collections::BTreeMap;

use crate::compact::compact;
use crate::kernel_crate::ImageSpec;
use crate::ptx::{Bounds, Item, Kind, Ptx};
use crate::{Error, Result, names};

/// The first line of every file: who wrote it, in few bytes, for there are over a thousand.
pub(crate) const HEADER: &str = "// By gpu-builder";

/// The prefix of the markers' names.
pub const MARKER: &str = "__launch_bounds_";

/// The PTX of a kernel as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The kernel.
    pub kernel: String,
    /// The text.
    pub text: String,
    /// Its launch bounds.
    pub bounds: Bounds,
}

/// Turns the compiler's text into those that are kept, one for each kernel.
///
/// # Errors
/// [`Error::Ptx`] if the text is not for the version and target asked for, or has a marker that fits no
/// entry or says something no GPU can do.
pub fn finish(crate_name: &str, spec: &ImageSpec, raw: &str) -> Result<Vec<Finished>> {
    let what = format!("{crate_name} for {}", spec.target());
    let fault = |line, why| Error::Ptx { what: what.clone(), line, why };
    let mut ptx = Ptx::parse(&what, raw)?;
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

    let markers: Vec<Item> = ptx.items.iter().filter(|item| item.name.starts_with(MARKER)).cloned().collect();
    let mut levels: BTreeMap<String, u32> = BTreeMap::new();
    for marker in &markers {
        let (bounds, level, cluster) = marker_words(marker).map_err(|why| fault(marker.line, why))?;
        let name = &marker.name[MARKER.len()..];
        let entry = ptx.items.iter_mut().find(|item| item.kind == Kind::Entry && item.name == name);
        let entry = entry
            .ok_or_else(|| fault(marker.line, format!("launch bounds of `{name}`, which is no entry")))?;
        insert_bounds(entry, bounds, cluster).map_err(|why| fault(entry.line, why))?;
        levels.insert(name.to_string(), level);
    }

    for entry in ptx.items.iter_mut().filter(|item| item.kind == Kind::Entry) {
        align_maps(entry);
    }

    let index = ptx.index();
    let one = |entry: &Item| {
        let mut kept = ptx.reached(entry, &index);
        kept.extend((0..ptx.items.len()).filter(|index| {
            let item = &ptx.items[*index];
            item.kind == Kind::Directive && !matches!(item.name.as_str(), ".file" | ".loc" | ".section")
        }));
        kept.sort_unstable();
        let mut items: Vec<Item> = kept.into_iter().map(|index| ptx.items[index].clone()).collect();
        names::shorten(&mut items);
        let mut text = format!("{HEADER}\n");
        if let Some(level) = levels.get(&entry.name).copied().filter(|level| *level > 0) {
            text.push_str(&format!("// -O{level}\n"));
        }
        for item in &items {
            text.push_str(&compact(&Item { text: plain_labels(&item.text), ..item.clone() }));
            text.push('\n');
        }
        Finished { kernel: entry.name.clone(), text, bounds: entry.bounds() }
    };
    Ok(ptx.entries().map(one).collect())
}

/// What the compiler numbers by function: labels of blocks, and stack frames. They are local to the function.
const NUMBERED: [&str; 2] = ["$L__BB", "__local_depot"];
/// Jump tables, which it numbers through all functions.
const TABLE: &str = "$L_brx_";

/// The text without the numbers of functions in such names, and with tables in the order in which they come.
fn plain_labels(text: &str) -> String {
    let mut plain = text.to_string();
    for prefix in NUMBERED {
        plain = renamed(&plain, prefix, |_| String::new());
    }
    let mut tables: Vec<String> = Vec::new();
    renamed(&plain, TABLE, |number| {
        let at = tables.iter().position(|known| known == number).unwrap_or_else(|| {
            tables.push(number.to_string());
            tables.len() - 1
        });
        // Most functions have one, and no number.
        if at == 0 { String::new() } else { at.to_string() }
    })
}

/// The text with other numbers behind a prefix.
fn renamed(text: &str, prefix: &str, mut number: impl FnMut(&str) -> String) -> String {
    let mut parts = text.split(prefix);
    let mut next = parts.next().unwrap_or("").to_string();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        next.push_str(prefix);
        next.push_str(&number(&part[..part.len() - rest.len()]));
        next.push_str(rest);
    }
    next
}

/// The launch bounds, the optimisation level and the blocks of a cluster that a marker holds. The compiler writes it as
/// words or as bytes, and leaves zeros at the end out.
fn marker_words(marker: &Item) -> Result<(Bounds, u32, u32), String> {
    const WORDS: usize = 4;
    let odd = || {
        format!("launch bounds, optimisation level and cluster are four u32, and this is `{}`", marker.text)
    };
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
    let mut words = [0_u32; WORDS];
    if head.contains(".b8 ") && head.contains("[16]") && values.len() <= 4 * WORDS {
        for (at, value) in values.into_iter().enumerate() {
            let byte = u8::try_from(value).map_err(|_| odd())?;
            words[at / 4] |= u32::from(byte) << (at % 4 * 8);
        }
    } else if (head.contains(".u32 ") || head.contains(".b32 "))
        && head.contains("[4]")
        && values.len() <= WORDS
    {
        words[..values.len()].copy_from_slice(&values);
    } else {
        return Err(odd());
    }
    let [max_threads, min_blocks, level, cluster] = words;
    if level > 3 {
        return Err(format!("the optimisation level is at most 3, and this is {level}"));
    }
    if cluster > 8 {
        return Err(format!("a cluster has at most 8 blocks, and this one {cluster}"));
    }
    Ok((Bounds { max_threads, min_blocks }, level, cluster))
}

/// Writes `.maxntid`, `.minnctapersm` and `.reqnctapercluster` between an entry's parameters and its body.
fn insert_bounds(entry: &mut Item, bounds: Bounds, cluster: u32) -> Result<(), String> {
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
        directives.push_str(&format!("\n.maxntid {max_threads}"));
    }
    if min_blocks > 0 {
        directives.push_str(&format!("\n.minnctapersm {min_blocks}"));
    }
    if cluster > 0 {
        directives.push_str(&format!("\n.explicitcluster\n.reqnctapercluster {cluster}"));
    }
    entry.text.insert_str(at, &directives);
    Ok(())
}

/// Aligns an entry's tensor maps.
fn align_maps(entry: &mut Item) {
    let Some(range) = entry.params_range() else { return };
    let aligned: Vec<String> = entry.text[range.clone()]
        .split(',')
        .map(|param| {
            let map = param.contains(".align 16 ") && param.contains("[128]");
            if map { param.replace(".align 16 ", ".align 64 ") } else { param.to_string() }
        })
        .collect();
    entry.text.replace_range(range, &aligned.join(","));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensor_maps_are_aligned_to_64() {
        let text = ".version 7.4\n.target sm_75\n.address_size 64\n.visible .entry k(\n\
                    .param .align 16 .b8 k_param_0[128],\n.param .align 16 .b8 k_param_1[64]\n)\n{\nret;\n}";
        let text = &finish("c", &SPEC, text).expect("an entry")[0].text;
        assert!(text.contains(".align 64 .b8") && text.contains("[128]"), "{text}");
        assert!(text.contains(".align 16 .b8") && text.contains("[64]"), "{text}");
    }

    #[test]
    fn jump_tables_keep_apart() {
        let text =
            "brx.idx %r1, $L_brx_7; $L_brx_7: .branchtargets $L__BB3_1; brx.idx %r2, $L_brx_12; $L_brx_12:";
        let plain =
            "brx.idx %r1, $L_brx_; $L_brx_: .branchtargets $L__BB_1; brx.idx %r2, $L_brx_1; $L_brx_1:";
        assert_eq!(plain_labels(text), plain);
    }

    const RAW: &str = include_str!("../tests/recorded/raw.ptx");
    const SPEC: ImageSpec = ImageSpec { arch: 75, exact: false, isa: 74 };

    fn raw() -> (Finished, Finished) {
        let mut done = finish("kernels", &SPEC, RAW).expect("recorded PTX").into_iter();
        let mut next = |name: &str| done.next().filter(|one| one.kernel == name).expect(name);
        let both = (next("scale"), next("empty"));
        assert!(done.next().is_none());
        both
    }

    fn with_marker(marker: &str) -> Result<Finished> {
        let text = format!(
            ".version 7.4\n.target sm_75\n.address_size 64\n{marker}\n.visible .entry k()\n{{\nret;\n}}"
        );
        finish("c", &SPEC, &text).map(|mut done| done.remove(0))
    }

    #[test]
    fn bounds_go_between_parameters_and_body_and_the_marker_goes() {
        let (scale, empty) = raw();
        assert!(scale.text.contains("\n)\n.maxntid 256\n.minnctapersm 4\n{\n.reg .pred"), "{}", scale.text);
        assert!(empty.text.contains(".visible .entry empty()\n{\n"));
        assert!(!scale.text.contains(MARKER) && !empty.text.contains(MARKER));
        assert_eq!(scale.bounds, Bounds { max_threads: 256, min_blocks: 4 });
        assert_eq!(empty.bounds, Bounds::default());
    }

    #[test]
    fn what_no_entry_reaches_and_every_comment_of_the_compiler_goes() {
        let (scale, empty) = raw();
        for gone in ["memcpy", "unused", "LLVM", "callseq", "begin inline asm", "\n\n\n"] {
            assert!(!scale.text.contains(gone) && !empty.text.contains(gone), "`{gone}` is still there");
        }
        for kept in
            ["helper(", "table[16]", "tile[]", "bounds_check\n(", "bounds_check(\n", "st.relaxed.gpu.global"]
        {
            assert!(scale.text.contains(kept), "`{kept}` is gone");
            assert!(!empty.text.contains(kept), "`{kept}` belongs to the other kernel");
        }
        assert!(scale.text.starts_with("// By gpu-builder\n.version 7.4\n"));
        assert!(scale.text.ends_with("}\n"));
    }

    #[test]
    fn finishing_the_same_text_twice_changes_nothing() {
        let (scale, _) = raw();
        assert_eq!(finish("kernels", &SPEC, &scale.text).expect("finished PTX"), [scale]);
    }

    #[test]
    fn labels_lose_the_number_of_their_function() {
        let text = plain_labels("bra $L__BB12_34;\n$L__BB12_34:\nmov.b64 %SPL, __local_depot12;");
        assert_eq!(text, "bra $L__BB_34;\n$L__BB_34:\nmov.b64 %SPL, __local_depot;");
        assert_eq!(plain_labels(&text), text);
    }

    #[test]
    fn markers_are_read_as_bytes_and_as_words() {
        let bounds = |marker: &str| with_marker(marker).expect(marker).bounds;
        let both = Bounds { max_threads: 1024, min_blocks: 2 };
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[16] = {0, 4, 0, 0, 2};"), both);
        assert_eq!(bounds(".visible .global .align 4 .u32 __launch_bounds_k[4] = {1024, 2};"), both);
        let threads = Bounds { max_threads: 64, min_blocks: 0 };
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[16] = {64};"), threads);
        assert_eq!(bounds(".visible .global .align 4 .b8 __launch_bounds_k[16];"), Bounds::default());
    }

    #[test]
    fn the_optimisation_level_is_a_comment_at_the_head() {
        let level = |marker: &str| Ptx::opt_level(&with_marker(marker).expect(marker).text);
        assert_eq!(level(".visible .global .align 4 .u32 __launch_bounds_k[4] = {64, 2, 1};"), Some(1));
        let bytes = ".visible .global .align 4 .b8 __launch_bounds_k[16] = {64, 0, 0, 0, 0, 0, 0, 0, 3};";
        assert_eq!(level(bytes), Some(3));
        assert_eq!(level(".visible .global .align 4 .u32 __launch_bounds_k[4] = {64, 2};"), None);
    }

    #[test]
    fn clusters_are_directives_of_the_entry() {
        let one = with_marker(".visible .global .align 4 .u32 __launch_bounds_k[4] = {64, 0, 0, 2};");
        let text = one.expect("a marker").text;
        assert!(text.contains(".maxntid 64\n.explicitcluster\n.reqnctapercluster 2\n{"), "{text}");
        let many = with_marker(".visible .global .align 4 .u32 __launch_bounds_k[4] = {64, 0, 0, 9};");
        assert!(many.expect_err("nine").to_string().contains("at most 8 blocks"));
    }

    #[test]
    fn markers_that_make_no_sense_are_refused() {
        let why = |marker: &str| with_marker(marker).expect_err(marker).to_string();
        let word = |a, b, c| format!(".global .align 4 .u32 __launch_bounds_k[4] = {{{a}, {b}, {c}}};");
        assert!(why(&word(1025, 0, 0)).contains("1025 threads"));
        assert!(why(&word(128, 33, 0)).contains("33 blocks"));
        assert!(why(&word(0, 4, 0)).contains("bounds no threads"));
        assert!(why(&word(128, 4, 4)).contains("at most 3, and this is 4"));
        assert!(why(".global .align 8 .u64 __launch_bounds_k[4] = {1, 2};").contains("four u32"));
        assert!(
            why(".global .align 4 .u32 __launch_bounds_other[4] = {1, 2};")
                .contains("`other`, which is no entry")
        );
    }

    #[test]
    fn another_version_or_target_than_asked_for_is_refused() {
        let other = |spec| finish("c", &spec, RAW).expect_err("another header").to_string();
        assert!(
            other(ImageSpec { isa: 80, ..SPEC })
                .contains("expected .version 8.0 and .target sm_75, found .version 7.4")
        );
        assert!(other(ImageSpec { exact: true, ..SPEC }).contains(".target sm_75a"));
    }

    #[test]
    fn a_text_without_kernels_gives_none() {
        let text = ".version 7.4\n.target sm_75\n.address_size 64\n";
        assert_eq!(finish("c", &SPEC, text).expect("a header"), []);
    }

    #[test]
    fn debug_information_goes() {
        let text = ".version 7.4\n.target sm_75\n.file 1 \"/home/me/x.rs\"\n.visible .entry k()\n{\nret;\n}\n\
                    .section .debug_str\n{\n.b8 47,0\n}\n";
        let text = &finish("c", &SPEC, text).expect("one entry")[0].text;
        assert!(!text.contains("/home/me") && !text.contains(".debug_str"), "{text}");
    }
}
