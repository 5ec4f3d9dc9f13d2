//! Element-wise operations on vectors and matrices.

use gpu_core::{Buffer, Stream, checks};
use gpu_linalg_kernels::elementwise::{AXPY, COPY, PRODUCT, SCALE};

use crate::error::Error;
use crate::launch::{self, RealElement};
use crate::matrix::{BatchLayout, Layout, Matrix, MatrixMut};
use crate::plan::elementwise::Plan;
use crate::reference;

/// Refuses matrices of different shapes or orders.
fn expect_alike(first: Layout, second: Layout) -> Result<(), Error> {
    checks::shape("the other matrix", first.shape(), second.shape())?;
    if first.order() != second.order() {
        return Err(Error::Orders { expected: first.order(), actual: second.order() });
    }
    Ok(())
}

/// `output = result(x, y)`, where `operation` says the same to the kernel.
fn run<T: RealElement>(
    stream: &Stream,
    operation: u32,
    alpha: T,
    (x, y): (Matrix<'_, T>, Matrix<'_, T>),
    mut output: MatrixMut<'_, T>,
    result: impl Fn(T, T) -> T + Sync,
) -> Result<(), Error> {
    expect_alike(x.layout(), y.layout())?;
    expect_alike(x.layout(), output.layout())?;
    stream.expect("first operand", x.data().device())?;
    stream.expect("second operand", y.data().device())?;
    stream.expect("output", output.data().device())?;
    output.data_mut().expect_apart("x", &x.data())?;
    output.data_mut().expect_apart("y", &y.data())?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let layouts = [x.layout(), y.layout(), output.layout()];
    if let (Some(x), Some(y), Some(output)) =
        (x.data().as_slice(), y.data().as_slice(), output.data_mut().as_mut_slice())
    {
        reference::elementwise(layouts, x, y, output, result);
        return Ok(());
    }
    let (x, y, output) = (x.data().as_global(), y.data().as_global(), output.data_mut().as_global_mut());
    let plan = Plan::new(size_of::<T>(), operation, layouts, [x.address(), y.address(), output.address()])?;
    Ok(launch::elementwise(stream, &plan, alpha, x, y, output)?)
}

/// `y = change(x, y)`, where `operation` says the same to the kernel.
fn run_in_place<T: RealElement>(
    stream: &Stream,
    operation: u32,
    alpha: T,
    x: Option<Matrix<'_, T>>,
    mut y: MatrixMut<'_, T>,
    change: impl Fn(T, T) -> T + Sync,
) -> Result<(), Error> {
    stream.expect("output", y.data().device())?;
    if let Some(x) = x {
        expect_alike(x.layout(), y.layout())?;
        stream.expect("operand", x.data().device())?;
        y.data_mut().expect_apart("x", &x.data())?;
    }
    if y.layout().is_empty() {
        return Ok(());
    }
    let x_layout = x.map_or(y.layout(), |x| x.layout());
    let y_layout = y.layout();
    if let Some(y) = y.data_mut().as_mut_slice() {
        match x.and_then(|x| x.data().as_slice()) {
            Some(x) => reference::update((x, x_layout), (y, y_layout), change),
            None => reference::map((y, y_layout), |y| change(y, y)),
        }
        return Ok(());
    }
    let output = y.data_mut().as_global_mut();
    let x = x.map_or(output.as_global(), |x| x.data().as_global());
    let addresses = [x.address(), output.address(), output.address()];
    let plan = Plan::new(size_of::<T>(), operation, [x_layout, y_layout, y_layout], addresses)?;
    Ok(launch::elementwise(stream, &plan, alpha, x, output.as_global(), output)?)
}

macro_rules! binary {
    ($(
        $(#[$doc:meta])* $name:ident, $easy:ident: $operation:ident, $alpha:expr, $swapped:literal, $result:expr;
    )*) => { $(
        $(#[$doc])*
        ///
        /// On `stream`, for vectors and matrices of one shape and order with any leading dimensions. Neither
        /// allocates device memory nor waits.
        ///
        /// # Errors
        /// [`gpu_core::Error::Shape`], [`Error::Orders`], [`gpu_core::Error::Aliasing`],
        /// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on another device than the stream or
        /// where the launch failed. The output is as it was then.
        pub fn $name<'x, 'y, 'o, T: RealElement>(
            stream: &Stream,
            x: impl Into<Matrix<'x, T>>,
            y: impl Into<Matrix<'y, T>>,
            output: impl Into<MatrixMut<'o, T>>,
        ) -> Result<(), Error> {
            let (x, y) = (x.into(), y.into());
            let operands = if $swapped { (y, x) } else { (x, y) };
            run(stream, $operation, $alpha, operands, output.into(), $result)
        }

        #[doc = concat!("[`", stringify!($name), "`] in a buffer of its own, computed where `x` lives.")]
        ///
        /// Without gaps, in the order of `x`. The work is enqueued on the device's default stream; reading the buffer
        /// waits for it.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`];")]
        /// [`Error::Device`] where the device's memory does not suffice.
        pub fn $easy<'x, 'y, T: RealElement>(
            x: impl Into<Matrix<'x, T>>,
            y: impl Into<Matrix<'y, T>>,
        ) -> Result<Buffer<T>, Error> {
            let (x, y) = (x.into(), y.into());
            let (device, layout) = (x.data().device(), BatchLayout::from(x.layout()).without_gaps()?.matrix);
            let mut output = device.alloc(layout.span())?;
            $name(&device.default_stream(), x, y, MatrixMut::new(&mut output, layout)?)?;
            Ok(output)
        }
    )* };
}

binary! {
    /// `output = x + y`.
    ///
    /// ```
    /// let device = gpu_core::Device::best();
    /// let (x, y) = (device.upload(&[1.0, 2.0])?, device.upload(&[10.0, 20.0])?);
    /// let mut sums = device.alloc(2)?;
    /// gpu_linalg::add(&device.default_stream(), &x, &y, &mut sums)?;
    /// assert_eq!(sums.to_vec()?, [11.0, 22.0]);
    ///
    /// let cpu = gpu_core::Device::cpu();
    /// let (x, mut sums) = (vec![1.0, 2.0], vec![0.0; 2]);
    /// gpu_linalg::add(&cpu.default_stream(), &x, &[10.0, 20.0], &mut sums)?;
    /// assert_eq!(sums, [11.0, 22.0]);
    /// assert_eq!(gpu_linalg::plus(&x, &[0.5, 0.0])?.to_vec()?, [1.5, 2.0]);
    /// # Ok::<(), gpu_linalg::Error>(())
    /// ```
    add, plus: AXPY, T::ONE, false, |x, y| x + y;
    /// `output = x - y`.
    ///
    /// ```
    /// let (stream, mut differences) = (gpu_core::Device::cpu().default_stream(), vec![0.0; 2]);
    /// gpu_linalg::subtract(&stream, &[5.0, 7.0], &[1.0, 10.0], &mut differences)?;
    /// assert_eq!(differences, [4.0, -3.0]);
    /// assert_eq!(gpu_linalg::minus(&[5.0, 7.0], &[1.0, 10.0])?.to_vec()?, differences);
    /// # Ok::<(), gpu_linalg::Error>(())
    /// ```
    subtract, minus: AXPY, -T::ONE, true, |y, x| x - y;
    /// `output = x · y`, element by element (the Hadamard product).
    ///
    /// ```
    /// let (stream, mut products) = (gpu_core::Device::cpu().default_stream(), vec![0.0; 2]);
    /// gpu_linalg::hadamard(&stream, &[5.0, 7.0], &[1.0, 10.0], &mut products)?;
    /// assert_eq!(products, [5.0, 70.0]);
    /// assert_eq!(gpu_linalg::times(&[5.0, 7.0], &[1.0, 10.0])?.to_vec()?, products);
    /// # Ok::<(), gpu_linalg::Error>(())
    /// ```
    hadamard, times: PRODUCT, T::ONE, false, |x, y| x * y;
}

/// `y = alpha · x + y` on `stream`, each element by one fused multiply-add, for vectors and matrices of one shape and
/// order with any leading dimensions. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`add`]; `y` is as it was then.
///
/// ```
/// let device = gpu_core::Device::simulator();
/// let x = device.upload(&[1.0, 2.0])?;
/// let mut y = device.upload(&[10.0, 20.0])?;
/// gpu_linalg::axpy(&device.default_stream(), 3.0, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [13.0, 26.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn axpy<'x, 'y, T: RealElement>(
    stream: &Stream,
    alpha: T,
    x: impl Into<Matrix<'x, T>>,
    y: impl Into<MatrixMut<'y, T>>,
) -> Result<(), Error> {
    run_in_place(stream, AXPY, alpha, Some(x.into()), y.into(), move |x, y| alpha.mul_add(x, y))
}

/// `x = alpha · x` on `stream`. NaN stays, also where `alpha` is zero. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`add`]; `x` is as it was then.
///
/// ```
/// let device = gpu_core::Device::best();
/// let mut x = device.upload(&[1.0, -2.0, 3.0])?;
/// gpu_linalg::scale(&device.default_stream(), 2.0, &mut x)?;
/// assert_eq!(x.to_vec()?, [2.0, -4.0, 6.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn scale<'x, T: RealElement>(
    stream: &Stream,
    alpha: T,
    x: impl Into<MatrixMut<'x, T>>,
) -> Result<(), Error> {
    run_in_place(stream, SCALE, alpha, None, x.into(), move |x, _| alpha * x)
}

/// `y = x` on `stream`, bit by bit, for vectors and matrices of one shape and order with any leading dimensions.
/// Neither allocates device memory nor waits.
///
/// # Errors
/// As [`add`]; `y` is as it was then.
///
/// ```
/// let device = gpu_core::Device::best();
/// let (x, mut y) = (device.upload(&[1.0f32, 2.0])?, device.zeroed(2)?);
/// gpu_linalg::copy(&device.default_stream(), &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [1.0, 2.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn copy<'x, 'y, T: RealElement>(
    stream: &Stream,
    x: impl Into<Matrix<'x, T>>,
    y: impl Into<MatrixMut<'y, T>>,
) -> Result<(), Error> {
    run_in_place(stream, COPY, T::ONE, Some(x.into()), y.into(), |x, _| x)
}

/// Exchanges the elements of `x` and `y` on `stream`, bit by bit, for vectors and matrices of one shape and order
/// with any leading dimensions. Neither allocates device memory nor waits.
///
/// # Errors
/// As [`add`]; both are as they were then.
///
/// ```
/// let device = gpu_core::Device::best();
/// let (mut x, mut y) = (device.upload(&[1.0f32, 2.0])?, device.upload(&[3.0, 4.0])?);
/// gpu_linalg::swap(&device.default_stream(), &mut x, &mut y)?;
/// assert_eq!((x.to_vec()?, y.to_vec()?), (vec![3.0, 4.0], vec![1.0, 2.0]));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn swap<'x, 'y, T: RealElement>(
    stream: &Stream,
    x: impl Into<MatrixMut<'x, T>>,
    y: impl Into<MatrixMut<'y, T>>,
) -> Result<(), Error> {
    let (mut x, mut y) = (x.into(), y.into());
    expect_alike(x.layout(), y.layout())?;
    stream.expect("first operand", x.data().device())?;
    stream.expect("second operand", y.data().device())?;
    y.data_mut().expect_apart("x", &x.data())?;
    if x.layout().is_empty() {
        return Ok(());
    }
    let (x_layout, y_layout) = (x.layout(), y.layout());
    if let (Some(x_data), Some(y_data)) = (x.data_mut().as_mut_slice(), y.data_mut().as_mut_slice()) {
        reference::swap((x_data, x_layout), (y_data, y_layout));
        return Ok(());
    }
    let (x_data, y_data) = (x.data_mut().as_global_mut(), y.data_mut().as_global_mut());
    let addresses = [x_data.address(), y_data.address(), y_data.address()];
    let plan = Plan::new(size_of::<T>(), COPY, [x_layout, y_layout, y_layout], addresses)?;
    Ok(launch::swap(stream, &plan, x_data, y_data)?)
}
