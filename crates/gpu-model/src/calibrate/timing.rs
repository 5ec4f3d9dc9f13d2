//! Medians.

use std::time::Instant;

use gpu_core::{Buffer, Device, Result, Stream};

/// Rounds of which the median counts.
const ROUNDS: usize = 9;

/// The value in the middle.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Where and how often something is measured.
pub(super) struct Bench<'a> {
    pub(super) device: &'a Device,
    pub(super) stream: Stream,
    /// A thousandth of what a GPU is given: enough to see that kernels do what they should.
    pub(super) small: bool,
    pub(super) multiprocessors: u32,
    /// What kernels write clocks to: a number for each block.
    pub(super) cycles: Buffer<u64>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(device: &'a Device, small: bool) -> Result<Self> {
        let multiprocessors = if small { 2 } else { device.planned_multiprocessors() };
        let cycles = device.zeroed(4 * multiprocessors as usize)?;
        Ok(Self { device, stream: device.stream()?, small, multiprocessors, cycles })
    }

    /// `large` on a GPU, `small` elsewhere.
    pub(super) fn pick<T>(&self, large: T, small: T) -> T {
        if self.small { small } else { large }
    }

    fn rounds(&self) -> usize {
        self.pick(ROUNDS, 1)
    }

    /// Seconds of one of `count` that follow one another: of launches among many.
    pub(super) fn among(&self, count: usize, mut enqueue: impl FnMut() -> Result<()>) -> Result<f64> {
        enqueue()?;
        let mut times = Vec::new();
        for _ in 0..self.rounds() {
            let start = self.stream.record()?;
            for _ in 0..count {
                enqueue()?;
            }
            let end = self.stream.record()?;
            self.stream.synchronize()?;
            times.push(f64::from(end.elapsed_ms(&start)?) * 1e-3 / count as f64);
        }
        Ok(median(times))
    }

    /// Seconds of one by the host's clock, with nothing else under way, from the call until it has ended.
    pub(super) fn alone(&self, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
        self.rounds_of(self.pick(101, 1), || run().and_then(|()| self.stream.synchronize()))
    }

    /// Seconds of one by the host's clock, the median of `rounds`; `run` returns when it has ended.
    pub(super) fn rounds_of(&self, rounds: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
        run()?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            run()?;
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(median(times))
    }

    /// What one more of `few` to `many` takes: what every launch has besides is not in it.
    pub(super) fn slope(
        &self,
        [few, many]: [u32; 2],
        mut enqueue: impl FnMut(u32) -> Result<()>,
    ) -> Result<f64> {
        let count = self.pick(5, 1);
        let [short, long] = [self.among(count, || enqueue(few))?, self.among(count, || enqueue(many))?];
        Ok((long - short) / f64::from(many - few))
    }

    /// The median over `blocks` of the cycles that `enqueue` lets the kernel write, and over rounds.
    pub(super) fn cycles(
        &mut self,
        blocks: usize,
        mut enqueue: impl FnMut(&Stream, &mut Buffer<u64>) -> Result<()>,
    ) -> Result<f64> {
        let mut rounds = Vec::new();
        for _ in 0..self.pick(5, 1) {
            enqueue(&self.stream, &mut self.cycles)?;
            self.stream.synchronize()?;
            let cycles = self.cycles.slice(..blocks);
            let mut found = vec![0; blocks];
            cycles.copy_to(&mut found)?;
            rounds.push(median(found.into_iter().map(|one| one as f64).collect()));
        }
        Ok(median(rounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_in_the_middle() {
        assert_eq!(median(vec![5.0, 1.0, 3.0]), 3.0);
        assert!(median(Vec::new()).is_nan());
    }
}
