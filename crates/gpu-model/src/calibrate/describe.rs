//! A description of the rows, as [`Device::from_toml`](crate::Device::from_toml) reads it.

use std::fmt::Write;

use super::timing::median;
use super::{Line, Row, line};

/// Lanes of a multiprocessor by compute capability, in tenths: of 32-bit and of 64-bit floats. No driver tells them.
const LANES: [(u32, u32, u32); 9] = [
    (75, 64, 2),
    (80, 64, 32),
    (86, 128, 2),
    (87, 128, 2),
    (89, 128, 2),
    (90, 128, 64),
    (100, 128, 64),
    (103, 128, 64),
    (120, 128, 2),
];

/// What the bus between host and device moves in each direction by its standard, in GB/s, by compute capability:
/// PCIe 3.0, 4.0 and 5.0 with 16 lanes.
///
/// ```
/// assert_eq!(gpu_model::calibrate::bus_peak(90), 64.0);
/// ```
pub fn bus_peak(capability: u32) -> f64 {
    match capability {
        ..80 => 16.0,
        80..90 => 32.0,
        _ => 64.0,
    }
}

/// The rows, asked for numbers.
pub(super) struct Rows<'a>(pub(super) &'a [Row]);

impl Rows<'_> {
    fn all<'b>(&'b self, measure: &'b str, of: &'b str) -> impl Iterator<Item = &'b Row> {
        self.0.iter().filter(move |row| row.measure == measure && row.of == of)
    }

    /// The median of all that are there: one row of each of several runs, or one over several sizes.
    pub(super) fn value(&self, measure: &str, of: &str) -> Result<f64, String> {
        let found: Vec<f64> = self.all(measure, of).map(|row| row.value).collect();
        if found.is_empty() {
            Err(format!("there is no row `{measure}` of `{of}`"))
        } else {
            Ok(median(found))
        }
    }

    /// That with the most in `over`, or at `over`.
    fn at(&self, measure: &str, of: &str, over: f64) -> Result<f64, String> {
        let found: Vec<f64> =
            self.all(measure, of).filter(|row| row.over == over).map(|row| row.value).collect();
        if found.is_empty() {
            return Err(format!("there is no row `{measure}` of `{of}` over {over}"));
        }
        Ok(median(found))
    }

    /// The most: of rates that a launch may reach.
    fn most(&self, measure: &str, of: &str) -> Result<f64, String> {
        let sizes: Vec<(f64, f64)> = self.all(measure, of).map(|row| (row.over, row.by)).collect();
        let medians = sizes.iter().map(|&(over, by)| {
            median(
                self.all(measure, of)
                    .filter(|row| (row.over, row.by) == (over, by))
                    .map(|row| row.value)
                    .collect(),
            )
        });
        medians.reduce(f64::max).ok_or_else(|| format!("there is no row `{measure}` of `{of}`"))
    }

    fn line(&self, measure: &str, of: &str, x: impl Fn(&Row) -> f64) -> Result<Line, String> {
        let points: Vec<(f64, f64)> = self.all(measure, of).map(|row| (x(row), row.value)).collect();
        line(&points).ok_or_else(|| format!("no line goes through the rows `{measure}` of `{of}`"))
    }
}

/// A description of `name` from rows of one run or several, of which the median counts; `source` says when they were
/// measured. What no source gives, lanes and the bus's peak, is taken from the compute capability. There is no section
/// `[tensor]`: what the tensor cores reach is not among the rows.
///
/// # Errors
/// A text that names the row that is missing, as of the simulator, which has no properties.
pub fn describe(name: &str, source: &str, rows: &[Row]) -> Result<String, String> {
    let rows = Rows(rows);
    let property = |of: &str| rows.value("property", of);
    let capability = property("capability")? as u32;
    let lanes = LANES.iter().find(|(known, ..)| *known == capability);
    let &(_, single, double) =
        lanes.ok_or_else(|| format!("no lanes are known of capability {capability}"))?;
    let clock = property("clock")?;
    let cycles = |nanoseconds: f64| nanoseconds * 1e-9 * clock;
    let mut text = String::new();
    let mut put = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("text can be written");

    put(format_args!("name = {name:?}"));
    put(format_args!("capability = \"{}.{}\"", capability / 10, capability % 10));
    put(format_args!("source = {source:?}"));
    put(format_args!("\n[multiprocessor]\ncount = {}", property("multiprocessors")?));
    put(format_args!("lanes = {single}\ndouble_lanes = {double}\nwarp = {}", property("warp")?));
    put(format_args!("clock = \"{:.3} GHz\"", clock * 1e-9));
    let bandwidth = property("memory_bandwidth")?;
    put(format_args!("\n[memory]\nsize = \"{:.1} GB\"", property("memory_size")? * 1e-9));
    put(format_args!("bandwidth = \"{:.4} TB/s\"", bandwidth * 1e-12));
    put(format_args!("clock = \"{:.3} GHz\"", property("memory_clock")? * 1e-9));
    put(format_args!("line = \"128 B\"\nsector = \"32 B\"\nl2 = \"{} MiB\"", property("l2")? / 1_048_576.0));
    put(format_args!("\n[limits]\nthreads_per_block = {}", property("threads_per_block")?));
    put(format_args!("warps = {}", property("threads")? / property("warp")?));
    put(format_args!("blocks = {}\nregisters = {}", property("blocks")?, property("registers")?));
    put(format_args!("shared = \"{} KiB\"", property("shared")? / 1024.0));

    put(format_args!("\n[latency]\nglobal = \"{:.0} cycles\"", rows.value("latency", "memory")?));
    put(format_args!("shared = \"{:.1} cycles\"", rows.at("shared", "one warp", 1.0)?));
    put(format_args!("cache = \"{:.1} cycles\"\nsource = {source:?}", rows.value("latency", "l1")?));

    let chain = rows.value("issue", "f32")?;
    put(format_args!("\n[issue]\nsingle = \"{chain:.2} cycles\""));
    put(format_args!("double = \"{:.2} cycles\"", rows.value("issue", "f64")?));
    put(format_args!("pipeline_depth = {chain:.0}\nsource = {source:?}"));

    let peak = bus_peak(capability);
    put(format_args!("\n[bus]\npeak = \"{peak} GB/s\""));
    for of in ["pageable_to_device", "pageable_to_host", "pinned_to_device", "pinned_to_host"] {
        put(format_args!("{of} = \"{:.1} %\"", 100.0 * rows.most("copy", of)? / peak));
    }
    // The largest: smaller ones do not leave the second-level cache.
    let largest = rows.all("copy", "within_device").map(|row| row.over).fold(0.0, f64::max);
    put(format_args!("within_device = \"{:.0} GB/s\"", rows.at("copy", "within_device", largest)?));
    put(format_args!("source = {source:?}"));

    put(format_args!("\n[launch]\noverhead = \"{:.2} us\"", rows.value("launch", "plain")?));
    put(format_args!("source = {source:?}"));

    // T = base + per_thread · N: the launch, and what a thread adds to a round of additions.
    let round = rows.line("atomic", "round", |row| row.over)?;
    let launch = rows.value("sum", "atomic")? * 1e3 - round.at(512.0);
    put(format_args!("\n[atomics]\nbase = \"{:.0} cycles\"", cycles(launch + round.base)));
    put(format_args!("per_thread = \"{:.4} cycles\"\nsource = {source:?}", cycles(round.slope)));

    waves(&rows, clock, bandwidth, &mut put)?;
    put(format_args!("source = {source:?}"));
    Ok(text)
}

/// Section `[waves]`.
fn waves(
    rows: &Rows<'_>,
    clock: f64,
    bandwidth: f64,
    put: &mut impl FnMut(std::fmt::Arguments<'_>),
) -> Result<(), String> {
    let property = |of: &str| rows.value("property", of);
    let (units, warp) = (property("multiprocessors")?, property("warp")?);
    let cycles = |nanoseconds: f64| nanoseconds * 1e-9 * clock;
    put(format_args!("\n[waves]"));
    for (field, measure, of) in [
        ("launch", "launch", "plain"),
        ("launch_dependent", "launch", "dependent"),
        ("gap", "gap", "empty"),
        ("gap_dependent", "gap", "dependent"),
    ] {
        put(format_args!("{field} = \"{:.2} us\"", rows.value(measure, of)?));
    }
    // A multiprocessor takes so many ns for each: all of them start so many in a ns.
    put(format_args!("blocks = \"{:.3} GHz\"", units / rows.value("block", "empty")?));
    put(format_args!("blocks_dependent = \"{:.3} GHz\"", units / rows.value("block", "dependent")?));
    let turnover = rows.line("block", "alone", |row| row.over / warp)?;
    put(format_args!("turnover = \"{:.0} cycles\"", cycles(turnover.base)));
    put(format_args!("turnover_warp = \"{:.2} cycles\"", cycles(turnover.slope)));
    for of in ["read", "write", "copy"] {
        put(format_args!("{of} = \"{:.1} %\"", 100.0 * rows.most("stream", of)? * 1e9 / bandwidth));
    }
    // Requests of a warp, each of whose lanes has a line of its own.
    put(format_args!("stores = \"{:.1} GHz\"", warp * rows.at("scatter", "all", 32.0)?));
    let store = clock * 1e-9 / (warp * rows.at("scatter", "alone", 32.0)?);
    put(format_args!("store = \"{store:.2} cycles\""));
    put(format_args!("l2 = \"{:.0} B\"", rows.value("read", "l2")? * 1e9 / clock));
    put(format_args!("l2_unit = \"{:.0} B\"", rows.value("read", "l2_alone")? * 1e9 / clock));
    for level in ["memory", "l2"] {
        put(format_args!("{level}_latency = \"{:.0} cycles\"", rows.value("latency", level)?));
        put(format_args!("{level}_loaded = \"{:.0} cycles\"", loaded(rows, level, clock, turnover)?));
    }
    put(format_args!("shared_latency = \"{:.1} cycles\"", rows.at("shared", "one warp", 1.0)?));
    put(format_args!("shuffle = \"{:.1} cycles\"", rows.value("issue", "shuffle")?));
    let barrier = rows.line("barrier", "block", |row| row.over)?;
    put(format_args!(
        "barrier = \"{:.1} cycles\"\nbarrier_warp = \"{:.2} cycles\"",
        barrier.base, barrier.slope
    ));
    Ok(())
}

/// What a block waits, in cycles, that copies a word a thread while all places for threads are taken: a wave's time
/// without turnover. Of blocks of 512 and 1024 threads; smaller ones do not start fast enough to fill the places.
fn loaded(rows: &Rows<'_>, level: &str, clock: f64, turnover: Line) -> Result<f64, String> {
    let (units, places) = (rows.value("property", "multiprocessors")?, rows.value("property", "threads")?);
    let warp = rows.value("property", "warp")?;
    let gap = rows.value("gap", "empty")?;
    let mut found = Vec::new();
    for threads in [512.0, 1024.0] {
        let of = format!("copy_{level}");
        let time = rows.at("wave", &of, threads)?;
        let words = rows.all("wave", &of).next().map_or(0.0, |row| row.by);
        let waves = words / (units * places);
        let wave = (time - gap) * 1e-6 * clock / waves;
        found.push(wave - turnover.at(threads / warp) * 1e-9 * clock);
    }
    Ok(found.iter().sum::<f64>() / found.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    /// The rows that descriptions in `devices` are from.
    const MEASURED: [(&str, &str); 2] = [
        ("h200", include_str!("../../../../benches/results/nvidia-h200-2026-11-23-calibration.jsonl")),
        ("h100", include_str!("../../../../benches/results/nvidia-h100-2026-11-25-calibration.jsonl")),
    ];

    fn rows(text: &str) -> Vec<Row> {
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
    }

    #[test]
    fn descriptions_are_what_was_measured() {
        for (name, text) in MEASURED {
            let text = describe(name, "measured", &rows(text)).expect("all rows are there");
            let mut found = Device::from_toml(&text).expect("it is a description");
            let mut kept = Device::by_name(name).expect("it is described");
            // The data sheet's bandwidth is rounded: percentages of it are not those of the driver's, but as much.
            let [found_rates, kept_rates] = [&mut found, &mut kept].map(|device| {
                let waves = device.waves.as_mut().expect("it was measured");
                let parts = [&mut waves.read, &mut waves.write, &mut waves.copy];
                parts.map(|part| core::mem::take(part).0 * device.memory.bandwidth.0)
            });
            for (found, kept) in found_rates.into_iter().zip(kept_rates) {
                assert!((found / kept - 1.0).abs() < 1e-3, "{name}: {found}, {kept}");
            }
            // Names, sources and what is the data sheet's are not measured.
            (found.name, found.source) = (kept.name.clone(), kept.source.clone());
            (found.memory, found.clock, found.tensor) = (kept.memory, kept.clock, kept.tensor.clone());
            sources(&mut found);
            sources(&mut kept);
            assert_eq!(found, kept);
        }
    }

    fn sources(device: &mut Device) {
        let Device { latency, issue, bus, launch, atomics, waves, .. } = device;
        let all = [
            latency.as_mut().map(|part| &mut part.source),
            issue.as_mut().map(|part| &mut part.source),
            bus.as_mut().map(|part| &mut part.source),
            launch.as_mut().map(|part| &mut part.source),
            atomics.as_mut().map(|part| &mut part.source),
            waves.as_mut().map(|part| &mut part.source),
        ];
        all.into_iter().for_each(|source| source.expect("it was measured").clear());
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = describe("nothing", "nobody", &[]).unwrap_err();
        assert_eq!(error, "there is no row `property` of `capability`");
        let without: Vec<Row> =
            rows(MEASURED[0].1).into_iter().filter(|row| row.measure != "barrier").collect();
        let error = describe("H200", "measured", &without).unwrap_err();
        assert_eq!(error, "no line goes through the rows `barrier` of `block`");
    }
}
