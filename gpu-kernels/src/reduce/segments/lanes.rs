//! Segments of up to 256 loads: by the lanes of a warp.

use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::{device, unroll, warp};

use super::load::{get, set, take_quad};
use super::{CLASSES, ROWS, WARP_CLASS};
use crate::reduce::WARPS;
use crate::reduce::item::{Item, Source};
use crate::reduce::number::Accumulator;
use crate::reduce::operator::Reduction;
use crate::reduce::quad::Quads;
use crate::reduce::whole::{of_thread, warp_result, write};

/// Whether 16 bytes from element `place` on can be read as one or two aligned 16 bytes of an array of `elements`.
#[inline(always)]
fn is_inner<const V: usize>(place: u32, elements: u32) -> bool {
    place >= V as u32 && place + 2 * V as u32 <= elements
}

/// The segments of a stretch that lanes take.
pub(super) struct Near<R: Reduction> {
    /// From the origin on.
    pub(super) source: <R::Item as Item>::Source,
    /// How many elements there are from there on, or [`FAR`].
    pub(super) elements: u32,
    pub(super) begins: Shared<u32>,
    pub(super) sorted: Shared<u16>,
    /// From the stretch's first segment on.
    pub(super) output: GlobalMut<R::Output>,
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
        let is_small = class <= WARP_CLASS;
        let width = if is_small { class } else { WARP_CLASS };
        let lane = warp::lane_id();
        let (group, in_group) = (lane >> width, lane & ((1 << width) - 1));
        let side_by_side = 32 >> width;
        // Small segments: as many as fit in the rows. Others, in powers of two of rows each: of two rows two at a time, else one,
        // its rows in one step or two.
        const ALL: u32 = ROWS.trailing_zeros();
        let rows_each = if class == WARP_CLASS + 1 { 1 } else { ALL };
        let per_batch = if is_small { side_by_side << ALL } else { 1 << (ALL - rows_each) };
        let steps = if class == CLASSES - 1 { WARPS / ROWS as u32 } else { 1 };
        let batches = members.div_ceil(per_batch);
        while *batch < batches {
            let mut of_rows = R::IDENTITY;
            let mut step = 0;
            while step < steps {
                let member_of = |row: u32| {
                    if is_small {
                        (*batch * ROWS as u32 + row) << (WARP_CLASS - width) | group
                    } else {
                        *batch * per_batch + (row >> rows_each)
                    }
                };
                // The load's first element in its segment.
                let offset_of = |row: u32| {
                    let load = if is_small {
                        in_group
                    } else {
                        lane + 32 * (step * ROWS as u32 + row % (1 << rows_each))
                    };
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
                    let mut locals: [R::Local; A] =
                        core::array::from_fn(|lane| R::start(offset + lane as u32));
                    let source = self.source.offset(places[row] as u64);
                    if wanted[row] > 0
                        && source.is_split(V as u32)
                        && is_inner::<V>(places[row], self.elements)
                    {
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
                        // Lane i gets what warp i of a block would have, for a second segment lane 8 + i: word by word, or LLVM
                        // makes one store to memory of this and of the outputs.
                        let row = row as u32;
                        let is_mine =
                            lane == (row >> rows_each) * WARPS + step * ROWS as u32 + row % (1 << rows_each);
                        let kept = of_rows;
                        of_rows = Accumulator::from_words(&mut |word| {
                            let of_row = warp::shuffle_idx(warp::FULL, results[row as usize].word(word), 0);
                            if is_mine { of_row } else { kept.word(word) }
                        });
                    }
                });
                step += 1;
            }
            if !is_small {
                let total = warp_result::<R>(of_rows, WARPS);
                let member = *batch * per_batch + lane / WARPS;
                if lane.is_multiple_of(WARPS) && lane / WARPS < per_batch && member < members {
                    let segment = self.sorted.read(before + member) as u32;
                    write::<R>(self.output.offset((segment * R::OUTPUTS) as u64), total, 1);
                }
            }
            *batch += WARPS;
        }
        *batch -= batches;
    }
}
