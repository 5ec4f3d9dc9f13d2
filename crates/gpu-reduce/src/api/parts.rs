//! The reductions of segments and along axes by name: what [`Reduction::OUTPUTS`](crate::kernels::Reduction::OUTPUTS) says is
//! how many elements each segment or line gives, as on a stream.

use gpu_core::{Buffer, Scratch, Segments, Stream, View, ViewMut};
use gpu_reduce_kernels::{Integer, Number};

use super::{reduce_axis, reduce_axis_into, reduce_segments, reduce_segments_into};
use crate::element::{Element, FloatElement, IntegerElement};
use gpu_core::Error;

// `name of the whole array's: of the segments', of the axis', each with its form on a stream: bound, associated type
// of the bound => what is written, four elements => what two rows of them give, what two columns`.
macro_rules! named {
    ($($whole:ident: $segments:ident, $segments_into:ident, $axis:ident, $axis_into:ident: $bound:ident, $kind:ident
        => $output:ty, $values:expr => $of_rows:expr, $of_columns:expr;)*) => { $(
        #[doc = concat!("As [`", stringify!($whole), "`](crate::", stringify!($whole), "()), of each segment: see [`reduce_segments`].")]
        ///
        /// # Errors
        /// As [`reduce_segments`].
        ///
        /// ```
        /// let rows = gpu_reduce::Segments::of_length(2)?;
        #[doc = concat!("let results = gpu_reduce::", stringify!($segments), "(&", stringify!($values), ", rows)?;")]
        #[doc = concat!("assert_eq!(results.to_vec()?, ", stringify!($of_rows), ");")]
        /// # Ok::<(), gpu_reduce::Error>(())
        /// ```
        pub fn $segments<'a, 's, T: $bound>(
            input: impl Into<View<'a, T>>,
            segments: impl Into<Segments<'s>>,
        ) -> Result<Buffer<$output>, Error> {
            reduce_segments::<T::$kind>(T::one(input.into()), segments)
        }

        #[doc = concat!("As [`", stringify!($segments), "`], on `stream` and into `output`: see [`reduce_segments_into`].")]
        ///
        /// # Errors
        /// As [`reduce_segments_into`].
        pub fn $segments_into<'a, 's, 'b, T: $bound>(
            stream: &Stream,
            input: impl Into<View<'a, T>>,
            segments: impl Into<Segments<'s>>,
            output: impl Into<ViewMut<'b, $output>>,
            scratch: &mut Scratch,
        ) -> Result<(), Error> {
            reduce_segments_into::<T::$kind>(stream, T::one(input.into()), segments, output, scratch)
        }

        #[doc = concat!("As [`", stringify!($whole), "`](crate::", stringify!($whole), "()), along an axis: see [`reduce_axis`].")]
        ///
        /// # Errors
        /// As [`reduce_axis`].
        ///
        /// ```
        #[doc = concat!("let results = gpu_reduce::", stringify!($axis), "(&", stringify!($values), ", &[2, 2], 0)?;")]
        #[doc = concat!("assert_eq!(results.to_vec()?, ", stringify!($of_columns), ");")]
        /// # Ok::<(), gpu_reduce::Error>(())
        /// ```
        pub fn $axis<'a, T: $bound>(
            input: impl Into<View<'a, T>>,
            shape: &[usize],
            axis: usize,
        ) -> Result<Buffer<$output>, Error> {
            reduce_axis::<T::$kind>(T::one(input.into()), shape, axis)
        }

        #[doc = concat!("As [`", stringify!($axis), "`], on `stream` and into `output`: see [`reduce_axis_into`].")]
        ///
        /// # Errors
        /// As [`reduce_axis_into`].
        pub fn $axis_into<'a, 'b, T: $bound>(
            stream: &Stream,
            input: impl Into<View<'a, T>>,
            shape: &[usize],
            axis: usize,
            output: impl Into<ViewMut<'b, $output>>,
            scratch: &mut Scratch,
        ) -> Result<(), Error> {
            reduce_axis_into::<T::$kind>(stream, T::one(input.into()), shape, axis, output, scratch)
        }
    )* };
}

named! {
    sum: sum_segments, sum_segments_into, sum_axis, sum_axis_into: Element, Sum
        => T, [1, 2, 3, 4] => [3, 7], [4, 6];
    product: product_segments, product_segments_into, product_axis, product_axis_into: Element, Product
        => T, [1, 2, 3, 4] => [2, 12], [3, 8];
    min: min_segments, min_segments_into, min_axis, min_axis_into: Element, Min
        => T, [4, 3, 1, 2] => [3, 1], [1, 2];
    max: max_segments, max_segments_into, max_axis, max_axis_into: Element, Max
        => T, [4, 3, 1, 2] => [4, 2], [4, 3];
    minmax: minmax_segments, minmax_segments_into, minmax_axis, minmax_axis_into: Element, MinMax
        => T, [4, 3, 1, 2] => [3, 4, 1, 2], [1, 4, 2, 3];
    argmin: argmin_segments, argmin_segments_into, argmin_axis, argmin_axis_into: Element, ArgMin
        => u64, [4, 3, 1, 2] => [1, 0], [1, 1];
    argmax: argmax_segments, argmax_segments_into, argmax_axis, argmax_axis_into: Element, ArgMax
        => u64, [4, 3, 1, 2] => [0, 1], [0, 0];
    sum_of_squares: sum_of_squares_segments, sum_of_squares_segments_into,
        sum_of_squares_axis, sum_of_squares_axis_into: Element, SumOfSquares
        => T, [1, 2, 3, 4] => [5, 25], [10, 20];
    norm_l1: norm_l1_segments, norm_l1_segments_into, norm_l1_axis, norm_l1_axis_into: Element, NormL1
        => <T as Number>::Magnitude, [-1, 2, -3, 4] => [3u32, 7], [4u32, 6];
    norm_l2: norm_l2_segments, norm_l2_segments_into, norm_l2_axis, norm_l2_axis_into: FloatElement, NormL2
        => T, [0.0, 4.0, 3.0, 0.0] => [4.0, 3.0], [3.0, 4.0];
    norm_max: norm_max_segments, norm_max_segments_into, norm_max_axis, norm_max_axis_into: Element, NormMax
        => <T as Number>::Magnitude, [-1, 2, -3, 4] => [2u32, 4], [3u32, 4];
    any: any_segments, any_segments_into, any_axis, any_axis_into: Element, Any
        => u8, [0, 1, 0, 0] => [1, 0], [0, 1];
    all: all_segments, all_segments_into, all_axis, all_axis_into: Element, All
        => u8, [1, 1, 0, 1] => [1, 0], [0, 1];
    count_nonzero: count_nonzero_segments, count_nonzero_segments_into,
        count_nonzero_axis, count_nonzero_axis_into: Element, Count
        => u64, [5, 0, 7, 8] => [1, 2], [2, 1];
    bit_and: bit_and_segments, bit_and_segments_into, bit_and_axis, bit_and_axis_into: IntegerElement, And
        => T, [1, 3, 6, 3] => [1, 2], [0, 3];
    bit_or: bit_or_segments, bit_or_segments_into, bit_or_axis, bit_or_axis_into: IntegerElement, Or
        => T, [1, 2, 4, 6] => [3, 6], [5, 6];
    bit_xor: bit_xor_segments, bit_xor_segments_into, bit_xor_axis, bit_xor_axis_into: IntegerElement, Xor
        => T, [1, 3, 6, 3] => [2, 5], [7, 0];
    wide_sum: wide_sum_segments, wide_sum_segments_into, wide_sum_axis, wide_sum_axis_into: IntegerElement, WideSum
        => <T as Integer>::Wide, [200u8, 100, 50, 1] => [300, 51], [250, 101];
}
