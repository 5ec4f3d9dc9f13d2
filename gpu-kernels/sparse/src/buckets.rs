//! The transposition of a matrix in two steps, each of which moves every entry once.
//!
//! Consecutive columns are a *bucket*, so few of them that a block has a counter for each in shared memory. First,
//! entries go to their buckets, in their order; then a block for each bucket brings its entries to their columns.
//!
//! Both steps place entries in the order in which they stand, so that the rows of a column ascend: the block counts
//! keys up, warp after warp (`places`). Where a bucket's entries of a tile start is known before: a launch counts
//! them for each tile, and the sums of these counts, bucket after bucket and tile after tile, are the places.
//!
//! Entries on their way are records of [`RECORD`] words: column, row, and the value's bits. One store writes them, as
//! what a warp's entries cost is the number of places in memory that they go to, not of bytes.

use gpu_collective::block;
use gpu_collective::warp::from_lane;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll};

use crate::convert::row_of;
use crate::ranks::{AT_ONCE, peers_of, place};
use crate::{NONE, THREADS};

/// Warps of a block.
const WARPS: usize = THREADS as usize / 32;
/// Entries that a block places at once.
pub const ROUND: u32 = THREADS * AT_ONCE as u32;
/// The most buckets.
pub const MOST_BUCKETS: u32 = 1 << 13;
/// Words of a record: the column within its bucket, the row, and the value's bits in two.
pub const RECORD: u32 = 4;
/// The logarithms of the fewest and the most columns of a bucket: a thread has at least one, and counters and slots fit
/// the shared memory of every device.
pub const SHIFTS: (u32, u32) = (8, 12);
/// The most entries of a bucket that are put in order in shared memory, where there are so many columns: what fits in
/// 64 KiB beside their counters, with two numbers of 16 bits for each entry.
pub const fn most_slots(shift: u32) -> u32 {
    (63 << 8) - (1 << shift)
}

/// How a transposition is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Split {
    /// Rows.
    pub rows: u32,
    /// Columns; at least one.
    pub columns: u32,
    /// Entries; at least one.
    pub entries: u32,
    /// Entries of a tile: a multiple of [`ROUND`].
    pub tile: u32,
    /// The logarithm of the columns of a bucket, within [`SHIFTS`], so that buckets are at most [`MOST_BUCKETS`].
    pub shift: u32,
    /// Words of 32 bits of a value: 1 or 2.
    pub words: u32,
    /// Entries of a bucket that are put in order in shared memory, at most [`most_slots()`]; those of others are in
    /// global memory.
    pub slots: u32,
}

impl Split {
    /// Tiles: blocks that bring entries to buckets.
    #[inline(always)]
    pub const fn tiles(&self) -> u32 {
        self.entries.div_ceil(self.tile)
    }

    /// Buckets: blocks that bring entries to columns.
    #[inline(always)]
    pub const fn buckets(&self) -> u32 {
        ((self.columns - 1) >> self.shift) + 1
    }

    /// Bits of a bucket's number.
    #[device]
    #[inline(always)]
    fn bucket_bits(&self) -> u32 {
        u32::BITS - (self.buckets() - 1).leading_zeros()
    }

    /// Bytes of dynamic shared memory of a block of [`sparse_bucket_counts()`].
    pub const fn count_bytes(&self) -> u32 {
        SharedLayout::new().array::<u32>(self.buckets()).bytes()
    }

    /// Bytes of dynamic shared memory of a block of [`sparse_to_buckets()`].
    pub const fn to_bytes(&self) -> u32 {
        SharedLayout::new().array::<u32>(self.buckets()).array::<u32>(2).bytes()
    }

    /// Bytes of dynamic shared memory of a block of [`sparse_from_buckets()`].
    pub const fn from_bytes(&self) -> u32 {
        SharedLayout::new()
            .array::<u32>(1 << self.shift)
            .array::<u32>(WARPS as u32)
            .array::<u16>(self.slots)
            .array::<u16>(self.slots)
            .bytes()
    }

    /// The bucket of a column, or [`NONE`] of that. Columns that changed since they were checked are in one as well.
    #[device]
    #[inline(always)]
    fn bucket_of(&self, column: u32) -> u32 {
        let (bucket, last) = (column >> self.shift, self.buckets() - 1);
        // Mutants: of two equal numbers either is the smaller.
        let bucket = if bucket < last { bucket } else { last };
        if column != NONE { bucket } else { NONE }
    }

    /// From where to where the entries of the block's tile stand.
    #[device]
    #[inline(always)]
    fn ends(&self, tile: u32) -> (u32, u32) {
        let first = tile * self.tile;
        // Mutants: of two equal numbers either is the smaller.
        (first, if self.entries - first > self.tile { first + self.tile } else { self.entries })
    }
}

/// The thread's first entry of a round: a warp's entries follow each other in rows of 32, and the next warp's follow
/// them.
#[device]
#[inline(always)]
fn of_thread() -> u32 {
    thread_idx_x() / 32 * 32 * AT_ONCE as u32 + warp::lane_id()
}

/// The places of a round's keys: what the counter of each says, which is then one more; in the order of the keys. Keys
/// have `bits` bits or are [`NONE`], which have no places. All threads; a barrier after every warp's turn.
///
/// Votes find lanes with the same key before it is the warp's turn, in which only the counters are left to be read and
/// written.
#[device]
#[inline(always)]
fn places(counters: Shared<u32>, keys: &[u32; AT_ONCE], bits: u32) -> [u32; AT_ONCE] {
    let (peers, mut places) = (peers_of(keys, bits), [0; AT_ONCE]);
    let mut turn = 0;
    while turn < WARPS as u32 {
        turn = rolled(turn);
        if warp::uniform(thread_idx_x() / 32 == turn) {
            place(counters, keys, &peers, &mut places);
        }
        sync_threads();
        turn += 1;
    }
    places
}

/// Counts the warp's keys, but those that are [`NONE`].
///
/// Neighbouring entries are often of the same few buckets: the lanes of one after the other are counted at once, until
/// one is found that only one lane has.
#[device]
#[inline(always)]
fn count(counters: Shared<u32>, key: u32) {
    let lane = warp::lane_id();
    let mut left = warp::warp_vote_ballot(FULL, key != NONE);
    let mut are_equal = left != 0;
    // Mutants: what is not counted at once is counted one by one.
    while are_equal {
        keep_rolled();
        let first = left.trailing_zeros();
        let same = warp::warp_vote_ballot(FULL, key == from_lane(key, first));
        if lane == first {
            counters.atomic(key).fetch_add(same.count_ones(), Ordering::Relaxed, Scope::Block);
        }
        left &= !same;
        are_equal = left != 0 && same.count_ones() > 1;
    }
    if left >> lane & 1 != 0 {
        counters.atomic(key).fetch_add(1, Ordering::Relaxed, Scope::Block);
    }
}

/// How many entries of each tile each bucket has: a block a tile, of [`THREADS`], with [`Split::count_bytes`]. Counts
/// of a bucket lie side by side, tile after tile; behind all of them goes a zero.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_bucket_counts(indices: Global<u32>, counts: GlobalMut<u32>, split: Split) {
    let (buckets, tiles, tile, thread) = (split.buckets(), split.tiles(), block_idx_x(), thread_idx_x());
    let counters = shared::dynamic().array::<u32>(buckets);
    let mut bucket = thread;
    while bucket < buckets {
        keep_rolled();
        counters.write(bucket, 0);
        bucket += THREADS;
    }
    sync_threads();
    let (mut base, end) = split.ends(tile);
    while base < end {
        keep_rolled();
        let column = indices.read_only_below(base + thread, end, NONE);
        count(counters, split.bucket_of(column));
        base += THREADS;
    }
    sync_threads();
    bucket = thread;
    while bucket < buckets {
        keep_rolled();
        counts.write(bucket * tiles + tile, counters.read(bucket));
        bucket += THREADS;
    }
    if tile == 0 && thread == 0 {
        counts.write(buckets * tiles, 0);
    }
}

/// Brings entries to their buckets, as records: a block a tile, of [`THREADS`], with [`Split::to_bytes`]. `starts` are
/// the exclusive sums of the counts. Into `largest`, which is zero before, go the most entries of a bucket.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_to_buckets(
    offsets: Global<u32>,
    indices: Global<u32>,
    values: Global<u32>,
    starts: Global<u32>,
    records: GlobalMut<u32>,
    largest: GlobalMut<u32>,
    split: Split,
) {
    let (buckets, tiles, tile, thread) = (split.buckets(), split.tiles(), block_idx_x(), thread_idx_x());
    let mut memory = shared::dynamic();
    let (counters, rows_of_ends) = (memory.array::<u32>(buckets), memory.array::<u32>(2));
    let (mut base, end) = split.ends(tile);
    if thread.is_multiple_of(32) && thread < 64 {
        let entry = if thread == 0 { base } else { end - 1 };
        rows_of_ends.write(thread / 32, row_of(offsets, entry, (0, split.rows)));
    }
    let (mut bucket, mut most) = (thread, 0);
    while bucket < buckets {
        keep_rolled();
        counters.write(bucket, starts.read_only(bucket * tiles + tile));
        if tile == 0 {
            let size = starts.read_only((bucket + 1) * tiles) - starts.read_only(bucket * tiles);
            // Mutants: of two equal numbers either is the larger.
            most = if size > most { size } else { most };
        }
        bucket += THREADS;
    }
    if tile == 0 {
        largest.atomic(0).fetch_max(most, Ordering::Relaxed, Scope::Device);
    }
    sync_threads();
    // Of offsets that changed since they were checked the last entry's row may be before the first one's.
    let (low, high) = (rows_of_ends.read(0), rows_of_ends.read(1));
    // Mutants: of two equal numbers either is the larger.
    let bounds = (low, if high > low { high + 1 } else { low + 1 });
    let lane = warp::lane_id();
    while base < end {
        keep_rolled();
        let first = base + of_thread();
        // Rows of the first entries of each row of 32, between which are those of the others.
        let line = if lane < AT_ONCE as u32 { lane } else { AT_ONCE as u32 };
        let entry = first - lane + 32 * line;
        // Mutants: the last entry's row bounds the search for those behind it as well.
        let row_of_line = row_of(offsets, if entry < end { entry } else { end - 1 }, bounds);
        let (mut columns, mut keys) = ([0; AT_ONCE], [NONE; AT_ONCE]);
        let (mut rows, mut of_values) = ([0; AT_ONCE], [[0; 2]; AT_ONCE]);
        unroll::<AT_ONCE>(|row| {
            columns[row] = indices.read_only_below(first + 32 * row as u32, end, NONE);
            keys[row] = split.bucket_of(columns[row]);
        });
        if split.words > 1 {
            unroll::<AT_ONCE>(|row| {
                let at = first + 32 * row as u32;
                if at < end {
                    of_values[row] = values.offset(2 * at as u64).read_only_vec(0);
                }
            });
        } else {
            unroll::<AT_ONCE>(|row| {
                of_values[row][0] = values.read_only_below(first + 32 * row as u32, end, 0);
            });
        }
        // All rows are looked for at once, among as many as the line has that has most.
        let (mut ends, mut many) = ([0; AT_ONCE], 0);
        unroll::<AT_ONCE>(|row| {
            rows[row] = from_lane(row_of_line, row as u32);
            ends[row] = from_lane(row_of_line, row as u32 + 1) + 1;
            let between = ends[row].saturating_sub(rows[row]);
            // Mutants: of two equal numbers either is the larger.
            many = if between > many { between } else { many };
        });
        while many > 1 {
            keep_rolled();
            let half = many / 2;
            unroll::<AT_ONCE>(|row| {
                let middle = rows[row] + half;
                let start = offsets.read_only_below(middle, ends[row], NONE);
                rows[row] = if start <= first + 32 * row as u32 { middle } else { rows[row] };
            });
            many -= half;
        }
        let places = places(counters, &keys, split.bucket_bits());
        unroll::<AT_ONCE>(|row| {
            // Columns that changed since they were counted may have no place.
            if keys[row] != NONE && places[row] < split.entries {
                let [low, high] = of_values[row];
                let record = [columns[row] & ((1 << split.shift) - 1), rows[row], low, high];
                records.offset((RECORD as u64) * places[row] as u64).write_vec(0, record);
            }
        });
        base += ROUND;
    }
}

/// Brings the entries of buckets to their columns, and says where each column starts: a block a bucket, of [`THREADS`],
/// with [`Split::from_bytes`]. `starts` are those of [`sparse_to_buckets()`].
///
/// The numbers of a bucket's entries are put in order in shared memory, and then the entries are read in that order,
/// so that neighbours are written by neighbours. Where there is no room for them, they wait where the rows will stand.
/// Records are not read for their columns again where there is room for these, and what is written leaves the L2 first:
/// the records shall be there when they are read in their order.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_from_buckets(
    records: Global<u32>,
    starts: Global<u32>,
    offsets: GlobalMut<u32>,
    rows: GlobalMut<u32>,
    values: GlobalMut<u32>,
    split: Split,
) {
    let (bucket, tiles, thread) = (block_idx_x(), split.tiles(), thread_idx_x());
    let many = 1 << split.shift;
    let mut memory = shared::dynamic();
    let (counters, room) = (memory.array::<u32>(many), memory.array::<u32>(WARPS as u32));
    let (slots, columns_of) = (memory.array::<u16>(split.slots), memory.array::<u16>(split.slots));
    let first = starts.read_only(bucket * tiles);
    let len = starts.read_only((bucket + 1) * tiles) - first;
    let records = records.offset(RECORD as u64 * first as u64);
    let column_of = |entry: u32| {
        let column = records.read_only_below(RECORD * entry, RECORD * len, NONE);
        // Where columns changed since they were counted there may be no record.
        if column != NONE { column & (many - 1) } else { NONE }
    };
    // What a thread reads beyond the last entry is a column as well.
    let in_slots = len.next_multiple_of(ROUND) <= split.slots;
    let (rows, values) = (rows.offset(first as u64), values.offset(split.words as u64 * first as u64));

    // ---- where columns start
    let mut column = thread;
    while column < many {
        keep_rolled();
        counters.write(column, 0);
        column += THREADS;
    }
    sync_threads();
    let mut base = 0;
    while base < len {
        keep_rolled();
        let mut columns = [NONE; AT_ONCE];
        let entry_of = |row: usize| base + of_thread() + 32 * row as u32;
        unroll::<AT_ONCE>(|row| columns[row] = column_of(entry_of(row)));
        if in_slots {
            unroll::<AT_ONCE>(|row| columns_of.write(entry_of(row), columns[row] as u16));
        }
        unroll::<AT_ONCE>(|row| {
            if columns[row] != NONE {
                counters.atomic(columns[row]).fetch_add(1, Ordering::Relaxed, Scope::Block);
            }
        });
        base += ROUND;
    }
    sync_threads();
    let own = many / THREADS;
    let (mut at, mut sum) = (0, 0);
    while at < own {
        at = rolled(at);
        sum += counters.read(thread * own + at);
        at += 1;
    }
    let mut before = block::exclusive_scan::<u32, WARPS>(sum, 0, room, |a, b| a + b).before;
    at = 0;
    while at < own {
        at = rolled(at);
        let count = counters.read(thread * own + at);
        counters.write(thread * own + at, before);
        before += count;
        at += 1;
    }
    sync_threads();
    column = thread;
    while column < many {
        keep_rolled();
        let number = (bucket << split.shift) + column;
        if number < split.columns {
            offsets.write(number, first + counters.read(column));
        }
        column += THREADS;
    }
    if bucket == split.buckets() - 1 && thread == 0 {
        offsets.write(split.columns, split.entries);
    }
    sync_threads();

    // ---- the entries
    base = 0;
    while base < len {
        keep_rolled();
        let mut columns = [NONE; AT_ONCE];
        let entry_of = |row: usize| base + of_thread() + 32 * row as u32;
        if in_slots {
            unroll::<AT_ONCE>(|row| {
                let column = columns_of.read(entry_of(row));
                columns[row] = if column != u16::MAX { column as u32 } else { NONE };
            });
        } else {
            unroll::<AT_ONCE>(|row| columns[row] = column_of(entry_of(row)));
        }
        let places = places(counters, &columns, split.shift);
        if in_slots {
            unroll::<AT_ONCE>(|row| {
                if columns[row] != NONE {
                    slots.write(places[row], entry_of(row) as u16);
                }
            });
        } else {
            unroll::<AT_ONCE>(|row| {
                if columns[row] != NONE {
                    rows.write(places[row], entry_of(row));
                }
            });
        }
        base += ROUND;
    }
    sync_threads();
    base = 0;
    while base < len {
        keep_rolled();
        let (mut entries, mut found) = ([0; AT_ONCE], [[0; RECORD as usize]; AT_ONCE]);
        let place_of = |row: usize| base + thread + THREADS * row as u32;
        unroll::<AT_ONCE>(|row| {
            let place = place_of(row);
            if place < len {
                entries[row] = if in_slots { slots.read(place) as u32 } else { rows.read(place) };
            }
        });
        // There is a record for those beyond the last as well: the first.
        unroll::<AT_ONCE>(|row| {
            found[row] = records.offset(RECORD as u64 * entries[row] as u64).read_only_vec(0);
        });
        unroll::<AT_ONCE>(|row| {
            let place = place_of(row);
            if place < len {
                rows.write_streaming(place, found[row][1]);
                if split.words > 1 {
                    values.offset(2 * place as u64).write_streaming_vec(0, [found[row][2], found[row][3]]);
                } else {
                    values.write_streaming(place, found[row][2]);
                }
            }
        });
        base += ROUND;
    }
}
