//! The sum of a whole array of floats in whatever order the blocks end: each adds its result to the output.
//!
//! Tiles, threads' accumulators and the block's trees are those of [`whole`](super::whole()); what is left out is the fixed order of
//! the blocks' results. There is no ticket, nothing waits, and no scratch memory is needed: one atomic addition a block, of up to
//! 2048, which the second-level cache does. The output is zero before the launch. 16-bit floats have no such kernel, their result
//! being rounded once at the end; of integers the order does not show.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::thread::{block_idx_x, grid_dependency_synchronize, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel, shared, unroll};

use super::item::{Item, Source};
use super::operator::Reduction;
use super::operators::Sum;
use super::whole::{block_result, publishes, take_end, take_tile};
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
    source: <R::Item as Item>::Source,
    len: u64,
    tiles_per_block: u64,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == super::per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    const { assert!(THREADS * (V * L) as u32 == tile::<R::Item>()) };
    let warp_results = shared::dynamic().array::<u32>(WARPS * publishes::<R>());
    let thread = thread_idx_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    let tile = tile::<R::Item>();
    let begin = block_idx_x() as u64 * tiles_per_block * tile as u64;
    let end = (begin + tiles_per_block * tile as u64).min(len);
    let whole_loads = source.is_aligned();
    let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(thread * V as u32 + lane as u32));
    let mut base = begin;
    if whole_loads {
        while end - base >= tile as u64 {
            take_tile::<R, V, A, L>(&mut locals, source.offset(base), (base - begin) as u32);
            base += tile as u64;
        }
    }
    while base < end {
        let (left, offset) = ((end - base).min(tile as u64) as u32, (base - begin) as u32);
        take_end::<R, V, A, L>(&mut locals, source.offset(base), left, whole_loads, offset);
        base += tile as u64;
    }
    let mut results: [R::Accumulator; A] = core::array::from_fn(|lane| R::widen(locals[lane], begin));
    unroll::<A>(|i| {
        if i % 2 == 1 {
            results[i - 1] = R::combine(results[i - 1], results[i]);
        }
    });
    if A > 2 {
        results[0] = R::combine(results[0], results[A / 2]);
    }
    let result = block_result::<R>(results[0], warp_results);
    if thread == 0 {
        AtomicSum::add(output, R::output(result, 0));
    }
}

macro_rules! kernels {
    ($($module:ident $name:ident: $t:ty, $v:literal, $a:literal;)*) => { $(
        /// Adds the sum of `len` elements of `input` to `output`. How to launch it is said at [`unordered`].
        #[kernel(module = $module, launch_bounds(256, 6), programmatic)]
        pub fn $name(input: Global<$t>, len: u64, tiles_per_block: u64, output: GlobalMut<$t>) {
            unordered::<Sum<$t>, $v, $a, 4>(input, len, tiles_per_block, output);
        }
    )* };
}
kernels! {
    reduce_unordered_f32 sum_unordered_f32: f32, 4, 4;
    reduce_unordered_f64 sum_unordered_f64: f64, 2, 2;
}
