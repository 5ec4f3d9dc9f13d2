//! Times products, analyses and solutions of sparse matrices: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::Error;
use gpu_benches::suite::sparse::{STRUCTURES, measure};
use gpu_benches::sweep::{self, Options, Results};
use gpu_core::Device;

/// Times gpu-sparse on the structures of the figures, in f64; benches/peers/sparse.cu times cuSPARSE on the same.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    options: Options,

    /// How often each operation is timed
    #[arg(long, default_value_t = 21)]
    rounds: usize,
}

fn main() -> ExitCode {
    sweep::exit(start(&Args::parse()))
}

fn start(Args { options, rounds }: &Args) -> Result<(), Error> {
    let device = Device::cuda(0)?;
    let mut results = Results::new("sparse", &device, options)?;
    for (name, structure) in STRUCTURES.iter().filter(|(name, _)| options.selects(name)) {
        for timed in measure(&device, &structure.arrays(), *rounds, options.check)? {
            let gbs = timed.bytes as f64 / timed.ms / 1e6;
            println!("{name:16} {:28} {:10.4} ms {gbs:8.0} GB/s", timed.operation, timed.ms);
            let subject = serde_json::json!({
                "structure": name, "operation": timed.operation, "bytes": timed.bytes,
            });
            results.write(&subject, timed.ms)?;
        }
    }
    Ok(())
}
