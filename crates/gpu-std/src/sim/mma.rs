//! Matrix operations of a warp: every lane sees the fragments of all lanes.

use crate::half::{Float16, bf16, f16};
use crate::wgmma::Kind;
use gpu_sim::device::{self, Shuffle};

#[track_caller]
pub fn m16n8k4_f64(a: [f64; 2], b: [f64; 1], c: [f64; 4]) -> [f64; 4] {
    product::<2, 1, 3>(a, b, c)
}

#[track_caller]
pub fn m16n8k8_f64(a: [f64; 4], b: [f64; 2], c: [f64; 4]) -> [f64; 4] {
    product::<4, 2, 6>(a, b, c)
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

/// Of 16 × 32 bytes and 32 bytes × 8.
#[track_caller]
pub fn multiply_add(kind: Kind, a: [u32; 4], b: [u32; 2], c: [u32; 4]) -> [u32; 4] {
    let lane = super::warp::lane_id() as usize;
    let [a0, a1, a2, a3] = a;
    let [b0, b1] = b;
    // Words are exact in what the simulator hands around.
    device::matrix([a0, a1, a2, a3, b0, b1].map(f64::from), |of| {
        core::array::from_fn(|i| {
            let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            (0..8).fold(c[i], |sum, at| {
                let a = of(row % 8 * 4 + at % 4, row / 8 + 2 * (at / 4)) as u32;
                let b = of(column * 4 + at % 4, 4 + at / 4) as u32;
                add_products(kind, a, b, sum)
            })
        })
    })
}

/// The products of a word's elements, added one after the other.
fn add_products(kind: Kind, a: u32, b: u32, sum: u32) -> u32 {
    let halves = |widen: fn(u16) -> f32| {
        [0, 16].into_iter().fold(f32::from_bits(sum), |sum, shift| {
            widen((a >> shift) as u16).mul_add(widen((b >> shift) as u16), sum)
        })
    };
    match kind {
        Kind::F16 => halves(|bits| f16::from_bits(bits).widen()).to_bits(),
        Kind::Bf16 => halves(|bits| bf16::from_bits(bits).widen()).to_bits(),
        Kind::Tf32 => {
            let [a, b] = [a, b].map(|word| f32::from_bits(word & !0x1fff));
            a.mul_add(b, f32::from_bits(sum)).to_bits()
        }
        Kind::S8 => a.to_le_bytes().into_iter().zip(b.to_le_bytes()).fold(sum, |sum, (a, b)| {
            sum.wrapping_add_signed(i32::from(a.cast_signed()) * i32::from(b.cast_signed()))
        }),
    }
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

/// Each lane writes the row whose place it knows, of what the others bring.
#[track_caller]
pub fn store_matrices(row: u32, words: [u32; 4]) {
    let lane = super::warp::lane_id();
    let (matrix, number) = (lane as usize / 8, lane as usize % 8);
    let of_row = device::matrix(words.map(f64::from), |brought| {
        core::array::from_fn::<u32, 4, _>(|quad| brought(4 * number + quad, matrix) as u32)
    });
    super::memory::shared_store(row, 0, of_row);
}

pub fn pack_f16(first: f32, second: f32) -> u32 {
    [first, second].map(f16::narrow).map(f16::to_bits).into_iter().rev().fold(0, join)
}

pub fn pack_bf16(first: f32, second: f32) -> u32 {
    [first, second].map(bf16::narrow).map(bf16::to_bits).into_iter().rev().fold(0, join)
}

fn join(word: u32, half: u16) -> u32 {
    word << 16 | u32::from(half)
}
