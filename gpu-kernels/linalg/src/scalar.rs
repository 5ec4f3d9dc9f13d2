//! Elements, and the type that sums of them are computed in.

use gpu_collective::Accumulator;
use gpu_std::float::Float;
use gpu_std::half::{Float16, bf16, f16};
use gpu_std::memory::Element;
use gpu_std::opaque;

/// An element of vectors and matrices: `f32`, `f64`, and, computed with as `f32`, `f16` and `bf16`.
pub trait Scalar: Element {
    /// What sums are computed in.
    type Sum: Float + Accumulator;
    /// The same value.
    fn widen(self) -> Self::Sum;
    /// The nearest value.
    fn narrow(sum: Self::Sum) -> Self;
}

macro_rules! scalars {
    ($($T:ty, $Sum:ty: $widen:expr, $narrow:expr;)*) => { $(
        impl Scalar for $T {
            type Sum = $Sum;
            #[inline(always)]
            fn widen(self) -> $Sum {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(sum: $Sum) -> Self {
                $narrow(sum)
            }
        }
    )* };
}
scalars! {
    f32, f32: |value| value, |sum| sum;
    f64, f64: |value| value, |sum| sum;
    f16, f32: Float16::widen, Float16::narrow;
    bf16, f32: Float16::widen, Float16::narrow;
}

/// `alpha · sum + beta · old`: `fma(alpha, sum + 0, beta · old)`, and `alpha · (sum + 0)` where `beta` is zero; `old`
/// is asked for only where it is not. The zero makes +0 of a sum that is -0, which it may or may not be where zeros
/// beyond the end of a chain are added.
#[inline(always)]
pub(super) fn combine<T: Float>(alpha: T, sum: T, beta: T, old: impl FnOnce() -> T) -> T {
    let sum = sum + T::ZERO;
    if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * old()) }
}

/// The same value, of which the compiler does not know that it was read: it would read what comes before a loop and
/// what the loop's end reads for the next turn in one place, at the loop's head, where it is then waited for.
pub(super) trait Hidden {
    fn hidden(self) -> Self;
}

impl Hidden for f32 {
    #[inline(always)]
    fn hidden(self) -> Self {
        Self::from_bits(opaque(self.to_bits()))
    }
}

impl Hidden for f64 {
    #[inline(always)]
    fn hidden(self) -> Self {
        let bits = self.to_bits();
        Self::from_bits(u64::from(opaque((bits >> 32) as u32)) << 32 | u64::from(opaque(bits as u32)))
    }
}
