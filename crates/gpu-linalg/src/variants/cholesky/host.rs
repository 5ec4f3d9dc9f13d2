//! On the host: loops, and loops over blocks.

use gpu_std::float::Float;

use super::Calls;
use crate::api::Triangle;
use crate::error::Error;
use crate::matrix::Layout;

/// The lower triangle of a matrix in memory, or the transposed of its upper one.
pub(super) struct Lower<'a, T> {
    data: &'a mut [T],
    layout: Layout,
}

impl<'a, T: Float> Lower<'a, T> {
    pub(super) fn new(triangle: Triangle, data: &'a mut [T], layout: Layout) -> Self {
        let layout = match triangle {
            Triangle::Lower => layout,
            Triangle::Upper => layout.transposed(),
        };
        Self { data, layout }
    }

    pub(super) fn size(&self) -> usize {
        self.layout.rows()
    }

    pub(super) fn get(&self, row: usize, column: usize) -> T {
        self.data[self.layout.index(row, column)]
    }

    pub(super) fn set(&mut self, row: usize, column: usize, value: T) {
        self.data[self.layout.index(row, column)] = value;
    }
}

/// The root of a pivot.
pub(super) fn root<T: Float>(pivot: T, index: usize) -> Result<T, Error> {
    // NaN is not.
    if pivot > T::ZERO {
        Ok(pivot.sqrt())
    } else {
        Err(Error::NotPositiveDefinite { matrix: 0, index: index + 1 })
    }
}

/// Listing 8.1: divides a column by its pivot's root, and subtracts its products from all that is right of it.
pub(super) fn sequential<T: Float>(mut r: Lower<'_, T>) -> Result<Calls, Error> {
    let n = r.size();
    let mut column = vec![T::ZERO; n];
    for k in 0..n {
        let pivot = root(r.get(k, k), k)?;
        r.set(k, k, pivot);
        for (i, element) in column.iter_mut().enumerate().skip(k + 1) {
            *element = r.get(i, k) / pivot;
            r.set(i, k, *element);
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                r.set(i, j, r.get(i, j) - column[i] * column[j]);
            }
        }
    }
    Ok(Calls { potrf: 1, ..Calls::default() })
}

/// Listing 8.2. An element has the products of one column after the other subtracted, as in [`sequential`]: the bits are
/// the same.
pub(super) fn blocked<T: Float>(mut r: Lower<'_, T>, side: usize) -> Result<Calls, Error> {
    let n = r.size();
    let mut calls = Calls::default();
    let block = |first: usize| first..(first + side).min(n);
    for first in (0..n).step_by(side) {
        let own = block(first);
        // R_kk := cholesky(R_kk)
        for k in own.clone() {
            let pivot = root(r.get(k, k), k)?;
            r.set(k, k, pivot);
            for i in k + 1..own.end {
                r.set(i, k, r.get(i, k) / pivot);
            }
            for i in k + 1..own.end {
                for j in k + 1..=i {
                    r.set(i, j, r.get(i, j) - r.get(i, k) * r.get(j, k));
                }
            }
        }
        calls.potrf += 1;
        // R_ik := R_ik · R_kk⁻ᵀ
        for below in (own.end..n).step_by(side) {
            for i in block(below) {
                for k in own.clone() {
                    let solved = r.get(i, k) / r.get(k, k);
                    r.set(i, k, solved);
                    for j in k + 1..own.end {
                        r.set(i, j, r.get(i, j) - solved * r.get(j, k));
                    }
                }
            }
            calls.trsm += 1;
        }
        // R_ij := R_ij - R_ik · R_jkᵀ
        for right in (own.end..n).step_by(side) {
            for below in (right..n).step_by(side) {
                for i in block(below) {
                    for j in block(right).take_while(|&j| j <= i) {
                        let mut element = r.get(i, j);
                        for k in own.clone() {
                            element = element - r.get(i, k) * r.get(j, k);
                        }
                        r.set(i, j, element);
                    }
                }
                *if below == right { &mut calls.syrk } else { &mut calls.gemm } += 1;
            }
        }
    }
    Ok(calls)
}

/// Factors a block of `side` × `side` elements without gaps, row-major, whose first row is row `first` of the matrix. Above its
/// diagonal there are zeros afterwards.
pub(super) fn block<T: Float>(block: &mut [T], side: usize, first: usize) -> Result<(), Error> {
    let layout = Layout::row_major(side, side)?;
    let failed = sequential(Lower::new(Triangle::Lower, block, layout));
    if let Err(Error::NotPositiveDefinite { matrix, index }) = failed {
        return Err(Error::NotPositiveDefinite { matrix, index: first + index });
    }
    for row in 0..side {
        block[row * side + row + 1..(row + 1) * side].fill(T::ZERO);
    }
    Ok(())
}
