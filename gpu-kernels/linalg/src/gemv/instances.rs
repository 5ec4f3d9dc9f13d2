//! Which products of a matrix and a vector the PTX modules hold.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{grid_dependency_synchronize, trigger_launch_completion};

use super::Shape;
pub use super::across::{lines_per_round, results_per_block};
pub use super::along::lines_per_block;

/// The kernels: calls the macro `$with` with, for each type, that of its sums, the elements of a vector, and the kernels that
/// sum along lines, across them, and that add the pieces.
#[macro_export]
macro_rules! gemv_instances {
    ($with:ident) => {
        $with! {
            f32, f32, 4: linalg_gemv_along_f32, linalg_gemv_across_f32, linalg_gemv_finish_f32;
            f64, f64, 2: linalg_gemv_along_f64, linalg_gemv_across_f64, linalg_gemv_finish_f64;
            f16, f32, 8: linalg_gemv_along_f16, linalg_gemv_across_f16, linalg_gemv_finish_f16;
            bf16, f32, 8: linalg_gemv_along_bf16, linalg_gemv_across_bf16, linalg_gemv_finish_bf16;
        }
    };
}

macro_rules! products {
    ($($T:ty, $Sum:ty, $v:literal: $along:ident, $across:ident, $finish:ident;)*) => { $(
        #[doc = concat!("Sums along lines of `", stringify!($T), "`: blocks of [`THREADS`](super::THREADS), each [`lines_per_block`], for each piece.")]
        #[kernel(images = sm_75_90, launch_bounds(256, 3), programmatic)]
        pub fn $along(
            a: Global<$T>,
            x: Global<$T>,
            y: GlobalMut<$T>,
            partials: GlobalMut<$Sum>,
            shape: Shape,
            alpha: $Sum,
            beta: $Sum,
        ) {
            // The next launch may begin when this one ends, not before: blocks of it that wait in the place of these
            // cost more (4096 × 4096 `f32` in batches on an H200: 23.0 µs, 17.4 so, 18.4 without programmatic
            // launches).
            grid_dependency_synchronize();
            super::along::along::<$T, $v>(a, x, y, partials, &shape, (alpha, beta));
        }

        #[doc = concat!("Sums across lines of `", stringify!($T), "`: blocks of [`ACROSS_THREADS`](super::ACROSS_THREADS), each [`results_per_block`], for each piece, with [`shared_bytes`](super::shared_bytes).")]
        #[kernel(images = sm_75_90, launch_bounds(512, 2), programmatic)]
        pub fn $across(
            a: Global<$T>,
            x: Global<$T>,
            y: GlobalMut<$T>,
            partials: GlobalMut<$Sum>,
            shape: Shape,
            alpha: $Sum,
            beta: $Sum,
        ) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            super::across::across::<$T, $v>(a, x, y, partials, &shape, (alpha, beta));
        }

        #[doc = concat!("Adds the pieces of sums of `", stringify!($T), "`: a thread for each result, in blocks of [`THREADS`](super::THREADS).")]
        #[kernel(images = sm_75_90, launch_bounds(256), programmatic)]
        pub fn $finish(partials: Global<$Sum>, y: GlobalMut<$T>, shape: Shape, alpha: $Sum, beta: $Sum) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            super::finish::finish::<$T>(partials, y, &shape, (alpha, beta));
        }
    )* };
}
gemv_instances!(products);
