//! Products of small matrices that a warp computes together, on the tensor cores.
//!
//! All 32 lanes call at the same place; each holds a few elements of the factors and of the result (a *fragment*). With
//! `g = lane / 4` and `t = lane % 4`, of a product over `K` = 4 ([`m16n8k4_f64`]), 8 ([`m16n8k8_f64`]) or 16
//! ([`m16n8k16_f64`]):
//!
//! | fragment | element `i` of a lane |
//! |---|---|
//! | A, 16 × `K`, `K / 2` elements | row `g + 8 * (i % 2)`, column `t + 4 * (i / 2)` |
//! | B, `K` × 8, `K / 4` elements | row `t + 4 * i`, column `g` |
//! | C, 16 × 8, 4 elements | row `g + 8 * (i / 2)`, column `2 * t + i % 2` |
//!
//! In the simulator an element of the result is a chain of fused multiply-adds over ascending `k`, starting with C.
//! PTX does not say in which order the hardware adds; whether it gives the same bits is for a test on the device to
//! show.
//!
//! Each is one instruction in images for sm_90 and later; for sm_80, which has smaller ones, it is several (`m8n8k4`,
//! over ascending `k`). For older ones it does not compile.

//!
//! # 16-bit floats
//!
//! [`m16n8k16`] multiplies `f16` or, from capability 8.0 on, `bf16`, with `f32` sums. A word holds two elements, the
//! first in its low half:
//!
//! | fragment | word `i` of a lane |
//! |---|---|
//! | A, 16 × 16, 4 words | row `g + 8 * (i % 2)`, columns `2 * t + 8 * (i / 2)` and the next |
//! | B, 16 × 8, 2 words | rows `2 * t + 8 * i` and the next, column `g` |
//! | C, 16 × 8, 4 elements | row `g + 8 * (i / 2)`, column `2 * t + i % 2` |
//!
//! [`load_matrices`] brings them from shared memory.

use crate::backend::mma as backend;
use crate::half::{bf16, f16};
use crate::memory::{Element, Shared};
use crate::wgmma::Factor;

/// `f16` and `bf16`.
pub trait Half: Element + sealed::Half {}

pub(crate) mod sealed {
    pub trait Half {
        /// Whether it is `bf16`.
        const BRAIN: bool;
    }
}

impl sealed::Half for f16 {
    const BRAIN: bool = false;
}
impl sealed::Half for bf16 {
    const BRAIN: bool = true;
}
impl Half for f16 {}
impl Half for bf16 {}

/// `A · B + C` of 16-bit floats: A is 16 × 16, B is 16 × 8. In the simulator products are added one after the other over
/// ascending `k`.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k16<T: Half + Factor>(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    backend::multiply_add(T::KIND, a, b, c.map(f32::to_bits)).map(f32::from_bits)
}

/// `A · B + C`, whatever the type: A is 16 rows of 32 bytes, B 8 columns of 32 bytes, so that `k` is 16 of `f16` and `bf16`, 8 of
/// [`f32`], cut to tf32 (10 bits of mantissa), and 32 of `i8`. Sums are `f32`, as bits, and of integers `i32`, which wrap.
///
/// The words of a lane lie where they do for [`m16n8k16`], a word being two, one or four elements along `k`; [`load_matrices`]
/// brings those of any type that is contiguous along `k`. Capability 8.0; of `f16` 7.5. In the simulator products are
/// added one after the other over ascending `k`.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn multiply_add<T: Factor>(a: [u32; 4], b: [u32; 2], c: [u32; 4]) -> [u32; 4] {
    backend::multiply_add(T::KIND, a, b, c)
}

/// The bits of an `f32`, rounded to tf32: 10 bits of mantissa, to the nearest, ties to even. What is beyond the largest becomes infinite;
/// a NaN stays one.
#[inline(always)]
pub const fn round_tf32(bits: u32) -> u32 {
    let rounded =
        if bits & 0x7fff_ffff > 0x7f80_0000 { bits | 0x0040_0000 } else { bits + 0x0fff + (bits >> 13 & 1) };
    rounded & !0x1fff
}

/// Two elements in a word, the first in its low half, each rounded to even. A NaN becomes one.
#[inline(always)]
#[must_use]
pub fn pack<T: Half>(first: f32, second: f32) -> u32 {
    if T::BRAIN { backend::pack_bf16(first, second) } else { backend::pack_f16(first, second) }
}

/// Four 8 × 8 matrices of 16-bit elements from shared memory (`ldmatrix`): lane `8 i + r` says where row `r` of matrix `i`
/// starts, a multiple of 16 bytes. Word `i` of a lane holds of matrix `i`, with `TRANSPOSED` of its transpose, row `g`,
/// columns `2 * t` and the next.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn load_matrices<T: Half, const TRANSPOSED: bool>(memory: Shared<T>, row: u32) -> [u32; 4] {
    backend::load_matrices::<TRANSPOSED>(memory.byte(row))
}

/// The reverse of [`load_matrices`]: four 8 × 8 matrices of 16-bit elements to shared memory (`stmatrix`, capability
/// 9.0). Lane `8 i + r` says where row `r` of matrix `i` goes, a multiple of 16 bytes, and word `i` of lane `4 * g +
/// t` is row `g`, columns `2 * t` and the next, of matrix `i`.
///
/// ```
/// use gpu_std::half::bf16;
/// use gpu_std::mma::{pack, store_matrices};
/// use gpu_std::prelude::*;
///
/// /// A 16 × 16 matrix whose elements are their rows' numbers.
/// #[kernel(launch_bounds(32))]
/// pub fn rows(y: GlobalMut<bf16>) {
///     let lane = thread::thread_idx_x();
///     let tile = shared::dynamic().array::<bf16>(16 * 16);
///     let word = |row: u32| pack::<bf16>((row + lane / 4) as f32, (row + lane / 4) as f32);
///     // Left and right halves of the upper eight rows, then of the lower ones.
///     let (row, column) = (lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8);
///     store_matrices(tile, 16 * row + column, [word(0), word(0), word(8), word(8)]);
///     warp::sync_warp(warp::FULL);
///     for at in 0..8 {
///         y.write(32 * at + lane, tile.read(32 * at + lane));
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let simulator = gpu_sim::Simulator::default();
/// # let y = simulator.alloc(512)?;
/// # // SAFETY: the simulator checks every access.
/// # unsafe { rows::launch(&simulator, LaunchConfig::linear(1, 32).shared(512), GlobalMut::from_raw(y)) }?;
/// # let mut bytes = [0; 512];
/// # simulator.read(y, &mut bytes)?;
/// # for (at, half) in bytes.chunks_exact(2).enumerate() {
/// #     assert_eq!(half, bf16::from_f32((at / 16) as f32).to_bits().to_ne_bytes());
/// # }
/// # Ok::<(), gpu_sim::Fault>(())
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn store_matrices<T: Half>(memory: Shared<T>, row: u32, words: [u32; 4]) {
    backend::store_matrices(memory.byte(row), words);
}

/// `A · B + C` in double precision: A is 16 × 4, B is 4 × 8.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k4_f64(a: [f64; 2], b: [f64; 1], c: [f64; 4]) -> [f64; 4] {
    backend::m16n8k4_f64(a, b, c)
}

/// `A · B + C` in double precision: A is 16 × 8, B is 8 × 8.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k8_f64(a: [f64; 4], b: [f64; 2], c: [f64; 4]) -> [f64; 4] {
    backend::m16n8k8_f64(a, b, c)
}

/// `A · B + C` in double precision: A is 16 × 16, B is 16 × 8.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    backend::m16n8k16_f64(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::round_tf32;

    #[test]
    fn tf32_is_the_nearest_and_of_two_the_even_one() {
        let round = |value: f32| f32::from_bits(round_tf32(value.to_bits()));
        let unit = 1.0 / 1024.0;
        for (value, expected) in [
            (1.0, 1.0),
            (1.0 + unit / 2.0, 1.0),
            (1.0 + unit * 0.500_1, 1.0 + unit),
            (-1.0 - unit * 1.5, -1.0 - 2.0 * unit),
            (0.0, 0.0),
            (f32::INFINITY, f32::INFINITY),
            (f32::MAX, f32::INFINITY),
            (f32::from_bits(0x7f7f_e000), f32::from_bits(0x7f7f_e000)),
            (f32::from_bits(0x1800), f32::from_bits(0x2000)),
        ] {
            assert_eq!(round(value).to_bits(), expected.to_bits(), "{value}");
        }
        assert!(round(f32::NAN).is_nan() && round(f32::from_bits(0x7f80_0001)).is_nan());
        assert!(round(f32::from_bits(0xffff_ffff)).is_nan());
    }
}
