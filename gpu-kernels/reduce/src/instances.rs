//! Which reductions the PTX modules hold.
//!
//! Three modules an element type: a module is compiled by the driver when its first kernel is launched, about 11 ms a kernel
//! (H200's host), and the sum is what most ask for. Sums and products that wrap, bits, and what asks for zeros only are the same for
//! signed and unsigned integers, so there is one kernel for both.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

/// Lists the kernels: calls the macro `$with` once for each group of them, with the names of its modules (of reductions of
/// whole arrays, of segments, of columns), the type of its elements, the elements
/// of a load, the accumulators of a thread, the blocks that shall fit on a multiprocessor, and then `kernel: Reduction;` for each kernel,
/// after a comma the reduction whose bits are the same; those marked `(two)` take two arrays, and have no kernels for segments and columns.
#[macro_export]
macro_rules! reduce_instances {
    ($with:ident) => {
        $with! { sm_75_90 sm_75_90 sm_75_90, f32, 4, 4, 6;
            sum_f32: Sum<f32>;
        }
        $with! { sm_75_90 sm_75_90 sm_75, f32, 4, 4, 6;
            min_f32: Min<f32>;
            max_f32: Max<f32>;
            minmax_f32: MinMax<f32>;
            argmin_f32: ArgMin<f32>;
            argmax_f32: ArgMax<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f32, 4, 4, 4;
            product_f32: Product<f32>;
            sum_of_squares_f32: SumOfSquares<f32>;
            norm_l1_f32: NormL1<f32>;
            norm_max_f32: NormMax<f32>;
            norm_l2_f32: NormL2<f32>;
            any_f32: Any<f32>;
            all_f32: All<f32>;
            count_f32: Count<f32>;
            (two) dot_f32: Dot<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            sum_f64: Sum<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            min_f64: Min<f64>;
            max_f64: Max<f64>;
            minmax_f64: MinMax<f64>;
            argmin_f64: ArgMin<f64>;
            argmax_f64: ArgMax<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 4;
            product_f64: Product<f64>;
            sum_of_squares_f64: SumOfSquares<f64>;
            norm_l1_f64: NormL1<f64>;
            norm_max_f64: NormMax<f64>;
            norm_l2_f64: NormL2<f64>;
            any_f64: Any<f64>;
            all_f64: All<f64>;
            count_f64: Count<f64>;
            (two) dot_f64: Dot<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            sum_u8: Sum<u8>, Sum<i8>;
            wide_sum_u8: WideSum<u8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            min_u8: Min<u8>;
            max_u8: Max<u8>;
            minmax_u8: MinMax<u8>;
            argmin_u8: ArgMin<u8>;
            argmax_u8: ArgMax<u8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            product_u8: Product<u8>, Product<i8>;
            sum_of_squares_u8: SumOfSquares<u8>, SumOfSquares<i8>;
            norm_l1_u8: NormL1<u8>;
            norm_max_u8: NormMax<u8>;
            any_u8: Any<u8>, Any<i8>;
            all_u8: All<u8>, All<i8>;
            count_u8: Count<u8>, Count<i8>;
            and_u8: And<u8>, And<i8>;
            or_u8: Or<u8>, Or<i8>;
            xor_u8: Xor<u8>, Xor<i8>;
            (two) dot_u8: Dot<u8>, Dot<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, i8, 16, 4, 4;
            wide_sum_i8: WideSum<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, i8, 16, 4, 4;
            min_i8: Min<i8>;
            max_i8: Max<i8>;
            minmax_i8: MinMax<i8>;
            argmin_i8: ArgMin<i8>;
            argmax_i8: ArgMax<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, i8, 16, 4, 4;
            norm_l1_i8: NormL1<i8>;
            norm_max_i8: NormMax<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            sum_u16: Sum<u16>, Sum<i16>;
            wide_sum_u16: WideSum<u16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            min_u16: Min<u16>;
            max_u16: Max<u16>;
            minmax_u16: MinMax<u16>;
            argmin_u16: ArgMin<u16>;
            argmax_u16: ArgMax<u16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            product_u16: Product<u16>, Product<i16>;
            sum_of_squares_u16: SumOfSquares<u16>, SumOfSquares<i16>;
            norm_l1_u16: NormL1<u16>;
            norm_max_u16: NormMax<u16>;
            any_u16: Any<u16>, Any<i16>;
            all_u16: All<u16>, All<i16>;
            count_u16: Count<u16>, Count<i16>;
            and_u16: And<u16>, And<i16>;
            or_u16: Or<u16>, Or<i16>;
            xor_u16: Xor<u16>, Xor<i16>;
            (two) dot_u16: Dot<u16>, Dot<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            wide_sum_i16: WideSum<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            min_i16: Min<i16>;
            max_i16: Max<i16>;
            minmax_i16: MinMax<i16>;
            argmin_i16: ArgMin<i16>;
            argmax_i16: ArgMax<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            norm_l1_i16: NormL1<i16>;
            norm_max_i16: NormMax<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 6;
            sum_u32: Sum<u32>, Sum<i32>;
            wide_sum_u32: WideSum<u32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 6;
            min_u32: Min<u32>;
            max_u32: Max<u32>;
            minmax_u32: MinMax<u32>;
            argmin_u32: ArgMin<u32>;
            argmax_u32: ArgMax<u32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 4;
            product_u32: Product<u32>, Product<i32>;
            sum_of_squares_u32: SumOfSquares<u32>, SumOfSquares<i32>;
            norm_l1_u32: NormL1<u32>;
            norm_max_u32: NormMax<u32>;
            any_u32: Any<u32>, Any<i32>;
            all_u32: All<u32>, All<i32>;
            count_u32: Count<u32>, Count<i32>;
            and_u32: And<u32>, And<i32>;
            or_u32: Or<u32>, Or<i32>;
            xor_u32: Xor<u32>, Xor<i32>;
            (two) dot_u32: Dot<u32>, Dot<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 6;
            wide_sum_i32: WideSum<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 6;
            min_i32: Min<i32>;
            max_i32: Max<i32>;
            minmax_i32: MinMax<i32>;
            argmin_i32: ArgMin<i32>;
            argmax_i32: ArgMax<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 4;
            norm_l1_i32: NormL1<i32>;
            norm_max_i32: NormMax<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 6;
            sum_u64: Sum<u64>, Sum<i64>;
            wide_sum_u64: WideSum<u64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 6;
            min_u64: Min<u64>;
            max_u64: Max<u64>;
            minmax_u64: MinMax<u64>;
            argmin_u64: ArgMin<u64>;
            argmax_u64: ArgMax<u64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 4;
            product_u64: Product<u64>, Product<i64>;
            sum_of_squares_u64: SumOfSquares<u64>, SumOfSquares<i64>;
            norm_l1_u64: NormL1<u64>;
            norm_max_u64: NormMax<u64>;
            any_u64: Any<u64>, Any<i64>;
            all_u64: All<u64>, All<i64>;
            count_u64: Count<u64>, Count<i64>;
            and_u64: And<u64>, And<i64>;
            or_u64: Or<u64>, Or<i64>;
            xor_u64: Xor<u64>, Xor<i64>;
            (two) dot_u64: Dot<u64>, Dot<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, i64, 2, 2, 6;
            wide_sum_i64: WideSum<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, i64, 2, 2, 6;
            min_i64: Min<i64>;
            max_i64: Max<i64>;
            minmax_i64: MinMax<i64>;
            argmin_i64: ArgMin<i64>;
            argmax_i64: ArgMax<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, i64, 2, 2, 4;
            norm_l1_i64: NormL1<i64>;
            norm_max_i64: NormMax<i64>;
        }
    };
}

// One kernel for each line. Three blocks where they fit: asked for none or four, ptxas (13.0) keeps two loads of a sum of
// f32 in flight instead of four. Three blocks leave 40 registers a thread, which is too few for 16 or 8 elements of a
// load, for two arrays and for the Euclidean norm (ptxas 13.0: 8 to 72 bytes spilled); two leave 64.
macro_rules! kernels {
    ($images:ident $segments:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)?;)* $((two) $dot:ident: $product:ty $(, $same_product:ty)?;)?) => {
        $(
            /// Reduces `len` elements of `input` into `output`. How to launch it is said at [`whole`].
            #[kernel(images = $images, launch_bounds(256, $blocks), programmatic)]
            pub fn $name(
                input: Global<$t>,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<<$reduction as Reduction>::Output>,
            ) {
                whole::<$reduction, $v, $a, 4>(input, len, tiles_per_block, partials, ticket, output);
            }
        )*
        $(
            /// Reduces `len` pairs of elements of `first` and `second` into `output`. How to launch it is said at
            /// [`whole`].
            #[kernel(images = $images, launch_bounds(256, $blocks), programmatic)]
            pub fn $dot(
                first: Global<$t>,
                second: Global<$t>,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<<$product as Reduction>::Output>,
            ) {
                whole::<$product, $v, $a, 2>((first, second), len, tiles_per_block, partials, ticket, output);
            }
        )?
    };
}
reduce_instances!(kernels);
crate::reduce_half_instances!(kernels);
