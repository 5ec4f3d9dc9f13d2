//! Which products the PTX modules hold. Those with `starts` take batches whose matrices start where a table says, too.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{grid_dependency_synchronize, trigger_launch_completion};

use super::aligned::{self, aligned};
use super::bulk::{self, bulk};
use super::finish::{Parts, finish};
use super::large::large;
use super::operand::Product;
use super::place::listed;
use super::short::{self, short};
use super::small::{self, small};
use super::tensor::{self, tensor};
use super::tiled::{Tile, tiled};

macro_rules! tiled_products {
    ($($name:ident, $images:ident, $constant:ident: $T:ty, $blocks:literal,
        $bm:literal x $bn:literal x $bk:literal in $stages:literal stages,
        $threads:literal threads of $tm:literal x $tn:literal, $v:literal $(, $starts:ident)?;)*) => { $(
        #[doc = concat!("The tile of [`", stringify!($name), "()`].")]
        pub const $constant: Tile = Tile {
            rows: $bm,
            columns: $bn,
            depth: $bk,
            threads: $threads,
            stages: $stages,
            bytes: size_of::<$T>() as u32,
        };

        #[doc = concat!("Products of `", stringify!($T), "`, ", stringify!($bm), " × ", stringify!($bn), " elements of C a block.")]
        ///
        /// Launch [`Tile::count`] blocks of [`Tile::threads`] threads for each product of the batch, with
        /// [`Tile::shared_bytes`].
        #[kernel(images = $images, launch_bounds($threads, $blocks))]
        pub fn $name(
            a: Global<$T>,
            b: Global<$T>,
            c: GlobalMut<$T>,
            $($starts: Global<u64>,)?
            product: Product,
            alpha: $T,
            beta: $T,
        ) {
            $(let (a, b, c) = listed((a, b, c), $starts, &product);)?
            tiled::<$T, $bm, $bn, $bk, $stages, $threads, $tm, $tn, $v>(a, b, c, product, alpha, beta);
        }
    )* };
}

// What a warp reads of shared memory takes as long as it multiplies with 8 × 8 elements a thread, less with 4 × 8, and
// twice as long with 4 × 4: the last is for products of few rows, which wait for memory anyhow.
// Where tiles are few what counts are warps: 64 threads of 8 × 8 for the tile of 64 × 64 left two of a
// multiprocessor's schedulers idle, and 1614 × 45 × 9920 took 90.6 µs on an H100 for 72.1.
tiled_products! {
    linalg_gemm_medium_f32, sm_75_80, GEMM_MEDIUM_F32: f32, 4, 64 x 64 x 16 in 4 stages,
        128 threads of 4 x 8, 4, starts;
    linalg_gemm_low_f32, sm_80, GEMM_LOW_F32: f32, 4, 32 x 128 x 16 in 4 stages, 128 threads of 4 x 8, 4;
    linalg_gemm_flat_f32, sm_80, GEMM_FLAT_F32: f32, 3, 16 x 128 x 32 in 3 stages, 128 threads of 4 x 4, 4;
    linalg_gemm_f64, sm_75, GEMM_F64: f64, 2, 64 x 64 x 8 in 4 stages, 256 threads of 4 x 4, 2;
}

macro_rules! tensor_products {
    ($($name:ident, $constant:ident: $blocks:literal, $bm:literal x $bn:literal,
        $threads:literal threads of $tm:literal x $tn:literal $(, $starts:ident)?;)*) => { $(
        #[doc = concat!("The tile of [`", stringify!($name), "()`].")]
        pub const $constant: Tile = Tile {
            rows: $bm,
            columns: $bn,
            depth: tensor::DEPTH,
            threads: $threads,
            stages: tensor::STAGES,
            bytes: size_of::<f64>() as u32,
        };

        #[doc = concat!("Products of `f64` on the tensor cores, ", stringify!($bm), " × ", stringify!($bn), " elements of C a block.")]
        ///
        /// Launch [`Tile::count`] blocks of [`Tile::threads`] threads for each product of the batch, with
        /// [`Tile::shared_bytes`].
        #[kernel(images = sm_80_90, launch_bounds($threads, $blocks))]
        pub fn $name(
            a: Global<f64>,
            b: Global<f64>,
            c: GlobalMut<f64>,
            $($starts: Global<u64>,)?
            product: Product,
            alpha: f64,
            beta: f64,
        ) {
            $(let (a, b, c) = listed((a, b, c), $starts, &product);)?
            tensor::<$bm, $bn, $threads, $tm, $tn>(a, b, c, product, alpha, beta);
        }
    )* };
}

// Of tiles of 64 × 64 a multiprocessor often has one or two: eight warps a tile keep its schedulers busier than four
// (an update of 275² by 3457 took 29.9 µs on an H100, by eight warps 23.6), which are faster where tiles are many.
tensor_products! {
    linalg_gemm_tensor_f64, GEMM_TENSOR_F64: 1, 128 x 128, 256 threads of 4 x 2;
    linalg_gemm_tensor_medium_f64, GEMM_TENSOR_MEDIUM_F64: 3, 64 x 64, 128 threads of 2 x 2, starts;
    linalg_gemm_tensor_halves_f64, GEMM_TENSOR_HALVES_F64: 2, 64 x 64, 256 threads of 1 x 2;
    linalg_gemm_tensor_flat_f64, GEMM_TENSOR_FLAT_F64: 3, 16 x 128, 128 threads of 1 x 2;
}

macro_rules! aligned_products {
    ($($name:ident: $a:literal, $b:literal, $which:literal;)*) => { $(
        #[doc = concat!("Products of `f64` by 16 bytes on tensor cores, where ", $which, " contiguous along `k`.")]
        ///
        /// Launch [`Tile::count`] blocks of [`aligned::TILE`](super::aligned::TILE) for each product of the batch, with
        /// [`aligned::shared_bytes`](super::aligned::shared_bytes), and operands of
        /// [`aligned::operand`](super::aligned::operand).
        #[kernel(images = sm_90, launch_bounds(128, 2))]
        pub fn $name(a: Global<f64>, b: Global<f64>, c: GlobalMut<f64>, product: Product, alpha: f64, beta: f64) {
            const TILE: Tile = aligned::TILE;
            const THREADS: u32 = TILE.threads;
            aligned::<{ TILE.rows }, { TILE.columns }, THREADS, 4, 2, $a, $b>(a, b, c, product, alpha, beta);
        }
    )* };
}

aligned_products! {
    linalg_gemm_aligned_nn_f64: true, false, "A is";
    linalg_gemm_aligned_nt_f64: true, true, "both factors are";
    linalg_gemm_aligned_tn_f64: false, false, "no factor is";
    linalg_gemm_aligned_tt_f64: false, true, "B is";
}

macro_rules! bulk_products {
    ($($name:ident: $a:literal, $b:literal, $which:literal;)*) => { $(
        #[doc = concat!("Products of `f64` by the copy engine, where ", $which, " contiguous along `k`.")]
        ///
        /// Launch [`Tile::count`] blocks of [`bulk::TILE`](super::bulk::TILE) for each product of the batch, with
        /// [`bulk::shared_bytes`](super::bulk::shared_bytes), and maps of the factors with boxes of
        /// [`bulk::boxes`](super::bulk::boxes).
        #[kernel(images = sm_90, launch_bounds(256, 1))]
        pub fn $name(a: TensorMap, b: TensorMap, c: GlobalMut<f64>, product: Product, alpha: f64, beta: f64) {
            const TILE: Tile = bulk::TILE;
            const THREADS: u32 = TILE.threads;
            bulk::<{ TILE.rows }, { TILE.columns }, THREADS, 4, 2, $a, $b>((&a, &b), c, product, alpha, beta);
        }
    )* };
}

bulk_products! {
    linalg_gemm_bulk_nn_f64: true, false, "A is";
    linalg_gemm_bulk_nt_f64: true, true, "both factors are";
    linalg_gemm_bulk_tn_f64: false, false, "no factor is";
    linalg_gemm_bulk_tt_f64: false, true, "B is";
}

macro_rules! large_products {
    ($($name:ident: $a:literal, $b:literal, $which:literal;)*) => { $(
        #[doc = concat!("Products of `f32` by the largest tiles, ", $which, " by 16 bytes.")]
        ///
        /// Launch [`Tile::count`] blocks of [`large::TILE`](super::large::TILE) for each product of the batch, with
        /// [`Tile::shared_bytes`], and operands of [`large::operand`](super::large::operand).
        #[kernel(images = sm_80, launch_bounds(128, 2))]
        pub fn $name(a: Global<f32>, b: Global<f32>, c: GlobalMut<f32>, product: Product, alpha: f32, beta: f32) {
            large::<$a, $b>(a, b, c, product, alpha, beta);
        }
    )* };
}

large_products! {
    linalg_gemm_large_f32: 1, 1, "no factor";
    linalg_gemm_large_b_f32: 1, 4, "B";
    linalg_gemm_large_ab_f32: 4, 4, "both factors";
}

macro_rules! finishes {
    ($($name:ident: $T:ty;)*) => { $(
        #[doc = concat!("Adds the parts of sums of `", stringify!($T), "`: a thread for each element of C, in blocks of [`FINISH_THREADS`](super::FINISH_THREADS).")]
        #[kernel(images = sm_75_90, launch_bounds(256), programmatic)]
        pub fn $name(partials: Global<$T>, c: GlobalMut<$T>, parts: Parts, alpha: $T, beta: $T) {
            grid_dependency_synchronize();
            trigger_launch_completion();
            finish::<$T>(partials, c, &parts, (alpha, beta));
        }
    )* };
}

finishes! {
    linalg_gemm_finish_f32: f32;
    linalg_gemm_finish_f64: f64;
}

macro_rules! short_products {
    ($($name:ident, $constant:ident: $T:ty, $columns:literal a thread;)*) => { $(
        #[doc = concat!("Columns of C that a thread of [`", stringify!($name), "()`] computes.")]
        pub const $constant: u32 = $columns;

        #[doc = concat!("Products of short sums of `", stringify!($T), "`, [`short::tile`](super::short::tile) of C a block.")]
        ///
        /// Launch as many blocks of [`short::THREADS`](super::short::THREADS) threads as there are for each product of the batch. There is one part.
        #[kernel(images = sm_75, launch_bounds(256, 2))]
        pub fn $name(a: Global<$T>, b: Global<$T>, c: GlobalMut<$T>, product: Product, alpha: $T, beta: $T) {
            short::<$T, $columns, { short::flight(size_of::<$T>()) }>(a, b, c, &product, (alpha, beta));
        }
    )* };
}

short_products! {
    linalg_gemm_short_f32, SHORT_COLUMNS_F32: f32, 4 a thread;
    linalg_gemm_short_f64, SHORT_COLUMNS_F64: f64, 2 a thread;
}

macro_rules! small_products {
    ($($name:ident: $T:ty, $v:literal;)*) => { $(
        #[doc = concat!("Products of small matrices of `", stringify!($T), "`, [`TILE`](super::small::TILE)² elements of C a block.")]
        ///
        /// Launch as many blocks of [`small::THREADS`](super::small::THREADS) threads as there are for each part of each product of the
        /// batch, with [`small::shared_bytes`](super::small::shared_bytes).
        #[kernel(images = sm_75, launch_bounds(256, 3))]
        pub fn $name(
            a: Global<$T>,
            b: Global<$T>,
            c: GlobalMut<$T>,
            starts: Global<u64>,
            product: Product,
            alpha: $T,
            beta: $T,
        ) {
            let (a, b, c) = listed((a, b, c), starts, &product);
            small::<$T, $v, { small::loads(size_of::<$T>()) }>(a, b, c, &product, (alpha, beta));
        }
    )* };
}

small_products! {
    linalg_gemm_small_f32: f32, 4;
    linalg_gemm_small_f64: f64, 2;
}
