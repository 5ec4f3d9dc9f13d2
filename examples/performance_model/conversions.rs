//! What is done with sparse matrices beside products and systems: incomplete factors and conversions, as they are
//! counted and timed.

use gpu_core::Device;
use gpu_sparse::{Coo, Csr, Duplicates, Error, compress, expand, ic0, ilu0, sort_rows};

use super::operations::Operation;

/// Does it once, and waits for it.
pub type Run = Box<dyn FnMut() -> Result<(), Error>>;

/// Offsets, columns and values of a lower triangle.
pub type Arrays = (Vec<u32>, Vec<u32>, Vec<f64>);

/// Uploads what an operation needs; none where it is not one of these.
///
/// # Errors
/// Those of the device.
pub fn ready(operation: Operation, device: &Device, arrays: &Arrays) -> Result<Option<Run>, Error> {
    let (offsets, indices, values) = arrays;
    let rows = offsets.len() - 1;
    let matrix = |values: &[f64]| Csr::upload(device, rows, rows, offsets, indices, values);
    let run: Run = match operation {
        Operation::Ic0 => {
            let a = matrix(&definite(values))?;
            Box::new(move || ic0(&a).map(drop))
        }
        Operation::Ilu0 => {
            let (rows_of, columns_of, values) = both_sides(offsets, indices, &definite(values));
            let a = compress(&Coo::upload(device, rows, rows, &rows_of, &columns_of, &values)?)?;
            Box::new(move || ilu0(&a).map(drop))
        }
        Operation::Expand => {
            let a = matrix(values)?;
            Box::new(move || {
                drop(expand(&a)?);
                Ok(a.view().device().synchronize()?)
            })
        }
        Operation::Compress => {
            let (rows_of, columns_of, _) = expand(&matrix(values)?)?.into_buffers();
            let [rows_of, columns_of] = [odd_first(&rows_of.to_vec()?), odd_first(&columns_of.to_vec()?)];
            let list = Coo::upload(device, rows, rows, &rows_of, &columns_of, &odd_first(values))?;
            Box::new(move || compress(&list).map(drop))
        }
        Operation::SortRows => {
            let mut descending = indices.clone();
            let ends = offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
            ends.for_each(|row| descending[row].reverse());
            let (offsets, indices) = (device.upload(offsets)?, device.upload(&descending)?);
            let values = device.upload(values)?;
            Box::new(move || {
                sort_rows(rows, rows, &offsets, &indices, &values, Duplicates::Refused).map(drop)
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(run))
}

/// Every second one, from the second on, and then the others.
fn odd_first<T: Copy>(all: &[T]) -> Vec<T> {
    all.iter().skip(1).step_by(2).chain(all.iter().step_by(2)).copied().collect()
}

/// The same numbers with a diagonal that outweighs all others.
fn definite(values: &[f64]) -> Vec<f64> {
    values.iter().map(|&value| if value == 1.0 { 1e3 } else { value }).collect()
}

/// The rows, columns and values of a lower triangle's entries and, above the diagonal, of the transposed one's.
fn both_sides(offsets: &[u32], indices: &[u32], values: &[f64]) -> Arrays {
    let mut all = Arrays::default();
    for (row, ends) in (0_u32..).zip(offsets.windows(2)) {
        let entries = ends[0] as usize..ends[1] as usize;
        for (&column, &value) in indices[entries.clone()].iter().zip(&values[entries]) {
            let sides = [(row, column), (column, row)];
            for (row, column) in sides.into_iter().take(if row == column { 1 } else { 2 }) {
                all.0.push(row);
                all.1.push(column);
                all.2.push(value);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of them does on the CPU what it says, of a matrix of three rows.
    #[test]
    fn they_are_done() {
        let arrays = (vec![0, 1, 3, 5], vec![0, 0, 1, 1, 2], vec![1.0, -0.25, 1.0, -0.25, 1.0]);
        let all = Operation::all().into_iter().filter_map(|operation| {
            let run = ready(operation, &Device::cpu(), &arrays).expect("it is uploaded")?;
            Some((operation, run))
        });
        let mut done = 0;
        for (operation, mut run) in all {
            run().unwrap_or_else(|error| panic!("{operation:?}: {error}"));
            done += 1;
        }
        assert_eq!(done, 5);
        let (rows, columns, values) = both_sides(&arrays.0, &arrays.1, &definite(&arrays.2));
        assert_eq!((rows, columns), (vec![0, 1, 0, 1, 2, 1, 2], vec![0, 0, 1, 1, 1, 2, 2]));
        assert_eq!(values, [1e3, -0.25, -0.25, 1e3, -0.25, -0.25, 1e3]);
        assert_eq!(odd_first(&[0, 1, 2, 3, 4]), [1, 3, 0, 2, 4]);
    }
}
