//! How long each sum takes, with and without the copy of its elements to the device.
//!
//! `cargo run --release --example reduction_variants` sums 500,000 to 100,000,000 doubles with the textbook's stages,
//! in blocks of 512 threads, and with the fast version, as a table and, with `--plot FILE.png`, as a chart. Without a
//! GPU it predicts an H200's times, or with `--model` another device's; `--device simulator` runs all in the simulator,
//! on small arrays. Every sum is checked against the CPU's.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_core::{Device, Kind};
use gpu_examples::chart::{Curve, curves, paper};
use gpu_examples::model::{Case, Model, gpu_or_model};
use gpu_examples::predicted::Subject;
use gpu_examples::reductions::{Summation, Work, count};
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_sim::metrics::Metrics;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time all sums of doubles on the device at hand, with and without the copy to it
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the times as a chart
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N`, `simulator` or `cpu`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Elements, one or more lengths; 500,000 to 100,000,000 on a GPU, to 10,000,000 on the CPU, 20,000 and 50,000 in
    /// the simulator if not given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=1 << 33))]
    len: Vec<u64>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Only this one: `divergent`, `several`, `fast`, …
    #[arg(long, value_parser = Summation::by_name)]
    variant: Option<Summation>,
    /// Run each once, without warming up or timing: for profilers
    #[arg(long)]
    once: bool,
}

/// The lengths that the literature measured.
const LENGTHS: [usize; 7] = [500_000, 1_000_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 100_000_000];
/// Sums with the copy, which take long and vary little; their median is reported.
const RUNS_WITH_COPY: usize = 3;
/// Elements of the sum that is simulated for its metrics: as the table in the variants' documentation has.
const SIMULATED: usize = 1 << 16;

/// One measurement.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    #[serde(rename = "type")]
    element: &'static str,
    len: usize,
    block: u32,
    /// Kernels: none on the CPU, where all variants are the same loop.
    launches: usize,
    device: String,
    /// Of the kernels alone, the elements being on the device.
    milliseconds: f64,
    /// Bytes of the elements, of that time, in 10⁹ a second.
    gigabytes_per_second: f64,
    /// From elements on the host to the sum on the host.
    milliseconds_with_copy: f64,
    branch_efficiency: f64,
    shared_efficiency: f64,
    shared_load_transactions_per_request: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let model = model.filter(|_| !options.once);
    let lengths: Vec<usize> = match (options.len.as_slice(), device.kind()) {
        ([], Kind::Cuda) => LENGTHS.to_vec(),
        ([], _) if model.is_some() => LENGTHS.to_vec(),
        ([], Kind::Cpu) => LENGTHS[..4].to_vec(),
        ([], _) => vec![20_000, 50_000],
        (lengths, _) => lengths.iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>()?,
    };
    let chosen = options.variant.map_or_else(Summation::all, |one| vec![one]);
    if options.once {
        for len in lengths {
            let mut work = Work::new(&device, len)?;
            chosen.iter().try_for_each(|&one| work.check(one))?;
        }
        return Ok(());
    }

    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, &chosen, &lengths, &[])?)?);
    }

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new((chosen.len() * (lengths.len() + 1)) as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut counted: Vec<(Summation, Metrics)> = Vec::new();
    for &one in &chosen {
        bar.set_message(format!("{one}, simulated"));
        counted.push((one, count(one, SIMULATED)?));
        bar.inc(1);
    }
    let mut lines = Vec::new();
    for &len in &lengths {
        let mut work = Work::new(&device, len)?;
        for (one, metrics) in &counted {
            bar.set_message(format!("{one} of {len}"));
            // Draws it now: a sum can take seconds.
            bar.tick();
            lines.push(measure(&device, &mut work, *one, len, metrics)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &lengths, &lines);
    }
    if let Some(model) = &model {
        model.show(options.json, &predicted(model, &chosen, &lengths, &lines)?)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &chosen, &lines)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// What the model says of each, beside what was measured.
fn predicted(
    model: &Model,
    chosen: &[Summation],
    lengths: &[usize],
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for &len in lengths {
        for &one in chosen {
            let measured = lines.iter().find(|line| line.variant == one.name() && line.len == len);
            let measured = measured.map(|line| line.milliseconds * 1e3);
            cases.push(model.subject(Subject::Sum(one), len, measured)?);
        }
    }
    Ok(cases)
}

fn measure(
    device: &Device,
    work: &mut Work,
    one: Summation,
    len: usize,
    metrics: &Metrics,
) -> Result<Line, Box<dyn Error>> {
    work.check(one)?;
    let stream = work.stream.clone();
    let seconds = timing::seconds(&stream, || work.enqueue(one))?;
    let seconds_with_copy = time_with_copy(device, work, one)?;
    Ok(Line {
        variant: one.name(),
        element: "f64",
        len,
        block: one.block(),
        launches: if device.kind() == Kind::Cpu { 0 } else { one.launches(len) },
        device: device.name(),
        milliseconds: seconds * 1e3,
        gigabytes_per_second: (len * size_of::<f64>()) as f64 / seconds / 1e9,
        milliseconds_with_copy: seconds_with_copy * 1e3,
        branch_efficiency: metrics.branch_efficiency,
        shared_efficiency: metrics.shared_efficiency,
        shared_load_transactions_per_request: metrics.shared_load_transactions_per_request,
    })
}

/// The median time in seconds from elements on the host to their sum on the host. Each sum is checked.
fn time_with_copy(device: &Device, work: &mut Work, one: Summation) -> Result<f64, Box<dyn Error>> {
    let runs = if device.as_simulator().is_some() { 1 } else { RUNS_WITH_COPY };
    timing::median(runs, || {
        let start = Instant::now();
        work.copy()?;
        work.enqueue(one)?;
        let result = work.result()?;
        let seconds = start.elapsed().as_secs_f64();
        if result.to_bits() != work.expected.to_bits() {
            return Err(format!("{one}: the sum is {result}, the reference's is {}", work.expected).into());
        }
        Ok(seconds)
    })
}

fn print(device: &Device, lengths: &[usize], lines: &[Line]) {
    println!(
        "device {device}; sums of f64, all equal to the reference's; efficiencies in percent, simulated\n"
    );
    for &len in lengths {
        println!("{len} elements");
        let mut table = Table::new([
            "variant",
            "launches",
            "ms",
            "GB/s",
            "of the fastest",
            "ms with copy",
            "branch_efficiency",
            "shared_efficiency",
            "shared load passes",
        ]);
        let of_length = || lines.iter().filter(|line| line.len == len);
        let best = of_length().map(|line| line.gigabytes_per_second).fold(0.0, f64::max);
        for line in of_length() {
            table.row([
                line.variant.to_owned(),
                line.launches.to_string(),
                format!("{:.4}", line.milliseconds),
                format!("{:.1}", line.gigabytes_per_second),
                format!("{:.3}", line.gigabytes_per_second / best),
                format!("{:.4}", line.milliseconds_with_copy),
                format!("{:.1}", line.branch_efficiency),
                format!("{:.1}", line.shared_efficiency),
                format!("{:.2}", line.shared_load_transactions_per_request),
            ]);
        }
        println!("{table}");
    }
}

/// Two charts, without and with the copy: times over lengths, a line for each sum.
fn plot(file: &Path, device: &str, chosen: &[Summation], lines: &[Line]) -> Result<(), Box<dyn Error>> {
    type Value = fn(&Line) -> f64;
    let charts: [(&str, Value); 2] = [
        ("without the copy", |line| line.milliseconds),
        ("with the copy to the device", |line| line.milliseconds_with_copy),
    ];
    let root = paper(file, (1000, 1200))?;
    for (area, (title, value)) in root.split_evenly((charts.len(), 1)).iter().zip(charts) {
        let of = |one: &Summation| -> Curve<'static> {
            let own = lines.iter().filter(|line| line.variant == one.name());
            (one.name(), own.map(|line| (line.len as f64, value(line))).collect())
        };
        let all: Vec<Curve<'_>> = chosen.iter().map(of).collect();
        curves(area, format!("Sum of doubles {title}, {device}"), "ms", &all)?;
    }
    root.present()?;
    Ok(())
}
