//! Which reductions the PTX modules hold.
//!
//! Reductions whose bits are the same share a kernel: products that wrap are those of signed and of unsigned
//! integers. More do where the kernel is told which of them it is ([`several`](super::several)): a maximum is a
//! minimum, an `or` is an `and`, and whether 16 bits are zero is asked of four types.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::computed::Computed;
use super::several::*;
use super::*;

/// Lists the kernels: calls the macro `$with` once for each group of them, with the images that those of whole
/// arrays, of segments and of columns have (`none` where there are no such kernels), the type of their elements, the
/// elements of a load, the accumulators of a thread, the blocks that shall fit on a multiprocessor, and then `kernel:
/// Reduction;` for each kernel, after commas the reductions whose bits are the same; `(several) kernel: what it
/// computes => …;` for those that serve several reductions, with all of them; those marked `(two)` take two arrays,
/// and have no kernels for segments and columns.
#[macro_export]
macro_rules! reduce_instances {
    ($with:ident) => {
        $with! { sm_75_90 sm_75_90 sm_75_90, f32, 4, 4, 6;
            sum_f32: Sum<f32>;
        }
        $with! { sm_75_90 sm_75_90 sm_75, f32, 4, 4, 6;
            minmax_f32: MinMax<f32>;
            (several) max_f32: Extreme<f32> => Max<f32>, Min<f32>, NormMax<f32>;
            (several) argmax_f32: Place<f32> => ArgMax<f32>, ArgMin<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f32, 4, 4, 4;
            product_f32: Product<f32>;
            norm_l2_f32: NormL2<f32>;
            (several) weighted_sum_f32: Weighted<f32> => SumOfSquares<f32>, NormL1<f32>;
            (two) dot_f32: Dot<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            sum_f64: Sum<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            minmax_f64: MinMax<f64>;
            (several) max_f64: Extreme<f64> => Max<f64>, Min<f64>, NormMax<f64>;
            (several) argmax_f64: Place<f64> => ArgMax<f64>, ArgMin<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 4;
            product_f64: Product<f64>;
            norm_l2_f64: NormL2<f64>;
            (several) weighted_sum_f64: Weighted<f64> => SumOfSquares<f64>, NormL1<f64>;
            (two) dot_f64: Dot<f64>;
        }
        // Of whole arrays of bytes instructions are the limit: of the place of a maximum a choice would be 6 % more.
        $with! { sm_75_90 none none, u8, 16, 4, 4;
            sum_u8: Sum<u8>, Sum<i8>, NormL1<u8>;
            count_u8: Count<u8>, Count<i8>;
            sum_of_squares_u8: SumOfSquares<u8>, SumOfSquares<i8>;
            argmax_u8: ArgMax<u8>;
            (several) argmin_u8: Place<u8> => ArgMin<u8>, ArgMax<i8>, ArgMin<i8>;
            (several) wide_sum_u8: Sums<u8, false> => WideSum<u8>, WideSum<i8>;
        }
        $with! { sm_75_90 none none, i8, 16, 4, 4;
            norm_l1_i8: NormL1<i8>;
        }
        $with! { none sm_75 sm_75, u8, 16, 4, 4;
            (several) argmax_u8: Place<u8> => ArgMax<u8>, ArgMin<u8>, ArgMax<i8>, ArgMin<i8>;
            (several) sum_u8: Sums<u8, true> => Sum<u8>, Sum<i8>, NormL1<u8>, WideSum<u8>, WideSum<i8>, Count<u8>,
                Count<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            product_u8: Product<u8>, Product<i8>;
            (several) max_u8: Extreme<u8> => Max<u8>, Min<u8>, Max<i8>, Min<i8>, NormMax<u8>, Any<u8>, All<u8>,
                Any<i8>, All<i8>;
            (several) minmax_u8: Extremes<u8> => MinMax<u8>, MinMax<i8>, NormMax<i8>;
            (several) or_u8: Bits<u8> => Or<u8>, Or<i8>, And<u8>, And<i8>, Xor<u8>, Xor<i8>;
            (two) dot_u8: Dot<u8>, Dot<i8>;
        }
        $with! { none sm_75 sm_75, i8, 16, 4, 4;
            (several) weighted_sum_i8: Weighted<i8> => SumOfSquares<u8>, SumOfSquares<i8>, NormL1<i8>;
        }
        $with! { sm_75_90 none none, u16, 8, 4, 4;
            sum_u16: Sum<u16>, Sum<i16>, NormL1<u16>;
            (several) wide_sum_u16: Sums<u16, false> => WideSum<u16>, WideSum<i16>;
            (several) count_u16: Counts<u16> => Count<u16>, Count<i16>, Count<f16>, Count<bf16>;
        }
        $with! { none sm_75 sm_75, u16, 8, 4, 4;
            (several) sum_u16: Sums<u16, true> => Sum<u16>, Sum<i16>, NormL1<u16>, WideSum<u16>, WideSum<i16>,
                Count<u16>, Count<i16>, Count<f16>, Count<bf16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            product_u16: Product<u16>, Product<i16>;
            (several) max_u16: Extreme<u16> => Max<u16>, Min<u16>, Max<i16>, Min<i16>, NormMax<u16>, Any<u16>,
                All<u16>, Any<i16>, All<i16>, Any<f16>, All<f16>, Any<bf16>, All<bf16>;
            (several) minmax_u16: Extremes<u16> => MinMax<u16>, MinMax<i16>, NormMax<i16>;
            (several) argmax_u16: Place<u16> => ArgMax<u16>, ArgMin<u16>, ArgMax<i16>, ArgMin<i16>;
            (several) or_u16: Bits<u16> => Or<u16>, Or<i16>, And<u16>, And<i16>, Xor<u16>, Xor<i16>;
            (two) dot_u16: Dot<u16>, Dot<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            (several) weighted_sum_i16: Weighted<i16> => SumOfSquares<u16>, SumOfSquares<i16>, NormL1<i16>;
        }
        $with! { sm_75_90 none none, u32, 4, 4, 6;
            sum_u32: Sum<u32>, Sum<i32>, NormL1<u32>;
        }
        $with! { sm_75_90 none none, u32, 4, 4, 4;
            // Six blocks would leave too few registers (ptxas 13.0 for sm_120: 4 bytes spilled).
            (several) wide_sum_u32: Sums<u32, false> => WideSum<u32>, WideSum<i32>;
            (several) count_u32: Counts<u32> => Count<u32>, Count<i32>, Count<f32>;
        }
        $with! { none sm_75 sm_75, u32, 4, 4, 6;
            (several) sum_u32: Sums<u32, true> => Sum<u32>, Sum<i32>, NormL1<u32>, WideSum<u32>, WideSum<i32>,
                Count<u32>, Count<i32>, Count<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 6;
            (several) max_u32: Extreme<u32> => Max<u32>, Min<u32>, Max<i32>, Min<i32>, NormMax<u32>, Any<u32>,
                All<u32>, Any<i32>, All<i32>, Any<f32>, All<f32>;
            (several) minmax_u32: Extremes<u32> => MinMax<u32>, MinMax<i32>, NormMax<i32>;
            (several) argmax_u32: Place<u32> => ArgMax<u32>, ArgMin<u32>, ArgMax<i32>, ArgMin<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 4;
            product_u32: Product<u32>, Product<i32>;
            (several) or_u32: Bits<u32> => Or<u32>, Or<i32>, And<u32>, And<i32>, Xor<u32>, Xor<i32>;
            (two) dot_u32: Dot<u32>, Dot<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 4;
            (several) weighted_sum_i32: Weighted<i32> => SumOfSquares<u32>, SumOfSquares<i32>, NormL1<i32>;
        }
        $with! { sm_75_90 none none, u64, 2, 2, 6;
            sum_u64: Sum<u64>, Sum<i64>, NormL1<u64>, WideSum<u64>, WideSum<i64>;
        }
        $with! { sm_75_90 none none, u64, 2, 2, 4;
            (several) count_u64: Counts<u64> => Count<u64>, Count<i64>, Count<f64>;
        }
        $with! { none sm_75 sm_75, u64, 2, 2, 6;
            (several) sum_u64: Sums<u64, true> => Sum<u64>, Sum<i64>, NormL1<u64>, WideSum<u64>, WideSum<i64>,
                Count<u64>, Count<i64>, Count<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 6;
            (several) max_u64: Extreme<u64> => Max<u64>, Min<u64>, Max<i64>, Min<i64>, NormMax<u64>, Any<u64>,
                All<u64>, Any<i64>, All<i64>, Any<f64>, All<f64>;
            (several) minmax_u64: Extremes<u64> => MinMax<u64>, MinMax<i64>, NormMax<i64>;
            (several) argmax_u64: Place<u64> => ArgMax<u64>, ArgMin<u64>, ArgMax<i64>, ArgMin<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 4;
            product_u64: Product<u64>, Product<i64>;
            (several) or_u64: Bits<u64> => Or<u64>, Or<i64>, And<u64>, And<i64>, Xor<u64>, Xor<i64>;
            (two) dot_u64: Dot<u64>, Dot<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, i64, 2, 2, 4;
            (several) weighted_sum_i64: Weighted<i64> => SumOfSquares<u64>, SumOfSquares<i64>, NormL1<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            (several) sum_f16: HalfSums<f16> => Sum<f16>, ExtendedSum<f16>, NormL1<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            minmax_f16: MinMax<f16>;
            (several) max_f16: Extreme<f16> => Max<f16>, Min<f16>, NormMax<f16>;
            (several) argmax_f16: Place<f16> => ArgMax<f16>, ArgMin<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, f16, 8, 4, 4;
            product_f16: Product<f16>;
            sum_of_squares_f16: HalfSumOfSquares<f16>;
            norm_l2_f16: HalfNormL2<f16>;
            (two) dot_f16: HalfDot<f16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            (several) sum_bf16: HalfSums<bf16> => Sum<bf16>, ExtendedSum<bf16>, NormL1<bf16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            minmax_bf16: MinMax<bf16>;
            (several) max_bf16: Extreme<bf16> => Max<bf16>, Min<bf16>, NormMax<bf16>;
            (several) argmax_bf16: Place<bf16> => ArgMax<bf16>, ArgMin<bf16>;
        }
        $with! { sm_75_90 sm_75 sm_75, bf16, 8, 4, 4;
            product_bf16: Product<bf16>;
            sum_of_squares_bf16: HalfSumOfSquares<bf16>;
            norm_l2_bf16: HalfNormL2<bf16>;
            (two) dot_bf16: HalfDot<bf16>;
        }
    };
}

// One kernel for each line. Three blocks where they fit: asked for none or four, ptxas (13.0) keeps two loads of a
// sum of f32 in flight instead of four. Three blocks leave 40 registers a thread, which is too few for 16 or 8
// elements of a load, for two arrays and for the Euclidean norm (ptxas 13.0: 8 to 72 bytes spilled); two leave 64.
macro_rules! kernels {
    (none $($other_kernels:tt)*) => {};
    ($images:ident $segments:ident $columns:ident, $t:ty, $v:literal, $a:literal, $blocks:literal;
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((several) $several:ident: $computed:ty => $($served:ty),*;)*
        $((two) $dot:ident: $product:ty $(, $same_product:ty)?;)?) => {
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
            /// Reduces `len` elements of `input` as `keep`, `turn` and `which` say ([`Choice`]) into `output`. How to
            /// launch it is said at [`whole`].
            #[kernel(images = $images, launch_bounds(256, $blocks), programmatic)]
            pub fn $several(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                which: u64,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<<$computed as Computed>::Output>,
            ) {
                let source = ToldSource { array: input, choice: Choice { keep, turn, which } };
                whole::<$computed, $v, $a, 4>(source, len, tiles_per_block, partials, ticket, output);
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
