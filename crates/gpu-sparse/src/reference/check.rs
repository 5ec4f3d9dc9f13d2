//! Whether arrays are a matrix, and a matrix a triangle.

use gpu_sparse_kernels::{NONE, Scalar};
use rayon::prelude::*;

use crate::api::{Diagonal, Side};

/// The first row, or [`NONE`], whose offsets decrease or leave the entries; that has a column that there is not; whose
/// columns do not ascend strictly. There is an offset at least.
///
/// ```
/// use gpu_sparse::reference::check;
/// const NONE: u32 = u32::MAX;
/// assert_eq!(check(&[0, 1, 3], &[4, 1, 1], 4), [NONE, 0, 1]);
/// ```
pub fn check(offsets: &[u32], indices: &[u32], columns: usize) -> [u32; 3] {
    let found = offsets.par_windows(2).enumerate().map(|(row, pair)| {
        let row = row as u32;
        let Some(indices) = indices.get(pair[0] as usize..pair[1] as usize) else { return [row, NONE, NONE] };
        let outside = indices.iter().any(|&column| column as usize >= columns);
        let unsorted = indices.windows(2).any(|pair| pair[0] >= pair[1]);
        [NONE, if outside { row } else { NONE }, if unsorted { row } else { NONE }]
    });
    found.reduce(|| [NONE; 3], least)
}

/// The first row, or [`NONE`], of a square matrix, whose columns ascend, that has an entry on the wrong side; none on the
/// diagonal; one there that is zero. Each row counts for the first of these alone.
///
/// ```
/// use gpu_sparse::{Diagonal, Side, reference::check_triangle};
/// const NONE: u32 = u32::MAX;
/// let found = check_triangle(&[0, 1, 3], &[0, 0, 1], &[0.0, 1.0, 2.0], Side::Lower, Diagonal::Stored);
/// assert_eq!(found, [NONE, NONE, 0]);
/// ```
pub fn check_triangle<T: Scalar>(
    offsets: &[u32],
    indices: &[u32],
    values: &[T],
    side: Side,
    diagonal: Diagonal,
) -> [u32; 3] {
    let found = offsets.par_windows(2).enumerate().map(|(row, pair)| {
        let row = row as u32;
        let entries = pair[0] as usize..pair[1] as usize;
        let is_wrong = |&column: &u32| if side == Side::Upper { column < row } else { column > row };
        if indices[entries.clone()].iter().any(is_wrong) {
            return [row, NONE, NONE];
        }
        if diagonal == Diagonal::Unit {
            return [NONE; 3];
        }
        match indices[entries.clone()].iter().position(|&column| column == row) {
            None => [NONE, row, NONE],
            Some(place) if values[entries.start + place] == T::ZERO => [NONE, NONE, row],
            Some(_) => [NONE; 3],
        }
    });
    found.reduce(|| [NONE; 3], least)
}

fn least(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    core::array::from_fn(|i| a[i].min(b[i]))
}
