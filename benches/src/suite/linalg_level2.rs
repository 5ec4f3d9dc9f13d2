//! Outer products, and products of a vector and a matrix of which one triangle is stored.

use gpu_core::{Buffer, Scratch, Stream, vectors};
use gpu_linalg::{Diagonal, Layout, Matrix, MatrixMut, RealElement, Triangle, ger, reference, symv, trmv};
use rayon::prelude::*;

use super::linalg_level1::{Axpys, InPlace, alpha};
use crate::data::{self, Element};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// `A = alpha · x · yᵀ + A` in place, A being row-major: each input.
pub struct Ger<'a, T: Element> {
    a: InPlace<'a, T>,
    matrix: Layout,
    /// x, then y.
    on_host: [Vec<T>; 2],
    vectors: [Buffer<T>; 2],
}

impl<'a, T: Element> Ger<'a, T> {
    /// Updates of copies of `inputs`, each a matrix of `rows` × `cols` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, [rows, cols]: [usize; 2]) -> Result<Self, Error> {
        let x = data::values::<T>(rows);
        let y: Vec<T> = (rows..rows + cols).map(T::value).collect();
        let vectors = [session.device.upload(&x)?, session.device.upload(&y)?];
        let matrix = Layout::row_major(rows, cols)?;
        Ok(Self { a: InPlace::new(session, inputs)?, matrix, on_host: [x, y], vectors })
    }
}

impl<T: Element + RealElement> Work for Ger<'_, T> {
    fn inputs(&self) -> usize {
        self.a.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        let (rows, cols) = self.matrix.shape();
        ((2 * rows * cols + rows + cols) * size_of::<T>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.a.set(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let [x, y] = &self.vectors;
        let a = MatrixMut::new(self.a.change(input), self.matrix)?;
        Ok(ger(stream, alpha::<T>(), x, y, a)?)
    }

    fn check(&mut self, _: &[bool]) -> Result<(), Error> {
        let Self { a, on_host, .. } = self;
        let [x, y] = &*on_host;
        a.check(|_, times, a| {
            // As `reference::ger`, but a row is updated as often as it was before the next one is.
            a.par_chunks_mut(y.len())
                .zip(x)
                .for_each(|(row, &x)| vectors::run(Axpys { times, alpha: alpha::<T>() * x, x: y, y: row }));
        })
    }
}

/// Bytes of a product with a matrix of `n` rows: a triangle, the diagonal included, and a vector in, a vector out.
fn bytes<T>(n: usize) -> u64 {
    ((n * (n + 1) / 2 + 2 * n) * size_of::<T>()) as u64
}

/// `y = A · x`, A being symmetric: of each input, row-major, the lower triangle.
pub struct Symv<'a, T: Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    matrix: Layout,
    x_host: Vec<T>,
    x: Buffer<T>,
    scratch: Scratch,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<Vec<T>>>,
}

impl<'a, T: Element> Symv<'a, T> {
    /// Products of `inputs`, each a matrix of `n` × `n` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, n: usize) -> Result<Self, Error> {
        let x_host = data::values::<T>(n);
        Ok(Self {
            inputs,
            outputs: Outputs::new(session, data::Layout::new::<T>(inputs.layout.count, n))?,
            matrix: Layout::row_major(n, n)?,
            x: session.device.upload(&x_host)?,
            x_host,
            scratch: Scratch::new(&session.stream),
            expected: vec![None; inputs.layout.count],
        })
    }
}

impl<T: Element + RealElement> Work for Symv<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        bytes::<T>(self.matrix.rows())
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let a = Matrix::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.matrix)?;
        let (y, scratch) = (self.outputs.of(input), &mut self.scratch);
        Ok(symv(stream, Triangle::Lower, T::ONE, a, &self.x, T::ZERO, y, scratch)?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, matrix, x_host, expected, .. } = self;
        outputs.check(launched, |input, output| {
            let product = expected[input].get_or_insert_with(|| {
                let a = (&inputs.host[inputs.layout.range(input)], *matrix);
                let mut y = vec![T::ZERO; output.len()];
                reference::symv(Triangle::Lower, T::ONE, a, x_host, T::ZERO, &mut y);
                y
            });
            output.copy_from_slice(product);
        })
    }
}

/// `x = A · x` in place, A being triangular: of each input, row-major, the lower triangle. Each launch has a vector
/// of its own: one that is multiplied again and again is soon not finite.
pub struct Trmv<'a, T: Element> {
    inputs: Inputs<'a, T>,
    matrix: Layout,
    vectors: Outputs<T>,
    /// Which input each vector was multiplied with last, since all were set.
    multiplied: Vec<Option<usize>>,
    /// The vector that is multiplied next.
    next: usize,
    x_host: Vec<T>,
    x: Buffer<T>,
    scratch: Scratch,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<Vec<T>>>,
}

impl<'a, T: Element> Trmv<'a, T> {
    /// Products of `inputs`, each a matrix of `n` × `n` elements.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, inputs: Inputs<'a, T>, n: usize) -> Result<Self, Error> {
        let effort = session.effort;
        let batched = effort.batches * effort.launches_a_batch(bytes::<T>(n));
        let count = batched.max(2 * effort.singles);
        let x_host = data::values::<T>(n);
        let x = session.device.upload(&x_host)?;
        let mut vectors = Outputs::new(session, data::Layout::new::<T>(count, n))?;
        // Launches read them before the first set of timings, too.
        vectors.set(&session.stream, |_| x.view())?;
        Ok(Self {
            inputs,
            matrix: Layout::row_major(n, n)?,
            vectors,
            multiplied: vec![None; count],
            next: 0,
            x_host,
            x,
            scratch: Scratch::new(&session.stream),
            expected: vec![None; inputs.layout.count],
        })
    }
}

impl<T: Element + RealElement> Work for Trmv<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        bytes::<T>(self.matrix.rows())
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.multiplied.fill(None);
        self.next = 0;
        let x = &self.x;
        self.vectors.set(stream, |_| x.view())
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let number = self.next;
        // Only before the first timing there may be more launches than vectors.
        self.next = (number + 1) % self.multiplied.len();
        self.multiplied[number] = Some(input);
        let a = Matrix::new(self.inputs.device.slice(self.inputs.layout.range(input)), self.matrix)?;
        let (x, scratch) = (self.vectors.of(number), &mut self.scratch);
        Ok(trmv(stream, Triangle::Lower, Diagonal::Stored, a, x, scratch)?)
    }

    fn check(&mut self, _: &[bool]) -> Result<(), Error> {
        let Self { inputs, matrix, vectors, multiplied, x_host, expected, .. } = self;
        // Vectors that no launch took must be what they were.
        vectors.check(&vec![true; multiplied.len()], |number, output| {
            output.copy_from_slice(x_host);
            let Some(input) = multiplied[number] else { return };
            let product = expected[input].get_or_insert_with(|| {
                let a = (&inputs.host[inputs.layout.range(input)], *matrix);
                let mut x = x_host.clone();
                reference::trmv(Triangle::Lower, Diagonal::Stored, a, &mut x);
                x
            });
            output.copy_from_slice(product);
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Args;

    /// A session on the CPU with inputs of `n` × `n` elements.
    fn session(n: usize) -> Session {
        let args = Args::try_parse_from(["bench-gpu", "--device", "cpu"]).expect("valid");
        let mut session = Session::new(&args).expect("the CPU is there");
        session.prepare::<f32>(session.layout::<f32>(n * n)).expect("they are small");
        session
    }

    #[test]
    fn what_is_done_in_place_is_checked_by_how_often_it_was_done() {
        let session = session(5);
        let inputs = session.inputs::<f32>(session.layout::<f32>(25)).expect("they were prepared");
        let mut work = Ger::new(&session, inputs, [5, 5]).expect("it is small");
        for launches in 0..4 {
            work.poison(&session.stream).expect("it works");
            (0..launches).try_for_each(|_| work.launch(&session.stream, 1)).expect("it works");
            work.check(&[]).expect("all is right");
            work.a.change(1);
            let error = work.check(&[]).expect_err("one launch less than was counted");
            assert!(matches!(error, Error::Wrong { input: 1, .. }), "{error}");
        }
    }

    #[test]
    fn each_launch_has_a_vector_of_its_own() {
        let session = session(5);
        let inputs = session.inputs::<f32>(session.layout::<f32>(25)).expect("they were prepared");
        let mut work = Trmv::new(&session, inputs, 5).expect("it is small");
        work.poison(&session.stream).expect("it works");
        for input in [0, 1, 0] {
            work.launch(&session.stream, input).expect("it works");
        }
        assert_eq!(work.multiplied[..4], [Some(0), Some(1), Some(0), None]);
        work.check(&[]).expect("all is right");
        for (number, said) in [(1, Some(0)), (2, None), (3, Some(1))] {
            let is = work.multiplied[number];
            work.multiplied[number] = said;
            let error = work.check(&[]).expect_err("it was another");
            assert!(matches!(error, Error::Wrong { input, .. } if input == number), "{error}");
            work.multiplied[number] = is;
        }
    }
}
