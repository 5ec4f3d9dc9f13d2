//! Table B.19: the same sum in a register, in global memory, atomically.

use gpu_core::Result;

use super::Row;
use super::launch::{Adding, add};
use super::timing::Bench;

/// As many threads as the thesis has, its slip 610 for 640 mended.
const THREADS: [u32; 11] = [16, 64, 128, 192, 256, 384, 512, 640, 768, 992, 1024];

/// Microseconds of a launch among many; and nanoseconds of a round of atomic additions, each thread one.
pub(super) fn sums(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let mut output = bench.device.zeroed::<u32>(1)?;
    for (how, of) in [(Adding::Register, "register"), (Adding::Global, "global"), (Adding::Atomic, "atomic")]
    {
        for times in THREADS {
            let count = bench.pick(200, 1);
            let time = bench.among(count, || add(&bench.stream, how, output.view_mut(), times, 1))?;
            rows.push(Row::new("sum", of, [f64::from(times), 0.0], time * 1e6, "us"));
        }
    }
    // What is less than a launch takes shows in many rounds.
    for threads in THREADS {
        let each = bench.slope(bench.pick([256, 4096], [1, 2]), |rounds| {
            add(&bench.stream, Adding::Atomic, output.view_mut(), threads, rounds)
        })?;
        rows.push(Row::new("atomic", "round", [f64::from(threads), 0.0], each * 1e9, "ns"));
    }
    Ok(())
}
