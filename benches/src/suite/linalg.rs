//! Products of matrices, of a matrix and a vector, and sums of vectors.

use gpu_core::{Buffer, Scratch, Stream};
use gpu_linalg::plan::gemm::Split;
use gpu_linalg::{
    Layout, Matrix, MatrixMut, RealElement, add, gemm, gemm_scratch, gemv, gemv_scratch, reference,
};

use crate::data::{self, Element};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Elements of a product that are checked, spread over all of it: a CPU computes a whole one in minutes.
const CHECKED: usize = 1024;

/// Products of square matrices, row-major: each input and the one after it are the factors.
pub struct Gemm<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    matrix: Layout,
    scratch: Scratch,
}

impl<'a, T: Element + RealElement> Gemm<'a, T> {
    /// Products of `inputs`, each a matrix of `n` × `n` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, n: usize) -> Result<Self, Error> {
        let outputs = Outputs::new(session, inputs.layout)?;
        let matrix = Layout::row_major(n, n)?;
        let scratch = Scratch::with_size(&session.stream, gemm_scratch::<T>(n, matrix))?;
        Ok(Self { inputs, outputs, matrix, scratch })
    }
}

impl<T: Element + RealElement> Work for Gemm<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        3 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let [a, b] = operands(self.inputs.layout, input).map(|range| self.inputs.device.slice(range));
        let (a, b) = (Matrix::new(a, self.matrix)?, Matrix::new(b, self.matrix)?);
        let c = MatrixMut::new(self.outputs.of(input), self.matrix)?;
        Ok(gemm(stream, T::ONE, a, b, T::ZERO, c, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let n = self.matrix.rows();
        let split = Split::of(size_of::<T>(), n, self.matrix.into());
        for input in (0..launched.len()).filter(|&input| launched[input]) {
            let actual = self.outputs.read(input)?;
            let [a, b] = operands(self.inputs.layout, input).map(|range| &self.inputs.host[range]);
            for sample in 0..CHECKED.min(n * n) {
                let index = data::hash(sample) as usize % (n * n);
                let (row, column) = (index / n, index % n);
                let chain = |sum: T, k: usize| a[row * n + k].mul_add(b[k * n + column], sum);
                let parts = split.ranges(n).map(|part| part.fold(T::ZERO, chain));
                let expected = parts.fold(T::ZERO, |sum, part| sum + part);
                if !data::same(&actual[index], &expected) {
                    return Err(data::wrong(input, index, &expected, &actual[index], T::POISON));
                }
            }
        }
        Ok(())
    }
}

/// Products of a matrix, row-major or transposed, and a vector.
pub struct Gemv<'a, T: Element + RealElement> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    matrix: Layout,
    x_host: Vec<T>,
    x: Buffer<T>,
    scratch: Scratch,
}

impl<'a, T: Element + RealElement> Gemv<'a, T> {
    /// Products of `inputs`, each a row-major matrix of `rows` × `cols` elements, or of these transposed.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, T>,
        [rows, cols]: [usize; 2],
        transposed: bool,
    ) -> Result<Self, Error> {
        let matrix = Layout::row_major(rows, cols)?;
        let matrix = if transposed { matrix.transposed() } else { matrix };
        let outputs = Outputs::new(session, data::Layout::new::<T>(inputs.layout.count, matrix.rows()))?;
        let x_host = data::values::<T>(matrix.columns());
        let x = session.device.upload(&x_host)?;
        let scratch = Scratch::with_size(&session.stream, gemv_scratch::<T>(matrix)?)?;
        Ok(Self { inputs, outputs, matrix, x_host, x, scratch })
    }
}

impl<T: Element + RealElement> Work for Gemv<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.inputs.layout.elements + self.matrix.rows() + self.matrix.columns()) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let a = Matrix::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.matrix)?;
        let y = self.outputs.of(input);
        Ok(gemv(stream, T::ONE, a, &self.x, T::ZERO, y, &mut self.scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, matrix, x_host, .. } = self;
        outputs.check(launched, |input, output| {
            let a = &inputs.host[inputs.layout.range(input)];
            reference::gemv(T::ONE, a, *matrix, x_host, T::ZERO, output)
                .expect("the launch had the same plan");
        })
    }
}

/// Sums of vectors: each input and the one after it.
pub struct Add<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
}

impl<'a, T: Element> Add<'a, T> {
    /// Sums of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>) -> Result<Self, Error> {
        Ok(Self { inputs, outputs: Outputs::new(session, inputs.layout)? })
    }
}

/// Where the operands of the launch numbered `input` lie.
pub(super) fn operands(layout: data::Layout, input: usize) -> [core::ops::Range<usize>; 2] {
    [layout.range(input), layout.range((input + 1) % layout.count)]
}

impl<T: Element + RealElement> Work for Add<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        3 * (self.inputs.layout.elements * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let [x, y] = operands(self.inputs.layout, input).map(|range| self.inputs.device.slice(range));
        Ok(add(stream, x, y, self.outputs.of(input))?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let inputs = self.inputs;
        self.outputs.check(launched, |input, output| {
            let [x, y] = operands(inputs.layout, input).map(|range| &inputs.host[range]);
            output.iter_mut().zip(x).zip(y).for_each(|((sum, &x), &y)| *sum = x + y);
        })
    }
}
