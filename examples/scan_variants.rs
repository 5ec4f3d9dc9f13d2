//! How long each scan takes: the textbook's, in one pass or four, and the fast one.
//!
//! `cargo run --release --example scan_variants` scans arrays of 1024·2^N floats, N = 1, 5, 10, 15 and 18, eleven
//! times each. The first run is ignored; of the other ten it prints mean and deviation (the experiment of N. A. Núñez
//! Hosco and F. Diaz, *Práctico 5*, 2024), and with `--plot FILE.png` it draws a chart. Without a GPU it predicts
//! an H200's times, or with `--model` another device's; `--device simulator` runs all in the simulator, on small
//! arrays. Every result is compared with the CPU's, element by element.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_core::{Device, Kind};
use gpu_examples::chart::{Curve, curves, paper};
use gpu_examples::exit_code;
use gpu_examples::model::{Case, Model, gpu_or_model};
use gpu_examples::predicted::Subject;
use gpu_examples::scans::{Summation, Work};
use gpu_examples::table::Table;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time all scans of floats on the device at hand
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
    /// N of arrays of 1024·2^N elements, one or more; 1, 5, 10, 15, 18 on a GPU, 1, 5, 10, 15 on the CPU, 1 and 4 in
    /// the simulator if not given
    #[arg(short, long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=22))]
    n: Vec<u32>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Only this one: `recursive`, `look_back`, `fast`, …
    #[arg(long, value_parser = Summation::by_name)]
    variant: Option<Summation>,
    /// Runs of each, the first of which is ignored
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..))]
    runs: u32,
    /// Run each once, without warming up or timing: for profilers
    #[arg(long)]
    once: bool,
}

/// One measurement.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    n: u32,
    len: usize,
    device: String,
    runs: u32,
    mean_microseconds: f64,
    deviation_microseconds: f64,
    /// Bytes of the elements, read once and written once, of the mean time, in 10⁹ a second.
    gigabytes_per_second: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let model = model.filter(|_| !options.once);
    let exponents: &[u32] = match (options.n.as_slice(), device.kind()) {
        ([], Kind::Cuda) => &[1, 5, 10, 15, 18],
        ([], _) if model.is_some() => &[1, 5, 10, 15, 18],
        ([], Kind::Cpu) => &[1, 5, 10, 15],
        ([], _) => &[1, 4],
        (given, _) => given,
    };
    let chosen = options.variant.map_or_else(Summation::all, |one| vec![one]);

    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, &chosen, exponents, &[])?)?);
    }

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new((chosen.len() * exponents.len()) as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for &n in exponents {
        let len = 1024usize << n;
        let mut work = Work::new(&device, len)?;
        for &one in &chosen {
            bar.set_message(format!("{one} of {len}"));
            // Draws it now: a scan can take seconds.
            bar.tick();
            work.check(one)?;
            if !options.once {
                let times = work.time(one, options.runs as usize - 1)?;
                lines.push(Line {
                    variant: one.name(),
                    n,
                    len,
                    device: device.name(),
                    runs: options.runs,
                    mean_microseconds: times.mean * 1e6,
                    deviation_microseconds: times.deviation * 1e6,
                    gigabytes_per_second: (2 * len * size_of::<f32>()) as f64 / times.mean / 1e9,
                });
                // What was timed is what was checked.
                work.check(one)?;
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else if !options.once {
        print(&device, exponents, &lines, options.runs);
    }
    if let Some(model) = &model {
        model.show(options.json, &predicted(model, &chosen, exponents, &lines)?)?;
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
    exponents: &[u32],
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for &n in exponents {
        for &one in chosen {
            let line = lines.iter().find(|line| line.variant == one.name() && line.n == n);
            let measured = line.map(|line| line.mean_microseconds);
            cases.push(model.subject(Subject::Scan(one), 1024 << n, measured)?);
        }
    }
    Ok(cases)
}

fn print(device: &Device, exponents: &[u32], lines: &[Line], runs: u32) {
    println!(
        "device {device}; inclusive sums of f32, all equal to the reference's; mean and deviation of {} runs\n",
        runs - 1
    );
    for &n in exponents {
        println!("1024 · 2^{n} elements");
        let mut table = Table::new(["variant", "µs", "deviation", "GB/s", "of the fastest"]);
        let of_length = || lines.iter().filter(|line| line.n == n);
        let best = of_length().map(|line| line.gigabytes_per_second).fold(0.0, f64::max);
        for line in of_length() {
            table.row([
                line.variant.to_owned(),
                format!("{:.1}", line.mean_microseconds),
                format!("{:.1}", line.deviation_microseconds),
                format!("{:.1}", line.gigabytes_per_second),
                format!("{:.3}", line.gigabytes_per_second / best),
            ]);
        }
        println!("{table}");
    }
}

/// Times over lengths, a line for each scan.
fn plot(file: &Path, device: &str, chosen: &[Summation], lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let root = paper(file, (1000, 640))?;
    let of = |one: &Summation| -> Curve<'static> {
        let own = lines.iter().filter(|line| line.variant == one.name());
        (one.name(), own.map(|line| (line.len as f64, line.mean_microseconds)).collect())
    };
    let all: Vec<Curve<'_>> = chosen.iter().map(of).collect();
    curves(&root, format!("Inclusive sums of floats, {device}"), "µs", &all)?;
    root.present()?;
    Ok(())
}
