//! Sorts, and what is found by looking at keys: [selections](select), [`runs`], [histograms](histogram).
//!
//! # The sort
//! A stable radix sort by least significant digits, in one sweep over the keys for each digit.
//!
//! After A. Adinolfi and D. Merrill, *Onesweep: A faster least significant digit radix sort for GPUs*,
//! arXiv:2206.01784 (2022):
//!
//! | file | |
//! | --- | --- |
//! | `count.rs` | one launch counts all digits of all keys, and from that where the keys of each digit start |
//! | `sweep.rs` | then one launch a digit: every key is read once and written once, to its place by this digit |
//! | `payload.rs` | what moves with the keys |
//! | `gather.rs` | values of other widths: an index is sorted in their place |
//!
//! Keys are unsigned words of 1, 2, 4 or 8 bytes. What they stand for, and whether the order ascends, is in
//! [`Order`], two masks that make words whose order as unsigned numbers is the one wanted. Only digits pass through
//! it: keys travel as they are. So there is a kernel for each width of keys and values, not for each type and
//! direction.
//!
//! The kernels are written once, in Rust, against [`gpu_std`]. rustc compiles them to the PTX under `ptx/`, which the
//! driver runs; and it compiles them for the host like any other function, where the simulator runs them. `cargo run
//! -p gpu-builder -- check` keeps the committed PTX in step with the sources. Tile sizes exist here and nowhere else:
//! host crates plan their launches from these constants.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

mod composite;
mod count;
mod gather;
pub mod histogram;
mod kernels;
mod order;
mod packed;
mod payload;
pub mod runs;
pub mod segmented;
pub mod select;
mod sweep;
pub mod top_k;

pub use composite::{Composite, Raw};
pub use count::count;
pub use gather::gather;
pub use kernels::*;
pub use order::{Digit, Key, Order};
pub use packed::Packed;
pub use payload::{Pairs, Payload, Value};
pub use sweep::{Pass, sweep};

use gpu_std::shared::SharedLayout;

/// Bits of a digit.
pub const DIGIT_BITS: usize = 8;
/// Warps of a block that sweeps. CUB takes as many on all architectures since 7.0.
pub const SWEEP_WARPS: usize = 12;
/// Warps of a block that counts.
pub const COUNT_WARPS: usize = 16;
/// Keys that a thread asks for at once in order to count them.
pub const COUNT_AT_ONCE: usize = 8;
/// Threads of a block that gathers.
pub const GATHER_THREADS: u32 = 256;
/// The most keys that a launch may sweep: tiles publish counts of 30 bits.
pub const MAX_SWEEP: u64 = (1 << 30) - 1;
/// Blocks that count, on a multiprocessor.
pub const COUNT_BLOCKS: u32 = 8;

/// Words of 32 bits before the starts: the ticket.
pub const HEADER_WORDS: usize = 4;
/// The word of the ticket.
pub const TICKET: u32 = 0;

/// How a sort is cut: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block that sweeps.
    pub warps: u32,
    /// Keys of a thread.
    pub rows: u32,
    /// Bits of a digit.
    pub digit_bits: u32,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bytes of a value; 0 where there are none.
    pub value_bytes: u32,
}

impl Shape {
    /// That of the kernels in PTX: as many keys a thread as registers allow, without spilling (ptxas 13.0) for three
    /// blocks on a multiprocessor or, of pairs of equal widths, two. A tile fills some 30 KiB of shared memory.
    pub const fn new(key_bytes: u32, value_bytes: u32) -> Self {
        let rows = match (key_bytes, value_bytes) {
            (8, 0) => WIDE_ROWS,
            (8, 8) => WIDEST_ROWS,
            (8, _) | (_, 8) => WIDE_PAIR_ROWS,
            _ => ROWS,
        };
        Self {
            warps: SWEEP_WARPS as u32,
            rows: rows as u32,
            digit_bits: DIGIT_BITS as u32,
            key_bytes,
            value_bytes,
        }
    }

    /// That of `len` keys without values: few keys of 4 bytes have short tiles, so that every multiprocessor has some.
    pub const fn of_keys(key_bytes: u32, len: u64) -> Self {
        let shape = Self::new(key_bytes, 0);
        // Mutants: how many are few is a matter of speed.
        if key_bytes == 4 && len <= MAX_FEW { Self { rows: SHORT_ROWS as u32, ..shape } } else { shape }
    }

    /// Whether tiles are short.
    pub const fn is_short(self) -> bool {
        self.key_bytes == 4 && self.value_bytes == 0 && self.rows == SHORT_ROWS as u32
    }

    /// Threads of a block.
    pub const fn threads(self) -> u32 {
        32 * self.warps
    }

    /// Keys of a tile.
    pub const fn tile(self) -> u32 {
        self.threads() * self.rows
    }

    /// Tiles of an array.
    pub const fn tiles(self, len: u64) -> u64 {
        len.div_ceil(self.tile() as u64)
    }

    /// Values of a digit.
    pub const fn digits(self) -> u32 {
        1 << self.digit_bits
    }

    /// Bytes of dynamic shared memory of a block that sweeps.
    pub const fn shared_bytes(self) -> u32 {
        // Mutants: they may be equal.
        let wider = if self.key_bytes > self.value_bytes { self.key_bytes } else { self.value_bytes };
        SharedLayout::new()
            .array::<u32>(self.warps * self.digits())
            .array::<u64>(self.digits())
            .array::<u32>(self.digits() / 32)
            .array::<u32>(1)
            .array::<u8>(self.tile() * wider)
            .bytes()
    }
}

/// Keys of a thread.
pub const ROWS: usize = 20;
/// Keys of a thread where they are few.
pub const SHORT_ROWS: usize = 8;
/// Tiles that short tiles look back at a time.
pub const SHORT_AT_ONCE: usize = 4;
/// The most keys that are few: two tiles for each of 132 multiprocessors, of [`ROWS`].
pub const MAX_FEW: u64 = 2 * 132 * 32 * (SWEEP_WARPS * ROWS) as u64;
/// Keys of a thread where they have 8 bytes.
pub const WIDE_ROWS: usize = 10;
/// Pairs of a thread where either keys or values have 8 bytes.
pub const WIDE_PAIR_ROWS: usize = 9;
/// Pairs of a thread where keys and values have 8 bytes.
pub const WIDEST_ROWS: usize = 8;

/// Bytes of dynamic shared memory of a block that counts `passes` digits of `digit_bits` bits.
pub const fn count_shared_bytes(passes: u32, digit_bits: u32) -> u32 {
    SharedLayout::new().array::<u32>(passes << digit_bits).array::<u32>(1).bytes()
}

/// Words of 64 bits that are zero before and after [`count`]: how many blocks have counted, and the digits' counts.
pub const fn zero_words(passes: u32, digit_bits: u32) -> u32 {
    1 + (passes << digit_bits)
}

/// Words of 64 bits that say where digits of `digit_bits` bits start, in all passes: a pass reads one row and writes
/// another.
pub const fn start_words(passes: u32, digit_bits: u32) -> u32 {
    (2 * passes) << digit_bits
}
