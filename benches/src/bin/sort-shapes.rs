//! Times selections and sorts of segments: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::sweep::{self, Options, Results};
use gpu_benches::{Error, shapes};
use gpu_core::Device;
use gpu_sort::TopK;

/// Times `top_k` and `segmented_sort` at the shapes of the figures and at 100 that a seed draws.
///
/// benches/peers/sort_shapes.cu (CUB) and benches/peers/top_k.py (PyTorch) time the vendors' at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, type, elements, segments, their length, k, whether it was drawn
    #[arg(long)]
    list: bool,

    /// Select in any order, and at last from all keys
    #[arg(long)]
    any_order: bool,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, any_order, options }: &Args) -> Result<(), Error> {
    let (selected, more) = if *any_order {
        (TopK::largest().in_any_order(), Some(shapes::all_keys()))
    } else {
        (TopK::largest(), None)
    };
    let all = shapes::shapes().into_iter().chain(more).filter(|shape| options.selects(&shape.to_string()));
    if *list {
        all.for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let mut results = Results::new("sort-shapes", &device, options)?;
    for shape in all {
        let ms = shapes::measure(&device, &shape, selected, options.check)?;
        println!("{shape} {ms:.5}");
        results.write(&serde_json::json!({ "shape": shape.to_string() }), ms)?;
    }
    Ok(())
}
