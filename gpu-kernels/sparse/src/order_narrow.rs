//! The rows' order where all levels together have few classes.
//!
//! A warp has a tile of rows that follow each other, and counters of its own. One launch counts each tile's rows of each
//! key; the sums of these counts, key after key and tile after tile, say where each tile's rows of a key go; a second
//! launch brings them there, in their order. So every row is read twice and written once, and no warp waits for
//! another.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, sync_warp};
use gpu_std::{device, keep_rolled, kernel, unroll};

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

/// Bytes of dynamic shared memory of a block with so many keys.
pub const fn shared_bytes(keys: u32) -> u32 {
    SharedLayout::new().array::<u32>(WARPS * keys).bytes()
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
/// entries have the last of so many classes; how many rows each of `groups` groups has, `CLASSES · (level - 1) + class`;
/// and how many of a tile's rows have each key, key after key: a warp a tile of `tile` rows, in blocks of [`THREADS`],
/// with [`shared_bytes()`]. `counts` is zero before. What the levels say otherwise is taken for the last group. `stored`
/// is what is known of diagonals: where all of them or none are, no column is read.
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
    let counters = shared::dynamic().array::<u32>(WARPS * many);
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let own = counters.offset(thread / 32 * many);
    let mut key = lane;
    while key < many {
        keep_rolled();
        own.write(key, 0);
        key += 32;
    }
    sync_warp(FULL);
    let (first, end) = ends(shape.rows, tile);
    let mut base = first;
    while base < end {
        keep_rolled();
        // All that is read of some rows is on its way before the first of them goes on: a warp has one tile, and waits for
        // memory as often as it comes here.
        let mut of_rows = [((0, 0), 0); AT_ONCE];
        unroll::<AT_ONCE>(|line| {
            let row = base + lane + 32 * line as u32;
            // Behind the last row it is that again.
            let row = if row < end { row } else { end - 1 };
            of_rows[line] = (bounds(offsets, row, shape.entries), levels.read_only(row).wrapping_sub(1));
        });
        unroll::<AT_ONCE>(|line| {
            let row = base + lane + 32 * line as u32;
            if row < end {
                let ((from, to), level) = of_rows[line];
                let diagonal = shape.diagonal((from, to));
                let is_asked = stored == SOME_DIAGONALS;
                // Offsets that changed since they were looked at may leave no entry.
                let is_stored =
                    from < to && if is_asked { indices.read_only(diagonal) == row } else { stored != NO_DIAGONALS };
                let (left, most) = (to - from - is_stored as u32, shape.numbered(row));
                // Mutants: of two equal numbers either is the smaller.
                let class = class(if left < most { left } else { most });
                let of_level = if class < classes { class } else { classes - 1 };
                let key = classes.wrapping_mul(level).wrapping_add(of_level);
                let key = if key < many { key } else { many - 1 };
                keys.write(row, key as u8);
                own.atomic(key).fetch_add(1, Ordering::Relaxed, Scope::Block);
            }
        });
        base += STEP;
    }
    sync_threads();
    let tiles = grid_dim_x() * WARPS;
    let mut key = thread;
    while key < many {
        keep_rolled();
        let mut of_block = 0;
        unroll::<{ WARPS as usize }>(|warp| {
            let rows = counters.read(warp as u32 * many + key);
            by_tile.write(key * tiles + block_idx_x() * WARPS + warp as u32, rows);
            of_block += rows;
        });
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
/// [`THREADS`], with [`shared_bytes()`]. `starts` are the exclusive sums of what [`sparse_groups_narrow()`] counts by
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
    let counters = shared::dynamic().array::<u32>(WARPS * many);
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let own = counters.offset(thread / 32 * many);
    let first = starts.offset((block_idx_x() * WARPS + thread / 32) as u64);
    let mut key = lane;
    while key < many {
        keep_rolled();
        own.write(key, first.read_only(key * grid_dim_x() * WARPS));
        key += 32;
    }
    sync_warp(FULL);
    let (mut base, end) = ends(rows, tile);
    while base < end {
        keep_rolled();
        let (mut of_rows, mut places) = ([NONE; AT_ONCE], [0; AT_ONCE]);
        unroll::<AT_ONCE>(|line| {
            let row = base + lane + 32 * line as u32;
            let key = keys.read_only_below(row, end, 0) as u32;
            of_rows[line] = if row < end { key } else { NONE };
        });
        let peers = peers_of(&of_rows, u32::BITS - (many - 1).leading_zeros());
        place(own, &of_rows, &peers, &mut places);
        unroll::<AT_ONCE>(|line| {
            let row = base + lane + 32 * line as u32;
            if row < end {
                order.write(places[line], row);
            }
        });
        base += STEP;
    }
}
