//! How soon the rows of a triangle can be solved: its levels, and how long it takes to order the rows by them.
//!
//! `cargo run --release --example triangular_levels -- MATRIX.mtx poisson3:100 band:100000:16` takes Matrix Market
//! files, of which the lower triangle with its diagonal counts, and generated triangles: `poisson2:EDGE`,
//! `poisson3:EDGE`, `band:ROWS:HALF`, `random:ROWS:ENTRIES`. `--tables` adds random triangles of the sizes that the
//! literature measured, 0.1 to 55 million rows. It prints how many rows each level has, a chart of it with
//! `--plot FILE.png`, and how long each step of the ordering takes (Dufrechou and Ezzatti, *Using analysis information in the
//! synchronization-free GPU solution of sparse triangular systems*, 2020): the maximum of the levels, the counts of
//! their rows by size, the exclusive sums of the counts, the order. Each is timed by itself, one row after the other
//! on the CPU and in parallel on the device, as mean and standard deviation; and the maximum with the copy of the
//! levels to the host, which is what it costs to take it there. Every order is compared with the CPU's.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_core::Device;
use gpu_examples::chart::{FONT, paper};
use gpu_examples::device::gpu_or_simulator;
use gpu_examples::exit_code;
use gpu_examples::structures::{Structure, TABLES};
use gpu_examples::table::Table;
use gpu_sparse::{Analysis, Csr, Diagonal, OrderSteps, Side, compress, market, reference, triangle};
use indicatif::{ProgressBar, ProgressStyle};
use plotters::prelude::*;
use serde::Serialize;

/// Show the levels of triangular matrices, and time the ordering of their rows
#[derive(Parser)]
struct Options {
    /// Matrix Market files, or `poisson2:EDGE`, `poisson3:EDGE`, `band:ROWS:HALF`, `random:ROWS:ENTRIES`; small ones
    /// of each kind if nothing is given
    matrices: Vec<String>,
    /// Random triangles of the sizes of the literature's tables too: up to 55 million rows with 113 million entries
    #[arg(long)]
    tables: bool,
    /// Of those tables only matrices of at most so many entries
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    entries: u64,
    /// Runs of each step, after one that does not count
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Draw how many rows each level has
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N`, `simulator` or `cpu`; without it the first GPU, else the simulator
    #[arg(long)]
    device: Option<String>,
    /// Print a JSON line for each matrix instead of tables
    #[arg(long)]
    json: bool,
}

/// Where a triangle comes from.
enum Source {
    File(PathBuf),
    Generated(Structure),
}

/// Mean and standard deviation of several runs, in microseconds.
#[derive(Clone, Copy, Serialize)]
struct Times {
    mean: f64,
    deviation: f64,
}

/// A step of the ordering.
#[derive(Serialize)]
struct Step {
    name: &'static str,
    /// One row after the other, on the CPU.
    sequential: Times,
    /// On the device; none for what is done on the host alone.
    parallel: Option<Times>,
}

/// What is known of a triangle.
#[derive(Serialize)]
struct Line {
    matrix: String,
    device: String,
    rows: usize,
    entries: usize,
    levels: u32,
    /// Rows of a level, on average, and of the largest.
    mean_rows: f64,
    most_rows: u32,
    /// Of the analysis, which finds the levels.
    analysis_milliseconds: f64,
    /// Warps that the ordered rows fill.
    warps: u32,
    steps: Vec<Step>,
    /// Bytes of levels, offsets, diagonals' columns, and order, read or written once; and that at the parallel times'
    /// mean, in 10⁹ a second.
    bytes: u64,
    gigabytes_per_second: f64,
    /// Rows of each level.
    profile: Vec<u32>,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = gpu_or_simulator(options.device.as_deref())?;
    let mut lines = Vec::new();
    for source in sources(options)? {
        let line = measure(&device, &source, options.runs)?;
        if options.json {
            println!("{}", serde_json::to_string(&line)?);
        } else {
            if lines.is_empty() {
                println!(
                    "device {device}; times in µs, mean and standard deviation of {} runs\n",
                    options.runs
                );
            }
            print(&line);
        }
        lines.push(line);
    }
    if let Some(file) = &options.plot {
        plot(file, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

fn sources(options: &Options) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut sources = Vec::new();
    for name in &options.matrices {
        sources.push(if Path::new(name).extension().is_some_and(|extension| extension == "mtx") {
            Source::File(name.into())
        } else {
            Source::Generated(Structure::by_name(name).map_err(|error| format!("{name}: {error}"))?)
        });
    }
    if options.tables {
        let fits = TABLES.iter().filter(|(_, entries)| *entries <= options.entries);
        sources.extend(fits.map(|&(rows, entries)| Source::Generated(Structure::Random(rows, entries))));
    }
    if sources.is_empty() {
        for name in ["poisson2:64", "poisson3:16", "band:2000:16", "random:4000:16000"] {
            sources.push(Source::Generated(Structure::by_name(name)?));
        }
    }
    Ok(sources)
}

/// The lower triangle with its diagonal, on the device.
fn load(device: &Device, source: &Source) -> Result<(String, Csr<f32>), Box<dyn Error>> {
    match source {
        Source::File(file) => {
            let named = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
            let input = File::open(file).map_err(|error| named(&error))?;
            let entries =
                market::read::<f32>(device, BufReader::new(input)).map_err(|error| named(&error))?;
            let lower = triangle(&compress(&entries)?, Side::Lower, true).map_err(|error| named(&error))?;
            let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
            Ok((name, lower))
        }
        Source::Generated(structure) => {
            let bar = bar(structure.rows(), &format!("{structure} is generated"))?;
            let arrays = structure.lower(|rows| bar.inc(rows));
            bar.finish_and_clear();
            let rows = arrays.offsets.len() - 1;
            let a = Csr::upload(device, rows, rows, &arrays.offsets, &arrays.indices, &arrays.values)?;
            Ok((structure.to_string(), a))
        }
    }
}

/// Nothing is drawn where standard error is not a terminal.
fn bar(len: u64, message: &str) -> Result<ProgressBar, Box<dyn Error>> {
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?;
    Ok(ProgressBar::new(len).with_style(style).with_message(message.to_string()))
}

/// Mean and deviation of `runs` runs of what is timed, after one that does not count.
fn times(
    runs: u32,
    bar: &ProgressBar,
    mut run: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<Times, Box<dyn Error>> {
    run()?;
    let mut all = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        run()?;
        all.push(start.elapsed().as_secs_f64() * 1e6);
        bar.inc(1);
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let squares: f64 = all.iter().map(|time| (time - mean).powi(2)).sum();
    Ok(Times { mean, deviation: (squares / (all.len() - 1).max(1) as f64).sqrt() })
}

fn measure(device: &Device, source: &Source, runs: u32) -> Result<Line, Box<dyn Error>> {
    let (name, a) = load(device, source)?;
    let a = a.view();
    let start = Instant::now();
    // No values are needed: files need not have a diagonal.
    let analysis =
        Analysis::new(a, Side::Lower, Diagonal::Unit).map_err(|error| format!("{name}: {error}"))?;
    device.synchronize()?;
    let analysis_milliseconds = start.elapsed().as_secs_f64() * 1e3;

    let (mut offsets, mut indices) = (vec![0; a.rows() + 1], vec![0; a.entries()]);
    let mut levels = vec![0; a.rows()];
    a.offsets().copy_to(&mut offsets)?;
    a.indices().copy_to(&mut indices)?;
    analysis.levels().copy_to(&mut levels)?;
    let count = analysis.level_count();

    let bar = bar(10 * u64::from(runs), &format!("{name}: ordering"))?;
    let highest = |levels: &[u32]| levels.iter().copied().max().unwrap_or(0);
    let mut copied = vec![0; a.rows()];
    let mut steps = OrderSteps::new(&analysis);
    let mut found = 0;

    // ---- one row after the other
    let maximum = times(runs, &bar, || {
        found = highest(std::hint::black_box(&levels));
        Ok(())
    })?;
    let maximum_with_copy = times(runs, &bar, || {
        analysis.levels().copy_to(&mut copied)?;
        found = highest(std::hint::black_box(&copied));
        Ok(())
    })?;
    let mut counted = (Vec::new(), Vec::new());
    let counting = times(runs, &bar, || {
        counted = reference::count_rows(&offsets, &indices, &levels, count, Side::Lower);
        Ok(())
    })?;
    let mut starts = Vec::new();
    let sums = times(runs, &bar, || {
        starts = reference::starts_of(&counted.1);
        Ok(())
    })?;
    let mut ordered = Vec::new();
    let order = times(runs, &bar, || {
        ordered = reference::place_rows(&counted.0, &starts);
        Ok(())
    })?;
    let whole = times(runs, &bar, || {
        let highest = highest(std::hint::black_box(&levels));
        let (groups, counts) = reference::count_rows(&offsets, &indices, &levels, highest, Side::Lower);
        ordered = reference::place_rows(&groups, &reference::starts_of(&counts));
        Ok(())
    })?;
    // ---- in parallel
    let parallel_maximum = times(runs, &bar, || {
        found = steps.maximum()?;
        Ok(())
    })?;
    let parallel_counting = times(runs, &bar, || Ok(steps.count()?))?;
    let parallel_sums = times(runs, &bar, || Ok(steps.sum()?))?;
    let parallel_order = times(runs, &bar, || Ok(steps.order()?))?;
    let parallel_whole = times(runs, &bar, || {
        steps.maximum()?;
        steps.count()?;
        steps.sum()?;
        Ok(steps.order()?)
    })?;
    bar.finish_and_clear();

    // ---- both the same
    let mut rows = vec![0; a.rows()];
    if let Some(view) = steps.rows() {
        view.copy_to(&mut rows)?;
    }
    if rows != ordered || found != count {
        return Err(format!("{name}: the order is not the CPU's").into());
    }
    let profile = analysis.rows_per_level()?;
    let mut warps = [0];
    let order_of_rows = analysis.order_rows()?;
    order_of_rows.warps().slice(order_of_rows.warps().len() - 1..).copy_to(&mut warps)?;
    // A level, two offsets of which one is the next row's, a column, a place in the order.
    let bytes = 16 * a.rows() as u64;
    let step = |name, sequential, parallel| Step { name, sequential, parallel };
    Ok(Line {
        matrix: name,
        device: device.name(),
        rows: a.rows(),
        entries: a.entries(),
        levels: count,
        mean_rows: a.rows() as f64 / f64::from(count.max(1)),
        most_rows: profile.iter().copied().max().unwrap_or(0),
        analysis_milliseconds,
        warps: warps[0],
        steps: vec![
            step("maximum", maximum, Some(parallel_maximum)),
            step("maximum, with the levels' copy to the host", maximum_with_copy, None),
            step("counting", counting, Some(parallel_counting)),
            step("exclusive sums", sums, Some(parallel_sums)),
            step("order", order, Some(parallel_order)),
            step("all", whole, Some(parallel_whole)),
        ],
        bytes,
        gigabytes_per_second: bytes as f64 / parallel_whole.mean / 1e3,
        profile,
    })
}

fn print(line: &Line) {
    println!(
        "{}: {} rows, {} entries, {} levels of {:.1} rows on average and {} at most, {} warps; analysis {:.3} ms",
        line.matrix,
        line.rows,
        line.entries,
        line.levels,
        line.mean_rows,
        line.most_rows,
        line.warps,
        line.analysis_milliseconds
    );
    println!("rows of each level: {}", sketch(&line.profile));
    let mut table = Table::new(["step", "sequential", "±", "parallel", "±", "speed-up"]);
    for step in &line.steps {
        let number = |number: f64| format!("{number:.1}");
        let parallel =
            |of: fn(&Times) -> f64| step.parallel.as_ref().map_or("-".into(), |times| number(of(times)));
        let speed =
            step.parallel.map_or("-".into(), |times| format!("{:.2}", step.sequential.mean / times.mean));
        table.row([
            step.name.to_string(),
            number(step.sequential.mean),
            number(step.sequential.deviation),
            parallel(|times| times.mean),
            parallel(|times| times.deviation),
            speed,
        ]);
    }
    println!("{table}in parallel {:.1} GB/s of {} bytes\n", line.gigabytes_per_second, line.bytes);
}

/// Up to 60 groups of levels as bars of eight heights: the rows of a level, on average.
fn sketch(profile: &[u32]) -> String {
    let groups = profile.chunks(profile.len().div_ceil(60).max(1));
    let means: Vec<f64> = groups
        .map(|levels| levels.iter().map(|&rows| f64::from(rows)).sum::<f64>() / levels.len() as f64)
        .collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    means
        .iter()
        .map(|mean| {
            char::from_u32(0x2581 + ((mean / highest * 8.0).ceil() as u32).clamp(1, 8) - 1).unwrap_or(' ')
        })
        .collect()
}

/// Rows over levels, a chart for each matrix.
fn plot(file: &Path, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let root = paper(file, (1000, 300 * lines.len() as u32))?;
    for (area, line) in root.split_evenly((lines.len(), 1)).iter().zip(lines) {
        let (levels, most) = (f64::from(line.levels.max(1)), f64::from(line.most_rows.max(1)));
        let caption =
            format!("{}: {} rows, {} entries, {} levels", line.matrix, line.rows, line.entries, line.levels);
        let mut chart = ChartBuilder::on(area)
            .caption(caption, (FONT, 18))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(90)
            .build_cartesian_2d(0.5..levels + 0.5, 0.0..most * 1.05)?;
        chart
            .configure_mesh()
            .x_desc("level")
            .y_desc("rows")
            .label_style((FONT, 14))
            .x_label_formatter(&|level| format!("{level:.0}"))
            .y_label_formatter(&|rows| format!("{}", (rows * 1e3).round() / 1e3))
            .draw()?;
        // No more bars than the chart has pixels.
        let wide = line.profile.len().div_ceil(1800).max(1);
        let colour = Palette99::pick(0).to_rgba();
        chart.draw_series(line.profile.chunks(wide).enumerate().map(|(at, rows)| {
            let rows_here = f64::from(rows.iter().copied().max().unwrap_or(0));
            let first = (at * wide) as f64 + 0.5;
            Rectangle::new([(first, 0.0), (first + rows.len() as f64, rows_here)], colour.filled())
        }))?;
    }
    root.present()?;
    Ok(())
}
