//! The launches of incomplete factors and of what they are made from.

use gpu_core::{Buffer, Stream, View};
use gpu_sparse_kernels::part::{self, Part};
use gpu_sparse_kernels::{NONE, Scalar, factor};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::launch::{Element, linear};
use crate::matrix::CsrView;

/// The kernels of a type.
///
/// # Safety
/// Each is the kernel of its name, of this type.
pub unsafe trait Kernels: Scalar {
    /// Offsets, indices, values, the factor, the ticket, what is found, rows.
    type Ic0: Kernel<
        Arguments = (
            Global<u32>,
            Global<u32>,
            Global<Self>,
            GlobalMut<Self::Word>,
            GlobalMut<u32>,
            GlobalMut<u32>,
            u32,
        ),
    >;
    /// Offsets, indices, diagonals, values that change, the factors, the ticket, what is found, rows.
    type Ilu0: Kernel<
        Arguments = (
            Global<u32>,
            Global<u32>,
            Global<u32>,
            GlobalMut<Self>,
            GlobalMut<Self::Word>,
            GlobalMut<u32>,
            GlobalMut<u32>,
            u32,
        ),
    >;
}

// SAFETY: the kernels of the type.
unsafe impl Kernels for f32 {
    type Ic0 = factor::sparse_ic0_f32;
    type Ilu0 = factor::sparse_ilu0_f32;
}

// SAFETY: the kernels of the type.
unsafe impl Kernels for f64 {
    type Ic0 = factor::sparse_ic0_f64;
    type Ilu0 = factor::sparse_ilu0_f64;
}

/// A row that was found, if one was.
fn row(found: &Buffer<u32>) -> Result<Option<usize>, Error> {
    let mut word = [NONE];
    found.copy_to(&mut word)?;
    Ok((word[0] != NONE).then_some(word[0] as usize))
}

/// The factor L of a checked lower triangle with rows, all of which end on the diagonal, with these values; and the
/// first row whose pivot is not positive.
pub(crate) fn ic0<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    values: View<'_, T>,
    factor: &mut Buffer<T>,
) -> Result<Option<usize>, Error> {
    let device = stream.device();
    assert!(values.len() == a.entries() && factor.len() == a.entries());
    stream.memset(&mut *factor, 0xff)?;
    let (mut ticket, mut found) = (device.zeroed::<u32>(1)?, device.upload(&[NONE])?);
    let launch = linear(a.rows).shared(factor::SHARED_BYTES);
    let target = factor.view_mut().cast::<T::Word>();
    let arguments = (a.offsets, a.indices, values, target, &mut ticket, &mut found, a.rows as u32);
    // SAFETY: the matrix is the crate's own copy, which was found to be that triangle, so that rows wait for earlier
    // ones alone; there is a value and a place of the factor for each entry, and the factor is exclusive.
    unsafe { stream.launch::<T::Ic0>(launch, arguments)? };
    row(&found)
}

/// The factors L and U of a checked matrix with rows, whose diagonals stand where `diagonals` says, with the values in
/// `work`, which change; and the first row whose pivot is zero.
pub(crate) fn ilu0<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    diagonals: &Buffer<u32>,
    work: &mut Buffer<T>,
    factor: &mut Buffer<T>,
) -> Result<Option<usize>, Error> {
    let device = stream.device();
    assert!(work.len() == a.entries() && factor.len() == a.entries() && diagonals.len() == a.rows);
    stream.memset(&mut *factor, 0xff)?;
    let (mut ticket, mut found) = (device.zeroed::<u32>(1)?, device.upload(&[NONE])?);
    let launch = linear(a.rows).shared(factor::SHARED_BYTES);
    let target = factor.view_mut().cast::<T::Word>();
    let arguments = (a.offsets, a.indices, diagonals, work, target, &mut ticket, &mut found, a.rows as u32);
    // SAFETY: the matrix is the crate's own copy, which was checked, diagonals included: a row waits for those of its
    // columns before the diagonal, which are earlier ones. There is a value and a place of the factors for each entry,
    // both exclusive.
    unsafe { stream.launch::<T::Ilu0>(launch, arguments)? };
    row(&found)
}

/// Where each row's diagonal stands, of a checked square matrix with rows; or the first row that has none.
pub(crate) fn diagonals<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    diagonals: &mut Buffer<u32>,
) -> Result<Option<usize>, Error> {
    assert_eq!(diagonals.len(), a.rows);
    let mut found = stream.device().upload(&[NONE])?;
    let arguments = (a.offsets, a.indices, diagonals, &mut found, a.rows as u32);
    // SAFETY: the matrix was checked, and there is a place for each row.
    unsafe { stream.launch::<part::sparse_diagonals>(linear(a.rows), arguments)? };
    row(&found)
}

/// Which entries of a square matrix are kept, as the kernels take it.
fn part<T: Element>(a: &CsrView<'_, T>, upper: bool, diagonal: bool) -> Part {
    let words = (size_of::<T>() / size_of::<u32>()) as u32;
    let (rows, entries) = (a.rows as u32, a.entries() as u32);
    Part { rows, entries, upper: upper.into(), diagonal: diagonal.into(), words }
}

/// Enqueues how many entries of each row are kept, of a checked square matrix with rows; one count more stays as it
/// is.
pub(crate) fn part_counts<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    (upper, diagonal): (bool, bool),
    counts: &mut Buffer<u32>,
) -> gpu_core::Result<()> {
    assert_eq!(counts.len(), a.rows + 1);
    let arguments = (a.offsets, a.indices, counts, part(a, upper, diagonal));
    // SAFETY: the matrix was checked, its kernel stays within the entries whatever it says now, and there is a count
    // for each row.
    unsafe { stream.launch::<part::sparse_part_counts>(linear(a.rows), arguments) }
}

/// Enqueues the copy of the entries that are kept, of which there are at most as many as the outputs have.
pub(crate) fn part_entries<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    (upper, diagonal): (bool, bool),
    offsets: &Buffer<u32>,
    (indices, values): (&mut Buffer<u32>, &mut Buffer<T>),
) -> gpu_core::Result<()> {
    assert!(offsets.len() == a.rows + 1 && indices.len() == values.len());
    let target = values.view_mut().cast::<u32>();
    let part = part(a, upper, diagonal);
    let arguments = (a.offsets, a.indices, a.values.cast::<u32>(), offsets, indices, target, part);
    // SAFETY: the matrix was checked; the kernel reads within its entries and writes between a row's offsets, which
    // end with the outputs' length.
    unsafe { stream.launch::<part::sparse_part>(linear(a.rows), arguments) }
}
