//! Medians of several runs.

use std::error::Error;
use std::time::Instant;

use gpu_core::{Kind, Stream};

/// Runs of each; their median is reported.
const RUNS: usize = 9;
/// A run on a GPU is repeated until it takes about so long, so that what surrounds it does not count.
const RUN_SECONDS: f64 = 3e-3;

/// The median time in seconds of what `enqueue` enqueues on `stream`: by events on a GPU, by the clock on the CPU,
/// and of a single run in the simulator.
///
/// # Errors
/// Those of `enqueue` and of the device.
pub fn seconds<E: Into<Box<dyn Error>>>(
    stream: &Stream,
    mut enqueue: impl FnMut() -> Result<(), E>,
) -> Result<f64, Box<dyn Error>> {
    let kind = stream.device().kind();
    if kind != Kind::Cuda {
        return median(if kind == Kind::Cpu { RUNS } else { 1 }, || {
            let start = Instant::now();
            enqueue().map_err(Into::into)?;
            stream.synchronize()?;
            Ok(start.elapsed().as_secs_f64())
        });
    }
    let mut several = |count: usize| -> Result<f64, Box<dyn Error>> {
        let start = stream.record()?;
        for _ in 0..count {
            enqueue().map_err(Into::into)?;
        }
        let end = stream.record()?;
        stream.synchronize()?;
        Ok(f64::from(end.elapsed_ms(&start)?) / 1e3 / count as f64)
    };
    // Two runs first: the one that compiles the kernel says nothing of how many fill the time.
    several(3)?;
    let count = (RUN_SECONDS / several(3)?).ceil().clamp(1.0, 1000.0) as usize;
    median(RUNS, || several(count))
}

/// The median of what `runs` runs give.
///
/// # Errors
/// The first that a run ends with.
pub fn median(
    runs: usize,
    mut run: impl FnMut() -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut times = (0..runs).map(|_| run()).collect::<Result<Vec<f64>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[runs / 2])
}
