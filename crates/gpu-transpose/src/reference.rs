//! The CPU's transposition: the oracle of the kernels, and what a machine without a GPU uses.

use gpu_core::cores;
use gpu_core::{BatchLayout, Layout};
use gpu_transpose_kernels as kernels;

use crate::axes::{Axis, of_matrices, of_permutation};
use crate::error::Error;
use crate::in_place::InPlace;

/// Rows and columns of a block: two of 64 × 64 four-byte elements fit the first-level cache of any current CPU.
const BLOCK: usize = 64;
/// Parts that the output is divided into at least, where it has as many rows: enough for the cores of any machine.
const PARTS: usize = 256;

/// Transposes `input`, which lies as `matrix` says, into `output`, which lies as `transposed` says, on all cores. What
/// lies in the output's gaps stays as it was.
///
/// # Panics
/// Where a slice is shorter than its matrix, or the output's has another shape;
/// [`transpose_into`](crate::transpose_into) checks that first.
///
/// ```
/// use gpu_transpose::{Layout, reference};
/// let (matrix, transposed) = (Layout::row_major(2, 3)?, Layout::row_major(3, 2)?);
/// let mut output = [0; 6];
/// reference::transpose(&[1, 2, 3, 4, 5, 6], matrix, &mut output, transposed);
/// assert_eq!(output, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose<T: Copy + Send + Sync>(input: &[T], matrix: Layout, output: &mut [T], transposed: Layout) {
    assert_eq!(matrix.transposed().shape(), transposed.shape(), "the output's shape");
    if !matrix.is_empty() {
        copy(input, &of_matrices(matrix.into(), transposed.into()), output);
    }
}

/// Permutes the axes of `input`, as [`permute`](crate::permute) does, on all cores.
///
/// # Errors
/// Those of [`permute`](crate::permute) about shape and axes.
///
/// # Panics
/// Where a slice is shorter than the array.
///
/// ```
/// use gpu_transpose::reference;
/// let mut output = [0; 6];
/// reference::permute(&[1, 2, 3, 4, 5, 6], &[1, 2, 3], &[2, 0, 1], &mut output)?;
/// assert_eq!(output, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn permute<T: Copy + Send + Sync>(
    input: &[T],
    shape: &[usize],
    axes: &[usize],
    output: &mut [T],
) -> Result<(), Error> {
    let (axes, len) = of_permutation(shape, axes)?;
    if len > 0 {
        copy(input, &axes, output);
    }
    Ok(())
}

/// Copies all elements of `axes`, which are sorted by output stride and do not overlap in the output.
pub(crate) fn copy<T: Copy + Send + Sync>(input: &[T], axes: &[Axis], output: &mut [T]) {
    let Some((outer, inner)) = axes.split_last() else {
        output[0] = input[0];
        return;
    };
    // What lies behind the last element may be shorter than a stride.
    let used = axes.iter().map(|axis| (axis.extent - 1) * axis.output).sum::<usize>() + 1;
    let output = &mut output[..used];
    // A part is some indices of the outermost axis: blocks of a transposed matrix are whole where there are many.
    let step = (outer.extent / PARTS).clamp(1, BLOCK);
    cores::chunks(output, step * outer.output, 1, |part, output| {
        let first = part * step;
        let mut axes = inner.to_vec();
        axes.push(Axis { extent: step.min(outer.extent - first), ..*outer });
        block(&input[first * outer.input..], &axes, output);
    });
}

/// Copies all elements of `axes`, on this core: the two axes that are fastest on either side by blocks, the others
/// one index after the other.
fn block<T: Copy>(input: &[T], axes: &[Axis], output: &mut [T]) {
    let fast = (1..axes.len()).min_by_key(|&axis| axes[axis].input);
    match axes {
        [] => output[0] = input[0],
        [axis] => {
            for i in 0..axis.extent {
                output[i * axis.output] = input[i * axis.input];
            }
        }
        [rows, columns] => {
            for top in (0..rows.extent).step_by(BLOCK) {
                for column in 0..columns.extent {
                    for row in top..(top + BLOCK).min(rows.extent) {
                        output[row * rows.output + column * columns.output] =
                            input[row * rows.input + column * columns.input];
                    }
                }
            }
        }
        _ => {
            // The slowest axis that is not the input's fastest.
            let slow = if fast == Some(axes.len() - 1) { axes.len() - 2 } else { axes.len() - 1 };
            let mut rest = axes.to_vec();
            let axis = rest.remove(slow);
            for i in 0..axis.extent {
                block(&input[i * axis.input..], &rest, &mut output[i * axis.output..]);
            }
        }
    }
}

/// Transposes a batch in place, as planned.
pub(crate) fn in_place<T: Copy + Send + Sync>(plan: InPlace, batch: BatchLayout, data: &mut [T]) {
    let matrix = batch.matrix;
    for number in 0..batch.count {
        let data = &mut data[number * batch.stride..][..matrix.span()];
        match plan {
            InPlace::Nothing => {}
            InPlace::Square { .. } | InPlace::SquareWide { .. } => {
                square(data, matrix.rows(), matrix.leading_dimension())
            }
            InPlace::Rectangle { scratch, a, b, .. } => {
                let mut scratch = vec![data[0]; scratch];
                rectangle(data, matrix.lines(), matrix.contiguous(), (a as usize, b as usize), &mut scratch);
            }
        }
    }
}

/// Transposes a square in place: tiles across the diagonal are swapped.
fn square<T: Copy>(data: &mut [T], side: usize, ld: usize) {
    for top in (0..side).step_by(BLOCK) {
        for left in (top..side).step_by(BLOCK) {
            for row in top..(top + BLOCK).min(side) {
                for column in left.max(row + 1)..(left + BLOCK).min(side) {
                    data.swap(row * ld + column, column * ld + row);
                }
            }
        }
    }
}

/// Transposes a rectangle of `rows` × `columns` without gaps in place, by the kernels' three passes.
fn rectangle<T: Copy + Send + Sync>(
    data: &mut [T],
    rows: usize,
    columns: usize,
    (a, b): (usize, usize),
    scratch: &mut [T],
) {
    let (m, n, a, b) = (rows as u64, columns as u64, a as u64, b as u64);
    if a != m {
        shuffle_columns(data, columns, scratch, |row, column| kernels::rotation_source(row, column, m, b));
    }
    let scratch_row = &mut scratch[..columns];
    for (row, line) in data.chunks_exact_mut(columns).enumerate() {
        for (column, &value) in line.iter().enumerate() {
            scratch_row[kernels::row_target(row as u64, column as u64, m, n, b) as usize] = value;
        }
        line.copy_from_slice(scratch_row);
    }
    shuffle_columns(data, columns, scratch, |row, column| kernels::column_source(row, column, m, n, a));
}

/// Takes row `i` of each column from row `source(i, column)`, a band of columns at a time.
fn shuffle_columns<T: Copy + Send + Sync>(
    data: &mut [T],
    columns: usize,
    scratch: &mut [T],
    source: impl Fn(u64, u64) -> u64 + Sync,
) {
    let rows = data.len() / columns;
    let band = kernels::band(size_of::<T>() as u32) as usize;
    for first in (0..columns).step_by(band) {
        let width = band.min(columns - first);
        let scratch = &mut scratch[..rows * width];
        cores::chunks(scratch, width, 1024, |row, line| {
            for (i, element) in line.iter_mut().enumerate() {
                let column = first + i;
                *element = data[source(row as u64, column as u64) as usize * columns + column];
            }
        });
        cores::chunks(&mut data[..rows * columns], columns, 1024, |row, line| {
            line[first..first + width].copy_from_slice(&scratch[row * width..][..width]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_lands_where_its_indices_swap_and_gaps_stay() {
        for (rows, columns, gap_in, gap_out) in [
            (1, 1, 0, 0),
            (1, 200, 0, 3),
            (200, 1, 2, 0),
            (64, 64, 0, 0),
            (65, 63, 1, 2),
            (130, 257, 5, 7),
            (3, 70_000, 0, 1),
        ] {
            let (input_ld, output_ld) = (columns + gap_in, rows + gap_out);
            let matrix = Layout::row_major(rows, columns)
                .and_then(|layout| layout.with_leading_dimension(input_ld))
                .unwrap();
            let input: Vec<u32> = (0..rows as u32 * input_ld as u32).collect();
            let transposed = Layout::row_major(columns, rows)
                .and_then(|layout| layout.with_leading_dimension(output_ld))
                .unwrap();
            let mut output = vec![u32::MAX; columns * output_ld];
            transpose(&input, matrix, &mut output, transposed);
            for (index, &value) in output.iter().enumerate() {
                let (column, row) = (index / output_ld, index % output_ld);
                let expected = if row < rows { input[row * input_ld + column] } else { u32::MAX };
                assert_eq!(value, expected, "{rows} × {columns}: column {column}, row {row}");
            }
        }
    }

    #[test]
    fn an_empty_matrix_is_fine() {
        let (none, no_columns) = (Layout::row_major(0, 5).unwrap(), Layout::row_major(5, 0).unwrap());
        transpose::<u32>(&[], none, &mut [], no_columns);
        transpose::<u32>(&[], no_columns, &mut [], none);
        permute::<u32>(&[], &[2, 0, 3], &[2, 1, 0], &mut []).unwrap();
    }
}
