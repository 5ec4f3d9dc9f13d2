//! Products of matrices.

use gpu_core::{Buffer, Scratch, ScratchSize, Stream, View, ViewMut};

use super::gemv::multiply_vector;
use super::{Triangle, elements, in_own_buffer, lend, of_kernels};
use crate::error::Error;
use crate::launch::{self, RealElement};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix};
use crate::plan::gemm::{self, AsVector, Kernel, Plan, Sums};

/// `C = alpha · A · B + beta · C` on `stream`, for matrices or batches of them.
///
/// A is m × k, B is k × n and C is m × n, each row- or column-major with any leading dimension; a transposed factor is
/// [`Matrix::transposed`]. Where `beta` is zero C is not read: whatever was in it, NaN too, is gone. Where `alpha` is
/// zero A and B are not read. `scratch` grows to [`gemm_scratch`], nothing but where C is small. The order of
/// operations is a function of the shapes, C's order and the type alone, and where C is a single row or column without
/// gaps, as the other factor's is, that of [`gemv()`](crate::gemv) (see the [crate documentation](crate)): every device
/// gives the same bits. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`Error::ProductShapes`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where memory is on
/// another device than the stream, where `scratch` is of another stream or too small, or where the launch failed. C is
/// as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, gemm};
/// let device = gpu_core::Device::best();
/// let a = device.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let mut c = device.upload(&[f32::NAN; 4])?;
/// let matrix = Matrix::new(&a, Layout::row_major(2, 3)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(2, 2)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// gemm(&device.default_stream(), 2.0, matrix, matrix.transposed(), 0.0, product, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [28.0, 64.0, 64.0, 154.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm<'a, 'b, 'c, T: RealElement>(
    stream: &Stream,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b, mut c) = (a.into(), b.into(), c.into());
    expect_product(stream, a, b, &mut c)?;
    let size = of_kernels(stream, gemm_scratch::<T>(a.layout().matrix.columns(), c.layout()));
    lend(stream, scratch, ("product", size), |room| multiply(stream, alpha, a, b, beta, c, room))
}

/// The same in so much scratch memory; everything is checked but extents.
pub(crate) fn multiply<T: RealElement>(
    stream: &Stream,
    alpha: T,
    a: Batch<'_, T>,
    b: Batch<'_, T>,
    beta: T,
    c: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let layouts = [a.layout(), b.layout(), c.layout()];
    let (m, n) = layouts[2].matrix.shape();
    if m == 0 || n == 0 || layouts[2].count == 0 {
        return Ok(());
    }
    if let Some(vector) = AsVector::of::<T>(layouts) {
        return by_vector(stream, vector, alpha, (a, b), beta, c, scratch);
    }
    product(stream, How::default(), alpha, a, b, beta, c, scratch)
}

/// A product that is one of a matrix and a vector.
pub(super) fn by_vector<T: RealElement>(
    stream: &Stream,
    AsVector { matrix, is_left }: AsVector,
    alpha: T,
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    beta: T,
    c: BatchMut<'_, T>,
    scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (of_matrix, of_vector) = if is_left { (a.data(), b.data()) } else { (b.data(), a.data()) };
    let (x, y) = (of_vector.slice(..matrix.columns()), c.into_data().into_slice(..matrix.rows()));
    multiply_vector(stream, alpha, Matrix::new(of_matrix, matrix)?, x, beta, y, scratch)
}

/// That a product is one of matrices of these shapes, on the stream's device.
///
/// # Errors
/// Those of [`gemm()`] but for extents and launches.
pub(crate) fn expect_product<T: RealElement>(
    stream: &Stream,
    a: Batch<'_, T>,
    b: Batch<'_, T>,
    c: &mut BatchMut<'_, T>,
) -> Result<(), Error> {
    expect_batches([a.layout(), b.layout(), c.layout()])?;
    expect_memory(stream, a.data(), b.data(), &c.data_mut())
}

/// That the shapes of A, B and C fit together.
pub(super) fn expect_shapes(layouts: [Layout; 3]) -> Result<(), Error> {
    let [a, b, c] = layouts.map(Layout::shape);
    if a.1 != b.0 || c != (a.0, b.1) { Err(Error::ProductShapes { a, b, c }) } else { Ok(()) }
}

/// The same of batches, and that they have as many matrices.
pub(super) fn expect_batches(layouts: [BatchLayout; 3]) -> Result<(), Error> {
    expect_shapes(layouts.map(|layout| layout.matrix))?;
    expect_counts(layouts.map(|layout| layout.count))
}

/// That batches have as many matrices.
pub(super) fn expect_counts([a, b, c]: [usize; 3]) -> Result<(), Error> {
    if a != c || b != c { Err(Error::BatchCounts { a, b, c }) } else { Ok(()) }
}

/// That factors and output are on the stream's device, and the output apart from both.
pub(super) fn expect_memory<T: gpu_core::Element, C: gpu_core::Element>(
    stream: &Stream,
    a: View<'_, T>,
    b: View<'_, T>,
    c: &ViewMut<'_, C>,
) -> Result<(), Error> {
    stream.expect("first factor of a product", a.device())?;
    stream.expect("second factor of a product", b.device())?;
    stream.expect("output of a product", c.device())?;
    c.expect_apart("A", &a)?;
    Ok(c.expect_apart("B", &b)?)
}

/// How a product by tiles is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// The part of C that is computed, if not all of it.
    pub triangle: Option<Triangle>,
    /// The order of its sums.
    pub sums: Sums,
    /// The kernel, if not the one that the plan takes.
    pub kernel: Option<Kernel>,
}

impl Default for How {
    fn default() -> Self {
        Self { triangle: None, sums: Sums::Parts, kernel: None }
    }
}

/// A product by tiles; with an `alpha` of zero there are no sums. Everything is checked but extents.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn product<T: RealElement>(
    stream: &Stream,
    How { triangle, sums, kernel }: How,
    alpha: T,
    a: Batch<'_, T>,
    b: Batch<'_, T>,
    beta: T,
    mut c: BatchMut<'_, T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let layouts = [a.layout(), b.layout(), c.layout()];
    if let (Some(a), Some(b), Some(c)) =
        (a.data().as_slice(), b.data().as_slice(), c.data_mut().as_mut_slice())
    {
        if let Some(kernel) = kernel {
            // It does not matter which, but one that takes no such product is refused as anywhere.
            Plan::with_kernel(kernel, size_of::<T>(), layouts, [0; 4], sums, triangle)?;
        }
        let (a, b, c) = ((a, layouts[0]), (b, layouts[1]), (c, layouts[2]));
        T::product((triangle, sums), [alpha, beta], a, b, c);
        return Ok(());
    }
    let addresses = [
        a.data().as_global().address(),
        b.data().as_global().address(),
        c.data_mut().as_global_mut().address(),
        scratch.as_global_mut().address(),
    ];
    let sums = if alpha == T::ZERO { Sums::None } else { sums };
    let multiprocessors = stream.device().planned_multiprocessors();
    let bytes = size_of::<T>();
    let plan = match kernel {
        Some(kernel) => Plan::with_kernel(kernel, bytes, layouts, addresses, sums, triangle)?,
        None => {
            let capability = stream.device().capability();
            Plan::new(bytes, capability, multiprocessors, layouts, addresses, sums, triangle)?
        }
    };
    Ok(launch::gemm(stream, &plan, alpha, a.data(), b.data(), beta, c.into_data(), None, scratch)?)
}

/// Scratch memory of [`gemm()`] for products of elements of type `T`, of sums of `k` products each: nothing but where C
/// is small.
///
/// ```
/// use gpu_linalg::{Layout, gemm_scratch};
/// assert_eq!(gemm_scratch::<f32>(4096, Layout::row_major(4096, 4096)?).bytes(), 0);
/// assert!(gemm_scratch::<f32>(100_000, Layout::row_major(64, 64)?).bytes() > 0);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_scratch<T: RealElement>(k: usize, c: impl Into<BatchLayout>) -> ScratchSize {
    elements::<T>(gemm::scratch_len::<T>(k, c.into()))
}

/// The product `A · B`, computed where A lives, as a row-major matrix without gaps in a buffer of its own; of batches
/// one product after the other.
///
/// A is m × k, B is k × n and the product m × n. The work is enqueued on the device's default stream; reading the
/// buffer waits for it.
///
/// # Errors
/// As [`gemm()`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul};
/// let a = Matrix::new(&[1.0, 2.0, 3.0, 4.0], Layout::row_major(2, 2)?)?;
/// let b = Matrix::new(&[5.0, 6.0], Layout::column_major(2, 1)?)?;
/// assert_eq!(matmul(a, b)?.to_vec()?, [17.0, 39.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul<'a, 'b, T: RealElement>(
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<T>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| gemm(stream, T::ONE, a, b, T::ZERO, c, scratch))
}
