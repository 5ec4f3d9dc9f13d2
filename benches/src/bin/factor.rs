//! Times Cholesky factorisations at many sizes: see `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::factor::{self, Shape};
use gpu_benches::skyline::{self, Measured};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::Device;

/// Times `potrf` and `potrs` at the sizes of the figures, and `potrf` at 100 sizes and 40 batches of each type that a
/// seed draws.
///
/// benches/peers/factor.cu (cuSOLVER) times the vendor's at the sizes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, type, rows, matrices, triangle, elements between columns, right-hand sides, whether
    /// it was drawn
    #[arg(long)]
    list: bool,

    /// The CPU
    #[arg(long)]
    cpu: bool,

    /// Shapes of your own, lines as of `--list`, from this file; `-` for standard input
    #[arg(long, value_name = "FILE")]
    shapes: Option<PathBuf>,

    /// Instead, bands with so much of a matrix's blocks, beside the whole matrix, of these sizes
    #[arg(long, value_delimiter = ',', value_name = "ROWS", conflicts_with_all = ["list", "shapes"])]
    skyline: Vec<usize>,

    /// The share of the blocks of those bands
    #[arg(long, default_value_t = 0.1, value_parser = share)]
    share: f64,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, cpu, shapes, skyline, share, options }: &Args) -> Result<(), Error> {
    let all = shapes.as_ref().map_or_else(|| Ok(factor::shapes()), |file| sweep::read_shapes(file))?;
    let all: Vec<Shape> = all.into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = if *cpu { Device::cpu() } else { Device::cuda(0)? };
    let mut results = Results::new("factor", &device, options)?;
    if !skyline.is_empty() {
        return bands(&device, skyline, *share, options, &mut results);
    }
    for shape in &all {
        let ms = factor::measure(&device, shape, options.check)?;
        println!("{shape} ours {ms:.6} ms {:.1} GFLOP/s", shape.operations() / ms * 1e-6);
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
    }
    Ok(())
}

/// Times bands of these sizes, of which a share of the blocks is there, and the whole matrices.
fn bands(
    device: &Device,
    sizes: &[usize],
    share: f64,
    options: &Options,
    results: &mut Results,
) -> Result<(), Error> {
    for &n in sizes {
        for element in ["f32", "f64"].into_iter().filter(|element| options.selects(element)) {
            let found = match element {
                "f32" => skyline::measure::<f32>(device, n, share)?,
                _ => skyline::measure::<f64>(device, n, share)?,
            };
            let Measured { share, work, band_ms, whole_ms } = found;
            println!(
                "skyline {element} {n}: {:.1} % of the blocks, {:.3} % of the work, {band_ms:.3} ms; \
                 the whole matrix {whole_ms:.3} ms: {:.2} x the share of the work",
                100.0 * share,
                100.0 * work,
                found.ratio()
            );
            let shape = |share: f64| format!("skyline {element} {n} {share:.4}");
            results.write(&serde_json::json!({ "shape": shape(share), "work": work }), band_ms)?;
            results.write(&serde_json::json!({ "shape": shape(1.0), "work": 1.0 }), whole_ms)?;
        }
    }
    Ok(())
}

/// A share, from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(format!("a share is from 0 to 1, not {share}")) }
}
