//! From one storage of a matrix to another.

use gpu_sparse_kernels::Scalar;

use super::solve::sums;

/// Offsets, columns and values of compressed rows.
type Compressed<T> = (Vec<u32>, Vec<u32>, Vec<T>);

/// Entries in any order as compressed rows. Those in the same place are added in the order in which they stand.
///
/// # Panics
/// Where an entry stands below the last row.
///
/// ```
/// let (offsets, columns, values) = gpu_sparse::reference::compress(2, &[1, 0, 1], &[0, 1, 0], &[1.0, 2.0, 3.0]);
/// assert_eq!((offsets, columns, values), (vec![0, 1, 2], vec![1, 0], vec![2.0, 4.0]));
/// ```
pub fn compress<T: Scalar>(
    rows: usize,
    row_indices: &[u32],
    column_indices: &[u32],
    values: &[T],
) -> Compressed<T> {
    let place = |entry: usize| (row_indices[entry], column_indices[entry]);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&entry| place(entry));
    let mut counts = vec![0; rows];
    let (mut columns, mut sums_of_values): (Vec<u32>, Vec<T>) = (Vec::new(), Vec::new());
    for run in order.chunk_by(|&a, &b| place(a) == place(b)) {
        let (row, column) = place(run[0]);
        counts[row as usize] += 1;
        columns.push(column);
        sums_of_values.push(run[1..].iter().fold(values[run[0]], |sum, &entry| sum + values[entry]));
    }
    (sums(&counts), columns, sums_of_values)
}

/// The row of every entry of compressed rows.
///
/// ```
/// assert_eq!(gpu_sparse::reference::rows_of_entries(&[0, 2, 2, 3]), [0, 0, 2]);
/// ```
pub fn rows_of_entries(offsets: &[u32]) -> Vec<u32> {
    let of_row = |(row, pair): (usize, &[u32])| (pair[0]..pair[1]).map(move |_| row as u32);
    offsets.windows(2).enumerate().flat_map(of_row).collect()
}

/// The transposed matrix of one of so many columns.
///
/// ```
/// let (offsets, columns, values) = gpu_sparse::reference::transpose(2, &[0, 2, 3], &[0, 1, 1], &[1.0, 2.0, 3.0]);
/// assert_eq!((offsets, columns, values), (vec![0, 1, 3], vec![0, 0, 1], vec![1.0, 2.0, 3.0]));
/// ```
pub fn transpose<T: Scalar>(columns: usize, offsets: &[u32], indices: &[u32], values: &[T]) -> Compressed<T> {
    let mut counts = vec![0; columns];
    indices.iter().for_each(|&column| counts[column as usize] += 1);
    let starts = sums(&counts);
    let mut next = starts.clone();
    let (mut rows, mut output) = (vec![0; indices.len()], vec![T::ZERO; indices.len()]);
    for (row, pair) in offsets.windows(2).enumerate() {
        for entry in pair[0] as usize..pair[1] as usize {
            let place = &mut next[indices[entry] as usize];
            (rows[*place as usize], output[*place as usize]) = (row as u32, values[entry]);
            *place += 1;
        }
    }
    (starts, rows, output)
}
