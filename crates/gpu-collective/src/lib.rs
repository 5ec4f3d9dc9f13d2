//! Collectives: what kernels are composed of, each called by all threads of a warp, a block or a grid together.
//!
//! | layer | | |
//! | --- | --- | --- |
//! | thread | [`number`] | the numbers that kernels compute with, and what a thread holds of them in registers |
//! | | [`item`], [`quad`] | an element of one array or of two, and sixteen bytes from any element on |
//! | | [`packed`] | elements in the words that loads and stores move |
//! | | [`vector`] | a tile's way between memory and registers, sixteen bytes a thread |
//! | warp | [`warp`] | scan, reduce, sort, lanes with the same digit |
//! | block | [`block`] | scan, reduce, histogram, radix rank, merge |
//! | grid | [`grid::tickets`] | tiles in the order in which blocks start |
//! | | [`grid::look_back`] | what comes before a tile, combined in an order that depends on nothing but its number |
//! | | [`grid::counts`] | how many of each of several things come before a tile |
//! | | [`mod@grid::single_pass`] | the loop of all kernels that read each element once and write it once |
//! | | [`grid::partials`] | one result of all blocks, by the block that starts last |
//! | | [`grid::last_block`] | which block is the last to be done |
//!
//! Values pass between threads as [`Accumulator`]s, words of 32 bits; operators are functions of two of them, the one
//! that comes first in the array first, so they need not commute. Every collective has an order of combination that it
//! states, the same on the GPU, in the simulator and in a CPU reference: floats give the same bits everywhere.
//!
//! Shared memory is the caller's, as the launch has to know its size: each collective says how many words it needs.
#![no_std]

pub mod block;
pub mod grid;
pub mod item;
pub mod number;
pub mod packed;
pub mod quad;
pub mod vector;
pub mod warp;
pub mod words;

pub use item::{Item, Source};
pub use number::{Accumulator, Integer, Key, Number, Real, Register};
pub use packed::Packed;
pub use quad::{Quads, Words};

/// Bytes that a thread reads at once, of one array.
pub const LOAD_BYTES: u32 = 16;
/// The most words of an [`Accumulator`].
pub const MAX_WORDS: u32 = 6;

/// Elements of one load of one array.
pub const fn per_load<I: Item>() -> u32 {
    LOAD_BYTES / I::BYTES
}
