//! What was measured on an H200, of the benchmarks' cases: the newest result of each in benches/results.

use std::collections::BTreeMap;

use gpu_benches::report::{Mode, OURS, Record};
use gpu_benches::suite::{Case, Op, cases};

/// A case and how long a launch among many took.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// What was launched.
    pub case: Case,
    /// The median.
    pub microseconds: f64,
}

macro_rules! results {
    ($($file:literal),* $(,)?) => {
        [$(include_str!(concat!("../../benches/results/nvidia-h200-2026-11-", $file, ".jsonl"))),*]
    };
}

/// Those of inputs in turn; that of inputs in the cache (`warm`) and those of programs with shapes of their own are not
/// among them.
const RESULTS: [&str; 11] = results![
    "21",
    "21-reduce",
    "21-scan-linalg",
    "21-segments-scan",
    "21-transpose",
    "22",
    "22-rows",
    "22-second",
    "22-small-kernels",
    "22-third",
    "23",
];

/// Every case of which there is a result, in the order of the cases. Copies are the driver's and no kernel of ours,
/// sums with a copy are of the bus, first results of processes: they are left out.
///
/// # Errors
/// Where a line is no result.
pub fn recorded() -> Result<Vec<Recorded>, serde_json::Error> {
    type Newest = (String, Vec<f64>);
    let mut newest: BTreeMap<String, Newest> = BTreeMap::new();
    for line in RESULTS.iter().flat_map(|text| text.lines()) {
        let record: Record = serde_json::from_str(line)?;
        if record.peer != OURS || record.mode != Mode::Batch {
            continue;
        }
        let date = record.provenance.date;
        let entry = newest.entry(key(&record.subject)).or_default();
        match date.cmp(&entry.0) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => entry.1.push(record.ms_median * 1e3),
            std::cmp::Ordering::Greater => *entry = (date, vec![record.ms_median * 1e3]),
        }
    }
    let ours = cases(false)
        .into_iter()
        .filter(|case| !matches!(case.op, Op::Copy | Op::SumWithCopy | Op::FirstResult));
    let found = ours.filter_map(|case| {
        let (_, times) = newest.get_mut(&key(&case.subject()))?;
        times.sort_by(f64::total_cmp);
        Some(Recorded { case, microseconds: times[times.len() / 2] })
    });
    Ok(found.collect())
}

fn key(subject: &gpu_benches::report::Subject) -> String {
    format!("{subject:?}")
}

/// Whether a case is judged only, and never looked at while the model's formulas are sought: those whose name has an
/// odd hash (FNV-1a, 32 bits). The rule was fixed before any case was predicted.
pub fn is_held_out(case: Case) -> bool {
    let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    case.name().bytes().fold(0x811c_9dc5, fnv) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_case_was_measured_and_about_half_is_held_out() {
        let all = recorded().expect("results are results");
        for op in
            ["max", "argmax", "scan", "segments", "sort", "select", "histogram", "unique", "gemm", "heat"]
        {
            assert!(all.iter().any(|one| one.case.op.name() == op), "{op}");
        }
        assert!(all.iter().all(|one| one.microseconds > 0.0));
        let held_out = all.iter().filter(|one| is_held_out(one.case)).count();
        assert!(3 * held_out > all.len() && 3 * held_out < 2 * all.len(), "{held_out} of {}", all.len());
    }

    #[test]
    fn the_newest_result_counts() {
        let all = recorded().expect("results are results");
        let case = |name: &str| all.iter().find(|one| one.case.name() == name).expect("it was measured");
        for name in ["gemm/f32/4096x4096", "scan/f32/2^28", "max/f64/2^20"] {
            let found = case(name);
            let subject = found.case.subject();
            let of_case = RESULTS.iter().flat_map(|text| text.lines()).filter_map(|line| {
                let record: Record = serde_json::from_str(line).expect("a result");
                let is_ours = record.peer == OURS && record.mode == Mode::Batch && record.subject == subject;
                is_ours.then_some((record.provenance.date, record.ms_median * 1e3))
            });
            let of_case: Vec<(String, f64)> = of_case.collect();
            let last = of_case.iter().map(|(date, _)| date).max().expect("it was measured");
            let newest = of_case.iter().filter(|(date, _)| date == last);
            assert!(newest.clone().any(|(_, time)| *time == found.microseconds), "{name}: {of_case:?}");
        }
    }
}
