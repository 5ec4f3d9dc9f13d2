//! The textbook's transpositions, one thread an element: what each lesson about memory changes, and nothing else.
//!
//! A block is as large as its tile, and thread (x, y) of the block reads element (x, y) of the tile. What differs is
//! how an element gets from the row it is read from to the column it belongs to:
//!
//! | kernels | between load and store | the lesson |
//! |---|---|---|
//! | `transpose_naive_scatter`, `transpose_naive_gather` | nothing | a warp that walks down a column touches a sector an element |
//! | `transpose_shared_*` | a tile, read by columns | both global accesses are rows; the columns hit few banks |
//! | `transpose_shared_stores_*` | a tile, written by columns | the same conflicts on the other side |
//! | `transpose_padded_*` | a tile with a spare column | a column's elements lie in different banks |
//! | `transpose_patch`, `transpose_patch_half` | registers | more values than registers spill; half as many do not |
//!
//! The fast transposition is [`super::transpose_b32()`].

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{
    block_dim_x, block_dim_y, block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y,
};
use gpu_std::{device, kernel};

/// Rows and columns of a patch's long side: what a thread of `transpose_patch` holds is this × [`PATCH_SHORT`].
pub const PATCH_LONG: u32 = 8;
/// Elements of a patch's short side.
pub const PATCH_SHORT: u32 = 4;

/// Dynamic shared memory of a kernel whose tile has `block` rows of `pitch` elements, in bytes.
pub const fn shared_bytes(block: u32, pitch: u32) -> u32 {
    SharedLayout::new().array::<u32>(block * pitch).bytes()
}

/// Where the running thread stands in the input: row and column.
#[device]
#[inline(always)]
fn element() -> (u64, u64) {
    (
        block_idx_y() as u64 * block_dim_y() as u64 + thread_idx_y() as u64,
        block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64,
    )
}

/// Transposes a `rows` × `columns` matrix: each warp reads along a row and writes down a column.
///
/// Launch blocks of any shape, enough of them in x for the columns and in y for the rows; no shared memory.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn transpose_naive_scatter(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let (row, column) = element();
    if row < rows && column < columns {
        output.offset(column * output_ld + row).write(0, input.offset(row * input_ld + column).read(0));
    }
}

/// Transposes a `rows` × `columns` matrix: each warp reads down a column and writes along a row.
///
/// Launch blocks of any shape, enough of them in x for the rows and in y for the columns: threads are numbered by the
/// element that they write. No shared memory.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn transpose_naive_gather(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let (column, row) = element();
    if row < rows && column < columns {
        output.offset(column * output_ld + row).write(0, input.offset(row * input_ld + column).read(0));
    }
}

/// Through a tile of `BLOCK` rows, `PITCH` elements apart. `STORES`: the tile is written by columns and read by rows,
/// else the other way round.
#[device]
#[inline(always)]
fn through_shared<const BLOCK: u32, const PITCH: u32, const STORES: bool>(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let tile = shared::dynamic().array::<u32>(BLOCK * PITCH);
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let across = x + y * PITCH;
    let down = y + x * PITCH;
    let (top, left) = (block_idx_y() as u64 * BLOCK as u64, block_idx_x() as u64 * BLOCK as u64);

    let (row, column) = (top + y as u64, left + x as u64);
    if row < rows && column < columns {
        tile.write(
            if const { STORES } { down } else { across },
            input.offset(row * input_ld + column).read(0),
        );
    }
    sync_threads();
    // The tile's rows are now the output's columns: consecutive threads go along an output row.
    let (row, column) = (top + x as u64, left + y as u64);
    if row < rows && column < columns {
        output
            .offset(column * output_ld + row)
            .write(0, tile.read(if const { STORES } { across } else { down }));
    }
}

/// One kernel through shared memory.
macro_rules! through_shared {
    ($(#[$doc:meta])* $name:ident, $threads:literal, $block:literal, $pitch:literal, $stores:literal) => {
        $(#[$doc])*
        ///
        /// Launch square blocks as large as the tile, enough of them in x for the columns and in y for the rows, with
        #[doc = concat!("[`shared_bytes`]`(", stringify!($block), ", ", stringify!($pitch), ")`.")]
        #[kernel(images = sm_75, launch_bounds($threads))]
        pub fn $name(
            input: Global<u32>,
            output: GlobalMut<u32>,
            rows: u64,
            columns: u64,
            input_ld: u64,
            output_ld: u64,
        ) {
            through_shared::<$block, $pitch, $stores>(input, output, rows, columns, input_ld, output_ld);
        }
    };
}

through_shared!(
    /// Through a 16 × 16 tile that is read by columns: 8 lanes of each half warp want the same bank.
    transpose_shared_16, 256, 16, 16, false
);
through_shared!(
    /// Through a 32 × 32 tile that is read by columns: all 32 lanes of a warp want the same bank.
    transpose_shared_32, 1024, 32, 32, false
);
through_shared!(
    /// Through a 16 × 16 tile that is written by columns.
    transpose_shared_stores_16, 256, 16, 16, true
);
through_shared!(
    /// Through a 32 × 32 tile that is written by columns.
    transpose_shared_stores_32, 1024, 32, 32, true
);
through_shared!(
    /// Through a 16 × 17 tile: the two rows of a warp still meet in one bank.
    transpose_padded_16, 256, 16, 17, false
);
through_shared!(
    /// Through a 32 × 33 tile: no conflicts.
    transpose_padded_32, 1024, 32, 33, false
);

/// A patch of `ROWS` rows and [`PATCH_SHORT`] columns, from row `first` of the thread's patch on, through registers:
/// all loads, then all stores. At the matrix's borders one element after the other.
#[device]
#[inline(always)]
fn through_registers<const ROWS: usize>(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
    first: u32,
) {
    const COLUMNS: usize = PATCH_SHORT as usize;
    let (down, across) = element();
    let (row, column) = (down * PATCH_LONG as u64 + first as u64, across * PATCH_SHORT as u64);
    let source = input.offset(row * input_ld + column);
    let target = output.offset(column * output_ld + row);
    // Mutants: what just fits may come an element at a time.
    if row + ROWS as u64 <= rows && column + COLUMNS as u64 <= columns {
        let values: [[u32; COLUMNS]; ROWS] = core::array::from_fn(|i| {
            let source = source.offset(i as u64 * input_ld);
            core::array::from_fn(|j| source.read(j as u32))
        });
        for j in 0..COLUMNS {
            let target = target.offset(j as u64 * output_ld);
            for i in 0..ROWS {
                target.write(i as u32, values[i][j]);
            }
        }
    } else {
        for i in 0..ROWS as u64 {
            for j in 0..COLUMNS as u64 {
                if row + i < rows && column + j < columns {
                    target.offset(j * output_ld + i).write(0, source.offset(i * input_ld + j).read(0));
                }
            }
        }
    }
}

/// Transposes patches of [`PATCH_LONG`] × [`PATCH_SHORT`] elements, one a thread, in registers. Its 32 values and two
/// blocks of 1024 threads on a multiprocessor, 32 registers a thread, do not go together: some values spill.
///
/// Launch blocks of any shape, enough of them in x for the columns, at [`PATCH_SHORT`] a thread, and in y for the
/// rows, at [`PATCH_LONG`] a thread; no shared memory.
#[kernel(images = sm_75, launch_bounds(1024, 2))]
pub fn transpose_patch(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    through_registers::<{ PATCH_LONG as usize }>(input, output, rows, columns, input_ld, output_ld, 0);
}

/// Half of what [`transpose_patch()`] does: of each patch the half from row `first` on, 0 or half of [`PATCH_LONG`].
/// Its 16 values fit; two launches do the whole.
///
/// Launch as [`transpose_patch()`].
#[kernel(images = sm_75, launch_bounds(1024, 2))]
pub fn transpose_patch_half(
    input: Global<u32>,
    output: GlobalMut<u32>,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
    first: u32,
) {
    through_registers::<{ PATCH_LONG as usize / 2 }>(
        input, output, rows, columns, input_ld, output_ld, first,
    );
}
