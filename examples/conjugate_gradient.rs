//! A system of millions of unknowns, solved by conjugate gradients with and without preconditioners.
//!
//! `cargo run --release --example conjugate_gradient` solves Poisson's equation in a cube, by the 7-point Laplacian:
//! `A · x = b` with one unknown a point. Each step is one product of A and a vector (gpu-sparse), two dot products
//! (gpu-reduce), three updates of vectors (gpu-linalg), and the preconditioner: none; Jacobi, the diagonal of A; or
//! the incomplete Cholesky factor IC(0), of which a step solves two triangular systems (gpu-sparse). `--plot FILE.png`
//! draws how fast they converge. Without a GPU it runs on the CPU; the steps and the residuals are the same to the
//! bit.
//!
//! The algorithm is the preconditioned conjugate gradient method (Hestenes and Stiefel 1952; Saad, *Iterative Methods
//! for Sparse Linear Systems*, 2nd ed., algorithm 9.1).

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gpu_core::{Buffer, Device, Kind, Stream};
use gpu_examples::chart::{FONT, paper};
use gpu_examples::exit_code;
use gpu_examples::structures::{Arrays, poisson};
use gpu_examples::table::Table;
use gpu_linalg::{axpy, hadamard, scale};
use gpu_sparse::{Analysis, Csr, CsrView, Diagonal, Side, Spmv, ic0, transpose, triangle};
use indicatif::{ProgressBar, ProgressStyle};
use plotters::prelude::*;
use serde::Serialize;

/// Solve Poisson's equation in a cube by conjugate gradients, with and without preconditioners
#[derive(Parser)]
struct Options {
    /// Points of an edge of the cube: its third power is the number of unknowns; 200 on a GPU, 48 on the CPU, 8 in the
    /// simulator if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=600))]
    size: Option<u32>,
    /// How much better the middle of the cube conducts than what is around it: where it is 1 all of A's diagonal is 6,
    /// and Jacobi's steps are those without a preconditioner
    #[arg(long, default_value_t = 1.0)]
    contrast: f64,
    /// Preconditioners, one or more; all of them if not given
    #[arg(long, value_enum, value_delimiter = ',')]
    preconditioner: Vec<Preconditioner>,
    /// The norm of the residual at which it ends, in that of b
    #[arg(long, default_value_t = 1e-10)]
    tolerance: f64,
    /// The most steps
    #[arg(long, default_value_t = 10_000)]
    steps: u32,
    /// Draw the residuals over the steps
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cpu`, `cuda`, `cuda:N` or `simulator`; without it the best there is
    #[arg(long)]
    device: Option<String>,
    /// Print a JSON line for each preconditioner instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Preconditioner {
    /// Plain conjugate gradients
    None,
    /// The diagonal of A
    Jacobi,
    /// The incomplete Cholesky factor without fill-in
    Ic0,
}

impl Preconditioner {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Jacobi => "Jacobi",
            Self::Ic0 => "IC(0)",
        }
    }
}

/// How one of them went.
#[derive(Serialize)]
struct Line {
    preconditioner: Preconditioner,
    device: String,
    rows: usize,
    entries: usize,
    /// Of the triangle; 0 where there is none.
    levels: u32,
    steps: usize,
    /// `|b - A x| / |b|`, computed from the x it ended with.
    residual: f64,
    /// Of the factor and the analyses.
    setup_milliseconds: f64,
    milliseconds: f64,
    milliseconds_per_step: f64,
    /// `|r| / |b|` before the first step and after each, as the steps have it.
    residuals: Vec<f64>,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if !(options.tolerance > 0.0 && options.tolerance < 1.0) {
        return Err(format!("the tolerance is {}: it is between 0 and 1", options.tolerance).into());
    }
    if !(options.contrast > 0.0 && options.contrast.is_finite()) {
        return Err(format!("the contrast is {}: it is positive and finite", options.contrast).into());
    }
    let device = match &options.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let edge = options.size.unwrap_or(match device.kind() {
        Kind::Cuda => 200,
        Kind::Cpu => 48,
        _ => 8,
    });
    let mut chosen = options.preconditioner.clone();
    if chosen.is_empty() {
        chosen = vec![Preconditioner::None, Preconditioner::Jacobi, Preconditioner::Ic0];
    }
    let Arrays { offsets, indices, values } = poisson(edge, options.contrast);
    let rows = offsets.len() - 1;
    let a = Csr::upload(&device, rows, rows, &offsets, &indices, &values)?;
    let b = device.upload(&sources(rows))?;

    let mut lines = Vec::new();
    for one in chosen {
        // Nothing is drawn where standard error is not a terminal.
        let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template(
            "{elapsed_precise} {spinner} {prefix}, step {pos}: {msg}",
        )?);
        bar.set_prefix(one.name());
        lines.push(solve(options, &a, &b, one, &bar)?);
        bar.finish_and_clear();
    }
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, edge, options.tolerance, &lines);
    }
    if let Some(file) = &options.plot {
        plot(file, &format!("{edge}³ points, {}", device.name()), options.tolerance, &lines)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// The right-hand side: what a hash draws, from 0 to 1.
fn sources(rows: usize) -> Vec<f64> {
    let draw = |row: usize| {
        let hash = (row as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
        let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        f64::from(hash ^ hash >> 16) / f64::from(u32::MAX)
    };
    (0..rows).map(draw).collect()
}

/// What a preconditioner needs. `z = M⁻¹ r`.
enum Ready<'a> {
    None,
    Jacobi(Buffer<f64>),
    /// Systems with L and with its transposed matrix, and what lies between.
    Factor(Box<(Analysis<'a, f64>, Analysis<'a, f64>, Buffer<f64>)>),
}

impl Ready<'_> {
    fn apply(&mut self, stream: &Stream, r: &Buffer<f64>, z: &mut Buffer<f64>) -> Result<(), Box<dyn Error>> {
        match self {
            Self::None => stream.copy(z, r)?,
            Self::Jacobi(inverse) => hadamard(stream, &*inverse, r, z)?,
            Self::Factor(parts) => {
                let (lower, upper, between) = &mut **parts;
                lower.solve(stream, 1.0, r, &mut *between)?;
                upper.solve(stream, 1.0, &*between, z)?;
            }
        }
        Ok(())
    }
}

fn solve(
    options: &Options,
    a: &Csr<f64>,
    b: &Buffer<f64>,
    one: Preconditioner,
    bar: &ProgressBar,
) -> Result<Line, Box<dyn Error>> {
    let (device, rows) = (b.device(), b.len());
    let start = Instant::now();
    let factor = match one {
        Preconditioner::Ic0 => {
            let lower = ic0(&triangle(a, Side::Lower, true)?)?;
            let upper = transpose(&lower)?;
            Some((lower, upper))
        }
        _ => None,
    };
    let mut levels = 0;
    let mut ready = match (one, &factor) {
        (Preconditioner::Ic0, Some((lower, upper))) => {
            let lower = Analysis::new(lower, Side::Lower, Diagonal::Stored)?;
            let upper = Analysis::new(upper, Side::Upper, Diagonal::Stored)?;
            levels = lower.level_count();
            Ready::Factor(Box::new((lower, upper, device.alloc(rows)?)))
        }
        (Preconditioner::Jacobi, _) => Ready::Jacobi(device.upload(&inverse_diagonal(a.view())?)?),
        _ => Ready::None,
    };
    device.synchronize()?;
    let setup_milliseconds = start.elapsed().as_secs_f64() * 1e3;

    let stream = device.default_stream();
    let mut product = Spmv::new(a)?;
    let mut x = device.zeroed::<f64>(rows)?;
    let (mut r, mut z) = (device.alloc::<f64>(rows)?, device.alloc::<f64>(rows)?);
    let (mut p, mut q) = (device.alloc::<f64>(rows)?, device.alloc::<f64>(rows)?);
    let start = Instant::now();
    stream.copy(&mut r, b)?;
    ready.apply(&stream, &r, &mut z)?;
    stream.copy(&mut p, &z)?;
    let mut rho = gpu_reduce::dot(&r, &z)?;
    let scale_of = gpu_reduce::dot(b, b)?.sqrt();
    let mut residuals = vec![1.0];
    let mut residual = 1.0;
    while residual > options.tolerance && residuals.len() <= options.steps as usize {
        product.run(&stream, 1.0, &p, 0.0, &mut q)?;
        let alpha = rho / gpu_reduce::dot(&p, &q)?;
        axpy(&stream, alpha, &p, &mut x)?;
        axpy(&stream, -alpha, &q, &mut r)?;
        ready.apply(&stream, &r, &mut z)?;
        let next = gpu_reduce::dot(&r, &z)?;
        scale(&stream, next / rho, &mut p)?;
        axpy(&stream, 1.0, &z, &mut p)?;
        rho = next;
        residual = gpu_reduce::dot(&r, &r)?.sqrt() / scale_of;
        residuals.push(residual);
        bar.set_message(format!("{residual:.1e}"));
        bar.inc(1);
    }
    device.synchronize()?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    // What the steps say of the residual is one thing; this is another.
    stream.copy(&mut r, b)?;
    product.run(&stream, -1.0, &x, 1.0, &mut r)?;
    let true_residual = gpu_reduce::dot(&r, &r)?.sqrt() / scale_of;
    let steps = residuals.len() - 1;
    // NaN has not converged either.
    let converged = true_residual <= 10.0 * options.tolerance;
    if !converged {
        let name = one.name();
        return Err(format!("{name}: after {steps} steps the residual is {true_residual:.1e}").into());
    }
    Ok(Line {
        preconditioner: one,
        device: device.name(),
        rows,
        entries: a.view().entries(),
        levels,
        steps,
        residual: true_residual,
        setup_milliseconds,
        milliseconds,
        milliseconds_per_step: milliseconds / steps.max(1) as f64,
        residuals,
    })
}

/// One over the diagonal.
fn inverse_diagonal(a: CsrView<'_, f64>) -> Result<Vec<f64>, Box<dyn Error>> {
    let (mut offsets, mut indices) = (vec![0; a.rows() + 1], vec![0; a.entries()]);
    let mut values = vec![0.0; a.entries()];
    a.offsets().copy_to(&mut offsets)?;
    a.indices().copy_to(&mut indices)?;
    a.values().copy_to(&mut values)?;
    let inverse = |(row, pair): (usize, &[u32])| {
        let mut entries = pair[0] as usize..pair[1] as usize;
        entries.find(|&entry| indices[entry] as usize == row).map(|entry| 1.0 / values[entry])
    };
    offsets
        .windows(2)
        .enumerate()
        .map(|row| inverse(row).ok_or_else(|| "a row has no diagonal".into()))
        .collect()
}

fn print(device: &Device, edge: u32, tolerance: f64, lines: &[Line]) {
    let (rows, entries) = lines.first().map_or((0, 0), |line| (line.rows, line.entries));
    println!(
        "device {device}; Poisson's equation in a cube of {edge}³ points, {rows} unknowns, {entries} entries, f64;"
    );
    println!("conjugate gradients until |r| ≤ {tolerance:e} |b|\n");
    let mut table = Table::new(["preconditioner", "steps", "|b - A x| / |b|", "setup ms", "ms", "ms a step"]);
    for line in lines {
        table.row([
            line.preconditioner.name().to_string(),
            line.steps.to_string(),
            format!("{:.2e}", line.residual),
            format!("{:.2}", line.setup_milliseconds),
            format!("{:.2}", line.milliseconds),
            format!("{:.4}", line.milliseconds_per_step),
        ]);
    }
    println!("{table}");
    if let Some(line) = lines.iter().find(|line| line.levels > 0) {
        println!("The triangles have {} levels.", line.levels);
    }
}

/// The residuals over the steps, a curve for each preconditioner.
fn plot(file: &Path, of: &str, tolerance: f64, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let root = paper(file, (1000, 600))?;
    let most = lines.iter().map(|line| line.steps).max().unwrap_or(1).max(1);
    let all = || lines.iter().flat_map(|line| &line.residuals).copied().filter(|residual| *residual > 0.0);
    let (low, high) = (all().fold(tolerance, f64::min) / 2.0, all().fold(1.0, f64::max) * 2.0);
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("Conjugate gradients, Poisson's equation, {of}"), (FONT, 22))
        .margin(14)
        .x_label_area_size(45)
        .y_label_area_size(80)
        .build_cartesian_2d(0..most, (low..high).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("steps")
        .y_desc("|r| / |b|")
        .label_style((FONT, 15))
        .y_label_formatter(&|residual| format!("{residual:.0e}"))
        .draw()?;
    for (index, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(index).to_rgba();
        let points = line.residuals.iter().enumerate().filter(|(_, residual)| **residual > 0.0);
        let points: Vec<(usize, f64)> = points.map(|(step, &residual)| (step, residual)).collect();
        let name =
            format!("{}: {} steps, {:.1} ms", line.preconditioner.name(), line.steps, line.milliseconds);
        chart
            .draw_series([PathElement::new(points, colour.stroke_width(2))])?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 3), (x + 18, y + 3)], colour.filled()));
    }
    chart.configure_series_labels().label_font((FONT, 16)).background_style(WHITE.mix(0.8)).draw()?;
    root.present()?;
    Ok(())
}
