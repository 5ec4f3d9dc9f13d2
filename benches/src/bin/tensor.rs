//! Times products on the tensor cores: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::sweep::{self, Options, Results};
use gpu_benches::tensor::{Shape, measure, shapes};
use gpu_core::Device;

/// Times `gemm_tensor` at the shapes of the figures.
///
/// benches/peers/tensor.cu (cuBLAS) times the other's at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, types of factors and results, m, n, k, which of A and B are stored transposed,
    /// matrices of the batch
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, options }: &Args) -> Result<(), Error> {
    let all: Vec<Shape> = shapes().into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let mut results = Results::new("tensor", &device, options)?;
    for shape in &all {
        let ms = measure(&device, shape, options.check)?;
        println!("{shape} ours {ms:.6} ms {:.1} TFLOP/s", shape.operations() / ms * 1e-9);
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
    }
    Ok(())
}
