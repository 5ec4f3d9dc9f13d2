//! Times products, analyses and solutions of sparse matrices: see `--help`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_benches::suite::sparse::{STRUCTURES, measure};
use gpu_benches::{Error, provenance};
use gpu_core::Device;

/// Times gpu-sparse on the structures of the figures, in f64; benches/peers/sparse.cu times cuSPARSE on the same.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Only structures with this text in their name
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// How often each operation is timed
    #[arg(long, default_value_t = 21)]
    rounds: usize,

    /// Compare results with the CPU's, bit by bit
    #[arg(long)]
    check: bool,

    /// Write one JSON object a line to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// The commit to note in the results [default: the one that is checked out]
    #[arg(long)]
    commit: Option<String>,
}

fn main() -> ExitCode {
    match start(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: &Args) -> Result<(), Error> {
    let device = Device::cuda(0)?;
    let provenance = provenance::of(&device, args.commit.as_deref())?;
    let mut file = args.json.as_ref().map(File::create).transpose()?;
    for (name, structure) in STRUCTURES {
        if args.filter.as_ref().is_some_and(|text| !name.contains(text.as_str())) {
            continue;
        }
        for timed in measure(&device, &structure.arrays(), args.rounds, args.check)? {
            let gbs = timed.bytes as f64 / timed.ms / 1e6;
            println!("{name:16} {:28} {:10.4} ms {gbs:8.0} GB/s", timed.operation, timed.ms);
            if let Some(file) = &mut file {
                let record = serde_json::json!({
                    "suite": "sparse", "peer": "ours", "structure": name, "operation": timed.operation,
                    "ms_median": timed.ms, "bytes": timed.bytes, "device": provenance.device,
                    "driver": provenance.driver, "commit": provenance.commit, "date": provenance.date,
                });
                writeln!(file, "{record}")?;
            }
        }
    }
    Ok(())
}
