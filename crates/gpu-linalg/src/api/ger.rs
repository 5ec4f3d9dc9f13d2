//! Outer products.

use gpu_core::{Buffer, Stream, View, checks};

use crate::error::Error;
use crate::launch::{self, RealElement};
use crate::matrix::{Layout, MatrixMut, Order};
use crate::plan::elementwise::Plan;
use crate::reference;

/// `A = alpha · x · yᵀ + A` on `stream`.
///
/// A is m × n, row- or column-major with any leading dimension, `x` has m elements and `y` n. As in BLAS, `alpha` is
/// multiplied with the vector that has one factor for each contiguous line, `x` where rows are contiguous and else
/// `y`; the rest is one fused multiply-add an element. Where `alpha` is zero nothing is read and A stays. Neither
/// allocates device memory nor waits.
///
/// # Errors
/// [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::TooManyBlocks`];
/// [`Error::Device`] where memory is on another device than the stream or where the launch failed. A is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, MatrixMut, ger};
/// let device = gpu_core::Device::simulator();
/// let (x, y) = (device.upload(&[1.0, 2.0])?, device.upload(&[1.0, 10.0, 100.0])?);
/// let mut a = device.upload(&[0.5; 6])?;
/// let matrix = MatrixMut::new(&mut a, Layout::row_major(2, 3)?)?;
/// ger(&device.default_stream(), 3.0, &x, &y, matrix)?;
/// assert_eq!(a.to_vec()?, [3.5, 30.5, 300.5, 6.5, 60.5, 600.5]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn ger<'x, 'y, T: RealElement>(
    stream: &Stream,
    alpha: T,
    x: impl Into<View<'x, T>>,
    y: impl Into<View<'y, T>>,
    mut a: MatrixMut<'_, T>,
) -> Result<(), Error> {
    let (x, y) = (x.into(), y.into());
    let layout = a.layout();
    checks::vectors(layout.shape(), y.len(), x.len())?;
    stream.expect("first vector of an outer product", x.device())?;
    stream.expect("second vector of an outer product", y.device())?;
    stream.expect("matrix of an outer product", a.data().device())?;
    a.data_mut().expect_apart("x", &x)?;
    a.data_mut().expect_apart("y", &y)?;
    if layout.is_empty() || alpha == T::ZERO {
        return Ok(());
    }
    if let (Some(x), Some(y), Some(data)) = (x.as_slice(), y.as_slice(), a.data_mut().as_mut_slice()) {
        reference::ger(alpha, x, y, (data, layout));
        return Ok(());
    }
    let (of_lines, of_places) = match layout.order() {
        Order::RowMajor => (x, y),
        Order::ColumnMajor => (y, x),
    };
    let addresses = [of_places.as_global().address(), a.data_mut().as_global_mut().address()];
    let plan = Plan::outer(size_of::<T>(), layout, addresses)?;
    Ok(launch::ger(stream, &plan, alpha, of_lines, of_places, a.into_data())?)
}

/// The outer product `x · yᵀ`, computed where `x` lives, as a row-major matrix without gaps in a buffer of its own.
///
/// `x` has m elements, `y` n, and the product is m × n, [`ger`] to a matrix of zeros: a product of -0 is 0. The work is
/// enqueued on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where the vectors are not on one device, its memory does not
/// suffice, or the launch failed.
///
/// ```
/// let device = gpu_core::Device::best();
/// let (x, y) = (device.upload(&[1.0, 2.0])?, device.upload(&[1.0, 10.0, 100.0])?);
/// assert_eq!(gpu_linalg::outer(&x, &y)?.to_vec()?, [1.0, 10.0, 100.0, 2.0, 20.0, 200.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn outer<'x, 'y, T: RealElement>(
    x: impl Into<View<'x, T>>,
    y: impl Into<View<'y, T>>,
) -> Result<Buffer<T>, Error> {
    let (x, y) = (x.into(), y.into());
    let (device, layout) = (x.device(), Layout::row_major(x.len(), y.len())?);
    let mut product = device.zeroed(layout.span())?;
    ger(&device.default_stream(), T::ONE, x, y, MatrixMut::new(&mut product, layout)?)?;
    Ok(product)
}
