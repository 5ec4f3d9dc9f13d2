//! Products of a matrix and a vector.

use gpu_core::{Buffer, Resources, Stream, View, ViewMut, Visitor, checks};

use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{CsrView, Held, sizes};
use crate::plan::spmv::{Plan, Statistics, Strategy};
use crate::reference;

/// What products of one matrix and vectors are computed with: the matrix, statistics of its rows, the choice made from
/// them, and scratch memory. It belongs to the stream that it is used on.
#[derive(Debug)]
pub struct Spmv<'a, T: Element> {
    pub(super) matrix: Held<'a, T>,
    pub(super) statistics: Statistics,
    plan: Plan,
    partials: Buffer<T>,
    tails: Buffer<u32>,
}

impl<'a, T: Element> Spmv<'a, T> {
    /// Looks at the lengths of the rows, and waits for that; the rest is enqueued on no stream.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice or the launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Csr, Spmv, Strategy};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let product = Spmv::new(&a)?;
    /// assert_eq!((product.strategy(), product.statistics().longest), (Strategy::Thread, 2));
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn new(matrix: impl Into<CsrView<'a, T>>) -> Result<Self, Error> {
        Self::of(Held::as_it_is(matrix.into()))
    }

    /// The same of the transposed matrix: products are `y = alpha · Aᵀ · x + beta · y`. It is transposed where it
    /// lives, in memory of the product's; of compressed columns that is what they are already
    /// ([`Csc::transposed`](crate::Csc::transposed) says how their products with the transposed matrix are computed).
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`]; [`Error::Device`] where memory does not suffice or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{Csr, Spmv};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 3, &[0, 1, 3], &[2, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (x, mut y) = (device.upload(&[1.0, 10.0])?, device.alloc(3)?);
    /// Spmv::transposed(&a)?.run(&device.default_stream(), 1.0, &x, 0.0, &mut y)?;
    /// assert_eq!(y.to_vec()?, [10.0, 40.0, 2.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn transposed(matrix: impl Into<CsrView<'a, T>>) -> Result<Self, Error> {
        Self::of(Held::transposed(matrix.into())?)
    }

    fn of(held: Held<'a, T>) -> Result<Self, Error> {
        let matrix = held.view();
        let (rows, entries) = sizes(matrix.rows, matrix.entries())?;
        let longest = match matrix.offsets.as_slice() {
            _ if rows == 0 => 0,
            Some(offsets) => offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0),
            None => launch::longest(&matrix)?,
        };
        let statistics = Statistics { rows, entries, longest, columns: matrix.columns as u32 };
        Self::planned(held, statistics, statistics.strategy())
    }

    fn planned(matrix: Held<'a, T>, statistics: Statistics, strategy: Strategy) -> Result<Self, Error> {
        let plan = Plan::new(statistics, strategy);
        let (partials, tails) = plan.scratch_len();
        let device = matrix.view().device().clone();
        Ok(Self { matrix, statistics, plan, partials: device.alloc(partials)?, tails: device.alloc(tails)? })
    }

    /// The same with another choice. The bits are the same.
    ///
    /// # Errors
    /// [`Error::Device`] where memory does not suffice.
    ///
    /// ```
    /// use gpu_sparse::{CsrView, Spmv, Strategy};
    /// let a = CsrView::new(1, 1, &[0, 1], &[0], &[2.0f32])?;
    /// assert_eq!(Spmv::new(a)?.with_strategy(Strategy::Balanced)?.strategy(), Strategy::Balanced);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_strategy(self, strategy: Strategy) -> Result<Self, Error> {
        Self::planned(self.matrix, self.statistics, strategy)
    }

    /// The same structure with other values, in the order of those of the matrix that was given. Waits for none of it.
    ///
    /// # Errors
    /// [`gpu_core::Error::LengthMismatch`]; [`Error::Device`] where the values live elsewhere or a launch failed.
    ///
    /// ```
    /// use gpu_sparse::{CsrView, Spmv};
    /// let a = CsrView::new(1, 1, &[0, 1], &[0], &[2.0f32])?;
    /// assert!(Spmv::new(a)?.with_values(&[3.0f32]).is_ok());
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn with_values<'b>(self, values: impl Into<View<'b, T>>) -> Result<Spmv<'b, T>, Error>
    where
        'a: 'b,
    {
        let Self { matrix, statistics, plan, partials, tails } = self;
        Ok(Spmv { matrix: matrix.with_values(values.into())?, statistics, plan, partials, tails })
    }

    /// Who computes a row.
    pub fn strategy(&self) -> Strategy {
        self.plan.strategy
    }

    /// What is known of the rows.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// `y = alpha · A · x + beta · y`, on `stream`.
    ///
    /// `x` has as many elements as A has columns, `y` as many as it has rows. Where `beta` is zero `y` is not read,
    /// where `alpha` is zero neither A nor `x`. The order of every sum is a function of the length of its row alone
    /// (see the [crate documentation](crate)). Neither allocates nor waits.
    ///
    /// # Errors
    /// [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Aliasing`]; [`Error::Device`] where memory is on another
    /// device than the stream or where the launch failed. `y` is as it was then.
    ///
    /// ```
    /// use gpu_sparse::{Csr, Spmv};
    /// let device = gpu_core::Device::simulator();
    /// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
    /// let (x, mut y) = (device.upload(&[1.0, 10.0])?, device.upload(&[100.0, 200.0])?);
    /// Spmv::new(&a)?.run(&device.default_stream(), 2.0, &x, 1.0, &mut y)?;
    /// assert_eq!(y.to_vec()?, [104.0, 282.0]);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn run<'x, 'y>(
        &mut self,
        stream: &Stream,
        alpha: T,
        x: impl Into<View<'x, T>>,
        beta: T,
        y: impl Into<ViewMut<'y, T>>,
    ) -> Result<(), Error> {
        let (a, x, mut y) = (self.matrix.view(), x.into(), y.into());
        checks::vectors((a.rows, a.columns), x.len(), y.len())?;
        stream.expect("matrix of a product", a.device())?;
        stream.expect("vector of a product", x.device())?;
        stream.expect("output of a product", y.device())?;
        a.expect_apart(&y)?;
        y.expect_apart("x", &x)?;
        if a.rows == 0 {
            return Ok(());
        }
        if let (Some((offsets, indices, values)), Some(x), Some(y)) =
            (a.slices(), x.as_slice(), y.as_mut_slice())
        {
            reference::spmv(alpha, offsets, indices, values, x, beta, y);
            return Ok(());
        }
        let plan = if alpha == T::ZERO { Plan::zero(self.statistics.rows) } else { self.plan };
        Ok(launch::spmv(stream, &plan, alpha, &a, x, beta, y, &mut self.partials, &mut self.tails)?)
    }
}

/// The product `A · x`, computed where A lives, in a buffer of its own.
///
/// Looks at the rows first, and waits for that; [`Spmv`] does it once for many products.
///
/// # Errors
/// Those of [`Spmv::new`] and of [`Spmv::run`].
///
/// ```
/// use gpu_sparse::{CsrView, spmv};
/// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0])?;
/// assert_eq!(spmv(a, &[1.0, 10.0])?.to_vec()?, [2.0, 41.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn spmv<'a, 'x, T: Element>(
    a: impl Into<CsrView<'a, T>>,
    x: impl Into<View<'x, T>>,
) -> Result<Buffer<T>, Error> {
    let mut product = Spmv::new(a)?;
    let (device, rows) = (product.matrix.view().device().clone(), product.statistics.rows as usize);
    let mut y = device.alloc(rows)?;
    product.run(&device.default_stream(), T::ONE, x, T::ZERO, &mut y)?;
    Ok(y)
}

// SAFETY: it owns its memory; the matrix that was given is named by whoever holds that.
unsafe impl<T: Element> Resources for Spmv<'_, T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.matrix.visit(visitor);
        visitor.buffer(&self.partials);
        visitor.buffer(&self.tails);
    }
}
