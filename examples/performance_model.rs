//! How well gpu_model::waves predicts what was measured, beside the roofline and the literature's models.
//!
//! `cargo run --release --example performance_model` takes what was timed on an H200 (benches/results): the textbook's
//! transpositions, and every case of the benchmarks. It counts each in the simulator (performance_model/cases.rs),
//! predicts its time, and prints how far off that is; what cannot be predicted, with why, on standard error. The
//! model's numbers are from kernels of their own (example `calibrate`).
//!
//! Its formulas were found with the transpositions, the sums of `f64` and half of the benchmarks' other cases in view;
//! the sums of other types and the other half are held out (`recorded::is_held_out`, a rule that was fixed before any
//! of them was predicted), and judged apart. The textbook's transpositions were timed again and again on one matrix, so
//! what fits into the second-level cache was there; the others on inputs in turn, which were not.

#[path = "performance_model/cases.rs"]
mod cases;
#[path = "performance_model/plot.rs"]
mod plot;
#[path = "performance_model/product.rs"]
mod product;
#[path = "performance_model/recorded.rs"]
mod recorded;
#[path = "performance_model/report.rs"]
mod report;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_benches::suite::{Case, Op, Type};
use gpu_examples::exit_code;
use gpu_examples::predicted::{Predicted, Subject};
use gpu_model::Device;
use gpu_model::literature::counted::Model;
use gpu_model::literature::roofline::{Demand, Roofline};
use gpu_model::units::Bytes;
use gpu_model::waves::tuning::rank;
use gpu_model::waves::{Bottleneck, Counts};
use gpu_sim::metrics::Architecture;
use recorded::{is_held_out, recorded};
use serde::{Deserialize, Serialize};

/// Predicted against measured times on an H200, by this workspace's model, the roofline and the literature's
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table: one for each row, then one of the errors
    #[arg(long)]
    json: bool,
    /// Draw predicted over measured times
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// Only these kernels: `transpose`, `sum`, names like `transpose/naive_32`, or cases of the benchmarks, `scan`,
    /// `scan/f32` or `scan/f32/2^20`
    #[arg(long, value_delimiter = ',')]
    kernel: Vec<String>,
}

/// The textbook's transpositions.
const VARIANTS: &str = include_str!("../benches/results/nvidia-h200-2026-11-21-variants.jsonl");
/// The fast transposition and the fast sum, with the present kernels.
const FAST: &str = include_str!("../benches/results/nvidia-h200-2026-11-22-small-kernels.jsonl");
/// Pairs of variants whose times differ by less are no matter of winning.
const DIFFERENT: f64 = 1.1;

#[derive(Deserialize)]
struct VariantRow {
    variant: String,
    block: u32,
    size: usize,
    microseconds: f64,
}

#[derive(Deserialize)]
struct FastRow {
    peer: String,
    op: String,
    #[serde(rename = "type")]
    element: String,
    n: usize,
    rows: Option<usize>,
    cols: Option<usize>,
    mode: String,
    ms_median: f64,
}

/// What runs.
#[derive(Clone, Copy, PartialEq)]
enum Kernel {
    /// A kernel whose launches are known without simulating them.
    Subject(Subject),
    /// A case of the benchmarks.
    Case(Case),
}

impl Kernel {
    fn name(self) -> String {
        match self {
            Self::Subject(subject) => subject.to_string(),
            Self::Case(case) => case.name(),
        }
    }
}

/// What was measured.
struct Measured {
    kernel: Kernel,
    size: usize,
    microseconds: f64,
    /// All on one matrix.
    repeated: bool,
}

#[derive(Serialize)]
struct Line {
    kernel: String,
    size: usize,
    measured_microseconds: f64,
    predicted_microseconds: f64,
    /// Predicted less measured, of measured, in percent.
    error: f64,
    bottleneck: Bottleneck,
    launches: usize,
    /// By what part the time differs where counts are scaled from a smaller simulation, in percent.
    scaling_error: f64,
    /// How long counting and predicting took.
    prediction_seconds: f64,
    roofline_microseconds: f64,
    roofline_error: f64,
    /// In microseconds, model by model.
    literature: BTreeMap<Model, f64>,
    cached: bool,
    /// Judged only: not looked at while formulas were sought.
    held_out: bool,
}

/// Absolute errors in percent.
#[derive(Serialize)]
struct Errors {
    rows: usize,
    median: f64,
    ninetieth: f64,
    /// Those of rows that were looked at only when the model was finished.
    held_out_rows: usize,
    held_out_median: f64,
    held_out_ninetieth: f64,
    roofline_median: f64,
    roofline_ninetieth: f64,
    /// Median and 90th percentile.
    literature: BTreeMap<Model, [f64; 2]>,
    /// Pairs of textbook variants of one size that differ by more than 10 %, and those of which the faster is found.
    pairs: usize,
    right: usize,
    /// The kernel whose counting and prediction took longest, and how long, in seconds.
    slowest: String,
    slowest_seconds: f64,
    /// Sizes of which all variants were measured, and those of which the fastest is the one predicted.
    sizes: usize,
    fastest: usize,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = Device::by_name("h200")?;
    let mut measured = measured()?;
    let mut chosen = Vec::new();
    for name in &options.kernel {
        let is_case = |row: &Measured| matches!(row.kernel, Kernel::Case(case) if is_called(case, name));
        chosen.extend(measured.iter().filter(|row| is_case(row)).map(|row| row.kernel));
        match Subject::by_name(name) {
            Ok(subjects) => chosen.extend(subjects.into_iter().map(Kernel::Subject)),
            Err(_) if !chosen.is_empty() => {}
            Err(error) => return Err(format!("{error}; and the benchmarks' cases").into()),
        }
    }
    measured.retain(|row| options.kernel.is_empty() || chosen.contains(&row.kernel));
    if measured.is_empty() {
        return Err("no measured row is of these kernels".into());
    }
    let mut lines = Vec::new();
    let (mut predicted, mut failed) = (Vec::new(), Vec::new());
    for row in measured {
        match line(&row, &device) {
            Ok(line) => {
                lines.push(line);
                predicted.push(row);
            }
            Err(error) => failed.push(format!("{}: {error}", row.kernel.name())),
        }
    }
    let measured = predicted;
    for error in &failed {
        eprintln!("not predicted: {error}");
    }
    let errors = errors(&device, &measured, &lines)?;
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
        println!("{}", serde_json::to_string(&errors)?);
    } else {
        report::print(&device, &lines, &errors);
    }
    if let Some(file) = &options.plot {
        plot::plot(file, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

fn measured() -> Result<Vec<Measured>, Box<dyn Error>> {
    let one = |name: &str| Subject::by_name(name).map(|found| found[0]);
    let mut all = Vec::new();
    for line in VARIANTS.lines() {
        let VariantRow { variant, block, size, microseconds } = serde_json::from_str(line)?;
        let name = if variant == "fast" { variant } else { format!("{variant}_{block}") };
        all.push(Measured {
            kernel: Kernel::Subject(one(&format!("transpose/{name}"))?),
            size,
            microseconds,
            repeated: true,
        });
    }
    let mut fast = BTreeMap::<(&str, usize), Vec<f64>>::new();
    for line in FAST.lines() {
        let row: FastRow = serde_json::from_str(line)?;
        if row.peer != "ours" || row.mode != "batch" {
            continue;
        }
        let key = match (row.op.as_str(), row.element.as_str(), row.rows, row.cols) {
            ("transpose", "f32", Some(rows), Some(columns)) if rows == columns => ("transpose/fast", rows),
            ("sum", "f64", ..) => ("sum/fast", row.n),
            ("sum", "f32", ..) => ("sum_of/f32", row.n),
            ("sum", "i32", ..) => ("sum_of/i32", row.n),
            ("sum", "u8", ..) => ("sum_of/u8", row.n),
            _ => continue,
        };
        fast.entry(key).or_default().push(row.ms_median * 1e3);
    }
    for ((name, size), mut times) in fast {
        let microseconds = quantile(&mut times, 0.5);
        let kernel = Kernel::Subject(one(name)?);
        all.push(Measured { kernel, size, microseconds, repeated: false });
    }
    for found in recorded()? {
        let (case, size) = (found.case, found.case.elements());
        if !is_subject(case) {
            let microseconds = found.microseconds;
            all.push(Measured { kernel: Kernel::Case(case), size, microseconds, repeated: false });
        }
    }
    Ok(all)
}

/// Whether a case is among those whose launches are known.
fn is_subject(case: Case) -> bool {
    let subject = case.subject();
    match case.op {
        Op::Transpose => subject.rows == subject.cols,
        Op::Sum => matches!(case.element, Type::F32 | Type::F64 | Type::I32 | Type::U8),
        _ => false,
    }
}

/// Whether a case is `name`, or of its kind: `scan`, `scan/f32` or `scan/f32/2^20`.
fn is_called(case: Case, name: &str) -> bool {
    case.name().strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn line(row: &Measured, device: &Device) -> Result<Line, Box<dyn Error>> {
    let &Measured { kernel, size, microseconds, repeated } = row;
    let l2 = device.memory.l2.ok_or("the device has no second-level cache")?;
    let start = Instant::now();
    let (name, demand, counted, held_out) = match kernel {
        Kernel::Subject(subject) => {
            let counted = subject.count(size, Architecture::H200)?;
            (subject.to_string(), subject.demand(size), counted, matches!(subject, Subject::SumOf(_)))
        }
        Kernel::Case(case) => {
            let (counted, bytes) = cases::count(case, Architecture::H200, l2)?;
            let demand = Demand { operations: cases::operations(case), bytes: vec![Bytes(bytes)] };
            (case.name(), demand, counted, is_held_out(case))
        }
    };
    let cached = repeated && demand.bytes[0] <= l2;
    let Predicted { sequence, error: scaling } = counted.predict(device, cached)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut literature = BTreeMap::new();
    for model in Model::ALL {
        // One that has no time for a launch, as for one that reads nothing, has none for the case.
        let times = counted.launches.iter().map(|launch| Ok(model.time(device, launch)?.0 * 1e6));
        if let Ok(time) = times.sum::<Result<f64, gpu_model::Error>>() {
            literature.insert(model, time);
        }
    }
    let roofline = Roofline::single(device).bound(&demand)?.time.0 * 1e6;
    let predicted = sequence.time.0 * 1e6;
    let off = |time: f64| 100.0 * (time / microseconds - 1.0);
    Ok(Line {
        kernel: name,
        size,
        measured_microseconds: microseconds,
        predicted_microseconds: predicted,
        error: off(predicted),
        bottleneck: sequence.bottleneck,
        launches: counted.launches.len(),
        scaling_error: 100.0 * scaling,
        prediction_seconds: seconds,
        roofline_microseconds: roofline,
        roofline_error: off(roofline),
        literature,
        cached,
        held_out,
    })
}

/// The least value that this part of all is not above.
fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (part * values.len() as f64).ceil() as usize;
    values.get(place.max(1) - 1).copied().unwrap_or(f64::NAN)
}

fn errors(device: &Device, measured: &[Measured], lines: &[Line]) -> Result<Errors, Box<dyn Error>> {
    let of = |held_out: bool, error: &dyn Fn(&Line) -> f64| -> Vec<f64> {
        lines.iter().filter(|line| line.held_out == held_out).map(|line| error(line).abs()).collect()
    };
    let mut ours = of(false, &|line| line.error);
    let mut held_out = of(true, &|line| line.error);
    let mut roofline: Vec<f64> = lines.iter().map(|line| line.roofline_error.abs()).collect();
    let mut literature = BTreeMap::new();
    for model in Model::ALL {
        let off = |line: &Line| {
            let time = line.literature.get(&model)?;
            Some(100.0 * (time / line.measured_microseconds - 1.0).abs())
        };
        let mut errors: Vec<f64> = lines.iter().filter_map(off).collect();
        literature.insert(model, [quantile(&mut errors, 0.5), quantile(&mut errors, 0.9)]);
    }
    let (mut pairs, mut right) = (0, 0);
    for (index, one) in lines.iter().enumerate() {
        for (other_index, other) in lines.iter().enumerate().skip(index + 1) {
            let comparable = measured[index].repeated && measured[other_index].repeated;
            if !comparable || one.size != other.size {
                continue;
            }
            let ratio = one.measured_microseconds / other.measured_microseconds;
            if ratio.max(1.0 / ratio) > DIFFERENT {
                pairs += 1;
                let predicted = one.predicted_microseconds / other.predicted_microseconds;
                right += usize::from((ratio > 1.0 && predicted > 1.0) || (ratio < 1.0 && predicted < 1.0));
            }
        }
    }
    let (sizes, fastest) = fastest(device, measured)?;
    let slowest =
        lines.iter().max_by(|one, other| one.prediction_seconds.total_cmp(&other.prediction_seconds));
    Ok(Errors {
        rows: ours.len(),
        median: quantile(&mut ours, 0.5),
        ninetieth: quantile(&mut ours, 0.9),
        held_out_rows: held_out.len(),
        held_out_median: quantile(&mut held_out, 0.5),
        held_out_ninetieth: quantile(&mut held_out, 0.9),
        roofline_median: quantile(&mut roofline, 0.5),
        roofline_ninetieth: quantile(&mut roofline, 0.9),
        literature,
        pairs,
        right,
        slowest: slowest.map(|line| line.kernel.clone()).unwrap_or_default(),
        slowest_seconds: slowest.map_or(0.0, |line| line.prediction_seconds),
        sizes,
        fastest,
    })
}

/// A tuning table of the variants that were measured on one matrix: of how many sizes, and in how many of them the
/// first is the one that was measured as the fastest.
fn fastest(device: &Device, measured: &[Measured]) -> Result<(usize, usize), Box<dyn Error>> {
    let repeated: Vec<&Measured> = measured.iter().filter(|row| row.repeated).collect();
    let mut sizes: Vec<usize> = repeated.iter().map(|row| row.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let l2 = device.memory.l2.ok_or("the device has no second-level cache")?;
    let mut variants: Vec<Subject> = Vec::new();
    for row in &repeated {
        match row.kernel {
            Kernel::Subject(subject) if !variants.contains(&subject) => variants.push(subject),
            _ => {}
        }
    }
    if variants.is_empty() {
        return Ok((0, 0));
    }
    let table = rank(device, sizes, &variants, |&size, subject| -> Result<_, Box<dyn Error>> {
        let launches = subject.count(size, Architecture::H200)?.launches;
        let cached = subject.demand(size).bytes[0] <= l2;
        Ok(if cached { launches.into_iter().map(Counts::cached).collect() } else { launches })
    })?;
    let right = table.iter().filter(|ranking| {
        let of_size = repeated.iter().filter(|row| row.size == ranking.size);
        let best = of_size.min_by(|one, other| one.microseconds.total_cmp(&other.microseconds));
        best.is_some_and(|best| best.kernel == Kernel::Subject(*ranking.best()))
    });
    Ok((table.len(), right.count()))
}
