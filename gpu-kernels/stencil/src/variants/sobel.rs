//! Sobel's operator in three launches (seed: *Computación paralela en GPU*, section 8): both derivatives by one
//! kernel with a flag, the magnitude by another.
//!
//! The fast version computes all in one pass; here three passes read 3 and write 3 images for one that is wanted.

use gpu_std::constant::Constant;
use gpu_std::float::{mul_add, sqrt};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::index_2d;

/// Threads of a block in x and in y.
pub const SOBEL_BLOCK: u32 = 16;

/// The filters, the horizontal one first.
pub const SOBEL_FILTERS: [f32; 18] = [
    -1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0, // d/dx
    -1.0, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0, // d/dy
];

/// Correlates with the first filter where `horizontal` is not zero, else with the second: all nine products, rows and
/// columns ascending, from zero on. The outermost pixels stay as they are.
///
/// The flag is the same for all threads, so its branch never diverges, although it stands in the innermost loop. What
/// diverges is the condition around all: in warps (16 pixels of two rows) with pixels of the border or beyond it.
///
/// Launch blocks of [`SOBEL_BLOCK`]² threads, enough for all columns in x and all rows in y.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_sobel_filter(
    input: Global<f32>,
    output: GlobalMut<f32>,
    filters: Constant<f32, 18>,
    horizontal: u32,
    rows: u32,
    columns: u32,
) {
    let [column, row] = index_2d();
    if column + 1 < columns && row + 1 < rows && column > 0 && row > 0 {
        let mut sum = 0.0;
        let mut k = 0;
        while k < 3 {
            let line = input.offset((row + k - 1) as u64 * columns as u64);
            let mut l = 0;
            while l < 3 {
                if horizontal != 0 {
                    sum = mul_add(filters.read(3 * k + l), line.read(column + l - 1), sum);
                } else {
                    sum = mul_add(filters.read(9 + 3 * k + l), line.read(column + l - 1), sum);
                }
                l += 1;
            }
            k += 1;
        }
        output.offset(row as u64 * columns as u64).write(column, sum);
    }
}

/// `sqrt(fma(gx, gx, gy · gy))` of all but the outermost pixels, which stay as they are.
///
/// Launch as [`stencil_sobel_filter()`].
#[kernel(images = sm_75, launch_bounds(256))]
pub fn stencil_sobel_magnitude(
    gx: Global<f32>,
    gy: Global<f32>,
    output: GlobalMut<f32>,
    rows: u32,
    columns: u32,
) {
    let [column, row] = index_2d();
    // Mutants: at the edges both are zero, and so is what would be written.
    if column + 1 < columns && row + 1 < rows && column > 0 && row > 0 {
        let first = row as u64 * columns as u64;
        let (x, y) = (gx.offset(first).read(column), gy.offset(first).read(column));
        output.offset(first).write(column, sqrt(mul_add(x, x, y * y)));
    }
}
