//! Times products, analyses and solutions of sparse matrices: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::suite::sparse::{measure, structures};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::Device;

/// Times gpu-sparse in f64 on the structures of the figures and on 40 that a seed draws, every algorithm of each
/// operation.
///
/// benches/peers/sparse.cu (cuSPARSE) times the same operations of the structures that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the structures: kind, rows, two numbers that the kind explains, whether it was drawn
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    options: Options,

    /// How often each operation is timed
    #[arg(long, default_value_t = 21)]
    rounds: usize,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { list, options, rounds }: &Args) -> Result<(), Error> {
    let all = structures().into_iter().filter(|structure| options.selects(&structure.to_string()));
    if *list {
        all.for_each(|structure| println!("{structure}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let mut results = Results::new("sparse", &device, options)?;
    for structure in all {
        for timed in measure(&device, &structure.arrays(), *rounds, options.check)? {
            let gbs = timed.bytes as f64 / timed.ms / 1e6;
            let mark = if timed.is_chosen { "chosen" } else { "" };
            let (operation, algorithm) = (timed.operation, &timed.algorithm);
            println!(
                "{structure:32} {operation:11} {algorithm:14} {mark:7} {:10.4} ms {gbs:7.0} GB/s",
                timed.ms
            );
            let subject = serde_json::json!({
                "structure": structure.to_string(), "operation": operation, "algorithm": algorithm,
                "chosen": timed.is_chosen, "bytes": timed.bytes,
            });
            results.write(&subject, timed.ms)?;
        }
    }
    Ok(())
}
