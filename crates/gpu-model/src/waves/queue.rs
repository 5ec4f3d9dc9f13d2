//! Waves of blocks, which wait and queue.

use super::{Counts, Waits};
use crate::units::Seconds;

/// What a wave takes, `resident` blocks on each multiprocessor: each waits, and queues at places whose work for a block
/// alone is `alone`. By mean value analysis of a closed network (Reiser and Lavenberg, *Mean-value analysis of closed
/// multichain queuing networks*, 1980): who comes to a place finds as many there as there were on average with one
/// block less.
pub(super) fn wave<const N: usize>(latency: Seconds, alone: [Seconds; N], resident: u64) -> Seconds {
    let (mut queues, mut time) = ([0.0; N], latency);
    for blocks in 1..=resident {
        let there: [Seconds; N] = std::array::from_fn(|place| alone[place] * (1.0 + queues[place]));
        time = latency + there.into_iter().sum();
        if time.0 > 0.0 {
            queues = there.map(|there| blocks as f64 * (there / time));
        }
    }
    time
}

/// What a block does in further turns of loops.
pub(super) struct Apart {
    /// Their part of the waits for memory and the second-level cache.
    pub(super) turns: f64,
    /// The part of them between which the block does not meet, so that each warp goes on by itself …
    pub(super) of_turns: f64,
    /// … and what of all waits that is.
    part: f64,
    /// The warps of a block.
    warps: f64,
}

impl Apart {
    pub(super) fn of(counts: &Counts, warps: f64) -> Self {
        let Waits { memory, l2, shared, turns, .. } = counts.waits;
        let of = |some: f64, all: f64| if some > 0.0 { some / all } else { 0.0 };
        let by_warps = (turns - shared).max(0.0);
        let part = of(by_warps, memory + l2 + shared);
        Self { turns: of(turns, memory + l2), of_turns: of(by_warps, turns), part, warps }
    }

    /// What a wave takes, where a block waits for `latency`, of that warps by themselves for `by_warps`: of the rest,
    /// blocks queue as a whole; of this part, each warp. `far` is what a block takes of memory beside one of each other
    /// multiprocessor. Only in further turns do they queue there: what else waits, waits as long as where every place
    /// asks.
    pub(super) fn wave(
        &self,
        [latency, by_warps]: [Seconds; 2],
        alone: Seconds,
        far: Seconds,
        resident: u64,
    ) -> Seconds {
        let far = far * self.turns;
        let together =
            wave(latency - by_warps, [alone * (1.0 - self.part), far * (1.0 - self.of_turns)], resident);
        if self.part == 0.0 {
            return together;
        }
        let each = [alone * self.part, far * self.of_turns].map(|all| all / self.warps);
        together + wave(by_warps, each, resident * self.warps as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::testing::same;

    /// With 1 µs of waits, 1 µs at one place and half of that at another, a block takes 2.5 µs, two fifths of it at
    /// the one and a fifth at the other, so that of two each takes 1.4 and 0.6 there. Of these three they are 2.8 and
    /// 1.2 of all, and of three blocks each takes 1 + 2.8 / 3 and 0.5 · (1 + 1.2 / 3).
    #[test]
    fn blocks_queue_at_each_place() {
        let of = |blocks| wave(Seconds(1e-6), [Seconds(1e-6), Seconds(0.5e-6)], blocks).0;
        same(of(1), 2.5e-6);
        same(of(2), 3e-6);
        same(of(3), 1e-6 + 1e-6 * (1.0 + 2.8 / 3.0) + 0.5e-6 * (1.0 + 1.2 / 3.0));
        same(wave(Seconds(1e-6), [], 9).0, 1e-6);
        same(wave(Seconds(0.0), [Seconds(0.0)], 9).0, 0.0);
    }

    /// A block of two warps that waits ten times, eight of them in turns, half of which it meets in: of what it takes
    /// of memory, 10 µs, two fifths are where it queues as a whole and a fifth where each warp does, who both ask
    /// there.
    #[test]
    fn only_turns_queue_for_memory() {
        let waits = Waits { memory: 10.0, shared: 4.0, turns: 8.0, ..Waits::default() };
        let apart = Apart::of(&Counts { waits, ..Counts::empty("turns", 1, 64) }, 2.0);
        let [none, some] = [0.0, 10e-6].map(|memory| {
            let times = [Seconds(9e-6), Seconds(4e-6)];
            apart.wave(times, Seconds(0.0), Seconds(memory), 1).0
        });
        same(none, 9e-6);
        // A warp alone takes 4 + 2 µs, so that of two the second finds a third of one.
        same(some, none + 4e-6 + 2e-6 * (1.0 + 1.0 / 3.0));
        let waits = Waits { turns: 0.0, ..waits };
        let at_once = Apart::of(&Counts { waits, ..Counts::empty("turns", 1, 64) }, 2.0);
        same(at_once.wave([Seconds(9e-6), Seconds(0.0)], Seconds(0.0), Seconds(1e-5), 1).0, 9e-6);
    }
}
