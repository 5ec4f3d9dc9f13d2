//! Sums of vectors and of matrices, a thread an element: what the grid and the block are worth.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{index_1d, index_2d};

/// `z = x + y`. Threads beyond the last element do nothing, so that a grid may be larger than needed.
///
/// Launch `n` threads or more.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn linalg_vector_add(x: Global<f32>, y: Global<f32>, z: GlobalMut<f32>, n: u32) {
    let i = index_1d();
    if i < n {
        z.write(i, x.read(i) + y.read(i));
    }
}

/// `z = x + y` of row-major `rows` × `columns` matrices without gaps. A warp of a narrow block takes parts of several
/// rows.
///
/// Launch `columns` threads or more in x, and `rows` or more in y.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn linalg_matrix_add(x: Global<f32>, y: Global<f32>, z: GlobalMut<f32>, rows: u32, columns: u32) {
    let [column, row] = index_2d();
    if row < rows && column < columns {
        let start = row as u64 * columns as u64;
        z.offset(start).write(column, x.offset(start).read(column) + y.offset(start).read(column));
    }
}
