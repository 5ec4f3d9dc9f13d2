//! Matrix operations of a warp: every lane sees the fragments of all lanes.

use crate::half::{bf16, f16};
use gpu_sim::device::{self, Shuffle};

#[track_caller]
pub fn m16n8k4_f64(a: [f64; 2], b: [f64; 1], c: [f64; 4]) -> [f64; 4] {
    product::<2, 1, 3>(a, b, c)
}

#[track_caller]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    product::<8, 4, 12>(a, b, c)
}

/// Of 16 × 4 B and 4 B × 8 matrices, of which a lane has `A` and `B` elements, `BOTH` in all.
#[track_caller]
fn product<const A: usize, const B: usize, const BOTH: usize>(
    a: [f64; A],
    b: [f64; B],
    c: [f64; 4],
) -> [f64; 4] {
    let lane = super::warp::lane_id() as usize;
    let mut brought = [0.0; BOTH];
    brought[..A].copy_from_slice(&a);
    brought[A..].copy_from_slice(&b);
    device::matrix(brought, |of| {
        core::array::from_fn(|i| {
            let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            (0..4 * B).fold(c[i], |sum: f64, k| {
                let a = of(row % 8 * 4 + k % 4, row / 8 + 2 * (k / 4));
                let b = of(column * 4 + k % 4, A + k / 4);
                a.mul_add(b, sum)
            })
        })
    })
}

#[track_caller]
pub fn m16n8k16_f16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    product_of_halves(a, b, c, |bits| f16::from_bits(bits).to_f32())
}

#[track_caller]
pub fn m16n8k16_bf16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    product_of_halves(a, b, c, |bits| bf16::from_bits(bits).to_f32())
}

#[track_caller]
fn product_of_halves(a: [u32; 4], b: [u32; 2], c: [f32; 4], widen: fn(u16) -> f32) -> [f32; 4] {
    let lane = super::warp::lane_id() as usize;
    let mut brought = [0.0; 12];
    for (at, word) in a.into_iter().chain(b).enumerate() {
        brought[2 * at] = f64::from(widen(word as u16));
        brought[2 * at + 1] = f64::from(widen((word >> 16) as u16));
    }
    device::matrix(brought, |of| {
        core::array::from_fn(|i| {
            let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            (0..16).fold(c[i], |sum: f32, k| {
                let from = k % 8 / 2;
                let a = of(row % 8 * 4 + from, 2 * (row / 8 + 2 * (k / 8)) + k % 2);
                let b = of(column * 4 + from, 8 + 2 * (k / 8) + k % 2);
                (a as f32).mul_add(b as f32, sum)
            })
        })
    })
}

/// Each lane reads its own elements, once the others have said where rows start.
#[track_caller]
pub fn load_matrices<const TRANSPOSED: bool>(row: u32) -> [u32; 4] {
    let lane = super::warp::lane_id();
    let (group, quad) = (lane / 4, lane % 4);
    core::array::from_fn(|matrix| {
        let row_of =
            |number: u32| device::shuffle(u32::MAX, Shuffle::Index, row, 8 * matrix as u32 + number, 32).0;
        if TRANSPOSED {
            let rows = [row_of(2 * quad), row_of(2 * quad + 1)];
            let [low, high] = rows.map(|row| u32::from(device::shared_load::<u16>(row + 2 * group)));
            low | high << 16
        } else {
            device::shared_load::<u32>(row_of(group) + 4 * quad)
        }
    })
}

pub fn pack_f16(first: f32, second: f32) -> u32 {
    [first, second].map(f16::from_f32).map(f16::to_bits).into_iter().rev().fold(0, join)
}

pub fn pack_bf16(first: f32, second: f32) -> u32 {
    [first, second].map(bf16::from_f32).map(bf16::to_bits).into_iter().rev().fold(0, join)
}

fn join(word: u32, half: u16) -> u32 {
    word << 16 | u32::from(half)
}
