//! Products of matrices of more entries than 32 bits count.

use gpu_core::{Matrix, MatrixMut, Resources, Stream, View, ViewMut, Visitor, checks};

use super::Spmv;
use super::spmm::expect_shapes;
use crate::error::Error;
use crate::launch::Element;
use crate::matrix::Wide;

/// What products of one [`Wide`] matrix and vectors are computed with: a [`Spmv`] for each of its panels, each chosen
/// from its own rows. The order of every sum is a function of the length of its row alone, so the bits are those of one
/// panel.
#[derive(Debug)]
pub struct WideSpmv<'a, T: Element> {
    rows: usize,
    columns: usize,
    panels: Vec<(usize, Spmv<'a, T>)>,
}

impl<'a, T: Element> WideSpmv<'a, T> {
    /// Looks at the lengths of the rows, and waits for that.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Wide, WideSpmv};
    /// let a = Wide::new(2, 2, &[0u64, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let mut y = [0.0; 2];
    /// WideSpmv::new(&a)?.run(&a.device().default_stream(), 1.0, &[1.0, 10.0], 0.0, &mut y)?;
    /// assert_eq!(y, [2.0, 41.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(matrix: &'a Wide<'_, T>) -> Result<Self, Error> {
        let panels = matrix.panels().map(|(first, panel)| Ok((first, Spmv::new(panel)?)));
        let panels = panels.collect::<Result<_, Error>>()?;
        Ok(Self { rows: matrix.rows(), columns: matrix.columns(), panels })
    }

    /// `y = alpha · A · x + beta · y`, on `stream`; see [`Spmv::run`].
    ///
    /// # Errors
    /// Those of [`Spmv::run`].
    pub fn run<'x, 'y>(
        &mut self,
        stream: &Stream,
        alpha: T,
        x: impl Into<View<'x, T>>,
        beta: T,
        y: impl Into<ViewMut<'y, T>>,
    ) -> Result<(), Error> {
        let (x, mut y) = (x.into(), y.into());
        checks::vectors((self.rows, self.columns), x.len(), y.len())?;
        // Of the whole output: a panel looks at its own rows of it.
        y.expect_apart("x", &x)?;
        for (first, product) in &mut self.panels {
            let last = *first + product.statistics().rows as usize;
            product.run(stream, alpha, x, beta, y.reborrow().into_slice(*first..last))?;
        }
        Ok(())
    }

    /// `C = alpha · A · B + beta · C`, on `stream`; see [`Spmv::run_many`].
    ///
    /// # Errors
    /// Those of [`Spmv::run_many`].
    pub fn run_many<'b, 'c>(
        &mut self,
        stream: &Stream,
        alpha: T,
        b: impl Into<Matrix<'b, T>>,
        beta: T,
        c: impl Into<MatrixMut<'c, T>>,
    ) -> Result<(), Error> {
        let (b, mut c): (Matrix<'_, T>, MatrixMut<'_, T>) = (b.into(), c.into());
        let (layout, count) = (c.layout(), c.layout().columns());
        expect_shapes((self.rows, self.columns), b.layout(), layout)?;
        c.data_mut().expect_apart("B", &b.data())?;
        for (first, product) in &mut self.panels {
            let rows = product.statistics().rows as usize;
            if rows == 0 || count == 0 {
                continue;
            }
            let of_panel = layout.part(rows, count)?;
            let start = layout.index(*first, 0);
            let data = c.data_mut().into_slice(start..start + of_panel.span());
            product.run_many(stream, alpha, b, beta, MatrixMut::new(data, of_panel)?)?;
        }
        Ok(())
    }
}

// SAFETY: as of `Spmv`.
unsafe impl<T: Element> Resources for WideSpmv<'_, T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.panels.iter().for_each(|(_, product)| product.visit(visitor));
    }
}
