//! The CPU's histograms.

use gpu_core::cores;
use gpu_sort_kernels::histogram::NO_BIN;

use super::sample::{HistogramCount, HistogramSample};

/// Samples of which a core has at least as many, or many more than bins.
const PART: usize = 1 << 16;

/// Writes how many samples `bin` puts into each bin.
pub(super) fn count<T: HistogramSample, C: HistogramCount>(
    samples: &[T],
    bin: impl Fn(T) -> u32 + Sync,
    counts: &mut [C],
) {
    let bins = counts.len();
    let parts = samples.len().div_ceil(PART.max(4 * bins));
    let cores = cores::count().min(parts);
    let of_cores = cores::collect(cores, |core| {
        let mut counts = vec![C::default(); bins];
        for sample in &samples[samples.len() * core / cores..samples.len() * (core + 1) / cores] {
            // There is no bin `NO_BIN`, nor one for what lies at the last edge.
            if let Some(count) = counts.get_mut(bin(*sample) as usize) {
                *count = count.next();
            }
        }
        counts
    });
    counts.fill(C::default());
    for of_core in of_cores {
        counts.iter_mut().zip(of_core).for_each(|(sum, count)| *sum = sum.plus(count));
    }
}

/// The bin of a sample between edges that do not decrease.
pub(super) fn between<T: HistogramSample>(edges: &[T], sample: T) -> u32 {
    // A sample that is no number is not behind any edge.
    (edges.partition_point(|edge| *edge <= sample) as u32).checked_sub(1).unwrap_or(NO_BIN)
}
