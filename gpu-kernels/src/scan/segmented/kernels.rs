//! Which scans of segments the PTX modules hold.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::super::{Max, Min, Sum, WARPS};
use super::{Scan, Starts, segments};

/// Lists the kernels: calls the macro `$with` once for each module, with its name, the blocks that shall fit on a multiprocessor, the
/// elements of a vector and the vectors of a thread, and then, for each kernel, its name, the operator, and the operators whose bits are
/// the same.
#[macro_export]
macro_rules! segmented_scan_instances {
    ($with:ident) => {
        $with! { scan_segments_f32, 4, 4, 4;
            scan_segments_sum_f32: Sum<f32>;
            scan_segments_min_f32: Min<f32>;
            scan_segments_max_f32: Max<f32>;
        }
        $with! { scan_segments_f64, 3, 2, 5;
            scan_segments_sum_f64: Sum<f64>;
            scan_segments_min_f64: Min<f64>;
            scan_segments_max_f64: Max<f64>;
        }
        $with! { scan_segments_u32, 4, 4, 4;
            scan_segments_sum_u32: Sum<u32>, Sum<i32>;
            scan_segments_min_u32: Min<u32>;
            scan_segments_min_i32: Min<i32>;
            scan_segments_max_u32: Max<u32>;
            scan_segments_max_i32: Max<i32>;
        }
        $with! { scan_segments_u64, 3, 2, 5;
            scan_segments_sum_u64: Sum<u64>, Sum<i64>;
            scan_segments_min_u64: Min<u64>;
            scan_segments_min_i64: Min<i64>;
            scan_segments_max_u64: Max<u64>;
            scan_segments_max_i64: Max<i64>;
        }
    };
}

macro_rules! kernels {
    ($module:ident, $blocks:literal, $v:literal, $l:literal; $($name:ident: $scan:ty $(, $same:ty)*;)*) => { $(
        /// Scans segments of `len` elements of `input` into `output`. How to launch it is said at [`segments`].
        #[kernel(module = $module, launch_bounds(256, $blocks))]
        pub fn $name(
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
        ) {
            let starts = Starts { kind, array: starts, count };
            segments::<$scan, $v, 4, $l, WARPS>(input, output, len, starts, initial, mode, words, capacity);
        }
    )* };
}
segmented_scan_instances!(kernels);
