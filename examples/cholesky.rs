//! How long each version of Cholesky's factorisation takes, against the matrix's size and against the share of its
//! blocks that are not zero.
//!
//! `cargo run --release --example cholesky` factors positive definite matrices of the thesis' structure (C. González,
//! 2012, section 9.3) of 512 to 4096 rows, and bands of 2048 rows with 10 % to all of their blocks: with the textbook's
//! versions (chapter 8), of which those on the host stop at 1024 rows, and with `potrf_skyline` and `potrf`; as a
//! table and, with `--plot FILE.png`, as charts. Without a GPU it predicts what an H200 takes for the kernels of small
//! matrices, or with `--model` another device; `--device simulator` runs all in the simulator. Every factor is checked.

#[path = "cholesky/predicted.rs"]
mod predicted;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gpu_core::{Buffer, Device, Kind, Scratch, Stream};
use gpu_examples::chart::{Curve, curves, paper};
use gpu_examples::model::{Model, gpu_or_model};
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_linalg::variants::cholesky::{
    Calls, CholeskyElement, CholeskyVariant, cholesky, generate, rows_of_share, structured_rows,
};
use gpu_linalg::{
    BlockSkyline, FactorElement, Layout, MatrixMut, Triangle, expect_positive_definite, potrf, potrf_skyline,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time all versions of Cholesky's factorisation on the device at hand
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the times over the elements that are there as charts
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N`, `cpu` or `simulator`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Predict times of the kernels of up to 512 rows on this device, `h200` or `h100`, beside a GPU's; where there is
    /// no GPU and none is asked for, in place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Rows, one or more; 512 to 4096 on a GPU and on the CPU, 48 and 96 in the simulator if not given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    rows: Vec<u32>,
    /// Shares of blocks that are there, one or more, of the bands
    #[arg(long, value_delimiter = ',')]
    shares: Vec<f64>,
    /// Rows of the bands; 2048 on a GPU and on the CPU, 96 in the simulator if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    band_rows: Option<u32>,
    /// Rows of a block; 64 on a GPU and on the CPU, 16 in the simulator if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    side: Option<u32>,
    /// Only these versions, by the names in the table
    #[arg(long, value_delimiter = ',', value_parser = name)]
    only: Vec<&'static str>,
    /// The type of elements
    #[arg(long = "type", default_value = "f64")]
    element: Type,
    /// Factor the upper triangle
    #[arg(long)]
    upper: bool,
    /// Small sizes, on a GPU too
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    F32,
    F64,
}

const ROWS: [u32; 4] = [512, 1024, 2048, 4096];
const SHARES: [f64; 5] = [0.1, 0.2, 0.3, 0.5, 1.0];
/// The most rows that the loops on the host are given: they take some seconds then.
const HOST_ROWS: usize = 1024;
/// The name of the fast version.
const FAST: &str = "skyline";
/// The name of the fast version for matrices without zeros.
const DENSE: &str = "potrf";
/// The most rows that are predicted: all of them are simulated.
const PREDICTED_ROWS: usize = 512;
/// Runs with the copies, of which the median is reported, on a GPU.
const RUNS: usize = 3;

/// One measurement, in milliseconds.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    #[serde(rename = "type")]
    element: &'static str,
    structure: &'static str,
    rows: usize,
    side: usize,
    /// Blocks of the triangle that are there, of all of its.
    share: f64,
    /// Multiply-adds with those blocks, of all without zeros.
    work: f64,
    /// Elements of those blocks.
    elements: f64,
    device: String,
    /// Calls of the textbook's versions.
    syrk: Option<u64>,
    gemm: Option<u64>,
    trsm: Option<u64>,
    potrf: Option<u64>,
    /// The factorisation alone, of the fast versions.
    kernel_ms: Option<f64>,
    /// With the copies from and to the host.
    total_ms: f64,
    /// Of the blocks that are there, in the total time.
    gigaflops: f64,
    /// How far `L · Lᵀ · x` is from `A · x`, in units of its bound.
    error: f64,
}

/// A type of elements.
trait Number: CholeskyElement + FactorElement + FactorElement + Into<f64> {
    const NAME: &'static str;
    /// Its unit roundoff.
    const UNIT: f64;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    const UNIT: f64 = f32::EPSILON as f64 / 2.0;
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    const UNIT: f64 = f64::EPSILON / 2.0;
}

/// The names of all versions.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    CholeskyVariant::ALL.iter().map(|variant| variant.name()).chain([FAST, DENSE])
}

fn name(given: &str) -> Result<&'static str, String> {
    let all = || names().collect::<Vec<_>>().join(", ");
    names().find(|&name| name == given).ok_or_else(|| format!("there are {}", all()))
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

/// A matrix to be factored: the name of its structure, its rows, rows of a block, and first blocks.
struct Case {
    structure: &'static str,
    rows: usize,
    side: usize,
    first: Vec<usize>,
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let small = options.quick || device.kind() == Kind::Simulator;
    let side = options.side.unwrap_or(if small { 16 } else { 64 }) as usize;
    let rows = match (&options.rows[..], small) {
        ([], true) => vec![48, 96],
        ([], false) => ROWS.to_vec(),
        (given, _) => given.to_vec(),
    };
    let shares = match (&options.shares[..], small) {
        ([], true) => vec![0.3, 1.0],
        ([], false) => SHARES.to_vec(),
        (given, _) => given.to_vec(),
    };
    if let Some(share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
        return Err(format!("a share is from 0 to 1, not {share}").into());
    }
    let band = options.band_rows.unwrap_or(if small { 96 } else { 2048 }) as usize;
    let of_rows = rows.iter().map(|&rows| {
        let rows = rows as usize;
        Case { structure: "thesis", rows, side, first: structured_rows(rows.div_ceil(side)) }
    });
    let of_shares = shares.iter().map(|&share| {
        let first = rows_of_share(band.div_ceil(side), share);
        Case { structure: "band", rows: band, side, first }
    });
    let cases: Vec<Case> = of_rows.chain(of_shares).collect();

    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(predicted::show(model, options, &cases, &[])?);
    }

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new((cases.len() * (CholeskyVariant::ALL.len() + 2)) as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for case in &cases {
        lines.extend(match options.element {
            Type::F32 => measure::<f32>(&device, case, options, &bar)?,
            Type::F64 => measure::<f64>(&device, case, options, &bar)?,
        });
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &lines);
    }
    if let Some(model) = &model {
        predicted::show(model, options, &cases, &lines)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// All versions of one matrix.
fn measure<T: Number>(
    device: &Device,
    case: &Case,
    options: &Options,
    bar: &ProgressBar,
) -> Result<Vec<Line>, Box<dyn Error>> {
    let triangle = if options.upper { Triangle::Upper } else { Triangle::Lower };
    let is_wanted = |name: &'static str| options.only.is_empty() || options.only.contains(&name);
    let &Case { structure, rows: n, side, ref first } = case;
    let layout = Layout::row_major(n, n)?;
    let a: Vec<T> = generate(n, side, first, n as u64);
    let skyline = BlockSkyline::new(device, n, side, first)?;
    let whole = BlockSkyline::new(&Device::cpu(), n, side, &vec![0; first.len()])?;
    let runs = if device.kind() == Kind::Simulator { 1 } else { RUNS };
    let check = Check::new(&a, n);
    let line =
        |variant: &'static str, calls: Option<Calls>, kernel: Option<f64>, total: f64, error: f64| Line {
            variant,
            element: T::NAME,
            structure,
            rows: n,
            side,
            share: skyline.share(),
            work: skyline.multiply_adds() / whole.multiply_adds(),
            elements: skyline.blocks() as f64 * (side * side) as f64,
            device: device.name(),
            syrk: calls.map(|calls| calls.syrk),
            gemm: calls.map(|calls| calls.gemm),
            trsm: calls.map(|calls| calls.trsm),
            potrf: calls.map(|calls| calls.potrf),
            kernel_ms: kernel.map(|seconds| seconds * 1e3),
            total_ms: total * 1e3,
            gigaflops: 2.0 * skyline.multiply_adds() / total / 1e9,
            error,
        };

    let mut lines = Vec::new();
    for variant in CholeskyVariant::ALL {
        bar.set_message(format!(
            "{}, {n} rows, {:.0} % of the blocks",
            variant.name(),
            skyline.share() * 100.0
        ));
        bar.tick();
        let on_host = matches!(variant, CholeskyVariant::Sequential | CholeskyVariant::Blocked);
        if is_wanted(variant.name()) && (!on_host || n <= HOST_ROWS) {
            let mut factor = a.clone();
            let mut calls = Calls::default();
            let total = timing::median(if on_host { 1 } else { runs }, || {
                factor.copy_from_slice(&a);
                let start = Instant::now();
                calls = cholesky(variant, device, triangle, &mut factor, layout, side)?;
                Ok(start.elapsed().as_secs_f64())
            })?;
            let error = check.factor(variant.name(), &factor, triangle)?;
            lines.push(line(variant.name(), Some(calls), None, total, error));
        }
        bar.inc(1);
    }

    for name in [FAST, DENSE] {
        bar.set_message(format!("{name}, {n} rows, {:.0} % of the blocks", skyline.share() * 100.0));
        bar.tick();
        if is_wanted(name) {
            let (mut info, mut scratch) = (device.alloc(1)?, None);
            let (kernel, total, factor) = fast(device, &a, runs, |stream, buffer| {
                let scratch = scratch.get_or_insert_with(|| Scratch::new(stream));
                let matrix = MatrixMut::new(buffer, layout)?;
                if name == FAST {
                    potrf_skyline(stream, triangle, &skyline, matrix, &mut info, scratch)
                } else {
                    potrf(stream, triangle, matrix, &mut info, scratch)
                }
            })?;
            expect_positive_definite(&info)?;
            let error = check.factor(name, &factor, triangle)?;
            lines.push(line(name, None, Some(kernel), total, error));
        }
        bar.inc(1);
    }
    Ok(lines)
}

/// How long what `enqueue` enqueues takes in a copy of `a`, alone and with the copies from and to the host, and what
/// it makes of it.
fn fast<T: Number>(
    device: &Device,
    a: &[T],
    runs: usize,
    mut enqueue: impl FnMut(&Stream, &mut Buffer<T>) -> Result<(), gpu_linalg::Error>,
) -> Result<(f64, f64, Vec<T>), Box<dyn Error>> {
    let stream = device.default_stream();
    let original = device.upload(a)?;
    let mut buffer = device.upload(a)?;
    let mut factor = a.to_vec();
    enqueue(&stream, &mut buffer)?;
    let total = timing::median(runs, || {
        let start = Instant::now();
        buffer.copy_from(a)?;
        enqueue(&stream, &mut buffer)?;
        buffer.copy_to(&mut factor)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    // Of the same matrix every time: its copy is timed by itself and taken off.
    let copy = timing::seconds(&stream, || stream.copy(&mut buffer, &original))?;
    let both = timing::seconds(&stream, || -> Result<(), gpu_linalg::Error> {
        stream.copy(&mut buffer, &original)?;
        enqueue(&stream, &mut buffer)
    })?;
    Ok(((both - copy).max(0.0), total, factor))
}

/// A vector, and what a matrix makes of it.
struct Check {
    n: usize,
    x: Vec<f64>,
    product: Vec<f64>,
}

impl Check {
    fn new<T: Number>(a: &[T], n: usize) -> Self {
        // Of both signs, and none like its neighbour.
        let x: Vec<f64> = (0..n).map(|at| ((at * 37 % 101) as f64 - 50.0) / 50.0).collect();
        let product =
            a.chunks(n.max(1)).map(|row| row.iter().zip(&x).map(|(&a, x)| a.into() * x).sum()).collect();
        Self { n, x, product }
    }

    /// How far `L · Lᵀ · x` is from `A · x`, in units of `2 gamma_{n + 5} |L| |Lᵀ| |x|`: the bound of the factor, and as much for
    /// what is computed here.
    fn factor<T: Number>(&self, name: &str, factor: &[T], triangle: Triangle) -> Result<f64, Box<dyn Error>> {
        let n = self.n;
        let l = |row: usize, column: usize| -> f64 {
            match triangle {
                Triangle::Lower => factor[row * n + column].into(),
                Triangle::Upper => factor[column * n + row].into(),
            }
        };
        let (mut y, mut size) = (vec![0.0; n], vec![0.0; n]);
        for row in 0..n {
            for column in 0..=row {
                y[column] += l(row, column) * self.x[row];
                size[column] += (l(row, column) * self.x[row]).abs();
            }
        }
        let gamma = (n + 5) as f64 * T::UNIT / (1.0 - (n + 5) as f64 * T::UNIT);
        let mut worst = 0.0f64;
        for row in 0..n {
            let products =
                (0..=row).map(|column| (l(row, column) * y[column], l(row, column).abs() * size[column]));
            let (sum, bound) =
                products.fold((0.0, 0.0), |(sum, bound), (value, size)| (sum + value, bound + size));
            worst = worst.max((sum - self.product[row]).abs() / (2.0 * gamma * bound));
        }
        // NaN too.
        if worst <= 1.0 {
            Ok(worst)
        } else {
            Err(format!("{name}: {worst} times as far from A as it may be").into())
        }
    }
}

fn print(device: &Device, lines: &[Line]) {
    println!("device {device}; milliseconds, errors in units of their bounds\n");
    let mut table = Table::new([
        "version",
        "type",
        "structure",
        "rows",
        "side",
        "share",
        "work",
        "syrk",
        "gemm",
        "trsm",
        "potrf",
        "kernel",
        "total",
        "GFLOP/s",
        "error",
    ]);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    for line in lines {
        let calls = |calls: Option<u64>| or_none(calls.map(|calls| calls.to_string()));
        table.row([
            line.variant.to_owned(),
            line.element.to_owned(),
            line.structure.to_owned(),
            line.rows.to_string(),
            line.side.to_string(),
            format!("{:.3}", line.share),
            format!("{:.4}", line.work),
            calls(line.syrk),
            calls(line.gemm),
            calls(line.trsm),
            calls(line.potrf),
            or_none(line.kernel_ms.map(|time| format!("{time:.4}"))),
            format!("{:.4}", line.total_ms),
            format!("{:.2}", line.gigaflops),
            format!("{:.4}", line.error),
        ]);
    }
    println!("{table}");
}

/// Two charts: over the matrix's size, and over the share of blocks that are there.
fn plot(file: &Path, device: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let element = lines.first().ok_or("nothing was measured")?.element;
    let rows = lines.iter().rfind(|line| line.structure == "band").map_or(0, |line| line.rows);
    let charts = [
        ("thesis", format!("Cholesky, {element}, the thesis' structure, with copies, {device}")),
        ("band", format!("Cholesky, {element}, bands of {rows} rows, with copies, {device}")),
    ];
    let root = paper(file, (1000, 1200))?;
    for (area, (structure, title)) in root.split_evenly((charts.len(), 1)).iter().zip(charts) {
        let of = |name: &'static str| -> Curve<'static> {
            let own = lines.iter().filter(|line| (line.structure, line.variant) == (structure, name));
            (name, own.map(|line| (line.elements, line.total_ms)).collect())
        };
        let all: Vec<Curve<'_>> = names().map(of).filter(|(_, points)| !points.is_empty()).collect();
        curves(area, title, "ms", &all)?;
    }
    root.present()?;
    Ok(())
}
