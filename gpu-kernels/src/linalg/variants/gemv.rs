//! Products of a row-major m × n matrix and a vector: `y = A · x` (seed: C. González, 2012, chapter 7).

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::mul_add;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::index_1d;
use gpu_std::{device, kernel};

/// Row `row` times `x`.
#[device]
#[inline(always)]
fn product(a: Global<f32>, x: Global<f32>, row: u32, n: u32) -> f32 {
    let a = a.offset(row as u64 * n as u64);
    let mut sum = 0.0;
    let mut column = 0;
    while column < n {
        sum = mul_add(a.read(column), x.read(column), sum);
        column += 1;
    }
    sum + 0.0
}

/// A row a thread. Neighbouring threads read a whole row apart: each access of a warp touches 32 sectors.
///
/// Launch as many threads as there are rows, or more.
#[kernel(module = linalg_variants, launch_bounds(1024))]
pub fn linalg_gemv_row(a: Global<f32>, x: Global<f32>, y: GlobalMut<f32>, m: u32, n: u32) {
    let row = index_1d();
    if row < m {
        y.write(row, product(a, x, row, n));
    }
}

/// `per_thread` consecutive rows a thread: thread `i` has the rows from `i · per_thread` on. As few threads as one likes,
/// and accesses as far apart as can be.
///
/// Launch as many threads as there are such groups of rows, or more.
#[kernel(module = linalg_variants, launch_bounds(1024))]
pub fn linalg_gemv_rows(a: Global<f32>, x: Global<f32>, y: GlobalMut<f32>, m: u32, n: u32, per_thread: u32) {
    let first = index_1d() as u64 * per_thread as u64;
    let mut row = first.min(m as u64);
    let end = (first + per_thread as u64).min(m as u64);
    while row < end {
        y.write(row as u32, product(a, x, row as u32, n));
        row += 1;
    }
}

/// A column a thread, whose products are added to `y` by atomics: accesses are whole rows, but every product is a transaction
/// on memory that all threads want, and the order, with it the last bits, differs from run to run. `y` is zero before.
///
/// Launch as many threads as there are columns, or more.
#[kernel(module = linalg_variants, launch_bounds(1024))]
pub fn linalg_gemv_column(a: Global<f32>, x: Global<f32>, y: GlobalMut<f32>, m: u32, n: u32) {
    let column = index_1d();
    if column < n {
        let x = x.read(column);
        let mut row = 0;
        while row < m {
            let product = a.offset(row as u64 * n as u64).read(column) * x;
            y.atomic(row).fetch_add(product, Ordering::Relaxed, Scope::Device);
            row += 1;
        }
    }
}
