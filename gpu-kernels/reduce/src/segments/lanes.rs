//! Segments of up to 256 loads of 16 bytes: by the lanes of a warp, which does the work of a block's eight warps one after the other.
//!
//! A segment of `n` loads has class `⌈log2 n⌉`. A lane has [`ROWS`] of them in flight. Alone the segment would be a block's: load `i`
//! would be thread `i mod 256`'s, whose results are combined over lanes of a warp by halving distances, and then over warps in the same way.
//! Here
//!
//! * up to 4 loads: a lane takes the segment alone, or several segments.
//! * up to 32 loads: lane `j` of `q = 2^c / 4` has the loads `j, j + q, j + 2q, j + 3q`. The first two of the halving distances
//!   are within the lane.
//! * 64 loads: 16 lanes; two loads of a lane are of one warp, and their first distance is within the lane.
//! * more: 32 lanes, four warps' values at a time. Four values are reduced over lanes together: at the first two distances each half
//!   of the lanes goes on with half of the values.

use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, opaque, unroll, warp};

use super::load::{load, take_quad};
use super::{ROWS, WARP_CLASS};
use crate::WARPS;
use crate::item::{Item, Source};
use crate::number::Accumulator;
use crate::operator::Reduction;
use crate::whole::{of_thread, write};

/// The segments of a stretch that lanes take.
pub(super) struct Near<R: Reduction> {
    /// From the origin on.
    pub(super) source: <R::Item as Item>::Source,
    /// How many elements there are from there on, or [`FAR`](super::FAR).
    pub(super) elements: u32,
    pub(super) begins: Shared<u32>,
    /// The segments by class, or `None` where they are not sorted.
    pub(super) sorted: Option<Shared<u16>>,
    pub(super) output: GlobalMut<R::Output>,
    /// The stretch's first segment.
    pub(super) first: u32,
}

impl<R: Reduction> Near<R> {
    /// Reduces the `members` segments of a class, `sorted` from `before` on: of its batches this warp's share, every eighth
    /// from `batch` on, which then counts from the next class's first.
    #[device]
    #[inline(always)]
    pub(super) fn class<const V: usize, const A: usize>(
        &self,
        class: u32,
        before: u32,
        members: u32,
        batch: &mut u32,
    ) {
        match class {
            0 => self.alone::<V, A, 0>(before, members, batch),
            1 => self.alone::<V, A, 1>(before, members, batch),
            2 => self.alone::<V, A, 2>(before, members, batch),
            _ => self.together::<V, A>(class, before, members, batch),
        }
    }

    /// Segments of up to `2^CLASS` loads, at most [`ROWS`]: nothing passes between lanes. A lane has as many segments as make [`ROWS`] loads.
    #[device]
    #[inline(always)]
    fn alone<const V: usize, const A: usize, const CLASS: u32>(
        &self,
        before: u32,
        members: u32,
        batch: &mut u32,
    ) {
        let loads = 1 << CLASS;
        let batch_members = 32 * (ROWS as u32 >> CLASS);
        let batches = members.div_ceil(batch_members);
        while *batch < batches {
            let places: [(u32, u32, u32); ROWS] = core::array::from_fn(|row| {
                let member = *batch * batch_members + (row / loads) as u32 * 32 + warp::lane_id();
                self.member::<V>(before + member, member < members)
            });
            let offset_of = |row: usize| (row % loads * V) as u32;
            let begin_of = |row: usize| places[row].1 + offset_of(row);
            let mut is_inner = true;
            unroll::<ROWS>(|row| is_inner &= self.is_inner::<V>(places[row].1, places[row].2));
            let quads = load::<R, V, true>(
                core::array::from_fn(|row| self.source.offset(begin_of(row) as u64)),
                core::array::from_fn(|row| places[row].2.saturating_sub(begin_of(row))),
                is_inner,
            );
            let mut values = [R::IDENTITY; ROWS];
            unroll::<ROWS>(|row| {
                // Opaque, or how many elements of each load are the segment's would wait for the loads in registers.
                let wanted = opaque(places[row].2).saturating_sub(begin_of(row));
                let offset = offset_of(row);
                let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
                take_quad::<R, V, A>(&mut locals, quads[row], wanted, offset);
                values[row] = of_thread::<R, A>(&locals, 0);
            });
            unroll::<ROWS>(|row| {
                if row % loads == 0 {
                    let member = *batch * batch_members + (row / loads) as u32 * 32 + warp::lane_id();
                    let own = core::array::from_fn(|i| if i < loads { values[row + i] } else { R::IDENTITY });
                    self.write(places[row].0, member < members, quarters::<R>(own));
                }
            });
            *batch += WARPS;
        }
        *batch -= batches;
    }

    /// Segments that several lanes take.
    #[device]
    #[inline(always)]
    fn together<const V: usize, const A: usize>(
        &self,
        class: u32,
        before: u32,
        members: u32,
        batch: &mut u32,
    ) {
        // The binary logarithm of the lanes of a segment.
        let width = if class < WARP_CLASS + 2 { class - ROWS.ilog2() } else { WARP_CLASS };
        let lane = warp::lane_id();
        let in_group = lane & ((1 << width) - 1);
        let side_by_side = 32 >> width;
        let batches = members.div_ceil(side_by_side);
        while *batch < batches {
            let member = *batch * side_by_side + (lane >> width);
            let is_member = member < members;
            let (segment, begin, end) = self.member::<V>(before + member, is_member);
            let result = self.segment::<V, A>(class, width, begin, end, in_group);
            self.write(segment, is_member && in_group == 0, result);
            *batch += WARPS;
        }
        *batch -= batches;
    }

    /// The result of the elements from `begin` to `end`, in the first lane of its group; `in_group` is the lane's place there.
    #[device]
    #[inline(always)]
    fn segment<const V: usize, const A: usize>(
        &self,
        class: u32,
        width: u32,
        begin: u32,
        end: u32,
        in_group: u32,
    ) -> R::Accumulator {
        let mut total = R::IDENTITY;
        let mut values = [R::IDENTITY; ROWS];
        let mut step = 0;
        while step < 1 << (class - width - ROWS.ilog2()) {
            let offset_of = |row: usize| (in_group + ((step * ROWS as u32 + row as u32) << width)) * V as u32;
            let quads = load::<R, V, false>(
                core::array::from_fn(|row| self.source.offset((begin + offset_of(row)) as u64)),
                core::array::from_fn(|row| end.saturating_sub(begin + offset_of(row))),
                self.is_inner::<V>(begin, end),
            );
            let end = opaque(end);
            unroll::<ROWS>(|row| {
                let offset = offset_of(row);
                let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
                take_quad::<R, V, A>(&mut locals, quads[row], end.saturating_sub(begin + offset), offset);
                values[row] = of_thread::<R, A>(&locals, 0);
            });
            step += 1;
            if class > WARP_CLASS + 1 {
                // Of eight warps the first four with the last four.
                total = R::combine(total, over_lanes::<R>(values));
            }
        }
        if class <= WARP_CLASS {
            return halve::<R>(quarters::<R>(values), (1 << width) / 2);
        }
        if class == WARP_CLASS + 1 {
            let warps = [R::combine(values[0], values[1]), R::combine(values[2], values[3])];
            total = halve::<R>(exchange::<R>(warps, 8), 4);
        }
        // Warp 0's value is in lane 0, and warp 1's eight lanes on; or of four warps 0's and 2's, and 1's and 3's 16 lanes on.
        total = R::combine(total, down::<R>(total, 8));
        if class > WARP_CLASS + 1 {
            total = R::combine(total, down::<R>(total, 16));
        }
        total
    }

    /// A segment's number in the stretch, and where it begins and ends.
    #[device]
    #[inline(always)]
    fn member<const V: usize>(&self, place: u32, is_member: bool) -> (u32, u32, u32) {
        // No segment: empty, where loads would be aligned ones.
        let (mut segment, mut begin, mut end) = (0, V as u32, V as u32);
        if is_member {
            segment = self.sorted.map_or(place, |sorted| sorted.read(place) as u32);
            begin = self.begins.read(segment);
            end = self.begins.read(segment + 1);
        }
        (segment, begin, end)
    }

    /// Whether 16 bytes from any of a segment's elements on can be read as one or two aligned 16 bytes.
    #[inline(always)]
    fn is_inner<const V: usize>(&self, begin: u32, end: u32) -> bool {
        begin == end || (begin >= V as u32 && end + 2 * V as u32 <= self.elements)
    }

    #[device]
    #[inline(always)]
    fn write(&self, segment: u32, is_mine: bool, result: R::Accumulator) {
        if is_mine {
            let place = (self.first + segment) as u64 * R::OUTPUTS as u64;
            write::<R>(self.source, self.output.offset(place), result, 1);
        }
    }
}

/// The first two halving distances, where both are within the lane.
#[inline(always)]
fn quarters<R: Reduction>(values: [R::Accumulator; ROWS]) -> R::Accumulator {
    R::combine(R::combine(values[0], values[2]), R::combine(values[1], values[3]))
}

/// The value of the lane `distance` on.
#[inline(always)]
fn down<R: Reduction>(value: R::Accumulator, distance: u32) -> R::Accumulator {
    Accumulator::from_words(&mut |word| warp::shuffle_down(warp::FULL, value.word(word), distance))
}

/// Lane `i` takes lane `i + distance`, and so on by half the distance; none for 0.
#[device]
#[inline(always)]
fn halve<R: Reduction>(mut value: R::Accumulator, mut distance: u32) -> R::Accumulator {
    while distance > 0 {
        value = R::combine(value, down::<R>(value, distance));
        distance /= 2;
    }
    value
}

/// One distance for two values: lanes without the bit `distance` combine the first one with that of the lane `distance` on, the
/// others the second one.
#[device]
#[inline(always)]
fn exchange<R: Reduction>(values: [R::Accumulator; 2], distance: u32) -> R::Accumulator {
    let is_upper = warp::lane_id() & distance != 0;
    let [first, second] = values;
    let own: R::Accumulator =
        Accumulator::from_words(&mut |word| if is_upper { second.word(word) } else { first.word(word) });
    let other: R::Accumulator = Accumulator::from_words(&mut |word| {
        let sent = if is_upper { first.word(word) } else { second.word(word) };
        warp::shuffle_xor(warp::FULL, sent, distance)
    });
    let low = Accumulator::from_words(&mut |word| if is_upper { other.word(word) } else { own.word(word) });
    let high = Accumulator::from_words(&mut |word| if is_upper { own.word(word) } else { other.word(word) });
    R::combine(low, high)
}

/// Four values over the lanes of a warp: their results are in the lanes 0, 16, 8 and 24.
#[device]
#[inline(always)]
fn over_lanes<R: Reduction>(values: [R::Accumulator; ROWS]) -> R::Accumulator {
    let first = exchange::<R>([values[0], values[1]], 16);
    let second = exchange::<R>([values[2], values[3]], 16);
    halve::<R>(exchange::<R>([first, second], 8), 4)
}
