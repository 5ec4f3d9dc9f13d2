//! Products of batches whose matrices start anywhere.

use gpu_core::matrix::Invalid;
use gpu_core::{Buffer, Device, Element, Resources, Stream, Visitor, checks};
use rayon::prelude::*;

use super::Epilogue;
use super::gemm::{expect_memory, expect_shapes};
use super::tensor::no_tensor_cores;
use crate::error::Error;
use crate::launch::{self, RealElement};
use crate::matrix::{BatchLayout, Layout, Matrix, MatrixMut};
use crate::plan::gemm::{self, Sums};
use crate::plan::tensor;
use crate::reference;
use crate::tensor::launch::{self as tensor_launch, Kernels, TensorElement, TensorOutput};

/// Where the matrices of a batch of products start: what BLAS libraries call a batch by arrays of pointers
/// (`gemmBatched`), here with numbers of elements from the start of A's, B's and C's memory, so that they can be
/// checked.
///
/// Made once on the host, and used for as many products as have these starts. A factor may be used by several products;
/// the matrices that are written must be apart.
///
/// ```
/// use gpu_linalg::{BatchStarts, Layout, Matrix, MatrixMut, gemm_batched};
/// let device = gpu_core::Device::simulator();
/// let (a, b) = (device.upload(&[1.0f32, 2.0, 3.0])?, device.upload(&[10.0f32, 100.0])?);
/// let mut c = device.zeroed(3)?;
/// let one = Layout::row_major(1, 1)?;
/// // C[2] = A[0] · B[1], C[0] = A[2] · B[1].
/// let starts = BatchStarts::new(&device, &[[0, 1, 2], [2, 1, 0]])?;
/// let (a, b) = (Matrix::new(&a, one)?, Matrix::new(&b, one)?);
/// gemm_batched(&device.default_stream(), 1.0, a, b, 0.0, MatrixMut::new(&mut c, one)?, &starts)?;
/// assert_eq!(c.to_vec()?, [300.0, 0.0, 100.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchStarts {
    starts: Vec<[usize; 3]>,
    table: Buffer<u64>,
    /// The last of each.
    last: [usize; 3],
    /// The bits that some have.
    bits: [usize; 3],
    /// The least distance between two matrices that are written.
    apart: usize,
}

impl BatchStarts {
    /// Of each product where A, B and C start, in elements.
    ///
    /// # Errors
    /// [`Error::Device`] where the device's memory does not suffice.
    pub fn new(device: &Device, starts: &[[usize; 3]]) -> Result<Self, Error> {
        let table: Vec<u64> = starts.iter().flatten().map(|&start| start as u64).collect();
        let over = |of: fn(usize, usize) -> usize| -> [usize; 3] {
            [0, 1, 2].map(|at| starts.iter().map(|start| start[at]).fold(0, of))
        };
        let mut written: Vec<usize> = starts.iter().map(|start| start[2]).collect();
        written.sort_unstable();
        let apart = written.windows(2).map(|two| two[1] - two[0]).min().unwrap_or(usize::MAX);
        let table = device.upload(&table)?;
        Ok(Self { starts: starts.to_vec(), table, last: over(usize::max), bits: over(|a, b| a | b), apart })
    }

    /// Products.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Of each where A, B and C start.
    pub fn starts(&self) -> &[[usize; 3]] {
        &self.starts
    }

    /// The layouts as plans of listed products take them.
    fn layouts(&self, layouts: [Layout; 3]) -> [BatchLayout; 3] {
        let [a, b, c] = self.bits;
        let [of_a, of_b, of_c] = layouts;
        [(of_a, a), (of_b, b), (of_c, c)].map(|(matrix, stride)| BatchLayout {
            matrix,
            count: self.count(),
            stride,
        })
    }
}

// SAFETY: it owns its memory.
unsafe impl Resources for BatchStarts {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(&self.table);
    }
}

/// `C = alpha · A · B + beta · C` on `stream` for the matrices that start where `starts` says, behind the first
/// elements of `a`, `b` and `c`, which say how each of them lies.
///
/// Shapes, layouts, `alpha` and `beta` are those of [`gemm`](crate::gemm()), which takes batches at a constant
/// distance. Each sum is one chain of fused multiply-adds over ascending `k`: every device gives the same bits, those
/// of `gemm` where that does not cut its sums. No scratch memory is needed. Neither allocates device memory nor waits.
///
/// # Errors
/// [`Error::ProductShapes`], [`gpu_core::Error::Aliasing`], [`gpu_core::Error::ExtentTooLarge`],
/// [`gpu_core::Error::TooManyBlocks`]; [`Error::Device`] where a matrix is not within its memory, where matrices of C
/// overlap, where memory is on another device than the stream or where the launch failed. C is as it was then.
///
/// For an example see [`BatchStarts`].
pub fn gemm_batched<T: RealElement>(
    stream: &Stream,
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    c: MatrixMut<'_, T>,
    starts: &BatchStarts,
) -> Result<(), Error> {
    let Some(mut product) = Product::new(stream, a, b, c, starts)? else { return Ok(()) };
    if product.on_cpu(|a, b, c| T::product((None, Sums::Chains), [alpha, beta], a, b, c)) {
        return Ok(());
    }
    let device = stream.device();
    let (capability, multiprocessors) = (device.capability(), device.planned_multiprocessors());
    let (layouts, addresses) = (starts.layouts(product.layouts()), product.addresses());
    let (bytes, sums) = (size_of::<T>(), alpha != T::ZERO);
    let plan = gemm::Plan::listed(bytes, capability, multiprocessors, layouts, addresses, sums)?;
    let (a, b, c) = (product.a.data(), product.b.data(), product.c.into_data());
    // Nothing is in parts.
    Ok(launch::gemm(stream, &plan, alpha, a, b, beta, c, Some(starts.table.view()), (&mut [][..]).into())?)
}

/// [`gemm_batched`] of factors of 16-bit floats, on the tensor cores: shapes, layouts, `alpha`, `beta` and devices are
/// those of [`gemm_tensor`](crate::gemm_tensor()), so is the error.
///
/// Each sum is one chain over ascending `k`, on the CPU and in the simulator. Factors are read where they lie, by 16
/// bytes where starts and lines allow that; the copy engine of 9.0 wants a constant distance, which is what
/// [`gemm_tensor`](crate::gemm_tensor()) is for.
///
/// # Errors
/// As [`gemm_batched`]; [`Error::NoTensorCores`].
///
/// ```
/// use gpu_linalg::{BatchStarts, Layout, Matrix, MatrixMut, bf16, gemm_tensor_batched};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 24 * 16].map(bf16::from_f32))?;
/// let mut c = device.zeroed::<f32>(128)?;
/// let starts = BatchStarts::new(&device, &[[0, 64, 64], [128, 0, 0]])?;
/// let (factor, output) = (Matrix::new(&a, Layout::row_major(8, 16)?)?, Layout::row_major(8, 8)?);
/// let product = MatrixMut::new(&mut c, output)?;
/// gemm_tensor_batched::<bf16, f32>(
///     &device.default_stream(), 0.5, factor, factor.transposed(), 0.0, product, &starts,
/// )?;
/// assert_eq!(c.to_vec()?, [8.0; 128]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tensor_batched<T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    alpha: f32,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: f32,
    c: MatrixMut<'_, C>,
    starts: &BatchStarts,
) -> Result<(), Error> {
    on_tensor_cores(stream, (alpha, beta), a, b, c, starts, |a, b, c| {
        reference::gemm_tensor_in_chains(alpha, a, b, beta, c);
    })
}

/// [`gemm_batched`] of factors of `f32` that are rounded to tf32, on the tensor cores: with the error and the devices
/// of [`gemm_tf32`](crate::gemm_tf32()), and otherwise as [`gemm_tensor_batched`].
///
/// # Errors
/// As [`gemm_tensor_batched`].
///
/// ```
/// use gpu_linalg::{BatchStarts, Layout, Matrix, MatrixMut, gemm_tf32_batched};
/// let device = gpu_core::Device::simulator();
/// // Seven decimal places are rounded to three.
/// let a = device.upload(&[1.000_1; 40])?;
/// let mut c = device.zeroed(40)?;
/// let starts = BatchStarts::new(&device, &[[0, 10, 4]])?;
/// let (factor, product) =
///     (Matrix::new(&a, Layout::row_major(6, 5)?)?, MatrixMut::new(&mut c, Layout::row_major(6, 6)?)?);
/// gemm_tf32_batched(&device.default_stream(), 1.0, factor, factor.transposed(), 0.0, product, &starts)?;
/// assert_eq!(c.to_vec()?[4..], [5.0; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_tf32_batched(
    stream: &Stream,
    alpha: f32,
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    beta: f32,
    c: MatrixMut<'_, f32>,
    starts: &BatchStarts,
) -> Result<(), Error> {
    on_tensor_cores(stream, (alpha, beta), a, b, c, starts, |a, b, c| {
        reference::gemm_tf32_in_chains(alpha, a, b, beta, c);
    })
}

/// [`gemm_batched`] of factors of `i8` and a C of `i32`, on the tensor cores: exact but for what wraps at 2³¹, and the
/// same bits on every device, as [`gemm_i8`](crate::gemm_i8()).
///
/// The tensor cores take bytes along `k` only: with A row-major and B column-major products are fastest.
///
/// # Errors
/// As [`gemm_tensor_batched`].
///
/// ```
/// use gpu_linalg::{BatchStarts, Layout, Matrix, MatrixMut, gemm_i8_batched};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[-128_i8; 6 * 32])?;
/// let mut c = device.zeroed(36)?;
/// let starts = BatchStarts::new(&device, &[[0, 0, 0]])?;
/// let (factor, product) =
///     (Matrix::new(&a, Layout::row_major(6, 32)?)?, MatrixMut::new(&mut c, Layout::row_major(6, 6)?)?);
/// gemm_i8_batched(&device.default_stream(), 1, factor, factor.transposed(), 0, product, &starts)?;
/// assert_eq!(c.to_vec()?, [32 * 128 * 128; 36]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn gemm_i8_batched(
    stream: &Stream,
    alpha: i32,
    a: Matrix<'_, i8>,
    b: Matrix<'_, i8>,
    beta: i32,
    c: MatrixMut<'_, i32>,
    starts: &BatchStarts,
) -> Result<(), Error> {
    on_tensor_cores(stream, (alpha, beta), a, b, c, starts, |a, b, c| {
        reference::gemm_i8(alpha, a, b, beta, c);
    })
}

/// The products of matrices that start where `starts` says, of A and of B, computed where A lives, as row-major
/// matrices without gaps, one after the other, in a buffer of its own.
///
/// `a` and `b` say how each matrix lies, as in [`gemm_batched`], which this is on the device's default stream; a table
/// of the starts is copied there first. Reading the buffer waits for it. Who multiplies with the same starts again
/// makes [`BatchStarts`] of them once.
///
/// # Errors
/// As [`gemm_batched`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul_batched};
/// let (a, b, one) = ([1.0, 2.0, 3.0], [10.0, 100.0], Layout::row_major(1, 1)?);
/// let (a, b) = (Matrix::new(&a, one)?, Matrix::new(&b, one)?);
/// // A[0] · B[1], A[2] · B[1], A[1] · B[0].
/// assert_eq!(matmul_batched(a, b, &[[0, 1], [2, 1], [1, 0]])?.to_vec()?, [100.0, 300.0, 20.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_batched<T: RealElement>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    starts: &[[usize; 2]],
) -> Result<Buffer<T>, Error> {
    in_own_buffer(a, b, starts, |stream, c, starts| gemm_batched(stream, T::ONE, a, b, T::ZERO, c, starts))
}

/// [`matmul_batched`] of factors of 16-bit floats on the tensor cores, of `f32` or of the factors' type:
/// [`gemm_tensor_batched`].
///
/// # Errors
/// As [`gemm_tensor_batched`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Layout, Matrix, bf16, matmul_tensor_batched};
/// let a = [1.0, 2.0, 3.0].map(bf16::from_f32);
/// let (row, column) = (Layout::row_major(1, 2)?, Layout::column_major(2, 1)?);
/// let (a, b) = (Matrix::new(&a, row)?, Matrix::new(&a, column)?);
/// assert_eq!(matmul_tensor_batched::<bf16, f32>(a, b, &[[0, 0], [0, 1]])?.to_vec()?, [5.0, 8.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tensor_batched<T: TensorElement, C: TensorOutput<T>>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    starts: &[[usize; 2]],
) -> Result<Buffer<C>, Error> {
    in_own_buffer(a, b, starts, |stream, c, starts| {
        gemm_tensor_batched::<T, C>(stream, 1.0, a, b, 0.0, c, starts)
    })
}

/// [`matmul_batched`] of factors of `f32` that are rounded to tf32, on the tensor cores: [`gemm_tf32_batched`].
///
/// # Errors
/// As [`matmul_tensor_batched`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul_tf32_batched};
/// let a = Matrix::new(&[1.0, 2.0, 3.0], Layout::row_major(1, 2)?)?;
/// assert_eq!(matmul_tf32_batched(a, a.transposed(), &[[0, 0], [0, 1]])?.to_vec()?, [5.0, 8.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tf32_batched(
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    starts: &[[usize; 2]],
) -> Result<Buffer<f32>, Error> {
    in_own_buffer(a, b, starts, |stream, c, starts| gemm_tf32_batched(stream, 1.0, a, b, 0.0, c, starts))
}

/// [`matmul_batched`] of factors of `i8`, exact in `i32`, which wraps: [`gemm_i8_batched`].
///
/// # Errors
/// As [`matmul_tensor_batched`].
///
/// ```
/// use gpu_linalg::{Layout, Matrix, matmul_i8_batched};
/// let a = Matrix::new(&[1_i8, 2, -128], Layout::row_major(1, 2)?)?;
/// assert_eq!(matmul_i8_batched(a, a.transposed(), &[[0, 0], [1, 1]])?.to_vec()?, [5, 16_388]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_i8_batched(
    a: Matrix<'_, i8>,
    b: Matrix<'_, i8>,
    starts: &[[usize; 2]],
) -> Result<Buffer<i32>, Error> {
    in_own_buffer(a, b, starts, |stream, c, starts| gemm_i8_batched(stream, 1, a, b, 0, c, starts))
}

/// As many products without gaps, by `multiply`.
fn in_own_buffer<T: Element, C: Element>(
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    starts: &[[usize; 2]],
    multiply: impl FnOnce(&Stream, MatrixMut<'_, C>, &BatchStarts) -> Result<(), Error>,
) -> Result<Buffer<C>, Error> {
    let (device, matrix) = (a.data().device(), Layout::row_major(a.layout().rows(), b.layout().columns())?);
    let mut c = device.alloc(matrix.batch(starts.len())?.span()?)?;
    let places = starts.iter().enumerate().map(|(number, &[a, b])| [a, b, number * matrix.span()]);
    let starts = BatchStarts::new(device, &places.collect::<Vec<_>>())?;
    if starts.count() > 0 {
        multiply(&device.default_stream(), MatrixMut::new(&mut c, matrix)?, &starts)?;
    }
    Ok(c)
}

/// Validates, plans and launches a product on the tensor cores, or leaves its matrices to the CPU's.
fn on_tensor_cores<T: Kernels, C: Element>(
    stream: &Stream,
    scales: (T::Sum, T::Sum),
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    c: MatrixMut<'_, C>,
    starts: &BatchStarts,
    on_cpu: impl Fn(OnCpu<&[T]>, OnCpu<&[T]>, OnCpu<&mut [C]>) + Sync,
) -> Result<(), Error> {
    let Some(mut product) = Product::new(stream, a, b, c, starts)? else { return Ok(()) };
    if product.on_cpu(on_cpu) {
        return Ok(());
    }
    let (layouts, addresses) = (starts.layouts(product.layouts()), product.addresses());
    let bytes = (size_of::<T>(), size_of::<C>());
    let plan =
        tensor::Plan::listed(bytes, stream.device().capability(), layouts, addresses, scales.0 != T::ZERO)?;
    let factors = [product.a.data(), product.b.data()].map(|factor| factor.as_global());
    let factors = if plan.swapped { [factors[1], factors[0]] } else { factors };
    let mut target = tensor_launch::Target {
        epilogue: Epilogue::new().of_kernels(product.a.data()),
        c: product.c.into_data(),
        scratch: (&mut [][..]).into(),
        starts: Some(starts.table.view()),
    };
    let launched = match plan.thin {
        Some(thin) => tensor_launch::by_thin::<T, C>(stream, &plan, thin, scales, factors, &mut target),
        None => tensor_launch::by_lanes::<T, C>(stream, &plan, scales, factors, &mut target),
    };
    no_tensor_cores(launched, "8.0")
}

/// A slice with how it lies.
type OnCpu<S> = (S, BatchLayout);

/// What is to be multiplied, checked.
struct Product<'a, T: Element, C: Element> {
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
    c: MatrixMut<'a, C>,
    starts: &'a BatchStarts,
}

impl<'a, T: Element, C: Element> Product<'a, T, C> {
    /// `None` where there is nothing to write.
    fn new(
        stream: &Stream,
        a: Matrix<'a, T>,
        b: Matrix<'a, T>,
        mut c: MatrixMut<'a, C>,
        starts: &'a BatchStarts,
    ) -> Result<Option<Self>, Error> {
        let layouts = [a.layout(), b.layout(), c.layout()];
        expect_shapes(layouts)?;
        expect_memory(stream, a.data(), b.data(), &c.data_mut())?;
        stream.expect("starts of matrices", starts.table.device())?;
        if starts.count() == 0 {
            return Ok(None);
        }
        let lengths = [a.data().len(), b.data().len(), c.data().len()];
        for (at, what) in ["the last A of a batch", "the last B of a batch", "the last C of a batch"]
            .into_iter()
            .enumerate()
        {
            // Of nothing any start will do.
            let span = layouts[at].span();
            let expected = if span == 0 { 0 } else { starts.last[at].saturating_add(span) };
            checks::span(what, expected, lengths[at])?;
        }
        if layouts[2].is_empty() {
            return Ok(None);
        }
        if starts.apart < layouts[2].span() {
            return Err(Error::Device(
                Invalid::Overlap { expected: layouts[2].span(), actual: starts.apart }.into(),
            ));
        }
        Ok(Some(Self { a, b, c, starts }))
    }

    fn layouts(&self) -> [Layout; 3] {
        [self.a.layout(), self.b.layout(), self.c.layout()]
    }

    fn addresses(&mut self) -> [u64; 3] {
        let c = self.c.data_mut().as_global_mut().address();
        [self.a.data().as_global().address(), self.b.data().as_global().address(), c]
    }

    /// Leaves the products to `one`, if they are on the CPU; whether they are.
    fn on_cpu(&mut self, one: impl Fn(OnCpu<&[T]>, OnCpu<&[T]>, OnCpu<&mut [C]>) + Sync) -> bool {
        let [of_a, of_b, of_c] = self.layouts();
        let mut c = self.c.data_mut();
        let (Some(a), Some(b), Some(mut rest)) =
            (self.a.data().as_slice(), self.b.data().as_slice(), c.as_mut_slice())
        else {
            return false;
        };
        let mut order: Vec<[usize; 3]> = self.starts.starts.clone();
        order.sort_unstable_by_key(|start| start[2]);
        let mut before = 0;
        let mut products = Vec::with_capacity(order.len());
        for [a, b, c] in order {
            let (_, from) = core::mem::take(&mut rest).split_at_mut(c - before);
            let (matrix, behind) = from.split_at_mut(of_c.span());
            (rest, before) = (behind, c + of_c.span());
            products.push((a, b, matrix));
        }
        products.into_par_iter().for_each(|(from_a, from_b, c)| {
            // Factors without elements may start anywhere.
            let (a, b) = (a.get(from_a..).unwrap_or(&[]), b.get(from_b..).unwrap_or(&[]));
            one((a, of_a.into()), (b, of_b.into()), (c, of_c.into()));
        });
        true
    }
}
