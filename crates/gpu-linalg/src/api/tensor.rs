//! Products of matrices of narrow elements, on the tensor cores.

use gpu_core::Stream;

use super::expect_apart;
use crate::error::Error;
use crate::matrix::{Batch, BatchMut};
use crate::plan::tensor::Plan;
use crate::reference;
use crate::tensor::launch::{self, TensorElement, TensorOutput};
use crate::variants::TensorVariant;

/// `C = alpha · A · B + beta · C` on `stream` for factors of 16-bit floats, on the tensor cores, for matrices or batches of
/// them.
///
/// A is m × k, B is k × n and C is m × n, each row- or column-major with any leading dimension; C is of `f32`, or of the
/// factors' type. Products are exact in `f32`, in which they are added; where `beta` is zero C is not read, where
/// `alpha` is zero A and B are not read.
///
/// # Order and error
/// On the CPU and in the simulator an element is a chain of products over ascending `k`, each added with one rounding. The
/// hardware adds several products at once and cuts bits off in doing so: its result is the same each time, but not that
/// one. With `k` products and `u` = 2⁻²³ both are within `2 k u Σ |a| |b|` of the exact sum, then scaled by `alpha` and
/// rounded to C's type.
///
/// # Devices
/// Compute capability 8.0 and later. On 9.0 products are fastest where the copy engine takes the factors: addresses, leading
/// dimensions and strides of batches that are multiples of 16 bytes. Before 8.0 it is an error that says so;
/// [`gemm`](crate::gemm()) of `f32` runs everywhere.
///
/// # Errors
/// [`Error::ProductShapes`], [`Error::BatchCounts`], [`Error::Aliasing`], [`Error::ExtentTooLarge`],
/// [`Error::TooManyBlocks`], [`Error::NoTensorCores`]; [`Error::Device`] where memory is on another device than
/// the stream or where the launch failed. C is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, bf16, gemm_tensor};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 8 * 16].map(bf16::from_f32))?;
/// let mut c = device.upload(&[f32::NAN; 64])?;
/// let matrix = Matrix::new(&a, Layout::row_major(8, 16)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(8, 8)?)?;
/// gemm_tensor::<bf16, f32>(&device.default_stream(), 0.5, matrix, matrix.transposed(), 0.0, product)?;
/// assert_eq!(c.to_vec()?, [8.0; 64]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tensor<'a, 'b, 'c, T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    alpha: f32,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: f32,
    c: impl Into<BatchMut<'c, C>>,
) -> Result<(), Error> {
    product(stream, None, alpha, (a.into(), b.into()), beta, c.into())
}

/// The same by a kernel of choice, or the one that the plan takes for the fastest.
pub(crate) fn product<T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    variant: Option<TensorVariant>,
    alpha: f32,
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    beta: f32,
    mut c: BatchMut<'_, C>,
) -> Result<(), Error> {
    let layouts = [a.layout(), b.layout(), c.layout()];
    let shapes = layouts.map(|layout| layout.matrix.shape());
    let [(m, k), (inner, n), output] = shapes;
    if inner != k || output != (m, n) {
        return Err(Error::ProductShapes { a: shapes[0], b: shapes[1], c: shapes[2] });
    }
    let counts = layouts.map(|layout| layout.count);
    if counts[0] != counts[2] || counts[1] != counts[2] {
        return Err(Error::BatchCounts { a: counts[0], b: counts[1], c: counts[2] });
    }
    stream.expect("first factor of a product", a.data().device())?;
    stream.expect("second factor of a product", b.data().device())?;
    stream.expect("output of a product", c.data().device())?;
    expect_apart(&c.data_mut(), "A", &a.data())?;
    expect_apart(&c.data_mut(), "B", &b.data())?;
    if m == 0 || n == 0 || counts[2] == 0 {
        return Ok(());
    }
    if let (Some(a_data), Some(b_data), Some(c_data)) =
        (a.data().as_slice(), b.data().as_slice(), c.data_mut().as_mut_slice())
    {
        reference::gemm_tensor(alpha, (a_data, layouts[0]), (b_data, layouts[1]), beta, (c_data, layouts[2]));
        return Ok(());
    }
    let addresses = [
        a.data().as_global().address(),
        b.data().as_global().address(),
        c.data_mut().as_global_mut().address(),
    ];
    let plan = Plan::new(
        (size_of::<T>(), size_of::<C>()),
        stream.device().planned_multiprocessors(),
        layouts,
        addresses,
        alpha != 0.0,
        variant,
    )?;
    let scales = (alpha, beta);
    let by_lanes = matches!(variant, Some(TensorVariant::Lanes));
    if let Some(factors) = plan.factors.filter(|_| !by_lanes) {
        match launch::by_warps::<T, C>(stream, &plan, factors, scales, c.data_mut()) {
            // Of another capability than 9.0, and nothing was launched.
            Err(Error::Device(gpu_core::Error::NoKernelImage { .. })) if variant.is_none() => {}
            other => return no_tensor_cores(other, "9.0"),
        }
    } else if !by_lanes && variant.is_some() {
        return Err(Error::Unaligned { bytes: 16 });
    }
    no_tensor_cores(launch::by_lanes::<T, C>(stream, &plan, scales, a.data(), b.data(), c.into_data()), "8.0")
}

fn no_tensor_cores(result: Result<(), Error>, needs: &'static str) -> Result<(), Error> {
    match result {
        Err(Error::Device(gpu_core::Error::NoKernelImage { capability, .. })) => {
            Err(Error::NoTensorCores { capability: capability.to_string(), needs })
        }
        other => other,
    }
}
