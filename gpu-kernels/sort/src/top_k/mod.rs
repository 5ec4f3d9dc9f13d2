//! The first `k` keys in an order: the largest or the smallest.
//!
//! A block selects from a row what may be among its first `k` ([`select_rows`], [`ByBound`]). It knows a bound: a word
//! that at least `k` keys do not exceed. Keys within the bound are candidates; where they become too many they are
//! sorted, the first `k` stay, and the bound is the last of them. The first bound comes from the threads' least words:
//! if in each of four warps 8 threads have one that does not exceed it, 32 keys do not. Of 4096 keys some 50 are then
//! candidates for the first 32. A block of one warp or two selects from short rows ([`Tile`]).
//!
//! For a larger `k` a block counts digits instead ([`ByDigits`]), and reads its row two or three times.
//!
//! Rows that are few and long are cut into parts, whose first `k` are selected once more. One long array is filtered by a bound that a
//! sample gives ([`sample`], [`filter`]): a composite of word and index, so that equal keys are as far apart as others and what the
//! sample says is true of any data with the same probability. Where it says too much or too little, which the plan makes improbable,
//! a block selects from the whole array.

mod array;
mod bound;
mod candidates;
mod digits;
mod filter;
mod rows;
mod sample;
mod source;

pub use array::{Array, Keyed, Loaded, Narrow, Short};
pub use bound::ByBound;
pub use digits::{ByDigits, digits_bytes};
pub use filter::filter;
pub use rows::{Algorithm, select_candidates, select_rows};
pub use sample::{DRAWS, MINIMA, sample};
pub use source::{Composites, Keys, Source};

use gpu_std::parameter::Parameter;
use gpu_std::shared::SharedLayout;

use super::segmented::Job;

/// What a block that selects from rows reads at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// A warp reads a quarter of the words that its threads can hold.
    Quarter,
    /// A warp reads half of them.
    Half,
    /// A warp.
    Warp,
    /// Two warps.
    TwoWarps,
    /// Four.
    FourWarps,
}

impl Tile {
    /// From the smallest one on.
    pub const ALL: [Self; 5] = [Self::Quarter, Self::Half, Self::Warp, Self::TwoWarps, Self::FourWarps];

    /// Threads of a block.
    pub const fn threads(self) -> usize {
        match self {
            Self::Quarter | Self::Half | Self::Warp => 32,
            Self::TwoWarps => 64,
            Self::FourWarps => 128,
        }
    }

    /// Words of a thread, which can hold so many.
    pub const fn items(self, most: usize) -> usize {
        match self {
            Self::Quarter => most / 4,
            Self::Half => most / 2,
            _ => most,
        }
    }

    /// Candidates that a block holds.
    pub const fn room(self) -> u32 {
        8 * self.threads() as u32
    }
}

/// Threads of a block that selects from candidates.
pub const LAST_THREADS: usize = 512;
/// Candidates that it holds.
pub const LAST_ROOM: u32 = 2048;
/// Threads of a block that samples or filters.
pub const FILTER_THREADS: u32 = 256;
/// Threads of a block that selects by digits.
pub const DIGITS_THREADS: usize = 512;
/// Candidates that it holds, and so the most that it selects.
pub const fn digits_room(composite_bytes: u32) -> u32 {
    32768 / composite_bytes
}

/// Words of the header: how many candidates there are, and how many blocks have sampled.
pub const HEADER_WORDS: usize = 4;
/// The word of the candidates.
pub const COUNT: u32 = 0;
/// The word of the blocks that have sampled.
pub const SAMPLED: u32 = 1;

/// A selection. What is [`Job::limit`] there is `k` here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Selection {
    /// Order, array, rows or segments, and what goes where.
    pub job: Job,
    /// A key whose word is the highest.
    pub last: u64,
    /// Elements of a part.
    pub part: u64,
    /// Parts of a row, whose first go to the candidates; 1 where they go to the output.
    pub parts: u32,
    /// Room for candidates in the case that a block is to select from the whole array if they do not fit there, or are less than `k`;
    /// else 0.
    pub guard: u32,
}

/// Bytes of dynamic shared memory of a block of `threads` that holds `room` candidates.
pub const fn shared_bytes(threads: u32, room: u32, composite_bytes: u32) -> u32 {
    let layout = SharedLayout::new().array::<u32>(4).array::<u8>(threads / 32 * composite_bytes);
    layout.array::<u8>(room * composite_bytes).bytes()
}
