//! The scan of a whole array, in one launch and one pass: every element is read once and written once.
//!
//! Blocks take tiles in turn, by a ticket: all tiles before a block's own have been taken by blocks that run, so whatever it
//! waits for will come, in whichever order the blocks start and however many of them find a place.
//!
//! The ticket's upper half counts launches. With it a block draws the mark by which it tells this launch's words from
//! those of others; nothing has to be cleared between launches, and a captured launch can be replayed. Only after 2^32 - 1
//! launches, when a mark would come back, the last block to end clears all words.

use core::marker::PhantomData;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{
    grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, opaque, shared, unroll, warp};

use super::look_back::{Prefix, Published, gather, prefix};
use super::memory::{Places, load, store};
use super::operator::Scan;
use super::packed::Packed;
use super::tile::{ends, of_lane, vector_total};
use super::{EXCLUSIVE, HEADER_WORDS, REVERSE, VECTOR_BYTES};
use crate::reduce::Accumulator;

/// Scans `len` elements of `input` into `output`, which may be the same memory.
///
/// A vector has `V` elements, `N` words of the input and `M` of the output; a thread has `L` of them in a tile, and a
/// block `W` warps: what [`Shape`](super::Shape) says. `mode` is a sum of [`EXCLUSIVE`] and [`REVERSE`]. `words` has
/// [`HEADER_WORDS`] and the shape's scratch words, `capacity` in all, which were zero before the first launch that was given
/// them, and which launches have to use one after the other. Launch at most as many blocks as there are tiles.
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
    const { assert!(4 * N as u32 == V as u32 * S::Item::BYTES && 4 * M as u32 == V as u32 * S::Output::BYTES) };
    let register_words = <S::Register as Accumulator>::WORDS;
    let mut memory = shared::dynamic();
    let warp_totals = memory.array::<u32>(W as u32 * register_words);
    let nodes = memory.array::<u32>(2 * register_words);
    let block_ticket = memory.array::<u64>(1);
    // Where vectors wait for what comes before the tile: registers would let fewer blocks run.
    let waiting = memory.array::<u32>(32 * (W * L * N) as u32);
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
    let mut ticket = if tiles > 1 { block_ticket.read(0) } else { 0 };
    loop {
        let tile = ticket as u32;
        if tile >= tiles {
            break;
        }
        let published = Published { words: words.offset(HEADER_WORDS as u64), tiles, mark: mark(ticket) };
        let vectors = Part::<S, V, N, M, L, W>::new(len, tile, tiles, mode).load(input, exchange);
        let totals = core::array::from_fn(|row| {
            vector_total::<S, V>(|j| S::extend(S::Item::unpack(&vectors[row], j)))
        });
        // A thread reads only what it wrote, so no barrier is needed.
        let waiting = waiting.offset(opaque(thread_idx_x()) * N as u32);
        unroll::<L>(|row| waiting.write_vec(row as u32 * 32 * (W * N) as u32, vectors[row]));
        let mut ends = ends::<S, L, W>(totals, warp_totals);

        let Prefix { before, with } = if tiles > 1 {
            if thread_idx_x() == 0 {
                published.publish_total(tile, ends.total);
            }
            if thread_idx_x() < 32 {
                gather::<S>(published, tile, ends.total, initial, nodes);
            }
            sync_threads();
            prefix::<S>(nodes)
        } else {
            Prefix { before: initial, with: S::combine(initial, ends.total) }
        };

        // Drawn behind all waiting, so that tiles start in their order: a block that held a ticket while it still waits would
        // make all later tiles wait for it (H200, 2^28 `f32`: 1,844 against 2,692 GB/s). The ticket's way is hidden behind the
        // stores.
        let next = if thread_idx_x() == 0 && tiles > 1 { tickets.draw() } else { 1 };

        let first = S::combine(before, ends.before);
        unroll::<L>(|row| {
            ends.rows[row] = S::combine(before, S::combine(ends.before, ends.rows[row]));
        });
        if thread_idx_x() == 32 * W as u32 - 1 {
            ends.rows[L - 1] = with;
        }
        Part::<S, V, N, M, L, W>::new(len, tile, tiles, mode)
            .store(output, waiting, first, &ends.rows, exchange);
        if thread_idx_x() == 0 {
            block_ticket.write(0, next);
        }
        sync_threads();
        ticket = block_ticket.read(0);
    }
    if tiles > 1 {
        tickets.finish(ticket, block_ticket);
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

    /// Whether a thread can move whole vectors, of `words` words, from or to `address`.
    #[inline(always)]
    fn is_whole(&self, address: u64, words: usize) -> bool {
        self.left == Self::LEN && address.is_multiple_of(4 * words as u64)
    }

    #[inline(always)]
    fn load(&self, input: Global<S::Item>, exchange: Shared<u32>) -> [[u32; N]; L] {
        let whole = self.is_whole(input.address(), N);
        let (tile, exchange) = (input.offset(self.base), exchange.offset(self.row));
        load::<S::Item, V, N, L>(tile, self.places, self.left, whole, S::IDENTITY, exchange)
    }

    /// Writes the results of the thread's vectors in `waiting`. `ends[l]` is that at the end of the thread's vector in row `l`, `first` that before the warp's
    /// first.
    #[inline(always)]
    fn store(
        &self,
        output: GlobalMut<S::Output>,
        waiting: Shared<u32>,
        first: S::Register,
        ends: &[S::Register; L],
        exchange: Shared<u32>,
    ) {
        let lane = warp::lane_id();
        let whole = self.is_whole(output.address(), M);
        let (tile, exchange) = (output.offset(self.base), exchange.offset(self.row));
        let mut before_row = first;
        unroll::<L>(|row| {
            // The result before a vector is that at the end of the one before: in the lane below, or in the last lane
            // of the row above.
            let below = of_lane(ends[row], (lane + 31) % 32);
            let before = if lane == 0 { before_row } else { below };
            before_row = below;

            let elements: [u32; N] = waiting.read_vec(row as u32 * 32 * (W * N) as u32);
            let mut packed = [0; M];
            let mut previous = before;
            let mut vector = S::extend(S::Item::unpack(&elements, 0));
            unroll::<V>(|j| {
                if j > 0 {
                    vector = S::combine(vector, S::extend(S::Item::unpack(&elements, j)));
                }
                let result = if j + 1 < V { S::combine(before, vector) } else { ends[row] };
                S::output(if self.exclusive { previous } else { result }).pack(&mut packed, j);
                previous = result;
            });
            store::<S::Output, V, M>(tile, self.places, row as u32, packed, self.left, whole, exchange);
        });
    }
}

/// Words of a row of vectors.
const ROW_WORDS: u32 = 32 * VECTOR_BYTES / 4;

/// The counter that blocks draw tickets from: how many were drawn below, how many launches there were above.
struct Tickets {
    /// The counter, that of blocks that have ended, and all other words.
    words: GlobalMut<u64>,
    tiles: u32,
    capacity: u64,
}

/// What tells the words of a launch from all others that may still be there; never zero.
const fn mark(ticket: u64) -> u32 {
    (ticket >> 32) as u32 + 1
}

impl Tickets {
    #[inline(always)]
    fn draw(&self) -> u64 {
        self.words.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device)
    }

    /// Prepares the next launch. `ticket` is the block's last: one beyond the tiles.
    #[inline(always)]
    fn finish(&self, ticket: u64, shared: Shared<u64>) {
        let blocks = grid_dim_x();
        let thread = thread_idx_x();
        let is_last = ticket as u32 == self.tiles + blocks - 1;
        if mark(ticket) != u32::MAX {
            if thread == 0 && is_last {
                self.words.atomic(0).store(((ticket >> 32) + 1) << 32, Ordering::Relaxed, Scope::Device);
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
                self.words.offset(word).atomic(0).store(0, Ordering::Relaxed, Scope::Device);
                word += gpu_std::thread::block_dim_x() as u64;
            }
        }
    }
}
