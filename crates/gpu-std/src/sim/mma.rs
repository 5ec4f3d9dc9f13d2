//! Matrix operations of a warp: every lane sees the fragments of all lanes.

use gpu_sim::device;

#[track_caller]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    let lane = super::warp::lane_id() as usize;
    let mut brought = [0.0; 12];
    brought[..8].copy_from_slice(&a);
    brought[8..].copy_from_slice(&b);
    device::matrix(brought, |of| {
        core::array::from_fn(|i| {
            let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            (0..16).fold(c[i], |sum: f64, k| {
                let a = of(row % 8 * 4 + k % 4, row / 8 + 2 * (k / 4));
                let b = of(column * 4 + k % 4, 8 + k / 4);
                a.mul_add(b, sum)
            })
        })
    })
}
