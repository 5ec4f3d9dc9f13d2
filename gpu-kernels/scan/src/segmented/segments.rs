//! The scan of segments: the same walk over tiles as that of a whole array.

use core::marker::PhantomData;

use gpu_collective::block::scan_warps;
use gpu_collective::grid::{Operator, Pass, Prefix, TileWork, single_pass};
use gpu_collective::vector::{Extent, Places, Room, ask, store_row, store_vector};
use gpu_collective::warp::{from_lane, inclusive_scan_within};
use gpu_collective::words::{read, write};
use gpu_collective::{Accumulator, Packed};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::thread_idx_x;
use gpu_std::warp::{self, FULL, warp_vote_ballot};
use gpu_std::{device, opaque, rolled, shared, unroll};

use super::super::tile::identity;
use super::super::whole::{ROW_WORDS, Waiting};
use super::super::{EXCLUSIVE, Flip, REVERSE, Scan};
use super::operator::{BySegment, Since, element};
use super::starts::{Starts, Tile};
use super::totals::{SegmentTotals, reach};
use super::turns::{EACH, in_turns, next_words, with_words};

/// Scans `len` elements of `input` into `output`, which may be the same memory where their elements have the same
/// type, from each start of a segment on.
///
/// Every segment starts with `initial`. All else is as [`whole`](super::super::whole()) has it, with the scratch
/// words and shared memory of [`shape`](super::shape) and [`shared_bytes`](super::shared_bytes). It does not wait for
/// the work before it: no kernel of it is `programmatic`.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn segments<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    starts: Starts,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    segments_flipped::<S, (), V, N, M, L, W>(input, output, len, starts, initial, mode, words, capacity, ());
}

/// As [`segments`], with the bits of `flip` flipped in all elements and results, as
/// [`whole_flipped`](super::super::whole_flipped) does.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn segments_flipped<
    S: Scan,
    F: Flip,
    const V: usize,
    const N: usize,
    const M: usize,
    const L: usize,
    const W: usize,
>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    starts: Starts,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: F,
) {
    const { assert!(4 * N as u32 == V as u32 * S::Item::BYTES && 4 * M as u32 == V as u32 * S::Output::BYTES) };
    let register_words = <Since<S::Register> as Accumulator>::WORDS;
    let tiles = len.div_ceil(Part::<S, V, N, M, L, W>::LEN as u64) as u32;
    let mut memory = shared::dynamic();
    let pass = Pass::new::<SegmentTotals<S>>(tiles, words, capacity, &mut memory);
    let work = Work::<S, F, V, N, M, L, W> {
        input,
        output,
        len,
        tiles,
        starts,
        initial,
        mode,
        flip,
        warp_totals: memory.array(W as u32 * register_words),
        density: memory.array(1),
        held_warps: HeldWarps {
            results: memory.array(2 * W as u32 * register_words),
            firsts: memory.array(2 * W as u32),
        },
        bits: memory.array(2 * Work::<S, F, V, N, M, L, W>::BIT_WORDS),
        rooms: memory.array(2 * Waiting::<S, V, N, L, W>::WORDS),
        exchange: memory.array(W as u32 * ROW_WORDS),
    };
    // Read behind the barrier of the first ticket.
    if thread_idx_x() == 0 {
        work.density.write(0, starts.density(len).to_bits());
    }
    single_pass(pass, SegmentTotals::<S>::identity(), (), &work);
}

/// What a block does with a tile.
struct Work<S: Scan, F, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize> {
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    tiles: u32,
    starts: Starts,
    initial: S::Register,
    mode: u32,
    flip: F,
    warp_totals: Shared<u32>,
    /// The offsets for an element: the compiler would keep it in a register all the while.
    density: Shared<u32>,
    held_warps: HeldWarps,
    /// Which elements start a segment, in two rooms.
    bits: Shared<u32>,
    rooms: Shared<u32>,
    exchange: Shared<u32>,
}

impl<S: Scan, F: Flip, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    Work<S, F, V, N, M, L, W>
{
    const BIT_WORDS: u32 = (W * L * V) as u32;

    #[inline(always)]
    fn waiting(&self, room: u32) -> Waiting<S, V, N, L, W> {
        Waiting::at(self.rooms.offset(room * Waiting::<S, V, N, L, W>::WORDS))
    }

    #[inline(always)]
    fn part(&self, tile: u32) -> Part<S, V, N, M, L, W> {
        Part::new(self.len, tile, self.tiles, self.mode)
    }
}

impl<S: Scan, F: Flip, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    TileWork<SegmentTotals<S>> for Work<S, F, V, N, M, L, W>
{
    type Held = ();
    const COMPACT: bool = true;

    #[device]
    #[inline(always)]
    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(Since<S::Register>)) {
        let density = || f32::from_bits(self.density.read(0));
        let part = self.part(tile);
        // Both are under way at once, what is needed first first.
        let window = self.starts.ask::<W>(part.tile(self.len), density());
        let vectors = part.ask(self.input, self.exchange, self.waiting(room).room(), self.flip);
        let part = self.part(tile);
        let bits = self.bits.offset(room * Self::BIT_WORDS);
        self.starts.mark::<W>(part.tile(self.len), window, density(), bits, Self::BIT_WORDS);
        // Not before, or they would be waited for before the offsets are.
        let mut vectors = vectors.map(|vector| self.flip.words(vector));
        if self.mode & REVERSE != 0 {
            // Opaque, or the compiler would choose between both orders for every word, always.
            vectors = vectors.map(|vector| S::Item::reverse(vector).map(opaque));
        }
        let (ends, own) = part.scan_rows(&mut vectors, bits, self.initial);
        self.waiting(room).write(vectors, ends);
        // Opaque, or it would be kept from tile to tile, and an address with it.
        let (own_warp, nothing) = (opaque(thread_idx_x()) / 32, SegmentTotals::<S>::identity());
        let combine = SegmentTotals::<S>::combine;
        let warps = scan_warps::<_, W>(own.carry, nothing, own_warp, self.warp_totals, combine);
        self.held_warps.write::<W>(room, warps.before, own.first);
        publish(warps.total);
    }

    #[device]
    #[inline(always)]
    fn write(&self, tile: u32, room: u32, around: Prefix<Since<S::Register>>, (): ()) {
        let (waiting, part) = (self.waiting(room), self.part(tile));
        let bits = self.bits.offset(room * Self::BIT_WORDS);
        let own = self.held_warps.read::<W, _>(room);
        let (initial, exchange, flip) = (self.initial, self.exchange, self.flip);
        // What the compiler knows costs no instruction: of four rows' 490 are left 150. (H200, sums of 2^26 `f32` in
        // segments of 256, with loads that nothing waits for: 193 to 165 µs.)
        if !Part::<S, V, N, M, L, W>::IN_TURN
            && self.mode & EXCLUSIVE == 0
            && part.is_plain(self.output.address(), M)
        {
            part.store::<true>(self.output, waiting, bits, around, own, initial, exchange, flip);
        } else {
            part.store::<false>(self.output, waiting, bits, around, own, initial, exchange, flip);
        }
    }
}

/// What is known of the warps of two tiles that wait for what comes before them. In shared memory, as their elements
/// are: registers would let fewer blocks run.
#[derive(Clone, Copy)]
struct HeldWarps {
    results: Shared<u32>,
    firsts: Shared<u32>,
}

impl HeldWarps {
    /// Sets what is known of the thread's warp. A barrier has to follow.
    #[inline(always)]
    fn write<const W: usize>(self, room: u32, before: Since<impl Accumulator>, first: u32) {
        let index = room * W as u32 + opaque(thread_idx_x()) / 32;
        if opaque(warp::lane_id()) == 0 {
            write(self.results, 2 * W as u32, index, before);
            self.firsts.write(index, first);
        }
    }

    #[inline(always)]
    fn read<const W: usize, R: Accumulator>(self, room: u32) -> Held<R> {
        let index = room * W as u32 + opaque(thread_idx_x()) / 32;
        Held { before: read(self.results, 2 * W as u32, index), first: self.firsts.read(index) }
    }
}

/// What is known of a warp of a tile that waits.
#[derive(Clone, Copy)]
struct Held<R> {
    /// The result of the warps before it.
    before: Since<R>,
    /// The first vector of the warp's part in which a segment starts, or one behind all.
    first: u32,
}

/// What is known of a warp's part.
struct Own<R> {
    carry: Since<R>,
    first: u32,
}

/// A tile and the thread's place in it.
struct Part<S, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize> {
    base: u64,
    left: u32,
    places: Places,
    /// The number of the thread's vector in row 0, in the order of the scan.
    unit: u32,
    /// Where the warp's room for a row starts.
    row: u32,
    mode: u32,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    Part<S, V, N, M, L, W>
{
    const LEN: u32 = 32 * (W * L * V) as u32;
    /// Whether rows are scanned and written in loops, which is less code: where elements or results are not of 4 bytes.
    // Mutants: it is the same in loops.
    const IN_TURN: bool = V != EACH || <S::Register as Accumulator>::WORDS > 1;

    #[inline(always)]
    fn new(len: u64, tile: u32, tiles: u32, mode: u32) -> Self {
        // Opaque, as in `whole`: the compiler would keep all addresses.
        let (thread, tile) = (opaque(thread_idx_x()), opaque(tile));
        let reverse = mode & REVERSE != 0;
        let base = (if reverse { tiles - 1 - tile } else { tile }) as u64 * Self::LEN as u64;
        Self {
            base,
            left: (len - base).min(Self::LEN as u64) as u32,
            places: Places::new(thread, W as u32, V as u32, L as u32, reverse),
            unit: thread / 32 * 32 * L as u32 + thread % 32,
            row: thread / 32 * ROW_WORDS,
            mode,
            scan: PhantomData,
        }
    }

    #[inline(always)]
    fn tile(&self, len: u64) -> Tile {
        Tile { base: self.base, left: self.left, full: Self::LEN, len, reverse: self.mode & REVERSE != 0 }
    }

    /// The tile in an array at `address`, whose vectors have `words` words.
    #[inline(always)]
    fn extent(&self, address: u64, words: usize) -> Extent {
        let is_aligned = address.is_multiple_of(4 * words as u64);
        Extent { left: self.left, is_complete: self.left == Self::LEN, is_aligned }
    }

    /// Whether all its vectors are there and aligned, and it is read forwards.
    #[inline(always)]
    fn is_plain(&self, address: u64, words: usize) -> bool {
        let extent = self.extent(address, words);
        extent.is_complete && extent.is_aligned && self.mode & REVERSE == 0
    }

    /// The thread's vectors as they lie in memory.
    #[inline(always)]
    fn ask(
        &self,
        input: Global<S::Item>,
        exchange: Shared<u32>,
        room: Room,
        flip: impl Flip,
    ) -> [[u32; N]; L] {
        let extent = self.extent(input.address(), N);
        let (tile, exchange) = (input.offset(self.base), exchange.offset(self.row));
        ask::<S::Item, V, N, L>(tile, self.places, extent, flip.nothing::<S, N>(), exchange, room)
    }

    /// Which elements of the thread's vector in row `row` start a segment: the first one's bit is the lowest.
    #[inline(always)]
    fn starts(&self, bits: Shared<u32>, row: usize) -> u32 {
        let first = self.unit * V as u32;
        bits.read(first / 32 + (row * V) as u32) >> (first % 32) & ((1 << V) - 1)
    }

    /// The results at the ends of the thread's vectors, since the last start of a segment or that of the warp's part,
    /// and that of the whole part.
    #[inline(always)]
    fn scan_rows(
        &self,
        vectors: &mut [[u32; N]; L],
        bits: Shared<u32>,
        initial: S::Register,
    ) -> ([S::Register; L], Own<S::Register>) {
        let lane = opaque(warp::lane_id());
        let mut starts: [u32; L] = core::array::from_fn(|row| self.starts(bits, row));
        let masks: [u32; L] = core::array::from_fn(|row| warp_vote_ballot(FULL, starts[row] != 0));
        let mut totals = [identity::<BySegment<S>>(); L];
        in_turns::<V>(|turn| {
            unroll::<L>(|row| {
                unroll::<V>(|j| {
                    if j < EACH {
                        let item = S::Item::unpack(&vectors[row], j);
                        let item = element::<S>(item, starts[row] & 1 << j != 0, initial);
                        let with = BySegment::<S>::combine(totals[row], item);
                        totals[row] = if turn == 0 && j == 0 { item } else { with };
                    }
                });
                // After the last turn they are as they were.
                (vectors[row], starts[row]) = (next_words::<V, N>(vectors[row]), starts[row] >> EACH);
            });
        });
        let mut ends: [S::Register; L] = totals.map(|total| total.value);
        if Self::IN_TURN {
            let (mut masks, mut row) = (masks, 0);
            while row < L as u32 {
                row = rolled(row);
                let end = inclusive_scan_within(ends[0], reach(masks[0], lane), S::combine);
                // After the last turn they are where they were.
                ends = core::array::from_fn(|row| if row + 1 < L { ends[row + 1] } else { end });
                masks = core::array::from_fn(|row| masks[(row + 1) % L]);
                row += 1;
            }
        } else {
            unroll::<L>(|row| {
                ends[row] = inclusive_scan_within(ends[row], reach(masks[row], lane), S::combine)
            });
        }
        let mut own = Own { carry: identity::<BySegment<S>>(), first: 32 * L as u32 };
        unroll::<L>(|row| {
            let row_total = Since::new(from_lane(ends[row], 31), masks[row] != 0);
            let end = Since::new(ends[row], reach(masks[row], lane) <= lane);
            ends[row] = BySegment::<S>::combine(own.carry, end).value;
            own.carry = BySegment::<S>::combine(own.carry, row_total);
        });
        // Mutants: where no segment starts, a row further is behind all vectors too.
        let (mut mask, mut rows_before) = (0, L as u32 - 1);
        unroll::<L>(|i| {
            let row = L - 1 - i;
            (mask, rows_before) =
                if masks[row] != 0 { (masks[row], row as u32) } else { (mask, rows_before) };
        });
        // Of an empty mask there are 32 zeros.
        own.first = 32 * rows_before + mask.trailing_zeros();
        (ends, own)
    }

    /// Writes the results of the thread's vectors in `waiting`: row after row in a loop, or all at once where the
    /// tile is plain and the scan inclusive.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all that a tile that waits is made of")]
    fn store<const PLAIN: bool>(
        &self,
        output: GlobalMut<S::Output>,
        waiting: Waiting<S, V, N, L, W>,
        bits: Shared<u32>,
        around: Prefix<Since<S::Register>>,
        held: Held<S::Register>,
        initial: S::Register,
        exchange: Shared<u32>,
        flip: impl Flip,
    ) {
        let lane = opaque(warp::lane_id());
        let extent = self.extent(output.address(), M);
        let (tile, exchange) = (output.offset(self.base), exchange.offset(self.row));
        let exclusive = !PLAIN && self.mode & EXCLUSIVE != 0;
        let before_warp = held.before;
        let mut before_row = BySegment::<S>::combine(around.before, before_warp).value;
        let is_last = self.row == (W as u32 - 1) * ROW_WORDS && lane == 31;
        let mut store_row = |row: usize| {
            let mut starts = self.starts(bits, row);
            let (mut elements, end) = waiting.read(row);
            let end = Since::new(end, 32 * row as u32 + lane >= held.first);
            let end = BySegment::<S>::combine(before_warp, end);
            let mut end = BySegment::<S>::combine(around.before, end).value;
            if row == L - 1 && is_last {
                end = around.with.value;
            }
            // The result before a vector is that at the end of the one before: in the lane below, or in the last lane
            // of the row above.
            let below = from_lane(end, (lane + 31) % 32);
            let before = Since::new(if lane == 0 { before_row } else { below }, false);
            before_row = below;

            let mut packed = [0; M];
            let (mut vector, mut previous) = (identity::<BySegment<S>>(), before.value);
            in_turns::<V>(|turn| {
                let mut results = [end; EACH];
                let started = vector.starts();
                let is_last = (turn as usize + 1) * EACH >= V;
                unroll::<V>(|j| {
                    if j < EACH && !(is_last && j + 1 == V.min(EACH)) {
                        let is_start = starts & 1 << j != 0;
                        let item = element::<S>(S::Item::unpack(&elements, j), is_start, initial);
                        let with = BySegment::<S>::combine(vector, item);
                        vector = if turn == 0 && j == 0 { item } else { with };
                        // As `combine` has it, by all bits at once.
                        let since = Since::new(vector.value, started || starts & ((2 << j) - 1) != 0);
                        results[j] = BySegment::<S>::combine(before, since).value;
                    }
                });
                let mut of_turn = [0; M];
                if exclusive {
                    unroll::<V>(|j| {
                        if j < EACH {
                            let result = if starts & 1 << j != 0 { initial } else { previous };
                            S::output(result).pack(&mut of_turn, j);
                            previous = results[j];
                        }
                    });
                } else {
                    unroll::<V>(|j| {
                        if j < EACH {
                            S::output(results[j]).pack(&mut of_turn, j);
                        }
                    });
                }
                packed = with_words::<V, M>(packed, of_turn);
                (elements, starts) = (next_words::<V, N>(elements), starts >> EACH);
            });
            let packed = flip.words(packed);
            if PLAIN {
                let vector = self.unit + 32 * row as u32;
                tile.cast::<u32>().write_streaming_vec(vector * M as u32, packed);
                return;
            }
            if warp::uniform(self.places.has_elements(row as u32, V as u32, extent)) {
                store_row::<S::Output, V, M>(tile, self.places, row as u32, packed, extent, exchange, lane);
            } else if self.places.has_vectors(row as u32, V as u32, extent) {
                store_vector::<S::Output, V, M>(tile, self.places, row as u32, packed);
            }
        };
        if PLAIN {
            unroll::<L>(store_row);
        } else {
            let mut row = 0;
            while row < L as u32 {
                row = rolled(row);
                store_row(row as usize);
                row += 1;
            }
        }
    }
}
