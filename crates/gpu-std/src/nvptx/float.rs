//! Float operations by name. `fma` and `sqrt` are `.rn` as LLVM emits them.

use core::arch::asm;

macro_rules! float {
    ($name:ident, $t:ty, $to_u32:expr) => {
        pub mod $name {
            #[inline(always)]
            pub fn mul_add(a: $t, b: $t, c: $t) -> $t {
                core::$name::math::mul_add(a, b, c)
            }
            #[inline(always)]
            pub fn sqrt(a: $t) -> $t {
                core::$name::math::sqrt(a)
            }
            #[inline(always)]
            pub fn to_u32(a: $t) -> u32 {
                $to_u32(a)
            }
            // `min.f32` orders -0 below +0 but drops a NaN; LLVM's `minimum` would put that right with branches where
            // the instruction has no `.NaN`, so it is put right here, with a select.
            #[inline(always)]
            pub fn min(a: $t, b: $t) -> $t {
                if a.is_nan() | b.is_nan() { <$t>::NAN } else { <$t>::min(a, b) }
            }
            #[inline(always)]
            pub fn max(a: $t, b: $t) -> $t {
                if a.is_nan() | b.is_nan() { <$t>::NAN } else { <$t>::max(a, b) }
            }
        }
    };
}
float!(f32, f32, super::f32_to_u32);
// `cvt` does not make a NaN of f64 zero.
float!(f64, f64, |a| a as u32);

#[inline(always)]
fn f32_to_u32(a: f32) -> u32 {
    let whole: u32;
    // SAFETY: it works on registers only.
    unsafe {
        asm!("cvt.rzi.u32.f32 {}, {};", out(reg32) whole, in(reg32) a, options(pure, nomem, nostack, preserves_flags));
    }
    whole
}
