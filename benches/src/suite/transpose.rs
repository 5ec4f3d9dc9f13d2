//! The transposition of a matrix.

use gpu_core::Stream;
use gpu_transpose::{Layout, Matrix, MatrixMut, reference};

use crate::data::Element;
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Transpositions of matrices, row-major without gaps.
pub struct Transpose<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    matrix: Layout,
    transposed: Layout,
}

impl<'a, T: Element> Transpose<'a, T> {
    /// Transpositions of `inputs`, each a matrix of `rows` × `cols` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, rows: usize, cols: usize) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        let (matrix, transposed) = (Layout::row_major(rows, cols)?, Layout::row_major(cols, rows)?);
        Ok(Self { inputs, outputs, matrix, transposed })
    }
}

impl<T: Element> Work for Transpose<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        2 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let source = Matrix::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.matrix)?;
        let target = MatrixMut::new(self.outputs.of(input), self.transposed)?;
        Ok(gpu_transpose::transpose_into(stream, source, target)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, matrix, transposed } = self;
        outputs.check(launched, |input, output| {
            reference::transpose(&inputs.host[inputs.layout.range(input)], *matrix, output, *transposed);
        })
    }
}
