//! Gives functions and constants that are not kernels short names of their own.
//!
//! The compiler's names hold a hash of where each crate came from. For a dependency by path outside the workspace that
//! is its folder, so the same kernels would read differently on another machine. `_RNvCs8oqFYRpXNUG_3dep3two` becomes
//! `dep_two__0`, numbered in the order of the text.

use std::collections::BTreeMap;

use crate::ptx::{Item, Kind};

/// Renames in all texts; items without mangled names, kernels and `.extern` variables among them, keep theirs.
pub(crate) fn shorten(items: &mut [Item]) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for item in items.iter() {
        let renamed = !matches!(item.kind, Kind::Directive | Kind::Entry) && is_mangled(&item.name);
        if renamed && !names.contains_key(&item.name) {
            names.insert(item.name.clone(), format!("{}__{}", readable(&item.name), names.len()));
        }
    }
    for item in items.iter_mut().filter(|_| !names.is_empty()) {
        item.text = replace(&item.text, &names);
        if let Some(name) = names.get(&item.name) {
            item.name = name.clone();
        }
    }
}

/// Names that the compiler made: of paths (`_R…`, older `_ZN…`), also inside others, and of constants.
fn is_mangled(name: &str) -> bool {
    // LLVM's own names end in that of a function, behind `_$_` for a dot: `switch_$_table_$__RNv…`.
    let starts =
        std::iter::once(name).chain(name.match_indices("_$_").map(|(at, mark)| &name[at + mark.len()..]));
    let is_path = |name: &str| {
        let capital = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
        name.strip_prefix("_R").is_some_and(capital) || name.starts_with("_ZN")
    };
    let constant = name
        .strip_prefix("alloc_")
        .is_some_and(|hash| hash.len() >= 16 && hash.chars().all(|c| c.is_ascii_hexdigit()));
    starts.into_iter().any(is_path) || constant || name.starts_with("anon_$_")
}

/// The identifiers of a mangled name, each written behind its length; not meant to be exact, only to be read. Of those
/// of `core`, the last one: its paths are long, and in every kernel.
fn readable(name: &str) -> String {
    let Some(mangled) = name.split_once("_R").or_else(|| name.split_once("_ZN")).map(|(_, rest)| rest) else {
        return name.split('_').next().unwrap_or("").to_string();
    };
    let mut identifiers: Vec<&str> = Vec::new();
    let mut rest = mangled;
    while !rest.is_empty() {
        // What depends on hashes, by value or by its length: crates (`Cs…_`) and references back into the name (`B…_`).
        // And constants (`Kj3_`), whose digits are no length.
        if let Some(skipped) = rest.strip_prefix("Cs").or_else(|| rest.strip_prefix(['B', 'K']))
            && let Some((number, after)) = skipped.split_once('_')
            && number.chars().all(|c| c.is_ascii_alphanumeric())
        {
            rest = after;
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
        match rest[..digits]
            .parse::<usize>()
            .ok()
            .and_then(|length| after.get(..length).filter(|word| !word.is_empty()))
        {
            Some(word) => {
                identifiers.push(word);
                rest = &after[word.len()..];
            }
            None => rest = rest.get(digits.max(1)..).unwrap_or(""),
        }
    }
    // A hash at the end of an older name is no part of the path.
    identifiers.retain(|word| !(word.len() == 17 && word.starts_with('h')));
    match identifiers[..] {
        ["core", .., last] => last.to_string(),
        _ => identifiers.join("_"),
    }
}

/// The text with every word that is one of the names, or one of them with `_param_…` behind, replaced.
fn replace(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let (stem, parameter) = word.rsplit_once("_param_").map_or((word, None), |(stem, n)| (stem, Some(n)));
        match (names.get(word), names.get(stem), parameter) {
            (Some(name), _, _) => out.push_str(name),
            (None, Some(name), Some(n)) => out.push_str(&format!("{name}_param_{n}")),
            _ => out.push_str(word),
        }
        let gap = after.find(is_word).unwrap_or(after.len());
        out.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Ptx;

    fn shortened(text: &str) -> String {
        let mut ptx = Ptx::parse("t", text).expect("items");
        shorten(&mut ptx.items);
        ptx.items.iter().map(|item| format!("{}\n", item.text)).collect()
    }

    fn text(hash: &str, constant: u128) -> String {
        format!(
            ".func _RNvCs{hash}_3dep3two(\n.param .b32 _RNvCs{hash}_3dep3two_param_0\n)\n{{\nret;\n}}\n\
             .global .align 4 .b8 alloc_{constant:032x}[4] = {{1}};\n.extern .shared .align 16 .b8 tile[];\n\
             .visible .entry k(\n.param .b64 k_param_0\n)\n{{\nld.param.b64 %rd1, [k_param_0];\n\
             ld.global.b32 %r1, [alloc_{constant:032x}];\ncall.uni _RNvCs{hash}_3dep3two, (%r1);\nst.shared.b32 [tile], %r1;\n}}\n"
        )
    }

    #[test]
    fn names_do_not_depend_on_hashes() {
        let short = shortened(&text("8oqFYRpXNUG", 7));
        assert_eq!(short, shortened(&text("kRjTfCBWtVEa", 8 << 99)));
        for expected in [
            ".func dep_two__0(\n.param .b32 dep_two__0_param_0\n)",
            "call.uni dep_two__0, (%r1);",
            "[alloc__1]",
            ".b8 alloc__1[4]",
            "[k_param_0]",
            ".b8 tile[]",
            ".entry k(",
        ] {
            assert!(short.contains(expected), "{expected} in {short}");
        }
        assert_eq!(shortened(&short), short);
    }

    #[test]
    fn identifiers_are_found_in_mangled_names() {
        assert_eq!(readable("_RNvNtCsbSE61zFgCyu_4core9panicking18panic_bounds_check"), "panic_bounds_check");
        assert_eq!(readable("_ZN3dep3two17h0123456789abcdefE"), "dep_two");
        assert_eq!(readable("_RINvCs8oqFYRpXNUG_3dep3oneKj3_ECsHHj1MPgZGW_1k"), "dep_one_k");
        assert_eq!(readable("_RINvCskRjTfCBWtVE_3dep3oneKj3_ECsgNrHHj1MPgZGW_1k"), "dep_one_k");
        assert_eq!(readable("alloc_b23c"), "alloc");
    }

    #[test]
    fn plain_names_stay() {
        for name in ["tile", "gpu_launch_sized_workgroup_mem", "memcpy", "MY_RUN", "helper_Random", "X_ZN"] {
            assert!(!is_mangled(name), "{name}");
        }
        assert!(is_mangled("switch_$_table_$__RNvCs8oqFYRpXNUG_3dep3two"));
    }
}
