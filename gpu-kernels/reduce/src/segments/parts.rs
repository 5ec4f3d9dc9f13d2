//! Segments of more than 256 loads, part by part: of each part every warp of the block takes its loads and leaves its result in shared
//! memory, without barriers between parts. What the parts of a stretch are is listed before, by a thread for each segment: warps that
//! found it out one part after the other took longer for that than for the loads.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, unroll, warp};

use super::load::{Quad, load, take_all, take_quad};
use super::stretch::{ALIKE, FROM};
use super::{
    BEFORE, FAR, FIRST, FOLLOWING, HIGH, LANE_CLASSES, LONG, LOW, ORIGIN, ROWS, Starts, UNKNOWN, place_words,
    weight,
};
use crate::item::{Item, Source};
use crate::number::Accumulator;
use crate::operator::Reduction;
use crate::quad::Quads;
use crate::whole::{block_result, of_thread, publishes, to_first_warp, write};
use crate::{MAX_WORDS, THREADS, WARPS, per_load, tile, tiles_per_block};

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
        // A division takes long, and nearly all segments need none.
        if self.tiles_each == 1 {
            return tiles;
        }
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

/// A thread's loads of a tile: half of [`ROWS`] where they are of two arrays.
const fn rows<R: Reduction>() -> usize {
    (tile::<R::Item>() / (THREADS * per_load::<R::Item>())) as usize
}

/// A tile of a part.
#[derive(Clone, Copy)]
struct Piece {
    begin: u64,
    /// How many elements; none where there is no piece.
    length: u32,
    /// The number of the first one in the part.
    offset: u32,
    /// The tile of the part's first one in the segment.
    base: u32,
    /// The part's place among those of the stretch.
    number: u32,
    is_last: bool,
    /// Whether the aligned 16 bytes around any of its elements, and those after them, can be read.
    is_inner: bool,
    /// Whether it begins at a multiple of 16 bytes.
    is_aligned: bool,
    /// Whether it is a tile, all of which can be loaded without a question.
    is_whole: bool,
}

const NOTHING: Piece = Piece {
    begin: 0,
    length: 0,
    offset: 0,
    base: 0,
    number: 0,
    is_last: false,
    is_inner: true,
    is_aligned: true,
    is_whole: false,
};

/// Marks the first elements of parts where [`Piece::is_inner`] holds, and of those that begin at a multiple of 16 bytes.
const INNER: u64 = 1 << 63;
const ALIGNED: u64 = 1 << 62;

/// Marks the output of a whole segment among places of partial results.
const OUTPUT: u64 = 1 << 63;

/// Added to the number of parts for each segment of several.
pub(super) const PARTIAL: u32 = 1 << 16;

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
    /// Each part's first element, marked.
    pub(super) firsts: Shared<u64>,
    /// Each part's elements less one, and [`Piece::base`].
    pub(super) lengths: Shared<u32>,
    /// How many parts there are, and [`PARTIAL`] for each segment of several.
    pub(super) number: Shared<u32>,
    /// What the block remembers of the stretch.
    pub(super) kept: Shared<u64>,
    pub(super) begins: Shared<u32>,
    /// The segments by class, where they are sorted, and how many there are of each.
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
        } else if first == 0 {
            (0, 0, 0)
        } else if self.kept.read(FOLLOWING) != UNKNOWN {
            (first - 1, self.kept.read(BEFORE), self.kept.read(FOLLOWING))
        } else {
            (first - 1, self.starts.at(first - 1), self.starts.at(first))
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

    /// Lists the parts of the stretch: a thread for each segment, or a warp where it has several. A barrier has to stand behind it.
    #[device]
    #[inline(always)]
    pub(super) fn list<const V: usize>(&self) {
        let index = opaque(thread_idx_x());
        let lane = warp::lane_id();
        if index - lane > self.members() {
            return;
        }
        let division = Division { tiles_each: 1, parts: 0 };
        let mut range = Range { segment: 0, begin: 0, end: 0, division, next: 0, last: 0 };
        if index <= self.members() {
            range = self.range(index);
        }
        let count = range.last - range.next;
        let mut number = 0;
        if count > 0 {
            let marked = if range.division.parts > 1 { count + PARTIAL } else { count };
            number = self.number.atomic(0).fetch_add(marked, Ordering::Relaxed, Scope::Block) % PARTIAL;
        }
        if count == 1 {
            self.note::<V>(number, &range);
        }
        let mut others = warp::warp_vote_ballot(warp::FULL, count > 1);
        while others != 0 {
            let of = others.trailing_zeros();
            others &= others - 1;
            let from = |value: u32| warp::shuffle_idx(warp::FULL, value, of);
            let division =
                Division { tiles_each: from(range.division.tiles_each), parts: from(range.division.parts) };
            let mut all = Range {
                segment: from(range.segment),
                begin: warp::shuffle_idx(warp::FULL, range.begin, of),
                end: warp::shuffle_idx(warp::FULL, range.end, of),
                division,
                next: from(range.next) + lane,
                last: from(range.last),
            };
            let mut number = from(number) + lane;
            while all.next < all.last {
                self.note::<V>(number, &all);
                all.next += 32;
                number += 32;
            }
        }
    }

    /// Notes the next part of a range.
    #[device]
    #[inline(always)]
    fn note<const V: usize>(&self, number: u32, range: &Range) {
        let base = range.division.base::<R>(range.next);
        let first = range.begin + base;
        let end = (range.begin + range.division.base::<R>(range.next + 1)).min(range.end);
        let is_inner = first >= V as u64 && end + 2 * V as u64 <= self.len;
        let place = if range.division.parts == 1 {
            OUTPUT | range.segment as u64
        } else {
            self.place(first, range.next == 0)
        };
        self.places.write(number, place);
        let is_aligned = self.source.offset(first).is_aligned();
        let marks = if is_inner { INNER } else { 0 } | if is_aligned { ALIGNED } else { 0 };
        self.firsts.write(number, first | marks);
        self.lengths.write(2 * number, (end - first - 1) as u32);
        self.lengths.write(2 * number + 1, range.next * range.division.tiles_each);
    }

    /// Takes this warp's loads of all parts, behind a barrier after [`Parts::list`].
    #[device]
    #[inline(always)]
    pub(super) fn take<const V: usize, const A: usize>(&self) {
        let count = self.number.read(0) % PARTIAL;
        let first = opaque(thread_idx_x()) * V as u32;
        let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(first + lane as u32));
        // The next part, and how many of its elements were taken.
        let (mut number, mut offset) = (0, 0);
        while number < count {
            // All loads of two pieces are asked for before the first is used.
            let one = self.piece(count, &mut number, &mut offset);
            let two = self.piece(count, &mut number, &mut offset);
            let (quads, others) = (self.load::<V>(first, one), self.load::<V>(first, two));
            self.take_piece::<V, A>(&mut locals, one, &quads);
            self.take_piece::<V, A>(&mut locals, two, &others);
        }
    }

    /// The next piece of the parts, if there is one.
    #[device]
    #[inline(always)]
    fn piece(&self, count: u32, number: &mut u32, offset: &mut u32) -> Piece {
        let mut piece = NOTHING;
        if *number < count {
            let [last, base] = self.lengths.read_vec::<2>(2 * *number);
            let left = last - *offset;
            let is_last = left < tile::<R::Item>();
            let length = if is_last { left + 1 } else { tile::<R::Item>() };
            let marked = self.firsts.read(*number);
            let is_aligned = marked & ALIGNED != 0;
            piece = Piece {
                begin: (marked & !(INNER | ALIGNED)) + *offset as u64,
                length,
                offset: *offset,
                base,
                number: *number,
                is_last,
                is_inner: marked & INNER != 0,
                is_aligned,
                is_whole: (is_aligned || per_load::<R::Item>() <= 4) && length == tile::<R::Item>(),
            };
            *number += is_last as u32;
            *offset = if is_last { 0 } else { *offset + tile::<R::Item>() };
        }
        piece
    }

    /// A thread's loads of a piece.
    #[device]
    #[inline(always)]
    fn load<const V: usize>(&self, first: u32, piece: Piece) -> [Quad<R>; ROWS] {
        let offset_of = |row: usize| first + row as u32 * THREADS * V as u32;
        let source = self.source.offset(piece.begin);
        let of_row = |row: usize| source.offset(offset_of(row) as u64);
        if !piece.is_whole {
            let wanted = core::array::from_fn(|row| piece.length.saturating_sub(offset_of(row)));
            return load::<R, V, false>(core::array::from_fn(of_row), wanted, piece.is_inner);
        }
        let nothing = <<R::Item as Item>::Source as Quads>::NOTHING;
        if V > 4 || piece.is_aligned {
            core::array::from_fn(|row| if row < rows::<R>() { of_row(row).streamed() } else { nothing })
        } else {
            core::array::from_fn(
                |row| if row < rows::<R>() { of_row(row).one_by_one(V as u32) } else { nothing },
            )
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
        let first = opaque(thread_idx_x()) * V as u32;
        let length = opaque(piece.length);
        let offset_of = |row: usize| first + row as u32 * THREADS * V as u32;
        if piece.is_whole {
            unroll::<ROWS>(|row| {
                if row < rows::<R>() {
                    take_all::<R, V, A>(locals, quads[row], piece.offset + offset_of(row));
                }
            });
        } else {
            unroll::<ROWS>(|row| {
                let (offset, wanted) = (offset_of(row), length.saturating_sub(offset_of(row)));
                take_quad::<R, V, A>(locals, quads[row], wanted, piece.offset + offset);
            });
        }
        if piece.is_last {
            let base = piece.base as u64 * tile::<R::Item>() as u64;
            to_first_warp::<R>(of_thread::<R, A>(locals, base), self.room(piece.number));
            *locals = core::array::from_fn(|lane| R::start(first + lane as u32));
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

    /// How many segments of the stretch are taken part by part. From shared memory each time: in registers they would have others spilled.
    #[inline(always)]
    pub(super) fn members(&self) -> u32 {
        self.counts.read(LANE_CLASSES) + self.counts.read(LANE_CLASSES + 1) + self.counts.read(LONG)
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

    /// Behind a barrier: of each part a thread combines the results of its warps, and stores the part's or the segment's.
    #[device]
    #[inline(always)]
    pub(super) fn combine(&self) {
        let number = opaque(thread_idx_x());
        if number >= self.number.read(0) % PARTIAL {
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
            write::<R>(self.source, self.output_of((place & !OUTPUT) as u32), values[0], 1);
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
            write::<R>(self.source, self.output_of(range.segment), total, 1);
        }
        sync_threads();
    }

    /// Where the outputs of a segment and those after it go.
    #[inline(always)]
    fn output_of(&self, segment: u32) -> GlobalMut<R::Output> {
        self.output.offset(segment as u64 * R::OUTPUTS as u64)
    }
}
