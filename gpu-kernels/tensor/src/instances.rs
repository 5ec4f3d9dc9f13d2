//! Which products the PTX modules hold.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::TensorMap;

use crate::lanes::{self, Factors};
use crate::place::Product;
use crate::warps;

macro_rules! products_by_warps {
    ($($T:ident: $($name:ident $a:literal $b:literal)*;)*) => { $( $(
        /// A product of matrices in boxes of [`boxes`](crate::boxes) by blocks of [`THREADS`](crate::THREADS) threads
        /// with [`SHARED_BYTES`](crate::SHARED_BYTES), at most as many as C has tiles of [`ROWS`](crate::ROWS) ×
        /// [`COLUMNS`](crate::COLUMNS).
        #[kernel(images = sm_90a, launch_bounds(384, 1))]
        pub fn $name(a: TensorMap, b: TensorMap, c: GlobalMut<$T>, product: Product, alpha: f32, beta: f32) {
            warps::product::<$T, $a, $b>(&a, &b, c, product, alpha, beta);
        }
    )* )* };
}
// Whether A and B are contiguous across `k`: of row-major matrices A is not and B is.
products_by_warps! {
    bf16: tensor_bf16_nn false true tensor_bf16_nt false false tensor_bf16_tn true true tensor_bf16_tt true false;
    f16: tensor_f16_nn false true tensor_f16_nt false false tensor_f16_tn true true tensor_f16_tt true false;
}

macro_rules! products_by_lanes {
    ($($T:ident: $name:ident;)*) => { $(
        /// A product of matrices by blocks of [`LANES_THREADS`](crate::LANES_THREADS) threads with
        /// [`LANES_SHARED_BYTES`](crate::LANES_SHARED_BYTES), one for each tile of [`TILE`](crate::TILE)² of C.
        #[kernel(images = sm_80, launch_bounds(256, 2))]
        pub fn $name(
            a: Global<$T>,
            b: Global<$T>,
            c: GlobalMut<$T>,
            product: Product,
            factors: Factors,
            alpha: f32,
            beta: f32,
        ) {
            lanes::product::<$T>(a, b, c, product, factors, alpha, beta);
        }
    )* };
}
products_by_lanes! {
    bf16: tensor_bf16;
    f16: tensor_f16;
}
