//! A step of any stencil: stars and boxes of any radius on planes and in volumes.
//!
//! A thread computes [`CELLS`] cells of a column one below the other, lanes neighbouring columns; the neighbourhoods,
//! most of which overlap, come through the L1. The taps are a table in the constant bank, weights and distances in
//! memory, read once for all cells of a thread; their places are needed at the edge alone. Where a stencil has more
//! taps than a table, several launches carry the sums on in the output, exactly.

use gpu_std::constant::Constant;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, rolled, unroll};

use super::{DIRICHLET, border_mode};
use crate::border;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Columns of a block's cells.
pub const COLUMNS: u32 = 64;
/// Cells of a thread, one below the other.
pub const CELLS: u32 = 4;
/// Rows of a block's cells.
pub const ROWS: u32 = THREADS / COLUMNS * CELLS;
/// Taps of a table: 20 bytes each, and the other parameters, are less than 4 KB.
pub const TABLE: usize = 180;

/// The grid, and what is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Step {
    /// Planes of the grid; 1 where it is one.
    pub planes: u32,
    /// Rows of a plane.
    pub rows: u32,
    /// Columns of a row.
    pub columns: u32,
    /// How far taps reach along rows and columns.
    pub radius: u32,
    /// How far taps reach through planes.
    pub depth: u32,
    /// [`super::DIRICHLET`], [`super::NEUMANN`] or [`super::PERIODIC`].
    pub boundary: u32,
    /// Taps in the table.
    pub taps: u32,
    /// Whether there is a source: 1 or 0.
    pub with_source: u32,
    /// Whether the output holds the sums of earlier taps: 1 or 0.
    pub carry: u32,
    /// Whether the cell is subtracted from its sum at the end: 1 or 0.
    pub difference: u32,
}

/// A tap's place in the neighbourhood, in the table: each distance plus 8 in a byte, that of planes in the highest.
pub const fn pack([plane, row, column]: [i32; 3]) -> u32 {
    ((plane + 8) << 16 | (row + 8) << 8 | (column + 8)) as u32
}

#[inline(always)]
fn unpack(place: u32) -> [i32; 3] {
    [(place >> 16) as i32 - 8, (place >> 8 & 255) as i32 - 8, (place & 255) as i32 - 8]
}

/// Computes a block's cells.
#[device]
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn step<T: Float>(
    input: Global<T>,
    source: Global<T>,
    output: GlobalMut<T>,
    step: Step,
    factor: T,
    weights: Constant<T, TABLE>,
    distances: Constant<i64, TABLE>,
    places: Constant<u32, TABLE>,
) {
    // No grid is empty: the compiler need not look.
    let (across, down) = (step.columns.div_ceil(COLUMNS).max(1), step.rows.div_ceil(ROWS));
    let line = block_idx_x() / across;
    let z = line / down.max(1);
    let x = (block_idx_x() - line * across) * COLUMNS + thread_idx_x() % COLUMNS;
    let y = (line - z * down) * ROWS + thread_idx_x() / COLUMNS * CELLS;
    // Mutants: a thread one row beyond has no cells; one column beyond is in the next row, which others write.
    if x >= step.columns || y >= step.rows {
        return;
    }
    let (radius, depth) = (step.radius, step.depth);
    let plane = step.rows as u64 * step.columns as u64;
    let cell = z as u64 * plane + y as u64 * step.columns as u64 + x as u64;
    let cells = (step.rows - y).min(CELLS);
    let (here, output) = (input.offset(cell), output.offset(cell));

    let mut sums = [T::ZERO; CELLS as usize];
    unroll::<{ CELLS as usize }>(|k| {
        let at = k as u32 * step.columns;
        if (k as u32) < cells {
            if step.carry != 0 {
                sums[k] = output.read(at);
            } else if step.with_source != 0 {
                sums[k] = factor.mul_add(source.offset(cell).read_only(at), T::ZERO);
            }
        }
    });
    // Mutants: cells that just fit may go the other way; those that do not would read other rows, or none.
    let inside = z >= depth
        && z + depth < step.planes
        && y >= radius
        && y + CELLS + radius <= step.rows
        && x >= radius
        && x + radius < step.columns;
    let mut tap = 0;
    if inside {
        while tap < step.taps {
            let weight = weights.read(tap);
            let there = here.offset(distances.read(tap) as u64);
            unroll::<{ CELLS as usize }>(|k| {
                sums[k] = weight.mul_add(there.read_only(k as u32 * step.columns), sums[k]);
            });
            tap += 1;
        }
    } else {
        let mode = border_mode(step.boundary);
        while tap < step.taps {
            tap = rolled(tap);
            let [dz, dy, dx] = unpack(places.read(tap));
            let weight = weights.read(tap);
            let plane_there = border::source(z as i32 + dz, step.planes as i32, mode);
            let column = border::source(x as i32 + dx, step.columns as i32, mode);
            let there = input.offset(plane_there as u64 * plane + column as u64);
            // Rows in a loop, and what is in them at once.
            let (mut rows, mut k) = ([0; CELLS as usize], 0);
            while k < CELLS {
                k = rolled(k);
                let row = border::source((y + k) as i32 + dy, step.rows as i32, mode);
                rows = [rows[1], rows[2], rows[3], row];
                k += 1;
            }
            unroll::<{ CELLS as usize }>(|k| {
                // Mutants: of a cell too many the sum is not written, and its neighbours are cells of the grid.
                if (k as u32) < cells {
                    let there = there.offset(rows[k] as u64 * step.columns as u64);
                    sums[k] = weight.mul_add(there.read_only(0), sums[k]);
                }
            });
            tap += 1;
        }
    }
    unroll::<{ CELLS as usize }>(|k| {
        if (k as u32) < cells {
            let (at, y) = (k as u32 * step.columns, y + k as u32);
            // `radius` cells from either end: where the grid is narrower than two of them, all.
            let near = |at: u32, radius: u32, length: u32| at < radius || at + radius >= length;
            let fixed = step.boundary == DIRICHLET
                && (near(z, depth, step.planes)
                    || near(y, radius, step.rows)
                    || near(x, radius, step.columns));
            let old = here.read_only(at);
            let result = if fixed { old } else { sums[k] };
            output.write(at, if step.difference != 0 { result - old } else { result });
        }
    });
}
