//! Which types there are operations on.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::invert::{self, Invert};
use super::merge::{self, Merge};
use super::spread::{self, Spread};

/// The kernels: calls the macro `$with` with, for each type, those of inverses, of triangles written out, and of sums
/// that go into a triangle.
#[macro_export]
macro_rules! level3_instances {
    ($with:ident) => {
        $with! {
            f32: level3_invert_f32, level3_spread_f32, level3_merge_f32;
            f64: level3_invert_f64, level3_spread_f64, level3_merge_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty: $invert:ident, $spread:ident, $merge:ident;)*) => { $(
        #[doc = concat!("Inverses of triangles of `", stringify!($T), "`: [`Invert::grid`] blocks of [`THREADS`](crate::THREADS) threads with [`shared_bytes`](crate::shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(256, 3))]
        pub fn $invert(
            a: Global<$T>,
            inverses: GlobalMut<$T>,
            apart: GlobalMut<$T>,
            info: GlobalMut<u32>,
            shape: Invert,
        ) {
            invert::invert::<$T>(a, inverses, apart, info, &shape);
        }

        #[doc = concat!("Triangles of `", stringify!($T), "` written out: [`Spread::grid`] blocks of [`THREADS`](crate::THREADS) threads with [`spread_shared_bytes`](crate::spread_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $spread(a: Global<$T>, output: GlobalMut<$T>, shape: Spread) {
            spread::spread::<$T>(a, output, &shape);
        }

        #[doc = concat!("Sums of `", stringify!($T), "` that go into a triangle: [`Merge::grid`] blocks of [`THREADS`](crate::THREADS) threads.")]
        #[kernel(images = sm_75, launch_bounds(256, 4))]
        pub fn $merge(sums: Global<$T>, c: GlobalMut<$T>, shape: Merge, alpha: $T, beta: $T) {
            merge::merge::<$T>(sums, c, &shape, alpha, beta);
        }
    )* };
}
level3_instances!(kernels);
