//! The reductions by name: one that returns the result, and one on a stream.

use gpu_core::{Scratch, Stream, View, ViewMut};
use gpu_reduce_kernels::{Integer, Number};

use super::{reduce, reduce_into};
use crate::element::{Element, FloatElement, IntegerElement};
use gpu_core::Error;

// `name, name_into: bound, associated type of the bound => what the kernel writes, what is returned, how`.
macro_rules! named {
    ($($(#[$doc:meta])* $name:ident, $into:ident: $bound:ident, $kind:ident => $output:ty, $result:ty, $convert:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// Computed where `input` lives, in an order that is a function of its length alone (see the [crate
        /// documentation](crate)): every device gives the same bits. One launch and a wait for the result; scratch
        /// memory is what the device [keeps](gpu_core::Scratch::kept). The form on a stream does not wait.
        ///
        /// # Errors
        /// As [`reduce`](crate::reduce()).
        pub fn $name<'a, T: $bound>(input: impl Into<View<'a, T>>) -> Result<$result, Error> {
            reduce::<T::$kind, _>(T::one(input.into())).map($convert)
        }

        #[doc = concat!("As [`", stringify!($name), "`](crate::", stringify!($name), "()), on `stream` and into `output`: see [`reduce_into`](crate::reduce_into).")]
        ///
        /// # Errors
        /// As [`reduce_into`](crate::reduce_into).
        pub fn $into<'a, 'b, T: $bound>(
            stream: &Stream,
            input: impl Into<View<'a, T>>,
            output: impl Into<ViewMut<'b, $output>>,
            scratch: &mut Scratch,
        ) -> Result<(), Error> {
            reduce_into::<T::$kind>(stream, T::one(input.into()), output, scratch)
        }
    )* };
}

named! {
    /// The sum; zero for no elements. Integers wrap in their type: [`wide_sum`] does not. NaN and infinities propagate.
    ///
    /// ```
    /// // On the host …
    /// assert_eq!(gpu_reduce::sum(&[1.0, 2.0, 3.5])?, 6.5);
    /// // … and from a buffer that is on a device already.
    /// let device = gpu_core::Device::best();
    /// let values = device.upload(&[1.0; 1000])?;
    /// assert_eq!(gpu_reduce::sum(&values)?, 1000.0);
    /// // Into your own memory, on your own stream.
    /// use gpu_reduce::{Scratch, sum_into};
    /// let stream = device.stream()?;
    /// let mut output = device.zeroed(1)?;
    /// let mut scratch = Scratch::new(&stream);
    /// sum_into(&stream, &values, &mut output, &mut scratch)?;
    /// stream.synchronize()?;
    /// assert_eq!(output.to_vec()?, [1000.0]);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    sum, sum_into: Element, Sum => T, T, first;
    /// The product; one for no elements. Integers wrap. NaN propagates.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::product(&[2.0, 3.0, -0.5])?, -3.0);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    product, product_into: Element, Product => T, T, first;
    /// The smallest element: NaN if there is one, and -0 is smaller than +0. There is none of no elements.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::min(&[2, -7, 3])?, -7);
    /// assert!(gpu_reduce::min(&[2.0, f32::NAN])?.is_nan());
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    min, min_into: Element, Min => T, T, first;
    /// The largest element: NaN if there is one, and +0 is larger than -0. There is none of no elements.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::max(&[2, -7, 3])?, 3);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    max, max_into: Element, Max => T, T, first;
    /// The smallest and the largest element as [`min`] and [`max`], in one pass; on a stream, two outputs.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::minmax(&[2, -7, 3])?, (-7, 3));
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    minmax, minmax_into: Element, MinMax => T, (T, T), |[min, max]: [T; 2]| (min, max);
    /// The index of the smallest element: of several the first, and the first NaN if there is one. -0 is smaller than
    /// +0.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::argmin(&[2, -3, 7, -3])?, 1);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    argmin, argmin_into: Element, ArgMin => u64, usize, index;
    /// The index of the largest element: of several the first, and the first NaN if there is one. +0 is larger than -0.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::argmax(&[2, 7, -3, 7])?, 1);
    /// assert_eq!(gpu_reduce::argmax(&[2.0, f64::NAN, f64::INFINITY])?, 1);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    argmax, argmax_into: Element, ArgMax => u64, usize, index;
    /// The sum of the squares in the elements' type; integers wrap.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::sum_of_squares(&[3.0, -4.0])?, 25.0);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    sum_of_squares, sum_of_squares_into: Element, SumOfSquares => T, T, first;
    /// The sum of the magnitudes. Those of integers are unsigned, and their sum wraps.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::norm_l1(&[3i32, -4])?, 7u32);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    norm_l1, norm_l1_into: Element, NormL1 => <T as Number>::Magnitude, T::Magnitude, first;
    /// The largest magnitude, zero for no elements. Those of integers are unsigned.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::norm_max(&[i8::MIN, 3])?, 128u8);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    norm_max, norm_max_into: Element, NormMax => <T as Number>::Magnitude, T::Magnitude, first;
    /// The square root of the sum of squares, zero for no elements: finite wherever its value is, and not zero unless
    /// that is.
    ///
    /// ```
    /// let large = 2f64.powi(700); // its square is not finite
    /// assert_eq!(gpu_reduce::norm_l2(&[3.0 * large, -4.0 * large])?, 5.0 * large);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    norm_l2, norm_l2_into: FloatElement, NormL2 => T, T, first;
    /// Whether any element is not zero; false for none. NaN is not zero. On a stream, 0 or 1.
    ///
    /// ```
    /// assert!(gpu_reduce::any(&[0, 0, 2])? && !gpu_reduce::any(&[0.0, -0.0])?);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    any, any_into: Element, Any => u8, bool, truth;
    /// Whether no element is zero; true for none. On a stream, 0 or 1.
    ///
    /// ```
    /// assert!(gpu_reduce::all(&[1, 2])? && !gpu_reduce::all(&[1, 0])?);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    all, all_into: Element, All => u8, bool, truth;
    /// How many elements are not zero. NaN is not.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::count_nonzero(&[0.0, 2.5, f32::NAN])?, 2);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    count_nonzero, count_nonzero_into: Element, Count => u64, usize, index;
    /// The bits that all elements have; all bits for none.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::bit_and(&[0b110, 0b011])?, 0b010);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    bit_and, bit_and_into: IntegerElement, And => T, T, first;
    /// The bits that any element has.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::bit_or(&[0b110, 0b011])?, 0b111);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    bit_or, bit_or_into: IntegerElement, Or => T, T, first;
    /// The bits that an odd number of elements has.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::bit_xor(&[0b110, 0b011])?, 0b101);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    bit_xor, bit_xor_into: IntegerElement, Xor => T, T, first;
    /// The sum in 64 bits, `i64` or `u64`.
    ///
    /// ```
    /// assert_eq!(gpu_reduce::wide_sum(&[200u8, 100])?, 300);
    /// assert_eq!(gpu_reduce::sum(&[200u8, 100])?, 44);
    /// # Ok::<(), gpu_reduce::Error>(())
    /// ```
    wide_sum, wide_sum_into: IntegerElement, WideSum => <T as Integer>::Wide, T::Wide, first;
}

/// The sum of the products of two arrays' elements, each rounded before it is added; zero for no elements. Integers
/// wrap.
///
/// Where the magnitudes of the products add up to more than the type holds, sums on the way can be infinite, of
/// either sign, and the result infinite or NaN though the exact one is finite: the order of combination is not that
/// of the elements.
///
/// # Errors
/// As [`reduce`](crate::reduce()).
///
/// ```
/// assert_eq!(gpu_reduce::dot(&[1.0, 2.0], &[3.0, 4.0])?, 11.0);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn dot<'a, T: Element>(a: impl Into<View<'a, T>>, b: impl Into<View<'a, T>>) -> Result<T, Error> {
    reduce::<T::Dot, _>(T::two(a.into(), b.into())).map(first)
}

/// As [`dot`](crate::dot()), on `stream` and into `output`: see [`reduce_into`](crate::reduce_into).
///
/// # Errors
/// As [`reduce_into`](crate::reduce_into).
pub fn dot_into<'a, 'b, T: Element>(
    stream: &Stream,
    a: impl Into<View<'a, T>>,
    b: impl Into<View<'a, T>>,
    output: impl Into<ViewMut<'b, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    reduce_into::<T::Dot>(stream, T::two(a.into(), b.into()), output, scratch)
}

fn first<T>([only]: [T; 1]) -> T {
    only
}

fn index([index]: [u64; 1]) -> usize {
    index as usize
}

fn truth([truth]: [u8; 1]) -> bool {
    truth != 0
}
