//! Times products of matrices at many shapes: see `--help`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::products::{self, Factors, Shape};
use gpu_benches::sweep::{self, Kernels, Options, Results};
use gpu_core::Device;

/// Times `gemm` at the shapes of the figures and at 200 of each type that a seed draws; with `--cpu`, `gemm` and `gemv` on the CPU.
///
/// benches/peers/product_shapes.cu (cuBLAS) and benches/peers/products.py (NumPy) time the others' at the shapes that
/// `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, type, m, n, k, which of A and B are stored transposed, whether it was drawn
    #[arg(long)]
    list: bool,

    /// The CPU, and shapes for it
    #[arg(long, conflicts_with = "kernels")]
    cpu: bool,

    /// Shapes of your own, lines as of `--list`, from this file; `-` for standard input
    #[arg(long, value_name = "FILE")]
    shapes: Option<PathBuf>,

    #[command(flatten)]
    kernels: Kernels,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, cpu, shapes, kernels, options }: &Args) -> Result<(), Error> {
    let all = match shapes {
        Some(file) => sweep::read_shapes(file)?,
        None if *cpu => products::cpu_shapes(),
        None => products::shapes(),
    };
    let all: Vec<Shape> = all.into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = if *cpu { Device::cpu() } else { Device::cuda(0)? };
    let mut results = Results::new("product-shapes", &device, options)?;
    let (mut factors, most) = (Factors::new(&device)?, products::most_elements(&all));
    for shape in &all {
        let ms = factors.measure(shape, None, most, options.check)?;
        println!("{shape} ours {ms:.6}");
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
        for kernel in kernels.of(shape.kernels()) {
            let (ms, name) = (factors.measure(shape, Some(kernel), most, options.check)?, kernel.name());
            println!("{shape} {name} {ms:.6}");
            results.write(&serde_json::json!({ "shape": shape.to_string(), "kernel": name }), ms)?;
        }
    }
    Ok(())
}
