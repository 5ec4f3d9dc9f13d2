//! How well gpu_model::waves predicts what was measured, beside the roofline and the literature's models.
//!
//! `cargo run --release --example performance_model` takes what was timed on an H200 (benches/results): the textbook's
//! transpositions, and every case of the benchmarks. It counts each in the simulator (performance_model/cases.rs), predicts its
//! time, and prints how far off that is; what cannot be predicted, with why, on standard error. The model's numbers are
//! from kernels of their own (example `calibrate`).
//!
//! Its formulas were found with the transpositions and the sums of `f64` in view; the sums of other types were first
//! looked at when it was finished. Of the benchmarks' other cases about half are held out
//! (`recorded::is_held_out`, a rule that was fixed before any of them was predicted), and judged apart. The
//! textbook's transpositions were timed again and again on one matrix, so what fits into the second-level cache was there;
//! the others on inputs in turn, which were not.

#[path = "performance_model/cases.rs"]
mod cases;
#[path = "performance_model/recorded.rs"]
mod recorded;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_benches::suite::{Case, Op, Type};
use gpu_examples::chart::{FONT, paper};
use gpu_examples::exit_code;
use gpu_examples::predicted::{Predicted, Subject};
use gpu_examples::table::Table;
use gpu_model::Device;
use gpu_model::literature::counted::Model;
use gpu_model::literature::roofline::{Demand, Roofline};
use gpu_model::units::Bytes;
use gpu_model::waves::tuning::rank;
use gpu_model::waves::{Bottleneck, Counts};
use gpu_sim::metrics::Architecture;
use plotters::prelude::*;
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
/// The least time of a plot, in microseconds.
const LEAST: f64 = 0.1;
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
            Err(error) => failed.push(error.to_string()),
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
        print(&device, &lines, &errors);
    }
    if let Some(file) = &options.plot {
        plot(file, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
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

fn print(device: &Device, lines: &[Line], errors: &Errors) {
    println!("Predicted and measured on a {}, in µs; errors in percent of what was measured:\n", device.name);
    let mut table =
        Table::new(["kernel", "size", "measured", "waves", "error", "bottleneck", "roofline", "error", ""]);
    for line in lines {
        let remark = match (line.held_out, line.cached) {
            (true, _) => "held out",
            (_, true) => "in L2",
            _ => "",
        };
        table.row([
            line.kernel.clone(),
            line.size.to_string(),
            format!("{:.2}", line.measured_microseconds),
            format!("{:.2}", line.predicted_microseconds),
            format!("{:+.1}", line.error),
            line.bottleneck.to_string(),
            format!("{:.2}", line.roofline_microseconds),
            format!("{:+.1}", line.roofline_error),
            remark.to_owned(),
        ]);
    }
    println!("{table}");
    println!("The literature's models on the same, in µs:\n");
    let head = ["kernel", "size", "measured"].into_iter().chain(Model::ALL.map(Model::name));
    let mut table = Table::new(head);
    for line in lines {
        let times = Model::ALL.map(|model| line.literature.get(&model).copied());
        let cells = [Some(line.measured_microseconds)]
            .into_iter()
            .chain(times)
            .map(|time| time.map_or("–".to_owned(), |time| format!("{time:.2}")));
        table.row([line.kernel.clone(), line.size.to_string()].into_iter().chain(cells));
    }
    println!("{table}");
    println!("Absolute errors:\n");
    let mut table = Table::new(["model", "rows", "median %", "90th percentile %"]);
    let all = lines.len();
    let ours = [
        ("waves", errors.rows, [errors.median, errors.ninetieth]),
        ("waves, held out", errors.held_out_rows, [errors.held_out_median, errors.held_out_ninetieth]),
        ("roofline", all, [errors.roofline_median, errors.roofline_ninetieth]),
    ];
    let others = errors.literature.iter().map(|(model, found)| (model.name(), all, *found));
    for (name, rows, [median, ninetieth]) in ours.into_iter().chain(others) {
        if rows > 0 {
            table.row([name.to_owned(), rows.to_string(), format!("{median:.1}"), format!("{ninetieth:.1}")]);
        }
    }
    println!("{table}");
    println!("The longest prediction, of {}, took {:.1} s.", errors.slowest, errors.slowest_seconds);
    println!("The variant predicted as the fastest is, in {} of {} sizes.", errors.fastest, errors.sizes);
    println!(
        "Of {} pairs of variants of one size that differ by more than 10 %, the faster one is found in {}.",
        errors.pairs, errors.right
    );
}

/// Predicted over measured times: on the diagonal they are equal.
fn plot(file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    const WIDTH: u32 = 1000;
    type Of = Box<dyn Fn(&Line) -> f64>;
    let mut models: Vec<(&str, Of)> = vec![
        ("waves", Box::new(|line: &Line| line.predicted_microseconds)),
        ("roofline", Box::new(|line: &Line| line.roofline_microseconds)),
    ];
    for model in Model::ALL {
        models.push((
            model.name(),
            Box::new(move |line: &Line| {
                // Off the chart where there is none.
                line.literature.get(&model).copied().unwrap_or(0.0)
            }),
        ));
    }
    let root = paper(file, (WIDTH, 700))?;
    // From one power of ten to another: those have labels. What is less than a tenth of a microsecond lies on the edge.
    let range = |times: Vec<f64>| {
        let logs = times.into_iter().map(|time| time.max(LEAST).log10());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (log.floor().min(low), log.ceil().max(high))
        });
        (10f64.powf(low), 10f64.powf(high))
    };
    let (left, right) = range(lines.iter().map(|line| line.measured_microseconds).collect());
    let (low, high) = range(models.iter().flat_map(|(_, of)| lines.iter().map(of)).collect());
    let mut chart = ChartBuilder::on(&root)
        .caption("Predicted over measured times on an H200", (FONT, 20))
        .margin(12)
        .margin_right(190)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("measured, µs")
        .y_desc("predicted, µs")
        .label_style((FONT, 15))
        .max_light_lines(1)
        .x_label_formatter(&|time| time.to_string())
        .y_label_formatter(&|time| time.to_string())
        .draw()?;
    chart
        .draw_series([PathElement::new([left.max(low), right.min(high)].map(|time| (time, time)), BLACK)])?;
    // Ours last, above the others.
    for (index, (name, of)) in models.iter().enumerate().rev() {
        let colour = Palette99::pick(index).to_rgba();
        let (size, style) = if index == 0 { (4, colour.filled()) } else { (3, colour.stroke_width(1)) };
        let points = lines.iter().map(|line| (line.measured_microseconds, of(line).max(LEAST)));
        chart.draw_series(points.map(|point| Circle::new(point, size, style)))?;
        let (beside, top) = (WIDTH as i32 - 178, 50 + 22 * index as i32);
        root.draw(&Circle::new((beside, top + 8), size, style))?;
        root.draw(&Text::new(*name, (beside + 14, top), (FONT, 16)))?;
    }
    root.present()?;
    Ok(())
}
