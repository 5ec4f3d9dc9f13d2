//! Which reductions the PTX modules hold.
//!
//! Reductions whose bits are the same share a kernel: sums and products that wrap are those of signed and of unsigned integers. More do
//! where elements are masked as they are read ([`ByMask`]): a maximum is a minimum, an `or` is an `and`, and whether 16 bits are zero
//! is asked of four types.

use gpu_std::half::{bf16, f16};
use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};

use super::*;

/// Lists the kernels: calls the macro `$with` once for each group of them, with the names of its modules (of reductions of
/// whole arrays, of segments, of columns), the type of its elements, the elements
/// of a load, the accumulators of a thread, the blocks that shall fit on a multiprocessor, and then `kernel: Reduction;` for each kernel,
/// after commas the reductions whose bits are the same; `(masked) kernel: Reduction => …;` for those of masked elements, with all that
/// they compute; those marked `(two)` take two arrays, and have no kernels for segments and columns.
#[macro_export]
macro_rules! reduce_instances {
    ($with:ident) => {
        $with! { sm_75_90 sm_75_90 sm_75_90, f32, 4, 4, 6;
            sum_f32: Sum<f32>;
        }
        $with! { sm_75_90 sm_75_90 sm_75, f32, 4, 4, 6;
            minmax_f32: MinMax<f32>;
            (masked) max_f32: Largest<f32> => Max<f32>, Min<f32>, NormMax<f32>;
            (masked) argmax_f32: ArgMax<f32> => ArgMax<f32>, ArgMin<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f32, 4, 4, 4;
            product_f32: Product<f32>;
            sum_of_squares_f32: SumOfSquares<f32>;
            norm_l1_f32: NormL1<f32>;
            norm_l2_f32: NormL2<f32>;
            (two) dot_f32: Dot<f32>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            sum_f64: Sum<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 6;
            minmax_f64: MinMax<f64>;
            (masked) max_f64: Largest<f64> => Max<f64>, Min<f64>, NormMax<f64>;
            (masked) argmax_f64: ArgMax<f64> => ArgMax<f64>, ArgMin<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, f64, 2, 2, 4;
            product_f64: Product<f64>;
            sum_of_squares_f64: SumOfSquares<f64>;
            norm_l1_f64: NormL1<f64>;
            norm_l2_f64: NormL2<f64>;
            (two) dot_f64: Dot<f64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            sum_u8: Sum<u8>, Sum<i8>, NormL1<u8>;
            wide_sum_u8: WideSum<u8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            // Limited by instructions, of which a mask would be 6 % more.
            argmax_u8: ArgMax<u8>;
            (masked) max_u8: Largest<u8> => Max<u8>, Min<u8>, Max<i8>, Min<i8>, NormMax<u8>;
            (masked) minmax_u8: MinMax<u8> => MinMax<u8>, MinMax<i8>;
            (masked) argmin_u8: ArgMax<u8> => ArgMin<u8>, ArgMax<i8>, ArgMin<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u8, 16, 4, 4;
            product_u8: Product<u8>, Product<i8>;
            sum_of_squares_u8: SumOfSquares<u8>, SumOfSquares<i8>;
            xor_u8: Xor<u8>, Xor<i8>;
            (masked) or_u8: Or<u8> => Or<u8>, Or<i8>, And<u8>, And<i8>;
            (masked) truth_u8: Truth<u8> => Any<u8>, All<u8>, Any<i8>, All<i8>;
            (masked) count_u8: Count<u8> => Count<u8>, Count<i8>;
            (two) dot_u8: Dot<u8>, Dot<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, i8, 16, 4, 4;
            wide_sum_i8: WideSum<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, i8, 16, 4, 4;
            norm_l1_i8: NormL1<i8>;
            norm_max_i8: NormMax<i8>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            sum_u16: Sum<u16>, Sum<i16>, NormL1<u16>;
            wide_sum_u16: WideSum<u16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            (masked) max_u16: Largest<u16> => Max<u16>, Min<u16>, Max<i16>, Min<i16>, NormMax<u16>;
            (masked) minmax_u16: MinMax<u16> => MinMax<u16>, MinMax<i16>;
            (masked) argmax_u16: ArgMax<u16> => ArgMax<u16>, ArgMin<u16>, ArgMax<i16>, ArgMin<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u16, 8, 4, 4;
            product_u16: Product<u16>, Product<i16>;
            sum_of_squares_u16: SumOfSquares<u16>, SumOfSquares<i16>;
            xor_u16: Xor<u16>, Xor<i16>;
            (masked) or_u16: Or<u16> => Or<u16>, Or<i16>, And<u16>, And<i16>;
            (masked) truth_u16: Truth<u16> => Any<u16>, All<u16>, Any<i16>, All<i16>, Any<f16>, All<f16>, Any<bf16>, All<bf16>;
            (masked) count_u16: Count<u16> => Count<u16>, Count<i16>, Count<f16>, Count<bf16>;
            (two) dot_u16: Dot<u16>, Dot<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            wide_sum_i16: WideSum<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, i16, 8, 4, 4;
            norm_l1_i16: NormL1<i16>;
            norm_max_i16: NormMax<i16>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 6;
            sum_u32: Sum<u32>, Sum<i32>, NormL1<u32>;
            wide_sum_u32: WideSum<u32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 6;
            (masked) max_u32: Largest<u32> => Max<u32>, Min<u32>, Max<i32>, Min<i32>, NormMax<u32>;
            (masked) minmax_u32: MinMax<u32> => MinMax<u32>, MinMax<i32>;
            (masked) argmax_u32: ArgMax<u32> => ArgMax<u32>, ArgMin<u32>, ArgMax<i32>, ArgMin<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u32, 4, 4, 4;
            product_u32: Product<u32>, Product<i32>;
            sum_of_squares_u32: SumOfSquares<u32>, SumOfSquares<i32>;
            xor_u32: Xor<u32>, Xor<i32>;
            (masked) or_u32: Or<u32> => Or<u32>, Or<i32>, And<u32>, And<i32>;
            (masked) truth_u32: Truth<u32> => Any<u32>, All<u32>, Any<i32>, All<i32>, Any<f32>, All<f32>;
            (masked) count_u32: Count<u32> => Count<u32>, Count<i32>, Count<f32>;
            (two) dot_u32: Dot<u32>, Dot<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 6;
            wide_sum_i32: WideSum<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, i32, 4, 4, 4;
            norm_l1_i32: NormL1<i32>;
            norm_max_i32: NormMax<i32>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 6;
            sum_u64: Sum<u64>, Sum<i64>, WideSum<u64>, WideSum<i64>, NormL1<u64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 6;
            (masked) max_u64: Largest<u64> => Max<u64>, Min<u64>, Max<i64>, Min<i64>, NormMax<u64>;
            (masked) minmax_u64: MinMax<u64> => MinMax<u64>, MinMax<i64>;
            (masked) argmax_u64: ArgMax<u64> => ArgMax<u64>, ArgMin<u64>, ArgMax<i64>, ArgMin<i64>;
        }
        $with! { sm_75_90 sm_75 sm_75, u64, 2, 2, 4;
            product_u64: Product<u64>, Product<i64>;
            sum_of_squares_u64: SumOfSquares<u64>, SumOfSquares<i64>;
            xor_u64: Xor<u64>, Xor<i64>;
            (masked) or_u64: Or<u64> => Or<u64>, Or<i64>, And<u64>, And<i64>;
            (masked) truth_u64: Truth<u64> => Any<u64>, All<u64>, Any<i64>, All<i64>, Any<f64>, All<f64>;
            (masked) count_u64: Count<u64> => Count<u64>, Count<i64>, Count<f64>;
            (two) dot_u64: Dot<u64>, Dot<i64>;
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
        $($name:ident: $reduction:ty $(, $same:ty)*;)*
        $((masked) $masked:ident: $of_masked:ty => $($by_mask:ty),*;)*
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
            /// Reduces `len` elements of `input`, masked with `keep` and `turn` ([`Mask`]), into `output`. How to launch it is said at
            /// [`whole`].
            #[kernel(images = $images, launch_bounds(256, $blocks), programmatic)]
            pub fn $masked(
                input: Global<$t>,
                keep: u64,
                turn: u64,
                len: u64,
                tiles_per_block: u64,
                partials: GlobalMut<u64>,
                ticket: GlobalMut<u32>,
                output: GlobalMut<<$of_masked as Reduction>::Output>,
            ) {
                let source = MaskedSource { array: input, mask: Mask { keep, turn } };
                whole::<OfMasked<$of_masked>, $v, $a, 4>(source, len, tiles_per_block, partials, ticket, output);
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
