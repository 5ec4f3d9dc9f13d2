//! What kernels are composed of: numbers as threads hold and exchange them, and elements sixteen bytes at a time.
//!
//! - [`number`]: the numbers that kernels compute with, what a thread holds of them in registers, and what threads
//!   hand to each other.
//! - [`item`]: an element of an array, or a pair of elements at the same index of two, and where it comes from.
//! - [`quad`]: sixteen bytes from any element on.
//! - [`warp`]: what the lanes of a warp do together.
//! - [`block`]: what the threads of a block do together.
#![no_std]

pub mod block;
pub mod item;
pub mod number;
pub mod quad;
pub mod warp;

pub use item::{Item, Source};
pub use number::{Accumulator, Integer, Key, Number, Real, Register};
pub use quad::{Quads, Words};

/// Bytes that a thread reads at once, of one array.
pub const LOAD_BYTES: u32 = 16;
/// The most words of an [`Accumulator`].
pub const MAX_WORDS: u32 = 6;

/// Elements of one load of one array.
pub const fn per_load<I: Item>() -> u32 {
    LOAD_BYTES / I::BYTES
}
