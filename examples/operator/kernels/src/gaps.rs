//! A kernel composed of collectives: where the gaps of a series begin.
//!
//! One launch, one pass: a scan of the block gives each beginning its place among those of the tile, and the single pass
//! what comes before the tile.

use gpu_collective::block;
use gpu_collective::grid::{Pass, Plus, Prefix, TileWork, single_pass};
use gpu_std::prelude::*;
use gpu_std::shared::SharedLayout;

/// Warps of a block.
const WARPS: usize = 8;
/// Values of a tile: one a thread.
pub const GAPS_TILE: u32 = 32 * WARPS as u32;

/// Bytes of shared memory of a block.
pub const fn gaps_shared_bytes() -> u32 {
    Pass::layout(SharedLayout::new(), 1).array::<u32>(WARPS as u32).bytes()
}

/// What a block does with a tile. A thread remembers whether a gap begins at its value, and the place in the tile.
struct Gaps {
    values: Global<f32>,
    len: u32,
    begins: GlobalMut<u32>,
    count: GlobalMut<u32>,
    warps: Shared<u32>,
}

impl TileWork<Plus<u32>> for Gaps {
    type Held = (bool, u32);

    #[device]
    #[inline(always)]
    fn read(&self, tile: u32, _room: u32, publish: impl FnOnce(u32)) -> (bool, u32) {
        let at = tile * GAPS_TILE + thread::thread_idx_x();
        let is_missing = at < self.len && self.values.read(at).is_nan();
        let begins = is_missing && (at == 0 || !self.values.read(at - 1).is_nan());
        let places = block::exclusive_scan::<u32, WARPS>(begins as u32, 0, self.warps, |a, b| a + b);
        publish(places.total);
        (begins, places.before)
    }

    #[device]
    #[inline(always)]
    fn write(&self, tile: u32, _room: u32, around: Prefix<u32>, (begins, place): (bool, u32)) {
        let at = tile * GAPS_TILE + thread::thread_idx_x();
        if begins {
            self.begins.write(around.before + place, at);
        }
        if at == self.len - 1 {
            self.count.write(0, around.with);
        }
    }
}

/// Writes the first place of every gap among `len` values to `begins`, in their order, and how many there are to
/// `count`.
///
/// Launch a block of [`GAPS_TILE`] threads with [`gaps_shared_bytes`] for each tile, or fewer. `words` has
/// `gpu_collective::grid::scratch_words` of the tiles, `capacity`, which are zero.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn gap_begins(
    values: Global<f32>,
    len: u32,
    begins: GlobalMut<u32>,
    count: GlobalMut<u32>,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let mut memory = shared::dynamic();
    let pass = Pass::new::<Plus<u32>>(len.div_ceil(GAPS_TILE), words, capacity, &mut memory);
    let work = Gaps { values, len, begins, count, warps: memory.array(WARPS as u32) };
    single_pass(pass, 0, (false, 0), &work);
}
