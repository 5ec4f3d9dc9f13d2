//! The first result of a fresh process: what a program waits for before anything is loaded or compiled.
//!
//! The program starts itself with a hidden subcommand. The child makes the device's context, and times apart how long
//! that takes and how long it then takes to upload an array and sum it, compilation of the PTX included. Children run
//! one after the other, with the driver's cache of compiled kernels switched off ([`Mode::FreshProcess`]) or left as
//! the user has it ([`Mode::FreshProcessCached`]).

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::cli::Target;
use crate::data;
use crate::error::Error;
use crate::report::{Clock, Mode, Timing};
use crate::session;
use crate::stats::Summary;

/// What a child found, as it prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Child {
    /// Milliseconds until the device's context was there.
    pub context_ms: f64,
    /// Milliseconds from then to the result.
    pub first_ms: f64,
    /// The bits of the result.
    pub bits: u32,
}

/// The child: times its own first result.
///
/// # Errors
/// [`Error::NoGpu`], and those of the device and the sum.
pub fn child(target: Target, ordinal: u32, len: usize) -> Result<Child, Error> {
    let values = data::values::<f32>(len);

    let start = Instant::now();
    let device = session::open(target, ordinal)?;
    device.synchronize()?;
    let context_ms = start.elapsed().as_secs_f64() * 1e3;

    let start = Instant::now();
    let buffer = device.upload(&values)?;
    let sum = gpu_reduce::sum(&buffer)?;
    let first_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(Child { context_ms, first_ms, bits: sum.to_bits() })
}

/// How children are started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program: `bench-gpu`.
    pub program: PathBuf,
    /// Its device …
    pub target: Target,
    /// … and which of several.
    pub ordinal: u32,
    /// Elements to sum.
    pub len: usize,
    /// Children a result.
    pub children: usize,
}

/// Context creation and first result, timed in `setup.children` processes: in this order.
///
/// # Errors
/// [`Error::Child`] and [`Error::WrongFirst`].
pub fn measure(setup: &Setup, mode: Mode) -> Result<[Timing; 2], Error> {
    let expected = gpu_reduce::reference::sum(&data::values::<f32>(setup.len));
    let mut found = Vec::new();
    if mode == Mode::FreshProcessCached {
        // This one fills the cache.
        run(setup, mode)?;
    }
    for _ in 0..setup.children.max(1) {
        let child = run(setup, mode)?;
        if child.bits != expected.to_bits() {
            return Err(Error::WrongFirst { expected, actual: f32::from_bits(child.bits) });
        }
        found.push(child);
    }
    let timing = |time: fn(&Child) -> f64| {
        let summary = Summary::of(&found.iter().map(time).collect::<Vec<_>>()).ok_or(Error::Clock)?;
        Ok::<_, Error>(Timing { mode, clock: Clock::Wall, summary, launches: 1 })
    };
    Ok([timing(|child| child.context_ms)?, timing(|child| child.first_ms)?])
}

fn run(setup: &Setup, mode: Mode) -> Result<Child, Error> {
    let mut command = Command::new(&setup.program);
    command.args(["--device", setup.target.name()]).args(["--ordinal", &setup.ordinal.to_string()]).args([
        "first-result",
        "--len",
        &setup.len.to_string(),
    ]);
    if mode == Mode::FreshProcess {
        command.env("CUDA_CACHE_DISABLE", "1");
    }
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Child { status: output.status.to_string(), message });
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_the_reference_s_bits() {
        for target in [Target::Cpu, Target::Simulator] {
            let child = child(target, 0, 3000).expect("it needs no GPU");
            assert_eq!(child.bits, gpu_reduce::reference::sum(&data::values::<f32>(3000)).to_bits());
            assert!(child.context_ms >= 0.0 && child.first_ms > 0.0);
        }
    }

    #[test]
    fn a_child_that_fails_or_lies_is_an_error() {
        let setup = |program: &str| Setup {
            program: program.into(),
            target: Target::Cpu,
            ordinal: 0,
            len: 8,
            children: 1,
        };
        let failed = measure(&setup("false"), Mode::FreshProcess).expect_err("it ends with 1");
        assert!(matches!(failed, Error::Child { .. }), "{failed}");
        let silent = measure(&setup("true"), Mode::FreshProcess).expect_err("it prints nothing");
        assert!(matches!(silent, Error::Json(_)), "{silent}");
    }
}
