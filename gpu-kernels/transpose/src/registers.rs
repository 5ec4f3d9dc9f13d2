//! Transposition in registers: four rows of 16 bytes become as many columns as 16 bytes hold elements.

use gpu_std::bits::byte_permute;

/// Turns four rows of 16 bytes, elements of `E` bytes, into their 16 / `E` columns of four elements. Column `k` is the
/// `E` words from `k * E` on.
#[inline(always)]
pub fn turn<const E: u32>(rows: [[u32; 4]; 4]) -> [u32; 16] {
    let column = |w: usize| [rows[0][w], rows[1][w], rows[2][w], rows[3][w]];
    match E {
        1 => {
            let turned: [[u32; 4]; 4] = core::array::from_fn(|w| bytes(column(w)));
            core::array::from_fn(|i| turned[i / 4][i % 4])
        }
        2 => {
            let turned: [[[u32; 2]; 2]; 4] = core::array::from_fn(|w| {
                let [a, b, c, d] = column(w);
                [halves(a, b), halves(c, d)]
            });
            core::array::from_fn(|i| turned[i / 4][i % 2][i / 2 % 2])
        }
        4 => core::array::from_fn(|i| rows[i % 4][i / 4]),
        8 => core::array::from_fn(|i| rows[i / 2 % 4][2 * (i / 8) + i % 2]),
        _ => core::array::from_fn(|i| rows[i / 4][i % 4]),
    }
}

/// Two rows of two 2-byte elements: one byte permutation for each result.
#[inline(always)]
fn halves(a: u32, b: u32) -> [u32; 2] {
    [byte_permute(a, b, 0x5410), byte_permute(a, b, 0x7632)]
}

/// Four rows of four bytes: first pairs of bytes, then pairs of pairs, eight byte permutations in all.
#[inline(always)]
pub(super) fn bytes([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let even = |a, b| byte_permute(a, b, 0x6240);
    let odd = |a, b| byte_permute(a, b, 0x7351);
    let ([c0, c2], [c1, c3]) = (halves(even(a, b), even(c, d)), halves(odd(a, b), odd(c, d)));
    [c0, c1, c2, c3]
}
