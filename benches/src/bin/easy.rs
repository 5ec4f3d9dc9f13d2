//! Times the calls that take a buffer and give a result: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::easy::{self, Effort, Shape};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::{Device, Kind};
use serde_json::json;

/// Times `sum(&x)`, `inclusive_sum(&x)` and `sort(&x)` by the wall clock, what they allocate, wait for and free in it,
/// beside the forms on a stream with memory at hand, and an allocation with its drop. Each twice: a call and a
/// synchronisation (`single_wall`), and a call of many in a row (`batch`).
///
/// benches/peers/easy.py times PyTorch and CuPy at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: call, type, elements, whether the length was drawn
    #[arg(long)]
    list: bool,

    /// Few timings of the short arrays: to see that everything works, not for figures
    #[arg(long)]
    quick: bool,

    /// Where to run: `cuda`, `cuda:1`, `cpu` or `simulator`; beside CUDA with --quick's lengths
    #[arg(long, default_value = "cuda")]
    device: String,

    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, quick, device, options }: &Args) -> Result<(), Error> {
    let all = easy::shapes();
    let mut all: Vec<Shape> = all.into_iter().filter(|shape| options.selects(&shape.to_string())).collect();
    if *list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::by_name(device)?;
    if *quick || device.kind() != Kind::Cuda {
        all.retain(|shape| shape.len <= 1 << 10);
    }
    let effort = if *quick { Effort::QUICK } else { Effort::FULL };
    let mut results = Results::new("easy", &device, options)?;
    for shape in &all {
        for (mode, of) in easy::measure(&device, shape, effort, options.check)? {
            println!(
                "{shape} {} ours {:.3} µs, at least {:.3} ± {:.3}",
                mode.name(),
                of.median * 1e3,
                of.min * 1e3,
                of.mad * 1e3
            );
            let subject = json!({
                "op": shape.call.name(),
                "type": shape.element,
                "n": shape.len,
                "drawn": shape.drawn,
                "mode": mode.name(),
                "clock": "wall",
                "ms_min": of.min,
                "ms_mad": of.mad,
                "samples": of.samples,
            });
            results.write(&subject, of.median)?;
        }
    }
    Ok(())
}
