//! Which scans there are.
//!
//! Sums and products that wrap, and bits, are the same for signed and unsigned integers, so there is one kernel for
//! both. Minima and maxima of either, and what all and what any have, are the same but for bits that are flipped on
//! their way in and out ([`Flip`]).
//!
//! Sums have an image for 9.0, on which blocks come while the launch before still runs: a microsecond of a short scan. It
//! is another kernel to be assembled and checked for each architecture since, which the others are spared.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::columns::{self, Lines, columns_flipped};
use super::segmented::{Starts, segments_flipped};
use super::*;

/// The kernels: calls the macro `$with` with, for each operator, the operators whose bits are the same, and behind a `|`
/// those whose bits are when they are flipped; the elements of a vector, the words of it in the input and the vectors of a
/// thread, of arrays and of segments; of whole arrays the images, the blocks that shall fit on a multiprocessor and the
/// kernel; of segments the blocks and the kernel; along columns the blocks, the rows of a warp and the kernel.
#[macro_export]
macro_rules! scan_instances {
    ($with:ident) => {
        $with! {
            Sum<f32>; 4, 4, 4;
                sm_75_90, 5, scan_sum_f32; 4, scan_segments_sum_f32; 4, 16, scan_columns_sum_f32;
            WideSum<f32>; 2, 2, 5;
                sm_75_90, 4, scan_wide_sum_f32; 3, scan_segments_wide_sum_f32; 3, 8, scan_columns_wide_sum_f32;
            Product<f32>; 4, 4, 4;
                sm_75, 4, scan_product_f32; 4, scan_segments_product_f32; 4, 16, scan_columns_product_f32;
            Min<f32> | flip: Max<f32>; 4, 4, 4;
                sm_75, 4, scan_min_f32; 4, scan_segments_min_f32; 4, 16, scan_columns_min_f32;
            Sum<f64>; 2, 4, 5;
                sm_75_90, 4, scan_sum_f64; 3, scan_segments_sum_f64; 3, 8, scan_columns_sum_f64;
            Product<f64>; 2, 4, 5;
                sm_75, 3, scan_product_f64; 3, scan_segments_product_f64; 3, 8, scan_columns_product_f64;
            Min<f64> | flip: Max<f64>; 2, 4, 5;
                sm_75, 3, scan_min_f64; 3, scan_segments_min_f64; 3, 8, scan_columns_min_f64;
            Sum<f16>; 8, 4, 4;
                sm_75_90, 4, scan_sum_f16; 3, scan_segments_sum_f16; 4, 16, scan_columns_sum_f16;
            WideSum<f16>; 4, 2, 4;
                sm_75_90, 4, scan_wide_sum_f16; 4, scan_segments_wide_sum_f16; 4, 16, scan_columns_wide_sum_f16;
            Product<f16>; 8, 4, 4;
                sm_75, 4, scan_product_f16; 3, scan_segments_product_f16; 4, 16, scan_columns_product_f16;
            Min<f16> | flip: Max<f16>; 8, 4, 4;
                sm_75, 4, scan_min_f16; 3, scan_segments_min_f16; 4, 16, scan_columns_min_f16;
            Sum<bf16>; 8, 4, 4;
                sm_75_90, 4, scan_sum_bf16; 3, scan_segments_sum_bf16; 4, 16, scan_columns_sum_bf16;
            WideSum<bf16>; 4, 2, 4;
                sm_75_90, 4, scan_wide_sum_bf16; 4, scan_segments_wide_sum_bf16; 4, 16, scan_columns_wide_sum_bf16;
            Product<bf16>; 8, 4, 4;
                sm_75, 4, scan_product_bf16; 3, scan_segments_product_bf16; 4, 16, scan_columns_product_bf16;
            Min<bf16> | flip: Max<bf16>; 8, 4, 4;
                sm_75, 4, scan_min_bf16; 3, scan_segments_min_bf16; 4, 16, scan_columns_min_bf16;
            Sum<u8>, Sum<i8>; 16, 4, 4;
                sm_75_90, 4, scan_sum_u8; 2, scan_segments_sum_u8; 4, 16, scan_columns_sum_u8;
            WideSum<u8>; 4, 1, 4;
                sm_75_90, 4, scan_wide_sum_u8; 4, scan_segments_wide_sum_u8; 4, 16, scan_columns_wide_sum_u8;
            WideSum<i8>; 4, 1, 4;
                sm_75_90, 4, scan_wide_sum_i8; 4, scan_segments_wide_sum_i8; 4, 16, scan_columns_wide_sum_i8;
            Product<u8>, Product<i8>; 16, 4, 4;
                sm_75, 4, scan_product_u8; 2, scan_segments_product_u8; 4, 16, scan_columns_product_u8;
            Min<u8> | flip: Max<u8>, Min<i8>, Max<i8>; 16, 4, 4;
                sm_75, 4, scan_min_u8; 2, scan_segments_min_u8; 4, 16, scan_columns_min_u8;
            And<u8> | flip: And<i8>, Or<u8>, Or<i8>; 16, 4, 4;
                sm_75, 4, scan_and_u8; 2, scan_segments_and_u8; 4, 16, scan_columns_and_u8;
            Xor<u8>, Xor<i8>; 16, 4, 4;
                sm_75, 4, scan_xor_u8; 2, scan_segments_xor_u8; 4, 16, scan_columns_xor_u8;
            Sum<u16>, Sum<i16>; 8, 4, 4;
                sm_75_90, 4, scan_sum_u16; 3, scan_segments_sum_u16; 4, 16, scan_columns_sum_u16;
            WideSum<u16>; 4, 2, 4;
                sm_75_90, 4, scan_wide_sum_u16; 4, scan_segments_wide_sum_u16; 4, 16, scan_columns_wide_sum_u16;
            WideSum<i16>; 4, 2, 4;
                sm_75_90, 4, scan_wide_sum_i16; 3, scan_segments_wide_sum_i16; 4, 16, scan_columns_wide_sum_i16;
            Product<u16>, Product<i16>; 8, 4, 4;
                sm_75, 4, scan_product_u16; 3, scan_segments_product_u16; 4, 16, scan_columns_product_u16;
            Min<u16> | flip: Max<u16>, Min<i16>, Max<i16>; 8, 4, 4;
                sm_75, 4, scan_min_u16; 3, scan_segments_min_u16; 4, 16, scan_columns_min_u16;
            And<u16> | flip: And<i16>, Or<u16>, Or<i16>; 8, 4, 4;
                sm_75, 4, scan_and_u16; 3, scan_segments_and_u16; 4, 16, scan_columns_and_u16;
            Xor<u16>, Xor<i16>; 8, 4, 4;
                sm_75, 4, scan_xor_u16; 3, scan_segments_xor_u16; 4, 16, scan_columns_xor_u16;
            Sum<u32>, Sum<i32>; 4, 4, 4;
                sm_75_90, 5, scan_sum_u32; 4, scan_segments_sum_u32; 4, 16, scan_columns_sum_u32;
            WideSum<u32>; 2, 2, 5;
                sm_75_90, 4, scan_wide_sum_u32; 3, scan_segments_wide_sum_u32; 3, 8, scan_columns_wide_sum_u32;
            WideSum<i32>; 2, 2, 5;
                sm_75_90, 4, scan_wide_sum_i32; 3, scan_segments_wide_sum_i32; 3, 8, scan_columns_wide_sum_i32;
            Product<u32>, Product<i32>; 4, 4, 4;
                sm_75, 4, scan_product_u32; 4, scan_segments_product_u32; 4, 16, scan_columns_product_u32;
            Min<u32> | flip: Max<u32>, Min<i32>, Max<i32>; 4, 4, 4;
                sm_75, 4, scan_min_u32; 4, scan_segments_min_u32; 4, 16, scan_columns_min_u32;
            And<u32> | flip: And<i32>, Or<u32>, Or<i32>; 4, 4, 4;
                sm_75, 4, scan_and_u32; 4, scan_segments_and_u32; 4, 16, scan_columns_and_u32;
            Xor<u32>, Xor<i32>; 4, 4, 4;
                sm_75, 4, scan_xor_u32; 4, scan_segments_xor_u32; 4, 16, scan_columns_xor_u32;
            Sum<u64>, Sum<i64>; 2, 4, 5;
                sm_75_90, 4, scan_sum_u64; 3, scan_segments_sum_u64; 3, 8, scan_columns_sum_u64;
            Product<u64>, Product<i64>; 2, 4, 5;
                sm_75, 3, scan_product_u64; 2, scan_segments_product_u64; 3, 8, scan_columns_product_u64;
            Min<u64> | flip: Max<u64>, Min<i64>, Max<i64>; 2, 4, 5;
                sm_75, 3, scan_min_u64; 3, scan_segments_min_u64; 3, 8, scan_columns_min_u64;
            And<u64> | flip: And<i64>, Or<u64>, Or<i64>; 2, 4, 5;
                sm_75, 3, scan_and_u64; 2, scan_segments_and_u64; 3, 8, scan_columns_and_u64;
            Xor<u64>, Xor<i64>; 2, 4, 5;
                sm_75, 3, scan_xor_u64; 2, scan_segments_xor_u64; 3, 8, scan_columns_xor_u64;
        }
    };
}

macro_rules! kernels {
    ($($scan:ty $(, $same:ty)* $(| $flip:ident: $($flipped:ty),+)?; $v:literal, $n:literal, $l:literal;
        $images:ident, $blocks:literal, $whole:ident;
        $of_segments:literal, $segments:ident;
        $of_columns:literal, $k:literal, $columns:ident;)*) => { $(
        /// Scans `len` elements of `input` into `output`, the bits of `flip` flipped where it takes them. How to launch it
        /// is said at [`whole`].
        #[kernel(images = $images, launch_bounds(256, $blocks), opt_level = 1, programmatic)]
        pub fn $whole(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            len: u64,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
            $($flip: u64,)?
        ) {
            whole_flipped::<$scan, _, $v, $n, 4, $l, WARPS>(
                input, output, len, initial, mode, words, capacity, ($($flip)?),
            );
        }

        /// Scans segments of `len` elements of `input` into `output`, the bits of `flip` flipped where it takes them. How
        /// to launch it is said at [`segmented::segments`].
        #[kernel(images = sm_75, launch_bounds(256, $of_segments), opt_level = 1)]
        pub fn $segments(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            len: u64,
            kind: u32,
            starts: Global<u8>,
            count: u64,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
            $($flip: u64,)?
        ) {
            let starts = Starts { kind, array: starts, count };
            segments_flipped::<$scan, _, $v, $n, 4, $l, WARPS>(
                input, output, len, starts, initial, mode, words, capacity, ($($flip)?),
            );
        }

        /// Scans the columns of `input` into `output`, the bits of `flip` flipped where it takes them. How to launch it is
        /// said at [`columns::columns`].
        #[kernel(images = sm_75, launch_bounds(256, $of_columns), opt_level = 1)]
        pub fn $columns(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            rows: u32,
            inner: u32,
            count: u32,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
            $($flip: u64,)?
        ) {
            let lines = Lines { rows, inner, columns: count };
            columns_flipped::<$scan, _, $k, { columns::WARPS }>(
                input, output, lines, initial, mode, words, capacity, ($($flip)?),
            );
        }
    )* };
}
scan_instances!(kernels);
