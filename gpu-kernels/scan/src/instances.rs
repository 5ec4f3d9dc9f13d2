//! Which scans the PTX modules hold.
//!
//! Sums and products that wrap, and bits, are the same for signed and unsigned integers, so there is one kernel for
//! both. Minima and maxima of either, and what all and what any have, are the same but for bits that are flipped on
//! their way in and out ([`Flip`]).
//!
//! Sums have an image for 9.0, on which blocks come while the launch before still runs: a microsecond of a short scan. It
//! costs as much PTX again, which wide sums, the others and segments are spared.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

/// Lists the kernels: calls the macro `$with` once for each module, with its name, the blocks that shall fit on a
/// multiprocessor and then, for each kernel, its name, the operator, the elements of a vector, the words of its input
/// and output, the vectors of a thread, the operators whose bits are the same, and behind a `|` those whose bits are
/// when they are flipped.
#[macro_export]
macro_rules! scan_instances {
    ($with:ident) => {
        $with! { sm_75_90, 5;
            scan_sum_f32: Sum<f32>, 4, 4, 4, 4;
        }
        $with! { sm_75, 4;
            scan_wide_sum_f32: WideSum<f32>, 2, 2, 4, 5;
        }
        $with! { sm_75, 4;
            scan_product_f32: Product<f32>, 4, 4, 4, 4;
            scan_min_f32: Min<f32>, 4, 4, 4, 4 | Max<f32>;
        }
        $with! { sm_75_90, 4;
            scan_sum_f64: Sum<f64>, 2, 4, 4, 5;
        }
        $with! { sm_75, 3;
            scan_product_f64: Product<f64>, 2, 4, 4, 5;
            scan_min_f64: Min<f64>, 2, 4, 4, 5 | Max<f64>;
        }
        $with! { sm_75_90, 4;
            scan_sum_f16: Sum<f16>, 8, 4, 4, 4;
        }
        $with! { sm_75, 4;
            scan_wide_sum_f16: WideSum<f16>, 4, 2, 4, 4;
        }
        $with! { sm_75, 4;
            scan_product_f16: Product<f16>, 8, 4, 4, 4;
            scan_min_f16: Min<f16>, 8, 4, 4, 4 | Max<f16>;
        }
        $with! { sm_75_90, 4;
            scan_sum_bf16: Sum<bf16>, 8, 4, 4, 4;
        }
        $with! { sm_75, 4;
            scan_wide_sum_bf16: WideSum<bf16>, 4, 2, 4, 4;
        }
        $with! { sm_75, 4;
            scan_product_bf16: Product<bf16>, 8, 4, 4, 4;
            scan_min_bf16: Min<bf16>, 8, 4, 4, 4 | Max<bf16>;
        }
        $with! { sm_75_90, 4;
            scan_sum_u8: Sum<u8>, 16, 4, 4, 4, Sum<i8>;
        }
        $with! { sm_75, 4;
            scan_wide_sum_u8: WideSum<u8>, 4, 1, 4, 4;
            scan_wide_sum_i8: WideSum<i8>, 4, 1, 4, 4;
        }
        $with! { sm_75, 4;
            scan_product_u8: Product<u8>, 16, 4, 4, 4, Product<i8>;
            scan_min_u8: Min<u8>, 16, 4, 4, 4 | Max<u8>, Min<i8>, Max<i8>;
            scan_and_u8: And<u8>, 16, 4, 4, 4 | And<i8>, Or<u8>, Or<i8>;
            scan_xor_u8: Xor<u8>, 16, 4, 4, 4, Xor<i8>;
        }
        $with! { sm_75_90, 4;
            scan_sum_u16: Sum<u16>, 8, 4, 4, 4, Sum<i16>;
        }
        $with! { sm_75, 4;
            scan_wide_sum_u16: WideSum<u16>, 4, 2, 4, 4;
            scan_wide_sum_i16: WideSum<i16>, 4, 2, 4, 4;
        }
        $with! { sm_75, 4;
            scan_product_u16: Product<u16>, 8, 4, 4, 4, Product<i16>;
            scan_min_u16: Min<u16>, 8, 4, 4, 4 | Max<u16>, Min<i16>, Max<i16>;
            scan_and_u16: And<u16>, 8, 4, 4, 4 | And<i16>, Or<u16>, Or<i16>;
            scan_xor_u16: Xor<u16>, 8, 4, 4, 4, Xor<i16>;
        }
        $with! { sm_75_90, 5;
            scan_sum_u32: Sum<u32>, 4, 4, 4, 4, Sum<i32>;
        }
        $with! { sm_75, 4;
            scan_wide_sum_u32: WideSum<u32>, 2, 2, 4, 5;
            scan_wide_sum_i32: WideSum<i32>, 2, 2, 4, 5;
        }
        $with! { sm_75, 4;
            scan_product_u32: Product<u32>, 4, 4, 4, 4, Product<i32>;
            scan_min_u32: Min<u32>, 4, 4, 4, 4 | Max<u32>, Min<i32>, Max<i32>;
            scan_and_u32: And<u32>, 4, 4, 4, 4 | And<i32>, Or<u32>, Or<i32>;
            scan_xor_u32: Xor<u32>, 4, 4, 4, 4, Xor<i32>;
        }
        $with! { sm_75_90, 4;
            scan_sum_u64: Sum<u64>, 2, 4, 4, 5, Sum<i64>;
        }
        $with! { sm_75, 3;
            scan_product_u64: Product<u64>, 2, 4, 4, 5, Product<i64>;
            scan_min_u64: Min<u64>, 2, 4, 4, 5 | Max<u64>, Min<i64>, Max<i64>;
            scan_and_u64: And<u64>, 2, 4, 4, 5 | And<i64>, Or<u64>, Or<i64>;
            scan_xor_u64: Xor<u64>, 2, 4, 4, 5, Xor<i64>;
        }
    };
}

macro_rules! kernel {
    ($images:ident, $blocks:literal, $name:ident: $scan:ty, $v:literal, $n:literal, $m:literal, $l:literal) => {
        /// Scans `len` elements of `input` into `output`. How to launch it is said at [`whole`].
        #[kernel(images = $images, launch_bounds(256, $blocks), opt_level = 1, programmatic)]
        pub fn $name(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            len: u64,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
        ) {
            whole::<$scan, $v, $n, $m, $l, WARPS>(input, output, len, initial, mode, words, capacity);
        }
    };
    ($images:ident, $blocks:literal, $name:ident: $scan:ty, $v:literal, $n:literal, $m:literal, $l:literal | $($flipped:ty),+) => {
        /// Scans `len` elements of `input` into `output`, the bits of `flip` flipped. How to launch it is said at
        /// [`whole_flipped`].
        #[kernel(images = $images, launch_bounds(256, $blocks), opt_level = 1, programmatic)]
        pub fn $name(
            input: Global<<$scan as Scan>::Item>,
            output: GlobalMut<<$scan as Scan>::Output>,
            len: u64,
            initial: <$scan as Scan>::Register,
            mode: u32,
            words: GlobalMut<u64>,
            capacity: u64,
            flip: u64,
        ) {
            whole_flipped::<$scan, $v, $n, $m, $l, WARPS>(
                input, output, len, initial, mode, words, capacity, flip,
            );
        }
    };
}

macro_rules! kernels {
    ($images:ident, $blocks:literal; $(
        $name:ident: $scan:ty, $v:literal, $n:literal, $m:literal, $l:literal $(, $same:ty)* $(| $($flipped:ty),+)?;
    )*) => {
        $( kernel! { $images, $blocks, $name: $scan, $v, $n, $m, $l $(| $($flipped),+)? } )*
    };
}
scan_instances!(kernels);
