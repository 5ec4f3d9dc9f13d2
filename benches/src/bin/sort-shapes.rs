//! Times selections and sorts of segments: see `--help`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_benches::{Error, provenance, shapes};
use gpu_core::Device;

/// Times `top_k` and `segmented_sort` at the shapes of the figures and at 100 that a seed draws.
///
/// benches/peers/sort_shapes.cu (CUB) and benches/peers/top_k.py (PyTorch) time the vendors' at the shapes that `--list` prints.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Print the shapes: operation, type, elements, segments, their length, k, whether it was drawn
    #[arg(long)]
    list: bool,

    /// Only shapes with this text in the line of `--list`
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Compare results with the CPU's
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
    let wanted = |line: &str| args.filter.as_ref().is_none_or(|text| line.contains(text.as_str()));
    let all = shapes::shapes().into_iter().filter(|shape| wanted(&shape.to_string()));
    if args.list {
        all.for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = Device::cuda(0)?;
    let provenance = provenance::of(&device, args.commit.as_deref())?;
    let mut file = args.json.as_ref().map(File::create).transpose()?;
    for shape in all {
        let ms = shapes::measure(&device, &shape, args.check)?;
        println!("{shape} {ms:.5}");
        if let Some(file) = &mut file {
            let record = serde_json::json!({
                "suite": "sort-shapes", "peer": "ours", "shape": shape.to_string(), "ms_median": ms,
                "device": provenance.device, "driver": provenance.driver, "commit": provenance.commit, "date": provenance.date,
            });
            writeln!(file, "{record}")?;
        }
    }
    Ok(())
}
