//! Scans of an array: at every place the combination of all elements up to it.
//!
//! A scan's operator is a type that implements [`Scan`]; [`whole`] scans an array with it in one launch, and
//! [`scan_instances`] lists the kernels that there is PTX of.
//!
//! # Order of combination
//! Written `⊕`; what is left out counts as the identity, which changes nothing.
//!
//! The array is cut into tiles of [`Shape::tile`] elements, a tile into the parts of its warps, a part into rows of 32
//! vectors, one a lane, and a vector has 16 bytes of the wider of input and output.
//!
//! 1. *Vector:* `q_j = (x_0 ⊕ x_1) ⊕ … ⊕ x_j`, from left to right.
//! 2. *Row:* `k_i`, the inclusive scan of the vectors' totals over 32 lanes by doubling distances (Hillis and Steele,
//!    1986): in turn for the distances 1, 2, 4, 8, 16 lane `i` becomes lane `i - distance ⊕` lane `i`.
//! 3. *Warp:* rows from left to right, `c_{l+1} = c_l ⊕ k_31`. 4. *Block:* warps from left to right, `w`.
//! 5. *Tiles:* 32 consecutive tiles form a group, whose totals are scanned as lanes are, `t`; 32 consecutive groups
//!    form a section, whose totals are scanned the same way, `g`. With `s`, the result of everything before the
//!    section, what comes before a tile is `p = (s ⊕ g) ⊕ t`. The first section starts with the initial value, the
//!    next with `s ⊕ g` of all of the one before.
//!
//! The result at the last element of a vector is `p ⊕ (w ⊕ (c ⊕ k))`, and for the last one of a tile the next tile's
//! `p`; at the others it is the result at the end of the vector before, `⊕ q_j`. An exclusive scan gives the same
//! values, one place later: it starts with the initial value. A reverse scan does the same from the other end, the
//! tiles being cut from the array's start all the same: the incomplete one comes first.
//!
//! Nothing in it depends on the device, so a CPU that follows the same order gets the same bits
//! (`gpu_scan::reference`).
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod columns;
mod instances;
mod operator;
pub mod segmented;
mod tile;
pub mod variants;
pub(crate) mod whole;

pub use gpu_collective::Packed;
pub use instances::*;
pub use operator::{And, Bounds, Flip, Max, Min, Or, Product, Scan, Sum, WideSum, Widen, Xor, flip, flipped};
pub use tile::MAX_WORDS;
pub use whole::{whole, whole_flipped};

use gpu_std::shared::SharedLayout;

use gpu_collective::Accumulator;
use gpu_collective::grid::Pass;

/// Warps of a block.
pub const WARPS: usize = 8;
/// Bytes that a thread reads or writes at once, whichever elements are wider.
pub const VECTOR_BYTES: u32 = 16;
pub use gpu_collective::grid::{GROUP, HEADER_WORDS, MAX_TILES, SECTION};
/// Blocks on a multiprocessor. They take tiles until none is left, so fewer of them scan the same array, and those that
/// find no place wait and then find nothing to do.
pub const BLOCKS: u32 = 5;

/// The bit of a launch's mode that asks for the scan of the elements before each, without itself.
pub const EXCLUSIVE: u32 = 1;
/// The bit of a launch's mode that asks for the scan from the last element to the first.
pub const REVERSE: u32 = 2;

/// How an operator's scan is cut: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block.
    pub warps: u32,
    /// Elements of a vector.
    pub vector: u32,
    /// Vectors of a thread.
    pub rows: u32,
    /// Words of 32 bits of what is exchanged.
    pub words: u32,
    /// Words of 32 bits of a vector of the input.
    pub input_words: u32,
}

impl Shape {
    /// That of the kernels in PTX.
    ///
    /// What counts is how many bytes of all tiles are under way: a block reads a tile while the one before waits in
    /// shared memory, so a tile must be small enough for five blocks of a multiprocessor, four where elements have 8
    /// bytes and need more registers. (H200, 2^28 `f32`: five rows in five blocks 3,850 GB/s but more registers than
    /// there are in scans that look ahead; four rows 3,680, three 3,450; six rows in four blocks 2,450.)
    pub const fn of<S: Scan>() -> Self {
        let (input, output) = (S::Item::BYTES, S::Output::BYTES);
        // Mutants: of two equal numbers either is the larger.
        let wider = if input > output { input } else { output };
        let rows = if wider <= 4 { 4 } else { 5 };
        Self {
            warps: WARPS as u32,
            vector: VECTOR_BYTES / wider,
            rows,
            words: <S::Register as Accumulator>::WORDS,
            input_words: VECTOR_BYTES / wider * input / 4,
        }
    }

    /// Threads of a block.
    pub const fn threads(self) -> u32 {
        32 * self.warps
    }

    /// Elements of a tile.
    pub const fn tile(self) -> u32 {
        self.threads() * self.vector * self.rows
    }

    /// Tiles of an array.
    pub const fn tiles(self, len: u64) -> u64 {
        len.div_ceil(self.tile() as u64)
    }

    /// Words of 64 bits of scratch memory that a scan of so many tiles needs after the header: those of each section's
    /// start, of each group and of each tile, and the counters of groups and sections.
    pub const fn scratch_words(self, tiles: u64) -> u64 {
        gpu_collective::grid::scratch_words(tiles, self.words) - HEADER_WORDS as u64
    }

    /// Bytes of dynamic shared memory of a block.
    pub const fn shared_bytes(self) -> u32 {
        Pass::layout(SharedLayout::new(), self.words)
            .array::<u32>(self.warps * self.words)
            .array::<u32>(
                2 * waiting_words(self.threads(), self.rows, self.vector, self.input_words, self.words),
            )
            .array::<u32>(self.warps * 32 * VECTOR_BYTES / 4)
            .bytes()
    }
}

/// Words of shared memory in which a tile waits: its vectors of `input_words` words, and where an accumulator of
/// `words` words is larger than an element, those at the vectors' ends.
const fn waiting_words(threads: u32, rows: u32, vector: u32, input_words: u32, words: u32) -> u32 {
    let ends = if input_words == vector * words { 0 } else { words };
    threads * rows * (input_words + ends)
}
