//! Which products the PTX modules hold. Copies, products and the addition of parts follow each other closely, so that
//! all are programmatic: a launch costs a few microseconds where the whole product takes ten.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{grid_dependency_synchronize, trigger_launch_completion};

use crate::epilogue::{Plain, Usual};
use crate::finish::finish;
use crate::lanes::{self, Factors};
use crate::pack::{self, Packing};
use crate::place::Product;
use crate::rows::Classes;
use crate::warps::{ACROSS, ALONG, EITHER};
use crate::{pairs, thin, warps};

// Each macro takes a type of sums, what its kernels' epilogue adds to their parameters, the epilogue, and rows.

macro_rules! products_by_warps {
    ($Scale:ident, $more:tt $epilogue:expr; $($name:ident: $T:ident, $sums:literal, $lies:ident, $bounds:tt;)*) => {
        $( products_by_warps! { @one $Scale, $more $epilogue, $name: $T, $sums, $lies, $bounds } )*
    };
    (
        @one $Scale:ident, ($($more:tt)*) $epilogue:expr,
        $name:ident: $T:ident, $sums:literal, $lies:ident, $bounds:tt
    ) => {
        /// A product of matrices in boxes of [`boxes`](crate::boxes) by blocks of [`threads`](crate::threads()) threads
        /// with [`shared_bytes`](crate::shared_bytes()), at most as many as C has tiles of [`ROWS`](crate::ROWS) ×
        /// [`columns`](crate::columns()).
        #[kernel(images = sm_90a, launch_bounds $bounds, programmatic)]
        pub fn $name(
            a: TensorMap,
            b: TensorMap,
            c: GlobalMut<$T>,
            product: Product,
            alpha: $Scale,
            beta: $Scale,
            $($more)*
        ) {
            let classes = Classes { count: 1, ..Classes::default() };
            warps::product::<$T, _, $sums, { $sums / 16 }, { $sums / 32 }, { $sums / 64 }, { $lies }>(
                ([&a; 4], classes), &b, c, product, alpha, beta, $epilogue,
            );
        }
    };
}
// How many sums a thread has, how A lies, and how many blocks a multiprocessor has.
products_by_warps! {
    f32, (bias: Global<f32>, usual: Usual) (bias, usual);
    tensor_bf16_256: bf16, 128, ALONG, (384, 1);
    tensor_bf16_256_across: bf16, 128, ACROSS, (384, 1);
    tensor_bf16_128: bf16, 64, EITHER, (288, 2);
    tensor_f16_256: f16, 128, ALONG, (384, 1);
    tensor_f16_256_across: f16, 128, ACROSS, (384, 1);
    tensor_f16_128: f16, 64, EITHER, (288, 2);
}
products_by_warps! {
    i32, () Plain;
    tensor_i8_256: i8, 128, ALONG, (384, 1);
    tensor_i8_128: i8, 64, ALONG, (288, 2);
}

macro_rules! products_of_tf32 {
    ($($name:ident: $sums:literal, $lies:ident, $bounds:tt;)*) => { $(
        /// The same of tf32, whose A comes as it lies, in boxes of [`boxes`](crate::boxes) by its first map or, where
        /// its lines are in classes, in boxes of [`class_box`](crate::class_box).
        #[kernel(images = sm_90a, launch_bounds $bounds, programmatic)]
        pub fn $name(
            a: TensorMap,
            second: TensorMap,
            third: TensorMap,
            fourth: TensorMap,
            classes: Classes,
            b: TensorMap,
            c: GlobalMut<f32>,
            product: Product,
            alpha: f32,
            beta: f32,
            bias: Global<f32>,
            usual: Usual,
        ) {
            let maps = [&a, &second, &third, &fourth];
            warps::product::<f32, _, $sums, { $sums / 16 }, { $sums / 32 }, { $sums / 64 }, { $lies }>(
                (maps, classes), &b, c, product, alpha, beta, (bias, usual),
            );
        }
    )* };
}
products_of_tf32! {
    tensor_tf32_256: 128, ALONG, (384, 1);
    tensor_tf32_128: 64, EITHER, (288, 2);
}

macro_rules! products_by_pairs {
    ($($name:ident: $T:ident;)*) => { $(
        /// A product of matrices in boxes of [`pair_boxes`](crate::pair_boxes) by clusters of [`PAIR`](crate::PAIR)
        /// blocks of [`threads`](crate::threads()) threads with [`PAIR_SHARED_BYTES`](crate::PAIR_SHARED_BYTES), at
        /// most as many clusters as C has tiles of [`PAIR`](crate::PAIR) · [`ROWS`](crate::ROWS) ×
        /// [`columns`](crate::columns()), for [`PAIR_SUMS`](crate::PAIR_SUMS) sums a thread. `lines` is C in boxes of
        /// [`output_box`](crate::output_box), where `product` says that 16 bytes of C may be accessed at once, and
        /// else anything.
        #[kernel(images = sm_90a, launch_bounds(384, 1), cluster = 2)]
        pub fn $name(
            a: TensorMap,
            b: TensorMap,
            lines: TensorMap,
            c: GlobalMut<$T>,
            product: Product,
            alpha: f32,
            beta: f32,
            bias: Global<f32>,
            usual: Usual,
        ) {
            pairs::product::<$T, _>([&a, &b, &lines], c, product, alpha, beta, (bias, usual));
        }
    )* };
}
products_by_pairs! {
    tensor_bf16_pairs: bf16;
    tensor_f16_pairs: f16;
}

macro_rules! products_of_matrices {
    ($Scale:ident, $more:tt $epilogue:expr; $($name:ident, $images:ident: $by:ident, $T:ident, $numbers:tt;)*) => {
        $( products_of_matrices! { @one $Scale, $more $epilogue, $name, $images: $by, $T, $numbers } )*
    };
    (
        @one $Scale:ident, ($($more:tt)*) $epilogue:expr,
        $name:ident, $images:ident: $by:ident, $T:ident, ($($number:literal),*)
    ) => {
        #[doc = products_of_matrices!(@doc $by)]
        #[kernel(images = $images, launch_bounds(256, 2), programmatic)]
        pub fn $name(
            a: Global<$T>,
            b: Global<$T>,
            c: GlobalMut<$T>,
            starts: Global<u64>,
            product: Product,
            factors: Factors,
            alpha: $Scale,
            beta: $Scale,
            $($more)*
        ) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            let (a, b, c) = factors.listed((a, b, c), starts, product.narrow);
            $by::product::<$T, _, $($number),*>(a, b, c, product, factors, alpha, beta, $epilogue);
        }
    };
    (@doc lanes) => {
        "A product of matrices by blocks of [`LANES_THREADS`](crate::LANES_THREADS) threads with \
        [`LANES_SHARED_BYTES`](crate::LANES_SHARED_BYTES), one for each tile of [`TILE`](crate::TILE)² of C."
    };
    (@doc thin) => {
        "A product of matrices by blocks of [`THIN_THREADS`](crate::THIN_THREADS) threads with \
        [`THIN_SHARED_BYTES`](crate::THIN_SHARED_BYTES), one for each tile of [`THIN_TILE`](crate::THIN_TILE) of C."
    };
}
// Elements of 16 bytes, and of four, and of B that a thread has of a stage.
products_of_matrices! {
    f32, (bias: Global<f32>, usual: Usual) (bias, usual);
    tensor_bf16, sm_80_90: lanes, bf16, (8);
    tensor_f16, sm_75_80_90: lanes, f16, (8);
    tensor_tf32, sm_80_90: lanes, f32, (4);
    tensor_thin_bf16, sm_80_90: thin, bf16, (8, 2, 8);
    tensor_thin_f16, sm_80_90: thin, f16, (8, 2, 8);
    tensor_thin_tf32, sm_80_90: thin, f32, (4, 1, 4);
}
products_of_matrices! {
    i32, () Plain;
    tensor_i8, sm_80_90: lanes, i8, (16);
    tensor_thin_i8, sm_80_90: thin, i8, (16, 4, 16);
}

macro_rules! finishes {
    ($Scale:ident, $more:tt $epilogue:expr; $($name:ident, $images:ident: $T:ident;)*) => {
        $( finishes! { @one $Scale, $more $epilogue, $name, $images: $T } )*
    };
    (@one $Scale:ident, ($($more:tt)*) $epilogue:expr, $name:ident, $images:ident: $T:ident) => {
        /// Adds the parts of sums: of [`finished`](crate::finished()) vectors of C in a block of
        /// [`FINISH_THREADS`](crate::FINISH_THREADS) threads with [`FINISH_SHARED_BYTES`](crate::FINISH_SHARED_BYTES).
        #[kernel(images = $images, launch_bounds(256), programmatic)]
        pub fn $name(
            partials: Global<$Scale>,
            c: GlobalMut<$T>,
            product: Product,
            alpha: $Scale,
            beta: $Scale,
            $($more)*
        ) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            finish::<$T, _>(partials, c, &product, (alpha, beta), $epilogue);
        }
    };
}
finishes! {
    f32, (bias: Global<f32>, usual: Usual) (bias, usual);
    tensor_finish_bf16, sm_80_90: bf16;
    tensor_finish_f16, sm_75_80_90: f16;
}
finishes! { i32, () Plain; tensor_finish_i8, sm_80_90: i8; }

// The copies do not let the product's blocks begin before all of them have ended: where there is no more than one block
// for each multiprocessor, two would go to one whose copies end early (on an H100 1019 × 1023 × 52,380 of `tf32` took
// 1434 µs so, and 898 by plain launches).

/// Copies factors of 16 bits into aligned lines, by blocks of [`PACK_THREADS`](crate::PACK_THREADS) threads.
#[kernel(images = sm_80_90, launch_bounds(256), programmatic)]
pub fn tensor_pack_16(a: Global<u16>, b: Global<u16>, packed: GlobalMut<u32>, packing: Packing) {
    grid_dependency_synchronize();
    pack::halves(a, b, packed, &packing);
}

/// Copies factors of `f32` into aligned lines along `k`, rounded to tf32, by blocks of [`PACK_THREADS`](crate::PACK_THREADS) threads
/// with [`PACK_SHARED_BYTES`](crate::PACK_SHARED_BYTES).
#[kernel(images = sm_80_90, launch_bounds(256), programmatic)]
pub fn tensor_pack_tf32(a: Global<u32>, b: Global<u32>, packed: GlobalMut<u32>, packing: Packing) {
    grid_dependency_synchronize();
    pack::tf32(a, b, packed, &packing);
}

/// Copies factors of bytes into aligned lines along `k`, by blocks of [`PACK_THREADS`](crate::PACK_THREADS) threads
/// with [`PACK_SHARED_BYTES`](crate::PACK_SHARED_BYTES).
#[kernel(images = sm_80_90, launch_bounds(256), programmatic)]
pub fn tensor_pack_i8(a: Global<u8>, b: Global<u8>, packed: GlobalMut<u32>, packing: Packing) {
    grid_dependency_synchronize();
    pack::bytes(a, b, packed, &packing);
}
