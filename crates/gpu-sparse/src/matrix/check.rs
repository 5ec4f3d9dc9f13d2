//! Whether arrays are a matrix, and a matrix a triangle.

use gpu_core::checks;
use gpu_sparse_kernels::NONE;

use super::{CsrView, extents, sizes};
use crate::api::{Diagonal, Side};
use crate::error::Error;
use crate::launch::{self, Element};
use crate::plan::solve::Profile;
use crate::reference;

/// Refuses arrays whose lengths are not those of the shape, or that live apart.
pub(crate) fn arrays<T: Element>(matrix: &CsrView<'_, T>) -> Result<(), Error> {
    extents(matrix.rows, matrix.columns)?;
    sizes(matrix.rows, matrix.indices.len())?;
    checks::length("offsets of a matrix", matrix.rows + 1, matrix.offsets.len())?;
    checks::length("values of a matrix", matrix.indices.len(), matrix.values.len())?;
    let stream = matrix.offsets.device().default_stream();
    stream.expect("indices of a matrix", matrix.indices.device())?;
    stream.expect("values of a matrix", matrix.values.device())?;
    Ok(())
}

/// Refuses offsets and columns that are none.
pub(crate) fn entries<T: Element>(matrix: &CsrView<'_, T>) -> Result<(), Error> {
    rows(matrix, true)
}

/// The same, but that columns may be in any order and come several times.
pub(crate) fn unsorted_entries<T: Element>(matrix: &CsrView<'_, T>) -> Result<(), Error> {
    rows(matrix, false)
}

fn rows<T: Element>(matrix: &CsrView<'_, T>, must_ascend: bool) -> Result<(), Error> {
    let entries = matrix.indices.len();
    let (first, last) = (at(matrix.offsets, 0)?, at(matrix.offsets, matrix.rows)?);
    if first != 0 {
        return Err(Error::Offsets { row: 0, start: first, end: last, entries });
    }
    if last != entries {
        return Err(Error::Offsets { row: matrix.rows.saturating_sub(1), start: first, end: last, entries });
    }
    if matrix.rows == 0 {
        return Ok(());
    }
    let found = match (matrix.offsets.as_slice(), matrix.indices.as_slice()) {
        (Some(offsets), Some(indices)) => reference::check(offsets, indices, matrix.columns),
        _ => launch::check(matrix)?,
    };
    let [offsets, outside, unsorted] = found;
    let unsorted = if must_ascend { unsorted } else { NONE };
    let row = |row: u32| -> Result<_, Error> {
        let row = row as usize;
        Ok((row, at(matrix.offsets, row)?, at(matrix.offsets, row + 1)?))
    };
    if offsets != NONE {
        let (row, start, end) = row(offsets)?;
        return Err(Error::Offsets { row, start, end, entries });
    }
    if outside == NONE && unsorted == NONE {
        return Ok(());
    }
    let (row, start, end) = row(outside.min(unsorted))?;
    let mut columns = vec![0; end - start];
    matrix.indices.slice(start..end).copy_to(&mut columns)?;
    let is_outside = |column: &u32| *column as usize >= matrix.columns;
    if let Some(place) = columns.iter().position(is_outside) {
        let (entry, column) = (start + place, columns[place] as usize);
        return Err(Error::OutOfRange { entry, row, column, rows: matrix.rows, columns: matrix.columns });
    }
    match columns.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(&[before, column]) if before == column => Err(Error::Duplicate { row, column: column as usize }),
        Some(&[before, column]) => {
            Err(Error::Unsorted { row, before: before as usize, column: column as usize })
        }
        _ => unreachable!("the row was found to be unsorted"),
    }
}

/// Refuses what is no triangle of that side with that diagonal.
pub(crate) fn triangle<T: Element>(
    matrix: &CsrView<'_, T>,
    side: Side,
    diagonal: Diagonal,
) -> Result<(), Error> {
    profiled(matrix, side, diagonal, false).map(drop)
}

/// The same; and, if it is asked for, what the choice of a solver rests on, but for the number of levels, which is 0.
/// One wait finds both.
pub(crate) fn profiled<T: Element>(
    matrix: &CsrView<'_, T>,
    side: Side,
    diagonal: Diagonal,
    has_profile: bool,
) -> Result<Profile, Error> {
    checks::square("a triangular matrix", (matrix.rows, matrix.columns))?;
    if matrix.rows == 0 {
        return Ok(Profile::default());
    }
    let (found, profile) = match matrix.slices() {
        Some((offsets, indices, values)) => {
            let found = reference::check_triangle(offsets, indices, values, side, diagonal);
            let is_needed = has_profile && found == [NONE; 3];
            let profile = is_needed.then(|| reference::profile(offsets, indices, side));
            (found, profile.unwrap_or_default())
        }
        None => launch::check_triangle(matrix, (side, diagonal), has_profile)?,
    };
    let [wrong, missing, zero] = found;
    let first = wrong.min(missing).min(zero);
    if first == NONE {
        return Ok(profile);
    }
    let row = first as usize;
    if first == wrong {
        let entry = match side {
            Side::Lower => at(matrix.offsets, row + 1)? - 1,
            Side::Upper => at(matrix.offsets, row)?,
        };
        Err(Error::WrongSide { row, column: at(matrix.indices, entry)? })
    } else if first == missing {
        Err(Error::MissingDiagonal { row })
    } else {
        Err(Error::ZeroPivot { row })
    }
}

/// An element of an array on a device.
fn at(array: gpu_core::View<'_, u32>, index: usize) -> Result<usize, Error> {
    let [element] = array.try_slice(index..index + 1)?.to_array()?;
    Ok(element as usize)
}
