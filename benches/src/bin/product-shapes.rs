//! Times products of matrices at many shapes: see `--help`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_benches::products::{self, Factors, Shape};
use gpu_benches::{Error, provenance};
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
    #[arg(long)]
    cpu: bool,

    /// Only shapes with this text in the line of `--list`
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Compare samples of the results with what the order of operations gives
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
    let all = if args.cpu { products::cpu_shapes() } else { products::shapes() };
    let all: Vec<Shape> = all.into_iter().filter(|shape| wanted(&shape.to_string())).collect();
    if args.list {
        all.iter().for_each(|shape| println!("{shape}"));
        return Ok(());
    }
    let device = if args.cpu { Device::cpu() } else { Device::cuda(0)? };
    let provenance = provenance::of(&device, args.commit.as_deref())?;
    let mut file = args.json.as_ref().map(File::create).transpose()?;
    let mut factors = Factors::new(&device)?;
    for shape in &all {
        let ms = factors.measure(shape, products::most_elements(&all), args.check)?;
        println!("{shape} ours {ms:.6}");
        if let Some(file) = &mut file {
            let record = serde_json::json!({
                "suite": "product-shapes", "peer": "ours", "shape": shape.to_string(), "ms_median": ms,
                "device": provenance.device, "driver": provenance.driver, "commit": provenance.commit, "date": provenance.date,
            });
            writeln!(file, "{record}")?;
        }
    }
    Ok(())
}
