//! The Gaussian error linear unit, with the same bits on the CPU, in the simulator and on the GPU.
//!
//! `x · Φ(x)`, Φ being the normal distribution's cumulative function (Hendrycks and Gimpel, "Gaussian error linear
//! units", 2016), and their form with a hyperbolic tangent. Both are `max(x, 0) - t · q(t)` with `t = |x|`: the tail
//! `q(t)`, Φ(-t) or that of the other form, is small where `x` is large. So a negative `x` loses nothing to
//! cancellation, and a positive one at most a bit: `t · q(t)` is `x / 2` or less.
//!
//! The tail is `2^E · r`, of additions, multiplications and fused multiply-adds alone:
//!
//! * erf: `E = -t² log₂e / 2` and `r = Φ(-t) 2^-E`, which falls from 1/2 like `1 / (t √(2π))`. With
//!   `w = 1 / (1 + 0.345 t)` it is `w` times a polynomial of degree 8 in `1 - w`, whose largest relative error for `t`
//!   up to 15 is the smallest, 2.7·10⁻⁸. What the square's rounding loses is known (`fma(t, t, -t²)`) and made up for,
//!   and so is what that of `log₂e / 2` does.
//! * tanh: with `E = -2 √(2/π) (t + 0.044715 t³) log₂e`, the tail is `2^E / (1 + 2^E)`.
//!
//! `2^E` is `2^n 2^f` with `|f| ≤ 1/2`, and `2^f = 1 + f p(f)` with a polynomial of degree 4, whose largest relative
//! error is the smallest, 9.2·10⁻⁸. `2^n` may be less than the smallest number: `2^(n + 64)` is not, and the last
//! operation multiplies by `2^-64`. A reciprocal is guessed from the number's bits, of which the exponent changes its
//! sign, within 12 %; two steps of third order take that to 5·10⁻⁹.
//!
//! # Error
//! In units of `u` = 2⁻²⁴, relative to the tail, to first order. `2^f` has 4.2: 1.6 of the approximation, 1 of its last
//! addition, 1.2 of `f p(f)`, which is at most 0.42 of it, and 0.4 of three roundings of `f`. Of erf: `w` has 3, which
//! `1 - w` makes up to 4, and the polynomial changes 1.5 times as much at most; its own operations have 4.9, and its
//! coefficients' roundings come to 5.5 at most; the approximation has 0.5, and three products 3. Together they are less
//! than 28, with the result's own rounding 29. The largest error of every 211th number is 6.9 units in the last place.
//!
//! Of tanh `E` has 4 roundings, for which nothing makes up, so that `2^E` has `4.2 + 4 |E| ln 2`; the sum, the
//! reciprocal, two products and the result's own rounding have 5. It is as good where `x` is -1 or more, and has five
//! decimal places where it is about to become zero.

use gpu_std::float::{abs, max, min, mul_add};
use gpu_std::unroll;

/// Beyond it `t · q(t)` is less than half the smallest number, in either form.
const END: f32 = 15.0;
/// Of the tanh form the exponent falls faster: where it ends.
const LEAST: f32 = -166.0;
/// `log₂e / 2`, rounded, and what that is off by.
const HALF_LOG2_E: [f32; 2] = [0.721_347_5, 9.629_815e-9];
/// `2 √(2/π) log₂e`, and 0.044715 times that.
const LINEAR: f32 = 2.302_208_2;
const CUBIC: f32 = 0.102_943_24;
/// 1.5 · 2²³: what is added to it is rounded to a whole number, in the lower bits of the sum.
const WHOLE: f32 = 12_582_912.0;
/// Of `p(f)`, and of the tail in `1 - w`, the lowest power first.
#[expect(clippy::approx_constant, reason = "the best polynomial's is close to ln 2, and not ln 2")]
const EXP2: [f32; 5] = [0.693_147, 0.240_222_42, 0.055_507_34, 0.009_671_515, 0.001_326_472_5];
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
/// 2⁻⁶⁴, and the bits of 2⁶⁴.
const SCALE: f32 = 5.421_011e-20;
const ONE_OVER_SCALE: u32 = (127 + 64) << 23;

/// `x · Φ(x)`, within `29 · 2⁻²⁴` of its size. Of -∞ it is -0, of -0, too, and of NaN it is NaN.
///
/// ```
/// assert_eq!(gpu_tensor_kernels::gelu(1.0), 0.841_344_8);
/// ```
#[inline(always)]
pub fn gelu(x: f32) -> f32 {
    let t = min(abs(x), END);
    let square = t * t;
    let lost = mul_add(t, t, -square);
    let sum = mul_add(square, -HALF_LOG2_E[0], WHOLE);
    let f = mul_add(square, -HALF_LOG2_E[0], WHOLE - sum);
    let f = mul_add(lost, -HALF_LOG2_E[0], mul_add(square, -HALF_LOG2_E[1], f));
    let w = reciprocal(mul_add(SLOPE, t, 1.0));
    let v = 1.0 - w;
    let mut r = TAIL[8];
    unroll::<8>(|at| r = mul_add(r, v, TAIL[7 - at]));
    mul_add(-(exp2(f, sum) * t * (r * w)), SCALE, max(x, -0.0))
}

/// `x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`, within `(10 + 4 |E|) 2⁻²⁴` of its size, with `E` twice what `tanh`
/// is of. Of -∞ it is -0, of -0, too, and of NaN it is NaN.
///
/// ```
/// assert_eq!(gpu_tensor_kernels::gelu_tanh(1.0), 0.841_191_95);
/// ```
#[inline(always)]
pub fn gelu_tanh(x: f32) -> f32 {
    let t = min(abs(x), END);
    let exponent = max(-t * mul_add(CUBIC, t * t, LINEAR), LEAST);
    let sum = exponent + WHOLE;
    let power = exp2(exponent - (sum - WHOLE), sum);
    let w = reciprocal(mul_add(power, SCALE, 1.0));
    mul_add(-(power * t * w), SCALE, max(x, -0.0))
}

/// `2^(n + f + 64)`, of `n + WHOLE`.
#[inline(always)]
fn exp2(f: f32, sum: f32) -> f32 {
    let mut p = EXP2[4];
    unroll::<4>(|at| p = mul_add(p, f, EXP2[3 - at]));
    // The sum's lowest nine bits are those of n: the others are shifted out.
    let scale = f32::from_bits((sum.to_bits() << 23).wrapping_add(ONE_OVER_SCALE));
    mul_add(p, f, 1.0) * scale
}

/// `1 / d` of a `d` from 1 to 6.2, within one unit in the last place.
#[inline(always)]
fn reciprocal(d: f32) -> f32 {
    // It wraps for a NaN, of which anything may come: the result is `x`, then.
    let mut w = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(d.to_bits()));
    unroll::<2>(|_| {
        let off = mul_add(-d, w, 1.0);
        w = mul_add(w, mul_add(off, off, off), w);
    });
    w
}
