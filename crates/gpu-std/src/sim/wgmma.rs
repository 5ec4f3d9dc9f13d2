//! Products of tiles: the simulator looks at shared memory once all 128 threads are there.

use crate::half::{Float16, bf16, f16};
use crate::wgmma::{DEPTH_BYTES, Kind, ROWS, columns};
use gpu_sim::device;

/// Words of a row of a tile.
const ROW: usize = DEPTH_BYTES as usize / 4;

#[track_caller]
pub fn multiply_add(kind: Kind, a_across: bool, b_across: bool, sums: &mut [u32], a: u32, b: u32) {
    let columns = columns(sums.len());
    let tiles = [(a, ROWS * DEPTH_BYTES), (b, columns * DEPTH_BYTES)];
    let factors = device::warpgroup_read("wgmma", &tiles, &[], |shared, _| {
        [tile(kind, shared, a, ROWS, a_across), tile(kind, shared, b, columns, b_across)].concat()
    });
    add(kind, sums, &factors);
}

#[track_caller]
pub fn multiply_add_rows<const WORDS: usize>(
    kind: Kind,
    b_across: bool,
    sums: &mut [u32],
    a: [u32; WORDS],
    first: u32,
    b: u32,
) {
    let columns = columns(sums.len());
    let tiles = [(b, columns * DEPTH_BYTES)];
    let factors = device::warpgroup_read("wgmma", &tiles, &a, |shared, words| {
        [rows(kind, WORDS, first, words), tile(kind, shared, b, columns, b_across)].concat()
    });
    add(kind, sums, &factors);
}

fn size(kind: Kind) -> u32 {
    match kind {
        Kind::F16 | Kind::Bf16 => 2,
        Kind::Tf32 => 4,
        Kind::S8 => 1,
    }
}

/// The number of an element.
fn number(kind: Kind, bytes: &[u8]) -> f32 {
    let half = || u16::from_le_bytes([bytes[0], bytes[1]]);
    match kind {
        Kind::F16 => f16::from_bits(half()).widen(),
        Kind::Bf16 => bf16::from_bits(half()).widen(),
        Kind::Tf32 => {
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            f32::from_bits(word & !0x1fff)
        }
        Kind::S8 => f32::from(bytes[0].cast_signed()),
    }
}

/// The rows of a tile in shared memory, each along `k`, as numbers.
fn tile(kind: Kind, shared: &[u8], start: u32, rows: u32, across: bool) -> Vec<f32> {
    let size = size(kind);
    let start = device::shared_byte(start);
    let address = |row: u32, k: u32| {
        device::swizzled(if across {
            start + row / 64 * 8192 + k * DEPTH_BYTES + row % 64 * size
        } else {
            start + row * DEPTH_BYTES + k * size
        })
    };
    let depth = DEPTH_BYTES / size;
    let places = (0..rows).flat_map(|row| (0..depth).map(move |k| (row, k)));
    places.map(|(row, k)| number(kind, &shared[address(row, k) as usize..][..size as usize])).collect()
}

/// The same of the tile of A that the threads' words are, one thread's after the other's, each from word `first` on:
/// zeros where they are not of all of it.
fn rows(kind: Kind, words_each: usize, first: u32, words: &[u32]) -> Vec<f32> {
    let mut tile = [0; ROWS as usize * ROW];
    for (thread, words) in words.chunks_exact(words_each).enumerate() {
        for (i, &word) in words.iter().enumerate() {
            let i = first as usize + i;
            let row = 16 * (thread / 32) + thread / 4 % 8 + 8 * (i % 2);
            tile[row * ROW + 8 * (i / 4) + thread % 4 + 4 * (i / 2 % 2)] = word;
        }
    }
    let bytes: Vec<u8> = tile.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.chunks_exact(size(kind) as usize).map(|bytes| number(kind, bytes)).collect()
}

/// Adds the products of rows of A and columns of B, one after the other in `factors`, to a thread's sums.
fn add(kind: Kind, sums: &mut [u32], factors: &[f32]) {
    // A thread that ends because of a fault gets none.
    if factors.is_empty() {
        return;
    }
    let thread = device::linear_thread() % 128;
    let (warp, group, quad) = (thread / 32, thread / 4 % 8, thread % 4);
    let depth = (DEPTH_BYTES / size(kind)) as usize;
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

pub fn round_tf32(bits: u32) -> u32 {
    crate::mma::round_tf32(bits)
}
