//! Latencies.

use gpu_calibrate_kernels::{CHASE_ATOMIC, CHASE_CACHED, CHASE_VOLATILE};
use gpu_core::Result;

use super::Row;
use super::launch::{barrier, chase, shared};
use super::timing::Bench;

/// A ring of words `stride` apart in a window of `words`: each holds the next one's index.
fn ring(words: usize, stride: usize) -> Vec<u32> {
    let mut links = vec![0; words];
    let places: Vec<usize> = (0..words).step_by(stride).collect();
    for (at, &place) in places.iter().enumerate() {
        links[place] = places[(at + 1) % places.len()] as u32;
    }
    links
}

/// An access that waits for the one before: in the first-level cache, the second, memory; and atomic additions.
///
/// Words lie 33 lines of 128 bytes apart, so that they meet all parts of a cache, and pages of 2 MiB are used many times
/// before the next; in the first-level cache a line. `memory_far`: each in a page of its own, whose address has to be
/// translated first.
pub(super) fn memory(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    const APART: usize = 33 * 32;
    const PAGE: usize = 1 << 19;
    for (level, how, words, stride) in [
        ("l1", CHASE_CACHED, 1_usize << 12, 32),
        ("l2", CHASE_VOLATILE, 1 << 20, APART),
        ("l2_atomic", CHASE_ATOMIC, 1 << 20, APART),
        ("memory", CHASE_VOLATILE, 1 << 27, APART),
        ("memory_far", CHASE_VOLATILE, 1 << 29, PAGE + APART),
    ] {
        let words = bench.pick(words, words.min(1 << 13));
        let places = words.div_ceil(stride);
        // Of what fits into a cache so many rounds that the first, which fills it, does not count; of memory one that
        // meets no line twice.
        let steps = if level.starts_with("memory") { places } else { bench.pick(32_768, 4 * places) };
        let mut links = bench.device.upload(&ring(words, stride))?;
        // Written before each round of memory, so that nothing of the ring is left in a cache.
        let mut other = bench.device.zeroed::<u32>(if level.starts_with("memory") { words } else { 1 })?;
        let cycles = bench.cycles(1, |stream, cycles| {
            stream.memset(&mut other, 1)?;
            chase(stream, links.view_mut(), cycles.view_mut(), steps as u32, how)
        })?;
        rows.push(Row::new("latency", level, [words as f64 * 4.0, 0.0], cycles / steps as f64, "cycles"));
    }
    Ok(())
}

/// Accesses to shared memory over strides of the lanes: of one warp, each waiting for the one before, and of 32, as
/// often as they can.
fn shared_of(bench: &mut Bench<'_>, threads: u32, stride: u32) -> Result<f64> {
    let steps = bench.pick(4096, 8);
    let cycles =
        bench.cycles(1, |stream, cycles| shared(stream, [1, threads], cycles.view_mut(), stride, steps))?;
    Ok(cycles / f64::from(steps))
}

/// See [`shared_of`].
pub(super) fn shared_memory(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    for stride in [0, 1, 2, 4, 8, 16, 32] {
        let over = [f64::from(stride), 0.0];
        rows.push(Row::new("shared", "one warp", over, shared_of(bench, 32, stride)?, "cycles"));
        let each = shared_of(bench, 1024, stride)? / 32.0;
        rows.push(Row::new("shared_many", "32 warps", over, each, "cycles"));
    }
    Ok(())
}

/// Barriers over warps.
pub(super) fn barriers(bench: &mut Bench<'_>, rows: &mut Vec<Row>) -> Result<()> {
    for threads in [32, 64, 128, 256, 512, 1024] {
        let steps = bench.pick(4096, 4);
        let cycles = bench.cycles(1, |stream, cycles| barrier(stream, threads, cycles.view_mut(), steps))?;
        let over = [f64::from(threads / 32), 0.0];
        rows.push(Row::new("barrier", "block", over, cycles / f64::from(steps), "cycles"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_comes_back_to_where_it_began() {
        let links = ring(100, 33);
        let mut places = vec![0];
        while places.len() < 5 {
            places.push(links[places[places.len() - 1] as usize]);
        }
        assert_eq!(places, [0, 33, 66, 99, 0]);
    }
}
