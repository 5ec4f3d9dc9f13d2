//! The runs of equal keys: where they begin, and the key of each.
//!
//! One launch, one pass ([`single_pass()`]): of a tile a block notes where runs begin, side by side in shared memory,
//! publishes how many they are, and learns how many begin before it. Meanwhile it reads its next tile. Then the starts go to memory, neighbours to
//! neighbours, and the keys that stand there, which are still in the L1 or L2 (H200, 2^26 keys of 32 bits: in runs of
//! 8 114 µs, of 256 101, of one key 291, when every key is written again).
//!
//! Keys are compared by their bits, so there are four kernels: by width. A warp takes consecutive rows of 32 loads of
//! 16 bytes, so that a key's predecessor is in the lane below, and a run's number follows from counts over lanes:
//! those of two rows are scanned as halves of one word.

use gpu_collective::grid::{Pass, Plus, Prefix, TileWork, scratch_words, single_pass};
use gpu_collective::warp::inclusive_scan;
use gpu_collective::{Item, Packed, Quads, Words, per_load};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{grid_dependency_synchronize, sync_threads, thread_idx_x};
use gpu_std::{device, kernel, opaque, shared, unroll, warp};

/// Warps of a block.
const WARPS: usize = 8;

/// Where the offsets of the runs begin, in words, after the number of runs: what segments of a reduction ask for
/// whose number is in device memory.
pub const RUNS_HEADER: u32 = 4;

/// The bits of a key: `u8`, `u16`, `u32` or `u64`.
pub trait Bits: Packed + Item<Source = Global<Self>, Source: Quads<Quad = Words>> {}
impl Bits for u8 {}
impl Bits for u16 {}
impl Bits for u32 {}
impl Bits for u64 {}

/// Blocks on a multiprocessor. Fewer of them find the same runs, as tiles are taken until none is left; more would find
/// no place before these have ended, and the next launch would wait for them.
pub const BLOCKS: u32 = 4;

/// How keys are cut: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsShape {
    /// Warps of a block.
    pub warps: u32,
    /// Keys of a load of 16 bytes.
    pub per_load: u32,
    /// Loads of a thread that are in flight.
    pub rows: u32,
}

impl RunsShape {
    /// That of the kernels in the PTX modules. With four loads of bytes the notes of two tiles would take 64 KiB.
    pub const fn of<K: Bits>() -> Self {
        let per_load = per_load::<K>();
        Self { warps: WARPS as u32, per_load, rows: if per_load > 8 { 2 } else { 4 } }
    }

    /// Threads of a block.
    pub const fn threads(self) -> u32 {
        32 * self.warps
    }

    /// Keys of a tile.
    pub const fn tile(self) -> u32 {
        self.threads() * self.per_load * self.rows
    }

    /// Tiles of so many keys.
    pub const fn tiles(self, len: u64) -> u64 {
        len.div_ceil(self.tile() as u64)
    }

    /// Words of 64 bits of scratch memory for so many keys: the header, those of each section, group and tile, and
    /// the counters of groups and sections.
    pub const fn scratch_words(self, len: u64) -> u64 {
        scratch_words(self.tiles(len), 1)
    }

    /// Bytes of dynamic shared memory of a block.
    pub const fn shared_bytes(self) -> u32 {
        Pass::layout(SharedLayout::new(), 1).array::<u32>(self.warps).array::<u16>(2 * self.tile()).bytes()
    }
}

/// A tile of keys, as a thread sees it.
struct Tile<K: Bits, const V: usize, const L: usize> {
    /// From the tile's first on.
    keys: Global<K>,
    /// How many there are.
    left: u32,
    /// Whether they are all that a tile may have.
    is_complete: bool,
    /// Whether it is the first tile.
    is_first: bool,
    /// Whether loads of 16 bytes are aligned.
    is_aligned: bool,
    /// The first key of the thread's first load.
    first: u32,
}

impl<K: Bits, const V: usize, const L: usize> Tile<K, V, L> {
    #[inline(always)]
    fn new(keys: Global<K>, base: u64, end: u64, tile_len: u32) -> Self {
        let left = (end - base).min(tile_len as u64) as u32;
        Self {
            keys: keys.offset(base),
            left,
            is_complete: left == tile_len,
            is_first: base == 0,
            is_aligned: keys.address().is_multiple_of(gpu_collective::LOAD_BYTES as u64),
            // Opaque: the compiler would keep the places of all rows from tile to tile.
            first: (opaque(thread_idx_x()) / 32 * L as u32 * 32 + warp::lane_id()) * V as u32,
        }
    }

    /// The first key of the thread's load in a row.
    #[inline(always)]
    fn place(&self, row: u32) -> u32 {
        self.first + 32 * V as u32 * row
    }

    /// The thread's loads, all asked for before the first is used.
    #[device]
    #[inline(always)]
    fn load(&self) -> [[u32; 4]; L] {
        let mut rows = [[0; 4]; L];
        if self.is_aligned && self.is_complete {
            // From the thread's first load on, so that the others are at constant distances: one address for all.
            let own = self.keys.offset(self.place(0) as u64).cast::<u32>();
            unroll::<L>(|row| rows[row] = own.read_vec::<4>(32 * 4 * row as u32));
        } else {
            // A loop over rows, so that its code stands there once; each row then finds its registers by selection.
            let mut row = 0;
            // Mutants: one more row is another warp's, read as far as there are keys, and not kept.
            while row < L as u32 {
                let place = self.place(row);
                // Mutants: of no keys none is read, and all words are zero, as they were.
                if place < self.left {
                    let words = self.keys.offset(place as u64).one_by_one(self.left - place);
                    unroll::<L>(|other| {
                        if other as u32 == row {
                            rows[other] = words;
                        }
                    });
                }
                // Opaque, or the loop would be unrolled all the same.
                row = opaque(row + 1);
            }
        }
        rows
    }

    /// A bit for each key of each load that begins a run.
    #[device]
    #[inline(always)]
    fn heads(&self, rows: &[[u32; 4]; L]) -> [u32; L] {
        let mut heads = [0; L];
        // The key before a row is the lowest lane's to read; the others' are in the lanes below.
        let mut before_row = [K::ANY; L];
        if warp::lane_id() == 0 {
            let before = self.keys.offset((self.place(0) as u64).wrapping_sub(1));
            unroll::<L>(|row| {
                let place = self.place(row as u32);
                // Mutants: the last key is before the row behind it, too, where no key asks for it.
                let is_there = place < self.left;
                if is_there && (place > 0 || !self.is_first) {
                    before_row[row] = before.read((32 * V * row) as u32);
                }
            });
        }
        unroll::<L>(|row| {
            let place = self.place(row as u32);
            let high = warp::shuffle_up(warp::FULL, rows[row][3], 1);
            // Only keys of 8 bytes end in two words.
            let low = if V == 2 { warp::shuffle_up(warp::FULL, rows[row][2], 1) } else { 0 };
            let below = K::unpack(&[0, 0, low, high], V - 1);
            let mut previous = if warp::lane_id() == 0 { before_row[row] } else { below };
            unroll::<V>(|j| {
                let key = K::unpack(&rows[row], j);
                heads[row] |= ((key != previous) as u32) << j;
                previous = key;
            });
            heads[row] |= (self.is_first && place == 0) as u32;
            let there = self.left.saturating_sub(place);
            // Mutants: bits from `V` on are zero.
            heads[row] &= if there < V as u32 { (1 << there) - 1 } else { u32::MAX };
        });
        heads
    }

    /// Notes where runs begin, each at its number in the tile. One barrier.
    ///
    /// `publish` is called with how many they are by the whole block before the notes are written.
    #[device]
    #[inline(always)]
    fn note<const W: usize>(&self, notes: Shared<u16>, warp_counts: Shared<u32>, publish: impl FnOnce(u32)) {
        let heads = self.heads(&self.load());
        // Heads of the lanes up to each: at most 16 a lane, 512 a row.
        let up_to: [u32; MAX_PAIRS] = core::array::from_fn(|pair| {
            if 2 * pair >= L {
                return 0;
            }
            let counts = heads[2 * pair].count_ones() | heads[2 * pair + 1].count_ones() << 16;
            inclusive_scan(counts, |before, after| before + after)
        });
        let of_rows: [u32; MAX_PAIRS] =
            core::array::from_fn(|pair| warp::shuffle_idx(warp::FULL, up_to[pair], 31));
        let mut of_warp = 0;
        unroll::<L>(|row| of_warp += of_row(&of_rows, row));
        let own_warp = opaque(thread_idx_x()) / 32;
        if warp::lane_id() == 0 {
            warp_counts.write(own_warp, of_warp);
        }
        sync_threads();
        let (mut before, mut total) = (0, 0);
        unroll::<W>(|warp| {
            let of_warp = warp_counts.read(warp as u32);
            before += if (warp as u32) < own_warp { of_warp } else { 0 };
            total += of_warp;
        });
        publish(total);
        unroll::<L>(|row| {
            let place = self.place(row as u32);
            let mut number = before + of_row(&up_to, row) - heads[row].count_ones();
            // Mutants: either way notes the same.
            if V <= 4 {
                unroll::<V>(|j| {
                    if heads[row] >> j & 1 == 1 {
                        notes.write(number, (place + j as u32) as u16);
                        number += 1;
                    }
                });
            } else {
                let mut left = heads[row];
                while left > 0 {
                    notes.write(number, (place + left.trailing_zeros()) as u16);
                    number += 1;
                    left &= left - 1;
                }
            }
            before += of_row(&of_rows, row);
        });
    }
}

/// Pairs of rows of a thread's loads at most.
const MAX_PAIRS: usize = 2;

/// Runs that a thread writes at once: their keys are all asked for before the first is written (H200, five blocks,
/// 2^26 runs of one key: 282 µs with four, 350 with one; of 8: 112 and 115).
const AT_ONCE: usize = 4;

/// That of row `row` of pairs of rows.
#[inline(always)]
fn of_row(pairs: &[u32; MAX_PAIRS], row: usize) -> u32 {
    pairs[row / 2] >> (16 * (row % 2)) & 0xffff
}

/// Writes, for each run, where it begins and its key, each at the run's number: `offsets[RUNS_HEADER + run]`,
/// `unique[run]`; behind the last offset stands `len`, and the number of runs in `offsets[0]` and `runs[0]`.
///
/// `V` keys a load, `L` loads a thread, an even number, `W` warps: what [`RunsShape`] says. `words` has the shape's
/// scratch words, `capacity` in all, which were zero before the first launch that was given them, and which launches
/// have to use one after the other. Launch at most as many blocks as there are tiles. `len` is not zero and less than
/// 2^32.
#[device]
#[inline(always)]
pub fn find_runs<K: Bits, const V: usize, const L: usize, const W: usize>(
    keys: Global<K>,
    len: u64,
    runs: GlobalMut<u32>,
    offsets: GlobalMut<u32>,
    unique: GlobalMut<K>,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    const { assert!(V as u32 == per_load::<K>(), "a thread's load has 16 bytes") };
    // Mutants: what it is asked for is well inside, or does not compile.
    const { assert!(L.is_multiple_of(2) && L <= 2 * MAX_PAIRS, "rows are counted in pairs") };
    // Mutants: as above.
    const { assert!(W > 1, "one warp waits while another one publishes") };
    let shape = Work::<K, V, L, W>::SHAPE;
    let tiles = shape.tiles(len) as u32;
    let mut memory = shared::dynamic();
    let pass = Pass::new::<Plus<u32>>(tiles, words, capacity, &mut memory);
    let work = Work::<K, V, L, W> {
        keys,
        len,
        tiles,
        runs,
        offsets,
        unique,
        warp_counts: memory.array(W as u32),
        // Of two tiles: one is read while the other waits for what comes before it.
        rooms: memory.array(2 * shape.tile()),
    };

    // The next launch is not let in early: its blocks would come to multiprocessors where a block of this one still
    // runs, and as long as one does, shared memory stays carved out of the L1 as this one asked for it. Of the
    // segments' blocks, 41 KiB each, two would find room instead of four, and those keep their places for the whole
    // launch. It comes when the last block here has ended (H200, 2^26 keys in runs of 8, find with five blocks: both
    // launches 210 µs, with a trigger here 249).
    grid_dependency_synchronize();
    single_pass(pass, 0, (), &work);
}

/// What a block does with a tile.
struct Work<K: Bits, const V: usize, const L: usize, const W: usize> {
    keys: Global<K>,
    len: u64,
    tiles: u32,
    runs: GlobalMut<u32>,
    offsets: GlobalMut<u32>,
    unique: GlobalMut<K>,
    warp_counts: Shared<u32>,
    rooms: Shared<u16>,
}

impl<K: Bits, const V: usize, const L: usize, const W: usize> Work<K, V, L, W> {
    const SHAPE: RunsShape = RunsShape { warps: W as u32, per_load: V as u32, rows: L as u32 };
}

impl<K: Bits, const V: usize, const L: usize, const W: usize> TileWork<Plus<u32>> for Work<K, V, L, W> {
    type Held = ();
    const COMPACT: bool = true;

    #[device]
    #[inline(always)]
    fn read(&self, tile: u32, room: u32, publish: impl FnOnce(u32)) {
        let len = Self::SHAPE.tile();
        let part = Tile::<K, V, L>::new(self.keys, tile as u64 * len as u64, self.len, len);
        part.note::<W>(self.rooms.offset(room * len), self.warp_counts, publish);
    }

    #[device]
    #[inline(always)]
    fn write(&self, tile: u32, room: u32, around: Prefix<u32>, (): ()) {
        let (thread, shape) = (thread_idx_x(), Self::SHAPE);
        let base = tile as u64 * shape.tile() as u64;
        let part = self.keys.offset(base);
        let starts = self.offsets.offset(RUNS_HEADER as u64 + around.before as u64);
        let of_runs = self.unique.offset(around.before as u64);
        let total = around.with - around.before;
        let notes = self.rooms.offset(room * shape.tile());
        let mut number = thread;
        // Mutants: in one more turn the tile's first key is read in vain.
        while number < total {
            let number_of = |i: usize| number + i as u32 * shape.threads();
            // Behind the last run the tile's first key is read, which is there, so that reads do not wait for a
            // branch.
            let mut places = [0; AT_ONCE];
            unroll::<AT_ONCE>(|i| {
                places[i] = if number_of(i) < total { notes.read(number_of(i)) as u32 } else { 0 };
            });
            let mut of_places = [K::ANY; AT_ONCE];
            unroll::<AT_ONCE>(|i| of_places[i] = part.read(places[i]));
            unroll::<AT_ONCE>(|i| {
                if number_of(i) < total {
                    starts.write(number_of(i), base as u32 + places[i]);
                    of_runs.write(number_of(i), of_places[i]);
                }
            });
            number += AT_ONCE as u32 * shape.threads();
        }
        if tile == self.tiles - 1 && thread == 0 {
            starts.write(total, self.len as u32);
            self.offsets.write(0, around.with);
            self.runs.write(0, around.with);
        }
    }
}

// Four blocks of a multiprocessor: for five, whose 48 registers would do on an H200 (2^26 keys in runs of 256: 91 µs,
// with four 101; of 8: 112 and 114), the compiler for 12.0 spills.
/// The kernels: calls the macro `$with` with, for keys of as many bits, those of a vector, the vectors of a thread, the kernel,
/// and the types of such keys.
#[macro_export]
macro_rules! run_instances {
    ($with:ident) => {
        $with! {
            u8, 16, 2: find_runs_b8, u8 i8;
            u16, 8, 4: find_runs_b16, u16 i16;
            u32, 4, 4: find_runs_b32, u32 i32;
            u64, 2, 4: find_runs_b64, u64 i64;
        }
    };
}

macro_rules! kernels {
    ($($k:ty, $v:literal, $l:literal: $find:ident, $($key:ty)*;)*) => { $(
        /// Finds runs of `keys`. How to launch it is said at [`find_runs`].
        #[kernel(images = sm_75_90, launch_bounds(256, 4), programmatic)]
        pub fn $find(
            keys: Global<$k>,
            len: u64,
            runs: GlobalMut<u32>,
            offsets: GlobalMut<u32>,
            unique: GlobalMut<$k>,
            words: GlobalMut<u64>,
            capacity: u64,
        ) {
            find_runs::<$k, $v, $l, WARPS>(keys, len, runs, offsets, unique, words, capacity);
        }
    )* };
}
run_instances!(kernels);
