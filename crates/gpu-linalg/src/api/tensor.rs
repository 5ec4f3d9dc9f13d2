//! Products of matrices of narrow elements, on the tensor cores.

use gpu_core::{Buffer, Capability, Scratch, ScratchSize, Stream, ViewMut};

use super::gemm::{by_vector, expect_batches, expect_memory, expect_product};
use super::{Epilogue, elements, in_own_buffer, lend, of_kernels};
use crate::error::Error;
use crate::matrix::{Batch, BatchLayout, BatchMut};
use crate::plan::gemm::{AsVector, vector_scratch_len};
use crate::plan::pack::ALIGNMENT;
use crate::plan::tensor::{Choice, Plan, scratch_len};
use crate::reference;
use crate::tensor::launch::{self, Kernels, TensorElement, TensorOutput};
use crate::variants::TensorVariant;

/// `C = alpha · A · B + beta · C` on `stream` for factors of 16-bit floats, on the tensor cores, for matrices or
/// batches of them.
///
/// A is m × k, B is k × n and C is m × n, each row- or column-major with any leading dimension; C is of `f32`, or of
/// the factors' type. Products are exact in `f32`, in which they are added; where `beta` is zero C is not read, where
/// `alpha` is zero A and B are not read. `scratch` grows to [`gemm_tensor_scratch`], nothing but where C is small or a
/// factor not aligned. With a bias and an activation it is [`gemm_tensor_with`](crate::gemm_tensor_with()).
///
/// # Order and error
/// On the CPU and in the simulator an element is a chain of products over ascending `k`, each added with one
/// rounding, or the sum of several such chains, in ascending order (of more than 32, of neighbours first): how many
/// is a function of the shapes and of C's order. The hardware adds several products at once and cuts bits off in
/// doing so: its result is the same each time, but not that one. With `k` products and `u` = 2⁻²³ both are within
/// `2 k u Σ |a| |b|` of the exact sum, then scaled by `alpha` and rounded to C's type.
///
/// # Devices
/// Compute capability 8.0 and later, for `f16` 7.5, whose kernel reads factors where they lie. Where C has at most 32
/// rows or columns, factors are read where they lie. Of other products the copy engine of 9.0 takes factors whose
/// addresses, leading dimensions and strides of batches are multiples of 16 bytes; others are copied into `scratch`
/// first where that pays (`plan::pack`, `plan::tensor`), which changes no bit, or go element by element. Before that it
/// is an error that says so; [`gemm`](crate::gemm()) of `f32` runs everywhere.
///
/// # Errors
/// [`Error::ProductShapes`], [`Error::BatchCounts`], [`gpu_core::Error::Aliasing`],
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`], [`Error::NoTensorCores`]; [`Error::Device`]
/// where memory is on another device than the stream, where `scratch` is of another stream or too small, or where the
/// launch failed. C is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, bf16, gemm_tensor};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 8 * 16].map(bf16::from_f32))?;
/// let mut c = device.upload(&[f32::NAN; 64])?;
/// let matrix = Matrix::new(&a, Layout::row_major(8, 16)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(8, 8)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// let stream = device.default_stream();
/// gemm_tensor::<bf16, f32>(&stream, 0.5, matrix, matrix.transposed(), 0.0, product, &mut scratch)?;
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
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, epilogue) = ((a.into(), b.into()), Epilogue::new());
    gemm_tensor_by(stream, Choice::of(None), alpha, factors, beta, c.into(), epilogue, scratch)
}

/// The same by a kernel of choice, or the one that the plan takes for the fastest, and with an epilogue.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn gemm_tensor_by<T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    choice: Choice,
    alpha: f32,
    factors: (Batch<'_, T>, Batch<'_, T>),
    beta: f32,
    c: BatchMut<'_, C>,
    epilogue: Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    product(stream, choice, (alpha, beta), factors, c, epilogue, scratch, |a, b, c| {
        reference::gemm_tensor_with(alpha, a, b, beta, c, &epilogue);
    })
}

/// `C = alpha · A · B + beta · C` on `stream` for factors of `f32` that are rounded to tf32, on the tensor cores, for
/// matrices or batches of them.
///
/// Shapes, layouts, `alpha` and `beta` are those of [`gemm_tensor`](crate::gemm_tensor()); [`gemm`](crate::gemm())
/// never does this on its own. `scratch` grows to [`gemm_tf32_scratch`], at least as large as the smaller factor.
///
/// A launch before the product's copies the smaller factor into `scratch`, rounded and with lines along `k`, which is
/// all that the tensor cores and the copy engine take of 32 bits. The larger one is read where it lies and rounded on
/// its way, in registers; it is copied, too, where it lies across `k` or is not aligned to 16 bytes, and the smaller
/// one has so many rows or columns (thousands) that the copy takes less time than what it saves. Where C has at most 32
/// rows or columns, both are read where they lie; where it is a single row or column without gaps, as the other
/// factor's is, and there is no epilogue, the product is that of [`gemv`](crate::gemv()), which waits for memory as it
/// is: nothing is rounded then.
///
/// # Order and error
/// tf32 has the exponent of `f32` and 10 bits of mantissa. Elements are rounded to the nearest, ties to even (the
/// tensor cores by themselves would cut, which is biased and twice as far off): with `v` = 2⁻¹¹, `a` becomes `a (1 +
/// d)`, `|d|` ≤ `v`. Subnormal numbers are rounded in steps of 2⁻¹³⁶, so up to 2⁻¹³⁷ is lost of them; from (2 - 2⁻¹¹)
/// 2¹²⁷ on an element becomes infinite; a NaN stays one.
///
/// Products of two such numbers have 22 bits and are exact in `f32`, in which they are added: in the order of
/// [`gemm_tensor`](crate::gemm_tensor()), with its difference between hardware and simulator, and within its bound.
/// Their factors' roundings change a product by at most `2 v + v²` of its size. With `k` products and `u` = 2⁻²³ the
/// sum is, where nothing under- or overflows, within `(2 v + v² + 2 k u (1 + v)²) Σ |a| |b|` of the exact one: some
/// three decimal places.
///
/// # Devices
/// Compute capability 8.0 and later; 9.0 has the faster kernels.
///
/// # Errors
/// Those of [`gemm_tensor`](crate::gemm_tensor()). C is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, gemm_tf32};
/// let device = gpu_core::Device::simulator();
/// // Seven decimal places are rounded to three.
/// let a = device.upload(&[1.000_1; 6 * 5])?;
/// let mut c = device.upload(&[f32::NAN; 36])?;
/// let matrix = Matrix::new(&a, Layout::row_major(6, 5)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(6, 6)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// gemm_tf32(&device.default_stream(), 1.0, matrix, matrix.transposed(), 0.0, product, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [5.0; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tf32<'a, 'b, 'c>(
    stream: &Stream,
    alpha: f32,
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
    beta: f32,
    c: impl Into<BatchMut<'c, f32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, epilogue) = ((a.into(), b.into()), Epilogue::new());
    gemm_tf32_by(stream, Choice::tf32(None), alpha, factors, beta, c.into(), epilogue, scratch)
}

/// The same by a kernel of choice, or the one that the plan takes for the fastest, and with an epilogue.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn gemm_tf32_by(
    stream: &Stream,
    choice: Choice,
    alpha: f32,
    factors: (Batch<'_, f32>, Batch<'_, f32>),
    beta: f32,
    mut c: BatchMut<'_, f32>,
    epilogue: Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b) = factors;
    let layouts = [a.layout(), b.layout(), c.layout()];
    if let (Some(vector), None, true) = (AsVector::of::<f32>(layouts), choice.variant, epilogue.is_empty()) {
        // To ask what other products need would take longer than this one.
        let needed = vector_scratch_len::<f32>(layouts[0].matrix.columns(), layouts[2]);
        expect_product(stream, a, b, &mut c)?;
        return lend(stream, scratch, ("product", of_kernels(stream, elements::<f32>(needed))), |room| {
            by_vector(stream, vector, alpha, factors, beta, c, room)
        });
    }
    product(stream, choice, (alpha, beta), factors, c, epilogue, scratch, |a, b, c| {
        reference::gemm_tf32_with(alpha, a, b, beta, c, &epilogue);
    })
}

/// Scratch memory of [`gemm_tf32`] for factors and a C of these layouts, at any addresses: that of the copies, where
/// factors are copied, and of the sums' parts. None where an extent is larger than what
/// `gemm_tf32` takes.
///
/// ```
/// use gpu_linalg::{Layout, gemm_tf32_scratch};
/// let square = Layout::row_major(1000, 1000)?;
/// assert!(gemm_tf32_scratch(square, square, square).bytes() >= 4_000_000);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tf32_scratch(
    a: impl Into<BatchLayout>,
    b: impl Into<BatchLayout>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<f32>(tf32_needed(Choice::tf32(None), [a.into(), b.into(), c.into()]))
}

/// The same by a kernel of choice, or the one that the plan takes for the fastest.
pub(crate) fn tf32_needed(choice: Choice, layouts: [BatchLayout; 3]) -> usize {
    // Of a factor that is not at a multiple of 16 bytes a copy is made in any case.
    let needed = |addresses| scratch_len(size_of::<f32>(), choice, layouts, addresses).unwrap_or(0);
    let of_vectors = vector_scratch_len::<f32>(layouts[0].matrix.columns(), layouts[2]);
    [[0, 0], [4, 0], [0, 4], [4, 4]].map(needed).into_iter().fold(of_vectors, usize::max)
}

/// Scratch memory of [`gemm_tensor`] for these factors: nothing but where C is small, or where a
/// factor is not aligned to 16 bytes and its copy pays. None where an extent is larger than what `gemm_tensor` takes,
/// either.
///
/// It depends on the shapes, the layouts and whether the factors' addresses are aligned, on nothing else.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, bf16, gemm_tensor_scratch};
/// let device = gpu_core::Device::cpu();
/// let memory = device.zeroed::<bf16>(1 << 20)?;
/// let square = Matrix::new(&memory, Layout::row_major(1024, 1024)?)?;
/// assert_eq!(gemm_tensor_scratch(square, square, square.layout()).bytes(), 0);
/// let odd = Matrix::new(&memory, Layout::row_major(1023, 1023)?)?;
/// assert!(gemm_tensor_scratch(odd, odd, odd.layout()).bytes() >= 2 * 1023 * 1024);
/// let flat = Matrix::new(&memory, Layout::row_major(8, 100_000)?)?;
/// assert!(gemm_tensor_scratch(flat, flat.transposed(), Layout::row_major(8, 8)?).bytes() > 0);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tensor_scratch<'a, 'b, T: TensorElement>(
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<f32>(needed(Choice::of(None), (a.into(), b.into()), c.into()).unwrap_or(0))
}

/// `C = alpha · A · B + beta · C` on `stream` for factors of `i8` and a C of `i32`, on the tensor cores, for matrices
/// or batches of them.
///
/// A is m × k, B is k × n and C is m × n, each row- or column-major with any leading dimension. Where `beta` is zero C
/// is not read, where `alpha` is zero A and B are not read. `scratch` grows to [`gemm_i8_scratch`].
///
/// The tensor cores take bytes along `k` only: A row-major, B column-major (what BLAS calls TN). A factor of the other
/// order, or not aligned to 16 bytes, is copied into `scratch` by a launch before; that reads and writes it once.
///
/// # Overflow
/// Products and sums are exact in `i32` and wrap at 2³¹: the result is the exact one modulo 2³², and the same bits on
/// every device. With `alpha` = 1 and `beta` = 0 nothing wraps up to k = 131,071, as no product is larger than 2¹⁴.
///
/// # Devices
/// Compute capability 8.0 and later; 9.0 has the faster kernels. Before 8.0 it is an error that says so.
///
/// # Errors
/// Those of [`gemm_tensor`](crate::gemm_tensor()). C is as it was then.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, gemm_i8};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[-128_i8; 6 * 32])?;
/// let mut c = device.upload(&[5; 36])?;
/// let matrix = Matrix::new(&a, Layout::row_major(6, 32)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(6, 6)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// gemm_i8(&device.default_stream(), 1, matrix, matrix.transposed(), -1, product, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [32 * 128 * 128 - 5; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_i8<'a, 'b, 'c>(
    stream: &Stream,
    alpha: i32,
    a: impl Into<Batch<'a, i8>>,
    b: impl Into<Batch<'b, i8>>,
    beta: i32,
    c: impl Into<BatchMut<'c, i32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    gemm_i8_by(stream, Choice::i8(None), alpha, (a.into(), b.into()), beta, c.into(), scratch)
}

/// The same by a kernel of choice, or the one that the plan takes for the fastest.
pub(crate) fn gemm_i8_by(
    stream: &Stream,
    choice: Choice,
    alpha: i32,
    factors: (Batch<'_, i8>, Batch<'_, i8>),
    beta: i32,
    c: BatchMut<'_, i32>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    product(stream, choice, (alpha, beta), factors, c, Epilogue::new(), scratch, |a, b, c| {
        reference::gemm_i8(alpha, a, b, beta, c);
    })
}

/// Scratch memory of [`gemm_i8`] for these factors: nothing but where C is small, or where a factor is
/// not aligned to 16 bytes or not contiguous along the inner axis. None where an extent is larger than what `gemm_i8`
/// takes, either.
///
/// It depends on the shapes, the layouts and whether the factors' addresses are aligned, on nothing else.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, gemm_i8_scratch};
/// let device = gpu_core::Device::cpu();
/// let memory = device.zeroed::<i8>(1 << 20)?;
/// let square = Matrix::new(&memory, Layout::row_major(1024, 1024)?)?;
/// assert_eq!(gemm_i8_scratch(square, square.transposed(), square.layout()).bytes(), 0);
/// // A copy of B.
/// assert!(gemm_i8_scratch(square, square, square.layout()).bytes() >= 1024 * 1024);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_i8_scratch<'a, 'b>(
    a: impl Into<Batch<'a, i8>>,
    b: impl Into<Batch<'b, i8>>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<i32>(needed(Choice::i8(None), (a.into(), b.into()), c.into()).unwrap_or(0))
}

/// The product `A · B` of factors of 16-bit floats on the tensor cores, of `f32` or of the factors' type, computed
/// where A lives, as a row-major matrix without gaps in a buffer of its own; of batches one product after the other.
///
/// A is m × k and B k × n. [`gemm_tensor`] on the device's default stream, with its error and its devices; reading the
/// buffer waits for it.
///
/// # Errors
/// As [`gemm_tensor`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, f16, matmul_tensor};
/// let a = [1.0, 2.0, 3.0, 4.0].map(f16::from_f32);
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// assert_eq!(matmul_tensor::<f16, f32>(a, a.transposed())?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tensor<'a, 'b, T: TensorElement, C: TensorOutput<T>>(
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
) -> Result<Buffer<C>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| gemm_tensor::<T, C>(stream, 1.0, a, b, 0.0, c, scratch))
}

/// The product `A · B` of factors of `f32` that are rounded to tf32, on the tensor cores; otherwise as
/// [`matmul_tensor`].
///
/// [`gemm_tf32`] on the device's default stream, with its error: some three decimal places.
///
/// # Errors
/// As [`gemm_tf32`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul_tf32};
/// // Seven decimal places are rounded to three.
/// let a = Matrix::new(&[1.000_1; 30], Layout::row_major(6, 5)?)?;
/// assert_eq!(matmul_tf32(a, a.transposed())?.to_vec()?, [5.0; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tf32<'a, 'b>(
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
) -> Result<Buffer<f32>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| gemm_tf32(stream, 1.0, a, b, 0.0, c, scratch))
}

/// The product `A · B` of factors of `i8`, exact in `i32`, which wraps; otherwise as [`matmul_tensor`].
///
/// [`gemm_i8`] on the device's default stream.
///
/// # Errors
/// As [`gemm_i8`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul_i8};
/// let a = Matrix::new(&[-128_i8; 6 * 32], Layout::row_major(6, 32)?)?;
/// assert_eq!(matmul_i8(a, a.transposed())?.to_vec()?, [32 * 128 * 128; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_i8<'a, 'b>(
    a: impl Into<Batch<'a, i8>>,
    b: impl Into<Batch<'b, i8>>,
) -> Result<Buffer<i32>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| gemm_i8(stream, 1, a, b, 0, c, scratch))
}

/// Elements of scratch memory.
pub(crate) fn needed<T: Kernels>(
    choice: Choice,
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    c: BatchLayout,
) -> Result<usize, Error> {
    let addresses = [a.data().as_global().address(), b.data().as_global().address()];
    scratch_len(size_of::<T>(), choice, [a.layout(), b.layout(), c], addresses)
}

/// A slice of a batch, with its layout.
type OnCpu<S> = (S, BatchLayout);

/// Validates, plans and launches a product, or leaves it to the CPU's.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
fn product<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    choice: Choice,
    (alpha, beta): (T::Sum, T::Sum),
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    mut c: BatchMut<'_, C>,
    epilogue: Epilogue<'_>,
    scratch: &mut Scratch,
    on_cpu: impl FnOnce(OnCpu<&[T]>, OnCpu<&[T]>, OnCpu<&mut [C]>),
) -> Result<(), Error> {
    let choice = choice.on(stream.device().capability());
    let layouts = [a.layout(), b.layout(), c.layout()];
    expect_batches(layouts)?;
    expect_memory(stream, a.data(), b.data(), &c.data_mut())?;
    epilogue.expect_for(stream, c.layout(), &c.data_mut())?;
    let size = of_kernels(stream, elements::<T::Sum>(needed(choice, (a, b), c.layout())?));
    lend(stream, scratch, ("product", size), |room| {
        room.expect_apart("A", &a.data())?;
        room.expect_apart("B", &b.data())?;
        epilogue.expect_apart(&room)?;
        in_room(stream, choice, (alpha, beta), (a, b), c, epilogue, room, on_cpu)
    })
}

/// The same in so much scratch memory; everything is checked but extents.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
fn in_room<T: Kernels, C: gpu_core::Element>(
    stream: &Stream,
    choice: Choice,
    (alpha, beta): (T::Sum, T::Sum),
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    mut c: BatchMut<'_, C>,
    epilogue: Epilogue<'_>,
    mut scratch: ViewMut<'_, T::Sum>,
    on_cpu: impl FnOnce(OnCpu<&[T]>, OnCpu<&[T]>, OnCpu<&mut [C]>),
) -> Result<(), Error> {
    let layouts = [a.layout(), b.layout(), c.layout()];
    if layouts[2].is_empty() {
        return Ok(());
    }
    if let (Some(a_data), Some(b_data), Some(c_data)) =
        (a.data().as_slice(), b.data().as_slice(), c.data_mut().as_mut_slice())
    {
        on_cpu((a_data, layouts[0]), (b_data, layouts[1]), (c_data, layouts[2]));
        return Ok(());
    }
    let addresses = [
        a.data().as_global().address(),
        b.data().as_global().address(),
        c.data_mut().as_global_mut().address(),
        scratch.as_global_mut().address(),
    ];
    let plan = Plan::new(
        (size_of::<T>(), size_of::<C>()),
        stream.device().planned_multiprocessors(),
        layouts,
        addresses,
        alpha != T::ZERO,
        choice,
    )?;
    let variant = choice.variant;
    let by_lanes = variant == Some(TensorVariant::Lanes);
    let by_name =
        matches!(variant, Some(TensorVariant::Narrow | TensorVariant::Wide | TensorVariant::Cluster));
    // Drivers describe boxes to no other device.
    let other = stream.device().capability().filter(|&capability| capability != Capability::new(9, 0));
    if let (Some(other), true) = (other, by_name) {
        return Err(Error::NoTensorCores { capability: other.to_string(), needs: "9.0" });
    }
    let scales = (alpha, beta);
    let of_plan = if plan.swapped { epilogue.transposed() } else { epilogue };
    let fused = of_plan.of_kernels(a.data());
    let mut target =
        launch::Target { c: c.into_data(), epilogue: fused, scratch: scratch.reborrow(), starts: None };
    let packed = launch::pack(stream, &plan, a.data(), b.data(), &mut target);
    let [a, b] = no_tensor_cores(packed, "8.0")?;
    if let Some(thin) = plan.thin {
        let result = launch::by_thin::<T, C>(stream, &plan, thin, scales, [a, b], &mut target);
        return no_tensor_cores(result, "8.0");
    }
    if let Some(factors) = plan.factors.filter(|_| !by_lanes && other.is_none()) {
        return no_tensor_cores(launch::by_warps::<T, C>(stream, &plan, factors, scales, &mut target), "9.0");
    } else if by_name {
        return Err(Error::Unaligned { bytes: ALIGNMENT });
    }
    no_tensor_cores(launch::by_lanes::<T, C>(stream, &plan, scales, [a, b], &mut target), "8.0")
}

pub(crate) fn no_tensor_cores<T>(launched: gpu_core::Result<T>, needs: &'static str) -> Result<T, Error> {
    launched.map_err(|error| match error {
        gpu_core::Error::NoKernelImage { capability, .. } => {
            Error::NoTensorCores { capability: capability.to_string(), needs }
        }
        other => other.into(),
    })
}
