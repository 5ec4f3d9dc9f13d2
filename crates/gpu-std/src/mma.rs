//! Products of small matrices that a warp computes together, on the tensor cores.
//!
//! All 32 lanes call at the same place; each holds a few elements of the factors and of the result (a *fragment*). With
//! `g = lane / 4` and `t = lane % 4`, of a product over `K` = 4 ([`m16n8k4_f64`]) or 16 ([`m16n8k16_f64`]):
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

use crate::backend::mma as backend;

/// `A · B + C` in double precision: A is 16 × 4, B is 4 × 8.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k4_f64(a: [f64; 2], b: [f64; 1], c: [f64; 4]) -> [f64; 4] {
    backend::m16n8k4_f64(a, b, c)
}

/// `A · B + C` in double precision: A is 16 × 16, B is 16 × 8.
#[inline(always)]
#[must_use]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    backend::m16n8k16_f64(a, b, c)
}
