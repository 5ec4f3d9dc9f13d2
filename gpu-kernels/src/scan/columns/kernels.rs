//! Which scans along columns the PTX modules hold.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::super::{Max, Min, Sum};
use super::{Lines, Scan, WARPS, columns};

/// Lists the kernels: calls the macro `$with` once for each module, with its name, the blocks that shall fit on a multiprocessor and the rows
/// of a warp, and then, for each kernel, its name, the operator, and the operators whose bits are the same.
#[macro_export]
macro_rules! column_scan_instances {
    ($with:ident) => {
        $with! { scan_columns_f32, 4, 16;
            scan_columns_sum_f32: Sum<f32>;
            scan_columns_min_f32: Min<f32>;
            scan_columns_max_f32: Max<f32>;
        }
        $with! { scan_columns_f64, 3, 8;
            scan_columns_sum_f64: Sum<f64>;
            scan_columns_min_f64: Min<f64>;
            scan_columns_max_f64: Max<f64>;
        }
        $with! { scan_columns_u32, 4, 16;
            scan_columns_sum_u32: Sum<u32>, Sum<i32>;
            scan_columns_min_u32: Min<u32>;
            scan_columns_min_i32: Min<i32>;
            scan_columns_max_u32: Max<u32>;
            scan_columns_max_i32: Max<i32>;
        }
        $with! { scan_columns_u64, 3, 8;
            scan_columns_sum_u64: Sum<u64>, Sum<i64>;
            scan_columns_min_u64: Min<u64>;
            scan_columns_min_i64: Min<i64>;
            scan_columns_max_u64: Max<u64>;
            scan_columns_max_i64: Max<i64>;
        }
    };
}

macro_rules! kernels {
    ($module:ident, $blocks:literal, $k:literal; $($name:ident: $scan:ty $(, $same:ty)*;)*) => { $(
        /// Scans the columns of `input` into `output`. How to launch it is said at [`columns`].
        #[kernel(module = $module, launch_bounds(256, $blocks))]
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
    )* };
}
column_scan_instances!(kernels);
