//! The CPU's transposition: the oracle of the kernel, and what a machine without a GPU uses.

use rayon::prelude::*;

use crate::matrix::Matrix;

/// Rows and columns of a block: two of 64 × 64 four-byte elements fit the first-level cache of any current CPU.
const BLOCK: usize = 64;

/// Transposes `input` (shaped as `matrix`) into `output`, whose rows are `output_ld` elements apart, on all cores. What
/// lies between the output's rows stays as it was.
///
/// # Panics
/// Where a slice is shorter than its matrix; [`transpose_into`](crate::transpose_into) checks that first.
///
/// ```
/// use gpu_transpose::{Matrix, reference};
/// let mut output = [0; 6];
/// reference::transpose(&[1, 2, 3, 4, 5, 6], Matrix::new(2, 3)?, &mut output, 2);
/// assert_eq!(output, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), gpu_transpose::Error>(())
/// ```
pub fn transpose<T: Copy + Send + Sync>(input: &[T], matrix: Matrix, output: &mut [T], output_ld: usize) {
    if matrix.is_empty() {
        return;
    }
    let (rows, columns, input_ld) = (matrix.rows(), matrix.columns(), matrix.leading_dimension());
    let used = (columns - 1) * output_ld + rows;
    output[..used].par_chunks_mut(BLOCK * output_ld).enumerate().for_each(|(band, output)| {
        let first = band * BLOCK;
        let width = BLOCK.min(columns - first);
        for top in (0..rows).step_by(BLOCK) {
            let height = BLOCK.min(rows - top);
            for column in 0..width {
                let target = &mut output[column * output_ld + top..][..height];
                for (row, element) in target.iter_mut().enumerate() {
                    *element = input[(top + row) * input_ld + first + column];
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_lands_where_its_indices_swap_and_gaps_stay() {
        for (rows, columns, gap_in, gap_out) in
            [(1, 1, 0, 0), (1, 200, 0, 3), (200, 1, 2, 0), (64, 64, 0, 0), (65, 63, 1, 2), (130, 257, 5, 7)]
        {
            let (input_ld, output_ld) = (columns + gap_in, rows + gap_out);
            let matrix = Matrix::with_leading_dimension(rows, columns, input_ld).unwrap();
            let input: Vec<u32> = (0..rows as u32 * input_ld as u32).collect();
            let mut output = vec![u32::MAX; columns * output_ld];
            transpose(&input, matrix, &mut output, output_ld);
            for (index, &value) in output.iter().enumerate() {
                let (column, row) = (index / output_ld, index % output_ld);
                let expected = if row < rows { input[row * input_ld + column] } else { u32::MAX };
                assert_eq!(value, expected, "{rows} × {columns}: column {column}, row {row}");
            }
        }
    }

    #[test]
    fn an_empty_matrix_is_fine() {
        transpose::<u32>(&[], Matrix::new(0, 5).unwrap(), &mut [], 0);
        transpose::<u32>(&[], Matrix::new(5, 0).unwrap(), &mut [], 5);
    }
}
