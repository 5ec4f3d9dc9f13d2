//! What levels of memory move, lines that loads and stores touch, and instructions.

use gpu_calibrate_kernels::{
    ISSUE_F32, ISSUE_F64, ISSUE_I32, ISSUE_LOGIC, ISSUE_ROOT, ISSUE_SHUFFLE, ISSUES, READS,
};
use gpu_core::Result;

use super::Row;
use super::launch::{Once, gather, issue, once, read, scatter};
use super::timing::Bench;

/// Threads of a block that fills half of a multiprocessor.
const THREADS: u32 = 1024;

/// Instructions by class: cycles of one that waits for the one before, and lanes that start one in a cycle.
pub(super) fn instructions(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let turns = bench.pick(256, 1);
    for (class, what, each) in [
        ("f32", ISSUE_F32, 1),
        ("f64", ISSUE_F64, 1),
        ("i32", ISSUE_I32, 1),
        ("logic", ISSUE_LOGIC, 2),
        ("root", ISSUE_ROOT, 1),
        ("shuffle", ISSUE_SHUFFLE, 1),
    ] {
        let count = f64::from(turns * ISSUES * each);
        let mut cycles = |threads: u32| {
            bench.cycles(1, |stream, cycles| issue(stream, [1, threads], cycles.view_mut(), what, turns))
        };
        let (alone, full) = (cycles(32)?, cycles(THREADS)?);
        rows.push(Row::new("issue", class, [32.0, 0.0], alone / count, "cycles"));
        let lanes = f64::from(THREADS) * count / full;
        rows.push(Row::new("issue_many", class, [THREADS.into(), 0.0], lanes, "lanes a cycle"));
    }
    // The frequency: cycles of the device over seconds of its events.
    let blocks = bench.multiprocessors;
    let range = bench.pick([4096, 16_384], [1, 2]);
    let seconds = bench.slope(range, |turns| {
        issue(
            &bench.stream,
            [blocks, 128],
            bench.device.zeroed(blocks as usize)?.view_mut(),
            ISSUE_F32,
            turns,
        )
    })?;
    let mut cycles = |turns| {
        bench.cycles(1, |stream, cycles| issue(stream, [1, 128], cycles.view_mut(), ISSUE_F32, turns))
    };
    let difference = cycles(range[1])? - cycles(range[0])?;
    let value = difference / f64::from(range[1] - range[0]) / seconds * 1e-9;
    rows.push(Row::new("clock", "multiprocessors", [0.0, 0.0], value, "GHz"));
    Ok(())
}

/// Reads that hit in a cache: of every multiprocessor, and of one alone.
pub(super) fn caches(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let units = bench.multiprocessors;
    let threads = bench.pick(THREADS, 64);
    let words = bench.pick(1 << 22, 1 << 12);
    let input = bench.device.zeroed::<u32>(words)?;
    let mut output = bench.device.zeroed::<u32>(1)?;
    let window = words as u32 - 1;
    for (of, blocks, apart, mask) in
        [("l1", 2 * units, 0, 4095), ("l2", 2 * units, 16 * threads, window), ("l2_alone", 1, 0, window)]
    {
        let range = bench.pick([64, 320], [1, 2]);
        let each = bench.slope(range, |turns| {
            read(&bench.stream, [blocks, threads], input.view(), output.view_mut(), [apart, mask, turns])
        })?;
        let bytes = f64::from(blocks) * f64::from(threads) * f64::from(READS) * 16.0;
        rows.push(Row::new("read", of, [f64::from(blocks), 0.0], bytes / each * 1e-9, "GB/s"));
    }
    Ok(())
}

/// Arrays that no cache holds, read, written and copied once.
pub(super) fn streams(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let words = bench.pick(1_usize << 28, 1 << 10);
    let input = bench.device.zeroed::<u32>(words)?;
    let mut output = bench.device.zeroed::<u32>(words)?;
    for (of, which, moved) in
        [("read", Once::Read, 1.0), ("write", Once::Write, 1.0), ("copy", Once::Copy, 2.0)]
    {
        for (each, threads) in [(1, 1024), (2, 1024), (4, 512), (8, 256), (64, 256)] {
            let blocks = each * bench.multiprocessors;
            let time = bench.among(bench.pick(4, 1), || {
                once(&bench.stream, which, [blocks, threads], input.view(), output.view_mut())
            })?;
            let over = [f64::from(each * threads), f64::from(threads)];
            rows.push(Row::new("stream", of, over, moved * words as f64 * 4.0 / time * 1e-9, "GB/s"));
        }
    }
    Ok(())
}

/// Requests of 32 lanes whose words lie apart: loads that hit in the first-level cache, in cycles of a multiprocessor;
/// and stores, in requests that all multiprocessors, or one alone, hand over in a second.
pub(super) fn lines(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    let units = bench.multiprocessors;
    let threads = bench.pick(THREADS, 64);
    let input = bench.device.zeroed::<u32>(1024)?;
    for stride in [1, 2, 4, 8, 16, 32] {
        let steps = bench.pick(256, 1);
        let cycles = bench.cycles(1, |stream, cycles| {
            gather(stream, [1, threads], input.view(), cycles.view_mut(), [stride, 1023, steps])
        })?;
        let requests = f64::from(steps * 4 * threads / 32);
        rows.push(Row::new("gather", "l1", [f64::from(stride), 0.0], cycles / requests, "cycles"));
    }
    let mask = bench.pick((1 << 14) - 1, 1023);
    let mut output = bench.device.zeroed::<u32>(2 * units as usize * (mask as usize + 1))?;
    for (of, blocks) in [("all", 2 * units), ("alone", 1)] {
        for stride in [1, 2, 8, 32] {
            let range = bench.pick([32, 160], [1, 2]);
            let each = bench.slope(range, |steps| {
                scatter(&bench.stream, [blocks, threads], output.view_mut(), [stride, mask, steps])
            })?;
            let requests = f64::from(blocks * threads / 32);
            rows.push(Row::new("scatter", of, [f64::from(stride), 0.0], requests / each * 1e-9, "GHz"));
        }
    }
    Ok(())
}
