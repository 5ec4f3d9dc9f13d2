//! Segments of more than a tile: their parts, by the block.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, unroll};

use super::load::{set, take_quad};
use super::{ROWS, Starts, place_words, weight};
use crate::reduce::item::{Item, Source};
use crate::reduce::number::Accumulator;
use crate::reduce::operator::Reduction;
use crate::reduce::quad::Quads;
use crate::reduce::whole::{
    block_result, of_first_warp, of_thread, publishes, take_tile, take_two_tiles, to_first_warp, write,
};
use crate::reduce::{MAX_WORDS, THREADS, WARPS, tile, tiles_per_block};

/// How a segment is divided into parts.
#[derive(Clone, Copy)]
struct Division {
    /// Tiles of each part but the last. Tiles are far less than 2^32: there are at most [`MAX_LEN`](super::MAX_LEN) elements.
    tiles_each: u32,
    /// How many there are.
    parts: u32,
}

impl Division {
    /// Of a segment of `length` elements.
    #[inline(always)]
    fn of<R: Reduction>(length: u64) -> Self {
        let division = Self { tiles_each: tiles_per_block::<R::Item>(length) as u32, parts: 0 };
        Self { parts: division.parts_in::<R>(length), ..division }
    }

    /// How many parts begin in the first `elements`.
    #[inline(always)]
    fn parts_in<R: Reduction>(self, elements: u64) -> u32 {
        let tiles = elements.div_ceil(tile::<R::Item>() as u64) as u32;
        // Never by zero; a division that says so has no panic.
        (tiles + self.tiles_each - 1).checked_div(self.tiles_each).unwrap_or(0)
    }

    /// The first element of a part, from the segment's first.
    #[inline(always)]
    fn base<R: Reduction>(self, part: u32) -> u64 {
        part as u64 * (self.tiles_each as u64 * tile::<R::Item>() as u64)
    }
}

/// What the block does together.
pub(super) struct Block<R: Reduction> {
    pub(super) source: <R::Item as Item>::Source,
    pub(super) len: u64,
    pub(super) scratch: GlobalMut<u64>,
    pub(super) output: GlobalMut<R::Output>,
    /// Twice [`WARPS`] accumulators for each of two values, in turns: the next part needs no barrier before it.
    pub(super) warp_results: Shared<u32>,
}

impl<R: Reduction> Block<R> {
    /// Where the outputs of a segment and those after it go.
    #[inline(always)]
    pub(super) fn output_of(&self, segment: u32) -> GlobalMut<R::Output> {
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
    pub(super) fn parts<const V: usize, const A: usize>(
        &self,
        segment: u32,
        starts: Starts,
        stretch_begin: u64,
        stretch_end: u64,
        turn: &mut u32,
    ) -> bool {
        let (begin, end) = (starts.at(segment), starts.at(segment + 1));
        // The stretch in elements: behind so many segments.
        let behind = segment as u64 * weight::<R::Item>() as u64;
        let low = stretch_begin.saturating_sub(behind);
        let high = stretch_end - behind;
        if end - begin <= tile::<R::Item>() as u64 {
            // Lanes did it, here or in the stretch before.
            return false;
        }
        let division = Division::of::<R>(end - begin);
        let first = if low > begin { division.parts_in::<R>(low - begin) } else { 0 };
        let last = division.parts_in::<R>(if high < end { high - begin } else { end - begin });
        let mut number = first;
        while number < last {
            let base = division.base::<R>(number);
            let tile = tile::<R::Item>() as u64;
            if division.tiles_each == 1
                && number + 1 < last
                && end - begin - base >= 2 * tile
                && self.source.offset(begin + base).is_aligned()
            {
                let [first, second] = self.two_tiles::<V, A>(begin + base, base, turn);
                self.store(begin + base, number == 0, first);
                self.store(begin + base + tile, false, second);
                number += 2;
                continue;
            }
            let after = division.base::<R>(number + 1);
            let part_end = if after < end - begin { begin + after } else { end };
            let result = self.part::<V, A>(begin + base, part_end, base, turn);
            self.store(begin + base, number == 0, result);
            number += 1;
        }
        if first >= last || thread_idx_x() != 0 {
            return false;
        }
        let (count, done) = (self.place(begin, true).atomic(publishes::<R>()), (last - first) as u64);
        count.fetch_add(done, Ordering::AcqRel, Scope::Device) + done == division.parts as u64
    }

    /// Stores a part's result, that of thread 0, where it is looked for.
    #[device]
    #[inline(always)]
    fn store(&self, first_element: u64, is_first: bool, result: R::Accumulator) {
        if thread_idx_x() == 0 {
            let place = self.place(first_element, is_first);
            unroll::<{ MAX_WORDS as usize }>(|word| {
                let word = word as u32;
                if word < publishes::<R>() {
                    let value = result.word(word) as u64;
                    place.atomic(word).store(value, Ordering::Relaxed, Scope::Device);
                }
            });
        }
    }

    /// The results of the two tiles from `begin` on, a multiple of 16 bytes, in thread 0; the first element is number `base` of its segment.
    /// Of two parts at once twice as much is on its way, and half of the barriers are left.
    #[device]
    #[inline(always)]
    fn two_tiles<const V: usize, const A: usize>(
        &self,
        begin: u64,
        base: u64,
        turn: &mut u32,
    ) -> [R::Accumulator; 2] {
        let first = thread_idx_x() * V as u32;
        let start = || core::array::from_fn(|lane| R::start(first + lane as u32));
        let mut locals: [[R::Local; A]; 2] = [start(), start()];
        take_two_tiles::<R, V, A, ROWS>(&mut locals, self.source.offset(begin));
        let second_base = base + tile::<R::Item>() as u64;
        let values = [of_thread::<R, A>(&locals[0], base), of_thread::<R, A>(&locals[1], second_base)];
        *turn ^= 1;
        let rooms = [self.room(*turn, 0), self.room(*turn, 1)];
        let results = [to_first_warp::<R>(values[0], rooms[0]), to_first_warp::<R>(values[1], rooms[1])];
        sync_threads();
        [of_first_warp::<R>(results[0], rooms[0]), of_first_warp::<R>(results[1], rooms[1])]
    }

    /// The result of the elements from `begin` to `end`, the first of which is number `base` of its segment, in thread 0.
    #[device]
    #[inline(always)]
    fn part<const V: usize, const A: usize>(
        &self,
        begin: u64,
        end: u64,
        base: u64,
        turn: &mut u32,
    ) -> R::Accumulator {
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
            if left >= 2 * tile::<R::Item>() as u64 && source.is_aligned() {
                // Twice as many loads in flight.
                take_tile::<R, V, A, { 2 * ROWS }>(
                    &mut locals,
                    source.offset((first as u64).wrapping_neg()),
                    offset - first,
                );
                source = source.offset(2 * length as u64);
                offset += 2 * length;
                left -= 2 * length as u64;
                continue;
            }
            if length == tile::<R::Item>() && source.is_aligned() {
                // As an array on its own: most of a long segment, where it starts at a multiple of 16 bytes.
                take_tile::<R, V, A, ROWS>(
                    &mut locals,
                    source.offset((first as u64).wrapping_neg()),
                    offset - first,
                );
                source = source.offset(length as u64);
                offset += length;
                left -= length as u64;
                continue;
            }
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
    pub(super) fn finish(&self, segment: u32, starts: Starts, turn: &mut u32) {
        let (begin, end) = (starts.at(segment), starts.at(segment + 1));
        let division = Division::of::<R>(end - begin);
        let mut total = R::IDENTITY;
        let mut number = thread_idx_x();
        while number < division.parts {
            let place = self.place(begin + division.base::<R>(number), number == 0);
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
        block_result::<R>(value, self.room(*turn, 0))
    }

    /// Room for the results of the block's warps, for one of two values.
    #[inline(always)]
    fn room(&self, turn: u32, value: u32) -> Shared<u32> {
        self.warp_results.offset((2 * turn + value) * WARPS * publishes::<R>())
    }
}
