//! The transposition of a matrix whose near rows have near columns: every entry is moved once.
//!
//! Consecutive columns are a *bucket*, consecutive rows a *tile*. A first launch says how many entries each bucket has,
//! and of which tiles; then a block for each bucket reads the rows of these tiles, and keeps what is in its columns.
//! Rows of a grid's points have columns in few buckets, so that a tile is read a few times, from the L2, and all that
//! is written is written once, side by side.
//!
//! Entries come to their columns in any order, by atomic additions in shared memory. How many rows of the column are
//! before its own says where an entry goes: the result does not depend on who came first.

use gpu_collective::block;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll};

use crate::{NONE, THREADS};

/// Threads of a block of [`sparse_from_tiles()`].
pub const GATHERERS: u32 = 512;
/// Warps of such a block.
const WARPS: usize = GATHERERS as usize / 32;
/// The logarithm of the entries that such a block has room for.
pub const ROOM: u32 = 12;
/// The logarithms of the fewest and the most entries that a column has room for.
pub const SLOTS: (u32, u32) = (1, 8);
/// The most tiles of a bucket.
pub const MOST_TILES: u32 = 512;
/// The most entries of a row, which is a thread's.
pub const MOST_OF_ROW: u32 = 512;
/// The most entries of a tile, which is a block's.
pub const MOST_OF_TILE: u32 = 1 << 16;
/// Buckets of a tile that are counted in shared memory; those of others are counted in global memory.
const COUNTED: u32 = 256;
/// Entries that a thread counts at once.
const AT_ONCE: usize = 4;
/// Entries of a row that are read at once.
const TOGETHER: usize = 2;

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
    /// Words of 32 bits of a value: 1 or 2.
    pub words: u32,
}

impl Tiles {
    /// Tiles.
    #[inline(always)]
    pub const fn tiles(&self) -> u32 {
        ((self.rows - 1) >> self.tile) + 1
    }

    /// The logarithm of a bucket's columns.
    #[inline(always)]
    const fn shift(&self) -> u32 {
        ROOM - self.slots
    }

    /// Buckets: blocks of [`sparse_from_tiles()`].
    #[inline(always)]
    pub const fn buckets(&self) -> u32 {
        ((self.columns - 1) >> self.shift()) + 1
    }

    /// Words of a bucket in which a bit says whether a tile has entries of it.
    #[inline(always)]
    pub const fn mask_words(&self) -> u32 {
        self.tiles().div_ceil(32)
    }

    /// Bytes of dynamic shared memory of a block of [`sparse_from_tiles()`].
    pub const fn from_bytes(&self) -> u32 {
        SharedLayout::new()
            .array::<u32>(1 << self.shift())
            .array::<u32>(1 << ROOM)
            .array::<u32>(1 << ROOM)
            .array::<u32>(MOST_TILES)
            .array::<u32>(WARPS as u32)
            .array::<u32>(1)
            .array::<u32>(1)
            .bytes()
    }

    /// Where the entries of a row start and end.
    #[device]
    #[inline(always)]
    fn ends(&self, offsets: Global<u32>, row: u32) -> (u32, u32) {
        let (first, end) = (offsets.read_only(row), offsets.read_only(row + 1));
        // Mutants: of two equal numbers either is the smaller.
        (first, if end < self.entries { end } else { self.entries })
    }
}

/// Bytes of dynamic shared memory of a block of [`sparse_count_tiles()`].
pub const COUNT_BYTES: u32 = SharedLayout::new().array::<u32>(COUNTED).array::<u32>(COUNTED).bytes();

/// Words that both kernels write, zero before: pairs of a tile and a bucket that it has entries of, of a sample; and
/// whether the matrix cannot be transposed so, because of a row with more than [`MOST_OF_ROW`] entries, a tile with
/// more than [`MOST_OF_TILE`], a column with more than `1 <<` the most of [`SLOTS`], or a bucket of more than
/// [`MOST_TILES`] tiles.
pub const FOUND: u32 = 2;

/// How many entries each bucket has, and of which tiles: a block a tile, of [`THREADS`], with [`COUNT_BYTES`]. `totals`
/// and `masks` are zero before. Of a `stride` of more than one it is a sample: a block for every so many tiles, which
/// says how many pairs of tiles and buckets there are, and nothing else.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_count_tiles(
    offsets: Global<u32>,
    indices: Global<u32>,
    totals: GlobalMut<u32>,
    masks: GlobalMut<u32>,
    found: GlobalMut<u32>,
    tiles: Tiles,
    stride: u32,
) {
    let (tile, thread) = (block_idx_x() * stride, thread_idx_x());
    let mut memory = shared::dynamic();
    let (keys, counts) = (memory.array::<u32>(COUNTED), memory.array::<u32>(COUNTED));
    keys.write(thread, NONE);
    counts.write(thread, 0);
    sync_threads();
    let add = |bucket: u32, count: u32| {
        if stride > 1 {
            found.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
        } else {
            totals.atomic(bucket).fetch_add(count, Ordering::Relaxed, Scope::Device);
            let word = masks.offset(bucket as u64 * tiles.mask_words() as u64).atomic(tile / 32);
            word.fetch_or(1 << (tile % 32), Ordering::Relaxed, Scope::Device);
        }
    };
    let first = tile << tiles.tile;
    // Mutants: of two equal numbers either is the smaller.
    let end = if tiles.rows - first > 1 << tiles.tile { first + (1 << tiles.tile) } else { tiles.rows };
    let mut row = first + thread;
    while row < end {
        keep_rolled();
        let (start, stop) = tiles.ends(offsets, row);
        if stop > start && stop - start > MOST_OF_ROW {
            found.atomic(1).fetch_max(1, Ordering::Relaxed, Scope::Device);
        }
        row += THREADS;
    }
    let mut base = offsets.read_only(first);
    let mut stop = tiles.ends(offsets, end - 1).1;
    if stop > base && stop - base > MOST_OF_TILE {
        // One block would be waited for.
        found.atomic(1).fetch_max(1, Ordering::Relaxed, Scope::Device);
        stop = base;
    }
    while base < stop {
        keep_rolled();
        let (mut buckets, last) = ([NONE; AT_ONCE], tiles.buckets() - 1);
        unroll::<AT_ONCE>(|at| {
            let column = indices.read_only_below(base + thread + at as u32 * THREADS, stop, NONE);
            // Columns that changed since they were checked are in a bucket as well.
            let bucket = column >> tiles.shift();
            // Mutants: of two equal numbers either is the smaller.
            let bucket = if bucket < last { bucket } else { last };
            buckets[at] = if column != NONE { bucket } else { NONE };
        });
        unroll::<AT_ONCE>(|at| {
            let bucket = buckets[at];
            let same = warp::warp_match_any(FULL, bucket);
            if bucket != NONE && same.trailing_zeros() == warp::lane_id() {
                let (slot, count) = (bucket % COUNTED, same.count_ones());
                let before =
                    keys.atomic(slot).compare_exchange(NONE, bucket, Ordering::Relaxed, Scope::Block);
                if before == NONE || before == bucket {
                    counts.atomic(slot).fetch_add(count, Ordering::Relaxed, Scope::Block);
                } else {
                    add(bucket, count);
                }
            }
        });
        // Beyond the last of 2^32 there is none.
        base = if stop - base > AT_ONCE as u32 * THREADS { base + AT_ONCE as u32 * THREADS } else { stop };
    }
    sync_threads();
    if counts.read(thread) != 0 {
        add(keys.read(thread), counts.read(thread));
    }
}

/// Brings a bucket's entries to its columns, and says where each of these starts: a block a bucket, of [`GATHERERS`],
/// with [`Tiles::from_bytes`]. `starts` are the exclusive sums of the totals of [`sparse_count_tiles()`], whose masks
/// and `found` they are. What is written where `found` says at last that the matrix cannot be transposed so is
/// unspecified; where it says so before, nothing is.
#[kernel(images = sm_75, launch_bounds(512))]
pub fn sparse_from_tiles(
    offsets: Global<u32>,
    indices: Global<u32>,
    values: Global<u32>,
    starts: Global<u32>,
    masks: Global<u32>,
    found: GlobalMut<u32>,
    column_offsets: GlobalMut<u32>,
    row_indices: GlobalMut<u32>,
    values_output: GlobalMut<u32>,
    tiles: Tiles,
) {
    let (bucket, thread) = (block_idx_x(), thread_idx_x());
    let mut memory = shared::dynamic();
    let counters = memory.array::<u32>(1 << tiles.shift());
    let (rows, entries) = (memory.array::<u32>(1 << ROOM), memory.array::<u32>(1 << ROOM));
    let (list, room) = (memory.array::<u32>(MOST_TILES), memory.array::<u32>(WARPS as u32));
    let (many, most) = (memory.array::<u32>(1), memory.array::<u32>(1));

    // ---- the tiles, in any order
    if thread == 0 {
        // As too many tiles: a row that is too long would be a thread's for as long.
        let is_uneven = found.atomic(1).load(Ordering::Relaxed, Scope::Device) != 0;
        many.write(0, if is_uneven { MOST_TILES + 1 } else { 0 });
    }
    sync_threads();
    let masks = masks.offset(bucket as u64 * tiles.mask_words() as u64);
    let mut at = thread;
    while at < tiles.mask_words() {
        keep_rolled();
        let mut mask = masks.read_only(at);
        while mask != 0 {
            keep_rolled();
            let tile = 32 * at + mask.trailing_zeros();
            let place = many.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Block);
            if place < MOST_TILES {
                list.write(place, tile);
            }
            mask &= mask - 1;
        }
        at += GATHERERS;
    }
    sync_threads();
    let many = many.read(0);
    if many > MOST_TILES {
        if thread == 0 {
            found.atomic(1).fetch_max(1, Ordering::Relaxed, Scope::Device);
        }
        return;
    }
    let slots_of_rows = many << tiles.tile;

    let (of_bucket, mut first) = (bucket << tiles.shift(), starts.read_only(bucket));
    let (mut part, mut slots) = (0, tiles.slots);
    while part < 1 << tiles.shift() && of_bucket + part < tiles.columns {
        keep_rolled();
        let (from, columns) = (of_bucket + part, 1 << (ROOM - slots));
        // Mutants: of two equal numbers either is the smaller.
        let width = if tiles.columns - from > columns { columns } else { tiles.columns - from };
        at = thread;
        while at < columns {
            keep_rolled();
            counters.write(at, 0);
            at += GATHERERS;
        }
        if thread == 0 {
            most.write(0, 0);
        }
        sync_threads();

        // ---- entries to their columns, in any order
        at = thread;
        while at < slots_of_rows {
            keep_rolled();
            let row = (list.read(at >> tiles.tile) << tiles.tile) + (at & ((1 << tiles.tile) - 1));
            if row < tiles.rows {
                gather(indices, tiles.ends(offsets, row), (from, width), |column, entry| {
                    let slot = counters.atomic(column).fetch_add(1, Ordering::Relaxed, Scope::Block);
                    if slot < 1 << slots {
                        rows.write((column << slots) + slot, row);
                        entries.write((column << slots) + slot, entry);
                    }
                });
            }
            at += GATHERERS;
        }
        sync_threads();

        // ---- where columns start
        // Mutants: a thread more columns than there are takes none.
        let own = if columns > GATHERERS { columns / GATHERERS } else { 1 };
        let (mut sum, mut largest) = (0, 0);
        at = 0;
        while at < own && thread * own < columns {
            at = rolled(at);
            let count = counters.read(thread * own + at);
            // Mutants: of two equal numbers either is the larger.
            largest = if count > largest { count } else { largest };
            sum += count;
            at += 1;
        }
        if largest > 1 << slots {
            most.atomic(0).fetch_max(largest, Ordering::Relaxed, Scope::Block);
        }
        let scanned = block::exclusive_scan::<u32, WARPS>(sum, 0, room, |a, b| a + b);
        let is_full = most.read(0) > 0;
        if is_full && slots == SLOTS.1 {
            if thread == 0 {
                found.atomic(1).fetch_max(1, Ordering::Relaxed, Scope::Device);
            }
            return;
        }
        if !is_full {
            let mut before = scanned.before;
            at = 0;
            while at < own && thread * own < columns {
                at = rolled(at);
                let column = thread * own + at;
                let count = counters.read(column);
                counters.write(column, before << 16 | count);
                if column < width {
                    column_offsets.write(from + column, first + before);
                }
                before += count;
                at += 1;
            }
        }
        sync_threads();
        if is_full {
            // Half as many columns, each with twice the room.
            slots += 1;
        } else {
            // ---- each entry behind those of the rows before its own
            at = thread;
            while at < columns << slots {
                keep_rolled();
                let column = at >> slots;
                let packed = counters.read(column);
                let (before, count) = (packed >> 16, packed & 0xffff);
                if at - (column << slots) < count {
                    let (row, entry) = (rows.read(at), entries.read(at));
                    let (mut place, mut other) = (first + before, column << slots);
                    let end = other + count;
                    while other < end {
                        keep_rolled();
                        let of_other = rows.read(other);
                        // A matrix that changed since it was checked may have a row twice.
                        let is_before = of_other < row || of_other == row && entries.read(other) < entry;
                        place += is_before as u32;
                        other += 1;
                    }
                    // Of a matrix that changed since it was counted there may be more.
                    if place < tiles.entries {
                        row_indices.write_streaming(place, row);
                        if tiles.words > 1 {
                            let value = values.offset(2 * entry as u64).read_only_vec::<2>(0);
                            values_output.offset(2 * place as u64).write_streaming_vec(0, value);
                        } else {
                            values_output.write_streaming(place, values.read_only(entry));
                        }
                    }
                }
                at += GATHERERS;
            }
            first += scanned.total;
            part += columns;
        }
        sync_threads();
    }
    if bucket == tiles.buckets() - 1 && thread == 0 {
        column_offsets.write(tiles.columns, tiles.entries);
    }
}

/// Hands on the entries of a row that are in so many columns from one on, each with its column among these.
#[device]
#[inline(always)]
fn gather(
    indices: Global<u32>,
    (mut entry, end): (u32, u32),
    (from, width): (u32, u32),
    mut each: impl FnMut(u32, u32),
) {
    while entry < end {
        keep_rolled();
        let mut columns = [NONE; TOGETHER];
        unroll::<TOGETHER>(|at| columns[at] = indices.read_only_below(entry + at as u32, end, NONE));
        unroll::<TOGETHER>(|at| {
            let column = columns[at].wrapping_sub(from);
            if column < width {
                each(column, entry + at as u32);
            }
        });
        // The row's other columns come behind these.
        let is_behind = columns[TOGETHER - 1] >= from + width;
        // Mutants: what is read beyond these columns is not kept.
        entry = if is_behind || end - entry <= TOGETHER as u32 { end } else { entry + TOGETHER as u32 };
    }
}
