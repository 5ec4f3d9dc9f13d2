//! Kernels that serve several reductions.
//!
//! A kernel of segments is two thousand instructions, of which a reduction's own are few. So reductions that differ
//! by little share one. It is told by three words, [`Choice`], which of them is wanted: what becomes of an element's
//! bits as it is read (an instruction for 32 bits of elements), and one more, of which it makes what the table says.
//! Whose choice is which says [`ByChoice`]; which kernels there are, and for which types,
//! [`reduce_instances`](crate::reduce_instances).
//!
//! | kernel | computes | serves |
//! |---|---|---|
//! | [`Bits`] | `or`, or `xor` | those; `and`, which is `or` of the bits that are not set |
//! | [`Extreme`] | the largest, or whether it is not zero | the maximum; the minimum, by masks; the maximum norm; any; all |
//! | [`Extremes`] | the smallest and the largest integer, or the greater magnitude | both; the maximum norm |
//! | [`Place`] | where the largest is | that; where the smallest is, by masks |
//! | [`Sums`] | the sum of integers in 64 bits, or its lowest bits, or that of ones | both sums; the count |
//! | [`Counts`] | how many are not zero | the count, of whole arrays |
//! | [`Weighted`] | the sum of elements times what a choice makes of them | the sum of squares; the sum of magnitudes |
//! | [`HalfSums`] | the sum of 16-bit floats in 32 bits, or rounded | both; the sum of magnitudes |
//!
//! By masks a minimum is the maximum of what the order of numbers turns over, extremes of signed integers are those
//! of unsigned ones with the sign bit turned, and no element is zero where the largest of the turned bits is not all
//! of them.

mod choice;
mod kernels;
mod served;
mod sums;

pub use choice::{Choice, Maskable, Told, ToldSource};
pub use kernels::{Bits, Extreme, Extremes, Place};
pub use served::ByChoice;
pub use sums::{Counts, HalfSums, Sums, Weighable, Weighted};
