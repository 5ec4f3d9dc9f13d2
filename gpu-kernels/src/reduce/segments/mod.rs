//! The reduction of each segment of an array, in one launch.
//!
//! # Who takes what
//! Segments lie on a path of elements: segment `s` stands at its first element plus [`weight`]` · s`, so that it costs
//! something even where it is empty (D. Merrill, M. Garland, *Merge-based parallel sparse matrix-vector multiplication*,
//! SC 2016). Block `b` owns the stretch from `b · stretch` on, finds its first and last segment by a search among 256 places at
//! a time, and does every *part* that begins in it. A segment of up to a tile is one part; a longer one has those that
//! [`whole`](super::whole) would give to blocks, and the bits of a segment's result are those of `whole` of it alone.
//!
//! # How
//! Up to 256 loads of 16 bytes a segment: by lanes. The block sorts its segments by the power of two of loads that they take.
//! Those of one class fill warps without gaps, 32 / 2^c segments side by side, or rows of 32 loads one after the other; a
//! tree over fewer lanes is that of the block, whose other lanes had nothing. Longer segments and parts: by the block.
//! Nothing is staged, and no barrier stands between segments of lanes: each warp has [`ROWS`] loads a lane in flight.
//!
//! # Partial results
//! A part of a long segment stores its result, and its block adds the number of parts it did to the segment's count; whoever
//! completes the count combines them in `whole`'s order. Nobody waits for anybody. Results and counts are zero before and
//! after the launch. A part's place follows from its first element: at most one first part and one other begin in a tile.

mod block;
mod lanes;
mod load;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, sync_threads_count, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, shared, unroll, warp};

use super::item::{Item, Source};
use super::operator::Reduction;
use super::whole::publishes;
use super::{THREADS, WARPS, per_load, tile};
use block::Block;
use lanes::Near;

/// Loads of 16 bytes that a lane has in flight.
pub const ROWS: usize = 4;
/// The most segments that begin in a stretch.
const MOST: u32 = 8 * THREADS - 1;
/// Classes of segments that lanes take: 1, 2, 4, … 256 loads.
const CLASSES: u32 = 9;
/// The class of those that the block takes.
const LONG: u32 = CLASSES;
/// No class: empty, or no segment.
const NONE: u32 = 31;
/// Classes of less than a warp's lanes.
const WARP_CLASS: u32 = 5;
/// The most tiles of a stretch.
pub const MAX_STRETCH_TILES: u32 = 4;
/// Long segments that have parts in one stretch: one from before, and those that begin there.
const MAX_LONG: u32 = MAX_STRETCH_TILES + 2;

/// What a segment adds to the path, in elements: about 32 bytes, for its start, its result and its place among the others. It
/// also bounds the segments of a stretch.
pub const fn weight<I: Item>() -> u32 {
    tile::<I>() / 512 + 1
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
        .array::<u32>(2 * WARPS * publishes::<R>())
        .array::<u32>(MOST + 1)
        .array::<u16>(MOST)
        .array::<u16>(MOST)
        .array::<u32>(CLASSES + 2)
        .array::<u32>(MAX_LONG + 1)
        .array::<u64>(2)
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
/// [`segments_shared_bytes`] for each stretch of the path, which ends at the end of the last segment plus [`weight`]` · count`;
/// `stretch` is at most [`MAX_STRETCH_TILES`] tiles. `scratch` has [`scratch_words`] words, zero before and after.
#[device]
#[inline(always)]
pub fn segments<R: Reduction, const V: usize, const A: usize>(
    source: <R::Item as Item>::Source,
    len: u64,
    starts: Starts,
    stretch: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    const { assert!(R::EMPTY.is_none() || R::OUTPUTS == 1) };
    const { assert!(MAX_STRETCH_TILES * tile::<R::Item>() / weight::<R::Item>() < MOST) };
    let mut memory = shared::dynamic();
    let block =
        Block::<R> { source, len, scratch, output, warp_results: memory.array(2 * WARPS * publishes::<R>()) };
    let begins: Shared<u32> = memory.array(MOST + 1);
    let places: Shared<u16> = memory.array(MOST);
    let sorted: Shared<u16> = memory.array(MOST);
    let counts: Shared<u32> = memory.array(CLASSES + 2);
    let completed: Shared<u32> = memory.array(MAX_LONG + 1);
    // Where the stretch begins on the path, and its first segment, until the block's own parts: in registers they would have
    // another value spilled (ptxas 13.0).
    let kept: Shared<u64> = memory.array(2);
    let thread = thread_idx_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    let low = block_idx_x() as u64 * stretch;
    let segments = starts.count();
    // Where their number is in device memory, there are blocks for as many as there may be.
    if low >= len + segments as u64 * weight::<R::Item>() as u64 {
        return;
    }

    // ---- The segments that begin in this block's stretch, from `origin` on ---------------------------------------
    if thread <= CLASSES + 1 {
        // Behind the counts stands the number of classes of lanes: no constant, or the compiler would write their loop out.
        counts.write(thread, if thread <= CLASSES { 0 } else { CLASSES });
    }
    if thread == 0 {
        completed.write(MAX_LONG, 0);
    }
    let (first, last) = search::<R>(starts, segments, low, low + stretch);
    if thread == 0 {
        kept.write(0, low);
        kept.write(1, first as u64);
    }
    let count = last - first;
    let origin = if count > 0 { starts.at(first).saturating_sub(V as u64) } else { 0 };
    let mut segment = thread;
    while segment <= count && count > 0 {
        let loaded: [u64; 4] = core::array::from_fn(|i| {
            let segment = segment + i as u32 * THREADS;
            if segment <= count { starts.at(first + segment) } else { origin }
        });
        unroll::<4>(|i| {
            let begin = loaded[i] - origin;
            let segment = segment + i as u32 * THREADS;
            if segment <= count {
                begins.write(segment, if begin < FAR { begin as u32 } else { FAR as u32 });
            }
        });
        segment += 4 * THREADS;
    }
    sync_threads();

    // ---- Sort them by class ------------------------------------------------------------------------------------------
    let class_of = |segment: u32| class::<V>(begins.read(segment + 1) - begins.read(segment));
    let common = if count > 0 { class_of(0) } else { NONE };
    let mut is_other = common == NONE;
    let mut segment = thread;
    while segment < count {
        is_other |= class_of(segment) != common;
        // Where all are of one class, they are in order.
        sorted.write(segment, segment as u16);
        segment += THREADS;
    }
    if thread == 0 && !is_other {
        counts.write(common, count);
    }
    let is_mixed = sync_threads_count(is_other) > 0;
    if thread == 0 && is_mixed && common != NONE {
        counts.write(common, 0);
    }
    sync_threads();
    let mut segment = thread;
    while is_mixed && segment - thread < count {
        let class = if segment < count { class_of(segment) } else { NONE };
        if class == NONE && segment < count {
            if let Some(empty) = R::EMPTY {
                block.output_of(first + segment).write(0, empty);
            }
        }
        let place = rank(counts, class);
        if segment < count {
            places.write(segment, place as u16);
        }
        segment += THREADS;
    }
    sync_threads();
    let of_class: [u32; CLASSES as usize] = core::array::from_fn(|class| counts.read(class as u32));
    let mut segment = thread;
    while is_mixed && segment < count {
        let class = class_of(segment);
        let mut place = places.read(segment) as u32;
        unroll::<{ CLASSES as usize }>(|below| {
            place += if (below as u32) < class { of_class[below] } else { 0 }
        });
        if class != NONE {
            sorted.write(place, segment as u16);
        }
        segment += THREADS;
    }
    sync_threads();

    // ---- Those of lanes ----------------------------------------------------------------------------------------------
    let after = len - origin;
    let near = Near::<R> {
        source: source.offset(origin),
        elements: if after < FAR { after as u32 } else { FAR as u32 },
        begins,
        sorted,
        output: block.output_of(first),
    };
    let mut before = 0;
    let mut batch = thread / 32;
    let mut class = 0;
    while class < counts.read(CLASSES + 1) {
        let members = counts.read(class);
        if members > 0 {
            near.class::<V, A>(class, before, members, &mut batch);
        }
        before += members;
        class += 1;
    }

    // ---- Those of the block; the segment before the first may have parts here too ------------------------------------
    let mut turn = 0;
    let mut is_before = kept.read(1) > 0;
    let mut member = 0;
    while member < counts.read(LONG) || is_before {
        let first = kept.read(1) as u32;
        let segment = if is_before { first - 1 } else { first + sorted.read(before + member) as u32 };
        if block.parts::<V, A>(segment, starts, kept.read(0), stretch, &mut turn) {
            let complete = completed.read(MAX_LONG);
            completed.write(complete, segment);
            completed.write(MAX_LONG, complete + 1);
        }
        member += !is_before as u32;
        is_before = false;
    }

    // ---- Segments whose last part was done here --------------------------------------------------------------------
    sync_threads();
    let mut index = 0;
    while index < completed.read(MAX_LONG) {
        block.finish(completed.read(index), starts, &mut turn);
        index += 1;
    }
}

/// So many elements from the origin, and beyond, no short segment ends.
const FAR: u64 = 1 << 31;

/// The class of a segment of `length` elements.
#[device]
#[inline(always)]
fn class<const V: usize>(length: u32) -> u32 {
    let loads = length.div_ceil(V as u32);
    if loads == 0 {
        NONE
    } else if loads > THREADS {
        LONG
    } else {
        32 - (loads - 1).leading_zeros()
    }
}

/// Counts a segment of a class, and returns how many of it were counted before: one atomic for the lanes of a class.
#[device]
#[inline(always)]
fn rank(counts: Shared<u32>, class: u32) -> u32 {
    let peers = warp::warp_match_any(warp::FULL, class);
    let leader = peers.trailing_zeros();
    let lane = warp::lane_id();
    let mut before = 0;
    if lane == leader && class <= LONG {
        before = counts.atomic(class).fetch_add(peers.count_ones(), Ordering::Relaxed, Scope::Block);
    }
    warp::shuffle_idx(warp::FULL, before, leader) + (peers & ((1 << lane) - 1)).count_ones()
}

/// The first segments at or after two places of the path: of the segments still in question 256 are looked at at a time.
#[device]
#[inline(always)]
fn search<R: Reduction>(starts: Starts, count: u32, low: u64, high: u64) -> (u32, u32) {
    let thread = thread_idx_x();
    let (mut first, mut last) = (0, 0);
    let (mut first_left, mut last_left) = (count, count);
    while first_left > 0 || last_left > 0 {
        let is_before = |segment: u32, place: u64| {
            starts.at(segment) + segment as u64 * (weight::<R::Item>() as u64) < place
        };
        let first_step = first_left / THREADS + 1;
        let last_step = last_left / THREADS + 1;
        let in_first = thread * first_step + first_step - 1;
        let in_last = thread * last_step + last_step - 1;
        let first_is = in_first < first_left && is_before(first + in_first, low);
        let last_is = in_last < last_left && is_before(last + in_last, high);
        let passed = sync_threads_count(first_is) * first_step;
        first += passed;
        first_left = if first_left - passed < first_step { first_left - passed } else { first_step - 1 };
        let passed = sync_threads_count(last_is) * last_step;
        last += passed;
        last_left = if last_left - passed < last_step { last_left - passed } else { last_step - 1 };
    }
    (first, last)
}

/// The blocks that shall fit on a multiprocessor: three leave 80 registers (ptxas 13.0 for sm_90: nothing is spilled). For older
/// ones it needs up to 20 more.
pub const SEGMENTS_BLOCKS: u32 = if cfg!(target_feature = "sm_90") { 3 } else { 2 };
