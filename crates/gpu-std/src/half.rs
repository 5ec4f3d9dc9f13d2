//! Floating-point numbers of 16 bits: stored as such, computed with as `f32`.
//!
//! With the feature `half`, which gpu-core's feature of that name turns on, `f16` and `bf16` are the types of the
//! crate of that name on the host: its arrays are arrays of elements, its numbers are arguments of kernels. Without it
//! they are types of this crate, so that nothing else is compiled, and so they are on the GPU, where `half` would
//! convert in some twenty integer instructions and there is one for it. Bits and names are the same: what these types
//! have, `half`'s have too, and what those lack, [`Float16`] adds to both.
//!
//! Both conversions are correctly rounded, to even, and give the same bits on the host, in the simulator and on the
//! GPU; of NaNs only that they are.
//!
//! ```
//! use gpu_std::half::{bf16, f16};
//! assert_eq!(f16::from_f32(0.1).to_f32(), 0.099_975_586);
//! assert_eq!(f16::from_f32(65_520.0).to_f32(), f32::INFINITY);
//! assert_eq!(bf16::from_f32(1.0 + 1.0 / 256.0).to_f32(), 1.0);
//! ```

#[cfg(any(test, not(feature = "half"), target_arch = "nvptx64"))]
mod own;

#[cfg(all(feature = "half", not(target_arch = "nvptx64")))]
pub use ::half::{bf16, f16};
#[cfg(any(not(feature = "half"), target_arch = "nvptx64"))]
pub use own::{bf16, f16};

/// What kernels do with `f16` and `bf16` besides moving them, the same whichever types these are on the host: there
/// by integers, which the compiler turns into vectors, where `half` calls a function for each number.
///
/// ```
/// use gpu_std::half::{Float16, bf16};
/// let value = bf16::narrow(-1.5);
/// assert_eq!((value.widen(), value.abs().widen()), (-1.5, 1.5));
/// ```
pub trait Float16: Copy {
    /// The nearest number, of two the even one; infinity beyond the largest.
    fn narrow(value: f32) -> Self;
    /// The same value.
    fn widen(self) -> f32;
    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;
}

macro_rules! float_16 {
    ($($t:ident)*) => { $(
        impl Float16 for $t {
            #[inline(always)]
            fn narrow(value: f32) -> Self {
                Self::from_bits(backend::$t::from_f32(value))
            }
            #[inline(always)]
            fn widen(self) -> f32 {
                backend::$t::to_f32(self.to_bits())
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff)
            }
        }
    )* };
}
float_16!(f16 bf16);

#[cfg(target_arch = "nvptx64")]
use crate::backend::half as backend;

/// By integers, as any machine can.
#[cfg(not(target_arch = "nvptx64"))]
mod backend {
    pub mod f16 {
        pub fn from_f32(value: f32) -> u16 {
            let bits = value.to_bits();
            let sign = (bits >> 16 & 0x8000) as u16;
            let magnitude = bits & 0x7fff_ffff;
            sign | if magnitude > 0x7f80_0000 {
                0x7e00
            } else if magnitude >= 0x4780_0000 {
                // 2^16 and more.
                0x7c00
            } else if magnitude < 0x3880_0000 {
                // Below 2^-14 numbers are 2^-24 apart, as they are in f32 above 1/2: the addition rounds.
                ((f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000) as u16
            } else {
                // A carry moves on to the next exponent, and from the last one to infinity.
                let rounded = magnitude + 0x0fff + (magnitude >> 13 & 1);
                ((rounded - 0x3800_0000) >> 13) as u16
            }
        }

        pub fn to_f32(bits: u16) -> f32 {
            let (sign, magnitude) = ((bits as u32 & 0x8000) << 16, bits as u32 & 0x7fff);
            let value = if magnitude >= 0x7c00 {
                0x7f80_0000 | (magnitude & 0x03ff) << 13
            } else {
                // 2^112 puts the exponent right, of subnormal numbers too.
                (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits()
            };
            f32::from_bits(sign | value)
        }
    }

    pub mod bf16 {
        pub fn from_f32(value: f32) -> u16 {
            let bits = value.to_bits();
            if bits & 0x7fff_ffff > 0x7f80_0000 {
                return (bits >> 16) as u16 | 0x0040;
            }
            ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
        }

        pub fn to_f32(bits: u16) -> f32 {
            f32::from_bits((bits as u32) << 16)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Float16;
    use super::own::{bf16, f16};

    /// All of them, and what lies between them: next to each, and around the middle to the next one.
    #[test]
    fn conversions_are_those_of_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (f16::from_bits(bits).to_f32(), half::f16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "f16 {bits:#x}"
            );
            between(ours, |value| {
                let theirs = half::f16::from_f32(value);
                assert_eq!(f16::from_f32(value).to_bits(), theirs.to_bits(), "f16 of {value:e}");
            });
            let (ours, theirs) = (bf16::from_bits(bits).to_f32(), half::bf16::from_bits(bits).to_f32());
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "bf16 {bits:#x}"
            );
            between(ours, |value| {
                let theirs = half::bf16::from_f32(value);
                assert_eq!(bf16::from_f32(value).to_bits(), theirs.to_bits(), "bf16 of {value:e}");
            });
        }
        assert!(f16::from_f32(f32::NAN).to_f32().is_nan() && bf16::from_f32(f32::NAN).to_f32().is_nan());
        assert!(bf16::from_f32(f32::from_bits(0x7f80_0001)).to_f32().is_nan(), "a NaN is no infinity");
    }

    fn between(value: f32, check: impl Fn(f32)) {
        // Half of the distance to the next one, in units of f32: f16 has 13 bits less, bf16 16.
        for half in [0, 1 << 12, 1 << 15] {
            for bits in [-1, 0, 1].map(|off: i32| value.to_bits().wrapping_add_signed(half + off)) {
                if !f32::from_bits(bits).is_nan() {
                    check(f32::from_bits(bits));
                }
            }
        }
        // Subnormal f16 are 2^-24 apart.
        for off in [-1, 0, 1] {
            let middle = value + f32::from_bits((127 - 25) << 23);
            if !middle.is_nan() {
                check(f32::from_bits(middle.to_bits().wrapping_add_signed(off)));
            }
        }
    }

    #[test]
    fn comparisons_are_those_of_the_values() {
        assert_eq!(f16::from_f32(-0.0), f16::ZERO);
        assert_ne!(f16::from_f32(f32::NAN), f16::from_f32(f32::NAN));
        assert!(bf16::from_f32(-2.0) < bf16::ONE && f16::from_f32(0.5) < f16::ONE);
        assert_eq!((f16::ONE.to_f32(), bf16::ONE.to_f32()), (1.0, 1.0));
        assert_eq!(format!("{:?} {}", bf16::ONE, f16::ONE), "1.0 1");
    }

    /// Of whichever types are in use.
    #[test]
    fn what_kernels_do_gives_the_same_bits() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (super::f16::from_bits(bits), super::bf16::from_bits(bits));
            let own = (f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32());
            assert_eq!(half.widen().to_bits(), own.0.to_bits(), "f16 {bits:#x}");
            assert_eq!(brain.widen().to_bits(), own.1.to_bits(), "bf16 {bits:#x}");
            let narrow = (super::f16::narrow(own.1).to_bits(), super::bf16::narrow(own.1).to_bits());
            let expected = (f16::from_f32(own.1).to_bits(), bf16::from_f32(own.1).to_bits());
            assert_eq!(narrow, expected, "{:e}", own.1);
            assert_eq!((half.abs().to_bits(), brain.abs().to_bits()), (bits & 0x7fff, bits & 0x7fff));
        }
    }
}
