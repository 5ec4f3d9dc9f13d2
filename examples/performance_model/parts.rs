//! What the launches of a kernel take, one by one, and why.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gpu_examples::table::Table;
use gpu_model::units::Seconds;
use gpu_model::waves::{Bottleneck, Counts, Prediction};
use serde::Serialize;

use super::Line;

/// What a launch takes, in microseconds.
#[derive(Serialize)]
pub struct Part {
    kernel: String,
    blocks: u64,
    threads: u32,
    /// Blocks resident on a multiprocessor, and waves of them.
    resident: u32,
    waves: u64,
    bottleneck: Bottleneck,
    /// What the host takes to issue it; what the device takes, and of that the gap before it, a block's waits, and the
    /// chain of blocks.
    issue: f64,
    device: f64,
    gap: f64,
    latency: f64,
    chain: f64,
    /// What each level takes.
    levels: BTreeMap<String, f64>,
    /// What it was predicted from.
    counts: Counts,
}

fn microseconds(time: Seconds) -> f64 {
    1e6 * time.0
}

impl Part {
    /// That of a launch, from its counts and its prediction.
    pub fn of(counts: &Counts, found: &Prediction) -> Self {
        let levels = found.levels.iter().filter(|(_, time)| time.0 > 0.0);
        Self {
            kernel: counts.kernel.clone(),
            blocks: counts.blocks,
            threads: counts.threads,
            resident: found.resident,
            waves: found.waves,
            bottleneck: found.bottleneck,
            issue: microseconds(found.issue),
            device: microseconds(found.device),
            gap: microseconds(found.launch),
            latency: microseconds(found.latency),
            chain: microseconds(found.chain),
            levels: levels.map(|(level, time)| (level.to_string(), microseconds(*time))).collect(),
            counts: counts.clone(),
        }
    }
}

/// Prints those of all lines.
///
/// # Errors
/// Where they cannot be written.
pub fn print(to: &mut dyn Write, lines: &[Line]) -> io::Result<()> {
    writeln!(to, "Launch by launch, in µs; the busiest two levels of each:\n")?;
    let head =
        ["kernel", "launch", "blocks", "threads", "waves", "issue", "device", "latency", "chain", "levels"];
    let mut table = Table::new(head);
    for line in lines {
        for part in line.parts.iter().flatten() {
            let mut levels: Vec<_> = part.levels.iter().collect();
            levels.sort_by(|one, other| other.1.total_cmp(one.1));
            let levels: Vec<_> =
                levels.iter().take(2).map(|(level, time)| format!("{level} {time:.2}")).collect();
            let times = [part.issue, part.device, part.latency, part.chain];
            let numbers = [part.blocks, part.threads.into(), part.waves].map(|number| number.to_string());
            let names = [line.kernel.clone(), part.kernel.clone()];
            let times = times.map(|time| format!("{time:.2}"));
            table.row(names.into_iter().chain(numbers).chain(times).chain([levels.join(", ")]));
        }
    }
    writeln!(to, "{table}")?;
    Ok(())
}
