//! Launches, blocks, and waves of them.

use gpu_core::Result;

use super::Row;
use super::launch::{Empty, copy, empty};
use super::timing::Bench;

/// Table 5.5, among many and alone; and launches that wait for the one before by themselves.
pub(super) fn launches(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let count = bench.pick(1000, 2);
    for (which, arguments) in [(Empty::None, 0.0), (Empty::One, 1.0), (Empty::Three, 3.0), (Empty::Six, 6.0)]
    {
        for blocks in [1, 16, 64] {
            let over = [f64::from(blocks), arguments];
            let launch = || empty(&bench.stream, which, [blocks, 32], 0);
            rows.push(Row::new("launch", "plain", over, bench.among(count, launch)? * 1e6, "us"));
            rows.push(Row::new("launch_alone", "plain", over, bench.alone(launch)? * 1e6, "us"));
        }
    }
    for blocks in [1, 16, 64, bench.multiprocessors] {
        let launch = || empty(&bench.stream, Empty::Dependent, [blocks, 32], 0);
        let value = bench.among(count, launch)? * 1e6;
        rows.push(Row::new("launch", "dependent", [f64::from(blocks), 0.0], value, "us"));
    }
    Ok(())
}

/// Blocks that do nothing: what one more for each multiprocessor takes, in ns, with as many resident as can be and with
/// one alone, which cannot start before the one before has ended; and what launches of many take besides, in µs.
pub(super) fn blocks(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let units = bench.multiprocessors;
    // All the shared memory that a block can have: there is no second one beside it.
    let alone = bench.device.properties().map_or(0, |properties| properties.shared_per_block_optin);
    let range @ [few, _] = bench.pick([64, 1024], [1, 2]);
    for (of, which, shared) in
        [("empty", Empty::None, 0), ("alone", Empty::None, alone), ("dependent", Empty::Dependent, 0)]
    {
        for threads in [32, 64, 128, 256, 512, 1024] {
            let launch = |turns| empty(&bench.stream, which, [turns * units, threads], shared);
            let each = bench.slope(range, launch)?;
            let over = [f64::from(threads), 0.0];
            rows.push(Row::new("block", of, over, each * 1e9, "ns"));
            let all = bench.among(bench.pick(50, 1), || launch(few))?;
            rows.push(Row::new("gap", of, over, (all - each * f64::from(few)) * 1e6, "us"));
        }
    }
    Ok(())
}

/// Copies of a word a thread, plain and through shared memory with a barrier; of more than the second-level cache
/// holds, and of what it holds.
pub(super) fn waves(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    for (words, level) in [(1_usize << 26, "memory"), (1 << 21, "l2")] {
        let words = bench.pick(words, 1 << 12);
        let input = bench.device.zeroed::<u32>(words)?;
        let mut output = bench.device.zeroed::<u32>(words)?;
        for threads in [32, 64, 128, 256, 512, 1024] {
            for (pass, of) in [(false, "copy"), (true, "pass")] {
                let count = bench.pick(if level == "l2" { 100 } else { 5 }, 1);
                let time = bench
                    .among(count, || copy(&bench.stream, pass, threads, input.view(), output.view_mut()))?;
                let of = format!("{of}_{level}");
                rows.push(Row::new("wave", &of, [f64::from(threads), words as f64], time * 1e6, "us"));
            }
        }
    }
    Ok(())
}
