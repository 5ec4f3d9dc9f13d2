//! The GPU harness: see `--help`.

use std::process::ExitCode;

use clap::Parser;
use gpu_benches::cli::{Args, EXIT_FAILED, EXIT_NO_GPU, Hidden};
use gpu_benches::{Error, first_result, run};

fn main() -> ExitCode {
    match start(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, Error::NoGpu(_)) { EXIT_NO_GPU } else { EXIT_FAILED })
        }
    }
}

fn start(args: &Args) -> Result<ExitCode, Error> {
    if let Some(Hidden::FirstResult { len }) = args.hidden {
        let child = first_result::child(args.device, args.ordinal, len)?;
        println!("{}", serde_json::to_string(&child)?);
        return Ok(ExitCode::SUCCESS);
    }
    if args.list {
        for case in run::list(args)? {
            println!("{}{}", case.name(), if case.is_long() { "  (only with --filter)" } else { "" });
        }
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = run::run(args, std::env::current_exe()?)?;
    print!("{}", outcome.table());
    if let Some(slowest) = outcome.slowest_order() {
        eprintln!("{slowest}");
    }
    for (name, error) in &outcome.skipped {
        eprintln!("skipped {name}: {error}");
    }
    for (name, error) in &outcome.failed {
        eprintln!("FAILED {name}: {error}");
    }
    let (measured, skipped, failed) = (outcome.records.len(), outcome.skipped.len(), outcome.failed.len());
    eprintln!("{measured} results, {skipped} cases skipped, {failed} failed");
    Ok(if failed > 0 { ExitCode::from(EXIT_FAILED) } else { ExitCode::SUCCESS })
}
