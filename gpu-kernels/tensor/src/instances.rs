//! Which products the PTX modules hold.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::GlobalMut;
use gpu_std::tensor_map::TensorMap;

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
