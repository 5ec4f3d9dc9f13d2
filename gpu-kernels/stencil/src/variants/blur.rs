//! Correlation with a square mask, a thread a pixel: where pixels and weights are read from (seed: *Accesos y tipos
//! de memoria en GPU*, 2.2).
//!
//! A result is the sum of weight times pixel over the `(2r + 1)²` pixels around it, rows ascending and columns
//! ascending, from zero on, each added by one fused multiply-add; so all variants give the same bits. What is outside
//! the image counts as zero: the report does not say, and a product left out where there is no pixel amounts to that.

use gpu_std::constant::Constant;
use gpu_std::float::mul_add;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, block_idx_y, index_2d, sync_threads, thread_idx_x, thread_idx_y};
use gpu_std::{device, kernel};

/// Threads of a block in x and in y.
pub const BLUR_BLOCK: u32 = 32;
/// The largest radius: that of the report, and what a mask in the constant bank has room for.
pub const BLUR_RADIUS: u32 = 5;
/// Weights of the largest mask.
pub const BLUR_WEIGHTS: usize = ((2 * BLUR_RADIUS + 1) * (2 * BLUR_RADIUS + 1)) as usize;

/// Dynamic shared memory of the variants with a tile, in bytes.
pub const fn blur_shared_bytes(radius: u32) -> u32 {
    let side = BLUR_BLOCK + 2 * radius;
    SharedLayout::new().array::<f32>(side * side).bytes()
}

/// The pixel in row `row` and column `column`, zero outside; places before the first wrap around to large numbers.
#[device]
#[inline(always)]
fn pixel(input: Global<f32>, row: u32, column: u32, rows: u32, columns: u32) -> f32 {
    if row < rows && column < columns { input.offset(row as u64 * columns as u64).read(column) } else { 0.0 }
}

/// Fills the block's tile: `(32 + 2r)²` pixels, of which each thread loads up to four: its own, shifted by the radius
/// to the left and up, and those a block's width to the right, a block's height below, and both, as far as they are
/// in the tile.
#[device]
#[inline(always)]
fn load_tile(input: Global<f32>, rows: u32, columns: u32, radius: u32) -> Shared<f32> {
    let side = BLUR_BLOCK + 2 * radius;
    let tile: Shared<f32> = shared::dynamic().array(side * side);
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let first_row = (block_idx_y() * BLUR_BLOCK).wrapping_sub(radius);
    let first_column = (block_idx_x() * BLUR_BLOCK).wrapping_sub(radius);
    let load = |y: u32, x: u32| {
        let (row, column) = (first_row.wrapping_add(y), first_column.wrapping_add(x));
        tile.write(y * side + x, pixel(input, row, column, rows, columns));
    };
    let (right, below) = (x + BLUR_BLOCK, y + BLUR_BLOCK);
    load(y, x);
    if right < side {
        load(y, right);
    }
    if below < side {
        load(below, x);
    }
    if right < side && below < side {
        load(below, right);
    }
    sync_threads();
    tile
}

/// The sum around the thread's pixel, of the tile and the weights.
#[device]
#[inline(always)]
fn sum_of_tile(tile: Shared<f32>, radius: u32, weight: impl Fn(u32) -> f32) -> f32 {
    let (side, width) = (BLUR_BLOCK + 2 * radius, 2 * radius + 1);
    let first = thread_idx_y() * side + thread_idx_x();
    let mut sum = 0.0;
    let mut k = 0;
    while k < width {
        let mut l = 0;
        while l < width {
            sum = mul_add(weight(k * width + l), tile.read(first + k * side + l), sum);
            l += 1;
        }
        k += 1;
    }
    sum
}

/// Writes the thread's pixel, if it is one.
#[device]
#[inline(always)]
fn store(output: GlobalMut<f32>, sum: f32, rows: u32, columns: u32) {
    let [column, row] = index_2d();
    if row < rows && column < columns {
        output.offset(row as u64 * columns as u64).write(column, sum);
    }
}

/// Pixels and weights from global memory. Of its `2 (2r + 1)²` loads a pixel, nearly all hit the first-level cache;
/// what they cost is their number: a load, an address and two comparisons for each product.
///
/// Launch blocks of [`BLUR_BLOCK`]² threads, enough for all columns in x and all rows in y.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn stencil_blur_global(
    input: Global<f32>,
    output: GlobalMut<f32>,
    mask: Global<f32>,
    rows: u32,
    columns: u32,
    radius: u32,
) {
    let [column, row] = index_2d();
    if row < rows && column < columns {
        let width = 2 * radius + 1;
        let mut sum = 0.0;
        let mut k = 0;
        while k < width {
            let mut l = 0;
            while l < width {
                let at_row = row.wrapping_add(k).wrapping_sub(radius);
                let at_column = column.wrapping_add(l).wrapping_sub(radius);
                let pixel = pixel(input, at_row, at_column, rows, columns);
                sum = mul_add(mask.read(k * width + l), pixel, sum);
                l += 1;
            }
            k += 1;
        }
        output.offset(row as u64 * columns as u64).write(column, sum);
    }
}

/// Pixels from a tile in shared memory, which has the block's and an apron around them: each comes from global memory
/// once a block, `(1 + r/16)²` times in all, and the border is decided there and not for each product. Weights from
/// global memory.
///
/// Launch as [`stencil_blur_global()`], with [`blur_shared_bytes`].
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn stencil_blur_shared(
    input: Global<f32>,
    output: GlobalMut<f32>,
    mask: Global<f32>,
    rows: u32,
    columns: u32,
    radius: u32,
) {
    let tile = load_tile(input, rows, columns, radius);
    store(output, sum_of_tile(tile, radius, |k| mask.read(k)), rows, columns);
}

/// As [`stencil_blur_shared()`], with weights through the read-only path (`const __restrict__`, `ld.global.nc`): the
/// compiler may keep and reorder what nobody writes. Since capability 7.0 both kinds of load go through the same
/// cache, so little is to be had.
///
/// Launch as [`stencil_blur_shared()`].
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn stencil_blur_read_only(
    input: Global<f32>,
    output: GlobalMut<f32>,
    mask: Global<f32>,
    rows: u32,
    columns: u32,
    radius: u32,
) {
    let tile = load_tile(input, rows, columns, radius);
    store(output, sum_of_tile(tile, radius, |k| mask.read_only(k)), rows, columns);
}

/// As [`stencil_blur_shared()`], with weights in the constant bank, of which all threads of a warp read the same one
/// at a time: that costs as much as a register, and the load and store units are left to the pixels. (The report's
/// `__constant__` array is module-level state; a parameter lies in the same bank.)
///
/// Launch as [`stencil_blur_shared()`].
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn stencil_blur_constant(
    input: Global<f32>,
    output: GlobalMut<f32>,
    mask: Constant<f32, BLUR_WEIGHTS>,
    rows: u32,
    columns: u32,
    radius: u32,
) {
    let tile = load_tile(input, rows, columns, radius);
    store(output, sum_of_tile(tile, radius, |k| mask.read(k)), rows, columns);
}
