//! Times products of batches whose matrices start anywhere: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::batched::{Shape, shapes};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::Device;

/// Times `gemm_batched`, `gemm_tf32_batched` and `gemm_tensor_batched` at squares and at shapes that a seed draws.
///
/// benches/peers/batched.cu (cuBLAS, by arrays of pointers) times the others' at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: type, m, n, k, which of A and B are stored transposed, how many, whether it was drawn
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
    let mut results = Results::new("batched", &device, options)?;
    for shape in &all {
        let ms = shape.measure(&device, options.check)?;
        println!("{shape} ours {ms:.6}");
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
    }
    Ok(())
}
