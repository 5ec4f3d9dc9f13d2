//! The segments that begin in a stretch: where they are, and in which order they are taken.

use gpu_collective::warp::inclusive_scan;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, sync_threads_count, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque, unroll, warp};

use super::{CLASSES, FAR, LANE_CLASSES, LONG, MOST, NONE, ONE_LENGTH, Starts, weight};
use crate::computed::{Computed, SourceOf};
use crate::item::Item;
use crate::{THREADS, per_load, tile};

/// Offsets that a thread asks for at once.
const AT_ONCE: usize = 8;
/// Segments that a thread finds the places of at once.
const RANKS: usize = 2;

/// In shared memory.
pub(super) struct Stretch {
    /// Where each segment begins from an origin on, and where the last one ends.
    pub(super) begins: Shared<u32>,
    /// The class of each, in the upper four bits, and its place among those of the class.
    pub(super) places: Shared<u16>,
    /// The segments by class, where they are sorted.
    pub(super) sorted: Shared<u16>,
    /// How many there are of each class; at [`FROM`], how many are of classes of lanes, or [`ALIKE`].
    pub(super) counts: Shared<u32>,
}

/// Where it stands how many segments lanes take, of a sorted stretch.
pub(super) const FROM: u32 = CLASSES + 1;
/// Nothing was sorted.
pub(super) const ALIKE: u32 = u32::MAX;

/// The class of segments of up to [`ROWS`](super::ROWS) loads, the highest one whose segments a lane takes alone, and
/// all lower ones with it: loads that are not there change no result.
const MERGED: u32 = super::ROWS.ilog2();

/// Segments that a round of [`Stretch::read`] reads.
const ROUND: u32 = AT_ONCE as u32 * THREADS;

impl Stretch {
    /// Before [`Stretch::sort`], and a barrier between.
    #[device]
    #[inline(always)]
    pub(super) fn clear(&self) {
        let thread = opaque(thread_idx_x());
        if thread <= CLASSES {
            self.counts.write(thread, 0);
        }
        if thread == FROM {
            self.counts.write(FROM, ALIKE);
        }
    }

    /// Reads where the segments from `first` on begin, those that stand before `high` on the path and at most
    /// [`MOST`], and returns how many they are. All threads have to be done with what was there.
    #[device]
    #[inline(always)]
    pub(super) fn read<R: Computed>(&self, starts: Starts, first: u32, origin: u64, high: u64) -> u32 {
        // Opaque, or the compiler would keep what it computes of it from stretch to stretch.
        let thread = opaque(thread_idx_x());
        let left = starts.count() - first;
        // Places on the path from the first segment's on, less its distance from the origin. None is before that.
        let weight = weight::<R::Item>();
        let high = high.saturating_sub(origin + first as u64 * weight as u64) as u32;
        let is_before = |segment: u32| self.begins.read(segment) + segment * weight < high;
        let mut read = 0;
        loop {
            let from = read + thread;
            read += ROUND;
            if starts.form == ONE_LENGTH {
                let mut segment = from;
                // Mutants: one more is the same thread's next one, or lies where places are written later.
                while segment < read {
                    keep_rolled();
                    let begin = (first + segment) as u64 * starts.length - origin;
                    self.begins.write(segment, begin.min(FAR) as u32);
                    segment += THREADS;
                }
            } else {
                // Offsets have 32 bits, and so has the origin then. Behind the last segment all is far.
                let origin = origin as u32;
                let (offsets, there) =
                    (starts.offsets.offset((first + from) as u64), (left + 1).saturating_sub(from));
                let loaded: [u32; AT_ONCE] = core::array::from_fn(|i| {
                    offsets.read_only_below(i as u32 * THREADS, there, origin.wrapping_add(FAR as u32))
                });
                unroll::<AT_ONCE>(|i| {
                    let begin = loaded[i].wrapping_sub(origin).min(FAR as u32);
                    self.begins.write(from + i as u32 * THREADS, begin);
                });
            }
            sync_threads();
            // Mutants: no whole number of rounds ends at the most.
            let is_full = read > MOST;
            if is_full || read > left || !is_before(read - 1) {
                break;
            }
        }
        // They stand in order: first of 256 places that are 16 apart, then of the 16 from there on.
        let read = left.min(read - 1);
        let is_read = |segment: u32| segment < read && is_before(segment);
        const APART: u32 = (MOST + 1) / THREADS;
        let before = APART * sync_threads_count(is_read(APART * thread + APART - 1));
        // Mutants: the last of them is not read, and so is none behind it.
        before + sync_threads_count(thread < APART && is_read(before + thread))
    }

    /// Whether the segments were sorted by class: those of one, or all of few loads, are not written to `sorted`.
    /// Behind [`Stretch::sort`]; from shared memory, as in a register it would have others spilled.
    #[inline(always)]
    pub(super) fn is_sorted(&self) -> bool {
        self.counts.read(FROM) != ALIKE
    }

    /// Sorts the first `count` segments by class, unless they are of one or all of few loads, and writes the results
    /// of empty ones, `first` being the number of the first.
    #[device]
    #[inline(always)]
    pub(super) fn sort<R: Computed>(
        &self,
        count: u32,
        first: u32,
        source: SourceOf<R>,
        output: GlobalMut<R::Output>,
    ) {
        let thread = opaque(thread_idx_x());
        let length_of = |segment: u32| self.begins.read(segment + 1) - self.begins.read(segment);
        let class_of = |segment: u32| class::<R::Item>(length_of(segment));
        let common = if count > 0 { class_of(0) } else { NONE };
        let (least, lengths) = lengths_of_class::<R::Item>(common);
        // All of few loads: they stay in their order, so that the lanes of a warp read sectors side by side. Sorted
        // by class, a lane's neighbours would have segments from about three times as far (H200, 2^26 `f32` in
        // segments of about 8: 132 µs, sorted 176; lengths by a power law, where this is asked in vain: 131.7 for
        // 130.0).
        let few = per_load::<R::Item>() << MERGED;
        let (mut is_other, mut is_long) = (common == NONE, common == NONE);
        let mut segment = thread;
        while segment < count {
            keep_rolled();
            let length = length_of(segment);
            is_other |= length.wrapping_sub(least) >= lengths;
            is_long |= length.wrapping_sub(1) >= few;
            segment += THREADS;
        }
        // Mutants: those of one class have the same results sorted, or with longer ones.
        let is_mixed = sync_threads_count(is_other) > 0;
        if warp::uniform(!is_mixed) || warp::uniform(sync_threads_count(is_long) == 0) {
            if thread == 0 {
                self.counts.write(if is_mixed { MERGED } else { common }, count);
            }
            sync_threads();
            return;
        }
        let mut base = 0;
        // Mutants: in one more turn no thread has a segment.
        while warp::uniform(base < count) {
            keep_rolled();
            self.rank::<R>(base, count, first, source, output);
            base += RANKS as u32 * THREADS;
        }
        sync_threads();
        // How many segments are of lower classes: in the class's lane.
        let lane = warp::lane_id();
        // Mutants: the highest class is lower than none.
        let own = if lane <= CLASSES { self.counts.read(lane) } else { 0 };
        let below = inclusive_scan(own, |before, after| before + after) - own;
        if thread == LANE_CLASSES {
            self.counts.write(FROM, below);
        }
        let mut segment = thread;
        // Mutants: in one more turn no thread has a segment.
        while segment - thread < count {
            keep_rolled();
            let place = if segment < count { self.places.read(segment) as u32 } else { NONE << 12 };
            let place_of_class = warp::shuffle_idx(warp::FULL, below, place >> 12);
            if place >> 12 != NONE {
                self.sorted.write(place_of_class + (place & 0xfff), segment as u16);
            }
            segment += THREADS;
        }
        sync_threads();
    }

    /// Finds the class of [`RANKS`] segments a thread and how many of it were counted before: one atomic for the
    /// lanes of a class.
    #[device]
    #[inline(always)]
    fn rank<R: Computed>(
        &self,
        base: u32,
        count: u32,
        first: u32,
        source: SourceOf<R>,
        output: GlobalMut<R::Output>,
    ) {
        let thread = opaque(thread_idx_x());
        let (lane, own) = (thread % 32, base + thread);
        let segment_of = |i: usize| own + i as u32 * THREADS;
        let (mut classes, mut peers, mut before) = ([NONE; RANKS], [0; RANKS], [0; RANKS]);
        unroll::<RANKS>(|i| {
            let segment = segment_of(i);
            if segment < count {
                let length = self.begins.read(segment + 1) - self.begins.read(segment);
                classes[i] = class::<R::Item>(length);
                if classes[i] == NONE {
                    R::write(source, output, (first + segment) as u64, None);
                }
            }
        });
        unroll::<RANKS>(|i| peers[i] = warp::warp_match_any(warp::FULL, classes[i]));
        unroll::<RANKS>(|i| {
            if lane == peers[i].trailing_zeros() && classes[i] != NONE {
                let counter = self.counts.atomic(classes[i]);
                before[i] = counter.fetch_add(peers[i].count_ones(), Ordering::Relaxed, Scope::Block);
            }
        });
        unroll::<RANKS>(|i| {
            let before = warp::shuffle_idx(warp::FULL, before[i], peers[i].trailing_zeros());
            let place = before + (peers[i] & ((1 << lane) - 1)).count_ones();
            if segment_of(i) < count {
                self.places.write(segment_of(i), (classes[i] << 12 | place) as u16);
            }
        });
    }
}

/// The class of a segment of `length` elements.
#[device]
#[inline(always)]
fn class<I: Item>(length: u32) -> u32 {
    if length == 0 {
        NONE
    // Mutants: a segment of a tile is one part either way.
    } else if length > tile::<I>() {
        LONG
    } else {
        32 - (length.div_ceil(per_load::<I>()) - 1).leading_zeros()
    }
}

/// The least length of a class that is one, and how many lengths it has.
#[device]
#[inline(always)]
fn lengths_of_class<I: Item>(class: u32) -> (u32, u32) {
    let more = if class > 0 { per_load::<I>() << (class - 1) } else { 0 };
    if class == LONG {
        (tile::<I>() + 1, u32::MAX - tile::<I>())
    } else {
        (more + 1, more.max(per_load::<I>()))
    }
}
