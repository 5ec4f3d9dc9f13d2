//! Matrix operations of a warp: every lane sees the fragments of all lanes.

use gpu_sim::device;

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
