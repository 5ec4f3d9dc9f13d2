//! Incomplete factors, row by row, and one side of a matrix.

use core::ops::Range;

use gpu_sparse_kernels::Scalar;

/// The entries of a row.
fn row(offsets: &[u32], row: u32) -> Range<usize> {
    offsets[row as usize] as usize..offsets[row as usize + 1] as usize
}

/// Where a row's diagonal stands.
fn diagonal(offsets: &[u32], indices: &[u32], number: u32) -> Option<usize> {
    let entries = row(offsets, number);
    indices[entries.clone()].binary_search(&number).ok().map(|place| entries.start + place)
}

/// The first row of a square matrix that has no entry on the diagonal.
///
/// ```
/// assert_eq!(gpu_sparse::reference::missing_diagonal(&[0, 1, 2], &[0, 0]), Some(1));
/// ```
pub fn missing_diagonal(offsets: &[u32], indices: &[u32]) -> Option<usize> {
    (0..offsets.len() as u32 - 1)
        .find(|&row| diagonal(offsets, indices, row).is_none())
        .map(|row| row as usize)
}

/// Turns the values of a lower triangle, whose rows end on the diagonal, into those of its factor L of `A ≈ L · Lᵀ`,
/// and returns the first row whose pivot is not positive.
///
/// ```
/// let mut values = [4.0, 2.0, 10.0];
/// assert_eq!(gpu_sparse::reference::ic0(&[0, 1, 3], &[0, 0, 1], &mut values), None);
/// assert_eq!(values, [2.0, 1.0, 3.0]);
/// ```
pub fn ic0<T: Scalar>(offsets: &[u32], indices: &[u32], values: &mut [T]) -> Option<usize> {
    let mut found = None;
    for number in 0..offsets.len() as u32 - 1 {
        let entries = row(offsets, number);
        let last = entries.end - 1;
        let mut pivot = values[last];
        for at in entries.start..last {
            let above = row(offsets, indices[at]);
            let (mut own, mut other, mut sum) = (entries.start, above.start, values[at]);
            while own < at && other < above.end - 1 {
                let (mine, theirs) = (indices[own], indices[other]);
                if mine == theirs {
                    sum = (-values[own]).mul_add(values[other], sum);
                }
                own += usize::from(mine <= theirs);
                other += usize::from(theirs <= mine);
            }
            values[at] = sum / values[above.end - 1];
            pivot = (-values[at]).mul_add(values[at], pivot);
        }
        let positive = pivot > T::ZERO;
        if !positive && found.is_none() {
            found = Some(number as usize);
        }
        values[last] = pivot.sqrt();
    }
    found
}

/// Turns the values of a square matrix, whose rows all have a diagonal, into those of its factors of `A ≈ L · U`, of
/// which L's diagonal is ones and not stored; and returns the first row whose pivot is zero.
///
/// ```
/// let mut values = [2.0, 1.0, 4.0, 5.0];
/// assert_eq!(gpu_sparse::reference::ilu0(&[0, 2, 4], &[0, 1, 0, 1], &mut values), None);
/// assert_eq!(values, [2.0, 1.0, 2.0, 3.0]);
/// ```
///
/// # Panics
/// Where a row has no diagonal.
pub fn ilu0<T: Scalar>(offsets: &[u32], indices: &[u32], values: &mut [T]) -> Option<usize> {
    let mut found = None;
    for number in 0..offsets.len() as u32 - 1 {
        let entries = row(offsets, number);
        let own_diagonal = diagonal(offsets, indices, number).expect("every row has a diagonal");
        for at in entries.start..own_diagonal {
            let column = indices[at];
            let above = diagonal(offsets, indices, column).expect("every row has a diagonal");
            values[at] = values[at] / values[above];
            let (mut own, mut other) = (at + 1, above + 1);
            while own < entries.end && other < row(offsets, column).end {
                let (mine, theirs) = (indices[own], indices[other]);
                if mine == theirs {
                    values[own] = (-values[at]).mul_add(values[other], values[own]);
                }
                own += usize::from(mine <= theirs);
                other += usize::from(theirs <= mine);
            }
        }
        if values[own_diagonal] == T::ZERO && found.is_none() {
            found = Some(number as usize);
        }
    }
    found
}

/// The entries of one side of a square matrix, with its diagonal or without.
///
/// ```
/// use gpu_sparse::{Side, reference::triangle};
/// let lower = triangle(&[0, 2, 4], &[0, 1, 0, 1], &[1.0, 2.0, 3.0, 4.0], Side::Lower, true);
/// assert_eq!(lower, (vec![0, 1, 3], vec![0, 0, 1], vec![1.0, 3.0, 4.0]));
/// ```
pub fn triangle<T: Scalar>(
    offsets: &[u32],
    indices: &[u32],
    values: &[T],
    side: crate::Side,
    with_diagonal: bool,
) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    let (mut kept_offsets, mut kept_indices, mut kept_values) = (vec![0], Vec::new(), Vec::new());
    for number in 0..offsets.len() as u32 - 1 {
        for entry in row(offsets, number) {
            let column = indices[entry];
            let inside = if side == crate::Side::Lower { column < number } else { column > number };
            if inside || with_diagonal && column == number {
                kept_indices.push(column);
                kept_values.push(values[entry]);
            }
        }
        kept_offsets.push(kept_indices.len() as u32);
    }
    (kept_offsets, kept_indices, kept_values)
}
