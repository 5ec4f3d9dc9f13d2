//! Rows grouped by level and, inside a level, by the number of their entries beside the diagonal; and packed into
//! warps.
//!
//! After Dufrechou and Ezzatti, *Using analysis information in the synchronization-free GPU solution of sparse
//! triangular systems* (Concurrency and Computation 2020): a row gets as many lanes as it has entries, rounded up to a
//! power of two.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{grid_dim_x, index_1d, sync_threads, thread_idx_x};
use gpu_std::{keep_rolled, kernel, warp};

use crate::THREADS;
use crate::levels::{Beside, Rows};

/// Size classes of a level: rows of 1, 2, 3–4, 5–8, 9–16, more entries, and none.
pub const CLASSES: u32 = 7;

/// The size class of a row of so many entries beside the diagonal.
pub const fn class(entries: u32) -> u32 {
    if entries == 0 {
        return CLASSES - 1;
    }
    let doublings = u32::BITS - (entries - 1).leading_zeros();
    // Mutants: of two equal numbers either is the smaller.
    if doublings < CLASSES - 2 { doublings } else { CLASSES - 2 }
}

/// Lanes that a row of this class gets.
pub const fn lanes(class: u32) -> u32 {
    if class == 6 { 1 } else { 1 << class }
}

/// The most groups that a block counts in shared memory, as several blocks are on a multiprocessor.
pub const MOST_COUNTERS: u32 = 8192;

/// Bytes of dynamic shared memory of a block of [`sparse_groups()`].
pub const fn groups_shared_bytes(groups: u32) -> u32 {
    // Mutants: groups come in sevens, of which 8192 is no multiple.
    let counters = if groups <= MOST_COUNTERS { groups } else { 0 };
    SharedLayout::new().array::<u32>(counters).bytes()
}

/// Classes that a level has where no row has more than `longest` entries beside the diagonal.
pub const fn classes(longest: u32) -> u32 {
    if longest == 0 { 1 } else { class(longest) + 2 }
}

/// How many rows each group has, `CLASSES · (level - 1) + class`, and a key for each row that ascends as its group
/// does, `classes · (level - 1) + class`, where rows without entries have the last of so many classes: any number of
/// blocks of [`THREADS`], with [`groups_shared_bytes`]. `counts` is zero before, of `count` groups. What the levels say
/// otherwise is taken for the last group.
///
/// Many rows are of few groups: up to [`MOST_COUNTERS`] of them are counted by each block, then added.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_groups(
    offsets: Global<u32>,
    indices: Global<u32>,
    levels: Global<u32>,
    keys: GlobalMut<u32>,
    counts: GlobalMut<u32>,
    shape: Rows,
    count: u32,
    classes: u32,
) {
    // Mutants: groups come in sevens, of which 8192 is no multiple.
    let counters = shared::dynamic().array::<u32>(if count <= MOST_COUNTERS { count } else { 0 });
    // Mutants: as above.
    let in_block = count <= MOST_COUNTERS;
    let mut group = thread_idx_x();
    while in_block && group < count {
        keep_rolled();
        counters.write(group, 0);
        group += THREADS;
    }
    sync_threads();
    let mut row = index_1d();
    while row < shape.rows {
        keep_rolled();
        let rest = shape.beside(offsets, indices, row);
        let (level, class) = (levels.read_only(row).wrapping_sub(1), class(rest.left));
        let group = CLASSES.wrapping_mul(level).wrapping_add(class);
        let group = if group < count { group } else { count - 1 };
        let of_level = if class < classes { class } else { classes - 1 };
        keys.write(row, classes.wrapping_mul(level).wrapping_add(of_level));
        if in_block {
            counters.atomic(group).fetch_add(1, Ordering::Relaxed, Scope::Block);
        } else {
            counts.atomic(group).fetch_add(1, Ordering::Relaxed, Scope::Device);
        }
        row = row.saturating_add(grid_dim_x() * THREADS);
    }
    sync_threads();
    group = thread_idx_x();
    while in_block && group < count {
        keep_rolled();
        let rows = counters.read(group);
        // Mutants: to add none changes nothing.
        if rows > 0 {
            counts.atomic(group).fetch_add(rows, Ordering::Relaxed, Scope::Device);
        }
        group += THREADS;
    }
}

/// The warps that each group's rows fill: a thread a group, in blocks of [`THREADS`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_warps(counts: Global<u32>, warps: GlobalMut<u32>, groups: u32) {
    let group = index_1d();
    if group < groups {
        warps.write(group, counts.read_only(group).div_ceil(32 / lanes(group % CLASSES)));
    }
}

/// Words of what [`sparse_profile()`] finds.
pub const FOUND: u32 = 5;

/// What the choice of a solver asks of a triangle: any number of blocks of [`THREADS`]. `found` is zero before, and gets
/// the most entries of a row beside the diagonal; the rows that wait for one of the same [`THREADS`] rows; how far the
/// last row's farthest entry is from the diagonal, and the rows of which the same is true, or none where the row with that
/// number waits for the one before; and the entries beside the diagonal.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn sparse_profile(offsets: Global<u32>, indices: Global<u32>, found: GlobalMut<u32>, shape: Rows) {
    let farthest = |rest: &Beside, number: u32| {
        if rest.left > 0 { number - shape.other(indices.read_only(rest.place(0)), number) } else { 0 }
    };
    let last = shape.rows - 1;
    let stride = farthest(&shape.beside(offsets, indices, shape.numbered(last)), last);
    // Lines of a grid begin without the row before.
    // Mutants: no row is as far from another as there are rows.
    let line = if stride < shape.rows {
        shape.beside(offsets, indices, shape.numbered(stride))
    } else {
        Beside::default()
    };
    let is_linked = line.left > 0
        && shape.other(indices.read_only(line.place(line.left - 1)), stride).wrapping_add(1) == stride;
    let mut number = index_1d();
    let (mut longest, mut near, mut aligned, mut beside) = (0, 0, 0, 0u32);
    while number < shape.rows {
        keep_rolled();
        let rest = shape.beside(offsets, indices, shape.numbered(number));
        if rest.left > 0 {
            // Mutants: of two equal numbers either is the larger.
            longest = if rest.left > longest { rest.left } else { longest };
            // Offsets that changed since they were checked may overlap.
            beside = beside.wrapping_add(rest.left);
            // The last is the nearest.
            let other = shape.other(indices.read_only(rest.place(rest.left - 1)), number);
            near += (other / THREADS == number / THREADS) as u32;
            aligned += (!is_linked && farthest(&rest, number) == stride) as u32;
        }
        number = number.saturating_add(grid_dim_x() * THREADS);
    }
    longest = warp::warp_reduce(warp::FULL, longest, warp::WarpReductionOp::Max);
    near = warp::warp_reduce(warp::FULL, near, warp::WarpReductionOp::Add);
    aligned = warp::warp_reduce(warp::FULL, aligned, warp::WarpReductionOp::Add);
    beside = warp::warp_reduce(warp::FULL, beside, warp::WarpReductionOp::Add);
    if warp::lane_id() == 0 {
        found.atomic(0).fetch_max(longest, Ordering::Relaxed, Scope::Device);
        found.atomic(1).fetch_add(near, Ordering::Relaxed, Scope::Device);
        found.atomic(2).fetch_max(stride, Ordering::Relaxed, Scope::Device);
        found.atomic(3).fetch_add(aligned, Ordering::Relaxed, Scope::Device);
        found.atomic(4).fetch_add(beside, Ordering::Relaxed, Scope::Device);
    }
}
