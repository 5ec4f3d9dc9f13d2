//! The rows' order where all levels together have few classes.
//!
//! A warp has a tile of rows that follow each other, and counters of its own. One launch counts each tile's rows of
//! each key; the sums of these counts, key after key and tile after tile, say where each tile's rows of a key go; a
//! second launch brings them there, in their order. So every row is read twice and written once, and no warp waits for
//! another. The second launch puts some rows of a tile in order in shared memory first, as what it writes costs as many
//! sectors of memory as it goes to, not bytes: in the order of their rows 55 million took 0.68 ms on an H200.

use gpu_collective::warp::{from_lane, inclusive_scan};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, sync_warp};
use gpu_std::{device, keep_rolled, kernel, rolled, unroll};

use crate::check::bounds;
use crate::levels::Rows;
use crate::order::{CLASSES, class};
use crate::ranks::{AT_ONCE, peers_of, place};
use crate::{NONE, THREADS};

/// Warps of a block: tiles.
pub const WARPS: u32 = THREADS / 32;
/// Rows that a warp places at once.
pub const STEP: u32 = 32 * AT_ONCE as u32;
/// The most keys.
pub const MOST_KEYS: u32 = 256;

/// No diagonal is stored.
pub const NO_DIAGONALS: u32 = 0;
/// All of them are.
pub const ALL_DIAGONALS: u32 = 1;
/// Some of them are: each row is asked.
pub const SOME_DIAGONALS: u32 = 2;

/// Rows of a tile that are put in order at a time: their numbers within these fit 16 bits, and so many blocks a
/// multiprocessor that it has 64 warps, where keys are few.
pub const BATCH: u32 = 6 * STEP;
/// Counters of each key of a warp, which its lanes share: most rows have one of a few keys.
const COPIES: u32 = 4;

/// Bytes of dynamic shared memory of a block of [`sparse_groups_narrow()`] with so many keys.
pub const fn count_bytes(keys: u32) -> u32 {
    SharedLayout::new().array::<u32>(WARPS * COPIES * keys).bytes()
}

/// The same of [`sparse_order_narrow()`].
pub const fn order_bytes(keys: u32) -> u32 {
    let layout = SharedLayout::new().array::<u32>(WARPS * keys).array::<u32>(WARPS * keys);
    layout.array::<u16>(WARPS * BATCH).array::<u8>(WARPS * BATCH).bytes()
}

/// From where to where the rows of the thread's warp are, of tiles of `tile` rows.
#[device]
#[inline(always)]
fn ends(rows: u32, tile: u32) -> (u32, u32) {
    let number = (block_idx_x() * WARPS + thread_idx_x() / 32) as u64;
    let first = number * tile as u64;
    // Mutants: of two equal numbers either is the smaller.
    let first = if first < rows as u64 { first as u32 } else { rows };
    // Mutants: as above.
    (first, if rows - first > tile { first + tile } else { rows })
}

/// A key of 8 bits for each row that ascends as its group does, `classes · (level - 1) + class`, where rows without
/// entries have the last of so many classes; how many rows each of `groups` groups has, `CLASSES · (level - 1) +
/// class`; and how many of a tile's rows have each key, key after key: a warp a tile of `tile` rows, in blocks of
/// [`THREADS`], with [`count_bytes()`]. `counts` is zero before. What the levels say otherwise is taken for the last
/// group. `stored` is what is known of diagonals: where all of them or none are, no column is read.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_groups_narrow(
    offsets: Global<u32>,
    indices: Global<u32>,
    levels: Global<u32>,
    keys: GlobalMut<u8>,
    counts: GlobalMut<u32>,
    by_tile: GlobalMut<u32>,
    shape: Rows,
    groups: u32,
    classes: u32,
    tile: u32,
    stored: u32,
) {
    let many = groups / CLASSES * classes;
    let counters = shared::dynamic().array::<u32>(WARPS * COPIES * many);
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let own = counters.offset(thread / 32 * COPIES * many);
    let mut counter = lane;
    while counter < COPIES * many {
        keep_rolled();
        own.write(counter, 0);
        counter += 32;
    }
    sync_warp(FULL);
    let (first, end) = ends(shape.rows, tile);
    let is_asked = stored == SOME_DIAGONALS;
    let read = |row: u32| {
        [row, row + 32].map(|row| {
            // Behind the last row it is that again.
            let row = if row < end { row } else { end.wrapping_sub(1) };
            (bounds(offsets, row, shape.entries), levels.read_only(row).wrapping_sub(1))
        })
    };
    let mut row = first + lane;
    let mut next = if first < end { read(row) } else { [((0, 0), 0); 2] };
    while row < end {
        keep_rolled();
        // What is read of the next rows is on its way meanwhile: a warp has one tile, and waits for memory at each
        // turn.
        let these = next;
        next = read(row + 64);
        unroll::<2>(|line| {
            let (row, ((from, to), level)) = (row + 32 * line as u32, these[line]);
            if row < end {
                // Offsets that changed since they were looked at may leave no entry.
                let is_stored = from < to
                    && if is_asked {
                        indices.read_only(shape.diagonal((from, to))) == row
                    } else {
                        stored != NO_DIAGONALS
                    };
                let (left, most) = (to - from - is_stored as u32, shape.numbered(row));
                // Mutants: of two equal numbers either is the smaller.
                let class = class(if left < most { left } else { most });
                let of_level = if class < classes { class } else { classes - 1 };
                let key = classes.wrapping_mul(level).wrapping_add(of_level);
                let key = if key < many { key } else { many - 1 };
                keys.write(row, key as u8);
                own.atomic(lane % COPIES * many + key).fetch_add(1, Ordering::Relaxed, Scope::Block);
            }
        });
        row += 64;
    }
    sync_threads();
    let tiles = grid_dim_x() * WARPS;
    let mut key = thread;
    while key < many {
        keep_rolled();
        let (mut of_block, mut warp) = (0, 0);
        while warp < WARPS {
            warp = rolled(warp);
            let (mut rows, mut copy) = (0, 0);
            while copy < COPIES {
                copy = rolled(copy);
                rows += counters.read((warp * COPIES + copy) * many + key);
                copy += 1;
            }
            by_tile.write(key * tiles + block_idx_x() * WARPS + warp, rows);
            of_block += rows;
            warp += 1;
        }
        // One of a block: all blocks wait for each other at these few counters. Mutants: to add none changes nothing.
        if of_block > 0 {
            let (level, of_level) = (key / classes, key % classes);
            let class = if of_level == classes - 1 { CLASSES - 1 } else { of_level };
            counts.atomic(CLASSES * level + class).fetch_add(of_block, Ordering::Relaxed, Scope::Device);
        }
        key += THREADS;
    }
}

/// The rows in the order of their keys, of which there are `many`: a warp a tile of `tile` rows, in blocks of
/// [`THREADS`], with [`order_bytes()`]. `starts` are the exclusive sums of what [`sparse_groups_narrow()`] counts by
/// tile.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_order_narrow(
    keys: Global<u8>,
    starts: Global<u32>,
    order: GlobalMut<u32>,
    rows: u32,
    many: u32,
    tile: u32,
) {
    let mut memory = shared::dynamic();
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let warp = thread / 32;
    // Of each key: rows of a batch before the next one, and where in the order the batch's first slot would be.
    let counters = memory.array::<u32>(WARPS * many).offset(warp * many);
    let goals = memory.array::<u32>(WARPS * many).offset(warp * many);
    // The batch's rows in their order, and the keys of its rows.
    let slots = memory.array::<u16>(WARPS * BATCH).offset(warp * BATCH);
    let of_batch = memory.array::<u8>(WARPS * BATCH).offset(warp * BATCH);
    let first = starts.offset((block_idx_x() * WARPS + warp) as u64);
    let mut key = lane;
    while key < many {
        keep_rolled();
        goals.write(key, first.read_only(key * grid_dim_x() * WARPS));
        counters.write(key, 0);
        key += 32;
    }
    let (mut base, end) = ends(rows, tile);
    while base < end {
        keep_rolled();
        // Mutants: of two equal numbers either is the smaller.
        let len = if end - base < BATCH { end - base } else { BATCH };
        let mut key = lane;
        while key < many {
            keep_rolled();
            // Behind the rows of the batch before.
            goals.write(key, goals.read(key).wrapping_add(counters.read(key)));
            counters.write(key, 0);
            key += 32;
        }
        sync_warp(FULL);
        let count = |key: u8| counters.atomic(key as u32).fetch_add(1, Ordering::Relaxed, Scope::Block);
        // Four keys a load: a tile starts at a multiple of four.
        let (batch, whole) = (keys.offset(base as u64), len & !3);
        let mut first = 4 * lane;
        while first < whole {
            keep_rolled();
            // Three of a lane's are on their way at once: of six it would have too many registers for 64 warps.
            let places = [first, first + 128, first + 256];
            let words: [[u8; 4]; 3] =
                places.map(|place| if place < whole { batch.read_only_vec(place) } else { [0; 4] });
            unroll::<3>(|word| {
                if places[word] < whole {
                    of_batch.write_vec(places[word], words[word]);
                    unroll::<4>(|row| {
                        count(words[word][row]);
                    });
                }
            });
            first += 384;
        }
        // Behind the last of four.
        if whole + lane < len {
            let key = batch.read_only(whole + lane);
            of_batch.write(whole + lane, key);
            count(key);
        }
        sync_warp(FULL);
        let (mut before, mut some) = (0, 0);
        while some < many {
            keep_rolled();
            let key = some + lane;
            let count = if key < many { counters.read(key) } else { 0 };
            let up_to = inclusive_scan(count, |a, b| a + b);
            if key < many {
                let start = before + up_to - count;
                counters.write(key, start);
                goals.write(key, goals.read(key).wrapping_sub(start));
            }
            before += from_lane(up_to, 31);
            some += 32;
        }
        sync_warp(FULL);
        let mut at = 0;
        while at < len {
            keep_rolled();
            let mut places = [0; AT_ONCE];
            let of_rows = core::array::from_fn(|line| {
                let at = at + lane + 32 * line as u32;
                if at < len { of_batch.read(at) as u32 } else { NONE }
            });
            let peers = peers_of(&of_rows, u32::BITS - (many - 1).leading_zeros());
            place(counters, &of_rows, &peers, &mut places);
            unroll::<AT_ONCE>(|line| {
                if of_rows[line] != NONE {
                    slots.write(places[line], (at + lane) as u16 + 32 * line as u16);
                }
            });
            at += STEP;
        }
        sync_warp(FULL);
        let mut slot = lane;
        while slot < len {
            keep_rolled();
            let at = slots.read(slot) as u32;
            let goal = goals.read(of_batch.read(at) as u32).wrapping_add(slot);
            order.write(goal, base + at);
            slot += 32;
        }
        sync_warp(FULL);
        base += BATCH;
    }
}
