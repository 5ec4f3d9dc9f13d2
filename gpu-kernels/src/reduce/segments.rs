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

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, sync_threads, sync_threads_count, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, shared, unroll, warp};

use super::item::{Item, Source};
use super::number::Accumulator;
use super::operator::Reduction;
use super::quad::Quads;
use super::whole::{block_result, publishes, warp_result, write};
use super::{MAX_WORDS, THREADS, WARPS, per_load, tile, tiles_per_block};

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
        .array::<u32>(CLASSES + 1)
        .array::<u32>(MAX_LONG + 1)
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
    const { assert!(MAX_STRETCH_TILES * tile::<R::Item>() / weight::<R::Item>() < MOST) };
    let mut memory = shared::dynamic();
    let block = Block::<R> {
        source,
        len,
        scratch,
        output,
        warp_results: memory.array(2 * WARPS * publishes::<R>()),
    };
    let begins: Shared<u32> = memory.array(MOST + 1);
    let places: Shared<u16> = memory.array(MOST);
    let sorted: Shared<u16> = memory.array(MOST);
    let counts: Shared<u32> = memory.array(CLASSES + 1);
    let completed: Shared<u32> = memory.array(MAX_LONG + 1);
    let thread = thread_idx_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    // ---- The segments that begin in this block's stretch, from `origin` on ---------------------------------------
    if thread <= CLASSES {
        counts.write(thread, 0);
    }
    if thread == 0 {
        completed.write(MAX_LONG, 0);
    }
    let low = block_idx_x() as u64 * stretch;
    let (first, last) = search::<R>(starts, low, low + stretch);
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
    let mut segment = thread;
    while segment - thread < count {
        let class = if segment < count { class_of(segment) } else { NONE };
        if class == NONE && segment < count {
            write::<R>(block.output_of(first + segment), R::IDENTITY, 0);
        }
        let place = rank(counts, class);
        if segment < count {
            places.write(segment, place as u16);
        }
        segment += THREADS;
    }
    sync_threads();
    let of_class: [u32; CLASSES as usize + 1] = core::array::from_fn(|class| counts.read(class as u32));
    let mut segment = thread;
    while segment < count {
        let class = class_of(segment);
        let mut place = places.read(segment) as u32;
        unroll::<{ CLASSES as usize }>(|below| place += if (below as u32) < class { of_class[below] } else { 0 });
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
    let mut short = 0;
    unroll::<{ CLASSES as usize }>(|class| short += of_class[class]);
    let mut before = 0;
    let mut rounds = 0;
    let mut class = 0;
    while before < short {
        let members = counts.read(class);
        rounds += near.class::<V, A>(class, before, members, rounds);
        before += members;
        class += 1;
    }

    // ---- Those of the block; the segment before the first may have parts here too ------------------------------------
    let mut turn = 0;
    let end = before + counts.read(LONG);
    let mut is_before = first > 0;
    while before < end || is_before {
        let segment = if is_before { first - 1 } else { first + sorted.read(before) as u32 };
        if block.parts::<V, A>(segment, starts, stretch, &mut turn) {
            let complete = completed.read(MAX_LONG);
            completed.write(complete, segment);
            completed.write(MAX_LONG, complete + 1);
        }
        before += !is_before as u32;
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
fn search<R: Reduction>(starts: Starts, low: u64, high: u64) -> (u32, u32) {
    let thread = thread_idx_x();
    let (mut first, mut last) = (0, 0);
    let count = starts.count();
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

/// How many tiles `elements` take. Far less than 2^32: there are at most [`MAX_LEN`](super::MAX_LEN) elements.
#[inline(always)]
fn tiles<R: Reduction>(elements: u64) -> u32 {
    elements.div_ceil(tile::<R::Item>() as u64) as u32
}

/// The tiles of each part of a segment of `length` elements, and how many parts there are.
#[inline(always)]
fn division<R: Reduction>(length: u64) -> (u32, u32) {
    let each = tiles_per_block::<R::Item>(length) as u32;
    (each, tiles::<R>(length).div_ceil(each))
}

/// The accumulators of a thread as one: (0 with 1) with (2 with 3).
#[device]
#[inline(always)]
fn of_thread<R: Reduction, const A: usize>(locals: &[R::Local; A], base: u64) -> R::Accumulator {
    let mut results: [R::Accumulator; A] = core::array::from_fn(|lane| R::widen(locals[lane], base));
    unroll::<A>(|i| {
        if i % 2 == 1 {
            results[i - 1] = R::combine(results[i - 1], results[i]);
        }
    });
    if A > 2 {
        results[0] = R::combine(results[0], results[A / 2]);
    }
    results[0]
}

/// Whether 16 bytes from element `place` on can be read as one or two aligned 16 bytes of an array of `elements`.
#[inline(always)]
fn is_inner<const V: usize>(place: u32, elements: u32) -> bool {
    place >= V as u32 && place + 2 * V as u32 <= elements
}

/// `array[index]`, without memory that an index could be used in.
#[device]
#[inline(always)]
fn get(array: &[u32; ROWS], index: u32) -> u32 {
    let mut value = 0;
    unroll::<ROWS>(|i| value = if i as u32 == index { array[i] } else { value });
    value
}

/// `array[index] = value`, without memory that an index could be used in.
#[device]
#[inline(always)]
fn set<T: Copy>(array: &mut [T; ROWS], index: u32, value: T) {
    unroll::<ROWS>(|i| {
        if i as u32 == index {
            array[i] = value;
        }
    });
}

/// Takes the first `wanted` elements of a load, the first of which is number `offset`.
#[device]
#[inline(always)]
fn take_quad<R: Reduction, const V: usize, const A: usize>(
    locals: &mut [R::Local; A],
    quad: <<R::Item as Item>::Source as Quads>::Quad,
    wanted: u32,
    offset: u32,
) {
    unroll::<V>(|lane| {
        if (lane as u32) < wanted {
            let item = <R::Item as Item>::Source::item(quad, lane as u32);
            locals[lane % A] = R::take(locals[lane % A], item, offset + lane as u32);
        }
    });
}

/// The segments of a stretch that lanes take.
struct Near<R: Reduction> {
    /// From the origin on.
    source: <R::Item as Item>::Source,
    /// How many elements there are from there on, or [`FAR`].
    elements: u32,
    begins: Shared<u32>,
    sorted: Shared<u16>,
    /// From the stretch's first segment on.
    output: GlobalMut<R::Output>,
}

impl<R: Reduction> Near<R> {
    /// Reduces the `members` segments of a class, `sorted` from `before` on: this warp's share, the warps taking turns from
    /// number `rounds` on. Returns the number of turns.
    #[device]
    #[inline(always)]
    fn class<const V: usize, const A: usize>(
        &self,
        class: u32,
        before: u32,
        members: u32,
        rounds: u32,
    ) -> u32 {
        let is_small = class <= WARP_CLASS;
        let width = if is_small { class } else { WARP_CLASS };
        let lane = warp::lane_id();
        let (group, in_group) = (lane >> width, lane & ((1 << width) - 1));
        let side_by_side = 32 >> width;
        // Small segments: as many as fit in the rows. Others: one after the other, its rows in one step or two.
        let per_batch = if is_small { side_by_side * ROWS as u32 } else { 1 };
        let steps = if class == CLASSES - 1 { WARPS / ROWS as u32 } else { 1 };
        let batches = members.div_ceil(per_batch);
        let mut batch = (thread_idx_x() / 32).wrapping_sub(rounds) % WARPS;
        while batch < batches {
            let mut of_rows = R::IDENTITY;
            let mut step = 0;
            while step < steps {
                let member_of = |row: u32| {
                    let number = (batch * steps + step) * ROWS as u32 + row;
                    if is_small { number << (WARP_CLASS - width) | group } else { batch }
                };
                // The load's first element in its segment.
                let offset_of = |row: u32| {
                    let load = if is_small { in_group } else { lane + 32 * (step * ROWS as u32 + row) };
                    load * V as u32
                };
                // The same from the origin on, and how many elements the segment has from there on.
                let mut places = [0u32; ROWS];
                let mut wanted = [0u32; ROWS];
                let mut quads = [<<R::Item as Item>::Source as Quads>::NOTHING; ROWS];
                let mut edges = 0u32;
                unroll::<ROWS>(|row| {
                    let member = member_of(row as u32);
                    if member < members {
                        let segment = self.sorted.read(before + member) as u32;
                        let end = self.begins.read(segment + 1);
                        places[row] = self.begins.read(segment) + offset_of(row as u32);
                        wanted[row] = end.saturating_sub(places[row]);
                    }
                    if wanted[row] > 0 {
                        if is_inner::<V>(places[row], self.elements) {
                            quads[row] = self.source.offset(places[row] as u64).floor().quad();
                        } else {
                            edges |= 1 << row;
                        }
                    }
                });
                while edges > 0 {
                    let row = edges.trailing_zeros();
                    let source = self.source.offset(get(&places, row) as u64);
                    set(&mut quads, row, source.one_by_one(get(&wanted, row)));
                    edges &= edges - 1;
                }
                let mut results = [R::IDENTITY; ROWS];
                unroll::<ROWS>(|row| {
                    let offset = offset_of(row as u32);
                    let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
                    let source = self.source.offset(places[row] as u64);
                    if wanted[row] > 0 && source.is_split(V as u32) && is_inner::<V>(places[row], self.elements) {
                        let second = if source.is_split(wanted[row]) {
                            source.floor().offset(V as u64).quad()
                        } else {
                            <<R::Item as Item>::Source as Quads>::NOTHING
                        };
                        quads[row] = source.joined(quads[row], second);
                    }
                    take_quad::<R, V, A>(&mut locals, quads[row], wanted[row], offset);
                    results[row] = of_thread::<R, A>(&locals, 0);
                });
                let mut distance = (1 << width) / 2;
                while distance > 0 {
                    unroll::<ROWS>(|row| {
                        let own = results[row];
                        let other = Accumulator::from_words(&mut |word| {
                            warp::shuffle_down(warp::FULL, own.word(word), distance)
                        });
                        results[row] = R::combine(own, other);
                    });
                    distance /= 2;
                }
                unroll::<ROWS>(|row| {
                    if is_small {
                        if wanted[row] > 0 && in_group == 0 {
                            let segment = self.sorted.read(before + member_of(row as u32)) as u32;
                            let output = self.output.offset((segment * R::OUTPUTS) as u64);
                            write::<R>(output, results[row], 1);
                        }
                    } else {
                        // Lane i gets what warp i of a block would have.
                        let of_row = Accumulator::from_words(&mut |word| {
                            warp::shuffle_idx(warp::FULL, results[row].word(word), 0)
                        });
                        if lane == step * ROWS as u32 + row as u32 {
                            of_rows = of_row;
                        }
                    }
                });
                step += 1;
            }
            if !is_small {
                let total = warp_result::<R>(of_rows, WARPS);
                if lane == 0 {
                    let segment = self.sorted.read(before + batch) as u32;
                    write::<R>(self.output.offset((segment * R::OUTPUTS) as u64), total, 1);
                }
            }
            batch += WARPS;
        }
        batches
    }
}

/// What the block does together.
struct Block<R: Reduction> {
    source: <R::Item as Item>::Source,
    len: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<R::Output>,
    /// Twice [`WARPS`] accumulators, in turns: the next part needs no barrier before it.
    warp_results: Shared<u32>,
}

impl<R: Reduction> Block<R> {
    /// Where the outputs of a segment and those after it go.
    #[inline(always)]
    fn output_of(&self, segment: u32) -> GlobalMut<R::Output> {
        self.output.offset(segment as u64 * R::OUTPUTS as u64)
    }

    /// Where a part's result goes; behind it, for the first part, the number of parts that are done.
    #[inline(always)]
    fn place(&self, first_element: u64, is_first: bool) -> GlobalMut<u64> {
        let place = first_element / tile::<R::Item>() as u64 * 2 + !is_first as u64;
        self.scratch.offset(place * place_words::<R>() as u64)
    }

    /// Does the parts of a segment that begin in this block's stretch. In thread 0: whether they completed it, and it has
    /// others.
    #[device]
    #[inline(always)]
    fn parts<const V: usize, const A: usize>(
        &self,
        segment: u32,
        starts: Starts,
        stretch: u64,
        turn: &mut u32,
    ) -> bool {
        let (begin, end) = (starts.at(segment), starts.at(segment + 1));
        // The stretch in elements: behind so many segments.
        let behind = segment as u64 * weight::<R::Item>() as u64;
        let low = (block_idx_x() as u64 * stretch).saturating_sub(behind);
        let high = (block_idx_x() as u64 + 1) * stretch - behind;
        let (tiles_each, parts) = division::<R>(end - begin);
        let each = tiles_each as u64 * tile::<R::Item>() as u64;
        let passed = if low > begin { low - begin } else { 0 };
        let mut number = tiles::<R>(passed).div_ceil(tiles_each);
        let mut done = 0;
        let mut part = begin + number as u64 * each;
        while part < end && part < high {
            let part_end = if end - part < each { end } else { part + each };
            let result = self.part::<V, A>(part, part_end, part - begin, turn);
            if thread_idx_x() == 0 {
                if parts == 1 {
                    write::<R>(self.output_of(segment), result, 1);
                } else {
                    let place = self.place(part, number == 0);
                    unroll::<{ MAX_WORDS as usize }>(|word| {
                        let word = word as u32;
                        if word < publishes::<R>() {
                            place.atomic(word).store(result.word(word) as u64, Ordering::Relaxed, Scope::Device);
                        }
                    });
                }
            }
            done += 1;
            number += 1;
            part += each;
        }
        if done == 0 || parts == 1 || thread_idx_x() != 0 {
            return false;
        }
        let count = self.place(begin, true).atomic(publishes::<R>());
        count.fetch_add(done, Ordering::AcqRel, Scope::Device) + done == parts as u64
    }

    /// The result of the elements from `begin` to `end`, the first of which is number `base` of its segment, in thread 0.
    #[device]
    #[inline(always)]
    fn part<const V: usize, const A: usize>(&self, begin: u64, end: u64, base: u64, turn: &mut u32) -> R::Accumulator {
        let first = thread_idx_x() * V as u32;
        let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(first + lane as u32));
        let mut source = self.source.offset(begin + first as u64);
        // At the array's ends a load at a time is looked at.
        let is_inner = begin >= V as u64 && end + 2 * V as u64 <= self.len;
        let mut left = end - begin;
        let mut offset = first;
        while left > 0 {
            let length = if left < tile::<R::Item>() as u64 { left as u32 } else { tile::<R::Item>() };
            let wanted = |load: u32| {
                let passed = first + load * THREADS * V as u32;
                if passed < length { length - passed } else { 0 }
            };
            let mut quads = [<<R::Item as Item>::Source as Quads>::NOTHING; ROWS];
            if is_inner {
                let floor = source.floor();
                unroll::<ROWS>(|load| {
                    if wanted(load as u32) > 0 {
                        quads[load] = floor.offset((load as u32 * THREADS * V as u32) as u64).quad();
                    }
                });
                if source.is_split(V as u32) {
                    unroll::<ROWS>(|load| {
                        let wanted = wanted(load as u32);
                        if wanted > 0 {
                            let next = floor.offset((load as u32 * THREADS * V as u32 + V as u32) as u64);
                            let second = if source.is_split(wanted) {
                                next.quad()
                            } else {
                                <<R::Item as Item>::Source as Quads>::NOTHING
                            };
                            quads[load] = source.joined(quads[load], second);
                        }
                    });
                }
            } else {
                let mut load = 0;
                while wanted(load) > 0 && load < ROWS as u32 {
                    let source = source.offset((load * THREADS * V as u32) as u64);
                    set(&mut quads, load, source.one_by_one(wanted(load)));
                    load += 1;
                }
            }
            unroll::<ROWS>(|load| {
                let passed = load as u32 * THREADS * V as u32;
                take_quad::<R, V, A>(&mut locals, quads[load], wanted(load as u32), offset + passed);
            });
            source = source.offset(length as u64);
            offset += length;
            left -= length as u64;
        }
        self.of_block(of_thread::<R, A>(&locals, base), turn)
    }

    /// Combines the parts of a segment and writes its result.
    #[device]
    #[inline(always)]
    fn finish(&self, segment: u32, starts: Starts, turn: &mut u32) {
        let (begin, end) = (starts.at(segment), starts.at(segment + 1));
        let (tiles_each, parts) = division::<R>(end - begin);
        let each = tiles_each as u64 * tile::<R::Item>() as u64;
        let mut total = R::IDENTITY;
        let mut number = thread_idx_x();
        while number < parts {
            let place = self.place(begin + number as u64 * each, number == 0);
            let partial = Accumulator::from_words(&mut |word| {
                place.atomic(word).load(Ordering::Relaxed, Scope::Device) as u32
            });
            total = R::combine(total, partial);
            unroll::<{ MAX_WORDS as usize }>(|word| {
                if (word as u32) < publishes::<R>() {
                    place.atomic(word as u32).store(0, Ordering::Relaxed, Scope::Device);
                }
            });
            number += THREADS;
        }
        if thread_idx_x() == 0 {
            let count = self.place(begin, true).atomic(publishes::<R>());
            count.store(0, Ordering::Relaxed, Scope::Device);
        }
        let total = self.of_block(total, turn);
        if thread_idx_x() == 0 {
            write::<R>(self.output_of(segment), total, 1);
        }
    }

    /// The result of all threads, in thread 0.
    #[device]
    #[inline(always)]
    fn of_block(&self, value: R::Accumulator, turn: &mut u32) -> R::Accumulator {
        *turn ^= 1;
        block_result::<R>(value, self.warp_results.offset(*turn * WARPS * publishes::<R>()))
    }
}
