//! Measures the GPU at hand.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::Device;
use gpu_examples::exit_code;
use gpu_model::calibrate::{measure, steps};
use indicatif::ProgressBar;

/// Measure a device
#[derive(Parser)]
struct Options {
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    /// Device
    #[arg(long, default_value = "cuda")]
    device: String,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = Device::by_name(&options.device)?;
    let bar = ProgressBar::new(steps() as u64);
    let start = std::time::Instant::now();
    let rows = measure(&device, |name| {
        bar.inc(1);
        eprintln!("{:.1} {name}", start.elapsed().as_secs_f64());
    })?;
    for row in rows {
        println!("{}", serde_json::to_string(&row)?);
    }
    Ok(())
}
