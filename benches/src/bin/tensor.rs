//! Times products on the tensor cores: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::sweep::{self, Options, Results};
use gpu_benches::tensor::{Shape, measure, measure_fused, shapes};
use gpu_core::Device;
use gpu_linalg::Activation;
use gpu_linalg::variants::TensorVariant;

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

    /// Which kernel, instead of the one that is chosen
    #[arg(long, value_enum)]
    variant: Option<Variant>,

    /// Time a bias for each column and ReLU, GELU and GELU's other form in the launch of the product, beside the
    /// product alone; not of i8. benches/peers/tensor_fused.cu (cuBLASLt) times its own
    #[arg(long, conflicts_with = "variant")]
    fused: bool,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Variant {
    Lanes,
    Narrow,
    Wide,
    Cluster,
    Thin,
    Packed,
}

impl From<Variant> for TensorVariant {
    fn from(variant: Variant) -> Self {
        match variant {
            Variant::Lanes => Self::Lanes,
            Variant::Narrow => Self::Narrow,
            Variant::Wide => Self::Wide,
            Variant::Cluster => Self::Cluster,
            Variant::Thin => Self::Thin,
            Variant::Packed => Self::Packed,
        }
    }
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, variant, fused, options }: &Args) -> Result<(), Error> {
    let all: Vec<Shape> = shapes().into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let mut results = Results::new("tensor", &device, options)?;
    for shape in &all {
        let ms = match measure(&device, shape, variant.map(Into::into), options.check) {
            Err(Error::Linalg(gpu_linalg::Error::Unaligned { .. })) => {
                println!("{shape} is nothing that the copy engine takes");
                continue;
            }
            other => other?,
        };
        println!("{shape} ours {ms:.6} ms {:.1} TFLOP/s", shape.operations() / ms * 1e-9);
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
        let activations = [
            ("bias, relu", Activation::Relu),
            ("bias, gelu", Activation::Gelu),
            ("bias, gelu_tanh", Activation::GeluTanh),
        ];
        for (epilogue, activation) in activations.into_iter().filter(|_| *fused) {
            if let Some(with) = measure_fused(&device, shape, activation)? {
                println!("{shape} with {epilogue} {with:.6} ms, {:.3} times as long", with / ms);
                results
                    .write(&serde_json::json!({ "shape": shape.to_string(), "epilogue": epilogue }), with)?;
            }
        }
    }
    Ok(())
}
