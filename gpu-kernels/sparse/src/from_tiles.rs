//! The transposition of a matrix whose near rows have near columns: every entry is moved once.
//!
//! A block for each bucket of columns reads the rows of the [tiles](crate::tiles) that have entries of it, and puts
//! them into its columns in shared memory. What is written is written once, side by side: what comes before a bucket
//! its block learns from those before ([`look_back`]).
//!
//! Entries come to their columns in any order, by atomic additions. How many rows of the column are before its own says
//! where an entry goes: the result does not depend on who came first.

use gpu_collective::block;
use gpu_collective::grid::look_back::{self, Plus, TileStates};
use gpu_collective::grid::{HEADER_WORDS, SECTION, Tickets, tickets};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll, warp};

use crate::NONE;
use crate::scalar::Scalar;
use crate::tiles::{FOUND, IS_FAR, IS_UNEVEN, MOST_OF_ROW, MOST_TILES, ROOM, SLOTS, Tiles};

/// Threads of a block.
pub const THREADS: u32 = 512;
const WARPS: usize = THREADS as usize / 32;
/// Entries of a row that are read at once.
const TOGETHER: usize = 4;
/// Entries of a column that a thread orders.
const SOME: usize = 1 << SOME_SHIFT;
const SOME_SHIFT: u32 = 2;
const _: () = assert!(SOME_SHIFT <= SLOTS.0);

/// Words of a block's room: see [`Places`].
const PLACES: u32 = (1 << ROOM) + 32;

/// Bytes of dynamic shared memory of a block.
pub const fn bytes<T: Scalar>(tiles: &Tiles) -> u32 {
    SharedLayout::new()
        .array::<u64>(1)
        .array::<T>(PLACES)
        .array::<u32>(PLACES)
        .array::<u16>(1 << ROOM)
        .array::<u32>(1 << tiles.shift())
        .array::<u32>(MOST_TILES)
        .array::<u32>(WARPS as u32)
        .array::<u32>(1)
        .array::<u32>(2)
        .bytes()
}

/// Brings a bucket's entries to its columns, and says where each of these starts: a block a bucket, of [`THREADS`],
/// with [`bytes`].
///
/// `lists` and `found` are those of [`sparse_list_tiles()`](crate::tiles::sparse_list_tiles()), `words` are
/// [`Tiles::words`], zero before the first launch that is given them.
#[device]
#[inline(always)]
pub fn from_tiles<T: Scalar>(
    (offsets, indices, values): (Global<u32>, Global<u32>, Global<T>),
    (lists, found): (Global<u32>, GlobalMut<u32>),
    (column_offsets, row_indices, values_output): (GlobalMut<u32>, GlobalMut<u32>, GlobalMut<T>),
    words: GlobalMut<u64>,
    tiles: Tiles,
) {
    let thread = thread_idx_x();
    if found.as_global().read(IS_FAR) != 0 {
        return;
    }
    let mut memory = shared::dynamic();
    let ticket_room = memory.array::<u64>(1);
    let (kept, rows) = (memory.array::<T>(PLACES), memory.array::<u32>(PLACES));
    let order = memory.array::<u16>(1 << ROOM);
    let counters = memory.array::<u32>(1 << tiles.shift());
    let (list, room) = (memory.array::<u32>(MOST_TILES), memory.array::<u32>(WARPS as u32));
    let (most, nodes) = (memory.array::<u32>(1), memory.array::<u32>(2));
    let is_uneven = || {
        found.atomic(IS_UNEVEN).fetch_max(1, Ordering::Relaxed, Scope::Device);
    };

    // ---- the bucket: in the order in which blocks come, as they wait for those before
    let buckets = tiles.buckets();
    let tickets = Tickets { words, tiles: buckets, capacity: tiles.words() };
    if thread == 0 {
        ticket_room.write(0, tickets.draw());
    }
    sync_threads();
    let (bucket, mark) = (tickets::tile(ticket_room.read(0)), tickets::mark(ticket_room.read(0)));
    // ---- its tiles
    let mut many = found.as_global().read(FOUND + bucket);
    if many > tiles.list() {
        is_uneven();
        many = 0;
    }
    let mut at = thread;
    while at < many {
        keep_rolled();
        list.write(at, lists.offset(bucket as u64 * tiles.list() as u64).read_only(at));
        at += THREADS;
    }
    // A row of these tiles, and where its entries are.
    let rows_of_list = many << tiles.tile;
    let row_at = |at: u32| {
        let (mut row, mut ends) = (0, (0, 0));
        if at < rows_of_list {
            row = (list.read(at >> tiles.tile) << tiles.tile) + (at & ((1 << tiles.tile) - 1));
            if row < tiles.rows {
                ends = tiles.ends(offsets, row);
            }
        }
        (row, ends)
    };

    let (of_bucket, mut first) = (bucket << tiles.shift(), 0);
    let (mut part, mut slots, mut is_first) = (0, tiles.slots, true);
    while part < 1 << tiles.shift() && of_bucket + part < tiles.columns {
        keep_rolled();
        let (from, columns) = (of_bucket + part, 1 << (ROOM - slots));
        let places = Places::new(slots);
        // Mutants: of two equal numbers either is the smaller.
        let width = if tiles.columns - from > columns { columns } else { tiles.columns - from };
        at = thread;
        while at < columns {
            keep_rolled();
            counters.write(at, 0);
            at += THREADS;
        }
        if thread == 0 {
            most.write(0, 0);
        }
        sync_threads();

        // ---- entries to their columns, in any order
        at = thread;
        let mut next = row_at(at);
        while at < rows_of_list {
            keep_rolled();
            let (row, (start, mut end)) = next;
            at += THREADS;
            // Under way while this one's entries are read.
            next = row_at(at);
            if end > start && end - start > MOST_OF_ROW {
                is_uneven();
                end = start;
            }
            gather((indices, values), (start, end), (from, width), |column, value| {
                let slot = counters.atomic(column).fetch_add(1, Ordering::Relaxed, Scope::Block);
                if slot < 1 << slots {
                    let at = places.of(column, slot);
                    rows.write(at, row);
                    kept.write(at, value);
                }
            });
        }
        sync_threads();

        // ---- where columns start
        // Mutants: a thread more columns than there are takes none.
        let own = if columns > THREADS { columns / THREADS } else { 1 };
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
        // ---- where the bucket starts; its columns are all counted now, also those that have no room
        if is_first && buckets > 1 {
            let states = TileStates {
                words: words.offset(HEADER_WORDS as u64),
                tiles: buckets,
                mark,
                several: buckets > SECTION,
            };
            if warp::uniform(thread / 32 == 1) {
                look_back::arrive::<Plus<u32>>(states, bucket, scanned.total, 0);
            }
            if warp::uniform(thread < 32) {
                look_back::gather::<Plus<u32>>(states, bucket, scanned.total, 0, nodes);
            }
            sync_threads();
            first = look_back::prefix::<u32>(nodes).before;
        }
        is_first = false;
        let is_full = most.read(0) > 0;
        if is_full && slots == SLOTS.1 {
            is_uneven();
            break;
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
            while at < columns << (slots - SOME_SHIFT) {
                keep_rolled();
                let (column, slot) = (at & (columns - 1), at >> (ROOM - slots) << SOME_SHIFT);
                let packed = counters.read(column);
                let own = Column { rows, places, column, before: packed >> 16, count: packed & 0xffff };
                own.order(slot, order);
                at += THREADS;
            }
            sync_threads();
            at = thread;
            while at < scanned.total {
                keep_rolled();
                let (from, to) = (order.read(at) as u32, first + at);
                // Of a matrix that changed since its tiles were listed there may be more.
                if to < tiles.entries {
                    row_indices.write_streaming(to, rows.read(from));
                    values_output.write_streaming(to, kept.read(from));
                }
                at += THREADS;
            }
            first += scanned.total;
            part += columns;
        }
        sync_threads();
    }
    if bucket == buckets - 1 && thread == 0 {
        column_offsets.write(tiles.columns, tiles.entries);
    }
    tickets.finish(bucket + buckets, mark, ticket_room, buckets);
}

/// Where entries lie in shared memory: slot by slot, so that threads with columns one after the other write to other
/// banks each, with some words between, so that the slots of as many columns as a warp has threads for are in other
/// banks each, too.
#[derive(Clone, Copy)]
struct Places {
    stride: u32,
}

impl Places {
    #[inline(always)]
    const fn new(slots: u32) -> Self {
        Self { stride: (1 << (ROOM - slots)) + (32 >> slots) }
    }

    #[inline(always)]
    const fn of(self, column: u32, slot: u32) -> u32 {
        slot * self.stride + column
    }
}

/// A column of a bucket: its rows, how many there are, and how many entries are before them.
struct Column {
    rows: Shared<u32>,
    places: Places,
    column: u32,
    before: u32,
    count: u32,
}

impl Column {
    /// The rows of [`SOME`] slots, [`NONE`] where there are fewer.
    #[inline(always)]
    fn some(&self, slot: u32) -> [u32; SOME] {
        let mut some = [NONE; SOME];
        unroll::<SOME>(|i| {
            if slot + (i as u32) < self.count {
                some[i] = self.rows.read(self.places.of(self.column, slot + i as u32));
            }
        });
        some
    }

    /// Writes where the entries of [`SOME`] slots lie, each at its place in the bucket's order.
    #[inline(always)]
    fn order(&self, slot: u32, order: Shared<u16>) {
        let (own, mut ranks, mut other) = (self.some(slot), [self.before; SOME], 0);
        while slot < self.count && other < self.count {
            keep_rolled();
            let others = self.some(other);
            // A matrix that changed since it was checked may have a row twice: then by the slots.
            let (is_before, is_not_behind) = ((other < slot) as u32, (other <= slot) as u32);
            unroll::<SOME>(|i| {
                unroll::<SOME>(|j| {
                    let or_same = if j < i { is_not_behind } else { is_before };
                    ranks[i] += (others[j] < own[i].wrapping_add(or_same)) as u32;
                });
            });
            other += SOME as u32;
        }
        unroll::<SOME>(|i| {
            if slot + (i as u32) < self.count {
                order.write(ranks[i], self.places.of(self.column, slot + i as u32) as u16);
            }
        });
    }
}

/// Hands on the entries of a row that are in so many columns from one on: in which of these, and the value.
#[device]
#[inline(always)]
fn gather<T: Scalar>(
    (indices, values): (Global<u32>, Global<T>),
    (mut entry, end): (u32, u32),
    (from, width): (u32, u32),
    mut each: impl FnMut(u32, T),
) {
    while entry < end {
        keep_rolled();
        let (indices, values) = (indices.offset(entry as u64), values.offset(entry as u64));
        let (left, mut columns, mut read) = (end - entry, [NONE; TOGETHER], [T::ZERO; TOGETHER]);
        unroll::<TOGETHER>(|at| {
            columns[at] = indices.read_only_below(at as u32, left, NONE).wrapping_sub(from)
        });
        // All of them are on their way before one is waited for.
        unroll::<TOGETHER>(|at| {
            if columns[at] < width {
                read[at] = values.read_only(at as u32);
            }
        });
        unroll::<TOGETHER>(|at| {
            if columns[at] < width {
                each(columns[at], read[at]);
            }
        });
        // The row's other columns come behind these.
        let is_behind = columns[TOGETHER - 1].wrapping_add(from) >= from + width;
        // Mutants: what is read beyond these columns is not kept.
        entry = if is_behind || left <= TOGETHER as u32 { end } else { entry + TOGETHER as u32 };
    }
}

macro_rules! kernels {
    ($($T:ty: $name:ident;)*) => { $(
        #[doc = concat!("[`from_tiles()`] of `", stringify!($T), "`.")]
        #[kernel(images = sm_75, launch_bounds(512, 3))]
        pub fn $name(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            lists: Global<u32>,
            found: GlobalMut<u32>,
            column_offsets: GlobalMut<u32>,
            row_indices: GlobalMut<u32>,
            values_output: GlobalMut<$T>,
            words: GlobalMut<u64>,
            tiles: Tiles,
        ) {
            let (matrix, output) = ((offsets, indices, values), (column_offsets, row_indices, values_output));
            from_tiles(matrix, (lists, found), output, words, tiles);
        }
    )* };
}

kernels! {
    f32: sparse_from_tiles_f32;
    f64: sparse_from_tiles_f64;
}
