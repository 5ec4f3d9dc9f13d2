//! What triangular and symmetric products do beside products, simple.

use gpu_core::cores;
use gpu_level3_kernels::{Copy, Spread};
use gpu_std::float::Float;

/// Lower triangles written out, as the kernel writes them.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub fn spread<T: Float>(shape: &Spread, a: &[T], output: &mut [T]) {
    let (square, squares) = (shape.square as usize, shape.squares() as usize);
    let output = &mut output[..squares * shape.count as usize * square * square];
    cores::chunks(output, square, 1, |line, output| {
        let (at, row) = (line / square, line % square);
        let (number, first) = (at / squares, at % squares * square);
        for (column, value) in output.iter_mut().enumerate() {
            let (i, j) = (row.max(column), row.min(column));
            let inside = first + i < shape.size as usize && (column <= row || shape.symmetric != 0);
            *value = match inside {
                false => T::ZERO,
                true if i == j && shape.unit != 0 => T::ONE,
                true => {
                    a[number * shape.batch as usize
                        + (first + i) * shape.row as usize
                        + (first + j) * shape.column as usize]
                }
            };
        }
    });
}

/// Copies of matrices, as the kernel makes them.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub fn copy<T: Float>(shape: &Copy, from: &[T], to: &mut [T]) {
    let length = shape.length as usize;
    for number in 0..shape.count as usize {
        for line in 0..shape.lines as usize {
            let from = &from[number * shape.from_batch as usize + line * shape.from_leading as usize..];
            let to = &mut to[number * shape.to_batch as usize + line * shape.to_leading as usize..];
            to[..length].copy_from_slice(&from[..length]);
        }
    }
}
