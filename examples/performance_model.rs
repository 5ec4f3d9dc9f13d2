//! How well gpu_model::waves predicts what was measured, beside the roofline.
//!
//! `cargo run --release --example performance_model` takes the transpositions and sums that were timed on an H200
//! (benches/results), counts each in the simulator, predicts its time, and prints how far off that is. Rows that
//! calibrated the model are shown and left out of the statistics. The textbook's transpositions were timed again and
//! again on one matrix, so what fits into the second-level cache was there; the others on inputs in turn, which were
//! not.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_examples::chart::{FONT, paper};
use gpu_examples::exit_code;
use gpu_examples::predicted::{Predicted, Subject};
use gpu_examples::table::Table;
use gpu_model::Device;
use gpu_model::literature::roofline::Roofline;
use gpu_model::waves::Bottleneck;
use gpu_sim::metrics::Architecture;
use plotters::prelude::*;
use serde::{Deserialize, Serialize};

/// Predicted against measured times on an H200, by this workspace's model and by the roofline
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table: one for each row, then one of the errors
    #[arg(long)]
    json: bool,
    /// Draw predicted over measured times
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// Only these kernels: `transpose`, `sum`, or names like `transpose/naive_32`
    #[arg(long, value_delimiter = ',')]
    kernel: Vec<String>,
}

/// The textbook's transpositions.
const VARIANTS: &str = include_str!("../benches/results/nvidia-h200-2026-11-21-variants.jsonl");
/// The fast transposition and the fast sum, with the present kernels.
const FAST: &str = include_str!("../benches/results/nvidia-h200-2026-11-22-small-kernels.jsonl");
/// The measured row here that calibrated the model; the other three are copies and a sum of `f32`.
const CALIBRATION: (&str, usize) = ("transpose/naive_32", 4096);
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

/// What was measured.
struct Measured {
    subject: Subject,
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
    roofline_microseconds: f64,
    roofline_error: f64,
    cached: bool,
    calibration: bool,
}

/// Absolute errors in percent.
#[derive(Serialize)]
struct Errors {
    rows: usize,
    median: f64,
    ninetieth: f64,
    roofline_median: f64,
    roofline_ninetieth: f64,
    /// Pairs of textbook variants of one size that differ by more than 10 %, and those of which the faster is found.
    pairs: usize,
    right: usize,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = Device::by_name("h200")?;
    let mut chosen = Vec::new();
    for name in &options.kernel {
        chosen.extend(Subject::by_name(name)?);
    }
    let mut measured = measured()?;
    measured.retain(|row| chosen.is_empty() || chosen.contains(&row.subject));
    if measured.is_empty() {
        return Err("no measured row is of these kernels".into());
    }
    let lines = measured.iter().map(|row| line(row, &device)).collect::<Result<Vec<Line>, _>>()?;
    let errors = errors(&measured, &lines);
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
            subject: one(&format!("transpose/{name}"))?,
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
            _ => continue,
        };
        fast.entry(key).or_default().push(row.ms_median * 1e3);
    }
    for ((name, size), mut times) in fast {
        let microseconds = quantile(&mut times, 0.5);
        all.push(Measured { subject: one(name)?, size, microseconds, repeated: false });
    }
    Ok(all)
}

fn line(row: &Measured, device: &Device) -> Result<Line, Box<dyn Error>> {
    let &Measured { subject, size, microseconds, repeated } = row;
    let demand = subject.demand(size);
    let l2 = device.memory.l2.ok_or("the device has no second-level cache")?;
    let cached = repeated && demand.bytes[0] <= l2;
    let Predicted { sequence, .. } = subject.count(size, Architecture::H200)?.predict(device, cached)?;
    let roofline = Roofline::single(device).bound(&demand)?.time.0 * 1e6;
    let predicted = sequence.time.0 * 1e6;
    let off = |time: f64| 100.0 * (time / microseconds - 1.0);
    Ok(Line {
        kernel: subject.to_string(),
        size,
        measured_microseconds: microseconds,
        predicted_microseconds: predicted,
        error: off(predicted),
        bottleneck: sequence.bottleneck,
        roofline_microseconds: roofline,
        roofline_error: off(roofline),
        cached,
        calibration: (subject.to_string().as_str(), size) == CALIBRATION,
    })
}

/// The least value that this part of all is not above.
fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (part * values.len() as f64).ceil() as usize;
    values.get(place.max(1) - 1).copied().unwrap_or(f64::NAN)
}

fn errors(measured: &[Measured], lines: &[Line]) -> Errors {
    let judged: Vec<&Line> = lines.iter().filter(|line| !line.calibration).collect();
    let mut ours: Vec<f64> = judged.iter().map(|line| line.error.abs()).collect();
    let mut roofline: Vec<f64> = judged.iter().map(|line| line.roofline_error.abs()).collect();
    let (mut pairs, mut right) = (0, 0);
    for (index, one) in lines.iter().enumerate() {
        for (other_index, other) in lines.iter().enumerate().skip(index + 1) {
            let comparable = measured[index].repeated && measured[other_index].repeated;
            if !comparable || one.size != other.size || one.calibration || other.calibration {
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
    Errors {
        rows: judged.len(),
        median: quantile(&mut ours, 0.5),
        ninetieth: quantile(&mut ours, 0.9),
        roofline_median: quantile(&mut roofline, 0.5),
        roofline_ninetieth: quantile(&mut roofline, 0.9),
        pairs,
        right,
    }
}

fn print(device: &Device, lines: &[Line], errors: &Errors) {
    println!("Predicted and measured on a {}, in µs; errors in percent of what was measured:\n", device.name);
    let mut table =
        Table::new(["kernel", "size", "measured", "waves", "error", "bottleneck", "roofline", "error", ""]);
    for line in lines {
        let remark = match (line.calibration, line.cached) {
            (true, _) => "calibration",
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
    println!("Absolute errors over {} rows, {} {} left out:\n", errors.rows, CALIBRATION.0, CALIBRATION.1);
    let mut table = Table::new(["model", "median %", "90th percentile %"]);
    for (name, median, ninetieth) in [
        ("waves", errors.median, errors.ninetieth),
        ("roofline", errors.roofline_median, errors.roofline_ninetieth),
    ] {
        table.row([name.to_owned(), format!("{median:.1}"), format!("{ninetieth:.1}")]);
    }
    println!("{table}");
    println!(
        "Of {} pairs of variants of one size that differ by more than 10 %, the faster one is found in {}.",
        errors.pairs, errors.right
    );
}

/// Predicted over measured times: on the diagonal they are equal.
fn plot(file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let root = paper(file, (900, 700))?;
    let times = lines.iter().flat_map(|line| {
        [line.measured_microseconds, line.predicted_microseconds, line.roofline_microseconds]
    });
    // From one power of ten to another: those have labels.
    let (low, high) = times.map(f64::log10).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
        (log.floor().min(low), log.ceil().max(high))
    });
    let (low, high) = (10f64.powf(low), 10f64.powf(high));
    let mut chart = ChartBuilder::on(&root)
        .caption("Predicted over measured times on an H200", (FONT, 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("measured, µs")
        .y_desc("predicted, µs")
        .label_style((FONT, 15))
        .max_light_lines(1)
        .draw()?;
    chart.draw_series([PathElement::new([(low, low), (high, high)], BLACK)])?;
    type Of = fn(&Line) -> f64;
    let models: [(&str, Of); 2] =
        [("waves", |line| line.predicted_microseconds), ("roofline", |line| line.roofline_microseconds)];
    for (index, (name, of)) in models.into_iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        let points = lines.iter().map(|line| {
            Circle::new((line.measured_microseconds, of(line)), 4, ShapeStyle::from(colour).filled())
        });
        chart.draw_series(points)?;
        let top = 60 + 22 * index as i32;
        root.draw(&Circle::new((120, top + 7), 4, ShapeStyle::from(colour).filled()))?;
        root.draw(&Text::new(name, (132, top), (FONT, 16)))?;
    }
    root.present()?;
    Ok(())
}
