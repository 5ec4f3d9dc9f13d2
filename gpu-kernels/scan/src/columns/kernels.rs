//! Which scans along columns the PTX modules hold.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::super::{And, Min, Product, Sum, WideSum, Xor};
use super::{Lines, Scan, WARPS, columns, columns_flipped};

/// Lists the kernels: calls the macro `$with` once for each module, with its name, the blocks that shall fit on a
/// multiprocessor and the rows of a warp, and then, for each kernel, its name, the operator, the operators whose bits
/// are the same, and behind a `|` those whose bits are when they are flipped.
#[macro_export]
macro_rules! column_scan_instances {
    ($with:ident) => {
        $with! { sm_75, 4, 16;
            scan_columns_sum_f32: Sum<f32>;
            scan_columns_min_f32: Min<f32> | Max<f32>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_wide_sum_f32: WideSum<f32>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_f32: Product<f32>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_sum_f64: Sum<f64>;
            scan_columns_min_f64: Min<f64> | Max<f64>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_product_f64: Product<f64>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_sum_f16: Sum<f16>;
            scan_columns_min_f16: Min<f16> | Max<f16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_wide_sum_f16: WideSum<f16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_f16: Product<f16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_sum_bf16: Sum<bf16>;
            scan_columns_min_bf16: Min<bf16> | Max<bf16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_wide_sum_bf16: WideSum<bf16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_bf16: Product<bf16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_sum_u32: Sum<u32>, Sum<i32>;
            scan_columns_min_u32: Min<u32> | Max<u32>, Min<i32>, Max<i32>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_wide_sum_u32: WideSum<u32>;
            scan_columns_wide_sum_i32: WideSum<i32>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_u32: Product<u32>, Product<i32>;
            scan_columns_and_u32: And<u32> | And<i32>, Or<u32>, Or<i32>;
            scan_columns_xor_u32: Xor<u32>, Xor<i32>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_sum_u64: Sum<u64>, Sum<i64>;
            scan_columns_min_u64: Min<u64> | Max<u64>, Min<i64>, Max<i64>;
        }
        $with! { sm_75, 3, 8;
            scan_columns_product_u64: Product<u64>, Product<i64>;
            scan_columns_and_u64: And<u64> | And<i64>, Or<u64>, Or<i64>;
            scan_columns_xor_u64: Xor<u64>, Xor<i64>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_sum_u8: Sum<u8>, Sum<i8>;
            scan_columns_min_u8: Min<u8> | Max<u8>, Min<i8>, Max<i8>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_wide_sum_u8: WideSum<u8>;
            scan_columns_wide_sum_i8: WideSum<i8>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_u8: Product<u8>, Product<i8>;
            scan_columns_and_u8: And<u8> | And<i8>, Or<u8>, Or<i8>;
            scan_columns_xor_u8: Xor<u8>, Xor<i8>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_sum_u16: Sum<u16>, Sum<i16>;
            scan_columns_min_u16: Min<u16> | Max<u16>, Min<i16>, Max<i16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_wide_sum_u16: WideSum<u16>;
            scan_columns_wide_sum_i16: WideSum<i16>;
        }
        $with! { sm_75, 4, 16;
            scan_columns_product_u16: Product<u16>, Product<i16>;
            scan_columns_and_u16: And<u16> | And<i16>, Or<u16>, Or<i16>;
            scan_columns_xor_u16: Xor<u16>, Xor<i16>;
        }
    };
}

macro_rules! kernel {
    ($images:ident, $blocks:literal, $k:literal, $name:ident: $scan:ty) => {
        /// Scans the columns of `input` into `output`. How to launch it is said at [`columns`].
        #[kernel(images = $images, launch_bounds(256, $blocks), opt_level = 1)]
        pub fn $name(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            rows: u32,
            inner: u32,
            count: u32,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
        ) {
            let lines = Lines { rows, inner, columns: count };
            columns::<$scan, $k, WARPS>(input, output, lines, initial, mode, words, capacity);
        }
    };
    ($images:ident, $blocks:literal, $k:literal, $name:ident: $scan:ty | $($flipped:ty),+) => {
        /// Scans the columns of `input` into `output`, the bits of `flip` flipped. How to launch it is said at
        /// [`columns_flipped`].
        #[kernel(images = $images, launch_bounds(256, $blocks), opt_level = 1)]
        pub fn $name(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            rows: u32,
            inner: u32,
            count: u32,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
            flip: u64,
        ) {
            let lines = Lines { rows, inner, columns: count };
            columns_flipped::<$scan, $k, WARPS>(input, output, lines, initial, mode, words, capacity, flip);
        }
    };
}

macro_rules! kernels {
    ($images:ident, $blocks:literal, $k:literal; $($name:ident: $scan:ty $(, $same:ty)* $(| $($flipped:ty),+)?;)*) => {
        $( kernel! { $images, $blocks, $k, $name: $scan $(| $($flipped),+)? } )*
    };
}
column_scan_instances!(kernels);
