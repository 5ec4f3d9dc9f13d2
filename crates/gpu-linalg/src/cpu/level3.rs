//! Inverses of the blocks on the diagonal of triangles.

use gpu_core::vectors::{Work, run};
use gpu_level3_kernels::{BLOCK, Invert};
use gpu_std::float::Float;
use rayon::prelude::*;

/// Blocks that are not worth a second thread: to wake it takes some 15 µs.
const SERIAL: usize = 3;

/// The inverses of the blocks on the diagonal of lower triangles, as
/// [`reference::level3::invert`](crate::reference::level3::invert): a row of an inverse is made with vectors along it,
/// so that an element's sum is still one chain over ascending rows above.
///
/// # Panics
/// Where a slice is shorter than the shape says.
pub(crate) fn invert<T: Float>(
    shape: &Invert,
    a: &[T],
    inverses: &mut [T],
    apart: &mut [T],
    info: &mut [u32],
) {
    let (block, square, size) = (BLOCK as usize, shape.square as usize, shape.size as usize);
    let blocks = shape.blocks() as usize;
    let (row, column) = (shape.row as usize, shape.column as usize);
    let matrix = |number: usize| &a[number * shape.batch as usize..];
    for (number, info) in info.iter_mut().enumerate().take(shape.count as usize) {
        let is_zero = |&index: &usize| matrix(number)[index * (row + column)] == T::ZERO;
        let zero = (0..size).find(|index| shape.unit == 0 && is_zero(index));
        *info = zero.map_or(*info, |index| (*info).min(index as u32));
    }
    let all = &mut inverses[..blocks * shape.count as usize * block * square];
    let one = |(chunk, inverse): (usize, &mut [T])| {
        let (number, first) = (chunk / blocks, chunk % blocks * block);
        run(One {
            a: matrix(number),
            strides: (row, column),
            first,
            rows: block.min(size.saturating_sub(first)),
            is_unit: shape.unit != 0,
            inverse,
            square,
        });
    };
    if blocks * shape.count as usize <= SERIAL {
        all.chunks_mut(block * square).enumerate().for_each(one);
    } else {
        all.par_chunks_mut(block * square).enumerate().for_each(one);
    }
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

/// One block.
struct One<'a, T> {
    a: &'a [T],
    /// From one row of A to the next, and from one column to the next.
    strides: (usize, usize),
    /// The block's first row, and how many the matrix has of it: beyond there are ones on the diagonal and zeros.
    first: usize,
    rows: usize,
    is_unit: bool,
    /// Rows of `square` elements, of which the block's are those from the block's place in its square on.
    inverse: &'a mut [T],
    square: usize,
}

impl<T: Float> Work for One<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { a, strides: (row, column), first, rows, is_unit, inverse, square } = self;
        let (block, start) = (BLOCK as usize, first % square);
        inverse.fill(T::ZERO);
        for i in 0..block {
            let (above, rest) = inverse.split_at_mut(i * square);
            let sums = &mut rest[start..start + i + 1];
            sums[i] = T::ONE;
            let is_inside = i < rows;
            for (m, above) in above.chunks_exact(square).enumerate() {
                let factor = if is_inside { -a[(first + i) * row + (first + m) * column] } else { -T::ZERO };
                for (sum, &known) in sums[..m + 1].iter_mut().zip(&above[start..start + m + 1]) {
                    *sum = factor.mul_add(known, *sum);
                }
            }
            let pivot = if is_unit || !is_inside { T::ONE } else { a[(first + i) * (row + column)] };
            let reciprocal = T::ONE / pivot;
            sums.iter_mut().for_each(|sum| *sum = *sum * reciprocal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Diagonal;
    use crate::matrix::{BatchLayout, Layout};
    use crate::{plan, reference};

    type Way = fn(&Invert, &[f64], &mut [f64], &mut [f64], &mut [u32]);

    #[test]
    fn inverses_have_the_bits_of_the_reference() {
        for (n, count, square) in
            [(1, 3, 64), (63, 1, 64), (64, 1, 64), (65, 2, 64), (300, 1, 128), (513, 1, 128)]
        {
            for matrix in [Layout::row_major(n, n), Layout::column_major(n, n)] {
                let matrix = matrix.expect("it is small").with_leading_dimension(n + 2).expect("it is small");
                let batch = BatchLayout::new(matrix, count, matrix.span() + 1).expect("it is small");
                let hash = |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                let mut a: Vec<f64> =
                    (0..batch.span().expect("it is small")).map(|at| hash(at) as f64 / 2e8 - 0.04).collect();
                for (at, value) in [(n / 2, 0.0), (n / 3, f64::INFINITY), (n / 4, f64::NAN), (n / 5, -0.0)] {
                    a[matrix.index(at, at)] = value;
                }
                for diagonal in [Diagonal::Stored, Diagonal::Unit] {
                    let shape =
                        plan::level3::invert(batch, diagonal, square, square == 128).expect("it is small");
                    let run = |way: Way| {
                        let len = n.div_ceil(square) * square * square * count;
                        let (mut inverses, mut apart) = (vec![7.0; len], vec![8.0; len]);
                        let mut info = vec![u32::MAX; count];
                        way(&shape, &a, &mut inverses, &mut apart, &mut info);
                        let bits = |value: f64| if value.is_nan() { 1 } else { value.to_bits() };
                        (inverses.into_iter().chain(apart).map(bits).collect::<Vec<_>>(), info)
                    };
                    assert!(
                        run(invert) == run(reference::level3::invert),
                        "{n}, {count}, {diagonal:?}, {matrix:?}"
                    );
                }
            }
        }
    }
}
