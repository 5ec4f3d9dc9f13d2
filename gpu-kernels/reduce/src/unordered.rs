//! The sum of a whole array of floats in whatever order the blocks end: each adds its result to the output.
//!
//! Tiles, threads' accumulators and the block's trees are those of [`whole`](super::whole()); what is left out is the
//! fixed order of the blocks' results. There is no ticket, nothing waits, and no scratch memory is needed: one atomic
//! addition a block, of up to 2048, which the second-level cache does. The output is zero before the launch. 16-bit
//! floats have no such kernel, their result being rounded once at the end; of integers the order does not show.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::thread::{grid_dependency_synchronize, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel, shared};

use super::computed::SourceOf;
use super::operator::Reduction;
use super::operators::Sum;
use super::whole::{block_result, of_tiles, publishes};
use super::{THREADS, WARPS, tile};

/// A type of elements that memory can add to.
pub trait AtomicSum: Element {
    /// Adds `value` to the first element of `output`. Of `f32` subnormal values and results become zero.
    fn add(output: GlobalMut<Self>, value: Self);
}

impl AtomicSum for f32 {
    #[inline(always)]
    fn add(output: GlobalMut<f32>, value: f32) {
        output.atomic(0).fetch_add(value, Ordering::Relaxed, Scope::Device);
    }
}

impl AtomicSum for f64 {
    #[inline(always)]
    fn add(output: GlobalMut<f64>, value: f64) {
        output.atomic(0).fetch_add(value, Ordering::Relaxed, Scope::Device);
    }
}

/// Adds the reduction `R`, a sum, of `len` items of `source` to `output[0]`.
///
/// To be launched as [`whole`](super::whole()), of which it has all parameters but the scratch memory.
#[device]
#[inline(always)]
pub fn unordered<R: Reduction<Output: AtomicSum>, const V: usize, const A: usize, const L: usize>(
    source: SourceOf<R>,
    len: u64,
    tiles_per_block: u64,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == super::per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    const { assert!(THREADS * (V * L) as u32 == tile::<R::Item>()) };
    let warp_results = shared::dynamic().array::<u32>(WARPS * publishes::<R>());

    grid_dependency_synchronize();
    trigger_launch_completion();

    let own = of_tiles::<R, V, A, L>(source, len, tiles_per_block);
    let result = block_result::<R>(source, own, warp_results);
    if thread_idx_x() == 0 {
        AtomicSum::add(output, R::output(result, 0));
    }
}

macro_rules! kernels {
    ($($images:ident $name:ident: $t:ty, $v:literal, $a:literal;)*) => { $(
        /// Adds the sum of `len` elements of `input` to `output`. How to launch it is said at [`unordered`].
        #[kernel(images = $images, launch_bounds(256, 6), programmatic)]
        pub fn $name(input: Global<$t>, len: u64, tiles_per_block: u64, output: GlobalMut<$t>) {
            unordered::<Sum<$t>, $v, $a, 4>(input, len, tiles_per_block, output);
        }
    )* };
}
kernels! {
    sm_75_90 sum_unordered_f32: f32, 4, 4;
    sm_75_90 sum_unordered_f64: f64, 2, 2;
}
