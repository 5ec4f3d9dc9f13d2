//! Triangular systems: squares of rows on the diagonal in a launch each, products between.

use core::ops::Range;
use gpu_core::matrix::Invalid;

use gpu_core::{Stream, ViewMut};

use super::{TriangleElement, part, part_mut, rows_of, solve, take, temporary};
use crate::api::{Diagonal, Side, Triangle, multiply};
use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{Batch, BatchLayout, BatchMut};
use crate::plan::gemm::scratch_len;
use crate::plan::level3::{self as plan, Form, Places, Step};

/// A triangular matrix that multiplies from the left, as the lower triangle of `lower` or of its transposed.
pub(crate) struct OnLeft<'a, T: RealElement> {
    /// The lower triangle: that of the transposed matrix where A is upper.
    pub(crate) lower: Batch<'a, T>,
    /// Whether A is upper.
    pub(crate) transposed: bool,
}

impl<'a, T: RealElement> OnLeft<'a, T> {
    /// `B · A` is `(Aᵀ · Bᵀ)ᵀ`, and an upper triangle is the lower one of the transposed.
    pub(crate) fn new(side: Side, triangle: Triangle, a: Batch<'a, T>) -> Self {
        let a = if side == Side::Left { a } else { a.transposed() };
        let transposed = (triangle == Triangle::Lower) != (side == Side::Left);
        Self { lower: if transposed { a.transposed() } else { a }, transposed }
    }

    /// `rows` and `columns` of A.
    pub(crate) fn part(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Batch<'a, T>, Error> {
        let a = if self.transposed { self.lower.transposed() } else { self.lower };
        part(a, rows, columns)
    }
}

/// What a system needs, of its memory elements of each kind.
pub(crate) struct Needs {
    /// Rows of a square.
    square: usize,
    /// Zeros by which blocks of threads wait for each other.
    pub(crate) words: usize,
    /// The copy of X.
    result: usize,
    /// What products need.
    sums: usize,
}

impl Needs {
    /// Those for right-hand sides `b`, the triangle being on their left.
    pub(crate) fn new<T: RealElement>(b: BatchLayout) -> Result<Self, Error> {
        let ((n, columns), count) = (b.matrix.shape(), b.count);
        let square = plan::solve_square(n, columns, size_of::<T>() == 8);
        let (mut words, mut result, mut sums) = (Some(0usize), 0, scratch_len::<T>(0, b));
        for step in plan::solve(n, square, false) {
            if let Step::Diagonal { rows, .. } = step {
                let form = Form::new(rows.len(), columns, count, n <= square);
                let more = plan::words::<T>(form, rows.len(), columns, count);
                words = words.zip(more).and_then(|(words, more)| words.checked_add(more));
            }
        }
        if n > square {
            result = temporary(b)?.span()?.next_multiple_of(4);
            for step in [false, true].into_iter().flat_map(|backward| plan::solve(n, square, backward)) {
                if let Step::Update { rows, from, .. } = step {
                    sums = sums.max(scratch_len::<T>(from.len(), rows_of(b, rows.len())?));
                }
            }
        }
        let too_large = || Error::Device(Invalid::BatchOverflow { count, stride: result }.into());
        Ok(Self { square, words: words.ok_or_else(too_large)?, result, sums })
    }

    /// Elements in all, of so many systems one after the other, each with words of its own, and of `more`.
    pub(crate) fn elements(&self, systems: usize, more: usize) -> Result<usize, Error> {
        let words = self.words.checked_mul(systems);
        let all = [self.result, self.sums, more].into_iter();
        let all = all.fold(words, |all, some| all.and_then(|all| all.checked_add(some)));
        all.ok_or(Error::Device(Invalid::BatchOverflow { count: systems, stride: self.result }.into()))
    }
}

/// Solves all rows of `A · X = alpha · B` in one launch of a form of choice, in place, with as many zeros as
/// [`plan::words`] says.
pub(crate) fn square<T: TriangleElement>(
    stream: &Stream,
    form: Form,
    (of, diagonal): (&OnLeft<'_, T>, Diagonal),
    alpha: T,
    b: &mut BatchMut<'_, T>,
    zeros: (ViewMut<'_, T>, ViewMut<'_, u32>),
) -> Result<(), Error> {
    let places = Places { lower: of.lower.layout(), backward: of.transposed, b: b.layout(), copy: None };
    let shape = plan::system(&places, 0..b.layout().matrix.rows(), diagonal, false)?;
    solve(stream, (shape, form), of.lower.data(), b.data_mut(), None, zeros, alpha)
}

/// Solves `A · X = alpha · B`, in place. There are [`Needs::words`] zeros, and `rest` has what else is needed.
pub(crate) fn system<T: TriangleElement>(
    stream: &Stream,
    needs: &Needs,
    (of, diagonal): (&OnLeft<'_, T>, Diagonal),
    alpha: T,
    b: &mut BatchMut<'_, T>,
    mut info: ViewMut<'_, u32>,
    (mut words, rest): (ViewMut<'_, T>, ViewMut<'_, T>),
) -> Result<(), Error> {
    let (n, columns) = b.layout().matrix.shape();
    let mut rest = Some(rest);
    let mut result = take(&mut rest, needs.result)?;
    let mut sums = rest.expect("what is left is put back");
    let copy = (n > needs.square).then(|| temporary(b.layout())).transpose()?;
    let places = Places { lower: of.lower.layout(), backward: of.transposed, b: b.layout(), copy };
    let mut further = false;
    for step in plan::solve(n, needs.square, of.transposed) {
        match step {
            Step::Diagonal { rows, first, .. } => {
                let shape = plan::system(&places, rows.clone(), diagonal, further)?;
                let count = shape.count as usize;
                let form = Form::new(rows.len(), columns, count, copy.is_none());
                let own = plan::words::<T>(form, rows.len(), columns, count);
                let (own, others) = words.try_split_at(own.expect("the scratch memory holds them"))?;
                let factor = if first { alpha } else { T::ONE };
                let copy = copy.is_some().then(|| result.reborrow());
                let zeros = (own, info.reborrow());
                solve(stream, (shape, form), of.lower.data(), b.data_mut(), copy, zeros, factor)?;
                (words, further) = (others, true);
            }
            Step::Update { rows, from, first } => {
                let layout = copy.expect("there is one where there are several squares");
                let known = part(Batch::new(result.view(), layout)?, from.clone(), 0..columns)?;
                let right = part_mut(b, rows.clone(), 0..columns)?;
                let beta = if first { alpha } else { T::ONE };
                multiply(stream, -T::ONE, of.part(rows, from)?, known, beta, right, sums.reborrow())?;
            }
        }
    }
    Ok(())
}
