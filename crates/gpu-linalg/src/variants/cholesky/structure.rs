//! Matrices by blocks, many of which are zero.

use gpu_std::float::Float;

use super::expect_blocks;
use crate::api::Triangle;
use crate::error::Error;
use crate::matrix::Layout;

/// The first block of every block row with an element that is not zero (section 8.3), the diagonal's where there is
/// none before it: of the lower triangle, or, by columns, of the upper one.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::SkylineSide`]; [`Error::Device`] where `a` is shorter than its layout.
///
/// ```
/// use gpu_linalg::variants::cholesky::first_blocks;
/// use gpu_linalg::{Layout, Triangle};
/// let a = [4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0, 4.0];
/// assert_eq!(first_blocks(Triangle::Lower, &a, Layout::row_major(3, 3)?, 1)?, [0, 1, 1]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn first_blocks<T: Float>(
    triangle: Triangle,
    a: &[T],
    layout: Layout,
    side: usize,
) -> Result<Vec<usize>, Error> {
    let rows = expect_blocks(a.len(), layout, side)?;
    let layout = if triangle == Triangle::Lower { layout } else { layout.transposed() };
    Ok(of_elements(rows, side, |row, column| a[layout.index(row, column)]))
}

/// [`first_blocks`] of a lower triangle of `size` rows.
pub(super) fn of_elements<T: Float>(
    size: usize,
    side: usize,
    element: impl Fn(usize, usize) -> T,
) -> Vec<usize> {
    let first = |block: usize| {
        let rows = block * side..((block + 1) * side).min(size);
        let is_there = |column: usize| {
            let (from, to) = (column * side, (column + 1) * side);
            rows.clone().any(|row| (from..to.min(row + 1)).any(|column| element(row, column) != T::ZERO))
        };
        (0..block).find(|&column| is_there(column)).unwrap_or(block)
    };
    (0..size.div_ceil(side)).map(first).collect()
}

/// The first blocks of the matrices that were measured (section 9.3): of row 0 block 0, of rows that are multiples of
/// three the one before the diagonal's, of others block 1.
pub fn structured_rows(blocks: usize) -> Vec<usize> {
    let first = |row: usize| match row {
        0 => 0,
        _ if row.is_multiple_of(3) => row - 1,
        _ => 1,
    };
    (0..blocks).map(first).collect()
}

/// First blocks of a band as narrow as it may be with at least `share` of the lower triangle's blocks.
///
/// ```
/// use gpu_linalg::variants::cholesky::rows_of_share;
/// assert_eq!(rows_of_share(4, 0.6), [0, 0, 1, 2]); // 7 of 10
/// assert_eq!(rows_of_share(4, 0.0), [0, 1, 2, 3]);
/// ```
pub fn rows_of_share(blocks: usize, share: f64) -> Vec<usize> {
    let wanted = share * (blocks * (blocks + 1) / 2) as f64;
    // The first `width` rows are whole, the others have `width` blocks and the diagonal's.
    let count = |width: usize| width * (width + 1) / 2 + (blocks - width) * (width + 1);
    let width = (0..blocks).find(|&width| count(width) as f64 >= wanted).unwrap_or(blocks);
    (0..blocks).map(|row| row.saturating_sub(width)).collect()
}

/// A symmetric positive definite `n` × `n` matrix, row-major, in blocks of `side`: block row `i` of its lower triangle
/// is zero before block `first[i]`, the rest are numbers in [-1, 1) by `seed`, and the diagonal is larger than the sum
/// of its row.
///
/// # Panics
/// Where `side` is zero, or `first` does not have an entry for every block row.
pub fn generate<T: Float>(n: usize, side: usize, first: &[usize], seed: u64) -> Vec<T> {
    assert_eq!(first.len(), n.div_ceil(side), "a first block for every block row");
    // Numbers of 20 bits, made of their exact whole parts: exact in every type.
    let half = (0..19).fold(T::ONE, |value, _| value + value);
    let whole = |bits: u64| {
        (0..20)
            .rev()
            .fold(T::ZERO, |sum, bit| sum + sum + if bits >> bit & 1 == 1 { T::ONE } else { T::ZERO })
    };
    let mut a = vec![T::ZERO; n * n];
    for row in 0..n {
        for column in first[row / side] * side..row {
            // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
            let mut bits =
                seed.wrapping_add(((row * n + column + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let value = whole((bits ^ (bits >> 31)) >> 44) / half - T::ONE;
            a[row * n + column] = value;
            a[column * n + row] = value;
        }
    }
    for row in 0..n {
        let sum = a[row * n..][..n].iter().fold(T::ONE, |sum, value| sum + value.abs());
        a[row * n + row] = sum;
    }
    a
}
