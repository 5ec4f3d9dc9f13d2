//! What the examples share.
//!
//! Functions that launch kernels, read files or draw are `#[inline]`: each is compiled with the examples that call it,
//! so that building one example does not wait for what the others need.

pub mod additions;
pub mod chart;
pub mod choice;
pub mod convolutions;
pub mod device;
pub mod model;
pub mod plate;
pub mod predicted;
pub mod products;
pub mod reductions;
pub mod scans;
pub mod structures;
pub mod table;
pub mod timing;
pub mod transpositions;

use std::error::Error;
use std::process::ExitCode;

/// Success, or failure after printing what went wrong and what caused it.
pub fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprintln!("  because: {error}");
        cause = error.source();
    }
    ExitCode::FAILURE
}
