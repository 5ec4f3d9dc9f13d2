//! Reductions of an array: sums, extremes, norms, products of two arrays, bits.
//!
//! A reduction is a type that implements [`Reduction`]: where it starts, how it takes an element, how two results
//! become one. [`whole`] reduces an array with it in one launch; [`reduce_instances`] lists the kernels that there is
//! PTX of.
//!
//! # Order of combination
//! The array is cut into tiles of [`tile`] elements (16 KiB), and every block takes [`tiles_per_block`] consecutive
//! ones. A thread reads 16 bytes at a time and has up to four accumulators: element `i` of a load goes to accumulator
//! `i % 4` (`i % 2` for elements of 8 bytes). They run down the block's tiles; then come fixed trees: the
//! accumulators, the lanes of a warp, the warps of a block. The blocks' partial results are combined the same way,
//! thread `t` of one block taking partials `t`, `t + THREADS`, and so on. Nothing in it depends on the device, so a
//! CPU that follows the same order gets the same bits (`gpu_reduce::reference`).
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod column_kernels;
mod columns;
pub mod computed;
mod half;
mod instances;
mod operator;
mod operators;
pub mod segment_kernels;
mod segments;
pub mod several;
mod unordered;
pub mod variants;
mod whole;

pub use columns::{COLUMNS_SHARED_BYTES, GROUP, Lines, columns, columns_blocks, slab};
pub use half::{
    Extended, ExtendedSquare, ExtendedSum, ExtendedTimes, HalfDot, HalfNormL2, HalfSumOfSquares, Narrowed,
};
pub use instances::*;
pub use operator::{Map, Mapped, Reduction};
pub use operators::{
    Absolute, All, And, Any, ArgMax, ArgMin, Count, Dot, Largest, Max, Min, MinMax, NormL1, NormL2, NormMax,
    Or, Product, Square, Sum, SumOfSquares, Times, WideSum, Xor,
};
pub use segments::{
    COUNTED, OFFSETS, ONE_LENGTH, Starts, scratch_words, segments, segments_blocks, segments_blocks_of,
    segments_shared_bytes, weight,
};
pub use unordered::*;
pub use whole::{publishes, whole};

pub use gpu_collective::{
    Accumulator, Integer, Item, Key, LOAD_BYTES, MAX_WORDS, Number, Quads, Real, Register, Source, Words,
    per_load,
};
use gpu_collective::{item, number, quad};
use gpu_std::shared::SharedLayout;

/// Threads of a block. 256 with four loads each was the fastest of {128, 256, 512, 1024} × {1, 2, 4, 8} at 2^20
/// elements: 5.3 µs of the GPU's time, 512 with four 5.5 (sum of f32, H200).
pub const THREADS: u32 = 256;
/// Warps of a block.
pub const WARPS: u32 = THREADS / 32;
/// Bytes that a block reads at a time: four loads a thread. Of two arrays it is two loads of each.
pub const TILE_BYTES: u32 = THREADS * LOAD_BYTES * 4;
/// The most blocks, hence partial results. Enough that the last wave costs little on any device, few enough that
/// combining the partials does not show (H200, 2^24 and 2^28 `f32`: 1024 17.9 and 242.5 µs, 2048 17.6 and 238.2, 4096
/// 19.1 and 238.0, 8192 19.1 and 238.8).
pub const MAX_BLOCKS: u32 = 2048;

/// The longest input: offsets within a block's part are 32-bit. (2^43 elements are 8 TiB of bytes.)
pub const MAX_LEN: u64 = MAX_BLOCKS as u64 * (u32::MAX as u64 + 1);

/// Elements that a block reads at a time.
pub const fn tile<I: Item>() -> u32 {
    TILE_BYTES / (I::BYTES * I::ARRAYS)
}

/// Accumulators of a thread.
pub const fn accumulators<I: Item>() -> u32 {
    let per_load = per_load::<I>();
    // Mutants: of two equal numbers either is the smaller.
    if per_load < 4 { per_load } else { 4 }
}

/// How many consecutive tiles each block takes, for an array of `len` elements.
pub const fn tiles_per_block<I: Item>(len: u64) -> u64 {
    // Rounded up, and at least one, without a branch: of one ptxas keeps both ways' results in registers.
    len.div_ceil(tile::<I>() as u64).saturating_sub(1) / MAX_BLOCKS as u64 + 1
}

/// How many blocks an array of `len` elements needs; at least one.
pub const fn blocks<I: Item>(len: u64) -> u32 {
    let blocks = len.div_ceil(tile::<I>() as u64).div_ceil(tiles_per_block::<I>(len));
    if blocks == 0 { 1 } else { blocks as u32 }
}

/// Bytes of dynamic shared memory: for each warp a result of so many words ([`publishes`]), twice, and the block's
/// ticket.
pub const fn shared_bytes(words: u32) -> u32 {
    let results = WARPS * words;
    SharedLayout::new().array::<u32>(results).array::<u32>(results).array::<u32>(1).bytes()
}
