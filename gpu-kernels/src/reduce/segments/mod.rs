//! The reduction of each segment of an array, in one launch.
//!
//! # Who takes what
//! Segments lie on a path of elements: segment `s` stands at its first element plus [`weight`]` · s`, so that it costs
//! something even where it is empty (D. Merrill, M. Garland, *Merge-based parallel sparse matrix-vector multiplication*,
//! SC 2016). Block `b` owns the path from `b · share` on and finds its first segment by a search among 256 places at a time: that takes
//! as long as reading 64 KiB, so a share should be much more. It goes along its share in stretches of [`STRETCH_TILES`] tiles and
//! does every *part* that begins in one. A segment of up to a tile is one part; a longer one has those that
//! [`whole`](super::whole) would give to blocks, and the bits of a segment's result are those of `whole` of it alone.
//!
//! # How
//! Segments of up to a tile: by lanes. The block sorts its segments by the power of two of loads that they take, and those of one
//! class fill warps without gaps (`lanes.rs`). Longer segments: parts by the block (`block.rs`). Nothing is staged, and no barrier
//! stands between segments of lanes.
//!
//! # Partial results
//! A part of a long segment stores its result, and its block adds the number of parts it did to the segment's count; whoever
//! completes the count combines them in `whole`'s order. Nobody waits for anybody. Results and counts are zero before and
//! after the launch. A part's place follows from its first element: at most one first part and one other begin in a tile.

mod block;
mod lanes;
mod load;
mod stretch;

use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, sync_threads_count, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, shared};

use super::item::{Item, Source};
use super::operator::Reduction;
use super::whole::publishes;
use super::{THREADS, WARPS, per_load, tile};
use block::Block;
use lanes::Near;
use stretch::Stretch;

/// Loads of 16 bytes that a lane has in flight.
pub const ROWS: usize = 4;
/// The most segments that begin in a stretch.
const MOST: u32 = 16 * THREADS - 1;
/// Classes of segments that lanes take: 1, 2, 4, … 1024 loads.
const CLASSES: u32 = 11;
/// The class of those that the block takes.
const LONG: u32 = CLASSES;
/// No class: empty, or no segment.
const NONE: u32 = 31;
/// The class of [`ROWS`] loads: what a lane has alone.
const SINGLE_LANE_CLASS: u32 = ROWS.ilog2();
/// The class of a load for each lane of a warp.
const WARP_CLASS: u32 = 5;
/// The class of a load for each thread of a block.
const ONE_LOAD_CLASS: u32 = 8;
/// Tiles of a stretch: two for each warp, as segments of a tile are a warp's. Longer ones share the barriers and searches of a stretch among
/// more elements, but what a stretch remembers takes 8 bytes of shared memory a segment.
const STRETCH_TILES: u32 = 2 * WARPS;
/// Long segments that have parts in one stretch: one from before, and those that begin there.
const MAX_LONG: u32 = STRETCH_TILES + 2;

/// What a segment adds to the path, in elements: about 64 bytes, for its start, its result and its place among the others. It
/// also bounds the segments of a stretch.
pub const fn weight<I: Item>() -> u32 {
    tile::<I>() / 256 + 1
}

/// Words of scratch memory for segments of an array of `len` elements.
pub const fn scratch_words<R: Reduction>(len: u64) -> u64 {
    (len / tile::<R::Item>() as u64 + 1) * 2 * place_words::<R>() as u64
}

/// Words of a part's place: its result and, in that of the first part, the number of parts that are done.
const fn place_words<R: Reduction>() -> u32 {
    publishes::<R>() + 1
}

/// Bytes of dynamic shared memory.
pub const fn segments_shared_bytes<R: Reduction>() -> u32 {
    SharedLayout::new()
        .array::<u32>(4 * WARPS * publishes::<R>())
        .array::<u32>(MOST + 1)
        .array::<u16>(MOST)
        .array::<u16>(MOST)
        .array::<u32>(CLASSES + 2)
        .array::<u32>(MAX_LONG + 1)
        .array::<u64>(KEPT)
        .bytes()
}

/// Where segments begin.
#[derive(Clone, Copy)]
pub struct Starts {
    /// `count + 1` offsets in elements, the last of them the end of the last segment; with [`COUNTED`] the number of segments
    /// stands before them, four words from them. Not read for [`ONE_LENGTH`].
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
        if self.form == ONE_LENGTH {
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

/// Reduces each segment of `source`, which has `len` elements, into `output`, [`Reduction::OUTPUTS`] elements each.
///
/// `V` is [`per_load`], `A` is [`accumulators`](super::accumulators). Launch a block of [`THREADS`] threads with
/// [`segments_shared_bytes`] for each share of the path, which ends at the end of the last segment plus [`weight`]` · count`.
/// The kernel's launch bounds are those threads and [`segments_blocks`], or fewer blocks where that spares it a stack. `scratch` has
/// [`scratch_words`] words, zero before and after.
#[device]
#[inline(always)]
pub fn segments<R: Reduction, const V: usize, const A: usize>(
    source: <R::Item as Item>::Source,
    len: u64,
    starts: Starts,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    const { assert!(R::EMPTY.is_none() || R::OUTPUTS == 1) };
    const { assert!(STRETCH_TILES * tile::<R::Item>() / weight::<R::Item>() < MOST) };
    let mut memory = shared::dynamic();
    let block =
        Block::<R> { source, len, scratch, output, warp_results: memory.array(4 * WARPS * publishes::<R>()) };
    let stretch = Stretch {
        begins: memory.array(MOST + 1),
        places: memory.array(MOST),
        sorted: memory.array(MOST),
        counts: memory.array(CLASSES + 2),
    };
    let completed: Shared<u32> = memory.array(MAX_LONG + 1);
    let kept: Shared<u64> = memory.array(KEPT);
    let thread = thread_idx_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    let begin = block_idx_x() as u64 * share;
    // Where their number is in device memory, there are blocks for as many as there may be.
    if begin >= len + starts.count() as u64 * weight::<R::Item>() as u64 {
        return;
    }
    let first = search::<R>(starts, begin);
    if thread == 0 {
        kept.write(LOW, begin);
        kept.write(FIRST, first as u64);
        kept.write(NEXT, 0);
    }
    loop {
        sync_threads();
        let first = kept.read(FIRST) as u32;
        // Where the stretch ends.
        let high = (kept.read(LOW) + (STRETCH_TILES * tile::<R::Item>()) as u64)
            .min((block_idx_x() as u64 + 1) * share)
            .min(len + starts.count() as u64 * weight::<R::Item>() as u64);
        if thread == 0 {
            kept.write(HIGH, high);
            completed.write(MAX_LONG, 0);
        }

        // ---- Segments of lanes -----------------------------------------------------------------------------------
        let mut before = 0;
        if thread == 0 {
            kept.write(COUNT, 0);
        }
        if kept.read(NEXT) < high {
            let origin = if first < starts.count() { starts.at(first).saturating_sub(V as u64) } else { 0 };
            let count = stretch.read::<R>(starts, first, origin, high);
            let is_mixed = stretch.sort::<R>(count, block.output_of(first));
            if thread == 0 {
                kept.write(COUNT, count as u64);
                let next = origin + stretch.begins.read(count) as u64;
                let path = next + (first + count) as u64 * weight::<R::Item>() as u64;
                kept.write(NEXT, if first + count < starts.count() { path } else { u64::MAX });
            }
            let after = len - origin;
            let near = Near::<R> {
                source: source.offset(origin),
                elements: if after < FAR { after as u32 } else { FAR as u32 },
                begins: stretch.begins,
                sorted: is_mixed.then_some(stretch.sorted),
                output,
                first,
            };
            let mut batch = thread / 32;
            let mut class = 0;
            while class < stretch.counts.read(CLASSES + 1) {
                let members = stretch.counts.read(class);
                if members > 0 {
                    near.class::<V, A>(class, before, members, &mut batch);
                }
                before += members;
                class += 1;
            }
        }

        // ---- Those of the block; the segment before the first may have parts here too ----------------------------
        sync_threads();
        let long = if kept.read(COUNT) > 0 { stretch.counts.read(LONG) } else { 0 };
        let mut turn = 0;
        let mut is_before = kept.read(FIRST) > 0;
        let mut member = 0;
        while member < long || is_before {
            let first = kept.read(FIRST) as u32;
            let segment = if is_before {
                first - 1
            } else if long == kept.read(COUNT) as u32 {
                // All are of this class: nothing was sorted.
                first + member
            } else {
                first + stretch.sorted.read(before + member) as u32
            };
            if block.parts::<V, A>(segment, starts, kept.read(LOW), kept.read(HIGH), &mut turn) {
                let complete = completed.read(MAX_LONG);
                completed.write(complete, segment);
                completed.write(MAX_LONG, complete + 1);
            }
            member += !is_before as u32;
            is_before = false;
        }

        // ---- Segments whose last part was done here --------------------------------------------------------------
        sync_threads();
        let mut index = 0;
        while index < completed.read(MAX_LONG) {
            block.finish(completed.read(index), starts, &mut turn);
            index += 1;
        }
        let high = kept.read(HIGH);
        if high >= (block_idx_x() as u64 + 1) * share
            || high >= len + starts.count() as u64 * weight::<R::Item>() as u64
        {
            return;
        }
        sync_threads();
        if thread == 0 {
            kept.write(LOW, high);
            kept.write(FIRST, kept.read(FIRST) + kept.read(COUNT));
        }
    }
}

/// What a block remembers in shared memory, as in registers it would have others spilled: where the stretch begins on the path and ends, its
/// first segment and how many there are, and the least place on the path where the first segment of the next stretch may stand.
const KEPT: u32 = 5;
const LOW: u32 = 0;
const FIRST: u32 = 1;
const NEXT: u32 = 2;
const HIGH: u32 = 3;
const COUNT: u32 = 4;

/// So many elements from the origin, and beyond, no short segment ends.
const FAR: u64 = 1 << 31;

/// The first segment at or after a place of the path: of the segments still in question 256 are looked at at a time.
#[device]
#[inline(always)]
fn search<R: Reduction>(starts: Starts, place: u64) -> u32 {
    let thread = thread_idx_x();
    let (mut first, mut left) = (0, starts.count());
    while left > 0 {
        let step = left / THREADS + 1;
        let at = thread * step + step - 1;
        let segment = first + at;
        let is_before =
            at < left && starts.at(segment) + segment as u64 * (weight::<R::Item>() as u64) < place;
        let passed = sync_threads_count(is_before) * step;
        first += passed;
        left = if left - passed < step { left - passed } else { step - 1 };
    }
    first
}

/// The blocks that shall fit on a multiprocessor: three leave 80 registers (ptxas 13.0 for sm_90: nothing is spilled). For older
/// ones it needs up to 20 more, and so do pairs of results and values that come with a place.
pub const fn segments_blocks<R: Reduction>() -> u32 {
    let most = if cfg!(target_feature = "sm_90") { 3 } else { 2 };
    if publishes::<R>() > 2 || R::OUTPUTS > 1 { most - 1 } else { most }
}
