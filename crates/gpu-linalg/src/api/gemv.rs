//! Products of a matrix and a vector.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_std::float::Float;

use super::expect_vectors;
use crate::cpu;
use crate::error::Error;
use crate::launch::{self, Element};
use crate::matrix::{Layout, Matrix};
use crate::plan::gemv::Plan;

/// `y = alpha · A · x + beta · y` on `stream`.
///
/// A is m × n, row- or column-major with any leading dimension; for a transposed one give [`Matrix::transposed`]. `x`
/// has n elements and `y` m. Elements of 16 bits are computed with as `f32`, and results rounded once. Where `beta`
/// is zero `y` is not read, where `alpha` is zero neither A nor `x`. `scratch` has at least [`gemv_scratch_len`]
/// elements; what is in it afterwards is unspecified. The order of operations is a function of A's shape, order and
/// type alone (see the [crate documentation](crate)): every device gives the same bits. Neither allocates device
/// memory nor waits.
///
/// # Errors
/// [`Error::VectorLengths`], [`Error::ScratchTooSmall`], [`Error::Aliasing`], [`Error::ExtentTooLarge`],
/// [`Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream or where the launch
/// failed. `y` is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, gemv, gemv_scratch_len};
/// let device = gpu_core::Device::simulator();
/// let layout = Layout::row_major(2, 3)?;
/// let a = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let x = device.upload(&[1.0f32, 1.0])?;
/// let mut y = device.upload(&[100.0f32; 3])?;
/// let a = Matrix::new(&a, layout)?.transposed();
/// let mut scratch = device.alloc(gemv_scratch_len::<f32>(a.layout())?)?;
/// gemv(&device.default_stream(), 2.0, a, &x, 1.0, &mut y, &mut scratch)?;
/// assert_eq!(y.to_vec()?, [110.0, 114.0, 118.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv<'x, 'y, 's, T: Element>(
    stream: &Stream,
    alpha: T::Sum,
    a: Matrix<'_, T>,
    x: impl Into<View<'x, T>>,
    beta: T::Sum,
    y: impl Into<ViewMut<'y, T>>,
    scratch: impl Into<ViewMut<'s, T::Sum>>,
) -> Result<(), Error>
where
    T::Sum: gpu_core::Element,
{
    let (x, mut y, scratch) = (x.into(), y.into(), scratch.into());
    expect_vectors(stream, a, &x, &y, (&scratch, gemv_scratch_len::<T>(a.layout())?))?;
    if y.is_empty() {
        return Ok(());
    }
    if let (Some(a_data), Some(x), Some(y)) = (a.data().as_slice(), x.as_slice(), y.as_mut_slice()) {
        return cpu::gemv(alpha, a_data, a.layout(), x, beta, y);
    }
    let (a_address, x_address) = (a.data().as_global().address(), x.as_global().address());
    let plan = Plan::new::<T>(a.layout(), a_address, x_address, alpha != T::Sum::ZERO)?;
    launch::gemv(stream, &plan, alpha, a.data(), x, beta, y, scratch)
}

/// Elements of scratch memory that [`gemv`] needs for a matrix of elements of type `T`: none but where there are few
/// results.
///
/// # Errors
/// [`Error::ExtentTooLarge`], [`Error::TooManyBlocks`].
///
/// ```
/// use gpu_linalg::{Layout, gemv_scratch_len};
/// assert_eq!(gemv_scratch_len::<f32>(Layout::row_major(4096, 4096)?)?, 0);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemv_scratch_len<T: Element>(layout: Layout) -> Result<usize, Error> {
    if layout.is_empty() { Ok(0) } else { Ok(Plan::new::<T>(layout, 0, 0, true)?.scratch_len()) }
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
    let device = a.data().device();
    let mut y = device.alloc(a.layout().rows())?;
    let mut scratch = device.alloc::<T::Sum>(gemv_scratch_len::<T>(a.layout())?)?;
    gemv(&device.default_stream(), T::Sum::ONE, a, x, T::Sum::ZERO, &mut y, &mut scratch)?;
    Ok(y)
}
