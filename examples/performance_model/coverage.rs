//! Which kernels of the workspace are predicted, and why others are not.
//!
//! predicted.txt has a line for each kernel that some row launches: the kernel, and such a row. A test holds it against
//! gpu-kernels, so that a new kernel is predicted or has a reason here; in a release it runs all of these rows.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::Path;

use gpu_examples::table::Table;
use serde::Serialize;

/// Kernels that rows launch, and the first row that does.
const PREDICTED: &str = include_str!("predicted.txt");

/// Why kernels are in no row, and which, by their names, or those without types.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "example `calibrate` measures with it what the model is fed with",
        "calibrate_add_atomic calibrate_add_global calibrate_add_register calibrate_barrier \
         calibrate_branches calibrate_chase calibrate_copy calibrate_copy_wide calibrate_dependent \
         calibrate_divergent calibrate_empty_0 calibrate_empty_1 calibrate_empty_3 \
         calibrate_empty_6 calibrate_gather calibrate_issue calibrate_merged calibrate_pass \
         calibrate_read calibrate_read_once calibrate_scatter calibrate_shared calibrate_write",
    ),
    (
        "only a device whose blocks have less shared memory than those that are predicted factors with it",
        "factor_step factor_strips",
    ),
    (
        "more keys take it than can be simulated in two seconds; sort_few_keys_b32 has shorter tiles",
        "sort_keys_b32",
    ),
];

/// What becomes of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is launched by a row of this name.
    Predicted(&'static str),
    /// It is the source of this kernel for another type, which is predicted.
    OtherType(&'static str),
    /// It is not predicted, for this reason.
    LeftOut(&'static str),
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    kernel: &'a str,
    #[serde(flatten)]
    fate: Fate,
}

/// The kernels of the workspace that have PTX, by their files' names: `sum_f32.sm_75.ptx`.
///
/// # Errors
/// Where a folder cannot be read.
pub fn kernels() -> std::io::Result<BTreeSet<String>> {
    let families = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu-kernels"));
    let mut all = BTreeSet::new();
    for family in families.read_dir()? {
        for file in family?.path().join("ptx").read_dir()? {
            let name = file?.file_name().to_string_lossy().into_owned();
            all.extend(name.split_once(".sm_").map(|(kernel, _)| kernel.to_owned()));
        }
    }
    Ok(all)
}

/// Prints what becomes of each kernel.
///
/// # Errors
/// Where a folder cannot be read, or nothing is said of a kernel.
pub fn print(to: &mut dyn Write, json: bool) -> Result<(), Box<dyn Error>> {
    let kernels = kernels()?;
    let fates = fates(&kernels)?;
    let mut table = Table::new(["kernel", "predicted by", ""]);
    for (kernel, fate) in fates {
        if json {
            writeln!(to, "{}", serde_json::to_string(&Line { kernel, fate })?)?;
        }
        let [by, why] = match fate {
            Fate::Predicted(row) => [row.to_owned(), String::new()],
            Fate::OtherType(other) => ["–".to_owned(), format!("the source of {other}, of another type")],
            Fate::LeftOut(reason) => ["–".to_owned(), reason.to_owned()],
        };
        table.row([kernel.to_owned(), by, why]);
    }
    if !json {
        writeln!(to, "{table}")?;
    }
    Ok(())
}

/// A kernel's name without the types in it: of `separable_u8x3_5` `separable_5`.
fn without_types(kernel: &str) -> String {
    let is_type = |word: &str| {
        let digits = word.trim_start_matches("bf").trim_start_matches("tf");
        let digits = digits.strip_prefix(['f', 'i', 'u', 'b']).unwrap_or(digits);
        digits.len() < word.len() && digits.split('x').all(|part| part.parse::<u32>().is_ok())
    };
    kernel.split('_').filter(|word| !is_type(word)).collect::<Vec<_>>().join("_")
}

/// Kernels and the rows that launch them.
pub fn predicted() -> BTreeMap<&'static str, &'static str> {
    PREDICTED.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// What becomes of each of these kernels.
///
/// # Errors
/// The first that is neither predicted, nor of another type than one that is, nor left out for a reason; reasons of
/// what is predicted or does not exist.
pub fn fates(kernels: &BTreeSet<String>) -> Result<BTreeMap<&str, Fate>, String> {
    let predicted = predicted();
    if let Some(gone) = predicted.keys().find(|&&kernel| !kernels.contains(kernel)) {
        return Err(format!("{gone} is predicted, and there is no such kernel"));
    }
    let types: BTreeMap<String, &str> =
        predicted.keys().map(|&kernel| (without_types(kernel), kernel)).collect();
    let each =
        |&(reason, names): &(&'static str, &'static str)| names.split(' ').map(move |name| (name, reason));
    let left_out: BTreeMap<&str, &str> = LEFT_OUT.iter().flat_map(each).collect();
    let all: BTreeSet<String> = kernels.iter().map(|kernel| without_types(kernel)).collect();
    // One kernel, or all types of one of which none is predicted.
    let is_right = |name: &str| match kernels.contains(name) {
        true => !predicted.contains_key(name),
        false => all.contains(name) && !types.contains_key(name),
    };
    if let Some(name) = left_out.keys().find(|name| !is_right(name)) {
        return Err(format!("{name} is left out, and it is predicted or there is no such kernel"));
    }
    let fate = |kernel: &'_ String| {
        let base = without_types(kernel);
        let reason = |name: &str| left_out.get(name).map(|reason| Fate::LeftOut(reason));
        let found = predicted.get(kernel.as_str()).map(|row| Fate::Predicted(row));
        let found = found.or_else(|| reason(kernel));
        let found = found.or_else(|| types.get(&base).map(|other| Fate::OtherType(other)));
        found.or_else(|| reason(&base))
    };
    kernels
        .iter()
        .map(|kernel| {
            let fate = fate(kernel);
            let fate =
                fate.ok_or_else(|| format!("{kernel} is neither predicted nor left out for a reason"))?;
            Ok((kernel.as_str(), fate))
        })
        .collect()
}
