//! Products of a matrix and a vector.

use gpu_core::cores;
use gpu_sparse_kernels::{Scalar, spmv::PIECE};

/// `y = alpha · A · x + beta · y`, of slices that are those of a matrix.
///
/// # Panics
/// Where they are none.
///
/// ```
/// let mut y = [f32::NAN; 2];
/// gpu_sparse::reference::spmv(2.0, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0], &[10.0, 1.0], 0.0, &mut y);
/// assert_eq!(y, [20.0, 46.0]);
/// ```
pub fn spmv<T: Scalar>(
    alpha: T,
    offsets: &[u32],
    indices: &[u32],
    values: &[T],
    x: &[T],
    beta: T,
    y: &mut [T],
) {
    cores::elements(y, |row, y| {
        let mut totals = [T::ZERO; 32];
        if alpha != T::ZERO {
            let entries = offsets[row] as usize..offsets[row + 1] as usize;
            let pieces = indices[entries.clone()].chunks(PIECE as usize);
            for (number, (indices, values)) in pieces.zip(values[entries].chunks(PIECE as usize)).enumerate()
            {
                let mut sums = [T::ZERO; 32];
                for (k, (&column, &value)) in indices.iter().zip(values).enumerate() {
                    sums[k % 32] = value.mul_add(x[column as usize], sums[k % 32]);
                }
                totals[number % 32] = totals[number % 32] + tree(sums);
            }
        }
        // A sum that is -0 gives +0, as it does where a kernel goes on with zeros.
        let sum = tree(totals) + T::ZERO;
        *y = if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * *y) };
    });
}

/// The chains, added at halved distances.
fn tree<T: Scalar>(mut sums: [T; 32]) -> T {
    for distance in [16, 8, 4, 2, 1] {
        (0..distance).for_each(|chain| sums[chain] = sums[chain] + sums[chain + distance]);
    }
    sums[0]
}
