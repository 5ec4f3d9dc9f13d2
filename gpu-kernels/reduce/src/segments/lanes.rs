//! Segments of up to 256 loads of 16 bytes: by the lanes of a warp, which does the work of a block's eight warps one
//! after the other.
//!
//! A segment of `n` loads has class `⌈log2 n⌉`. A lane has [`ROWS`] of them in flight. Alone the segment would be a
//! block's: load `i` would be thread `i mod 256`'s, whose results are combined over lanes of a warp by halving
//! distances, and then over warps in the same way. Here
//!
//! * up to 4 loads: a lane takes the segment alone, or several segments.
//! * up to 32 loads: lane `j` of `q = 2^c / 4` has the loads `j, j + q, j + 2q, j + 3q`. The first two of the halving
//!   distances are within the lane.
//! * 64 loads: 16 lanes; two loads of a lane are of one warp, and their first distance is within the lane.
//! * more: 32 lanes, four warps' values at a time. Four values are reduced over lanes together: at the first two
//!   distances each half of the lanes goes on with half of the values.

use gpu_collective::warp::{reduce_compact, shuffle_down};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, keep_rolled, opaque, unroll, warp};

use super::load::{is_rolled, load, map_rows, take_first, take_whole, whole};
use super::{FIRST, ROWS, WARP_CLASS};
use crate::computed::{Computed, SourceOf};
use crate::item::Source;
use crate::number::Accumulator;
use crate::whole::{of_thread, publishes};
use crate::{MAX_WORDS, WARPS};

/// The highest class whose segments a lane takes alone: up to [`ROWS`] loads.
const ALONE: u32 = ROWS.ilog2();

/// The segments of a stretch that lanes take.
pub(super) struct Near<R: Computed> {
    /// From the origin on.
    pub(super) source: SourceOf<R>,
    /// How many elements there are from there on, or [`FAR`](super::FAR).
    pub(super) elements: u32,
    pub(super) begins: Shared<u32>,
    /// The segments by class, or `None` where they are not sorted.
    pub(super) sorted: Option<Shared<u16>>,
    pub(super) output: GlobalMut<R::Output>,
    /// What the block remembers of the stretch.
    pub(super) kept: Shared<u64>,
}

/// The segments of a class: `members` in their order from place `before` on.
#[derive(Clone, Copy)]
struct Members {
    before: u32,
    members: u32,
}

impl<R: Computed> Near<R> {
    /// Reduces the `members` segments of a class, `sorted` from `before` on: of its batches this warp's share, every
    /// eighth from `batch` on, which then counts from the next class's first. One code for all classes: a kernel with
    /// a copy for each of the lowest ones takes the driver twice as long to compile.
    #[device]
    #[inline(always)]
    pub(super) fn class<const V: usize, const A: usize>(
        &self,
        class: u32,
        before: u32,
        members: u32,
        batch: &mut u32,
    ) {
        // Binary logarithms: of a segment's lanes, of a lane's loads of it at a time, of the segments that a warp
        // takes together.
        let width = class.saturating_sub(ALONE).min(WARP_CLASS);
        let loads = class.min(ALONE);
        let together = WARP_CLASS - width + ALONE - loads;
        let all = Members { before, members };
        let in_group = warp::lane_id() & ((1 << width) - 1);
        let write = |segment: u32, result: R::Accumulator| {
            R::write(self.source, self.output, segment as u64, Some(result));
        };
        while warp::uniform(*batch << together < members) {
            let number = (*batch << together) + (warp::lane_id() >> width);
            let number_of = |row: u32| number + ((row >> loads) << WARP_CLASS);
            let (segment, first) = self.member(all, number);
            // Mutants: either way of either class has the same results.
            if !is_rolled::<R>() && ALONE < class && class <= WARP_CLASS {
                // Asked of shared memory before the loads are asked for: behind other warps' loads it waits. (H200,
                // 2^26 `f32` in segments of 32: warps waited for shared memory and shuffles as long as for memory.)
                let segment = self.kept.read(FIRST) as u32 + segment;
                if let Some(total) = self.full::<V, A>(class, first) {
                    if in_group == 0 {
                        write(segment, total);
                    }
                    *batch += WARPS;
                    continue;
                }
            }
            let mut bounds = [first; ROWS];
            // Mutants: where a lane has one segment, each of its rows is of that.
            if class < ALONE {
                unroll::<ROWS>(|row| {
                    // Mutants: the first row begins where it was found to.
                    if row > 0 {
                        bounds[row] = self.member(all, number_of(row as u32)).1;
                    }
                });
            }
            let mut results = self.batch::<V, A>(class, width, loads, in_group, bounds);
            // A loop, so that what writes a result stands there once.
            // Mutants: opaque or not, it is the same number.
            let rows = if publishes::<R>() > 2 { opaque(ROWS as u32) } else { ROWS as u32 };
            let mut row = 0;
            while row < rows {
                keep_rolled();
                if in_group == 0 && number_of(row) < members {
                    write(self.kept.read(FIRST) as u32 + self.segment(all, number_of(row)), results[0]);
                }
                results = [results[1], results[2], results[3], results[3]];
                row += 1 << loads;
            }
            *batch += WARPS;
        }
        *batch -= (members + (1 << together) - 1) >> together;
    }

    /// The results of the segments that a warp takes together, given where the one of each row begins and ends: of a
    /// lane alone one after the other, otherwise in the first lane of each.
    #[device]
    #[inline(always)]
    fn batch<const V: usize, const A: usize>(
        &self,
        class: u32,
        width: u32,
        loads: u32,
        in_group: u32,
        mut bounds: [(u32, u32); ROWS],
    ) -> [R::Accumulator; ROWS] {
        // Of all rows together: whether what is wanted may be read with what stands around it.
        let [one, two, three, four] = bounds;
        let last = one.1.max(two.1).max(three.1.max(four.1));
        // Mutants: what just fits may go the other way, to the same elements.
        let is_before_end = last + 2 * V as u32 <= self.elements;
        // Mutants: as above.
        let is_inner = is_before_end && one.0.min(two.0).min(three.0.min(four.0)) >= V as u32;
        let mut values: [R::Accumulator; ROWS];
        let (mut total, mut step) = (R::IDENTITY, 0);
        loop {
            let offset_of = |row: u32| {
                let load = step * ROWS as u32 + (row & ((1 << loads) - 1));
                (in_group + (load << width)) * V as u32
            };
            let begin_of = |row: usize| bounds[row].0 + offset_of(row as u32);
            let sources: [SourceOf<R>; ROWS] =
                core::array::from_fn(|row| self.source.offset(begin_of(row) as u64));
            let wanted: [u32; ROWS] = core::array::from_fn(|row| bounds[row].1.saturating_sub(begin_of(row)));
            let (mut any, mut is_aligned) = (0, true);
            unroll::<ROWS>(|row| {
                any |= wanted[row];
                is_aligned &= sources[row].is_aligned();
            });
            // A vote: lanes that went different ways would wait for memory one after the other.
            let is_whole = is_aligned && (is_before_end || any.is_multiple_of(V as u32));
            let is_whole = warp::warp_vote_all(warp::FULL, is_whole);
            // Mutants: what stays in a cache is a matter of speed.
            let quads = load::<R, V>(sources, wanted, is_whole, is_inner, class <= ALONE);
            // Opaque, or what is asked of each element would wait for the loads in a register.
            let rows = core::array::from_fn(|row| (quads[row], opaque(wanted[row])));
            values = map_rows(is_rolled::<R>(), rows, R::IDENTITY, |row, (quad, wanted)| {
                let offset = offset_of(row);
                let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
                take_first::<R, V, A>(self.source, &mut locals, quad, wanted, offset);
                of_thread::<R, A>(self.source, &locals, 0)
            });
            if class == 0 {
                return values;
            }
            if class > 1 && class <= WARP_CLASS {
                values = [values[0], values[2], values[1], values[3]];
            }
            // Two and two, then what they gave; over lanes where other warps' are there too.
            let mut join = |number: u32| {
                let [a, b, c, d] = values;
                let distance = match number {
                    0 | 1 if class > WARP_CLASS + 1 => 16,
                    2 if class > WARP_CLASS => 8,
                    _ => 0,
                };
                // Mutants: of no distance a lane exchanges with itself.
                let [low, high] = if distance > 0 { exchanged::<R>([a, b], distance) } else { [a, b] };
                let result = R::combine(self.source, low, high);
                values = [c, if number == 0 { d } else { result }, result, result];
            };
            let joins = if class == 1 { 2 } else { 3 };
            if is_rolled::<R>() {
                let mut number = 0;
                while number < opaque(joins) {
                    keep_rolled();
                    join(number);
                    number += 1;
                }
            } else {
                unroll::<3>(|number| {
                    if (number as u32) < joins {
                        join(number as u32);
                    }
                });
            }
            if class == 1 {
                return values;
            }
            // Mutants: of a warp's class either is four.
            let distance = if class > WARP_CLASS { 4 } else { (1 << width) / 2 };
            // Of eight warps the first four with the last four.
            let of_step = halve::<R>(self.source, values[3], distance, 1);
            total = R::combine(self.source, total, of_step);
            step += 1;
            // Mutants: in one more turn no lane has an element.
            if step << (width + loads) >= 1 << class {
                break;
            }
            // All rows are of one segment then; what is the same needs no registers.
            bounds = [bounds[0]; ROWS];
        }
        if class > WARP_CLASS {
            // Warp 0's value is in lane 0, and warp 1's eight lanes on; or of four warps 0's and 2's, and 1's and 3's
            // 16 lanes on.
            total = grow::<R>(self.source, total, 8, 8 << (class > WARP_CLASS + 1) as u32);
        }
        values[0] = total;
        values
    }

    /// The result of the lane's segment, whose `2^class` lanes are [`ROWS`] segments' in turn, where all loads of the
    /// warp are whole: nothing has to be asked for each of them then, nor for each element. Load `i` is lane `i`'s,
    /// so that a warp reads whole lines. All lanes of a warp together; those of a segment's results are the first of
    /// `2^class / ROWS`.
    #[device]
    #[inline(always)]
    fn full<const V: usize, const A: usize>(
        &self,
        class: u32,
        (begin, end): (u32, u32),
    ) -> Option<R::Accumulator> {
        // Opaque, or what follows from it would be kept in registers from batch to batch.
        let (class, lane) = (opaque(class), opaque(warp::lane_id()));
        let (lanes, half) = (1 << class, (1 << class) / 2);
        // Mutants: without it lanes go the other way, to the same result.
        let is_full = self.source.offset(begin as u64).is_aligned() && begin + lanes * V as u32 <= end;
        if !warp::warp_vote_all(warp::FULL, is_full) {
            return None;
        }
        let (in_segment, group) = (lane & (lanes - 1), lane & lanes.wrapping_neg());
        let offset = in_segment * V as u32;
        let quads = whole::<R>(core::array::from_fn(|row| {
            // The lane where the row's result will be.
            let owner = group + half * (row as u32 % 2) + half / 2 * (row as u32 / 2);
            let begin = warp::shuffle_idx(warp::FULL, begin, owner);
            Some(self.source.offset((begin + offset) as u64))
        }));
        let values: [R::Accumulator; ROWS] = core::array::from_fn(|row| {
            let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
            take_whole::<R, V, A>(self.source, &mut locals, quads[row], offset);
            of_thread::<R, A>(self.source, &locals, 0)
        });
        let join = |values, distance| {
            let [low, high] = exchanged::<R>(values, distance);
            R::combine(self.source, low, high)
        };
        let [first, second, third, fourth] = values;
        let total = join([join([first, second], half), join([third, fourth], half)], half / 2);
        Some(halve::<R>(self.source, total, half / 4, 1))
    }

    /// The number in the stretch of one of the members.
    #[inline(always)]
    fn segment(&self, all: Members, number: u32) -> u32 {
        let place = all.before + number;
        self.sorted.map_or(place, |sorted| sorted.read(place) as u32)
    }

    /// One of the members, and where it begins and ends; where there is none of this number, some segment, and one
    /// place.
    #[inline(always)]
    fn member(&self, all: Members, number: u32) -> (u32, (u32, u32)) {
        let segment = self.segment(all, number.min(all.members - 1));
        let (begin, end) = (self.begins.read(segment), self.begins.read(segment + 1));
        // Mutants: the number behind the last is the last one again, to the same result.
        (segment, (begin, if number < all.members { end } else { begin }))
    }
}

/// Lane `i` takes lane `i + distance`, and so on by half the distance down to `last`; nothing for a distance of less.
#[device]
#[inline(always)]
pub(super) fn halve<R: Computed>(
    source: SourceOf<R>,
    value: R::Accumulator,
    distance: u32,
    last: u32,
) -> R::Accumulator {
    reduce_compact(value, distance, last, |first, second| R::combine(source, first, second))
}

/// Lane `i` takes lane `i + distance`, and so on by twice the distance up to `last`.
#[device]
#[inline(always)]
fn grow<R: Computed>(
    source: SourceOf<R>,
    mut value: R::Accumulator,
    mut distance: u32,
    last: u32,
) -> R::Accumulator {
    while distance <= last {
        keep_rolled();
        value = R::combine(source, value, shuffle_down(value, distance));
        distance *= 2;
    }
    value
}

/// One distance for two values: what a lane then combines, in this order. Lanes without the bit `distance` have the
/// first value and that of the lane `distance` on, the others the second ones.
#[device]
#[inline(always)]
fn exchanged<R: Computed>(values: [R::Accumulator; 2], distance: u32) -> [R::Accumulator; 2] {
    let is_upper = warp::lane_id() & distance != 0;
    // Word by word, each of them asked for once: of elements of 8 bytes they are instructions.
    let mut words = [[0; MAX_WORDS as usize]; 2];
    unroll::<{ MAX_WORDS as usize }>(|word| {
        if (word as u32) < publishes::<R>() {
            let [first, second] = [values[0].word(word as u32), values[1].word(word as u32)];
            let (own, sent) = if is_upper { (second, first) } else { (first, second) };
            let other = warp::shuffle_xor(warp::FULL, sent, distance);
            (words[0][word], words[1][word]) = if is_upper { (other, own) } else { (own, other) };
        }
    });
    words.map(|words| Accumulator::from_words(&mut |word| words[word as usize]))
}
