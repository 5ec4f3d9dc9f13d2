//! Segments of more than 256 loads, part by part: of each part every warp of the block takes its loads and leaves its result in shared
//! memory, without barriers between parts; or the block takes one or two parts together.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, unroll};

use super::load::{Quad, load, take_quad};
use super::stretch::{ALIKE, FROM};
use super::{FAR, FIRST, HIGH, LANE_CLASSES, LONG, LOW, ORIGIN, ROWS, Starts, place_words, weight};
use crate::reduce::item::{Item, Source};
use crate::reduce::number::Accumulator;
use crate::reduce::operator::Reduction;
use crate::reduce::whole::{
    block_result, of_first_warp, of_thread, publishes, take_tile, take_two_tiles, to_first_warp, write,
};
use crate::reduce::{MAX_WORDS, THREADS, WARPS, tile, tiles_per_block};

/// How a segment is divided into parts.
#[derive(Clone, Copy)]
struct Division {
    /// Tiles of each part but the last. Tiles are far less than 2^32: there are at most [`MAX_LEN`](super::super::MAX_LEN) elements.
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

/// The parts of a segment that begin in a stretch.
#[derive(Clone, Copy)]
struct Range {
    segment: u32,
    begin: u64,
    end: u64,
    division: Division,
    /// Those from here on …
    next: u32,
    /// … to here.
    last: u32,
}

/// A tile of a part.
#[derive(Clone, Copy)]
struct Piece {
    begin: u64,
    /// How many elements; none where there is no piece.
    length: u32,
    /// The number of the first one in the part, and that of the part's first one in the segment.
    offset: u32,
    base: u64,
    /// The part's place among those of the stretch.
    number: u32,
    is_last: bool,
}

const NOTHING: Piece = Piece { begin: 0, length: 0, offset: 0, base: 0, number: 0, is_last: false };

/// Pieces that a warp takes at once.
const PIECES: usize = 2;

/// Marks the output of a whole segment among places of partial results.
const OUTPUT: u64 = 1 << 63;

/// The segments of a stretch that are taken part by part.
pub(super) struct Parts<R: Reduction> {
    pub(super) source: <R::Item as Item>::Source,
    pub(super) len: u64,
    pub(super) starts: Starts,
    pub(super) scratch: GlobalMut<u64>,
    pub(super) output: GlobalMut<R::Output>,
    /// The results of each part's warps.
    pub(super) results: Shared<u32>,
    /// Where each part's result goes.
    pub(super) places: Shared<u64>,
    /// Set where there is a part of a segment of several.
    pub(super) is_partial: Shared<u32>,
    /// What the block remembers of the stretch.
    pub(super) kept: Shared<u64>,
    pub(super) begins: Shared<u32>,
    /// The segments by class, where they are not alike, and how many there are of each.
    pub(super) sorted: Shared<u16>,
    pub(super) counts: Shared<u32>,
}

impl<R: Reduction> Parts<R> {
    /// The parts of the segment before the stretch's first one for `index` 0, then of the members.
    #[device]
    #[inline(always)]
    fn range(&self, index: u32) -> Range {
        let (first, origin) = (self.kept.read(FIRST) as u32, self.kept.read(ORIGIN));
        let (segment, begin, end) = if index > 0 {
            let segment = self.member(index);
            let (begin, end) = (self.begins.read(segment) as u64, self.begins.read(segment + 1) as u64);
            let end = if end < FAR { origin + end } else { self.starts.at(first + segment + 1) };
            (first + segment, origin + begin, end)
        } else if first > 0 {
            (first - 1, self.starts.at(first - 1), self.starts.at(first))
        } else {
            (0, 0, 0)
        };
        // The stretch in elements: behind so many segments.
        let behind = segment as u64 * weight::<R::Item>() as u64;
        let low = self.kept.read(LOW).saturating_sub(behind);
        let high = (self.kept.read(HIGH) - behind).min(end);
        let division = Division::of::<R>(end - begin);
        let next = if low > begin { division.parts_in::<R>(low - begin) } else { 0 };
        let last = if high > begin { division.parts_in::<R>(high - begin) } else { 0 };
        Range { segment, begin, end, division, next, last: last.max(next) }
    }

    /// Takes this warp's loads of all parts, and returns how many parts there are.
    #[device]
    #[inline(always)]
    pub(super) fn take<const V: usize, const A: usize>(&self) -> u32 {
        let division = Division { tiles_each: 1, parts: 0 };
        let mut range = Range { segment: 0, begin: 0, end: 0, division, next: 0, last: 0 };
        // From the last one on.
        let (mut index, mut count) = (self.members() + 1, 0);
        // Elements of the part `count` that were taken.
        let mut offset = 0;
        let first = opaque(thread_idx_x()) * V as u32;
        let offset_of = |row: usize| first + row as u32 * THREADS * V as u32;
        let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(first + lane as u32));
        loop {
            // ---- What comes next ---------------------------------------------------------------------------------
            let mut pieces = [NOTHING; PIECES];
            let mut place = 0;
            while place < opaque(PIECES as u32) {
                while range.next == range.last && index > 0 {
                    index -= 1;
                    range = self.range(index);
                }
                if range.next == range.last {
                    break;
                }
                let base = range.division.base::<R>(range.next);
                let end = (range.begin + range.division.base::<R>(range.next + 1)).min(range.end);
                let begin = range.begin + base + offset as u64;
                let length = (end - begin).min(tile::<R::Item>() as u64) as u32;
                let is_last = begin + length as u64 == end;
                let piece = Piece { begin, length, offset, base, number: count, is_last };
                unroll::<PIECES>(|other| {
                    if other as u32 == place {
                        pieces[other] = piece;
                    }
                });
                offset += length;
                if is_last {
                    if thread_idx_x() == 0 {
                        self.note(count, index, &range, range.begin + base);
                    }
                    range.next += 1;
                    (count, offset) = (count + 1, 0);
                }
                place += 1;
            }
            if pieces[0].length == 0 {
                return count;
            }
            // ---- All loads are asked for before the first is used ------------------------------------------------
            let quads: [[Quad<R>; ROWS]; PIECES] = core::array::from_fn(|i| {
                let Piece { begin, length, .. } = pieces[i];
                let is_inner = begin >= V as u64 && begin + length as u64 + 2 * V as u64 <= self.len;
                let source = self.source.offset(begin);
                load::<R, V, false>(
                    core::array::from_fn(|row| source.offset(offset_of(row) as u64)),
                    core::array::from_fn(|row| length.saturating_sub(offset_of(row))),
                    is_inner,
                )
            });
            // Not by a closure: of arguments of bytes it is so large that it would become a function, with all of this in memory.
            self.take_piece::<V, A>(&mut locals, pieces[0], &quads[0]);
            self.take_piece::<V, A>(&mut locals, pieces[1], &quads[1]);
        }
    }

    /// Takes what was loaded of a piece; with a part's last piece, its warps' results go to shared memory.
    #[device]
    #[inline(always)]
    fn take_piece<const V: usize, const A: usize>(
        &self,
        locals: &mut [R::Local; A],
        piece: Piece,
        quads: &[Quad<R>; ROWS],
    ) {
        const { assert!(PIECES == 2, "as many as it is called for") };
        let first = opaque(thread_idx_x()) * V as u32;
        let length = opaque(piece.length);
        unroll::<ROWS>(|row| {
            let offset = first + row as u32 * THREADS * V as u32;
            take_quad::<R, V, A>(locals, quads[row], length.saturating_sub(offset), piece.offset + offset);
        });
        if piece.is_last {
            to_first_warp::<R>(of_thread::<R, A>(locals, piece.base), self.room(piece.number));
            *locals = core::array::from_fn(|lane| R::start(first + lane as u32));
        }
    }

    /// Takes all parts by the block, one or two at a time, and stores their results.
    #[device]
    #[inline(always)]
    pub(super) fn take_together<const V: usize, const A: usize>(&self) {
        let first = opaque(thread_idx_x()) * V as u32;
        let tile = tile::<R::Item>();
        let (mut index, mut turn) = (0, 0);
        while index <= self.members() {
            let range = self.range(index);
            index += 1;
            let mut number = range.next;
            if number < range.last && thread_idx_x() == 0 {
                self.is_partial.write(0, 1);
            }
            while number < range.last {
                // The next part's warps leave their results elsewhere: it needs no barrier before it.
                turn ^= 2;
                let base = range.division.base::<R>(number);
                let begin = range.begin + base;
                let end = (range.begin + range.division.base::<R>(number + 1)).min(range.end);
                let source = self.source.offset(begin);
                let mut locals = [core::array::from_fn(|lane| R::start(first + lane as u32)); 2];
                let is_aligned = source.is_aligned();
                if is_aligned
                    && range.division.tiles_each == 1
                    && number + 1 < range.last
                    && range.end - begin >= 2 * tile as u64
                {
                    // Twice as much is on its way, and half of the barriers are left.
                    take_two_tiles::<R, V, A, ROWS>(&mut locals, source);
                    let bases = [base, base + tile as u64];
                    let values: [R::Accumulator; 2] =
                        core::array::from_fn(|i| of_thread::<R, A>(&locals[i], bases[i]));
                    let rooms = [self.room(turn), self.room(turn + 1)];
                    let own: [R::Accumulator; 2] =
                        core::array::from_fn(|i| to_first_warp::<R>(values[i], rooms[i]));
                    sync_threads();
                    unroll::<2>(|i| {
                        let result = of_first_warp::<R>(own[i], rooms[i]);
                        if thread_idx_x() == 0 {
                            self.publish(self.place(range.begin + bases[i], bases[i] == 0), result);
                        }
                    });
                    number += 2;
                    continue;
                }
                let is_inner = begin >= V as u64 && end + 2 * V as u64 <= self.len;
                let mut done = 0;
                while done < end - begin {
                    let left = end - begin - done;
                    if is_aligned && left >= 2 * tile as u64 {
                        take_tile::<R, V, A, { 2 * ROWS }>(&mut locals[0], source.offset(done), done as u32);
                        done += 2 * tile as u64;
                        continue;
                    }
                    let left = left.min(tile as u64) as u32;
                    let offset_of = |row: usize| first + row as u32 * THREADS * V as u32;
                    let quads = load::<R, V, false>(
                        core::array::from_fn(|row| source.offset(done + offset_of(row) as u64)),
                        core::array::from_fn(|row| left.saturating_sub(offset_of(row))),
                        is_inner,
                    );
                    unroll::<ROWS>(|row| {
                        let wanted = left.saturating_sub(offset_of(row));
                        take_quad::<R, V, A>(
                            &mut locals[0],
                            quads[row],
                            wanted,
                            done as u32 + offset_of(row),
                        );
                    });
                    done += tile as u64;
                }
                let result = block_result::<R>(of_thread::<R, A>(&locals[0], base), self.room(turn));
                if thread_idx_x() == 0 {
                    self.publish(self.place(begin, number == 0), result);
                }
                number += 1;
            }
        }
    }

    /// Stores a part's result where it is looked for.
    #[device]
    #[inline(always)]
    fn publish(&self, place: u64, result: R::Accumulator) {
        unroll::<{ MAX_WORDS as usize }>(|word| {
            if (word as u32) < publishes::<R>() {
                let value = result.word(word as u32) as u64;
                let place = self.scratch.offset(place).atomic(word as u32);
                place.store(value, Ordering::Relaxed, Scope::Device);
            }
        });
    }

    /// Notes where the result of a part goes.
    #[device]
    #[inline(always)]
    fn note(&self, number: u32, index: u32, range: &Range, begin: u64) {
        if range.division.parts == 1 {
            self.places.write(number, OUTPUT | (self.kept.read(FIRST) + self.member(index) as u64));
        } else {
            self.places.write(number, self.place(begin, begin == range.begin));
            self.is_partial.write(0, 1);
        }
    }

    /// How many segments of the stretch are taken part by part. From shared memory each time: in registers they would have others spilled.
    #[inline(always)]
    pub(super) fn members(&self) -> u32 {
        let long = self.counts.read(LONG);
        if self.counts.read(FROM) == ALIKE {
            return long;
        }
        long + self.counts.read(LANE_CLASSES) + self.counts.read(LANE_CLASSES + 1)
    }

    /// The number in the stretch of the one with this index, from 1.
    #[inline(always)]
    fn member(&self, index: u32) -> u32 {
        let from = self.counts.read(FROM);
        if from == ALIKE { index - 1 } else { self.sorted.read(from + index - 1) as u32 }
    }

    /// Where a part's result goes in the scratch memory; behind it, for the first part, stands the number of parts that are done.
    #[inline(always)]
    fn place(&self, first_element: u64, is_first: bool) -> u64 {
        let place = first_element / tile::<R::Item>() as u64 * 2 + !is_first as u64;
        place * place_words::<R>() as u64
    }

    /// Room for the results of a part's warps.
    #[inline(always)]
    fn room(&self, number: u32) -> Shared<u32> {
        self.results.offset(number * WARPS * publishes::<R>())
    }

    /// Behind a barrier: of each of `count` parts a thread combines the results of its warps, and stores the part's or the segment's.
    #[device]
    #[inline(always)]
    pub(super) fn combine(&self, count: u32) {
        let number = opaque(thread_idx_x());
        if number >= count {
            return;
        }
        let room = self.room(number);
        let mut values: [R::Accumulator; WARPS as usize] = core::array::from_fn(|warp| {
            Accumulator::from_words(&mut |word| room.read(word * WARPS + warp as u32))
        });
        unroll::<{ WARPS.ilog2() as usize }>(|step| {
            let distance = WARPS as usize >> (step + 1);
            unroll::<{ WARPS as usize / 2 }>(|warp| {
                if warp < distance {
                    values[warp] = R::combine(values[warp], values[warp + distance]);
                }
            });
        });
        let place = self.places.read(number);
        if place & OUTPUT != 0 {
            write::<R>(self.output_of((place & !OUTPUT) as u32), values[0], 1);
            return;
        }
        self.publish(place, values[0]);
    }

    /// Behind another barrier: counts the parts of the segment `index`; whether it is complete, and had others.
    #[device]
    #[inline(always)]
    pub(super) fn completes(&self, index: u32) -> bool {
        let range = self.range(index);
        let done = (range.last - range.next) as u64;
        if done == 0 || range.division.parts == 1 {
            return false;
        }
        let count = self.scratch.offset(self.place(range.begin, true)).atomic(publishes::<R>());
        count.fetch_add(done, Ordering::AcqRel, Scope::Device) + done == range.division.parts as u64
    }

    /// Combines the parts of a complete segment and writes its result. All threads together.
    #[device]
    #[inline(always)]
    pub(super) fn finish(&self, index: u32) {
        let range = self.range(index);
        let mut total = R::IDENTITY;
        let mut number = thread_idx_x();
        while number < range.division.parts {
            let first_element = range.begin + range.division.base::<R>(number);
            let place = self.scratch.offset(self.place(first_element, number == 0));
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
            let count = self.scratch.offset(self.place(range.begin, true)).atomic(publishes::<R>());
            count.store(0, Ordering::Relaxed, Scope::Device);
        }
        // Whoever read the results that stood there is done with them.
        let total = block_result::<R>(total, self.room(0));
        if thread_idx_x() == 0 {
            write::<R>(self.output_of(range.segment), total, 1);
        }
        sync_threads();
    }

    /// Where the outputs of a segment and those after it go.
    #[inline(always)]
    fn output_of(&self, segment: u32) -> GlobalMut<R::Output> {
        self.output.offset(segment as u64 * R::OUTPUTS as u64)
    }
}
