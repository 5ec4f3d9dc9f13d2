//! Times triangular solves and symmetric updates at many shapes: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::level3::{self, Shape};
use gpu_benches::sweep::{self, Kernels, Options, Results};
use gpu_core::Device;

/// Times `trsm` and `syrk` at the shapes of the figures and at 100 of each that a seed draws.
///
/// benches/peers/level3.cu (cuBLAS) times the others' at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, type, n, right-hand sides or length of sums, side, triangle and order, gap of leading dimensions, whether it
    /// was drawn
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    kernels: Kernels,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, kernels, options }: &Args) -> Result<(), Error> {
    let all = level3::shapes();
    let all: Vec<Shape> = all.into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let mut results = Results::new("level3", &device, options)?;
    for shape in &all {
        let ms = level3::measure(&device, shape, None, options.check)?;
        println!("{shape} ours {ms:.6}");
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
        for kernel in kernels.of(shape.kernels()) {
            let (ms, name) = (level3::measure(&device, shape, Some(kernel), options.check)?, kernel.name());
            println!("{shape} {name} {ms:.6}");
            results.write(&serde_json::json!({ "shape": shape.to_string(), "kernel": name }), ms)?;
        }
    }
    Ok(())
}
