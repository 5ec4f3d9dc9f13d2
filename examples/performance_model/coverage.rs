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

/// Why kernels are in no row, and which.
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
        "factor_step_f32 factor_step_f64 factor_strips_f32 factor_strips_f64",
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
            Fate::LeftOut(reason) => ["–".to_owned(), reason.to_owned()],
        };
        table.row([kernel.to_owned(), by, why]);
    }
    if !json {
        writeln!(to, "{table}")?;
    }
    Ok(())
}

/// Kernels and the rows that launch them.
pub fn predicted() -> BTreeMap<&'static str, &'static str> {
    PREDICTED.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// What becomes of each of these kernels.
///
/// # Errors
/// The first that is neither predicted nor left out for a reason; reasons of what is predicted or does not exist.
pub fn fates(kernels: &BTreeSet<String>) -> Result<BTreeMap<&str, Fate>, String> {
    let predicted = predicted();
    if let Some(gone) = predicted.keys().find(|&&kernel| !kernels.contains(kernel)) {
        return Err(format!("{gone} is predicted, and there is no such kernel"));
    }
    let each =
        |&(reason, names): &(&'static str, &'static str)| names.split(' ').map(move |name| (name, reason));
    let left_out: BTreeMap<&str, &str> = LEFT_OUT.iter().flat_map(each).collect();
    let is_wrong = |name: &str| !kernels.contains(name) || predicted.contains_key(name);
    if let Some(name) = left_out.keys().find(|name| is_wrong(name)) {
        return Err(format!("{name} is left out, and it is predicted or there is no such kernel"));
    }
    let fate = |kernel: &str| {
        let found = predicted.get(kernel).map(|row| Fate::Predicted(row));
        found.or_else(|| left_out.get(kernel).map(|reason| Fate::LeftOut(reason)))
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
