//! Branches that threads of a warp take apart.

use gpu_core::Result;

use super::Row;
use super::launch::{branches, divergence as form};
use super::timing::Bench;

/// Table 5.6, and listings 5.2 and 5.3 with 64 blocks of 128 threads.
pub(super) fn divergence(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let steps = bench.pick(64, 1);
    for warps in [1, 2, 8, 16, 32] {
        for apart in [1, 2, 4, 8, 16, 32] {
            let cycles = bench
                .cycles(1, |stream, cycles| branches(stream, 32 * warps, cycles.view_mut(), apart, steps))?;
            let over = [f64::from(warps), f64::from(apart)];
            rows.push(Row::new("branches", "additions", over, cycles / f64::from(steps), "cycles"));
        }
    }
    let mut values = bench.device.zeroed::<f32>(64 * 128)?;
    let count = bench.pick(1000, 1);
    for (merged, name) in [(false, "divergent"), (true, "merged")] {
        let time = bench.among(count, || form(&bench.stream, merged, 128, values.view_mut()))?;
        rows.push(Row::new(name, "listing", [64.0, 128.0], time * 1e6, "us"));
    }
    Ok(())
}
