//! The segments that begin in a stretch: where they are, and in which order they are taken.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, sync_threads_count, thread_idx_x};
use gpu_std::{device, unroll, warp};

use super::{CLASSES, FAR, LONG, NONE, Starts, weight};
use crate::reduce::item::Item;
use crate::reduce::operator::Reduction;
use crate::reduce::{THREADS, per_load, tile};

/// Offsets that a thread asks for at once.
const AT_ONCE: usize = 4;

/// In shared memory.
pub(super) struct Stretch {
    /// Where each segment begins from an origin on, and where the last one ends.
    pub(super) begins: Shared<u32>,
    /// The place of each among those of its class.
    pub(super) places: Shared<u16>,
    /// The segments by class, where there are several.
    pub(super) sorted: Shared<u16>,
    /// How many there are of each class; behind them stands the number of classes of lanes: no constant, or the compiler would write
    /// their loop out.
    pub(super) counts: Shared<u32>,
}

impl Stretch {
    /// Reads where the segments from `first` on begin, those that stand before `high` on the path, and returns how many
    /// they are. All threads have to be done with what was there.
    #[device]
    #[inline(always)]
    pub(super) fn read<R: Reduction>(&self, starts: Starts, first: u32, origin: u64, high: u64) -> u32 {
        let thread = thread_idx_x();
        if thread <= CLASSES + 1 {
            self.counts.write(thread, if thread <= CLASSES { 0 } else { CLASSES });
        }
        let left = starts.count() - first;
        // Places on the path from the first segment's on, less its distance from the origin. None is before that.
        let weight = weight::<R::Item>();
        let high = high.saturating_sub(origin + first as u64 * weight as u64) as u32;
        let (mut count, mut base) = (0, 0);
        // There are fewer than `MOST`, so this ends within `begins`.
        while count == base {
            let loaded: [u64; AT_ONCE] = core::array::from_fn(|i| {
                let segment = base + thread + i as u32 * THREADS;
                if segment <= left { starts.at(first + segment) } else { origin }
            });
            unroll::<AT_ONCE>(|i| {
                let segment = base + thread + i as u32 * THREADS;
                let begin = loaded[i] - origin;
                let begin = if begin < FAR { begin as u32 } else { FAR as u32 };
                self.begins.write(segment, begin);
                count += sync_threads_count(segment < left && begin + segment * weight < high);
            });
            base += AT_ONCE as u32 * THREADS;
        }
        count
    }

    /// Sorts the first `count` segments by class, and writes the results of empty ones, `output` being that of the first. Returns whether
    /// there was anything to sort: segments of one class are not written to `sorted`.
    #[device]
    #[inline(always)]
    pub(super) fn sort<R: Reduction>(&self, count: u32, output: GlobalMut<R::Output>) -> bool {
        let thread = thread_idx_x();
        let length_of = |segment: u32| self.begins.read(segment + 1) - self.begins.read(segment);
        let class_of = |segment: u32| class::<R::Item>(length_of(segment));
        let common = if count > 0 { class_of(0) } else { NONE };
        let (least, lengths) = lengths_of_class::<R::Item>(common);
        let mut is_other = false;
        let mut segment = thread;
        while segment < count {
            is_other |= length_of(segment).wrapping_sub(least) >= lengths;
            segment += THREADS;
        }
        let is_mixed = sync_threads_count(is_other) > 0 || common == NONE;
        if !is_mixed {
            if thread == 0 {
                self.counts.write(common, count);
            }
            sync_threads();
            return false;
        }
        let mut segment = thread;
        while segment - thread < count {
            let class = if segment < count { class_of(segment) } else { NONE };
            if class == NONE && segment < count {
                if let Some(empty) = R::EMPTY {
                    output.write(segment, empty);
                }
            }
            let place = self.rank(class);
            if segment < count {
                self.places.write(segment, place as u16);
            }
            segment += THREADS;
        }
        sync_threads();
        let of_class: [u32; CLASSES as usize] = core::array::from_fn(|class| self.counts.read(class as u32));
        let mut segment = thread;
        while segment < count {
            let class = class_of(segment);
            let mut place = self.places.read(segment) as u32;
            unroll::<{ CLASSES as usize }>(|below| {
                place += if (below as u32) < class { of_class[below] } else { 0 }
            });
            if class != NONE {
                self.sorted.write(place, segment as u16);
            }
            segment += THREADS;
        }
        sync_threads();
        true
    }

    /// Counts a segment of a class, and returns how many of it were counted before: one atomic for the lanes of a class.
    #[device]
    #[inline(always)]
    fn rank(&self, class: u32) -> u32 {
        let peers = warp::warp_match_any(warp::FULL, class);
        let leader = peers.trailing_zeros();
        let lane = warp::lane_id();
        let mut before = 0;
        if lane == leader && class <= LONG {
            before = self.counts.atomic(class).fetch_add(peers.count_ones(), Ordering::Relaxed, Scope::Block);
        }
        warp::shuffle_idx(warp::FULL, before, leader) + (peers & ((1 << lane) - 1)).count_ones()
    }
}

/// The class of a segment of `length` elements.
#[device]
#[inline(always)]
fn class<I: Item>(length: u32) -> u32 {
    if length == 0 {
        NONE
    } else if length > tile::<I>() {
        LONG
    } else {
        32 - (length.div_ceil(per_load::<I>()) - 1).leading_zeros()
    }
}

/// The least length of a class, and how many lengths it has.
#[device]
#[inline(always)]
fn lengths_of_class<I: Item>(class: u32) -> (u32, u32) {
    match class {
        0 => (1, per_load::<I>()),
        NONE => (0, 1),
        LONG => (tile::<I>() + 1, u32::MAX - tile::<I>()),
        _ => ((per_load::<I>() << (class - 1)) + 1, per_load::<I>() << (class - 1)),
    }
}
