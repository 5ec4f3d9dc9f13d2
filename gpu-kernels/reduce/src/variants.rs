//! The textbook's sums: what each lesson about divergence, banks and idle threads changes, and nothing else.
//!
//! They are the seven stages of M. Harris, *Optimizing Parallel Reduction in CUDA* (NVIDIA, 2007), as C. González
//! told them for `double` (Universidad Politécnica de Valencia, 2012), and the algorithm that came of them. A block
//! of [`BLOCK`] threads fills a tile of shared memory, adds it up in a tree, and writes one value; the host launches
//! the kernel on what it wrote, until one value is left.
//!
//! | kernels | a block takes | the tree | the lesson |
//! |---|---|---|---|
//! | `sum_divergent_*` | an element a thread | every second, fourth, … thread, picked by a modulo | a warp goes both ways of a branch, and a modulo is slow |
//! | `sum_strided_*` | the same | the first threads, at strided places | no divergence, but the strides meet in few banks |
//! | `sum_sequential_*` | the same | the first threads, at consecutive places | no conflicts, but half of the threads never add |
//! | `sum_first_add_*` | two a thread | the same | half as many blocks, each with all its threads at work once |
//! | `sum_last_warp_*` | an element a thread | the same, its end unrolled | the last warp needs no barrier of the block |
//! | `sum_first_add_last_warp_*` | two a thread | the same | both |
//! | `sum_unrolled_*` | two a thread | all of it unrolled | no loop, once the block's size is a constant |
//! | `sum_several_*` | pairs, a grid apart | all of it unrolled | more sums a thread, fewer trees |
//! | `sum_final_global_*`, `sum_final_shared_*` | everything: there is one block | consecutive places | running sums in global memory, or in shared |
//!
//! The originals have no bounds: lengths are multiples of the block. These take any; what lies beyond the end counts
//! as 0. Where the originals let the last warp go on without synchronisation, on `volatile` memory, these synchronise
//! the warp, between a step's loads and its stores too: lanes no longer move in lockstep.
//!
//! The fast sum is [`super::whole()`].

use gpu_std::memory::{Element, Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::warp::sync_warp;
use gpu_std::{device, kernel};

use super::number::{Number, Register};

/// Threads of a block: a power of two, as all these trees need, and what the literature measured with.
pub const BLOCK: u32 = 512;

/// Dynamic shared memory of a kernel with a tile, in bytes: an element a thread.
pub const fn shared_bytes<T: Element>() -> u32 {
    SharedLayout::new().array::<T>(BLOCK).bytes()
}

/// What is added: a type that is computed with as it is stored.
trait Value: Number<Register = Self> + Register {}
impl<T: Number<Register = T> + Register> Value for T {}

// ---- What a block takes --------------------------------------------------------------------------------------------

/// Element `index`, or 0 beyond the end.
#[device]
#[inline(always)]
fn element<T: Value>(input: Global<T>, len: u64, index: u64) -> T {
    if index < len { input.offset(index).read(0) } else { T::ZERO }
}

/// One element a thread.
#[device]
#[inline(always)]
fn take_one<T: Value>(tile: Shared<T>, input: Global<T>, len: u64) {
    let index = block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64;
    tile.write(thread_idx_x(), element(input, len, index));
}

/// The sum of two elements a thread, a block apart: both loads are of consecutive elements.
#[device]
#[inline(always)]
fn take_two<T: Value>(tile: Shared<T>, input: Global<T>, len: u64) {
    let block = block_dim_x() as u64;
    let index = block_idx_x() as u64 * (2 * block) + thread_idx_x() as u64;
    tile.write(thread_idx_x(), element(input, len, index).plus(element(input, len, index + block)));
}

/// The same for every so many elements as the grid takes at once, until the end.
#[device]
#[inline(always)]
fn take_several<T: Value>(tile: Shared<T>, input: Global<T>, len: u64) {
    let thread = thread_idx_x();
    let mut index = block_idx_x() as u64 * (2 * BLOCK as u64) + thread as u64;
    let grid = 2 * BLOCK as u64 * grid_dim_x() as u64;
    tile.write(thread, T::ZERO);
    // Mutants: behind the end zeros are added.
    while index < len {
        let two = element(input, len, index).plus(element(input, len, index + BLOCK as u64));
        tile.write(thread, tile.read(thread).plus(two));
        index += grid;
    }
}

// ---- How a block adds it up ----------------------------------------------------------------------------------------

/// Adds the tile's element `from` to its element `to`.
#[device]
#[inline(always)]
fn add<T: Value>(tile: Shared<T>, to: u32, from: u32) {
    tile.write(to, tile.read(to).plus(tile.read(from)));
}

/// Threads 0, 2, 4, …, then 0, 4, 8, …: those that work are spread over all warps.
#[device]
#[inline(always)]
fn tree_divergent<T: Value>(tile: Shared<T>) {
    let thread = thread_idx_x();
    let mut distance = 1;
    while distance < block_dim_x() {
        if thread.is_multiple_of(2 * distance) {
            add(tile, thread, thread + distance);
        }
        sync_threads();
        distance *= 2;
    }
}

/// The same additions by threads 0, 1, 2, …: whole warps work or rest, until less than one is left.
#[device]
#[inline(always)]
fn tree_strided<T: Value>(tile: Shared<T>) {
    let mut distance = 1;
    while distance < block_dim_x() {
        let place = 2 * distance * thread_idx_x();
        if place < block_dim_x() {
            add(tile, place, place + distance);
        }
        sync_threads();
        distance *= 2;
    }
}

/// The first half adds the second to itself, while more than `LEFT` elements are left.
#[device]
#[inline(always)]
fn tree_halves<T: Value, const LEFT: u32>(tile: Shared<T>) {
    let thread = thread_idx_x();
    let mut half = block_dim_x() / 2;
    while half >= const { LEFT } {
        if thread < half {
            add(tile, thread, thread + half);
        }
        sync_threads();
        half /= 2;
    }
}

/// All of the tree, in a loop.
#[device]
#[inline(always)]
fn tree_sequential<T: Value>(tile: Shared<T>) {
    tree_halves::<T, 1>(tile);
}

/// In a loop down to 64 elements; those by one warp, without the block's barriers.
#[device]
#[inline(always)]
fn tree_last_warp<T: Value>(tile: Shared<T>) {
    tree_halves::<T, 64>(tile);
    if thread_idx_x() < 32 {
        last_warp(tile);
    }
}

/// All of the tree without a loop.
#[device]
#[inline(always)]
fn tree_unrolled<T: Value>(tile: Shared<T>) {
    const { assert!(BLOCK == 512) };
    let thread = thread_idx_x();
    if thread < 256 {
        add(tile, thread, thread + 256);
    }
    sync_threads();
    if thread < 128 {
        add(tile, thread, thread + 128);
    }
    sync_threads();
    if thread < 64 {
        add(tile, thread, thread + 64);
    }
    sync_threads();
    if thread < 32 {
        last_warp(tile);
    }
}

/// One warp adds up 64 elements. As in the original all lanes take part in every step; what lanes beyond the step's
/// distance compute is of no use, and nobody uses it.
#[device]
#[inline(always)]
fn last_warp<T: Value>(tile: Shared<T>) {
    step(tile, 32);
    step(tile, 16);
    step(tile, 8);
    step(tile, 4);
    step(tile, 2);
    step(tile, 1);
}

/// Each lane adds the element `distance` further on. That may be another lane's own: all load before any stores.
#[device]
#[inline(always)]
fn step<T: Value>(tile: Shared<T>, distance: u32) {
    let lane = thread_idx_x();
    let sum = tile.read(lane).plus(tile.read(lane + distance));
    sync_warp(u32::MAX);
    tile.write(lane, sum);
    sync_warp(u32::MAX);
}

// ---- The algorithm that came of them, in one block -----------------------------------------------------------------

/// In global memory, where `sums` has an element for each thread. Accesses are volatile, so that every one of them
/// happens, as the literature counts them: two loads and a store for each element.
#[device]
#[inline(always)]
fn final_global<T: Value>(input: Global<T>, len: u64, sums: GlobalMut<T>, output: GlobalMut<T>) {
    let (thread, block) = (thread_idx_x(), block_dim_x());
    sums.write_volatile(thread, element(input, len, thread as u64));
    let mut index = block as u64 + thread as u64;
    while index < len {
        sums.write_volatile(thread, sums.read_volatile(thread).plus(input.offset(index).read(0)));
        index += block as u64;
    }
    sync_threads();
    let mut active = block / 2;
    while active >= 1 {
        if thread < active {
            let sum = sums.read_volatile(thread).plus(sums.read_volatile(thread + active));
            sums.write_volatile(thread, sum);
        }
        sync_threads();
        active /= 2;
    }
    if thread == 0 {
        output.write(0, sums.read_volatile(0));
    }
}

/// In shared memory.
#[device]
#[inline(always)]
fn final_shared<T: Value>(input: Global<T>, len: u64, output: GlobalMut<T>) {
    let sums = shared::dynamic().array::<T>(BLOCK);
    let (thread, block) = (thread_idx_x(), block_dim_x());
    sums.write(thread, element(input, len, thread as u64));
    let mut index = block as u64 + thread as u64;
    while index < len {
        sums.write(thread, sums.read(thread).plus(input.offset(index).read(0)));
        index += block as u64;
    }
    sync_threads();
    tree_halves::<T, 1>(sums);
    if thread == 0 {
        output.write(0, sums.read(0));
    }
}

// ---- The kernels ---------------------------------------------------------------------------------------------------

/// The kernels of a type: `$name: what a block takes, how it adds it up`.
macro_rules! stages {
    ($t:ty, $final_global:ident, $final_shared:ident; $($(#[$doc:meta])* $name:ident: $take:ident, $tree:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Launch linear blocks of [`BLOCK`] threads with [`shared_bytes`]; `output` gets an element of each.
            #[kernel(images = sm_75, launch_bounds(512))]
            pub fn $name(input: Global<$t>, len: u64, output: GlobalMut<$t>) {
                let tile = shared::dynamic().array::<$t>(BLOCK);
                $take(tile, input, len);
                sync_threads();
                $tree(tile);
                if thread_idx_x() == 0 {
                    output.write(block_idx_x(), tile.read(0));
                }
            }
        )*

        /// The final algorithm on global memory: each thread's running sum is an element of `sums`, which has
        /// [`BLOCK`].
        ///
        /// Launch one block of [`BLOCK`] threads, without shared memory.
        #[kernel(images = sm_75, launch_bounds(512))]
        pub fn $final_global(input: Global<$t>, len: u64, sums: GlobalMut<$t>, output: GlobalMut<$t>) {
            final_global(input, len, sums, output);
        }

        /// The final algorithm on shared memory.
        ///
        /// Launch one block of [`BLOCK`] threads with [`shared_bytes`].
        #[kernel(images = sm_75, launch_bounds(512))]
        pub fn $final_shared(input: Global<$t>, len: u64, output: GlobalMut<$t>) {
            final_shared(input, len, output);
        }
    };
}

/// The kernels: calls the macro `$with` for each type with the kernels of the literature's stages, in their order, and the final
/// ones.
#[macro_export]
macro_rules! variant_instances {
    ($with:ident) => {
        $with! { f64;
            sum_divergent_f64 sum_strided_f64 sum_sequential_f64 sum_first_add_f64 sum_last_warp_f64
            sum_first_add_last_warp_f64 sum_unrolled_f64 sum_several_f64 sum_final_global_f64 sum_final_shared_f64
        }
        $with! { f32;
            sum_divergent_f32 sum_strided_f32 sum_sequential_f32 sum_first_add_f32 sum_last_warp_f32
            sum_first_add_last_warp_f32 sum_unrolled_f32 sum_several_f32 sum_final_global_f32 sum_final_shared_f32
        }
    };
}

macro_rules! variants {
    ($t:ty; $divergent:ident $strided:ident $sequential:ident $first_add:ident $last_warp:ident
        $first_add_last_warp:ident $unrolled:ident $several:ident $final_global:ident $final_shared:ident) => {
        stages! {
            $t, $final_global, $final_shared;
            /// The first stage: interleaved places, and the threads that add interleaved as well.
            $divergent: take_one, tree_divergent;
            /// The second stage: interleaved places, added by consecutive threads.
            $strided: take_one, tree_strided;
            /// The third stage: consecutive places, added by consecutive threads.
            $sequential: take_one, tree_sequential;
            /// The fourth stage: the third, and each thread adds two elements as it loads them.
            $first_add: take_two, tree_sequential;
            /// The fifth stage: the third, the tree's last six levels unrolled in one warp.
            $last_warp: take_one, tree_last_warp;
            /// The sixth stage: the fourth, the tree's last six levels unrolled in one warp.
            $first_add_last_warp: take_two, tree_last_warp;
            /// Between the sixth and the seventh stage: the fourth, all of the tree unrolled.
            $unrolled: take_two, tree_unrolled;
            /// The seventh stage: several pairs a thread, all of the tree unrolled.
            $several: take_several, tree_unrolled;
        }
    };
}

variant_instances!(variants);
