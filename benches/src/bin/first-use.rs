//! How long the first use of every kernel takes: see `--help`.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use gpu_benches::cli::{EXIT_FAILED, EXIT_NO_GPU};
use gpu_benches::{Error, first_use, provenance};
use gpu_core::Device;
use indicatif::{ProgressBar, ProgressStyle};

/// Times the first use of every kernel on a GPU, the median of three passes over all of them: the driver compiles its
/// PTX, with the cache of compiled kernels off.
///
/// Exit codes: 0 the limits are kept, 1 they are not or a kernel did not load, 2 wrong arguments, 3 there is no GPU.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// The folder with the kernel crates
    #[arg(long, value_name = "FOLDER", default_value = "gpu-kernels")]
    kernels: PathBuf,

    /// Write one JSON object a line for every kernel to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Which CUDA device, counted from 0
    #[arg(long, default_value_t = 0)]
    ordinal: usize,

    /// The commit to note in the results [default: the one that is checked out]
    #[arg(long)]
    commit: Option<String>,
}

fn main() -> ExitCode {
    // The driver reads the variable when it is initialised, so this program starts itself once more with it.
    let (name, value) = first_use::NO_CACHE;
    if std::env::var_os(name).is_none_or(|set| set != value) {
        let again = std::env::current_exe().and_then(|program| {
            Command::new(program).args(std::env::args_os().skip(1)).env(name, value).status()
        });
        return match again {
            Ok(status) => {
                ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(EXIT_FAILED))
            }
            Err(error) => fail(&error.into()),
        };
    }
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_FAILED),
        Err(error) => fail(&error),
    }
}

fn fail(error: &Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(if matches!(error, Error::NoGpu(_)) { EXIT_NO_GPU } else { EXIT_FAILED })
}

fn run(args: &Args) -> Result<bool, Error> {
    let found = first_use::find(&args.kernels)?;
    let device = Device::cuda(args.ordinal).map_err(Error::NoGpu)?;
    let provenance = provenance::of(&device, args.commit.as_deref())?;
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} kernels, {eta} left");
    let bar = ProgressBar::new((first_use::PASSES * found.len()) as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let uses = first_use::measure(&device, &found, &provenance, || bar.inc(1))?;
    bar.finish_and_clear();
    if let Some(file) = &args.json {
        let mut lines = Vec::new();
        for one in &uses {
            serde_json::to_writer(&mut lines, one)?;
            lines.write_all(b"\n")?;
        }
        std::fs::write(file, lines)?;
    }
    let (text, keeps) = first_use::summary(&uses);
    print!("{text}");
    Ok(keeps)
}
