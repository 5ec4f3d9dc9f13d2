//! Floating-point operations with the same bits on the host, in the simulator and on the GPU.
//!
//! `+ - * /` need no help: they are correctly rounded and never contracted on all three. Any NaN counts as any other.

use crate::memory::Element;

/// `f32` or `f64`.
pub trait Float:
    Element
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
    + core::ops::Mul<Output = Self>
    + core::ops::Div<Output = Self>
    + core::ops::Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// `self * factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// The smaller: NaN if either is, and -0 is smaller than +0.
    fn min(self, other: Self) -> Self;
    /// The larger: NaN if either is, and +0 is larger than -0.
    fn max(self, other: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The whole part, as `as u32`: 0 below and for NaN, `u32::MAX` above. Of `f32` one instruction, where LLVM would
    /// bound what the instruction bounds itself.
    fn to_u32(self) -> u32;
}

#[cfg(target_arch = "nvptx64")]
use crate::backend::float as backend;
#[cfg(not(target_arch = "nvptx64"))]
mod backend {
    macro_rules! float {
        ($name:ident, $t:ty) => {
            pub mod $name {
                #[inline]
                pub fn mul_add(a: $t, b: $t, c: $t) -> $t {
                    a.mul_add(b, c)
                }
                #[inline]
                pub fn min(a: $t, b: $t) -> $t {
                    if a < b || (a == b && a.is_sign_negative()) || a.is_nan() { a } else { b }
                }
                #[inline]
                pub fn max(a: $t, b: $t) -> $t {
                    if a > b || (a == b && a.is_sign_positive()) || a.is_nan() { a } else { b }
                }
                #[inline]
                pub fn sqrt(a: $t) -> $t {
                    a.sqrt()
                }
                #[inline]
                pub fn to_u32(a: $t) -> u32 {
                    a as u32
                }
            }
        };
    }
    float!(f32, f32);
    float!(f64, f64);
}

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Float for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                backend::$t::mul_add(self, factor, summand)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                backend::$t::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                backend::$t::max(self, other)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                backend::$t::sqrt(self)
            }
            #[inline(always)]
            fn to_u32(self) -> u32 {
                backend::$t::to_u32(self)
            }
        }
    )* };
}
floats!(f32 f64);

/// `factor * other + summand`, rounded once (`fma.rn`).
#[inline(always)]
pub fn mul_add<T: Float>(factor: T, other: T, summand: T) -> T {
    factor.mul_add(other, summand)
}

/// The smaller: NaN if either is, and -0 is smaller than +0.
#[inline(always)]
pub fn min<T: Float>(a: T, b: T) -> T {
    a.min(b)
}

/// The larger: NaN if either is, and +0 is larger than -0.
#[inline(always)]
pub fn max<T: Float>(a: T, b: T) -> T {
    a.max(b)
}

/// The absolute value.
#[inline(always)]
pub fn abs<T: Float>(a: T) -> T {
    a.abs()
}

/// The square root, correctly rounded (`sqrt.rn`).
#[inline(always)]
pub fn sqrt<T: Float>(a: T) -> T {
    a.sqrt()
}
