//! Segments of up to a tile: by the lanes of a warp, which does the work of a block's eight warps one after the other.
//!
//! A segment of `n` loads of 16 bytes has class `⌈log2 n⌉`. A lane takes [`ROWS`] of them at a time, [`Plan::stride`] loads apart, so
//! that what its segment is, where that lies and how far it is from a multiple of 16 bytes is found out once for all of them.
//! Alone the segment would be a block's: load `i` would be thread `i mod 256`'s, whose results are combined over lanes of a
//! warp by halving distances, and then over warps in the same way. Here
//!
//! * up to 32 loads: lane `j` of `q = max(1, 2^c / 4)` has the loads `j, j + q, j + 2q, j + 3q`. The first two of the halving distances
//!   are within the lane.
//! * 64 loads: 16 lanes; two loads of a lane are of one warp, and their first distance is within the lane.
//! * more: 32 lanes, four warps' values at a time. Four values are reduced over lanes together: at the first two distances each half
//!   of the lanes goes on with half of the values.

use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, opaque, unroll, warp};

use super::load::take_quad;
use super::{ONE_LOAD_CLASS, ROWS, SINGLE_LANE_CLASS, WARP_CLASS};
use crate::reduce::item::{Item, Source};
use crate::reduce::number::Accumulator;
use crate::reduce::operator::Reduction;
use crate::reduce::quad::Quads;
use crate::reduce::whole::{of_thread, write};
use crate::reduce::{THREADS, WARPS};

/// The segments of a stretch that lanes take.
pub(super) struct Near<R: Reduction> {
    /// From the origin on.
    pub(super) source: <R::Item as Item>::Source,
    /// How many elements there are from there on, or [`FAR`](super::FAR).
    pub(super) elements: u32,
    pub(super) begins: Shared<u32>,
    /// The segments by class, or `None` where they are of one.
    pub(super) sorted: Option<Shared<u16>>,
    pub(super) output: GlobalMut<R::Output>,
    /// The stretch's first segment.
    pub(super) first: u32,
}

/// How the segments of a class above [`SINGLE_LANE_CLASS`] are taken.
#[derive(Clone, Copy)]
struct Plan {
    class: u32,
    /// The binary logarithm of the lanes of a segment.
    width: u32,
    /// Loads from one of a lane's to the next.
    stride: u32,
    /// Loads from one step to the next.
    step: u32,
    steps: u32,
}

impl Plan {
    #[inline(always)]
    fn of(class: u32) -> Self {
        let width = if class < WARP_CLASS + 2 { class - SINGLE_LANE_CLASS } else { WARP_CLASS };
        let several = class > ONE_LOAD_CLASS;
        Self {
            class,
            width,
            stride: if several { THREADS } else { 1 << width },
            step: if several { 32 } else { 32 * ROWS as u32 },
            steps: if several {
                WARPS
            } else if class == ONE_LOAD_CLASS {
                WARPS / ROWS as u32
            } else {
                1
            },
        }
    }

    /// Whether a thread of a block would take several loads: then a step is one warp's.
    #[inline(always)]
    fn has_several(self) -> bool {
        self.class > ONE_LOAD_CLASS
    }
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
        if class <= SINGLE_LANE_CLASS {
            self.single_lanes::<V, A>(class, before, members, batch);
            return;
        }
        let plan = Plan::of(class);
        let lane = warp::lane_id();
        let in_group = lane & ((1 << plan.width) - 1);
        let side_by_side = 32 >> plan.width;
        let batches = members.div_ceil(side_by_side);
        while *batch < batches {
            let member = *batch * side_by_side + (lane >> plan.width);
            let is_member = member < members;
            let (segment, begin, end) = self.member::<V>(before + member, is_member);
            let result = self.segment::<V, A>(plan, begin, end, in_group);
            if is_member && in_group == 0 {
                let place = (self.first + segment) as u64 * R::OUTPUTS as u64;
                write::<R>(self.output.offset(place), result, 1);
            }
            *batch += WARPS;
        }
        *batch -= batches;
    }

    /// [`Near::class`] of segments that are a lane's alone: nothing passes between lanes, and loads follow each other.
    #[device]
    #[inline(always)]
    fn single_lanes<const V: usize, const A: usize>(
        &self,
        class: u32,
        before: u32,
        members: u32,
        batch: &mut u32,
    ) {
        let batches = members.div_ceil(32);
        while *batch < batches {
            let member = *batch * 32 + warp::lane_id();
            let is_member = member < members;
            let (segment, begin, end) = self.member::<V>(before + member, is_member);
            let quads = self.load::<V, true>(begin, end, 0, 1);
            let length = opaque(end - begin);
            let mut values = [R::IDENTITY; ROWS];
            unroll::<ROWS>(|row| {
                if row as u32 >> class == 0 {
                    let offset = (row * V) as u32;
                    let mut locals: [R::Local; A] =
                        core::array::from_fn(|lane| R::start(offset + lane as u32));
                    take_quad::<R, V, A>(&mut locals, quads[row], length.saturating_sub(offset), offset);
                    values[row] = of_thread::<R, A>(&locals, 0);
                }
            });
            if is_member {
                let place = (self.first + segment) as u64 * R::OUTPUTS as u64;
                write::<R>(self.output.offset(place), quarters::<R>(values), 1);
            }
            *batch += WARPS;
        }
        *batch -= batches;
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

    /// The result of the elements from `begin` to `end`, in the first lane of its group; `in_group` is the lane's place there.
    #[device]
    #[inline(always)]
    fn segment<const V: usize, const A: usize>(
        &self,
        plan: Plan,
        begin: u32,
        end: u32,
        in_group: u32,
    ) -> R::Accumulator {
        let mut total = R::IDENTITY;
        let mut values = [R::IDENTITY; ROWS];
        let mut step = 0;
        while step < plan.steps {
            let offset = (in_group + step * plan.step) * V as u32;
            let offset_of = |row: u32| offset + row * plan.stride * V as u32;
            let quads = self.load::<V, false>(begin, end, offset, plan.stride);
            // Opaque, or how many elements of each load are the segment's would wait for the loads in registers.
            let end = opaque(end);
            let wanted = |row: u32| end.saturating_sub(begin + offset_of(row));
            let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(offset + lane as u32));
            let mut results = [R::IDENTITY; ROWS];
            unroll::<ROWS>(|row| {
                let offset = offset_of(row as u32);
                if !plan.has_several() {
                    locals = core::array::from_fn(|lane| R::start(offset + lane as u32));
                }
                take_quad::<R, V, A>(&mut locals, quads[row], wanted(row as u32), offset);
                results[row] = of_thread::<R, A>(&locals, 0);
            });
            unroll::<ROWS>(|row| {
                if !plan.has_several() {
                    values[row] = results[row];
                } else if row as u32 == step % ROWS as u32 {
                    values[row] = results[ROWS - 1];
                }
            });
            step += 1;
            if plan.class > WARP_CLASS + 1 && (!plan.has_several() || step.is_multiple_of(ROWS as u32)) {
                // Of eight warps the first four with the last four.
                total = R::combine(total, over_lanes::<R>(values));
            }
        }
        if plan.class <= WARP_CLASS {
            halve::<R>(quarters::<R>(values), (1 << plan.width) / 2)
        } else {
            if plan.class == WARP_CLASS + 1 {
                let warps = [R::combine(values[0], values[1]), R::combine(values[2], values[3])];
                total = halve::<R>(exchange::<R>(warps, 8), 4);
            }
            // Warp 0's value is in lane 0, and warp 1's eight lanes on; or of four warps 0's and 2's, and 1's and 3's 16 lanes on.
            total = R::combine(total, down::<R>(total, 8));
            if plan.class > WARP_CLASS + 1 {
                total = R::combine(total, down::<R>(total, 16));
            }
            total
        }
    }

    /// [`ROWS`] loads of the segment from `begin` to `end`, `stride` loads apart, the first from element `offset` of the segment on.
    #[device]
    #[inline(always)]
    fn load<const V: usize, const NEXT_TO_EACH_OTHER: bool>(
        &self,
        begin: u32,
        end: u32,
        offset: u32,
        stride: u32,
    ) -> [<<R::Item as Item>::Source as Quads>::Quad; ROWS] {
        let nothing = <<R::Item as Item>::Source as Quads>::NOTHING;
        let place = begin + offset;
        let next = |row: usize| row as u32 * stride * V as u32;
        let wanted: [u32; ROWS] = core::array::from_fn(|row| end.saturating_sub(place + next(row)));
        let mut quads = [nothing; ROWS];
        let source = self.source.offset(place as u64);
        // Where 16 bytes from the segment's elements on can be read as one or two aligned 16 bytes.
        if begin >= V as u32 && end + 2 * V as u32 <= self.elements {
            if source.is_split(V as u32) {
                let floor = source.floor();
                unroll::<ROWS>(|row| {
                    if wanted[row] > 0 {
                        quads[row] = floor.offset(next(row) as u64).quad();
                    }
                });
                unroll::<ROWS>(|row| {
                    let mut second = nothing;
                    if source.is_split(wanted[row]) {
                        second = floor.offset(next(row) as u64 + V as u64).quad();
                    }
                    quads[row] = source.joined(quads[row], second);
                });
            } else {
                unroll::<ROWS>(|row| {
                    if wanted[row] > 0 {
                        let source = source.offset(next(row) as u64);
                        // The other half of a sector, which is what memory gives, is this lane's next load, or another lane's now.
                        quads[row] = if NEXT_TO_EACH_OTHER { source.quad() } else { source.streamed() };
                    }
                });
            }
        } else {
            let mut row = 0;
            while row < ROWS as u32 && place + row * stride * V as u32 <= end {
                let at = row * stride * V as u32;
                let quad = source.offset(at as u64).one_by_one(end.saturating_sub(place + at));
                unroll::<ROWS>(|other| {
                    if other as u32 == row {
                        quads[other] = quad;
                    }
                });
                row += 1;
            }
        }
        quads
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
