//! What is done to blocks on a device: by this crate's products, or by the textbook's kernels.

use gpu_core::{Buffer, Scratch, Stream, View, ViewMut};

use super::launch::{self, CholeskyElement};
use crate::api::{copy, gemm};
use crate::error::Error;
use crate::matrix::{Layout, Matrix, MatrixMut};

/// Memory that calls need for themselves.
pub(super) struct Workspace<T: CholeskyElement> {
    scratch: Scratch,
    /// Copies of two blocks, the transposed of one, and a product: of the textbook's kernels.
    blocks: Option<[Buffer<T>; 4]>,
}

/// A part of a matrix in the device's memory: where it begins, and its rows, columns and leading dimension.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) at: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) leading: usize,
}

impl Part {
    pub(super) fn layout(self) -> Result<Layout, Error> {
        Ok(Layout::row_major(self.rows, self.columns)?.with_leading_dimension(self.leading)?)
    }

    pub(super) fn of<T: CholeskyElement>(self, memory: &Buffer<T>) -> Result<Matrix<'_, T>, Error> {
        Ok(Matrix::new(memory.slice(self.at..), self.layout()?)?)
    }

    pub(super) fn of_mut<T: CholeskyElement>(
        self,
        memory: &mut Buffer<T>,
    ) -> Result<MatrixMut<'_, T>, Error> {
        let layout = self.layout()?;
        Ok(MatrixMut::new(memory.slice_mut(self.at..), layout)?)
    }
}

impl<T: CholeskyElement> Workspace<T> {
    /// With room for the textbook's kernels on blocks of `own` × `own`, if they are to be used.
    pub(super) fn new(stream: &Stream, own: Option<usize>) -> Result<Self, Error> {
        let device = stream.device();
        let blocks = match own {
            None => None,
            Some(side) => {
                let block = || device.alloc(side * side);
                Some([block()?, block()?, block()?, block()?])
            }
        };
        Ok(Self { scratch: Scratch::new(stream), blocks })
    }

    /// `target = target - left · aboveᵀ`; the target has no gaps.
    pub(super) fn update(
        &mut self,
        stream: &Stream,
        memory: &Buffer<T>,
        left: Part,
        above: Part,
        target: ViewMut<'_, T>,
    ) -> Result<(), Error> {
        let (rows, columns) = (left.rows, above.rows);
        let Some([left_copy, above_copy, transposed, product]) = &mut self.blocks else {
            let layout = Layout::row_major(rows, columns)?;
            let (left, above) = (left.of(memory)?, above.of(memory)?.transposed());
            let target = MatrixMut::new(target, layout)?;
            return gemm(stream, -T::ONE, left, above, T::ONE, target, &mut self.scratch);
        };
        let k = left.columns;
        let whole = |part: Part| Layout::row_major(part.rows, part.columns);
        copy(stream, left.of(memory)?, MatrixMut::new(left_copy.slice_mut(..rows * k), whole(left)?)?)?;
        copy(stream, above.of(memory)?, MatrixMut::new(above_copy.slice_mut(..columns * k), whole(above)?)?)?;
        launch::transpose(
            stream,
            above_copy.slice(..columns * k),
            transposed.slice_mut(..columns * k),
            columns,
        )?;
        let shape = [rows, columns, k];
        launch::product(
            stream,
            left_copy.slice(..rows * k),
            transposed.slice(..columns * k),
            product.slice_mut(..rows * columns),
            shape,
        )?;
        launch::subtract(stream, target, product.slice(..rows * columns))
    }
}

/// `X · Lᵀ = B` of a factored block of `columns` columns, X in the place of B.
pub(super) fn solve<T: CholeskyElement>(
    stream: &Stream,
    factor: View<'_, T>,
    mut x: ViewMut<'_, T>,
    columns: usize,
) -> Result<(), Error> {
    (0..columns).try_for_each(|step| launch::solve_step(stream, factor, x.reborrow(), columns, step))
}
