//! Transposition of rectangles in place, by the decomposition of Catanzaro, Keller and Garland ("A Decomposition for
//! In-place Matrix Transposition", PPoPP 2014): three passes, each of which permutes within rows or within columns.
//!
//! For `rows` × `columns`, `c` their greatest common divisor, `a = rows / c` and `b = columns / c`:
//! 1. where `c > 1`, rotate column `j` up by ⌊j / b⌋;
//! 2. in row `i`, move element `j` to `((i + ⌊j / b⌋) mod rows + j · rows) mod columns`;
//! 3. in column `j`, take row `i` from `(j + i · columns − ⌊i / a⌋) mod rows`.
//!
//! The memory then holds the transposed matrix. A block takes a row, or a band of columns as wide as a cache line, to
//! its own part of the scratch memory and back: the scratch memory is as large as one row or band for each block.

use super::tile::THREADS;
use gpu_std::memory::{Element, GlobalMut};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, kernel};

/// Columns of a band of elements of `bytes` bytes.
pub const fn band(bytes: u32) -> u32 {
    128 / bytes
}

/// Where element `column` of row `row` goes in step 2.
pub const fn row_target(row: u64, column: u64, rows: u64, columns: u64, b: u64) -> u64 {
    ((row + column / b) % rows + column * rows) % columns
}

/// Where row `row` of column `column` comes from in step 1.
pub const fn rotation_source(row: u64, column: u64, rows: u64, b: u64) -> u64 {
    (row + column / b) % rows
}

/// Where row `row` of column `column` comes from in step 3.
pub const fn column_source(row: u64, column: u64, rows: u64, columns: u64, a: u64) -> u64 {
    (column + row * columns - row / a) % rows
}

#[device]
#[inline(always)]
fn shuffle_rows<U: Element>(data: GlobalMut<U>, scratch: GlobalMut<U>, rows: u32, columns: u32, b: u32) {
    let (rows, columns, b) = (rows.max(1), columns.max(1), b.max(1));
    let mine = scratch.offset(block_idx_x() as u64 * columns as u64);
    let mut row = block_idx_x();
    while row < rows {
        let line = data.offset(row as u64 * columns as u64);
        let mut column = thread_idx_x();
        while column < columns {
            let target = row_target(row as u64, column as u64, rows as u64, columns as u64, b as u64);
            mine.write(target as u32, line.read(column));
            column += THREADS;
        }
        sync_threads();
        let mut column = thread_idx_x();
        while column < columns {
            line.write(column, mine.read(column));
            column += THREADS;
        }
        sync_threads();
        row += grid_dim_x();
    }
}

#[device]
#[inline(always)]
fn shuffle_columns<U: Element>(
    data: GlobalMut<U>,
    scratch: GlobalMut<U>,
    (rows, columns): (u32, u32),
    (a, b): (u32, u32),
    rotate: bool,
) {
    let width = band(size_of::<U>() as u32);
    let (rows, a, b) = (rows.max(1), a.max(1), b.max(1));
    let mine = scratch.offset(block_idx_x() as u64 * rows as u64 * width as u64);
    let within = thread_idx_x() % width;
    let mut first = block_idx_x() * width;
    // Mutants: a band right behind the last column has none.
    while first < columns {
        let column = first + within;
        let mut row = thread_idx_x() / width;
        while row < rows {
            if column < columns {
                let (r, c) = (row as u64, column as u64);
                let source = if rotate {
                    rotation_source(r, c, rows as u64, b as u64)
                } else {
                    column_source(r, c, rows as u64, columns as u64, a as u64)
                };
                let value = data.offset(source * columns as u64).read(column);
                mine.offset(row as u64 * width as u64).write(within, value);
            }
            row += THREADS / width;
        }
        sync_threads();
        let mut row = thread_idx_x() / width;
        while row < rows {
            if column < columns {
                let value = mine.offset(row as u64 * width as u64).read(within);
                data.offset(row as u64 * columns as u64).write(column, value);
            }
            row += THREADS / width;
        }
        // Mutants: a thread reads of the scratch memory what it wrote itself, and bands share no column.
        sync_threads();
        first += grid_dim_x() * width;
    }
}

macro_rules! rectangles {
    ($($rows:ident, $columns:ident, $images:ident: $U:ty;)*) => { $(
        /// Step 2. Launch any number of blocks of [`THREADS`] threads; `scratch` has `columns` elements for each.
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $rows(data: GlobalMut<$U>, scratch: GlobalMut<$U>, rows: u32, columns: u32, b: u32) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            shuffle_rows(data, scratch, rows, columns, b);
        }

        /// Step 1 (`rotate` other than 0) or 3. Launch any number of blocks of [`THREADS`] threads; `scratch` has
        /// `rows` times [`band`] elements for each.
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $columns(
            data: GlobalMut<$U>,
            scratch: GlobalMut<$U>,
            rows: u32,
            columns: u32,
            a: u32,
            b: u32,
            rotate: u32,
        ) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            shuffle_columns(data, scratch, (rows, columns), (a, b), rotate != 0);
        }
    )* };
}

rectangles! {
    transpose_rows_b8, transpose_columns_b8, sm_75_90: u8;
    transpose_rows_b16, transpose_columns_b16, sm_75_90: u16;
    transpose_rows_b32, transpose_columns_b32, sm_75_90: u32;
    transpose_rows_b64, transpose_columns_b64, sm_75_90: u64;
    transpose_rows_b128, transpose_columns_b128, sm_75_90: u128;
}
