//! The CPU's histograms.

use gpu_sort_kernels::histogram::NO_BIN;
use rayon::prelude::*;

use super::sample::{HistogramCount, HistogramSample};

/// Samples that a core counts before it adds up what it has: many more than bins, and enough parts for all cores.
const PART: usize = 1 << 16;

/// Writes how many samples `bin` puts into each bin.
pub(super) fn count<T: HistogramSample, C: HistogramCount>(
    samples: &[T],
    bin: impl Fn(T) -> u32 + Sync,
    counts: &mut [C],
) {
    let bins = counts.len();
    let empty = || vec![C::default(); bins];
    let sum = samples
        .par_chunks(PART.max(4 * bins))
        .fold(empty, |mut counts, part| {
            for sample in part {
                // There is no bin `NO_BIN`, nor one for what lies at the last edge.
                if let Some(count) = counts.get_mut(bin(*sample) as usize) {
                    *count = count.next();
                }
            }
            counts
        })
        .reduce(empty, |mut left, right| {
            left.iter_mut().zip(right).for_each(|(left, right)| *left = left.plus(right));
            left
        });
    counts.copy_from_slice(&sum);
}

/// The bin of a sample between edges that do not decrease.
pub(super) fn between<T: HistogramSample>(edges: &[T], sample: T) -> u32 {
    // A sample that is no number is not behind any edge.
    (edges.partition_point(|edge| *edge <= sample) as u32).checked_sub(1).unwrap_or(NO_BIN)
}
