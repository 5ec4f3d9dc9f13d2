//! The reduction of each segment of an array, in one launch.
//!
//! # Who takes what
//! Segments lie on a path of elements: segment `s` stands at its first element plus [`weight`]` · s`, so that it
//! costs something even where it is empty (D. Merrill, M. Garland, *Merge-based parallel sparse matrix-vector
//! multiplication*, SC 2016). Block `b` owns the path from `b · share` on and finds its first segment by a search
//! among 256 places at a time: that takes as long as reading 64 KiB, so a share should be much more. It goes along
//! its share in stretches of up to [`stretch_tiles`] tiles and does every *part* that begins in one. A segment of up
//! to a tile is one part; a longer one has those that [`whole`](super::whole) would give to blocks, and the bits of a
//! segment's result are those of `whole` of it alone.
//!
//! # How
//! Segments of up to a quarter of a tile: by lanes. The block sorts its segments by the power of two of loads that
//! they take, and those of one class fill warps without gaps (`lanes.rs`); where all are so short that each is one
//! lane's, they stay in their order. Longer ones go part by part (`parts.rs`): the parts of a stretch are listed
//! first, by a thread for each segment; then every warp takes its share of each, and no barrier stands between them
//! (H200, 2^26 `f32`, segments of 2^12: 66 µs; by warps that worked out what comes next themselves 87, by the block
//! with a barrier for each two parts 74). Nothing is staged.
//!
//! # Partial results
//! A part of a long segment stores its result, and its block adds the number of parts it did to the segment's count;
//! whoever completes the count combines them in `whole`'s order (`finish.rs`). Nobody waits for anybody. Results and
//! counts are zero before and after the launch. A part's place follows from its first element: at most one first part
//! and one other begin in a tile.

mod ahead;
mod finish;
mod lanes;
mod load;
mod parts;
mod search;
mod stretch;

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, sync_threads_count, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, opaque, shared, warp};

use super::computed::{Computed, SourceOf};
use super::item::{Item, Source};
use super::whole::publishes;
use super::{THREADS, WARPS, per_load, tile};
use lanes::Near;
use parts::{LONG_WORDS, PARTIAL, Parts};
use search::{first_not, window};
use stretch::{FROM, Stretch};

/// Loads of 16 bytes that a lane has in flight.
pub const ROWS: usize = 4;
/// The most segments that begin in a stretch.
const MOST: u32 = 16 * THREADS - 1;
/// Classes of segments of up to a tile: 1, 2, 4, … 1024 loads.
const CLASSES: u32 = 11;
/// Those that lanes of a warp take: up to 256 loads.
const LANE_CLASSES: u32 = 9;
/// The class of segments of more than a tile.
const LONG: u32 = CLASSES;
/// No class: empty, or no segment.
const NONE: u32 = 15;
/// The class of a load for each lane of a warp.
const WARP_CLASS: u32 = 5;
/// The most tiles of a stretch. Barriers and latencies of a stretch are shared among its elements, but what it
/// remembers takes shared memory. With 34 the share of each of an H200's 528 blocks is one stretch up to 2^26 `f32`
/// and somewhat more, and four blocks have 164 KiB (segments of 2^12 with three blocks of 396: 65.7 µs in one stretch
/// of up to 48 tiles, 67.4 in two of up to 32).
const fn stretch_tiles(words: u32) -> u32 {
    match words {
        1 => 34,
        2 | 3 => 32,
        _ => 16,
    }
}
/// The most parts that begin in a stretch: a segment that is taken by parts has more than a quarter of a tile, and of
/// a longer one all parts but the last have a tile. One may belong to the segment before, and one may reach beyond
/// the stretch's end.
const fn most_parts(words: u32) -> u32 {
    4 * stretch_tiles(words) + 2
}
/// Long segments that have parts in one stretch: one from before, and those that begin there.
const fn most_long(words: u32) -> u32 {
    stretch_tiles(words) + 2
}

/// What a segment adds to the path, in elements: about 64 bytes, for its start, its result and its place among the
/// others.
pub const fn weight<I: Item>() -> u32 {
    tile::<I>() / 256 + 1
}

/// Words of scratch memory for segments of an array of `len` elements, for results of so many words
/// ([`publishes`](super::publishes)).
pub const fn scratch_words<I: Item>(words: u32, len: u64) -> u64 {
    (len / tile::<I>() as u64 + 1) * 2 * place_words(words) as u64
}

/// Words of a part's place: its result and, in that of the first part, the number of parts that are done.
const fn place_words(words: u32) -> u32 {
    words + 1
}

/// Bytes of dynamic shared memory, for results of so many words ([`publishes`](super::publishes)).
pub const fn segments_shared_bytes(words: u32) -> u32 {
    SharedLayout::new()
        .array::<u64>(KEPT)
        .array::<u64>(most_parts(words))
        .array::<u32>(most_parts(words) * 2)
        .array::<u32>(most_parts(words))
        .array::<u32>(most_parts(words) * WARPS * words)
        .array::<u32>(MOST + 1)
        .array::<u16>(MOST)
        .array::<u16>(MOST)
        .array::<u32>(CLASSES + 2)
        .array::<u32>(most_long(words) * LONG_WORDS)
        .array::<u32>(1)
        .bytes()
}

/// Where segments begin.
#[derive(Clone, Copy)]
pub struct Starts {
    /// `count + 1` offsets in elements, the last of them the end of the last segment; with [`COUNTED`] the number of
    /// segments stands before them, four words from them. Not read for [`ONE_LENGTH`].
    pub offsets: Global<u32>,
    /// [`ONE_LENGTH`], [`OFFSETS`] or [`COUNTED`].
    pub form: u32,
    /// The length of all segments for [`ONE_LENGTH`].
    pub length: u64,
    /// How many segments there are; with [`COUNTED`] the most there may be.
    pub count: u32,
}

/// Segments of one length, one after the other.
pub const ONE_LENGTH: u32 = 0;
/// Segments between offsets.
pub const OFFSETS: u32 = 1;
/// The same, and their number is in device memory.
pub const COUNTED: u32 = 2;

impl Starts {
    /// The first element of a segment, or one past the last.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn at(self, segment: u32) -> u64 {
        // Opaque, or what is asked here would be kept from one place to the next, spilled (ptxas 13.0 for sm_120).
        if opaque(self.form) == ONE_LENGTH {
            segment as u64 * self.length
        } else {
            self.offsets.read_only(segment) as u64
        }
    }

    /// How many segments there are.
    #[device]
    #[inline(always)]
    fn count(self) -> u32 {
        if self.form == COUNTED { self.offsets.offset(4u64.wrapping_neg()).read_only(0) } else { self.count }
    }
}

/// Reduces each segment of `source`, which has `len` elements, into `output`, [`Computed::OUTPUTS`] elements each.
///
/// `V` is [`per_load`], `A` is [`accumulators`](super::accumulators). Launch a block of [`THREADS`] threads with
/// [`segments_shared_bytes`] for each share of the path, which ends at the end of the last segment plus [`weight`]` ·
/// count`. With [`COUNTED`] the last segment ends at `len`, and the blocks, however many, have shares alike that are
/// worked out from the count, at least a tile. The kernel's launch bounds are those threads and [`segments_blocks`],
/// or fewer blocks where that spares it a stack. `scratch` has [`scratch_words`] words, zero before and after.
#[device]
#[inline(always)]
pub fn segments<R: Computed, const V: usize, const A: usize>(
    source: SourceOf<R>,
    len: u64,
    starts: Starts,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    // Mutants: no kernel has just as many.
    const { assert!(most_parts(publishes::<R>()) <= THREADS, "a thread notes each, and combines its results") };
    let mut memory = shared::dynamic();
    let kept: Shared<u64> = memory.array(KEPT);
    let firsts = memory.array(most_parts(publishes::<R>()));
    let lengths = memory.array(most_parts(publishes::<R>()) * 2);
    let owners = memory.array(most_parts(publishes::<R>()));
    let results = memory.array(most_parts(publishes::<R>()) * WARPS * publishes::<R>());
    let stretch = Stretch {
        begins: memory.array(MOST + 1),
        places: memory.array(MOST),
        sorted: memory.array(MOST),
        counts: memory.array(CLASSES + 2),
    };
    let long = memory.array(most_long(publishes::<R>()) * LONG_WORDS);
    let number: Shared<u32> = memory.array(1);
    let thread = thread_idx_x();

    let each = weight::<R::Item>() as u64;
    let of_all = |count: u32| len + count as u64 * each;
    let (mut share, mut begin) = (share, block_idx_x() as u64 * share);
    let mut guess = ahead::likely_first(begin, of_all(starts.count), starts.count as u64);
    ahead::ask::<R::Item>(source, len, starts, begin, share, guess);
    stretch.clear();
    if thread == 0 {
        number.write(0, 0);
    }
    grid_dependency_synchronize();
    trigger_launch_completion();

    let all = starts.count() as u64;
    let path_end = of_all(all as u32);
    if starts.form == COUNTED {
        // In units that make 32 bits enough: a division of 64 is a hundred instructions. Never by zero; one that says
        // so has no panic.
        let units = path_end.div_ceil(SHARE_UNIT) as u32;
        share = (units.div_ceil(grid_dim_x().max(1)) as u64 * SHARE_UNIT).max(tile::<R::Item>() as u64);
        begin = block_idx_x() as u64 * share;
        guess = ahead::likely_first(begin, path_end, all);
    }
    // Where their number is in device memory, there are blocks for as many as there may be.
    // Mutants: a block that begins where the path ends finds nothing to do.
    if begin >= path_end {
        return;
    }
    let end = (begin + share).min(path_end);
    let high = begin + length_of_stretch::<R>(end - begin);
    // A segment for each thread around the guess: where it is good, all that begin in the stretch are among them, and
    // memory is asked once.
    let near = window(guess);
    let own = near + thread as u64;
    let offset = if own <= all { starts.at(own as u32) } else { 0 };
    let is_below = |place: u64| own < all && offset + own * each < place;
    let passed = sync_threads_count(is_below(begin));
    let inside = sync_threads_count(is_below(high));
    let is_found = passed < THREADS && (passed > 0 || near == 0);
    let is_known = is_found && inside < THREADS;
    let first = if is_found {
        near + passed as u64
    } else {
        first_not(all, |segment| starts.at(segment as u32) + segment * each < begin)
    };
    ahead::ask_more::<R::Item>(source, len, all, begin, end - begin, first);
    if is_known {
        let origin = origin::<R>(begin, first, V);
        if thread >= passed && thread <= inside {
            stretch.begins.write(thread - passed, (offset - origin).min(FAR) as u32);
        }
    }
    if is_found {
        if thread == passed {
            kept.write(FOLLOWING, offset);
        }
        if thread + 1 == passed {
            kept.write(BEFORE, offset);
        }
    } else if thread == 0 && first > 0 {
        kept.write(FOLLOWING, starts.at(first as u32));
        kept.write(BEFORE, starts.at(first as u32 - 1));
    }
    if thread == 0 {
        kept.write(LOW, begin);
        kept.write(FIRST, first);
        kept.write(NEXT, 0);
        kept.write(END, end);
        kept.write(COUNT, if is_known { (inside - passed) as u64 } else { UNKNOWN });
    }
    loop {
        sync_threads();
        let (low, first) = (kept.read(LOW), kept.read(FIRST) as u32);
        let mut high = low + length_of_stretch::<R>(kept.read(END) - low);

        // ---- The segments that begin here ------------------------------------------------------------------------
        let mut count = 0;
        let origin = origin::<R>(low, first as u64, V);
        let mut next = kept.read(NEXT);
        // Mutants: of a next segment that stands where the stretch ends nothing is read.
        let has_some = warp::uniform(next < high);
        if has_some {
            let known = kept.read(COUNT);
            count =
                if known == UNKNOWN { stretch.read::<R>(starts, first, origin, high) } else { known as u32 };
            next = origin
                + stretch.begins.read(count) as u64
                + (first + count) as u64 * weight::<R::Item>() as u64;
            // The stretch ends where it is full of segments.
            high = high.min(if count == MOST { next } else { u64::MAX });
            // Mutants: behind the last segment none is found.
            next = if first + count < starts.count() { next } else { u64::MAX };
        }
        sync_threads();
        if thread == 0 {
            kept.write(HIGH, high);
            kept.write(ORIGIN, origin);
            kept.write(NEXT, next);
            kept.write(COUNT, count as u64);
        }
        if has_some {
            stretch.sort::<R>(count, first, source, output);
        } else {
            // Mutants: of no segments there are no classes, and up to the next barrier the first thread alone reads.
            sync_threads();
        }
        // ---- Longer ones part by part, then the others by lanes ----------------------------------------------------
        let parts = Parts::<R> {
            source,
            len,
            starts,
            scratch,
            output,
            results,
            firsts,
            lengths,
            owners,
            long,
            number,
            kept,
            begins: stretch.begins,
            sorted: stretch.sorted,
            counts: stretch.counts,
        };
        parts.list::<V>();
        sync_threads();
        parts.take::<V, A>();
        let near = Near::<R> {
            source: source.offset(kept.read(ORIGIN)),
            elements: (len - kept.read(ORIGIN)).min(FAR) as u32,
            begins: stretch.begins,
            sorted: stretch.is_sorted().then_some(stretch.sorted),
            output,
            kept,
        };
        // Those that lanes take; where all are alike, none of the classes of lanes may have any.
        let mut before =
            if stretch.is_sorted() { stretch.counts.read(FROM) } else { kept.read(COUNT) as u32 };
        let mut class = opaque(LANE_CLASSES);
        let mut batch = thread / 32;
        while class > 0 {
            class -= 1;
            let members = stretch.counts.read(class);
            before -= members;
            // Mutants: of no members there is no batch.
            if members > 0 {
                near.class::<V, A>(class, before, members, &mut batch);
            }
        }
        sync_threads();
        parts.combine();

        // ---- Segments whose last part was done here --------------------------------------------------------------
        // Mutants: the parts of a segment of several are counted beside it.
        if number.read(0) >= PARTIAL {
            sync_threads();
            parts.complete();
        }
        let high = kept.read(HIGH);
        if high == kept.read(END) {
            return;
        }
        sync_threads();
        stretch.clear();
        // Opaque for the same reason.
        if opaque(thread) == 0 {
            number.write(0, 0);
            let (first, count) = (kept.read(FIRST) as u32, kept.read(COUNT) as u32);
            if count > 0 {
                let behind = stretch.begins.read(count) as u64;
                let following =
                    // Mutants: only a segment that begins 2^31 elements on tells, more than is simulated.
                    if behind < FAR { kept.read(ORIGIN) + behind } else { starts.at(first + count) };
                kept.write(FOLLOWING, following);
                kept.write(BEFORE, kept.read(ORIGIN) + stretch.begins.read(count - 1) as u64);
            }
            kept.write(LOW, high);
            kept.write(FIRST, (first + count) as u64);
            kept.write(COUNT, UNKNOWN);
        }
    }
}

/// What a share that a kernel works out for [`COUNTED`] segments is a multiple of: their path is at most 66 times 2^32.
const SHARE_UNIT: u64 = 256;

/// An element before those of all segments from `first` on, which stand at `low` on the path or behind: by at least a
/// load, if there are as many before.
#[inline(always)]
fn origin<R: Computed>(low: u64, first: u64, load: usize) -> u64 {
    low.saturating_sub(first * weight::<R::Item>() as u64).saturating_sub(load as u64)
}

/// The length of the next stretch, where so much is left: the last two are alike, but pairs of tiles are not cut.
#[inline(always)]
fn length_of_stretch<R: Computed>(left: u64) -> u64 {
    let most = (stretch_tiles(publishes::<R>()) * tile::<R::Item>()) as u64;
    // Mutants: in two stretches segments have the same results.
    if left <= most {
        left
    // Mutants: twice the most is cut into the same two.
    } else if left < 2 * most {
        left.div_ceil(4 * tile::<R::Item>() as u64) * (2 * tile::<R::Item>()) as u64
    } else {
        most
    }
}

/// What a block remembers in shared memory, as in registers it would have others spilled: where the stretch begins on
/// the path and ends, its first segment and how many begin in it, what element their places are counted from, the
/// least place on the path where the first segment of the next stretch may stand, where the share ends, and the first
/// elements of the segment before and of the first one.
const KEPT: u32 = 9;
const LOW: u32 = 0;
const HIGH: u32 = 1;
const FIRST: u32 = 2;
const COUNT: u32 = 3;
const ORIGIN: u32 = 4;
const NEXT: u32 = 5;
const END: u32 = 6;
const BEFORE: u32 = 7;
const FOLLOWING: u32 = 8;

/// How many segments there are has not been read.
const UNKNOWN: u64 = u64::MAX;

/// So many elements from the origin, and beyond, no short segment ends.
const FAR: u64 = 1 << 31;

/// The blocks that shall fit on a multiprocessor, as the architecture that is compiled for has it.
pub const fn segments_blocks<R: Computed>() -> u32 {
    segments_blocks_of::<R>(cfg!(target_feature = "sm_90"))
}

/// [`segments_blocks`] of images for compute capability 9.0 and later, or of older ones. Four leave 64 registers (ptxas 13.0 for sm_90: sums
/// and extremes of `f32` spill nothing; H200, 2^26 `f32` in segments of 8: 94 µs against 104 with three). For older
/// ones it needs up to 20 more, and so do pairs of results and values that come with a place.
pub const fn segments_blocks_of<R: Computed>(is_sm_90: bool) -> u32 {
    let most = if is_sm_90 { 4 } else { 2 };
    // Mutants: how many blocks fit is a matter of speed.
    if publishes::<R>() > 2 || R::OUTPUTS > 1 { most - 1 } else { most }
}
