//! What is done with sparse matrices before they are multiplied with, and with the analyses of others of their
//! structure: as it is counted and timed.

use std::error::Error;

use gpu_benches::suite::sparse::COLUMNS;
use gpu_benches::sweep::{launch_median, wall_median};
use gpu_core::{Device, Layout, Matrix, MatrixMut, Stream};
use gpu_sparse::{Algorithm, Analysis, Csr, Diagonal, Side, Spmv, Wide};

use super::conversions::Arrays;
use super::operations::Operation;

/// Calls what is timed or counted, as often as it wants to.
pub type Times<'t> =
    &'t mut dyn FnMut(&mut dyn FnMut() -> Result<(), gpu_sparse::Error>) -> Result<(), Box<dyn Error>>;

/// Uploads what an operation needs and hands what it does over; says whether it is one of these.
///
/// # Errors
/// Those of the device, and of `times`.
pub fn ready(
    operation: Operation,
    device: &Device,
    arrays: &Arrays,
    algorithm: Algorithm,
    times: Times<'_>,
) -> Result<bool, Box<dyn Error>> {
    let (offsets, indices, values) = arrays;
    let rows = offsets.len() - 1;
    let a = Csr::upload(device, rows, rows, offsets, indices, values)?;
    let side = (Side::Lower, Diagonal::Stored);
    match operation {
        Operation::Plan => times(&mut || Spmv::new(&a).map(drop))?,
        Operation::Wide => {
            let wide: Vec<u64> = offsets.iter().map(|&offset| offset.into()).collect();
            let wide = device.upload(&wide)?;
            let (indices, values) = (device.upload(indices)?, device.upload(values)?);
            times(&mut || Wide::new(rows, rows, &wide, &indices, &values).map(drop))?;
        }
        Operation::NewMatrix => {
            let other = Csr::upload(device, rows, rows, offsets, indices, values)?;
            let mut analysis = Some(Analysis::with(&a, side.0, side.1, Algorithm::Free)?);
            times(&mut || {
                analysis = analysis.take().map(|one| one.with_matrix(&other)).transpose()?;
                Ok(())
            })?;
        }
        Operation::NewValues => {
            let values = device.upload(values)?;
            let mut analysis = Some(Analysis::transposed(&a, side.0, side.1)?);
            times(&mut || {
                analysis = analysis.take().map(|one| one.with_values(&values)).transpose()?;
                Ok(())
            })?;
        }
        Operation::Apart => {
            let layout = Layout::column_major(rows, COLUMNS)?;
            let apart = layout.with_leading_dimension(rows + 1)?;
            let rights = device.zeroed::<f64>(layout.span())?;
            let mut outs = device.zeroed::<f64>(apart.span())?;
            let mut analysis = Analysis::with(&a, side.0, side.1, algorithm)?;
            let stream = device.default_stream();
            times(&mut || {
                let (b, x) = (Matrix::new(&rights, layout)?, MatrixMut::new(&mut outs, apart)?);
                analysis.solve_many(&stream, 1.0, b, x)
            })?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The milliseconds of such an operation; none where it is not one of these.
///
/// # Errors
/// Those of the device.
pub fn measure(
    operation: Operation,
    device: &Device,
    arrays: &Arrays,
    rounds: usize,
) -> Result<Option<f64>, Box<dyn Error>> {
    let (stream, mut found): (Stream, _) = (device.default_stream(), None);
    ready(operation, device, arrays, Algorithm::Auto, &mut |run| {
        found = Some(match operation.is_waited_for() {
            true => wall_median(rounds, || Ok(run()?))?,
            false => launch_median(&stream, rounds, run)?,
        });
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is done twice on the CPU, of a matrix of three rows, and others are none of these.
    #[test]
    fn they_are_done() {
        let arrays = (vec![0, 1, 3, 5], vec![0, 0, 1, 1, 2], vec![1.0, -0.25, 1.0, -0.25, 1.0]);
        let device = Device::cpu();
        let mut done = 0;
        for operation in Operation::all() {
            let is_one = ready(operation, &device, &arrays, Algorithm::Free, &mut |run| {
                run()?;
                done += 1;
                Ok(run()?)
            });
            let is_one = is_one.unwrap_or_else(|error| panic!("{operation:?}: {error}"));
            let names = ["plan of spmv", "wide", "new matrix", "new values"];
            let [name, algorithm] = operation.names();
            assert_eq!(is_one, names.contains(&name.as_str()) || algorithm == "apart", "{operation:?}");
        }
        assert_eq!(done, 5);
    }
}
