//! The types where those of the crate `half` are not: their names, their methods, and what kernels need of them.

use super::backend;

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
