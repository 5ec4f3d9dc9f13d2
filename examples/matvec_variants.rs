//! How long each product of a matrix and a vector takes, with and without the copies.
//!
//! `cargo run --release --example matvec_variants` multiplies matrices of 100 to 20,000 rows and 2000 columns in
//! blocks of 192 threads, and one of 10,000 rows in blocks of 16 to 1024, of `f32`, `f64` and `i32`: with the
//! textbook's variants (C. González, 2012, chapters 7 and 9.2) and with the fast version, beside a loop on the CPU;
//! as a table and, with `--plot FILE.png`, as charts. Without a GPU it predicts an H200's times, or with `--model`
//! another device's; `--device simulator` runs all in the simulator, on small matrices.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gpu_core::{Device, Kind, Scratch, Stream};
use gpu_examples::chart::{Curve, curves, paper};
use gpu_examples::model::{Asked, Case, Model, gpu_or_model};
use gpu_examples::products::{Number, WAYS, Way, element};
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_linalg::variants::gemv as gemv_variant;
use gpu_linalg::{Layout, Matrix};
use gpu_std::launch::LaunchConfig;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time all products of a matrix and a vector on the device at hand, with and without the copies
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the times over the matrix's elements as charts
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N` or `simulator`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Rows, one or more; 100 to 20,000 on a GPU, 64 and 128 in the simulator if not given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    rows: Vec<u32>,
    /// Columns; 2000 on a GPU, 100 in the simulator if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    columns: Option<u32>,
    /// Threads of a block, one or more: each is run with the largest matrix
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Vec<u32>,
    /// Only this type of elements
    #[arg(long = "type")]
    element: Option<Type>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Small sizes, on a GPU too
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    F32,
    F64,
    I32,
}

/// What the literature measured.
const ROWS: [u32; 9] = [100, 500, 1000, 2000, 4000, 8000, 10_000, 15_000, 20_000];
const COLUMNS: u32 = 2000;
const THREADS: [u32; 8] = [16, 32, 64, 128, 192, 256, 512, 1024];
/// Threads of a block where the number of rows varies.
const USUAL: u32 = 192;
/// Runs with the copies, of which the median is reported, on a GPU.
const RUNS: usize = 5;

/// One measurement, in milliseconds.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    #[serde(rename = "type")]
    element: &'static str,
    rows: u32,
    columns: u32,
    /// Of a block; the fast version chooses its own.
    threads: Option<u32>,
    device: String,
    cpu_ms: f64,
    kernel_ms: f64,
    htod_ms: f64,
    dtoh_ms: f64,
    copies_ms: f64,
    total_ms: f64,
    pinned_copies_ms: f64,
    pinned_total_ms: f64,
    gigabytes_per_second: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

/// A number of rows, and threads of a block.
type Launch = (u32, u32);

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let small = options.quick || (device.kind() != Kind::Cuda && model.is_none());
    let or = |given: &[u32], full: &[u32], few: &[u32]| -> Vec<u32> {
        let usual = if small { few } else { full };
        if given.is_empty() { usual.to_vec() } else { given.to_vec() }
    };
    let columns = options.columns.unwrap_or(if small { 100 } else { COLUMNS });
    let rows = or(&options.rows, &ROWS, &[64, 128]);
    let threads = or(&options.threads, &THREADS, &[16, 1024]);
    // The sweep over threads takes a matrix large enough to fill a device, or the largest that is asked for.
    let largest = rows.iter().copied().max().unwrap_or(1);
    let launches: Vec<Launch> = rows
        .iter()
        .map(|&rows| (rows, USUAL))
        .chain(threads.iter().filter(|&&threads| threads != USUAL).map(|&threads| (largest, threads)))
        .collect();
    let selected = |element| options.element.is_none_or(|only| only == element);
    let types = [Type::F32, Type::F64, Type::I32].into_iter().filter(|&element| selected(element)).count();

    let predicted = |model: &Model, lines: &[Line]| -> Result<(), Box<dyn Error>> {
        let mut cases = Vec::new();
        for &launch in &launches {
            if selected(Type::F32) {
                cases.extend(predicted::<f32>(model, launch, columns, lines)?);
            }
            if selected(Type::F64) {
                cases.extend(predicted::<f64>(model, launch, columns, lines)?);
            }
            if selected(Type::I32) {
                cases.extend(predicted::<i32>(model, launch, columns, lines)?);
            }
        }
        Ok(model.show(options.json, &cases)?)
    };
    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return predicted(model, &[]);
    }

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new((types * launches.len()) as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for &launch in &launches {
        bar.set_message(format!("{} × {columns}, {} threads", launch.0, launch.1));
        bar.tick();
        if selected(Type::F32) {
            lines.extend(measure::<f32>(&device, launch, columns)?);
            bar.inc(1);
        }
        if selected(Type::F64) {
            lines.extend(measure::<f64>(&device, launch, columns)?);
            bar.inc(1);
        }
        if selected(Type::I32) {
            lines.extend(measure::<i32>(&device, launch, columns)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &lines);
    }
    if let Some(model) = &model {
        predicted(model, &lines)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// Rows of the largest matrix that is simulated for a prediction.
const SIMULATED: usize = 128;

/// What the model says of each product of one matrix, beside what was measured.
fn predicted<T: Number>(
    model: &Model,
    (rows, threads): Launch,
    columns: u32,
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for way in WAYS {
        let fast = way == Way::Fast;
        let size = T::fast_scratch(Layout::row_major(rows as usize, columns as usize)?).transpose()?;
        if fast && (size.is_none() || threads != USUAL) {
            continue;
        }
        let of_block = (!fast).then_some(threads);
        let measured = lines.iter().find(|line| {
            (line.variant, line.element, line.rows, line.threads) == (way.name(), T::NAME, rows, of_block)
        });
        let asked = Asked {
            variant: format!("{} {}", way.name(), T::NAME),
            label: of_block.map_or(format!("{rows} × {columns}"), |threads| {
                format!("{rows} × {columns}, {threads} threads")
            }),
            size: rows as usize,
            simulated: SIMULATED,
            blocks: match way {
                Way::Textbook(variant) => Some(variant.threads(rows, columns).div_ceil(threads.into())),
                Way::Fast => None,
            },
            dependent: fast,
            measured: measured.map(|line| line.kernel_ms * 1e3),
        };
        let run = |device: &Device, m: usize| -> Result<(), Box<dyn Error>> {
            let (rows, stream) = (m as u32, device.default_stream());
            let (a, x) = (device.zeroed::<T>(m * columns as usize)?, device.zeroed::<T>(columns as usize)?);
            let mut y = device.zeroed::<T>(m)?;
            match way {
                Way::Textbook(variant) => {
                    let blocks = variant.threads(rows, columns).div_ceil(threads.into()) as u32;
                    let config = LaunchConfig::linear(blocks.max(1), threads);
                    gemv_variant(variant, &stream, config, &a, &x, &mut y)?;
                }
                Way::Fast => {
                    let layout = Layout::row_major(m, columns as usize)?;
                    // Zeros, as where some of the blocks are simulated not all write their part of it.
                    let size = T::fast_scratch(layout).transpose()?.unwrap_or_default();
                    let mut scratch = Scratch::from_buffer(&stream, device.zeroed(size.words())?)?;
                    let matrix = Matrix::new(&a, layout)?;
                    T::fast(&stream, matrix, x.view(), y.view_mut(), &mut scratch)?;
                }
            }
            Ok(())
        };
        cases.push(model.case(asked, run)?);
    }
    Ok(cases)
}

/// All products of one matrix.
fn measure<T: Number>(
    device: &Device,
    (rows, threads): Launch,
    columns: u32,
) -> Result<Vec<Line>, Box<dyn Error>> {
    let (m, n) = (rows as usize, columns as usize);
    let layout = Layout::row_major(m, n)?;
    let a: Vec<T> = (0..m * n).map(element).collect();
    let x: Vec<T> = (0..n).map(|index| element(index + m * n)).collect();
    let runs = if device.kind() == Kind::Cuda { RUNS } else { 1 };

    let mut expected = vec![T::whole(0); m];
    let cpu = timing::median(runs, || {
        let start = Instant::now();
        let (a, x) = (black_box(&a), black_box(&x));
        for (y, row) in expected.iter_mut().zip(a.chunks(n)) {
            *y = row.iter().zip(x).fold(T::whole(0), |sum, (&a, &x)| T::add_product(sum, a, x));
        }
        black_box(&mut expected);
        Ok(start.elapsed().as_secs_f64())
    })?;

    let stream = device.stream()?;
    let (mut a_device, mut x_device) = (device.upload(&a)?, device.upload(&x)?);
    let mut y_device = device.zeroed::<T>(m)?;
    let mut scratch = Scratch::new(&stream);

    // ---- copies, the same for all variants
    let mut result = vec![T::whole(0); m];
    let htod = timing::median(runs, || {
        let start = Instant::now();
        a_device.copy_from(&a)?;
        x_device.copy_from(&x)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let dtoh = timing::median(runs, || {
        let start = Instant::now();
        y_device.copy_to(&mut result)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let pinned = pinned_copies(device, &stream, &a, &x, m, runs)?;

    let mut lines = Vec::new();
    for way in WAYS {
        // It chooses its threads itself.
        if way == Way::Fast && (T::fast_scratch(layout).is_none() || threads != USUAL) {
            continue;
        }
        let mut enqueue = || match way {
            Way::Textbook(variant) => {
                let blocks = variant.threads(rows, columns).div_ceil(threads.into()) as u32;
                let config = LaunchConfig::linear(blocks.max(1), threads);
                gemv_variant(variant, &stream, config, &a_device, &x_device, &mut y_device)
            }
            Way::Fast => {
                let matrix = Matrix::new(&a_device, layout)?;
                T::fast(&stream, matrix, x_device.view(), y_device.view_mut(), &mut scratch)
            }
        };
        enqueue()?;
        stream.synchronize()?;
        let kernel = timing::seconds(&stream, &mut enqueue)?;
        y_device.copy_to(&mut result)?;
        if let Some(row) = (0..m).find(|&row| result[row] != expected[row]) {
            let (actual, expected) = (result[row], expected[row]);
            return Err(format!("{}: row {row} is {actual:?}, not {expected:?}", way.name()).into());
        }
        lines.push(Line {
            variant: way.name(),
            element: T::NAME,
            rows,
            columns,
            threads: (way != Way::Fast).then_some(threads),
            device: device.name(),
            cpu_ms: cpu * 1e3,
            kernel_ms: kernel * 1e3,
            htod_ms: htod * 1e3,
            dtoh_ms: dtoh * 1e3,
            copies_ms: (htod + dtoh) * 1e3,
            total_ms: (htod + dtoh + kernel) * 1e3,
            pinned_copies_ms: pinned * 1e3,
            pinned_total_ms: (pinned + kernel) * 1e3,
            gigabytes_per_second: ((m * n + m + n) * size_of::<T>()) as f64 / kernel / 1e9,
        });
    }
    Ok(lines)
}

/// The median time in seconds of the copies of the matrix and the vector to the device, and of the result back, from
/// and to pinned memory.
fn pinned_copies<T: Number>(
    device: &Device,
    stream: &Stream,
    a: &[T],
    x: &[T],
    rows: usize,
    runs: usize,
) -> Result<f64, Box<dyn Error>> {
    let mut a_host = device.pinned::<T>(a.len())?;
    let mut x_host = device.pinned::<T>(x.len())?;
    let mut y_host = device.pinned::<T>(rows)?;
    a_host.copy_from_slice(a);
    x_host.copy_from_slice(x);
    let (mut a, mut x, mut y) = (device.alloc(a.len())?, device.alloc(x.len())?, device.zeroed(rows)?);
    let mut times = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        let of_a = stream.upload(a_host, a).map_err(gpu_core::Error::from)?;
        let of_x = stream.upload(x_host, x).map_err(gpu_core::Error::from)?;
        let of_y = stream.download(y, y_host).map_err(gpu_core::Error::from)?;
        ((a_host, a), (x_host, x), (y, y_host)) = {
            let ((a_host, a), (x_host, x), (y_host, y)) = (of_a.wait()?, of_x.wait()?, of_y.wait()?);
            ((a_host, a), (x_host, x), (y, y_host))
        };
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn print(device: &Device, lines: &[Line]) {
    println!("device {device}; milliseconds, all results equal to the CPU's\n");
    let mut table = Table::new([
        "variant",
        "type",
        "rows",
        "columns",
        "threads",
        "cpu",
        "kernel",
        "GB/s",
        "HtoD",
        "DtoH",
        "copies",
        "total",
        "pinned copies",
        "total",
    ]);
    for line in lines {
        let time = |time: f64| format!("{time:.4}");
        table.row([
            line.variant.to_owned(),
            line.element.to_owned(),
            line.rows.to_string(),
            line.columns.to_string(),
            line.threads.map_or("–".to_owned(), |threads| threads.to_string()),
            time(line.cpu_ms),
            time(line.kernel_ms),
            format!("{:.1}", line.gigabytes_per_second),
            time(line.htod_ms),
            time(line.dtoh_ms),
            time(line.copies_ms),
            time(line.total_ms),
            time(line.pinned_copies_ms),
            time(line.pinned_total_ms),
        ]);
    }
    println!("{table}");
}

/// Two charts of `f32`, or of the type that was measured: the kernels alone, and with the copies.
fn plot(file: &Path, device: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    type Value = fn(&Line) -> f64;
    let charts: [(&str, Value); 2] =
        [("without copies", |line| line.kernel_ms), ("with copies", |line| line.total_ms)];
    let element = lines.first().ok_or("nothing was measured")?.element;
    let usual = |line: &&Line| line.element == element && line.threads.is_none_or(|threads| threads == USUAL);
    let root = paper(file, (1000, 1200))?;
    for (area, (title, value)) in root.split_evenly((charts.len(), 1)).iter().zip(charts) {
        let of = |way: &Way| -> Curve<'static> {
            let own = lines.iter().filter(usual).filter(|line| line.variant == way.name());
            let point = |line: &Line| (f64::from(line.rows) * f64::from(line.columns), value(line));
            (way.name(), own.map(point).collect())
        };
        let all: Vec<Curve<'_>> = WAYS.iter().map(of).collect();
        curves(
            area,
            format!("Products of a matrix of {element} and a vector, {title}, {device}"),
            "ms",
            &all,
        )?;
    }
    root.present()?;
    Ok(())
}
