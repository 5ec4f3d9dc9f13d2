//! Float operations by name. `fma` and `sqrt` are `.rn` as LLVM emits them.

macro_rules! float {
    ($name:ident, $t:ty) => {
        pub mod $name {
            #[inline(always)]
            pub fn mul_add(a: $t, b: $t, c: $t) -> $t {
                core::$name::math::mul_add(a, b, c)
            }
            #[inline(always)]
            pub fn sqrt(a: $t) -> $t {
                core::$name::math::sqrt(a)
            }
            // `min.f32` orders -0 below +0 but drops a NaN; LLVM's `minimum` would put that right with branches where the
            // instruction has no `.NaN`, so it is put right here, with a select.
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
float!(f32, f32);
float!(f64, f64);
