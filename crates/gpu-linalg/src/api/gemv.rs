//! Products of a matrix and a vector.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, View, ViewMut};
use gpu_std::float::Float;

use super::{elements, expect_vectors, lend, of_kernels};
use crate::cpu;
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{Layout, Matrix};
use crate::plan::gemv::Plan;

/// `y = alpha · A · x + beta · y` on `stream`.
///
/// A is m × n, row- or column-major with any leading dimension; for a transposed one give [`Matrix::transposed`]. `x`
/// has n elements and `y` m. Elements of 16 bits are computed with as `f32`, and results rounded once. Where `beta` is
/// zero `y` is not read, where `alpha` is zero neither A nor `x`. `scratch` grows to [`gemv_scratch`]. The order of
/// operations is a function of A's shape, order and type alone (see the [crate documentation](crate)): every device
/// gives the same bits. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`gpu_core::Error::VectorLengths`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::ExtentTooLarge`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream, where
/// `scratch` is of another stream or too small, or where the launch failed. `y` is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, Scratch, gemv};
/// let device = gpu_core::Device::simulator();
/// let layout = Layout::row_major(2, 3)?;
/// let a = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let x = device.upload(&[1.0f32, 1.0])?;
/// let mut y = device.upload(&[100.0f32; 3])?;
/// let a = Matrix::new(&a, layout)?.transposed();
/// let mut scratch = Scratch::new(&device.default_stream());
/// gemv(&device.default_stream(), 2.0, a, &x, 1.0, &mut y, &mut scratch)?;
/// assert_eq!(y.to_vec()?, [110.0, 114.0, 118.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv<'x, 'y, T: Element>(
    stream: &Stream,
    alpha: T::Sum,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
    beta: T::Sum,
    y: impl Into<ViewMut<'y, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error>
where
    T::Sum: gpu_core::Element,
{
    let (x, y) = (x.into(), y.into());
    expect_vectors(stream, a, &x, &y)?;
    let size = of_kernels(stream, gemv_scratch::<T>(a.layout())?);
    lend(stream, scratch, ("product", size), |room| multiply_vector(stream, alpha, a, x, beta, y, room))
}

/// The same in so much scratch memory; everything is checked but extents.
pub(super) fn multiply_vector<T: Element>(
    stream: &Stream,
    alpha: T::Sum,
    a: Matrix<'_, T>,
    x: View<'_, T>,
    beta: T::Sum,
    mut y: ViewMut<'_, T>,
    scratch: ViewMut<'_, T::Sum>,
) -> Result<(), Error>
where
    T::Sum: gpu_core::Element,
{
    if y.is_empty() {
        return Ok(());
    }
    if let (Some(a_data), Some(x), Some(y)) = (a.data().as_slice(), x.as_slice(), y.as_mut_slice()) {
        return cpu::gemv(alpha, a_data, a.layout(), x, beta, y);
    }
    let (a_address, x_address) = (a.data().as_global().address(), x.as_global().address());
    let plan = Plan::new::<T>(a.layout(), a_address, x_address, alpha != T::Sum::ZERO)?;
    Ok(launch::gemv(stream, &plan, alpha, a.data(), x, beta, y, scratch)?)
}

/// Scratch memory of [`gemv`] for a matrix of elements of type `T`: nothing but where there are few results.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
///
/// ```
/// use gpu_linalg::{Layout, gemv_scratch};
/// assert_eq!(gemv_scratch::<f32>(Layout::row_major(4096, 4096)?)?.bytes(), 0);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv_scratch<T: Element>(layout: Layout) -> Result<ScratchSize, Error> {
    if layout.is_empty() {
        return Ok(ScratchSize::new());
    }
    Ok(elements::<T::Sum>(Plan::new::<T>(layout, 0, 0, true)?.scratch_len()))
}

/// The product `A · x`, computed where A lives, in a buffer of its own.
///
/// The work is enqueued on the device's default stream; reading the buffer waits for it.
///
/// # Errors
/// As [`gemv`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matvec};
/// let a = Matrix::new(&[1.0f32, 2.0, 3.0, 4.0], Layout::row_major(2, 2)?)?;
/// assert_eq!(matvec(a, &[1.0, 10.0])?.to_vec()?, [21.0, 43.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matvec<'x, T: Element>(a: Matrix<'_, T>, x: impl Into<View<'x, T>>) -> Result<Buffer<T>, Error>
where
    T::Sum: gpu_core::Element,
{
    Scratch::computed(a.data().device(), a.layout().rows(), |stream, y, scratch| {
        gemv(stream, T::Sum::ONE, a, x, T::Sum::ZERO, y, scratch)
    })
}
