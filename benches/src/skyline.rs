//! A band's factorisation beside that of the whole matrix, of the same size.
//!
//! The matrices' blocks on the diagonal are tridiagonal, and what is stored besides is zeros, which are computed with
//! like anything else: so matrices that fill a device's memory need none on the host, and a serial recurrence knows
//! their factor.

use gpu_core::{Buffer, Device, Scratch, Stream};
use gpu_linalg::variants::cholesky::rows_of_share;
use gpu_linalg::{
    BlockSkyline, FactorElement, Layout, MatrixMut, Triangle, expect_positive_definite, potrf, potrf_skyline,
};

use crate::error::Error;
use crate::sweep::launch_median;

/// Rows of a block.
const SIDE: usize = 64;
/// On the diagonal, and beside it.
const DIAGONAL: f64 = 4.0;
const BESIDE: f64 = -1.0;
/// Factorisations that are timed.
const ROUNDS: usize = 3;

/// What was measured of a size.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The share of the blocks that are there.
    pub share: f64,
    /// Multiply-adds of the band's factorisation, of the whole matrix's.
    pub work: f64,
    /// Milliseconds of the band.
    pub band_ms: f64,
    /// Milliseconds of the whole matrix.
    pub whole_ms: f64,
}

impl Measured {
    /// How many times the share of the work the share of the time is.
    pub fn ratio(&self) -> f64 {
        self.band_ms / self.whole_ms / self.work
    }
}

/// Measures `n` rows, of which `share` of the blocks are there, and the whole matrix.
///
/// # Errors
/// Those of the device; a factor that is not the recurrence's.
pub fn measure<T>(device: &Device, n: usize, share: f64) -> Result<Measured, Error>
where
    T: FactorElement + From<f32> + Into<f64>,
{
    let stream = device.stream()?;
    let blocks = n.div_ceil(SIDE);
    let skyline = BlockSkyline::new(device, n, SIDE, &rows_of_share(blocks, share))?;
    let whole = BlockSkyline::new(&Device::cpu(), n, SIDE, &vec![0; blocks])?;
    let layout = Layout::row_major(n, n)?;
    let mut a = device.zeroed::<T>(n * n)?;
    let mut info = device.alloc(1)?;

    let mut scratch = Scratch::new(&stream);
    let band_ms = timed(&stream, &mut a, n, |stream, a| {
        let matrix = MatrixMut::new(a, layout)?;
        Ok(potrf_skyline(stream, Triangle::Lower, &skyline, matrix, &mut info, &mut scratch)?)
    })?;
    expect_positive_definite(&info)?;
    let whole_ms = timed(&stream, &mut a, n, |stream, a| {
        Ok(potrf(stream, Triangle::Lower, MatrixMut::new(a, layout)?, &mut info, &mut scratch)?)
    })?;
    expect_positive_definite(&info)?;
    let work = skyline.multiply_adds() / whole.multiply_adds();
    Ok(Measured { share: skyline.share(), work, band_ms, whole_ms })
}

/// The median milliseconds of factorisations, of the matrix and then of what the last one left, whose
/// diagonal is the larger, too. The first one's factor is checked.
fn timed<T>(
    stream: &Stream,
    a: &mut Buffer<T>,
    n: usize,
    mut factor: impl FnMut(&Stream, &mut Buffer<T>) -> Result<(), Error>,
) -> Result<f64, Error>
where
    T: FactorElement + From<f32> + Into<f64>,
{
    // A row's first element that is not zero: no block but those on the diagonal is sure to be there.
    let first_of = |row: usize| if row.is_multiple_of(SIDE) { row } else { row - 1 };
    let element = |row: usize, column| T::from(if row == column { DIAGONAL } else { BESIDE } as f32);
    for row in 0..n {
        let first = first_of(row);
        let values: Vec<T> = (first..=row).map(|column| element(row, column)).collect();
        a.slice_mut(row * n + first..row * n + row + 1).copy_from(&values)?;
    }
    factor(stream, a)?;
    stream.synchronize()?;
    let unit = if size_of::<T>() == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let mut before = 0.0;
    for row in 0..n {
        let first = first_of(row);
        let mut found = vec![T::from(0.0); row + 1 - first];
        a.slice(row * n + first..row * n + row + 1).copy_to(&mut found)?;
        let beside = if first == row { 0.0 } else { BESIDE / before };
        before = (DIAGONAL - beside * beside).sqrt();
        // A row's factor has a handful of roundings, and those of the rows before fade by a factor of 14 a row.
        let is_right =
            |found: T, expected: f64| (found.into() - expected).abs() <= 16.0 * unit * expected.abs();
        let right = is_right(found[row - first], before) && (first == row || is_right(found[0], beside));
        if !right {
            return Err(Error::WrongShape(format!("row {row} of {n} is {found:?}, not {beside}, {before}")));
        }
    }
    launch_median(stream, ROUNDS, || factor(stream, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_and_its_matrix_are_right() {
        for (n, share) in [(64, 0.5), (200, 0.5), (1000, 0.1)] {
            let found = measure::<f64>(&Device::cpu(), n, share).expect("the factors are right");
            assert!(found.work <= 1.0 && found.share <= 1.0 && found.ratio() > 0.0, "{found:?}");
        }
    }
}
