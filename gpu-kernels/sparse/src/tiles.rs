//! Which tiles of rows have entries of which columns: what [a transposition](crate::from_tiles) of a matrix goes by
//! whose near rows have near columns.
//!
//! Consecutive columns are a *bucket*, consecutive rows a *tile*. A first launch lists the tiles that have entries of
//! each bucket, in any order; then a block for each bucket reads the rows of these tiles, and keeps what is in its
//! columns. Rows of a grid's points have columns in few buckets, so that a tile is read a few times, from the L2.

use gpu_collective::grid::scratch_words;
use gpu_collective::warp::from_lane;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll};

use crate::{NONE, THREADS};

/// The logarithm of the entries that a block has room for that gathers a bucket.
pub const ROOM: u32 = 12;
/// The logarithms of the fewest and the most entries that a column has room for: of twice as many columns the counters
/// would not be within the shared memory of devices of 7.5.
pub const SLOTS: (u32, u32) = (2, 8);
/// The most tiles of a bucket.
pub const MOST_TILES: u32 = 512;
/// The most entries of a row, which is a thread's.
pub const MOST_OF_ROW: u32 = 512;
/// The most entries of a tile, which is a warp's.
pub const MOST_OF_TILE: u32 = 1 << 16;
/// Tiles of a block of [`sparse_list_tiles()`], a warp's each.
pub const GROUP: u32 = 1 << GROUP_SHIFT;
const GROUP_SHIFT: u32 = 3;
const _: () = assert!(32 * GROUP == THREADS);
/// The most buckets that such tiles have entries of.
pub const MOST_BUCKETS: u32 = 128;
/// Words of a block's table of buckets, of which half are used at most, so that few tries find one.
const TABLE: u32 = THREADS;
/// Entries of which a thread looks up the buckets at once.
const AT_ONCE: usize = 8;

/// How a transposition is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Tiles {
    /// Rows; at least one.
    pub rows: u32,
    /// Columns; at least one.
    pub columns: u32,
    /// Entries; at least one.
    pub entries: u32,
    /// The logarithm of the rows of a tile.
    pub tile: u32,
    /// The logarithm of the entries that a column has room for, within [`SLOTS`]: a bucket has as many columns as there
    /// is room for. Where some have more, the bucket's columns are taken in parts.
    pub slots: u32,
}

impl Tiles {
    /// Tiles.
    #[inline(always)]
    pub const fn tiles(&self) -> u32 {
        ((self.rows - 1) >> self.tile) + 1
    }

    /// The logarithm of a bucket's columns.
    #[inline(always)]
    pub(crate) const fn shift(&self) -> u32 {
        ROOM - self.slots
    }

    /// Buckets: fewer than 2^24, as columns have room for about as many entries as there are.
    #[inline(always)]
    pub const fn buckets(&self) -> u32 {
        ((self.columns - 1) >> self.shift()) + 1
    }

    /// Words of a bucket's list of tiles.
    #[inline(always)]
    pub const fn list(&self) -> u32 {
        if self.tiles() < MOST_TILES { self.tiles() } else { MOST_TILES }
    }

    /// Words of 64 bits in which the blocks of buckets meet.
    pub const fn words(&self) -> u64 {
        scratch_words(self.buckets() as u64, 1)
    }

    /// Where the entries of a row start and end.
    #[device]
    #[inline(always)]
    pub(crate) fn ends(&self, offsets: Global<u32>, row: u32) -> (u32, u32) {
        let (first, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        // Mutants: of two equal numbers either is the smaller.
        (first, if end < self.entries { end } else { self.entries })
    }
}

/// Bytes of dynamic shared memory of a block of [`sparse_list_tiles()`].
pub const LIST_BYTES: u32 = SharedLayout::new().array::<u32>(TABLE).array::<u32>(1).bytes();

/// Words in front of the lengths of the buckets' lists, all of them zero before: see [`PAIRS`], [`IS_FAR`],
/// [`IS_UNEVEN`].
pub const FOUND: u32 = 3;
/// The pairs of a tile and a bucket that it has entries of, of a sample.
pub const PAIRS: u32 = 0;
/// Not zero where a sample has more pairs than it may, some tiles of a block entries of more than [`MOST_BUCKETS`], or
/// a tile more than [`MOST_OF_TILE`]: then [`from_tiles()`](crate::from_tiles::from_tiles) writes nothing.
pub const IS_FAR: u32 = 1;
/// Not zero where [`from_tiles()`](crate::from_tiles::from_tiles) found a bucket of more than [`MOST_TILES`] tiles, a
/// row of more than [`MOST_OF_ROW`] entries or a column of more than `1 <<` the most of [`SLOTS`]: what it wrote is
/// unspecified.
pub const IS_UNEVEN: u32 = 2;

/// Lists for each bucket the tiles that have entries of it, in any order: a block for each [`GROUP`] of tiles, of
/// [`THREADS`], with [`LIST_BYTES`].
///
/// `lists` has [`Tiles::list`] words for each bucket, `found` [`FOUND`] words and the length of each list. Of a
/// `stride` of more than one it is a sample: a block for every so many groups, which says how many [`PAIRS`] there are,
/// and nothing else. Where a sample found more than `limit`, the matrix [`IS_FAR`] from a transposition by tiles.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_list_tiles(
    offsets: Global<u32>,
    indices: Global<u32>,
    lists: GlobalMut<u32>,
    found: GlobalMut<u32>,
    tiles: Tiles,
    stride: u32,
    limit: u32,
) {
    let (group, thread) = (block_idx_x() * stride, thread_idx_x());
    let mut memory = shared::dynamic();
    let table = Table { words: memory.array(TABLE), many: memory.array(1) };
    let find = |what: u32| {
        found.atomic(what).fetch_max(1, Ordering::Relaxed, Scope::Device);
    };
    table.words.write(thread, NONE);
    if thread == 0 {
        let is_far = stride == 1 && found.as_global().read(PAIRS) > limit;
        if is_far && group == 0 {
            find(IS_FAR);
        }
        // Another block may have found that meanwhile.
        let is_known = stride == 1 && found.atomic(IS_FAR).load(Ordering::Relaxed, Scope::Device) != 0;
        table.many.write(0, if is_far || is_known { TABLE } else { 0 });
    }
    sync_threads();
    if table.many.read(0) != 0 {
        return;
    }
    sync_threads();
    // ---- a warp's tile
    let tile = (group << GROUP_SHIFT) + thread / 32;
    if warp::uniform(tile < tiles.tiles()) {
        let first = tile << tiles.tile;
        // Mutants: of two equal numbers either is the smaller.
        let end = if tiles.rows - first > 1 << tiles.tile { first + (1 << tiles.tile) } else { tiles.rows };
        let (mut base, mut stop) = (offsets.read_only(first), tiles.ends(offsets, end - 1).1);
        if stop > base && stop - base > MOST_OF_TILE {
            // One warp would be waited for.
            find(IS_FAR);
            stop = base;
        }
        while base < stop {
            keep_rolled();
            let (mut columns, mut has_room) = ([NONE; AT_ONCE], true);
            unroll::<AT_ONCE>(|at| {
                columns[at] = indices.read_only_below(base + warp::lane_id() + 32 * at as u32, stop, NONE);
            });
            unroll::<AT_ONCE>(|at| {
                // Columns that changed since they were checked are in a bucket as well.
                let (bucket, last) = (columns[at] >> tiles.shift(), tiles.buckets() - 1);
                // Mutants: of two equal numbers either is the smaller.
                let bucket = if bucket < last { bucket } else { last };
                has_room &= table.note(if columns[at] != NONE { bucket } else { NONE }, 1 << (thread / 32));
            });
            // Beyond the last of 2^32 there is none.
            let is_last = stop - base <= 32 * AT_ONCE as u32 || warp::warp_vote_any(FULL, !has_room);
            base = if is_last { stop } else { base + 32 * AT_ONCE as u32 };
        }
    }
    sync_threads();
    if table.many.read(0) > MOST_BUCKETS {
        if thread == 0 {
            find(IS_FAR);
        }
        return;
    }
    let noted = table.words.read(thread);
    if noted == NONE {
        return;
    }
    let (bucket, mut bits) = (noted >> GROUP, noted & ((1 << GROUP) - 1));
    if stride > 1 {
        found.atomic(PAIRS).fetch_add(bits.count_ones(), Ordering::Relaxed, Scope::Device);
        return;
    }
    let mut place =
        found.atomic(FOUND + bucket).fetch_add(bits.count_ones(), Ordering::Relaxed, Scope::Device);
    let list = lists.offset(bucket as u64 * tiles.list() as u64);
    while bits != 0 {
        keep_rolled();
        if place < tiles.list() {
            list.write(place, (group << GROUP_SHIFT) + bits.trailing_zeros());
        }
        (place, bits) = (place + 1, bits & (bits - 1));
    }
}

/// Which buckets tiles have entries of: a word for each, [`NONE`] where none is yet, of the bucket and a bit for each
/// tile.
struct Table {
    /// [`TABLE`] of them.
    words: Shared<u32>,
    /// How many buckets there are; more than [`MOST_BUCKETS`] where there is no room.
    many: Shared<u32>,
}

impl Table {
    /// Notes that a tile has entries of the buckets of a whole warp, [`NONE`] where a lane has none; false where there
    /// is no room for one.
    #[inline(always)]
    fn note(&self, bucket: u32, bit: u32) -> bool {
        let (mut is_new, mut has_room) = (bucket != NONE, true);
        if is_new {
            let noted = self.words.atomic(bucket % TABLE).load(Ordering::Relaxed, Scope::Block);
            is_new = noted >> GROUP != bucket || noted & bit == 0;
        }
        // Few are new: those of a tile's first entries. One lane notes what several have.
        let mut left = warp::warp_vote_ballot(FULL, is_new);
        while left != 0 {
            keep_rolled();
            let lane = left.trailing_zeros();
            left &= !warp::warp_vote_ballot(FULL, bucket == from_lane(bucket, lane));
            if warp::lane_id() == lane {
                has_room = self.add(bucket, bit);
            }
        }
        has_room
    }

    /// The same of one bucket.
    #[inline(always)]
    fn add(&self, bucket: u32, bit: u32) -> bool {
        let (mut at, mut tries) = (bucket % TABLE, 0);
        // There is room for more than may be, whoever adds at the same time.
        while tries < TABLE && self.many.atomic(0).load(Ordering::Relaxed, Scope::Block) <= MOST_BUCKETS {
            tries = rolled(tries);
            let word = self.words.atomic(at);
            let noted = word.compare_exchange(NONE, bucket << GROUP | bit, Ordering::Relaxed, Scope::Block);
            if noted == NONE {
                return self.many.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Block) < MOST_BUCKETS;
            }
            if noted >> GROUP == bucket {
                word.fetch_or(bit, Ordering::Relaxed, Scope::Block);
                return true;
            }
            at = (at + 1) % TABLE;
            tries += 1;
        }
        false
    }
}
