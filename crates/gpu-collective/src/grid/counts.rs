//! How many of something come before a tile, of several things at once.
//!
//! D. Merrill and M. Garland, *Single-pass parallel prefix scan with decoupled look-back* (2016), once for each
//! column of counts: a tile publishes its count as soon as it knows it, then walks back over the tiles before it, adding up
//! counts until it meets one that has published the count of all up to its end, and then publishes that itself. Whole
//! numbers add up to the same whichever way they came, so unlike the scan of floats nothing here has to fix an order.
//!
//! A word has its state in the two highest bits, and its count below, so there is nothing else to wait for: no fence.
//! Nothing is cleared from launch to launch: when one has ended all its words are in the same state, that of the count of all up to the
//! tile's end, and that is what the next one, of the other phase, takes for absent.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::GlobalMut;
use gpu_std::{device, unroll};

const COUNT_BITS: u32 = 30;

/// The states of a launch's words. Phase 0 comes first, when all words are zero, then 1, 0, 1, …
#[derive(Clone, Copy)]
struct Phase(u32);

impl Phase {
    /// Nothing is known yet.
    #[inline(always)]
    const fn absent(self) -> u32 {
        2 * self.0
    }

    /// The tile's own count.
    #[inline(always)]
    const fn own(self) -> u32 {
        2 * self.0 + 1
    }

    /// The count of all tiles up to the tile's end.
    #[inline(always)]
    const fn upto(self) -> u32 {
        (2 * self.0 + 2) % 4
    }
}

/// One column of the counts of tiles, a word a tile; counts up to a tile's end are less than 2^30.
///
/// Tiles have to be taken in their order: by [tickets](super::tickets), for example.
///
/// ```
/// use gpu_collective::grid::TileCounts;
/// use gpu_std::prelude::*;
///
/// /// How many ones come before each tile of 32.
/// #[kernel]
/// pub fn ones_before(bits: Global<u32>, before: GlobalMut<u32>, counts: GlobalMut<u32>, ticket: GlobalMut<u32>) {
///     let drawn = if warp::lane_id() == 0 { ticket.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device) } else { 0 };
///     let tile = warp::shuffle_idx(warp::FULL, drawn, 0);
///     let ones = warp::warp_vote_ballot(warp::FULL, bits.read(32 * tile + warp::lane_id()) == 1).count_ones();
///     if warp::lane_id() == 0 {
///         let counts = TileCounts::new(counts, 0, 1, 0, 0);
///         counts.publish_own(tile, ones);
///         before.write(tile, counts.before(tile, ones));
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let bits = device.upload(&(0..320).map(|i| u32::from(i % 3 == 0)).collect::<Vec<u32>>())?;
/// # let (mut before, mut counts, mut ticket) = (device.zeroed(10)?, device.zeroed(10)?, device.zeroed(1)?);
/// # let (a, b) = (bits.view().as_global(), before.view_mut().as_global_mut());
/// # let (c, d) = (counts.view_mut().as_global_mut(), ticket.view_mut().as_global_mut());
/// # unsafe { ones_before::launch(&device.default_stream(), LaunchConfig::linear(10, 32), a, b, c, d)? };
/// assert_eq!(before.to_vec()?, (0..10).map(|tile| (32u32 * tile).div_ceil(3)).collect::<Vec<_>>());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TileCounts {
    words: GlobalMut<u32>,
    columns: u32,
    /// The launch's first tile.
    first: u32,
    phase: Phase,
}

impl TileCounts {
    /// Column `column` of `columns`, which a tile's words follow each other of. `first` is the launch's first tile, `phase` 0 and 1 in turn,
    /// launch by launch. `words` were zero before the first of phase 0.
    #[inline(always)]
    pub fn new(words: GlobalMut<u32>, column: u32, columns: u32, first: u32, phase: u32) -> Self {
        Self { words: words.offset(column as u64), columns, first, phase: Phase(phase) }
    }

    #[inline(always)]
    fn publish(self, tile: u32, state: u32, count: u32) {
        let place = self.words.offset(tile as u64 * self.columns as u64);
        place.atomic(0).store(state << COUNT_BITS | count, Ordering::Relaxed, Scope::Device);
    }

    /// Publishes the tile's own count.
    #[inline(always)]
    pub fn publish_own(self, tile: u32, count: u32) {
        let state = if tile == self.first { self.phase.upto() } else { self.phase.own() };
        self.publish(tile, state, count);
    }

    /// How many come before the tile, whose own count has been published. Publishes how many there are up to its end.
    #[device]
    #[inline(always)]
    pub fn before(self, tile: u32, count: u32) -> u32 {
        let mut before = 0;
        let mut at = tile;
        let mut known = tile == self.first;
        while !known {
            let place = self.words.offset((at - 1) as u64 * self.columns as u64);
            let word = place.atomic(0).load(Ordering::Relaxed, Scope::Device);
            let state = word >> COUNT_BITS;
            if state != self.phase.absent() {
                before += word & ((1 << COUNT_BITS) - 1);
                at -= 1;
                known = state == self.phase.upto();
            }
        }
        if tile != self.first {
            self.publish(tile, self.phase.upto(), before + count);
        }
        before
    }

    /// The same, asking for the counts of `W` tiles at a time: where all tiles begin together, and none knows what comes before it,
    /// the way back is some `sqrt(2 tiles / W)` times through memory.
    #[device]
    #[inline(always)]
    pub fn before_by<const W: usize>(self, tile: u32, count: u32) -> u32 {
        let mut before = 0;
        let mut at = tile;
        let mut known = tile == self.first;
        while !known {
            let mut words = [0; W];
            unroll::<W>(|step| {
                // Of the first tile, with which the way ends, several times.
                let back = if step == 0 { 1 } else { (at - self.first).min(step as u32 + 1) };
                let place = self.words.offset((at - back) as u64 * self.columns as u64);
                words[step] = place.atomic(0).load(Ordering::Relaxed, Scope::Device);
            });
            let mut is_there = true;
            unroll::<W>(|step| {
                let state = words[step] >> COUNT_BITS;
                is_there &= state != self.phase.absent() && !known;
                if is_there {
                    before += words[step] & ((1 << COUNT_BITS) - 1);
                    at -= 1;
                    known = state == self.phase.upto();
                }
            });
        }
        if tile != self.first {
            self.publish(tile, self.phase.upto(), before + count);
        }
        before
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::Phase;

    #[test]
    fn what_one_phase_leaves_is_absent_in_the_other() {
        for phase in [0, 1] {
            let (this, other) = (Phase(phase), Phase(1 - phase));
            assert_eq!(this.upto(), other.absent());
            let mut states = [this.absent(), this.own(), this.upto()];
            states.sort_unstable();
            assert!(states[0] < states[1] && states[1] < states[2] && states[2] < 4);
        }
        assert_eq!(Phase(0).absent(), 0);
    }
}
