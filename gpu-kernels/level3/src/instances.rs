//! Which types there are operations on.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::copy::{self, Copy};
use super::few;
use super::solve::{self, Solve};
use super::spread::{self, Spread};

/// The kernels: calls the macro `$with` with, for each type, how many elements are 16 bytes, the kernels of wide and of narrow
/// triangular systems and of those of a few rows, of triangles written out, and of copies.
#[macro_export]
macro_rules! level3_instances {
    ($with:ident) => {
        $with! {
            f32, 4: level3_solve_wide_f32, level3_solve_narrow_f32, level3_solve_few_f32, level3_spread_f32, level3_copy_f32;
            f64, 2: level3_solve_wide_f64, level3_solve_narrow_f64, level3_solve_few_f64, level3_spread_f64, level3_copy_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty, $v:literal: $wide:ident, $narrow:ident, $few:ident, $spread:ident, $copy:ident;)*) => { $(
        #[doc = concat!("Triangular systems of `", stringify!($T), "`: [`Solve::grid`] blocks of [`THREADS`](crate::THREADS) threads for [`WIDE`](crate::WIDE) right-hand sides, with [`solve_shared_bytes`](crate::solve_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(256, 2))]
        pub fn $wide(
            l: Global<$T>,
            b: GlobalMut<$T>,
            x: GlobalMut<$T>,
            words: GlobalMut<u32>,
            info: GlobalMut<u32>,
            alpha: $T,
            shape: Solve,
        ) {
            solve::solve::<$T, 32, 8, $v>(l, b, x, words, info, alpha, &shape);
        }

        #[doc = concat!("Triangular systems of `", stringify!($T), "`: [`Solve::grid`] blocks of [`THREADS`](crate::THREADS) threads for [`NARROW`](crate::NARROW) right-hand sides, with [`solve_shared_bytes`](crate::solve_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(256, 2))]
        pub fn $narrow(
            l: Global<$T>,
            b: GlobalMut<$T>,
            x: GlobalMut<$T>,
            words: GlobalMut<u32>,
            info: GlobalMut<u32>,
            alpha: $T,
            shape: Solve,
        ) {
            solve::solve::<$T, 4, 1, $v>(l, b, x, words, info, alpha, &shape);
        }

        #[doc = concat!("Triangular systems of up to [`FEW`](crate::FEW) rows of `", stringify!($T), "`: [`Solve::grid`] blocks of [`FEW_SIDES`](crate::FEW_SIDES) threads, with [`few_shared_bytes`](crate::few_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(64, 4))]
        pub fn $few(l: Global<$T>, b: GlobalMut<$T>, info: GlobalMut<u32>, alpha: $T, shape: Solve) {
            few::few::<$T>(l, b, info, alpha, &shape);
        }

        #[doc = concat!("Triangles of `", stringify!($T), "` written out: [`Spread::grid`] blocks of [`THREADS`](crate::THREADS) threads with [`spread_shared_bytes`](crate::spread_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $spread(a: Global<$T>, output: GlobalMut<$T>, shape: Spread) {
            spread::spread::<$T>(a, output, &shape);
        }

        #[doc = concat!("Copies of matrices of `", stringify!($T), "`: [`Copy::grid`] blocks of [`THREADS`](crate::THREADS) threads.")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $copy(from: Global<$T>, to: GlobalMut<$T>, shape: Copy) {
            copy::copy::<$T>(from, to, &shape);
        }
    )* };
}
level3_instances!(kernels);
