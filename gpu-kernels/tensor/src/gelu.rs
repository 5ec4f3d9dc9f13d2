//! The Gaussian error linear unit, with the same bits on the CPU, in the simulator and on the GPU.
//!
//! `x · Φ(x)`, Φ being the normal distribution's cumulative function (Hendrycks and Gimpel, "Gaussian error linear
//! units", 2016), and their form with a hyperbolic tangent. Both are `max(x, 0) - t · q(t)` with `t = |x|`: the tail
//! `q(t)`, Φ(-t) or that of the other form, is small where `x` is large. So a negative `x` loses nothing to
//! cancellation, and a positive one at most a bit: `t · q(t)` is `x / 2` or less.
//!
//! The tail is `e^E · r`, of additions, multiplications and fused multiply-adds alone:
//!
//! * erf: `E = -t²/2` and `r = Φ(-t) e^{t²/2}`, which falls from 1/2 like `1 / (t √(2π))`. With `w = 1 / (1 + 0.345 t)`
//!   it is `w` times a polynomial of degree 8 in `1 - w = 0.345 t w`, whose largest relative error for `t` up to 15 is
//!   the smallest, 2.7·10⁻⁸. What the square's rounding loses is known (`fma(t, t, -t²)`) and made up for.
//! * tanh: with `E = -2 √(2/π) (t + 0.044715 t³)`, the tail is `e^E / (1 + e^E)`.
//!
//! `e^E` is `2^n e^f` with `|f| ≤ ln 2 / 2`, and `e^f = 1 + f + f² p(f)` with a polynomial of degree 4, within
//! 3.1·10⁻⁹. A reciprocal is guessed from the number's bits, of which the exponent changes its sign, within 12 %;
//! two steps of third order take that to 5·10⁻⁹.
//!
//! # Error
//! In units of `u` = 2⁻²⁴, relative to the tail, to first order. Of erf: `e^f` has 2.5 (three roundings of `f`, which
//! is small, and its last addition); `w` has 3; `1 - w` has 5, by which the polynomial changes at most as much; its own
//! operations have 4.9, and its coefficients' roundings come to 5.5 at most; the approximation has 0.5, and three
//! products 3. Together they are less than 25, with the result's own rounding 26. The largest error of every 211th
//! number is 4.7 units in the last place.
//!
//! Of tanh `E` has 4 roundings, for which nothing makes up: with `8 + 4 |E|` in all, the result is as good where `x`
//! is -1 or more, and has five decimal places where it is about to become zero.

use gpu_std::float::{abs, mul_add};
use gpu_std::unroll;

/// Beyond it `t · q(t)` is less than half the smallest number, in either form.
const END: f32 = 15.0;
/// Of the tanh form the exponent falls faster: where it ends.
const LEAST: f32 = -115.0;
/// `2 √(2/π)`, and 0.044715 times that.
const LINEAR: f32 = 1.595_769_2;
const CUBIC: f32 = 0.071_354_814;
/// 1.5 · 2²³: what is added to it is rounded to a whole number, in the lower bits of the sum.
const WHOLE: f32 = 12_582_912.0;
/// ln 2, the first part of 16 bits, so that products with `n` are exact.
const LN_2: [f32; 2] = [0.693_145_75, 1.428_606_8e-6];
/// Of `p(f)`, and of the tail in `1 - w`, the lowest power first.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_2, 0.041_668_393, 0.008_368_781, 0.001_381_446_6];
const SLOPE: f32 = 0.345;
const TAIL: [f32; 9] = [
    0.5,
    -0.656_353_8,
    0.287_645_7,
    0.094_452_925,
    -0.070_380_09,
    -0.023_333_916,
    -0.046_706_133,
    0.080_229_62,
    -0.027_933_456,
];

/// `x · Φ(x)`, within `26 · 2⁻²⁴` of its size. Of -∞ it is -0, of -0, too, and of NaN it is NaN.
///
/// ```
/// assert_eq!(gpu_tensor_kernels::gelu(1.0), 0.841_344_8);
/// ```
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    of_form(x, false)
}

/// `x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`, within `(9 + 4 |E|) 2⁻²⁴` of its size, with `E` twice what `tanh` is
/// of. Of -∞ it is -0, of -0, too, and of NaN it is NaN.
///
/// ```
/// assert_eq!(gpu_tensor_kernels::gelu_tanh(1.0), 0.841_192);
/// ```
#[inline(always)]
pub fn gelu_tanh(x: f32) -> f32 {
    of_form(x, true)
}

/// One of them, which is the same for all lanes: what differs is selected, so that the code is there once.
#[inline(always)]
pub(crate) fn of_form(x: f32, is_tanh: bool) -> f32 {
    let size = abs(x);
    // Of a NaN, too, which comes back in the end.
    let t = if size < END { size } else { END };
    let square = t * t;
    let (exponent, lost) = if is_tanh {
        (-t * mul_add(CUBIC, square, LINEAR), 0.0)
    } else {
        (-0.5 * square, mul_add(t, t, -square))
    };
    let exponent = if exponent > LEAST { exponent } else { LEAST };
    let sum = mul_add(exponent, core::f32::consts::LOG2_E, WHOLE);
    let n = sum - WHOLE;
    let f = mul_add(n, -LN_2[1], mul_add(lost, -0.5, mul_add(n, -LN_2[0], exponent)));
    let p = mul_add(f, mul_add(f, mul_add(f, mul_add(f, EXP[4], EXP[3]), EXP[2]), EXP[1]), EXP[0]);
    let power = mul_add(f * f, p, f) + 1.0;
    // 2^n is less than the smallest number: half of n before, and half in the last operation.
    let n = sum.to_bits().cast_signed() - WHOLE.to_bits().cast_signed();
    let scale = |n: i32| f32::from_bits(((n + 127) << 23).cast_unsigned());
    let (first, second) = (scale(n >> 1), scale(n - (n >> 1)));
    let power = power * first;
    let above = if is_tanh { power * second } else { SLOPE * t };
    let w = reciprocal(1.0 + above);
    let v = above * w;
    let mut r = TAIL[8];
    unroll::<8>(|at| r = mul_add(r, v, TAIL[7 - at]));
    let tail = power * t * (if is_tanh { w } else { r * w });
    mul_add(-tail, second, if x < 0.0 { -0.0 } else { x })
}

/// `1 / d` of a `d` from 1 to 6, within one unit in the last place.
#[inline(always)]
fn reciprocal(d: f32) -> f32 {
    let mut w = f32::from_bits(0x7ef3_11c7 - d.to_bits());
    unroll::<2>(|_| {
        let off = mul_add(-d, w, 1.0);
        w = mul_add(w, mul_add(off, off, off), w);
    });
    w
}
