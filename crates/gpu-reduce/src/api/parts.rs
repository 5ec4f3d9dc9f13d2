//! The reductions of segments and along axes by name.

use gpu_core::{Segments, View};
use gpu_reduce_kernels::{Integer, Number};

use super::{reduce_axis, reduce_segments};
use crate::element::{Element, IntegerElement, RealElement};
use gpu_core::Error;

// `name of the whole array's, of the segments', of the axis': bound, associated type of the bound => what each gives,
// how`.
macro_rules! named {
    ($($whole:ident, $segments:ident, $axis:ident: $bound:ident, $kind:ident => $output:ty, $convert:expr;)*) => { $(
        #[doc = concat!("As [`", stringify!($whole), "`](crate::", stringify!($whole), "()), of each segment: see [`reduce_segments`].")]
        ///
        /// # Errors
        /// As [`reduce_segments`].
        pub fn $segments<'a, 's, T: $bound>(
            input: impl Into<View<'a, T>>,
            segments: impl Into<Segments<'s>>,
        ) -> Result<Vec<$output>, Error> {
            reduce_segments::<T::$kind>(T::one(input.into()), segments).map($convert)
        }

        #[doc = concat!("As [`", stringify!($whole), "`](crate::", stringify!($whole), "()), along an axis: see [`reduce_axis`].")]
        ///
        /// # Errors
        /// As [`reduce_axis`].
        pub fn $axis<'a, T: $bound>(
            input: impl Into<View<'a, T>>,
            shape: &[usize],
            axis: usize,
        ) -> Result<Vec<$output>, Error> {
            reduce_axis::<T::$kind>(T::one(input.into()), shape, axis).map($convert)
        }
    )* };
}

named! {
    sum, sum_segments, sum_axis: Element, Sum => T, same;
    product, product_segments, product_axis: Element, Product => T, same;
    min, min_segments, min_axis: Element, Min => T, same;
    max, max_segments, max_axis: Element, Max => T, same;
    minmax, minmax_segments, minmax_axis: Element, MinMax => (T, T), pairs;
    argmin, argmin_segments, argmin_axis: Element, ArgMin => u64, same;
    argmax, argmax_segments, argmax_axis: Element, ArgMax => u64, same;
    sum_of_squares, sum_of_squares_segments, sum_of_squares_axis: Element, SumOfSquares => T, same;
    norm_l1, norm_l1_segments, norm_l1_axis: Element, NormL1 => <T as Number>::Magnitude, same;
    norm_l2, norm_l2_segments, norm_l2_axis: RealElement, NormL2 => T, same;
    norm_max, norm_max_segments, norm_max_axis: Element, NormMax => <T as Number>::Magnitude, same;
    any, any_segments, any_axis: Element, Any => bool, truths;
    all, all_segments, all_axis: Element, All => bool, truths;
    count_nonzero, count_nonzero_segments, count_nonzero_axis: Element, Count => u64, same;
    bit_and, bit_and_segments, bit_and_axis: IntegerElement, And => T, same;
    bit_or, bit_or_segments, bit_or_axis: IntegerElement, Or => T, same;
    bit_xor, bit_xor_segments, bit_xor_axis: IntegerElement, Xor => T, same;
    wide_sum, wide_sum_segments, wide_sum_axis: IntegerElement, WideSum => <T as Integer>::Wide, same;
}

fn same<T>(results: Vec<T>) -> Vec<T> {
    results
}

fn pairs<T: Copy>(results: Vec<T>) -> Vec<(T, T)> {
    results.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

fn truths(results: Vec<u8>) -> Vec<bool> {
    results.into_iter().map(|truth| truth != 0).collect()
}
