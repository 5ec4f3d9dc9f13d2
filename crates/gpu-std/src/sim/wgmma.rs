//! Products of tiles: the simulator looks at shared memory once all 128 threads are there.

use crate::half::{bf16, f16};
use crate::wgmma::{DEPTH_BYTES, Kind, ROWS, columns};
use gpu_sim::device;

#[track_caller]
pub fn multiply_add(kind: Kind, a_across: bool, b_across: bool, sums: &mut [u32], a: u32, b: u32) {
    let size = match kind {
        Kind::F16 | Kind::Bf16 => 2,
        Kind::Tf32 => 4,
        Kind::S8 => 1,
    };
    let depth = DEPTH_BYTES / size;
    let columns = columns(sums.len());
    let tiles = [(a, ROWS * DEPTH_BYTES), (b, columns * DEPTH_BYTES)];
    // Rows of A, then columns of B, each along k, as numbers.
    let factors = device::warpgroup_read("wgmma", &tiles, |shared| {
        let mut factors = Vec::with_capacity(((ROWS + columns) * depth) as usize);
        for (start, rows, across) in [(a, ROWS, a_across), (b, columns, b_across)] {
            let start = device::shared_byte(start);
            for row in 0..rows {
                for k in 0..depth {
                    let address = if across {
                        start + row / 64 * 8192 + k * DEPTH_BYTES + row % 64 * size
                    } else {
                        start + row * DEPTH_BYTES + k * size
                    };
                    let address = device::swizzled(address) as usize;
                    let bytes = |n: usize| &shared[address..address + n];
                    let half = || u16::from_le_bytes([bytes(2)[0], bytes(2)[1]]);
                    factors.push(match kind {
                        Kind::F16 => f16::from_bits(half()).to_f32(),
                        Kind::Bf16 => bf16::from_bits(half()).to_f32(),
                        Kind::Tf32 => {
                            let word = bytes(4);
                            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                            f32::from_bits(word & !0x1fff)
                        }
                        Kind::S8 => f32::from(shared[address].cast_signed()),
                    });
                }
            }
        }
        factors
    });
    let thread = device::linear_thread() % 128;
    let (warp, group, quad) = (thread / 32, thread / 4 % 8, thread % 4);
    let depth = depth as usize;
    let along = |row: u32| &factors[row as usize * depth..][..depth];
    for (i, sum) in sums.iter_mut().enumerate() {
        let i = i as u32;
        let row = along(16 * warp + group + 8 * (i / 2 % 2));
        let column = along(ROWS + 8 * (i / 4) + 2 * quad + i % 2);
        let products = row.iter().zip(column);
        *sum = if kind == Kind::S8 {
            // Each product and the sum of a tile's are exact.
            let added: f32 = products.map(|(a, b)| a * b).sum();
            sum.wrapping_add_signed(added as i32)
        } else {
            products.fold(f32::from_bits(*sum), |sum, (a, b)| a.mul_add(*b, sum)).to_bits()
        };
    }
}
