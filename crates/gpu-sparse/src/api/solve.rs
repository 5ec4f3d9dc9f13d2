//! Triangular systems.

use gpu_core::{Buffer, Layout, Matrix, MatrixMut, Resources, Stream, View, ViewMut, Visitor, checks};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::ordered;
use gpu_sparse_kernels::waiting::Strides;

use super::{RowOrder, strides};
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{CsrView, Held, check};
use crate::plan::solve::{Algorithm, Profile};
use crate::reference;
use crate::systems::{Packed, Solver, Systems};

/// Which triangle a matrix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// No entry stands right of the diagonal.
    Lower,
    /// No entry stands left of the diagonal.
    Upper,
}

impl Side {
    /// The side of the transposed triangle.
    #[must_use]
    pub const fn transposed(self) -> Self {
        match self {
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }
}

/// What the diagonal of a triangle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// What is stored there: every row has such an entry, and it is not zero.
    Stored,
    /// Ones, whatever is stored there.
    Unit,
}

/// Systems that are solved by one launch.
const SYSTEMS: usize = 64;

/// What is known of a triangular matrix before systems with it are solved: its levels, and how it is solved.
///
/// A row is of level 1 if it has no entry beside the diagonal, else of one more than the highest level of the rows that
/// those entries stand for: rows of a level can be solved at the same time, once all levels before are. It holds the
/// matrix, so there is no solving of another than the one analysed; other values of the same structure are
/// [`with_values`](Self::with_values) and [`with_matrix`](Self::with_matrix). It belongs to the stream that it is used
/// on.
///
/// [`Analysis::transposed`] is one of the transposed matrix: it holds that, and all that is said of rows, levels and
/// profile is said of its rows. A matrix of compressed columns is the transposed one of compressed rows
/// ([`Csc::transposed`](crate::Csc::transposed)), so that `Analysis::transposed(columns.transposed(),
/// side.transposed(), …)` solves systems with it.
#[derive(Debug)]
pub struct Analysis<'a, T: Element> {
    matrix: Held<'a, T>,
    side: Side,
    diagonal: Diagonal,
    levels: Buffer<u32>,
    profile: Profile,
    algorithm: Algorithm,
    order: Option<RowOrder>,
    tasks: Option<Buffer<u32>>,
    packed: Option<Packed<T>>,
    ticket: Buffer<u32>,
}

impl<'a, T: Element> Analysis<'a, T> {
    /// Checks that `matrix` is such a triangle and finds its levels; waits for that. Chooses the algorithm by
    /// [`Profile::algorithm`], and orders the rows where that needs it.
    ///
    /// # Errors
    /// [`gpu_core::Error::NotSquare`], [`Error::WrongSide`], [`Error::MissingDiagonal`], [`Error::ZeroPivot`];
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
    /// let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// assert_eq!(analysis.levels().len(), 3);
    /// assert_eq!(analysis.level_count(), 2); // the second row waits for the first
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(matrix: impl Into<CsrView<'a, T>>, side: Side, diagonal: Diagonal) -> Result<Self, Error> {
        Self::with(matrix, side, diagonal, Algorithm::Auto)
    }

    /// The same for an algorithm: rows are ordered only where that needs it, whatever would be chosen.
    ///
    /// # Errors
    /// Those of [`Analysis::new`].
    ///
    /// ```
    /// use gpu_sparse::{Algorithm, Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let analysis = Analysis::with(&a, Side::Lower, Diagonal::Stored, Algorithm::Free)?;
    /// assert_eq!(analysis.algorithm(), Algorithm::Free);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with(
        matrix: impl Into<CsrView<'a, T>>,
        side: Side,
        diagonal: Diagonal,
        algorithm: Algorithm,
    ) -> Result<Self, Error> {
        Self::of(Held::as_it_is(matrix.into()), side, diagonal, algorithm)
    }

    /// The same of the transposed matrix: systems are `Aᵀ · x = alpha · b`. `side` is that of `matrix` as it is given.
    /// It is transposed where it lives, in memory of the analysis.
    ///
    /// # Errors
    /// Those of [`Analysis::new`], in which rows are those of the transposed matrix;
    /// [`gpu_core::Error::ExtentTooLarge`].
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (b, mut x) = (device.upload(&[4.0, 8.0])?, device.alloc(2)?);
    /// let mut analysis = Analysis::transposed(&a, Side::Lower, Diagonal::Stored)?;
    /// analysis.solve(&device.default_stream(), 1.0, &b, &mut x)?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0]); // 2 x + 1 y = 4, 4 y = 8
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn transposed(
        matrix: impl Into<CsrView<'a, T>>,
        side: Side,
        diagonal: Diagonal,
    ) -> Result<Self, Error> {
        Self::of(Held::transposed(matrix.into())?, side.transposed(), diagonal, Algorithm::Auto)
    }

    fn of(held: Held<'a, T>, side: Side, diagonal: Diagonal, algorithm: Algorithm) -> Result<Self, Error> {
        let matrix = held.view();
        let profile = check::profiled(&matrix, side, diagonal, true)?;
        let device = matrix.device();
        let stream = device.default_stream();
        let mut ticket = device.alloc(SYSTEMS)?;
        let (levels, profile) = match matrix.slices() {
            Some((offsets, indices, _)) => {
                let levels = reference::levels(offsets, indices, side);
                let count = levels.iter().copied().max().unwrap_or(0);
                (device.upload(&levels)?, Profile { levels: count, ..profile })
            }
            None if matrix.rows == 0 => (device.alloc(0)?, profile),
            None => {
                let mut levels = device.zeroed(matrix.rows)?;
                let shape = launch::rows_of(&matrix, side, diagonal);
                let (chunk, threads) = profile.walk();
                let walk = (Rows { chunk, ..shape }, threads);
                launch::levels(&stream, &matrix, walk, &mut levels, &mut ticket)?;
                let count = gpu_reduce::max(&levels)?;
                (levels, Profile { levels: count, ..profile })
            }
        };
        let (order, tasks, packed) = (None, None, None);
        let analysis =
            Self { matrix: held, side, diagonal, levels, profile, algorithm, order, tasks, packed, ticket };
        analysis.with_algorithm(algorithm)
    }

    /// The same with another algorithm; orders the rows if that needs it and it was not done. The bits are the same.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Algorithm, Analysis, CsrView, Diagonal, Side};
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let analysis = Analysis::new(a, Side::Lower, Diagonal::Stored)?.with_algorithm(Algorithm::Levels)?;
    /// assert_eq!(analysis.algorithm(), Algorithm::Levels);
    /// assert_eq!(analysis.profile().algorithm(), Algorithm::Chains); // what is chosen by itself
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_algorithm(mut self, algorithm: Algorithm) -> Result<Self, Error> {
        self.algorithm = if algorithm == Algorithm::Auto { self.profile.algorithm() } else { algorithm };
        if self.algorithm.is_ordered() && self.order.is_none() {
            self.order = Some(self.order_of(&self.stream())?);
        }
        if let (Algorithm::Levels, Some(order)) = (self.algorithm, &mut self.order) {
            order.find_runs()?;
        }
        let matrix = self.matrix.view();
        if let (Algorithm::Ordered, None, Some(order), None) =
            (self.algorithm, &self.tasks, &self.order, matrix.slices())
        {
            let stream = matrix.device().default_stream();
            let (longest, widest) = (self.profile.longest, ordered::widest(self.profile.longest));
            let tasks = order.tasks(&stream, widest)?;
            let which = (order.rows(), tasks.view());
            self.packed = Packed::new(&stream, &matrix, self.shape(), which, (longest, widest))?;
            self.tasks = Some(tasks);
        }
        Ok(self)
    }

    /// The same structure with other values, in the order of those of the matrix that was given, of which no entry on a
    /// stored diagonal is zero; waits for that check.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`], [`Error::ZeroPivot`]; [`Error::Device`] where the values live elsewhere or
    /// the launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, CsrView, Diagonal, Side};
    /// let a = CsrView::new(1, 1, &[0, 1], &[0], &[2.0])?;
    /// let analysis = Analysis::new(a, Side::Lower, Diagonal::Stored)?;
    /// assert!(analysis.with_values(&[0.0]).is_err());
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_values<'b>(self, values: impl Into<View<'b, T>>) -> Result<Analysis<'b, T>, Error>
    where
        'a: 'b,
    {
        let matrix = self.matrix.with_values(values.into())?;
        check::triangle(&matrix.view(), self.side, self.diagonal)?;
        let Self { side, diagonal, levels, profile, algorithm, order, tasks, packed, ticket, .. } = self;
        Ok(Analysis { matrix, side, diagonal, levels, profile, algorithm, order, tasks, packed, ticket })
    }

    /// The same with the values of `matrix`, once that is found to have the structure of the one that was given; waits
    /// for that and for the check of the diagonal.
    ///
    /// # Errors
    /// [`Error::OtherPlan`] where its size is another, [`Error::OtherStructure`]; those of [`Analysis::with_values`].
    ///
    /// ```
    /// use gpu_sparse::{Analysis, CsrView, Diagonal, Error, Side};
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let other = CsrView::new(2, 2, &[0, 2, 3], &[0, 1, 1], &[2.0, 1.0, 4.0])?;
    /// let error = Analysis::new(a, Side::Lower, Diagonal::Stored)?.with_matrix(other).unwrap_err();
    /// assert!(matches!(error, Error::OtherStructure { row: 0 }));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_matrix<'b>(self, matrix: impl Into<CsrView<'b, T>>) -> Result<Analysis<'b, T>, Error>
    where
        'a: 'b,
    {
        let matrix = matrix.into();
        self.matrix.expect_structure(&matrix)?;
        self.with_values(matrix.values)
    }

    /// The level of every row, from 1 on.
    pub fn levels(&self) -> View<'_, u32> {
        self.levels.view()
    }

    /// How many levels there are; none of no rows.
    pub fn level_count(&self) -> u32 {
        self.profile.levels
    }

    /// The rows of each level, in ascending order of levels: as many numbers as levels, counted where the matrix lives.
    /// Waits for it.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
    /// let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// assert_eq!(analysis.rows_per_level()?, [2, 1]); // the second row waits for the first
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn rows_per_level(&self) -> Result<Vec<u32>, Error> {
        // Levels count from 1: no row has level 0.
        let mut counts = vec![0; self.profile.levels as usize + 1];
        match self.levels.view().as_slice() {
            Some(levels) => levels.iter().for_each(|&level| counts[level as usize] += 1),
            None if self.levels.is_empty() => {}
            None => {
                let device = self.levels.device();
                let mut found = device.alloc(counts.len())?;
                launch::count(&device.default_stream(), self.levels.view(), found.view_mut())?;
                found.copy_to(&mut counts)?;
            }
        }
        Ok(counts.split_off(1))
    }

    /// What the choice of the algorithm rests on.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// How systems are solved; never [`Algorithm::Auto`].
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The rows grouped by level and size class, computed where the matrix lives: maximum, counts, exclusive sums,
    /// order. Waits for it.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 3, 3, &[0, 1, 3, 4], &[0, 0, 1, 2], &[2.0, 1.0, 4.0, 8.0])?;
    /// let order = Analysis::new(&a, Side::Lower, Diagonal::Stored)?.order_rows()?;
    /// assert_eq!(order.rows().len(), 3);
    /// # let mut rows = [0; 3];
    /// # order.rows().copy_to(&mut rows)?;
    /// # assert_eq!(rows, [0, 2, 1]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn order_rows(&self) -> Result<RowOrder, Error> {
        let stream = self.stream();
        let order = self.order_of(&stream)?;
        stream.synchronize()?;
        Ok(order)
    }

    /// The same, but does not wait.
    fn order_of(&self, stream: &Stream) -> Result<RowOrder, Error> {
        RowOrder::new(stream, &self.matrix.view(), self.shape(), &self.levels, &self.profile)
    }

    /// The stream that the analysis works on.
    fn stream(&self) -> Stream {
        self.matrix.view().device().default_stream()
    }

    /// Solves `A · x = alpha · b` for `x`, on `stream`.
    ///
    /// Both have as many elements as A has rows. The order of every row's sum is a function of the matrix alone (see
    /// the [crate documentation](crate)). Neither allocates nor waits.
    ///
    /// # Errors
    /// [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Aliasing`]; [`Error::Device`] where memory is on another
    /// device than the stream or where the launch failed. `x` is as it was then, but where a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (b, mut x) = (device.upload(&[2.0, 9.0])?, device.alloc(2)?);
    /// let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// analysis.solve(&device.default_stream(), 1.0, &b, &mut x)?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn solve<'b, 'x>(
        &mut self,
        stream: &Stream,
        alpha: T,
        b: impl Into<View<'b, T>>,
        x: impl Into<ViewMut<'x, T>>,
    ) -> Result<(), Error> {
        let (rows, b, x) = (self.matrix.view().rows, b.into(), x.into());
        checks::vectors((rows, rows), x.len(), b.len())?;
        let column = Layout::column_major(rows, 1)?;
        self.solve_many(stream, alpha, Matrix::new(b, column)?, MatrixMut::new(x, column)?)
    }

    /// Solves `A · X = alpha · B` for `X`, on `stream`: a system for each column, with the bits of [`Analysis::solve`].
    ///
    /// Both have as many rows as A, and as many columns as there are systems; each has its own layout. What lies
    /// between lines of X is left as it is. 64 systems are a launch. Neither allocates nor waits.
    ///
    /// # Errors
    /// [`gpu_core::Error::Shape`], [`gpu_core::Error::Aliasing`]; [`Error::Device`] where memory is on another device
    /// than the stream or where the launch failed. `X` is as it was then, but where a launch failed.
    ///
    /// ```
    /// use gpu_core::{Layout, Matrix, MatrixMut};
    /// use gpu_sparse::{Analysis, Csr, Diagonal, Side};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (b, mut x) = (device.upload(&[2.0, 4.0, 9.0, 6.0])?, device.alloc(4)?);
    /// let b = Matrix::new(&b, Layout::row_major(2, 2)?)?;
    /// let columns = MatrixMut::new(&mut x, Layout::column_major(2, 2)?)?;
    /// let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored)?;
    /// analysis.solve_many(&device.default_stream(), 1.0, b, columns)?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0, 2.0, 1.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn solve_many<'b, 'x>(
        &mut self,
        stream: &Stream,
        alpha: T,
        b: impl Into<Matrix<'b, T>>,
        x: impl Into<MatrixMut<'x, T>>,
    ) -> Result<(), Error> {
        let (a, shape) = (self.matrix.view(), self.shape());
        let (b, mut x): (Matrix<'_, T>, MatrixMut<'_, T>) = (b.into(), x.into());
        let (b_layout, x_layout) = (b.layout(), x.layout());
        let count = x_layout.columns();
        for (what, actual) in [("X", x_layout.shape()), ("B", b_layout.shape())] {
            checks::shape(what, (a.rows, count), actual)?;
        }
        let b = b.data();
        stream.expect("matrix of a system", a.device())?;
        stream.expect("right-hand side of a system", b.device())?;
        stream.expect("solution of a system", x.data().device())?;
        let mut target = x.data_mut();
        a.expect_apart(&target)?;
        target.expect_apart("b", &b)?;
        if a.rows == 0 || count == 0 {
            return Ok(());
        }
        if let (Some((offsets, indices, values)), Some(b), Some(x)) =
            (a.slices(), b.as_slice(), target.as_mut_slice())
        {
            let mut column = vec![T::ZERO; a.rows];
            for number in 0..count {
                let right: Vec<T> = (0..a.rows).map(|row| b[b_layout.index(row, number)]).collect();
                reference::solve(
                    offsets,
                    indices,
                    values,
                    self.side,
                    self.diagonal,
                    alpha,
                    &right,
                    &mut column,
                );
                for (row, &value) in column.iter().enumerate() {
                    x[x_layout.index(row, number)] = value;
                }
            }
            return Ok(());
        }
        let ((b_row, b_column), (x_row, x_column)) = (strides(b_layout), strides(x_layout));
        if let (Algorithm::Ordered, Some(tasks), Some(packed), 1) =
            (self.algorithm, &self.tasks, &mut self.packed, count)
        {
            let strides = Strides { b_row, b_column, x_row, x_column, systems: 1 };
            let rows = (&a, shape, tasks);
            return packed.solve(stream, rows, alpha, (b, target), strides, &mut self.ticket);
        }
        // Of ordered rows a block has four at least; a grid has fewer than 2^31 blocks.
        let at_once = SYSTEMS.min((1 << 30) / a.rows.div_ceil(4)).max(1);
        for first in (0..count).step_by(at_once) {
            let systems = at_once.min(count - first) as u64;
            let systems = Systems {
                a,
                shape,
                alpha,
                b: b.slice(first * b_column as usize..),
                x: target.reborrow().into_slice(first * x_column as usize..),
                strides: Strides { b_row, b_column, x_row, x_column, systems },
                ticket: &mut self.ticket,
            };
            let solver = match (self.algorithm, &self.order, &self.tasks) {
                (Algorithm::Ordered, Some(order), Some(tasks)) => Solver::Ordered(order, tasks),
                (Algorithm::Levels, Some(order), _) => Solver::Levels(order),
                (Algorithm::Chains, ..) => Solver::Chains(self.profile.walk().1),
                _ => Solver::Free,
            };
            systems.solve(stream, solver)?;
        }
        Ok(())
    }

    /// The matrix.
    pub(super) fn matrix(&self) -> CsrView<'_, T> {
        self.matrix.view()
    }

    pub(super) fn shape(&self) -> Rows {
        let chunk = self.profile.walk().0;
        Rows { chunk, ..launch::rows_of(&self.matrix.view(), self.side, self.diagonal) }
    }
}

// SAFETY: it owns its memory; the matrix that was given is named by whoever holds that.
unsafe impl<T: Element> Resources for Analysis<'_, T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        let Self { matrix, levels, order, tasks, packed, ticket, .. } = self;
        matrix.visit(visitor);
        order.visit(visitor);
        tasks.visit(visitor);
        packed.visit(visitor);
        visitor.buffer(levels);
        visitor.buffer(ticket);
    }
}
