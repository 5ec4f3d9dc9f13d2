//! The steps of triangular solves, triangular and symmetric products, and symmetric updates, simple and serial within a block.

use gpu_level3_kernels::{BLOCK, Invert, Merge, Spread};
use gpu_std::float::Float;
use rayon::prelude::*;

use super::finish;

/// The inverses of the blocks on the diagonal of lower triangles, as the kernel writes them.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub fn invert<T: Float>(shape: &Invert, a: &[T], inverses: &mut [T], apart: &mut [T], info: &mut [u32]) {
    let (block, square, size) = (BLOCK as usize, shape.square as usize, shape.size as usize);
    let blocks = shape.blocks() as usize;
    let at = |number: usize, row: usize, column: usize| {
        a[number * shape.batch as usize + row * shape.row as usize + column * shape.column as usize]
    };
    for (number, info) in info.iter_mut().enumerate().take(shape.count as usize) {
        let zero = (0..size).find(|&index| shape.unit == 0 && at(number, index, index) == T::ZERO);
        *info = zero.map_or(*info, |index| (*info).min(index as u32));
    }
    let all = &mut inverses[..blocks * shape.count as usize * block * square];
    all.par_chunks_mut(block * square).enumerate().for_each(|(chunk, inverse)| {
        let (number, first) = (chunk / blocks, chunk % blocks * block);
        let start = first % square;
        // Beyond the matrix there are ones on the diagonal.
        let l = |i: usize, j: usize| match first + i < size {
            true => at(number, first + i, first + j),
            false => T::ZERO,
        };
        let reciprocal = |i: usize| {
            let one = shape.unit != 0 || first + i >= size;
            T::ONE / if one { T::ONE } else { l(i, i) }
        };
        inverse.fill(T::ZERO);
        for i in 0..block {
            for j in 0..=i {
                let sum = if i == j { T::ONE } else { T::ZERO };
                let sum = (j..i).fold(sum, |sum, m| (-l(i, m)).mul_add(inverse[m * square + start + j], sum));
                inverse[i * square + start + j] = sum * reciprocal(i);
            }
        }
    });
    if shape.apart != 0 {
        for (chunk, (apart, inverse)) in
            apart.chunks_mut(block * block).zip(all.chunks(block * square)).enumerate()
        {
            let start = chunk * block % square;
            for (apart, inverse) in apart.chunks_mut(block).zip(inverse.chunks(square)) {
                apart.copy_from_slice(&inverse[start..start + block]);
            }
        }
    }
}

/// Lower triangles written out, as the kernel writes them.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub fn spread<T: Float>(shape: &Spread, a: &[T], output: &mut [T]) {
    let (square, squares) = (shape.square as usize, shape.squares() as usize);
    let output = &mut output[..squares * shape.count as usize * square * square];
    output.par_chunks_mut(square).enumerate().for_each(|(line, output)| {
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

/// Sums that go into C, as the kernel writes them.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub fn merge<T: Float>(shape: &Merge, sums: &[T], c: &mut [T], alpha: T, beta: T) {
    let columns = shape.columns as usize;
    for number in 0..shape.count as usize {
        for row in 0..shape.rows as usize {
            let sums = &sums[number * shape.sums_batch as usize + row * shape.sums_leading as usize..];
            let c = &mut c[number * shape.batch as usize + row * shape.leading as usize..];
            for (c, &sum) in c[..columns].iter_mut().zip(sums) {
                *c = finish(alpha, sum, beta, || *c);
            }
        }
    }
}
