//! The CPU's reductions: the oracle of the kernels, and what a machine without a GPU computes with.
//!
//! They combine in the kernels' order (see [`gpu_kernels::reduce`]), so the results agree bit for bit. It costs the CPU
//! nothing: the accumulators of a block's threads are a row that vector instructions add to.

use gpu_kernels::reduce::{IDENTITY, THREADS, TILE};
use rayon::prelude::*;

use crate::plan::Plan;

/// Elements of a 16-byte load.
const LANES: usize = 4;
/// Accumulators of a block: four a thread.
const ROW: usize = THREADS as usize * LANES;
const WARPS: usize = THREADS as usize / 32;

/// The sum of `values`, on all cores; `0.0` for none.
///
/// ```
/// assert_eq!(gpu_reduce::reference::sum(&[1.0, 2.0, 3.5]), 6.5);
/// ```
pub fn sum(values: &[f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let plan = Plan::new(values.len());
    let each = usize::try_from(plan.elements_per_block()).unwrap_or(usize::MAX);
    let partials: Vec<f32> = values.par_chunks(each).map(sum_of_block).collect();
    if let [only] = partials[..] {
        return only;
    }
    // The finishing block: thread t takes partials t, t + THREADS, …
    let mut threads = [IDENTITY; THREADS as usize];
    for row in partials.chunks(THREADS as usize) {
        for (thread, partial) in threads.iter_mut().zip(row) {
            *thread += partial;
        }
    }
    sum_of_threads(&threads)
}

/// One block's sum: rows of accumulators, then the tree.
fn sum_of_block(values: &[f32]) -> f32 {
    let mut sums = [IDENTITY; ROW];
    for row in values.chunks(ROW) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let mut threads = [IDENTITY; THREADS as usize];
    for (thread, lanes) in threads.iter_mut().zip(sums.as_chunks::<LANES>().0) {
        *thread = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
    sum_of_threads(&threads)
}

/// The trees over the lanes of each warp and over the warps of the block.
fn sum_of_threads(threads: &[f32; THREADS as usize]) -> f32 {
    let mut warps = [IDENTITY; WARPS];
    for (warp, lanes) in warps.iter_mut().zip(threads.as_chunks::<32>().0) {
        *warp = tree(*lanes);
    }
    tree(warps)
}

/// Element `i` adds element `i + N / 2`, and so on: what a warp does with `shuffle_down`.
fn tree<const N: usize>(mut values: [f32; N]) -> f32 {
    let mut distance = N / 2;
    while distance > 0 {
        for i in 0..distance {
            values[i] += values[i + distance];
        }
        distance /= 2;
    }
    values[0]
}

// A row of accumulators is what the kernel's threads add in one load each; a tile is a whole number of rows.
const _: () = assert!((TILE as usize).is_multiple_of(ROW));

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers: every order gives the exact sum.
    #[test]
    fn whole_numbers_are_summed_exactly() {
        for len in [0usize, 1, 2, 31, 2047, 2048, 2049, 8191, 8192, 8193, 100_003, 8192 * 4096 + 1] {
            let values: Vec<f32> = (0..len).map(|i| if i % 3 == 0 { 1.0 } else { 0.0 }).collect();
            assert_eq!(sum(&values), len.div_ceil(3) as f32, "{len} elements");
        }
    }

    #[test]
    fn minus_zero_stays_and_nan_and_infinity_pass_through() {
        assert_eq!(sum(&[-0.0; 5]).to_bits(), (-0.0f32).to_bits());
        assert_eq!(sum(&[]).to_bits(), 0.0f32.to_bits());
        assert!(sum(&[1.0, f32::NAN]).is_nan());
        assert_eq!(sum(&[1.0, f32::INFINITY]), f32::INFINITY);
        assert!(sum(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
    }

    /// The bound of a tree of this shape: every input passes through at most `depth` additions, so the error is at
    /// most depth·u/(1 - depth·u) times the sum of magnitudes (Higham, Accuracy and Stability, section 4.2).
    #[test]
    fn the_error_is_within_the_bound_of_the_tree() {
        let len = 3_000_017;
        let values: Vec<f32> =
            (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 - 8e6).collect();
        let exact: f64 = values.iter().map(|&x| x as f64).sum();
        let magnitude: f64 = values.iter().map(|&x| x.abs() as f64).sum();
        let plan = Plan::new(len);
        let depth = (plan.elements_per_block() as usize / ROW + 2 + 5 + 4)
            + plan.blocks as usize / THREADS as usize
            + 1
            + 9;
        let u = f32::EPSILON as f64 / 2.0;
        let bound = depth as f64 * u / (1.0 - depth as f64 * u) * magnitude;
        assert!((sum(&values) as f64 - exact).abs() <= bound);
    }
}
