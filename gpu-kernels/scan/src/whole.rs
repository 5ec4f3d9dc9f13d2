//! The scan of a whole array, in one launch and one pass: every element is read once and written once.
//!
//! Blocks take tiles in turn, by a ticket: all tiles before a block's own have been taken by blocks that run, so
//! whatever it waits for will come, in whichever order the blocks start and however many of them find a place.
//!
//! The ticket's upper half counts launches. With it a block draws the mark by which it tells this launch's words from
//! those of others; nothing has to be cleared between launches, and a captured launch can be replayed. Only after
//! 2^32 - 1 launches, when a mark would come back, the last block to end clears all words.

use core::marker::PhantomData;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{
    grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, keep_rolled, opaque, rolled, shared, unroll, warp};

use super::look_back::{Prefix, Published, arrive, gather, prefix};
use super::memory::{Extent, Places, Room, load, store_row, store_vector};
use super::operator::{Flip, Scan};
use super::packed::Packed;
use super::tile::{MAX_WORDS, of_lane, scan_rows, scan_warps, vector_total, warp_scan};
use super::{EXCLUSIVE, HEADER_WORDS, REVERSE, SECTION, VECTOR_BYTES, waiting_words};
use gpu_collective::Accumulator;

/// Scans `len` elements of `input` into `output`, which may be the same memory.
///
/// A vector has `V` elements, `N` words of the input and `M` of the output; a thread has `L` of them in a tile, and a
/// block `W` warps: what [`Shape`](super::Shape) says. `mode` is a sum of [`EXCLUSIVE`] and [`REVERSE`]. `words` has
/// [`HEADER_WORDS`] and the shape's scratch words, `capacity` in all, which were zero before the first launch that
/// was given them, and which launches have to use one after the other. Launch at most as many blocks as there are
/// tiles.
#[device]
#[inline(always)]
pub fn whole<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    scan_tiles::<S, (), V, N, M, L, W>(input, output, len, initial, mode, words, capacity, ());
}

/// As [`whole`], with the bits of `flip` flipped in all elements and results, but for `initial`, which is flipped
/// already ([`flipped`](super::flipped)): for all operators of which [`flip`](super::flip()) says how they become
/// `S`.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn whole_flipped<
    S: Scan,
    const V: usize,
    const N: usize,
    const M: usize,
    const L: usize,
    const W: usize,
>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    len: u64,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: u64,
) {
    scan_tiles::<S, u64, V, N, M, L, W>(input, output, len, initial, mode, words, capacity, flip);
}

#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
fn scan_tiles<
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
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: F,
) {
    const { assert!(4 * N as u32 == V as u32 * S::Item::BYTES && 4 * M as u32 == V as u32 * S::Output::BYTES) };
    let register_words = <S::Register as Accumulator>::WORDS;
    let mut memory = shared::dynamic();
    let warp_totals = memory.array::<u32>(W as u32 * register_words);
    let nodes = memory.array::<u32>(2 * register_words);
    let block_ticket = memory.array::<u64>(1);
    // Where two tiles wait for what comes before them: registers would let fewer blocks run.
    let rooms = memory.array::<u32>(2 * Waiting::<S, V, N, L, W>::WORDS);
    let exchange = memory.array::<u32>(W as u32 * ROW_WORDS);
    let tile_len = 32 * (W * L * V) as u32;
    let tiles = len.div_ceil(tile_len as u64) as u32;
    let tickets = Tickets { words, tiles, capacity };

    grid_dependency_synchronize();
    trigger_launch_completion();

    if tiles > 1 {
        if thread_idx_x() == 0 {
            block_ticket.write(0, tickets.draw());
        }
        sync_threads();
    }
    let ticket = if tiles > 1 { block_ticket.read(0) } else { 0 };
    let published = Published {
        words: words.offset(HEADER_WORDS as u64),
        tiles,
        mark: mark(ticket),
        several: tiles > grid_dim_x() || tiles > SECTION,
    };
    // The tile that was read last: what comes before it is asked for when the next one has been read.
    let mut held = Held { tile: NONE, before: initial };
    let mut room = 0;
    let mut tile = ticket as u32;
    loop {
        let (mut read, mut total) = (held, initial);
        if tile < tiles {
            let waiting = Waiting::<S, V, N, L, W>::at(rooms.offset(room));
            let vectors = Part::<S, V, N, M, L, W>::new(len, tile, tiles, mode).load(
                input,
                exchange,
                waiting.room(),
                flip,
            );
            let totals = core::array::from_fn(|row| {
                vector_total::<S, V>(|j| S::extend(S::Item::unpack(&vectors[row], j)))
            });
            let (ends, own) = scan_rows::<S, L>(totals);
            Waiting::<S, V, N, L, W>::at(rooms.offset(room)).write(vectors, ends);
            let warps = scan_warps::<S, W>(own, thread_idx_x() / 32, warp_totals);
            total = warps.total;
            read = Held { tile, before: warps.before };
            if warp::uniform(thread_idx_x() / 32 == 1 && tiles > 1) {
                // Opaque, or the numbers of its places would be kept in registers from tile to tile.
                let published = Published { tiles: opaque(tiles), ..published };
                arrive::<S>(published, tile, total, initial, warp_scan::<S>);
            }
        }
        room = Waiting::<S, V, N, L, W>::WORDS - room;

        // Of several tiles, what comes before the one held; of a single one, what comes before it at once.
        let asking = if published.several { held.tile } else { tile };
        if warp::uniform(thread_idx_x() < 32 && asking < tiles) {
            let published = Published { tiles: opaque(tiles), ..published };
            gather::<S>(published, asking, total, initial, nodes, warp_scan::<S>, register_words > 1);
        }
        let is_held = held.tile != NONE;
        let mut around = Prefix { before: initial, with: initial };
        if is_held {
            sync_threads();
            around = prefix::<S>(nodes);
        }

        // Drawn behind all waiting, so that tiles start in their order: a block that held a ticket while it still
        // waits would make all later tiles wait for it (H200, 2^28 `f32`: 1,844 against 2,692 GB/s). The ticket's way
        // is hidden behind the stores.
        let draws = tile < tiles && published.several;
        let next = if draws && thread_idx_x() == 0 { tickets.draw() } else { 0 };

        if is_held {
            let waiting = Waiting::<S, V, N, L, W>::at(rooms.offset(room));
            Part::<S, V, N, M, L, W>::new(len, held.tile, tiles, mode).store(
                output,
                waiting,
                around,
                held.before,
                exchange,
                flip,
            );
        }
        if tile >= tiles {
            break;
        }
        held = read;
        if draws {
            if thread_idx_x() == 0 {
                block_ticket.write(0, next);
            }
            sync_threads();
            tile = block_ticket.read(0) as u32;
        } else {
            tile += tiles;
        }
    }
    if tiles > 1 {
        tickets.finish(tile, published.mark, block_ticket, grid_dim_x());
    }
}

/// No tile.
pub(crate) const NONE: u32 = u32::MAX;

/// A tile that has been read, but for what comes before it.
#[derive(Clone, Copy)]
struct Held<R> {
    tile: u32,
    /// The result of the warps before the thread's own.
    before: R,
}

/// Where the vectors of a tile wait, and the results at their ends from the start of the warp's part on. A thread
/// reads only what it wrote, so no barrier is needed.
pub(super) struct Waiting<S, const V: usize, const N: usize, const L: usize, const W: usize> {
    vectors: Shared<u32>,
    ends: Shared<u32>,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, const V: usize, const N: usize, const L: usize, const W: usize> Waiting<S, V, N, L, W> {
    const END: usize = <S::Register as Accumulator>::WORDS as usize;
    /// Words of all vectors.
    const VECTORS: u32 = 32 * (W * L * N) as u32;
    /// Whether an end takes the place of the vector's last element, which nobody needs when the end is known.
    const IN_PLACE: bool = N == V * Self::END;
    pub(super) const WORDS: u32 =
        waiting_words(32 * W as u32, L as u32, V as u32, N as u32, Self::END as u32);

    #[inline(always)]
    pub(super) fn at(room: Shared<u32>) -> Self {
        let thread = opaque(thread_idx_x());
        Self {
            vectors: room.offset(thread * N as u32),
            ends: room.offset(Self::VECTORS + thread),
            scan: PhantomData,
        }
    }

    /// Where its vectors are.
    #[inline(always)]
    pub(super) fn room(&self) -> Room {
        Room { first: self.vectors, step: 32 * (W * N) as u32 }
    }

    #[inline(always)]
    pub(super) fn write(&self, mut vectors: [[u32; N]; L], ends: [S::Register; L]) {
        unroll::<L>(|row| {
            unroll::<MAX_WORDS>(|word| {
                if word < Self::END {
                    let bits = ends[row].word(word as u32);
                    if Self::IN_PLACE {
                        vectors[row][N - Self::END + word] = bits;
                    } else {
                        self.ends.write(32 * (W * (row * Self::END + word)) as u32, bits);
                    }
                }
            });
            self.vectors.write_vec(32 * (row * W * N) as u32, vectors[row]);
        });
    }

    /// The thread's vector in row `row`, but for its last element, and the result at its end.
    #[inline(always)]
    pub(super) fn read(&self, row: usize) -> ([u32; N], S::Register) {
        let vector: [u32; N] = self.vectors.read_vec(32 * (row * W * N) as u32);
        let end = Accumulator::from_words(&mut |word| {
            if Self::IN_PLACE {
                vector[N - Self::END + word as usize]
            } else {
                self.ends.read(32 * (W * (row * Self::END + word as usize)) as u32)
            }
        });
        (vector, end)
    }
}

/// A tile and the thread's place in it.
struct Part<S, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize> {
    /// The tile's first element.
    base: u64,
    /// Elements of the tile.
    left: u32,
    places: Places,
    /// Where the warp's room for a row starts.
    row: u32,
    exclusive: bool,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan, const V: usize, const N: usize, const M: usize, const L: usize, const W: usize>
    Part<S, V, N, M, L, W>
{
    const LEN: u32 = 32 * (W * L * V) as u32;

    #[inline(always)]
    fn new(len: u64, tile: u32, tiles: u32, mode: u32) -> Self {
        // Opaque: the compiler would keep all addresses of the thread, from tile to tile and from the loads to the
        // stores, in 40 registers.
        let (thread, tile) = (opaque(thread_idx_x()), opaque(tile));
        let reverse = mode & REVERSE != 0;
        let base = (if reverse { tiles - 1 - tile } else { tile }) as u64 * Self::LEN as u64;
        Self {
            base,
            left: (len - base).min(Self::LEN as u64) as u32,
            places: Places::new(thread, W as u32, V as u32, L as u32, reverse),
            row: thread / 32 * ROW_WORDS,
            exclusive: mode & EXCLUSIVE != 0,
            scan: PhantomData,
        }
    }

    /// The tile in an array at `address`, whose vectors have `words` words.
    #[inline(always)]
    fn extent(&self, address: u64, words: usize) -> Extent {
        let is_aligned = address.is_multiple_of(4 * words as u64);
        Extent { left: self.left, is_complete: self.left == Self::LEN, is_aligned }
    }

    #[inline(always)]
    fn load(
        &self,
        input: Global<S::Item>,
        exchange: Shared<u32>,
        room: Room,
        flip: impl Flip,
    ) -> [[u32; N]; L] {
        let extent = self.extent(input.address(), N);
        let (tile, exchange) = (input.offset(self.base), exchange.offset(self.row));
        let fill = flip.nothing::<S, N>();
        let vectors = load::<S::Item, V, N, L>(tile, self.places, extent, fill, exchange, room);
        core::array::from_fn(|row| flip.words(vectors[row]))
    }

    /// Writes the results of the thread's vectors in `waiting`. Around the tile is `around`, and `of_warps` is the
    /// result of the warps before the thread's own.
    #[inline(always)]
    fn store(
        &self,
        output: GlobalMut<S::Output>,
        waiting: Waiting<S, V, N, L, W>,
        around: Prefix<S::Register>,
        of_warps: S::Register,
        exchange: Shared<u32>,
        flip: impl Flip,
    ) {
        let lane = warp::lane_id();
        let extent = self.extent(output.address(), M);
        let (tile, exchange) = (output.offset(self.base), exchange.offset(self.row));
        let first_before = S::combine(around.before, of_warps);
        let is_last = self.row == (W as u32 - 1) * ROW_WORDS && lane == 31;
        // The results of a row, of which `before_row` is the one before: packed, and the last one.
        let results = |row: usize, before_row: S::Register| {
            let (elements, end) = waiting.read(row);
            let mut end = S::combine(around.before, S::combine(of_warps, end));
            if row == L - 1 && is_last {
                end = around.with;
            }
            // The result before a vector is that at the end of the one before: in the lane below, or in the last lane
            // of the row above.
            let below = of_lane(end, (lane + 31) % 32);
            let before = if lane == 0 { before_row } else { below };

            let mut packed = [0; M];
            let mut previous = before;
            let mut vector = S::extend(S::Item::unpack(&elements, 0));
            unroll::<V>(|j| {
                let result = if j + 1 < V {
                    if j > 0 {
                        vector = S::combine(vector, S::extend(S::Item::unpack(&elements, j)));
                    }
                    S::combine(before, vector)
                } else {
                    end
                };
                S::output(if self.exclusive { previous } else { result }).pack(&mut packed, j);
                previous = result;
            });
            (flip.words(packed), below)
        };
        if extent.is_aligned {
            let mut before_row = first_before;
            unroll::<L>(|row| {
                let (packed, last) = results(row, before_row);
                before_row = last;
                if self.places.has_vectors(row as u32, V as u32, extent) {
                    store_vector::<S::Output, V, M>(tile, self.places, row as u32, packed);
                }
            });
        }
        // The rows that are moved element by element: all, or that in which the array ends. In a loop, so that their
        // code stands there once.
        if !extent.is_aligned || !self.left.is_multiple_of(32 * V as u32) {
            let mut before_row = first_before;
            let mut row = 0;
            while row < L as u32 {
                row = rolled(row);
                let (packed, last) = results(row as usize, before_row);
                before_row = last;
                if warp::uniform(self.places.has_elements(row, V as u32, extent)) {
                    store_row::<S::Output, V, M>(tile, self.places, row, packed, extent, exchange, lane);
                }
                row += 1;
            }
        }
    }
}

/// Words of a row of vectors.
pub(super) const ROW_WORDS: u32 = 32 * VECTOR_BYTES / 4;

/// The counter that blocks draw tickets from: how many were drawn below, how many launches there were above.
pub(crate) struct Tickets {
    /// The counter, that of blocks that have ended, and all other words.
    pub(crate) words: GlobalMut<u64>,
    pub(crate) tiles: u32,
    pub(crate) capacity: u64,
}

/// What tells the words of a launch from all others that may still be there; never zero.
pub(crate) const fn mark(ticket: u64) -> u32 {
    (ticket >> 32) as u32 + 1
}

/// The next ticket of the counter. For thread 0.
#[inline(always)]
pub(crate) fn draw(counter: GlobalMut<u64>) -> u64 {
    // By one, as one thread draws, which the assembler shall not see: it would let all lanes draw at once, in 20
    // instructions.
    let one = 1 + opaque(warp::lane_id()) as u64;
    counter.atomic(0).fetch_add(one, Ordering::Relaxed, Scope::Device)
}

impl Tickets {
    /// The next ticket. For thread 0.
    #[inline(always)]
    pub(crate) fn draw(&self) -> u64 {
        draw(self.words)
    }

    /// Prepares the next launch. `last` is the block's last ticket: one beyond the tiles; `blocks` is how many blocks
    /// there are.
    #[inline(always)]
    pub(crate) fn finish(&self, last: u32, mark: u32, shared: Shared<u64>, blocks: u32) {
        let thread = thread_idx_x();
        let is_last = last == self.tiles + blocks - 1;
        if mark != u32::MAX {
            if thread == 0 && is_last {
                self.words.atomic(0).store((mark as u64) << 32, Ordering::Relaxed, Scope::Device);
            }
            return;
        }
        // No mark is left: once every block has seen what it waited for, all words are cleared.
        sync_threads();
        if thread == 0 {
            shared.write(0, self.words.atomic(1).fetch_add(1, Ordering::AcqRel, Scope::Device));
        }
        sync_threads();
        if shared.read(0) == blocks as u64 - 1 {
            let mut word = thread as u64;
            while word < self.capacity {
                keep_rolled();
                self.words.offset(word).atomic(0).store(0, Ordering::Relaxed, Scope::Device);
                word += gpu_std::thread::block_dim_x() as u64;
            }
        }
    }
}
