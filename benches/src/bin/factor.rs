//! Times Cholesky factorisations at many sizes: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::factor::{self, Shape};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::Device;

/// Times `potrf` and `potrs` at the sizes of the figures and at 100 of each type that a seed draws.
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

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, cpu, options }: &Args) -> Result<(), Error> {
    let all = factor::shapes().into_iter();
    let all: Vec<Shape> = all.filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = if *cpu { Device::cpu() } else { Device::cuda(0)? };
    let mut results = Results::new("factor", &device, options)?;
    for shape in &all {
        let ms = factor::measure(&device, shape, options.check)?;
        println!("{shape} ours {ms:.6} ms {:.1} GFLOP/s", shape.operations() / ms * 1e-6);
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
    }
    Ok(())
}
