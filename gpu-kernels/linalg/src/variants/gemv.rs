//! Products of a row-major m × n matrix and a vector: `y = A · x` (seed: C. González, 2012, chapter 7). Of `f32`,
//! `f64` and, modulo 2^32, `i32`.

use core::ops::Add;

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::thread::index_1d;
use gpu_std::{device, kernel};

/// What these products are made of.
pub trait Number: Element + Add<Output = Self> {
    /// Zero.
    const ZERO: Self;
    /// `self * factor + summand`, rounded once, or modulo 2^32.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// Adds to an element that others add to.
    fn add_to(self, y: GlobalMut<Self>, index: u32);
}

macro_rules! numbers {
    ($($T:ty: $zero:literal, $mul_add:expr;)*) => { $(
        impl Number for $T {
            const ZERO: Self = $zero;
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                $mul_add(self, factor, summand)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn add_to(self, y: GlobalMut<Self>, index: u32) {
                y.atomic(index).fetch_add(self, Ordering::Relaxed, Scope::Device);
            }
        }
    )* };
}
numbers! {
    f32: 0.0, gpu_std::float::mul_add;
    f64: 0.0, gpu_std::float::mul_add;
    i32: 0, |a: i32, b: i32, c: i32| a.wrapping_mul(b).wrapping_add(c);
}

/// Row `row` times `x`.
#[device]
#[inline(always)]
fn product<T: Number>(a: Global<T>, x: Global<T>, row: u32, n: u32) -> T {
    let a = a.offset(row as u64 * n as u64);
    let mut sum = T::ZERO;
    let mut column = 0;
    while column < n {
        sum = a.read(column).mul_add(x.read(column), sum);
        column += 1;
    }
    sum + T::ZERO
}

#[device]
#[inline(always)]
fn by_rows<T: Number>(a: Global<T>, x: Global<T>, y: GlobalMut<T>, m: u32, n: u32, per_thread: u32) {
    let first = index_1d() as u64 * per_thread as u64;
    let mut row = first.min(m as u64);
    let end = (first + per_thread as u64).min(m as u64);
    while row < end {
        y.write(row as u32, product(a, x, row as u32, n));
        row += 1;
    }
}

#[device]
#[inline(always)]
fn by_columns<T: Number>(a: Global<T>, x: Global<T>, y: GlobalMut<T>, m: u32, n: u32) {
    let column = index_1d();
    if column < n {
        let x = x.read(column);
        let mut row = 0;
        while row < m {
            let element = a.offset(row as u64 * n as u64).read(column);
            element.mul_add(x, T::ZERO).add_to(y, row);
            row += 1;
        }
    }
}

/// The kernels: calls the macro `$with` with, for each type, those of a row a thread, of several rows, and of a column.
#[macro_export]
macro_rules! gemv_variants {
    ($with:ident) => {
        $with! {
            f32: linalg_gemv_row_f32, linalg_gemv_rows_f32, linalg_gemv_column_f32;
            f64: linalg_gemv_row_f64, linalg_gemv_rows_f64, linalg_gemv_column_f64;
            i32: linalg_gemv_row_i32, linalg_gemv_rows_i32, linalg_gemv_column_i32;
        }
    };
}

macro_rules! kernels {
    ($($T:ty: $row:ident, $rows:ident, $column:ident;)*) => { $(
        /// A row a thread. Neighbouring threads read a whole row apart: each access of a warp touches 32 sectors.
        ///
        /// Launch as many threads as there are rows, or more.
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $row(a: Global<$T>, x: Global<$T>, y: GlobalMut<$T>, m: u32, n: u32) {
            let row = index_1d();
            if row < m {
                y.write(row, product(a, x, row, n));
            }
        }

        /// `per_thread` consecutive rows a thread: thread `i` has the rows from `i · per_thread` on. As few threads
        /// as one likes, and accesses as far apart as can be.
        ///
        /// Launch as many threads as there are such groups of rows, or more.
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $rows(a: Global<$T>, x: Global<$T>, y: GlobalMut<$T>, m: u32, n: u32, per_thread: u32) {
            by_rows(a, x, y, m, n, per_thread);
        }

        /// A column a thread, whose products are added to `y` by atomics: accesses are whole rows, but every product
        /// is a transaction on memory that all threads want, and the order, with it the last bits of floats, differs
        /// from run to run. `y` is zero before.
        ///
        /// Launch as many threads as there are columns, or more.
        #[kernel(images = sm_75, launch_bounds(1024))]
        pub fn $column(a: Global<$T>, x: Global<$T>, y: GlobalMut<$T>, m: u32, n: u32) {
            by_columns(a, x, y, m, n);
        }
    )* };
}
gemv_variants!(kernels);
