//! Floating-point numbers of 16 bits: stored as such, computed with as `f32`.
//!
//! Slices of other crates' types with the same bits, such as `half::f16`, become slices of these by
//! `bytemuck::cast_slice`.
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

macro_rules! halves {
    ($($(#[$doc:meta])* $t:ident: $one:literal;)*) => { $(
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[repr(transparent)]
        #[derive(Clone, Copy, Default)]
        pub struct $t(u16);

        impl $t {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($one);

            /// The number with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// The nearest one, of two the even one; infinity beyond the largest.
            #[inline(always)]
            pub fn from_f32(value: f32) -> Self {
                Self(backend::$t::from_f32(value))
            }

            /// The same value.
            #[inline(always)]
            pub fn to_f32(self) -> f32 {
                backend::$t::to_f32(self.0)
            }

            /// The absolute value.
            #[inline(always)]
            #[must_use]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7fff)
            }
        }

        impl From<$t> for f32 {
            #[inline(always)]
            fn from(value: $t) -> f32 {
                value.to_f32()
            }
        }

        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $t {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl core::fmt::Debug for $t {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl core::fmt::Display for $t {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        // SAFETY: zero is a number.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Zeroable for $t {}
        // SAFETY: it has the size of its bits, no padding, and any bits are a number.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Pod for $t {}
    )* };
}
halves! {
    /// IEEE 754's binary16: 11 bits of precision, up to 65,504.
    f16: 0x3c00;
    /// The upper half of an `f32`: 8 bits of precision, and its range.
    bf16: 0x3f80;
}

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
    use super::*;

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
        assert_eq!(
            (f16::from_f32(-3.0).abs().to_f32(), format!("{:?}", bf16::ONE)),
            (3.0, "1.0".to_string())
        );
    }
}
