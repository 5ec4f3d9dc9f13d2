//! The scans by name: inclusive and exclusive, one that returns the result, and one on a stream.

use gpu_core::{Buffer, Scratch, Stream, View, ViewMut};
use gpu_scan_kernels::Widen;

use super::{scan, scan_into};
use crate::element::{Element, IntegerElement, WideElement};
use crate::options::Options;
use gpu_core::Error;

macro_rules! form {
    ($(#[$doc:meta])* $name:ident, $into:ident, $options:ident: $bound:ident, $kind:ident => $output:ty) => {
        $(#[$doc])*
        ///
        /// Computed where `input` lives, in an order that is a function of its length alone (see the [crate
        /// documentation](crate)): every device gives the same bits. Allocates the result, which the
        /// form on a stream does not; scratch memory is what the device [keeps](gpu_core::Scratch::kept).
        ///
        /// # Errors
        /// As [`scan`](crate::scan()).
        pub fn $name<'a, T: $bound>(input: impl Into<View<'a, T>>) -> Result<Buffer<$output>, Error> {
            scan::<T::$kind>(input, Options::$options())
        }

        #[doc = concat!("As [`", stringify!($name), "`], on `stream` and into `output`: see [`scan_into`](crate::scan_into).")]
        ///
        /// # Errors
        /// As [`scan_into`](crate::scan_into).
        pub fn $into<'a, 'b, T: $bound>(
            stream: &Stream,
            input: impl Into<View<'a, T>>,
            output: impl Into<ViewMut<'b, $output>>,
            scratch: &mut Scratch,
        ) -> Result<(), Error> {
            scan_into::<T::$kind>(stream, input, Options::$options(), output, scratch)
        }
    };
}

form! {
    /// At every place the sum of all elements up to it. Integers wrap in their type: [`inclusive_wide_sum`] does not.
    /// NaN and infinities stay.
    ///
    /// ```
    /// // On the host …
    /// assert_eq!(gpu_scan::inclusive_sum(&[1.0, 2.0, 3.5])?.to_vec()?, [1.0, 3.0, 6.5]);
    /// // … and from a buffer that is on a device already.
    /// let device = gpu_core::Device::best();
    /// let values = device.upload(&[1.0; 1000])?;
    /// assert_eq!(gpu_scan::inclusive_sum(&values)?.to_vec()?[999], 1000.0);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_sum, inclusive_sum_into, inclusive: Element, Sum => T
}
form! {
    /// At every place the sum of all elements before it, from 0 on. Integers wrap in their type.
    ///
    /// ```
    /// // Where each of some lists starts, one after the other.
    /// assert_eq!(gpu_scan::exclusive_sum(&[3, 0, 2, 4])?.to_vec()?, [0, 3, 3, 5]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_sum, exclusive_sum_into, exclusive: Element, Sum => T
}
form! {
    /// At every place the sum of all elements up to it in a wider type: 8 and 16 bits in 32, 32 bits in 64.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_wide_sum(&[200u8, 100])?.to_vec()?, [200, 300]);
    /// assert_eq!(gpu_scan::inclusive_sum(&[200u8, 100])?.to_vec()?, [200, 44]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_wide_sum, inclusive_wide_sum_into, inclusive: WideElement, WideSum => <T as Widen>::Wide
}
form! {
    /// At every place the sum of all elements before it in a wider type, from 0 on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_wide_sum(&[200u8, 100, 1])?.to_vec()?, [0, 200, 300]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_wide_sum, exclusive_wide_sum_into, exclusive: WideElement, WideSum => <T as Widen>::Wide
}
form! {
    /// At every place the product of all elements up to it. Integers wrap.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_product(&[2, 3, 4])?.to_vec()?, [2, 6, 24]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_product, inclusive_product_into, inclusive: Element, Product => T
}
form! {
    /// At every place the product of all elements before it, from 1 on. Integers wrap.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_product(&[2, 3, 4])?.to_vec()?, [1, 2, 6]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_product, exclusive_product_into, exclusive: Element, Product => T
}
form! {
    /// At every place the smallest element up to it: NaN from the first NaN on, and -0 is smaller than +0.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_min(&[2, 3, 1])?.to_vec()?, [2, 2, 1]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_min, inclusive_min_into, inclusive: Element, Min => T
}
form! {
    /// At every place the smallest element before it, from the type's largest value (infinity) on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_min(&[2u8, 3, 1])?.to_vec()?, [255, 2, 2]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_min, exclusive_min_into, exclusive: Element, Min => T
}
form! {
    /// At every place the largest element up to it: NaN from the first NaN on, and +0 is larger than -0.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_max(&[2, 1, 3])?.to_vec()?, [2, 2, 3]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_max, inclusive_max_into, inclusive: Element, Max => T
}
form! {
    /// At every place the largest element before it, from the type's smallest value (negative infinity) on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_max(&[2u8, 1, 3])?.to_vec()?, [0, 2, 2]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_max, exclusive_max_into, exclusive: Element, Max => T
}
form! {
    /// At every place the bits that all elements up to it have.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_and(&[7, 3, 5])?.to_vec()?, [7, 3, 1]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_and, inclusive_and_into, inclusive: IntegerElement, And => T
}
form! {
    /// At every place the bits that all elements before it have, from all bits on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_and(&[7u8, 3, 5])?.to_vec()?, [255, 7, 3]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_and, exclusive_and_into, exclusive: IntegerElement, And => T
}
form! {
    /// At every place the bits that any element up to it has.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_or(&[1, 2, 4])?.to_vec()?, [1, 3, 7]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_or, inclusive_or_into, inclusive: IntegerElement, Or => T
}
form! {
    /// At every place the bits that any element before it has, from none on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_or(&[1, 2, 4])?.to_vec()?, [0, 1, 3]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_or, exclusive_or_into, exclusive: IntegerElement, Or => T
}
form! {
    /// At every place the bits that an odd number of elements up to it has.
    ///
    /// ```
    /// assert_eq!(gpu_scan::inclusive_xor(&[1, 3, 4])?.to_vec()?, [1, 2, 6]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    inclusive_xor, inclusive_xor_into, inclusive: IntegerElement, Xor => T
}
form! {
    /// At every place the bits that an odd number of elements before it has, from none on.
    ///
    /// ```
    /// assert_eq!(gpu_scan::exclusive_xor(&[1, 3, 4])?.to_vec()?, [0, 1, 2]);
    /// # Ok::<(), gpu_scan::Error>(())
    /// ```
    exclusive_xor, exclusive_xor_into, exclusive: IntegerElement, Xor => T
}
