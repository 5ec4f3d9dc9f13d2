//! Segments of more than 256 loads, part by part: of each part every warp of the block takes its loads and leaves its
//! result in shared memory, without barriers between parts. What the parts of a stretch are is listed before, by a
//! thread for each segment: warps that found it out one part after the other took longer for that than for the loads.

use gpu_collective::words;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::thread_idx_x;
use gpu_std::{device, opaque, warp};

use super::lanes::halve;
use super::load::{Quad, is_rolled, load, map_rows, no_quad, take_first, take_whole, whole};
use super::stretch::{ALIKE, FROM};
use super::{BEFORE, FAR, FIRST, FOLLOWING, HIGH, LANE_CLASSES, LONG, LOW, ORIGIN, ROWS, Starts, weight};
use crate::computed::{Computed, SourceOf};
use crate::item::Source;
use crate::whole::{of_thread, publishes};
use crate::{THREADS, WARPS, per_load, tile, tiles_per_block};

/// How a segment is divided into parts.
#[derive(Clone, Copy)]
struct Division {
    /// Tiles of each part but the last. Tiles are far less than 2^32: there are at most
    /// [`MAX_LEN`](super::super::MAX_LEN) elements.
    tiles_each: u32,
    /// How many there are.
    parts: u32,
}

impl Division {
    /// Of a segment of `length` elements.
    #[inline(always)]
    fn of<R: Computed>(length: u64) -> Self {
        let division = Self { tiles_each: tiles_per_block::<R::Item>(length) as u32, parts: 0 };
        Self { parts: division.parts_in::<R>(length), ..division }
    }

    /// How many parts begin in the first `elements`.
    #[inline(always)]
    fn parts_in<R: Computed>(self, elements: u64) -> u32 {
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
    fn base<R: Computed>(self, part: u32) -> u64 {
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
const fn rows<R: Computed>() -> u32 {
    tile::<R::Item>() / (THREADS * per_load::<R::Item>())
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

/// Marks the first elements of parts where [`Piece::is_inner`] holds, of those that begin at a multiple of 16 bytes,
/// and of those of segments of several.
pub(super) const INNER: u64 = 1 << 63;
pub(super) const ALIGNED: u64 = 1 << 62;
pub(super) const SEVERAL: u64 = 1 << 61;

/// Added to the number of parts for each segment of several.
pub(super) const PARTIAL: u32 = 1 << 16;

/// What is remembered of a segment of several parts, in words: its first element, its number, how many parts it has,
/// [`Division::tiles_each`], and how many of its parts are of the stretch, then whether it is complete.
pub(super) const LONG_WORDS: u32 = 6;
pub(super) const NUMBER: u32 = 2;
pub(super) const PARTS: u32 = 3;
pub(super) const TILES_EACH: u32 = 4;
pub(super) const DONE: u32 = 5;

/// The segments of a stretch that are taken part by part.
pub(super) struct Parts<R: Computed> {
    pub(super) source: SourceOf<R>,
    pub(super) len: u64,
    pub(super) starts: Starts,
    pub(super) scratch: GlobalMut<u64>,
    pub(super) output: GlobalMut<R::Output>,
    /// The results of each part's warps.
    pub(super) results: Shared<u32>,
    /// Each part's first element, marked.
    pub(super) firsts: Shared<u64>,
    /// Each part's elements less one, and [`Piece::base`].
    pub(super) lengths: Shared<u32>,
    /// Each part's segment; where that has several, its number among those that have.
    pub(super) owners: Shared<u32>,
    /// [`LONG_WORDS`] for each segment of several parts.
    pub(super) long: Shared<u32>,
    /// How many parts there are, and [`PARTIAL`] for each segment of several.
    pub(super) number: Shared<u32>,
    /// What the block remembers of the stretch.
    pub(super) kept: Shared<u64>,
    pub(super) begins: Shared<u32>,
    /// The segments by class, where they are sorted, and how many there are of each.
    pub(super) sorted: Shared<u16>,
    pub(super) counts: Shared<u32>,
}

impl<R: Computed> Parts<R> {
    /// The parts of the segment before the stretch's first one for `index` 0, then of the members.
    #[device]
    #[inline(always)]
    fn range(&self, index: u32) -> Range {
        let (first, origin) = (self.kept.read(FIRST) as u32, self.kept.read(ORIGIN));
        let (mut segment, mut begin, mut end) = (0, 0, 0);
        if index > 0 {
            let member = self.member(index);
            segment = first + member;
            begin = origin + self.begins.read(member) as u64;
            end = self.begins.read(member + 1) as u64;
            // Mutants: only a segment that ends 2^31 elements on tells, more than is simulated.
            end = if end < FAR { origin + end } else { self.starts.at(segment + 1) };
        } else if first > 0 {
            (segment, begin, end) = (first - 1, self.kept.read(BEFORE), self.kept.read(FOLLOWING));
        }
        // The stretch in elements: behind so many segments.
        let behind = segment as u64 * weight::<R::Item>() as u64;
        let low = self.kept.read(LOW).saturating_sub(behind);
        let high = (self.kept.read(HIGH) - behind).min(end);
        let division = Division::of::<R>(end - begin);
        let next = division.parts_in::<R>(low.saturating_sub(begin));
        let last = division.parts_in::<R>(high.saturating_sub(begin));
        Range { segment, begin, end, division, next, last: last.max(next) }
    }

    /// Lists the parts of the stretch: a thread for each segment, or a warp where it has several. A barrier has to
    /// stand behind it.
    #[device]
    #[inline(always)]
    pub(super) fn list<const V: usize>(&self) {
        let index = opaque(thread_idx_x());
        let lane = warp::lane_id();
        if warp::uniform(index - lane > self.members()) {
            return;
        }
        let division = Division { tiles_each: 1, parts: 0 };
        let mut range = Range { segment: 0, begin: 0, end: 0, division, next: 0, last: 0 };
        if index <= self.members() {
            range = self.range(index);
        }
        let count = range.last - range.next;
        let (mut number, mut owner) = (0, range.segment);
        if count > 0 {
            let is_one = range.division.parts == 1;
            let marked = if is_one { count } else { count + PARTIAL };
            let before = self.number.atomic(0).fetch_add(marked, Ordering::Relaxed, Scope::Block);
            number = before % PARTIAL;
            if !is_one {
                owner = before / PARTIAL;
                self.remember(owner, &range);
            }
        }
        // First every lane's own part, where it has one, then those of the lanes that have several, a part for each
        // lane at a time.
        let mut others = warp::warp_vote_ballot(warp::FULL, count > 1);
        let mut now = range;
        now.last = if count > 1 { now.next } else { now.last };
        let (mut now_number, mut now_owner) = (number, owner);
        loop {
            if now.next < now.last {
                self.note::<V>(now_number, now_owner, &now);
                (now.next, now_number) = (now.next + 32, now_number + 32);
            }
            if warp::warp_vote_any(warp::FULL, now.next < now.last) {
                continue;
            }
            if others == 0 {
                return;
            }
            let of = others.trailing_zeros();
            others &= others - 1;
            let from = |value: u32| warp::shuffle_idx(warp::FULL, value, of);
            let tiles_each = from(range.division.tiles_each);
            now = Range {
                segment: 0,
                begin: warp::shuffle_idx(warp::FULL, range.begin, of),
                end: warp::shuffle_idx(warp::FULL, range.end, of),
                division: Division { tiles_each, parts: from(range.division.parts) },
                next: from(range.next) + lane,
                last: from(range.last),
            };
            (now_number, now_owner) = (from(number) + lane, from(owner));
        }
    }

    /// Remembers a segment of several parts.
    #[device]
    #[inline(always)]
    fn remember(&self, owner: u32, range: &Range) {
        let room = self.long.offset(owner * LONG_WORDS);
        room.write(0, range.begin as u32);
        room.write(1, (range.begin >> 32) as u32);
        room.write(NUMBER, range.segment);
        room.write(PARTS, range.division.parts);
        room.write(TILES_EACH, range.division.tiles_each);
        room.write(DONE, range.last - range.next);
    }

    /// Notes the next part of a range.
    #[device]
    #[inline(always)]
    fn note<const V: usize>(&self, number: u32, owner: u32, range: &Range) {
        let base = range.division.base::<R>(range.next);
        let first = range.begin + base;
        let end = (range.begin + range.division.base::<R>(range.next + 1)).min(range.end);
        // Mutants: a part may be read as at the ends of the array, to the same elements.
        let is_inner = first >= V as u64 && end + 2 * V as u64 <= self.len;
        let is_aligned = self.source.offset(first).is_aligned();
        let mark = |is: bool, mark: u64| if is { mark } else { 0 };
        let marks =
            mark(is_inner, INNER) | mark(is_aligned, ALIGNED) | mark(range.division.parts > 1, SEVERAL);
        self.firsts.write(number, first | marks);
        self.lengths.write(2 * number, (end - first - 1) as u32);
        self.lengths.write(2 * number + 1, range.next * range.division.tiles_each);
        self.owners.write(number, owner);
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
        let mut ahead = self.piece(count, &mut number, &mut offset);
        let (mut others, mut is_there) = ([no_quad::<R>(); ROWS], false);
        while ahead.length > 0 {
            let piece = ahead;
            ahead = self.piece(count, &mut number, &mut offset);
            let mut quads = others;
            if is_there {
                is_there = false;
            } else if piece.is_whole && ahead.is_whole {
                // All loads of two tiles are asked for before the first is used.
                (quads, others) = (self.tile::<V>(first, piece), self.tile::<V>(first, ahead));
                is_there = true;
            } else {
                quads = self.any::<V>(first, piece);
            }
            self.take_piece::<V, A>(&mut locals, piece, &quads);
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
            // Mutants: parts of several tiles are of segments of more than 2048, one of a tile and an element too: of
            // those a test has some on a GPU.
            let is_last = left < tile::<R::Item>();
            let length = if is_last { left + 1 } else { tile::<R::Item>() };
            let marked = self.firsts.read(*number);
            let begin = marked & !(INNER | ALIGNED | SEVERAL);
            let is_aligned = marked & ALIGNED != 0;
            piece = Piece {
                begin: begin + *offset as u64,
                length,
                offset: *offset,
                base,
                number: *number,
                is_last,
                is_inner: marked & INNER != 0,
                is_aligned,
                is_whole: is_aligned && length == tile::<R::Item>(),
            };
            *number += is_last as u32;
            *offset = if is_last { 0 } else { *offset + tile::<R::Item>() };
        }
        piece
    }

    /// A thread's loads of a whole piece.
    #[device]
    #[inline(always)]
    fn tile<const V: usize>(&self, first: u32, piece: Piece) -> [Quad<R>; ROWS] {
        let source = self.source.offset(piece.begin + first as u64);
        let of_row = |row: usize| source.offset((row as u32 * THREADS * V as u32) as u64);
        // Mutants: segments are of one array, of whose tiles a thread has all of the rows.
        whole::<R>(core::array::from_fn(|row| ((row as u32) < rows::<R>()).then(|| of_row(row))))
    }

    /// A thread's loads of any piece.
    #[device]
    #[inline(always)]
    fn any<const V: usize>(&self, first: u32, piece: Piece) -> [Quad<R>; ROWS] {
        let offset_of = |row: usize| row as u32 * THREADS * V as u32;
        let source = self.source.offset(piece.begin + first as u64);
        let is_whole = piece.is_aligned && (piece.is_inner || piece.length == tile::<R::Item>());
        load::<R, V>(
            core::array::from_fn(|row| source.offset(offset_of(row) as u64)),
            core::array::from_fn(|row| piece.length.saturating_sub(first + offset_of(row))),
            is_whole,
            piece.is_inner,
            false,
        )
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
        let offset_of = |row: u32| first + row * THREADS * V as u32;
        if piece.is_whole {
            map_rows(is_rolled::<R>(), *quads, (), |row, quad| {
                // Mutants: as in [`Parts::tile`].
                if row < rows::<R>() {
                    take_whole::<R, V, A>(self.source, locals, quad, piece.offset + offset_of(row));
                }
            });
        } else {
            map_rows(is_rolled::<R>(), *quads, (), |row, quad| {
                let (offset, wanted) = (offset_of(row), length.saturating_sub(offset_of(row)));
                take_first::<R, V, A>(self.source, locals, quad, wanted, piece.offset + offset);
            });
        }
        if piece.is_last {
            let base = piece.base as u64 * tile::<R::Item>() as u64;
            let result = of_thread::<R, A>(self.source, locals, base);
            // Mutants: opaque or not, it is the same number.
            let from = if publishes::<R>() > 1 { opaque(16) } else { 16 };
            self.leave(self.room(piece.number), halve::<R>(self.source, result, from, 1));
            *locals = core::array::from_fn(|lane| R::start(first + lane as u32));
        }
    }

    /// Leaves a warp's result for the others.
    #[device]
    #[inline(always)]
    pub(super) fn leave(&self, room: Shared<u32>, result: R::Accumulator) {
        // Opaque, here and below, or the compiler would keep what it makes of it from stretch to stretch.
        let thread = opaque(thread_idx_x());
        if thread.is_multiple_of(32) {
            words::write(room, WARPS, thread / 32, result);
        }
    }

    /// How many segments of the stretch are taken part by part. From shared memory each time: in registers they would
    /// have others spilled.
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

    /// Room for the results of a part's warps.
    #[inline(always)]
    pub(super) fn room(&self, number: u32) -> Shared<u32> {
        self.results.offset(number * WARPS * publishes::<R>())
    }
}
