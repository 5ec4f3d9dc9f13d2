//! Sorts of segments.
//!
//! A tile is what a block sorts at once: [`WARPS`] warps of 32 lanes of [`Composite::ITEMS`](crate::Composite::ITEMS) items. It is cut into slots of the
//! same width, a power of two, and each slot takes a segment: one lane and more sort a slot in registers, by networks; slots that
//! are wider than a warp's items are merged in shared memory. So segments are sorted together with others of about their length,
//! their class: [`classify`] lists them, but where all are equally long. Segments longer than a tile are sorted tile by tile, and
//! then merged pass by pass.

mod classify;
pub(crate) mod memory;
mod merge;
mod tile;

pub use classify::classify;
pub use merge::merge_pass;
pub use tile::sort_tiles;

use gpu_std::parameter::Parameter;
use gpu_std::shared::SharedLayout;

use super::order::Order;

/// Warps of a block.
pub const WARPS: u32 = 8;
/// Classes of segments: slots of 1, 2, … 256 lanes, and segments of several tiles.
pub const CLASSES: u32 = 10;
/// The class of segments of several tiles.
pub const LONG: u32 = CLASSES - 1;
/// Threads of a block that classifies.
pub const CLASSIFY_THREADS: u32 = 256;
/// [`Job::payload`] of a sort that gives the keys' places in their segments.
pub const INDICES: u32 = 1;
/// Of one that gives their places in the array.
pub const PLACES: u32 = 2;
/// [`Job::limit`] where all of a segment is kept.
pub const ALL: u32 = u32::MAX;

/// Items of a lane where a composite has so many bytes.
pub const fn items(composite_bytes: u32) -> u32 {
    if composite_bytes == 16 { 4 } else { 16 }
}

/// Items of a tile.
pub const fn tile(composite_bytes: u32) -> u32 {
    32 * WARPS * items(composite_bytes)
}

/// The class of a segment of so many elements, which are not none.
pub const fn class(len: u64, composite_bytes: u32) -> u32 {
    if len > tile(composite_bytes) as u64 {
        return LONG;
    }
    let lanes = (len as u32).div_ceil(items(composite_bytes));
    lanes.next_power_of_two().trailing_zeros()
}

/// Words of 32 bits before those of class `class` in the lists of `segments` segments of `len` elements in all; of
/// [`CLASSES`], how many words there are.
pub const fn list_start(class: u32, segments: u64, len: u64, composite_bytes: u32) -> u64 {
    // Segments of a class have more elements than half a slot. A long one has less than two tiles for each tile's elements.
    let mut start = 0;
    let mut before = 0;
    while before < class {
        let most = match before {
            0 => segments,
            LONG => 4 * (len / tile(composite_bytes) as u64),
            _ => {
                let most = len / ((items(composite_bytes) as u64) << (before - 1));
                // Mutants: they may be equal.
                if most < segments { most } else { segments }
            }
        };
        start += most;
        before += 1;
        // Entries of long ones are pairs.
        start += if before == LONG { start % 2 } else { 0 };
    }
    start
}

/// A sort of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Job {
    /// What order.
    pub order: Order,
    /// Elements of the array.
    pub len: u64,
    /// Elements of a segment, where all have as many; 0 where there are offsets.
    pub row: u64,
    /// Segments.
    pub segments: u32,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bits of an index in a composite of 32, whose other ones are a key's; 0 where there are no indices.
    pub index_bits: u32,
    /// What goes where its key goes: 0 for nothing, [`INDICES`] or [`PLACES`].
    pub payload: u32,
    /// How many of a segment are kept, the segments' results one behind the other; or [`ALL`].
    pub limit: u32,
    /// Passes that merge the longest segment's tiles.
    pub passes: u32,
}

/// The passes that merge `tiles` tiles.
pub const fn passes(tiles: u64) -> u32 {
    tiles.next_power_of_two().trailing_zeros()
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes(composite_bytes: u32) -> u32 {
    let layout = SharedLayout::new().array::<u32>(16).array::<u32>(4 * 32 * WARPS).array::<u32>(4);
    layout.array::<u8>((tile(composite_bytes) + 32 * WARPS) * composite_bytes).bytes()
}
