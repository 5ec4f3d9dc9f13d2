//! Elements.

use gpu_collective::Accumulator;
use gpu_std::atomic::AtomicElement;
use gpu_std::float::Float;
use gpu_std::memory::Element;
use gpu_std::warp::WarpShuffleValue;

/// An element of matrices and vectors: `f32`, `f64`.
pub trait Scalar: Float + WarpShuffleValue + Accumulator {
    /// Its bits, which threads exchange through atomic variables.
    type Word: AtomicElement + Element + Eq;
    /// The bits of an element that is not known yet: those of a NaN that no result has, all of them one, so that
    /// bytes of ones are such elements.
    const UNKNOWN: Self::Word;
    /// The element's bits; those of any NaN are of one that is not [`UNKNOWN`](Self::UNKNOWN).
    fn to_word(self) -> Self::Word;
    /// The element with these bits.
    fn from_word(word: Self::Word) -> Self;
}

macro_rules! scalars {
    ($($T:ident: $Word:ident;)*) => { $(
        impl Scalar for $T {
            type Word = $Word;
            const UNKNOWN: $Word = $Word::MAX;
            #[inline(always)]
            fn to_word(self) -> $Word {
                if self.is_nan() { $T::INFINITY.to_bits() | 1 << ($T::MANTISSA_DIGITS - 2) } else { self.to_bits() }
            }
            #[inline(always)]
            fn from_word(word: $Word) -> Self {
                $T::from_bits(word)
            }
        }
    )* };
}
scalars! {
    f32: u32;
    f64: u64;
}

/// `alpha · sum + beta · old`: `fma(alpha, sum + 0, beta · old)`, and `alpha · (sum + 0)` where `beta` is zero; `old`
/// is asked for only where it is not. The zero makes +0 of a sum that is -0, which it may or may not be where zeros
/// beyond the end of a row are added.
#[inline(always)]
pub(crate) fn combine<T: Float>(alpha: T, sum: T, beta: T, old: impl FnOnce() -> T) -> T {
    let sum = sum + T::ZERO;
    if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * old()) }
}
