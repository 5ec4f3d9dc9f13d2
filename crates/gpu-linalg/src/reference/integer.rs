//! Products of bytes with sums of 32 bits.

use std::borrow::Cow;

use gpu_core::cores;
use gpu_core::vectors::{Work, run};

use crate::matrix::{BatchLayout, Layout, Order};

/// Rows of C that a task computes, with lines of B that stay in the cache from one row to the next.
const ROWS: usize = 16;
const CACHED_BYTES: usize = 128 << 10;

/// [`crate::gemm_i8`] of slices with their layouts: exact sums, modulo 2³².
///
/// # Panics
/// Where shapes do not fit together, or a slice is shorter than its batch.
///
/// ```
/// use gpu_linalg::{BatchLayout, Layout, reference};
/// let layout = BatchLayout { matrix: Layout::row_major(2, 2)?, count: 1, stride: 0 };
/// let mut c = [10, 20, 30, 40];
/// reference::gemm_i8(2, (&[1, 2, 3, -4], layout), (&[5, -6, 7, 8], layout), 1, (&mut c, layout));
/// assert_eq!(c, [48, 40, 4, -60]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_i8(
    alpha: i32,
    (a, a_layout): (&[i8], BatchLayout),
    (b, b_layout): (&[i8], BatchLayout),
    beta: i32,
    (c, c_layout): (&mut [i32], BatchLayout),
) {
    if c_layout.matrix.order() == Order::ColumnMajor {
        let (a, b) = ((a, a_layout.transposed()), (b, b_layout.transposed()));
        return gemm_i8(alpha, b, a, beta, (c, c_layout.transposed()));
    }
    let (m, n) = c_layout.matrix.shape();
    let k = if alpha == 0 { 0 } else { a_layout.matrix.columns() };
    if m == 0 || n == 0 {
        return;
    }
    for number in 0..c_layout.count {
        // Factors without elements may have any stride.
        let a = a.get(number * a_layout.stride..).unwrap_or(&[]);
        let b = b.get(number * b_layout.stride..).unwrap_or(&[]);
        let a = Lines::along(a, a_layout.matrix, k);
        let b = Lines::along(b, b_layout.matrix.transposed(), k);
        let c = &mut c[number * c_layout.stride..][..c_layout.matrix.span()];
        let leading = c_layout.matrix.leading_dimension();
        cores::chunks(c, leading * ROWS, 1, |task, c| {
            let (first, rows) = (task * ROWS, ROWS.min(m - task * ROWS));
            let mut sums = vec![0; rows * n];
            run(Rows { a: &a, first, b: &b, k, columns: n, sums: &mut sums });
            for (c, sums) in c.chunks_mut(leading).zip(sums.chunks_exact(n)) {
                for (c, sum) in c.iter_mut().zip(sums) {
                    let product = alpha.wrapping_mul(*sum);
                    *c = if beta == 0 { product } else { beta.wrapping_mul(*c).wrapping_add(product) };
                }
            }
        });
    }
}

/// Rows of A or columns of B, each contiguous along the inner axis.
struct Lines<'a> {
    elements: Cow<'a, [i8]>,
    leading: usize,
}

impl<'a> Lines<'a> {
    /// The rows of a matrix, copied where they are not contiguous.
    fn along(elements: &'a [i8], matrix: Layout, k: usize) -> Self {
        if matrix.order() == Order::RowMajor {
            return Self { elements: Cow::Borrowed(elements), leading: matrix.leading_dimension() };
        }
        // No element has to be there where none is read.
        let mut lines = vec![0; matrix.rows() * k];
        cores::chunks(&mut lines, (k * 64).max(1), 1, |part, lines| {
            for at in 0..k {
                let column = &elements[matrix.index(part * 64, at)..];
                lines[at..].iter_mut().step_by(k).zip(column).for_each(|(line, value)| *line = *value);
            }
        });
        Self { elements: Cow::Owned(lines), leading: k }
    }

    #[inline(always)]
    fn line(&self, number: usize, k: usize) -> &[i8] {
        if k == 0 { &[] } else { &self.elements[number * self.leading..][..k] }
    }
}

/// The sums of a task's rows.
struct Rows<'a> {
    a: &'a Lines<'a>,
    first: usize,
    b: &'a Lines<'a>,
    k: usize,
    columns: usize,
    sums: &'a mut [i32],
}

impl Work for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { a, first, b, k, columns, sums } = self;
        let cached = (CACHED_BYTES / k.max(1)).max(4).next_multiple_of(4);
        for left in (0..columns).step_by(cached) {
            let right = columns.min(left + cached);
            for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
                let a = a.line(first + row, k);
                for (part, sums) in sums[left..right].chunks_mut(4).enumerate() {
                    let column = left + 4 * part;
                    if let [_, _, _, _] = sums {
                        let lines = [0, 1, 2, 3].map(|at| b.line(column + at, k));
                        sums.copy_from_slice(&four(a, lines));
                    } else {
                        for (at, sum) in sums.iter_mut().enumerate() {
                            *sum = four(a, [b.line(column + at, k); 4])[0];
                        }
                    }
                }
            }
        }
    }
}

/// The products of a row with four columns, in which wrapping sums may be in any order: so they are vectors.
#[inline(always)]
fn four(a: &[i8], [b0, b1, b2, b3]: [&[i8]; 4]) -> [i32; 4] {
    let mut sums = [0_i32; 4];
    let product = |a: i8, b: i8| i32::from(a) * i32::from(b);
    for ((((&a, &b0), &b1), &b2), &b3) in a.iter().zip(b0).zip(b1).zip(b2).zip(b3) {
        sums[0] = sums[0].wrapping_add(product(a, b0));
        sums[1] = sums[1].wrapping_add(product(a, b1));
        sums[2] = sums[2].wrapping_add(product(a, b2));
        sums[3] = sums[3].wrapping_add(product(a, b3));
    }
    sums
}
