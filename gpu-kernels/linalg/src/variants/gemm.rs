//! Products of matrices, a thread an element of C: `C = A · B`, A being m × k.
//!
//! The third step of the textbook, several elements a thread in registers, is the fast kernel's
//! ([`super::super::gemm::linalg_gemm_large_f32()`]).

use gpu_std::float::mul_add;
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{index_2d, sync_threads, thread_idx_x, thread_idx_y};

/// Rows and columns of a tile of [`linalg_gemm_shared()`], and threads of its block in x and y.
pub const TILE: u32 = 32;

/// Dynamic shared memory of [`linalg_gemm_shared()`], in bytes.
pub const fn shared_bytes() -> u32 {
    SharedLayout::new().array::<f32>(TILE * TILE).array::<f32>(TILE * TILE).bytes()
}

/// Every factor from global memory, each element of A n times and each of B m times.
///
/// Launch blocks of any shape, enough of them in x for the columns of C and in y for its rows.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn linalg_gemm_naive(a: Global<f32>, b: Global<f32>, c: GlobalMut<f32>, m: u32, n: u32, k: u32) {
    let [column, row] = index_2d();
    if row < m && column < n {
        let (a, b) = (a.offset(row as u64 * k as u64), b.offset(column as u64));
        let mut sum = 0.0;
        let mut at = 0;
        while at < k {
            sum = mul_add(a.read(at), b.offset(at as u64 * n as u64).read(0), sum);
            at += 1;
        }
        c.offset(row as u64 * n as u64).write(column, sum + 0.0);
    }
}

/// Tiles of 32 × 32 elements of A and B in shared memory: each element is read from global memory a 32nd as often
/// (seed: C. González, 2012, listing 8.14). What is beyond the matrices counts as zero.
///
/// Launch blocks of [`TILE`] × [`TILE`] threads, enough of them in x for the columns of C and in y for its rows, with
/// [`shared_bytes`].
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn linalg_gemm_shared(a: Global<f32>, b: Global<f32>, c: GlobalMut<f32>, m: u32, n: u32, k: u32) {
    let mut memory = shared::dynamic();
    let (a_tile, b_tile) = (memory.array::<f32>(TILE * TILE), memory.array::<f32>(TILE * TILE));
    let [column, row] = index_2d();
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let mut sum = 0.0;
    let mut first = 0;
    // Mutants: one tile more is of zeros.
    while first < k {
        let of_a =
            if row < m && first + x < k { a.offset(row as u64 * k as u64).read(first + x) } else { 0.0 };
        let of_b = if first + y < k && column < n {
            b.offset((first + y) as u64 * n as u64).read(column)
        } else {
            0.0
        };
        a_tile.write(y * TILE + x, of_a);
        b_tile.write(y * TILE + x, of_b);
        sync_threads();
        let mut at = 0;
        while at < TILE {
            sum = mul_add(a_tile.read(y * TILE + at), b_tile.read(at * TILE + x), sum);
            at += 1;
        }
        // Nobody overwrites a tile that others still read.
        sync_threads();
        first += TILE;
    }
    if row < m && column < n {
        c.offset(row as u64 * n as u64).write(column, sum + 0.0);
    }
}
