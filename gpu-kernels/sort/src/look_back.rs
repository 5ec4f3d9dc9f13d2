//! How many keys of a digit come before a tile.
//!
//! D. Merrill and M. Garland, *Single-pass parallel prefix scan with decoupled look-back* (2016), once for each
//! digit: a tile publishes its count as soon as it knows it, then walks back over the tiles before it, adding up
//! counts until it meets one that has published the count of all up to its end, and then publishes that itself. Whole
//! numbers add up to the same whichever way they came, so unlike the scan of floats nothing here has to fix an order.
//!
//! A word has its state in the two highest bits, and its count below, so there is nothing else to wait for: no fence.
//! Nothing is cleared from sweep to sweep: when one has ended all its words are in the same state, [`Phase::upto`],
//! and that is what the next one, of the other phase, takes for absent.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::device;
use gpu_std::memory::GlobalMut;

const COUNT_BITS: u32 = 30;

/// The states of a sweep's words. Phase 0 comes first, when all words are zero, then 1, 0, 1, …
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

/// The words of one digit, a tile's `digits` behind those of the one before.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    words: GlobalMut<u32>,
    digits: u32,
    /// The sweep's first tile.
    first: u32,
    phase: Phase,
}

impl Counts {
    /// Those of digit `digit`.
    #[inline(always)]
    pub(super) fn new(words: GlobalMut<u32>, digit: u32, digits: u32, first: u32, phase: u32) -> Self {
        Self { words: words.offset(digit as u64), digits, first, phase: Phase(phase) }
    }

    #[inline(always)]
    fn publish(self, tile: u32, state: u32, count: u32) {
        let place = self.words.offset(tile as u64 * self.digits as u64);
        place.atomic(0).store(state << COUNT_BITS | count, Ordering::Relaxed, Scope::Device);
    }

    /// Publishes the tile's own count.
    #[inline(always)]
    pub(super) fn publish_own(self, tile: u32, count: u32) {
        let state = if tile == self.first { self.phase.upto() } else { self.phase.own() };
        self.publish(tile, state, count);
    }

    /// How many come before the tile, whose own count has been published. Publishes how many there are up to its end.
    #[device]
    #[inline(always)]
    pub(super) fn before(self, tile: u32, count: u32) -> u32 {
        let mut before = 0;
        let mut at = tile;
        let mut known = tile == self.first;
        while !known {
            let place = self.words.offset((at - 1) as u64 * self.digits as u64);
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
