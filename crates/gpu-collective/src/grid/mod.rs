//! What the blocks of a grid do together, through device memory.
//!
//! Blocks start in any order and not all at once. What one waits for has to come from a block that is known to run:
//! tiles are therefore numbered by [`tickets`], and results waited for from the block that drew its ticket
//! [last](partials), never from a block that may not have started.
//!
//! Words that blocks publish carry a mark in their upper half that says whether they are there, so no fence is needed,
//! and nothing is cleared from launch to launch.

pub mod counts;
pub mod last_block;
pub mod look_back;
pub mod partials;
pub mod single_pass;
pub mod tickets;

pub use counts::TileCounts;
pub use last_block::is_last_block;
pub use look_back::{Operator, Plus, Prefix, TileStates};
pub use single_pass::{Pass, TileWork, single_pass};
pub use tickets::Tickets;

/// Tiles of a group: one for each lane of the warp that looks at them.
pub const GROUP: u32 = 32;
/// Tiles of a section: as many groups as lanes.
pub const SECTION: u32 = GROUP * GROUP;
/// The most tiles: they and the blocks are counted in 32 bits.
pub const MAX_TILES: u64 = 1 << 31;
/// The words of scratch memory before those of the tiles: the ticket, and the blocks that have ended.
pub const HEADER_WORDS: u32 = 2;

/// Words of 64 bits of scratch memory that a [`mod@single_pass`] over so many tiles needs, of accumulators of `words`
/// words: the header, those of each section's start, of each group and of each tile, and the counters of groups and
/// sections.
pub const fn scratch_words(tiles: u64, words: u32) -> u64 {
    let counters = tiles.div_ceil(SECTION as u64) + tiles.div_ceil(GROUP as u64);
    HEADER_WORDS as u64 + if tiles <= 1 { 0 } else { (counters + tiles) * words as u64 + counters }
}
