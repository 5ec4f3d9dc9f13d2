//! Which types there are factorisations of.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use crate::batch::Batch;
use crate::solve::{self, Solve};
use crate::step::{self, Step};
use crate::strips::{self, Strips};
use crate::{block, copy, lanes};

/// Calls the macro `$with` with, for each type, the elements of a vector, and the kernels: of matrices of at most 8,
/// 16 and 32 rows, of larger ones, of what lies below a block, of solutions, and of steps of large ones.
#[macro_export]
macro_rules! factor_instances {
    ($with:ident) => {
        $with! {
            f32, 4: factor_lanes_8_f32, factor_lanes_16_f32, factor_lanes_32_f32, factor_block_f32, factor_strips_f32, factor_solve_f32, factor_step_f32;
            f64, 2: factor_lanes_8_f64, factor_lanes_16_f64, factor_lanes_32_f64, factor_block_f64, factor_strips_f64, factor_solve_f64, factor_step_f64;
        }
    };
}

macro_rules! kernels {
    ($($T:ty, $v:literal: $lanes_8:ident, $lanes_16:ident, $lanes_32:ident, $block:ident, $strips:ident, $solve:ident, $step:ident;)*) => { $(
        kernels!(lanes $T, $v: $lanes_8 8, $lanes_16 16, $lanes_32 32);

        #[doc = concat!("Factors matrices of `", stringify!($T), "`: a block of up to [`BLOCK_THREADS`](crate::BLOCK_THREADS) threads for each, with [`block_shared_bytes`](crate::block_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(128, 4))]
        pub fn $block(
            from: Global<$T>,
            to: GlobalMut<$T>,
            scratch: GlobalMut<$T>,
            info: GlobalMut<u32>,
            table: Global<u64>,
            batch: Batch,
        ) {
            block::block::<$T, $v>(from, to, scratch, info, table, &batch);
        }

        #[doc = concat!("Solves for the rows below a factored block of `", stringify!($T), "`: a block of [`STRIP_ROWS`](crate::STRIP_ROWS) threads for as many rows, with [`strips_shared_bytes`](crate::strips_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(64, 8))]
        pub fn $strips(a: GlobalMut<$T>, scratch: GlobalMut<$T>, shape: Strips) {
            strips::strips::<$T, $v>(a, scratch, &shape);
        }

        #[doc = concat!("Solves systems of `", stringify!($T), "`: [`Solve::blocks`] blocks of 32 threads for each matrix, with [`solve_shared_bytes`](crate::solve_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(32, 16))]
        pub fn $solve(l: Global<$T>, b: GlobalMut<$T>, table: Global<u64>, batch: Batch, shape: Solve) {
            solve::solve::<$T, $v>(l, b, table, &batch, &shape);
        }
    )* };
    (lanes $T:ty, $v:literal: $($name:ident $n:literal),*) => { $(
        #[doc = concat!("Factors matrices of `", stringify!($T), "` of at most ", stringify!($n), " rows: a block of [`LANES_THREADS`](crate::LANES_THREADS) threads for every ")]
        #[doc = concat!("`LANES_THREADS / ", stringify!($n), "` of them, with [`lanes_shared_bytes`](crate::lanes_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds(128, 4))]
        pub fn $name(from: Global<$T>, to: GlobalMut<$T>, info: GlobalMut<u32>, table: Global<u64>, batch: Batch) {
            lanes::lanes::<$T, $n, $v>(from, to, info, table, &batch);
        }
    )* };
}
factor_instances!(kernels);

macro_rules! steps {
    ($($name:ident: $T:ty, $v:literal, $bounds:tt;)*) => { $(
        #[doc = concat!("A step of a large matrix of `", stringify!($T), "`: [`Step::grid`] blocks of [`STEP_THREADS`](crate::STEP_THREADS) threads with [`step_shared_bytes`](crate::step_shared_bytes).")]
        #[kernel(images = sm_75, launch_bounds $bounds)]
        pub fn $name(a: GlobalMut<$T>, scratch: GlobalMut<$T>, info: GlobalMut<u32>, shape: Step) {
            step::step::<$T, $v>(a, scratch, info, &shape);
        }
    )* };
}
steps! {
    factor_step_f32: f32, 4, (224, 2);
    // A second block of a multiprocessor would leave 128 registers, and a stack of 64 bytes: on an H200 8192 rows took
    // 9.5 ms in the place of 8.9, 512 took 263 µs in the place of 236; only 16,384 gained, 43.2 ms beside 45.0.
    factor_step_f64: f64, 2, (224, 1);
}

macro_rules! copies {
    ($($name:ident: $T:ty, $U:ty;)*) => { $(
        #[doc = concat!("Copies a matrix of `", stringify!($T), "` to one of `", stringify!($U), "`: a block of [`COPY_THREADS`](crate::COPY_THREADS) threads for each tile of [`COPY_TILE`](crate::COPY_TILE)².")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $name(from: Global<$T>, to: GlobalMut<$U>, shape: copy::Copy, scale: f64) {
            copy::copy::<$T, $U>(from, to, &shape, scale);
        }
    )* };
}
copies! {
    factor_copy_f32: f32, f32;
    factor_copy_f64: f64, f64;
    factor_narrow: f64, f32;
    factor_widen: f32, f64;
}
