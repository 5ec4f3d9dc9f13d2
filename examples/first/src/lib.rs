//! What the examples share that the first ones need: `photo`, `image_filter` and `heat`, which the README begins with.
//!
//! They are a package of their own so that they depend on what they call only: gpu-linalg and gpu-sparse alone take
//! longer to compile than all of theirs. The other examples find all of it in gpu-examples.

pub mod plate;
pub mod table;
pub mod timing;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The photograph that comes with the examples.
pub fn raccoon() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("images").join("raccoon.jpg")
}

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
