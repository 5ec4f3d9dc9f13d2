//! Incomplete factors, and one side of a matrix.

use gpu_core::{View, checks};
use gpu_scan::Options;

use super::{Diagonal, Side, sums};
use crate::error::Error;
use crate::factor::launch;
use crate::launch::Element;
use crate::matrix::{Csr, CsrView, check};
use crate::reference;

/// The factors of [`ilu0`]: `A ≈ L · U` on the entries of A.
#[derive(Debug)]
pub struct Ilu0<T: Element> {
    /// L below the diagonal, which is ones and not stored: for an [`Analysis`](crate::Analysis) with
    /// [`Diagonal::Unit`].
    pub lower: Csr<T>,
    /// U with its diagonal.
    pub upper: Csr<T>,
}

/// The incomplete Cholesky factor without fill-in, IC(0): the lower triangle L, on the entries of `lower`, with which
/// `L · Lᵀ` has A's entries where A has some. A is symmetric and positive definite, and `lower` its lower triangle,
/// with the diagonal ([`triangle`]).
///
/// Computed where `lower` lives, free of synchronisation, in memory of its own; waits for it. `Lᵀ` is [`transpose`]d.
/// L has `lower`'s structure, so that an [`Analysis`] of an earlier one goes on with the new values
/// ([`Analysis::with_values`]).
///
/// Every entry is a chain of fused multiply-adds from A's entry on, products in ascending order of their columns, then
/// divided by the diagonal or, on it, its root: the bits are a function of the matrix alone. Meijerink and van der
/// Vorst 1977; Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., section 10.3.
///
/// [`transpose`]: crate::transpose()
/// [`Analysis`]: crate::Analysis
/// [`Analysis::with_values`]: crate::Analysis::with_values
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::WrongSide`], [`Error::MissingDiagonal`], [`Error::ZeroPivot`] where A's
/// diagonal is zero; [`Error::NotPositive`] where a pivot is not positive: A is not positive definite, or its
/// incomplete factor does not exist (it does for M-matrices); [`Error::Device`] where memory does not suffice or a
/// launch failed.
///
/// ```
/// use gpu_sparse::{Csr, ic0};
/// let device = gpu_core::Device::simulator();
/// let a = Csr::upload(&device, 2, 2, &[0, 1, 3], &[0, 0, 1], &[4.0, 2.0, 10.0])?;
/// let (_, _, values) = ic0(&a)?.into_buffers();
/// assert_eq!(values.to_vec()?, [2.0, 1.0, 3.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn ic0<'a, T: Element>(lower: impl Into<CsrView<'a, T>>) -> Result<Csr<T>, Error> {
    let a = lower.into();
    check::triangle(&a, Side::Lower, Diagonal::Stored)?;
    let mut factor = copy(&a)?;
    if a.rows == 0 {
        return Ok(factor);
    }
    let found = match a.slices() {
        Some((offsets, indices, values)) => {
            let mut values = values.to_vec();
            let found = reference::ic0(offsets, indices, &mut values);
            factor.values.copy_from(&values)?;
            found
        }
        None => {
            // The copy is what the kernel trusts.
            check::entries(&factor.view())?;
            check::triangle(&factor.view(), Side::Lower, Diagonal::Stored)?;
            let Csr { rows, columns, offsets, indices, mut values } = factor;
            let stream = a.device().default_stream();
            let structure =
                CsrView { rows, columns, offsets: offsets.view(), indices: indices.view(), values: a.values };
            let found = launch::ic0(&stream, &structure, a.values, &mut values)?;
            factor = Csr { rows, columns, offsets, indices, values };
            found
        }
    };
    match found {
        Some(row) => Err(Error::NotPositive { row }),
        None => Ok(factor),
    }
}

/// The incomplete factors without fill-in, ILU(0): L with a diagonal of ones and U, on the entries of A, with which
/// `L · U` has A's entries where A has some. Every row of A has an entry on the diagonal.
///
/// Computed where `a` lives, free of synchronisation, in memory of its own; waits for it. Every entry is a chain of
/// fused multiply-adds from A's entry on, products in ascending order of their columns of L, those of L then divided
/// by U's diagonal: the bits are a function of the matrix alone. Saad, *Iterative Methods for Sparse Linear Systems*,
/// 2nd ed., algorithm 10.4.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`], [`Error::MissingDiagonal`], [`Error::ZeroPivot`]; [`Error::Device`] where memory
/// does not suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{Csr, ilu0};
/// let device = gpu_core::Device::simulator();
/// let a = Csr::upload(&device, 2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[2.0, 1.0, 4.0, 5.0])?;
/// let factors = ilu0(&a)?;
/// assert_eq!(factors.lower.into_buffers().2.to_vec()?, [2.0]);
/// assert_eq!(factors.upper.into_buffers().2.to_vec()?, [2.0, 1.0, 3.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn ilu0<'a, T: Element>(a: impl Into<CsrView<'a, T>>) -> Result<Ilu0<T>, Error> {
    let a = a.into();
    checks::square("a matrix that is factored", (a.rows, a.columns))?;
    let mut factors = copy(&a)?;
    let stream = a.device().default_stream();
    let missing = |row| Err(Error::MissingDiagonal { row });
    let found = match a.slices() {
        _ if a.rows == 0 => None,
        Some((offsets, indices, values)) => {
            if let Some(row) = reference::missing_diagonal(offsets, indices) {
                return missing(row);
            }
            let mut values = values.to_vec();
            let found = reference::ilu0(offsets, indices, &mut values);
            factors.values.copy_from(&values)?;
            found
        }
        None => {
            // The copy is what the kernel trusts.
            check::entries(&factors.view())?;
            let mut diagonals = a.device().alloc(a.rows)?;
            if let Some(row) = launch::diagonals(&stream, &factors.view(), &mut diagonals)? {
                return missing(row);
            }
            let Csr { rows, columns, offsets, indices, values: mut work } = factors;
            let mut values = a.device().alloc(a.entries())?;
            let structure =
                CsrView { rows, columns, offsets: offsets.view(), indices: indices.view(), values: a.values };
            let found = launch::ilu0(&stream, &structure, &diagonals, &mut work, &mut values)?;
            factors = Csr { rows, columns, offsets, indices, values };
            found
        }
    };
    if let Some(row) = found {
        return Err(Error::ZeroPivot { row });
    }
    Ok(Ilu0 { lower: triangle(&factors, Side::Lower, false)?, upper: triangle(&factors, Side::Upper, true)? })
}

/// One side of a square matrix, with its diagonal or without, where the matrix lives, in memory of its own. Waits for
/// it.
///
/// # Errors
/// [`gpu_core::Error::NotSquare`]; [`Error::Device`] where memory does not suffice or a launch failed.
///
/// ```
/// use gpu_sparse::{Csr, Side, triangle};
/// let device = gpu_core::Device::simulator();
/// let a = Csr::upload(&device, 2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[2.0, 1.0, 4.0, 5.0])?;
/// let (offsets, columns, values) = triangle(&a, Side::Lower, true)?.into_buffers();
/// assert_eq!((offsets.to_vec()?, columns.to_vec()?), (vec![0, 1, 3], vec![0, 0, 1]));
/// assert_eq!(values.to_vec()?, [2.0, 4.0, 5.0]);
/// # Ok::<(), gpu_sparse::Error>(())
/// ```
pub fn triangle<'a, T: Element>(
    matrix: impl Into<CsrView<'a, T>>,
    side: Side,
    with_diagonal: bool,
) -> Result<Csr<T>, Error> {
    let a = matrix.into();
    checks::square("a matrix whose triangle is taken", (a.rows, a.columns))?;
    let (rows, columns, device) = (a.rows, a.columns, a.device());
    if let Some((offsets, indices, values)) = a.slices() {
        let (offsets, indices, values) = reference::triangle(offsets, indices, values, side, with_diagonal);
        let (offsets, indices) = (device.upload(&offsets)?, device.upload(&indices)?);
        return Ok(Csr { rows, columns, offsets, indices, values: device.upload(&values)? });
    }
    let mut offsets = device.zeroed(rows + 1)?;
    if rows == 0 {
        return Ok(Csr { rows, columns, offsets, indices: device.alloc(0)?, values: device.alloc(0)? });
    }
    let stream = device.default_stream();
    let kept = (side == Side::Upper, with_diagonal);
    launch::part_counts(&stream, &a, kept, &mut offsets)?;
    sums(&stream, &mut offsets, Options::exclusive())?;
    let [len] = offsets.slice(rows..).to_array()?.map(|len| len as usize);
    let (mut indices, mut values) = (device.alloc(len)?, device.alloc(len)?);
    if len > 0 {
        launch::part_entries(&stream, &a, kept, &offsets, (&mut indices, &mut values))?;
    }
    Ok(Csr { rows, columns, offsets, indices, values })
}

/// A copy of a matrix, in memory of its own.
fn copy<T: Element>(a: &CsrView<'_, T>) -> Result<Csr<T>, Error> {
    fn array<T: gpu_core::Element>(of: View<'_, T>) -> Result<gpu_core::Buffer<T>, Error> {
        let mut copy = of.device().alloc(of.len())?;
        of.device().default_stream().copy(&mut copy, of)?;
        Ok(copy)
    }
    let (offsets, indices) = (array(a.offsets)?, array(a.indices)?);
    Ok(Csr { rows: a.rows, columns: a.columns, offsets, indices, values: array(a.values)? })
}
