//! The kernels of products on the tensor cores, by name.

use gpu_core::{Scratch, ScratchSize, Stream};

use crate::api::{self, elements};
use crate::error::Error;
use crate::matrix::{Batch, BatchLayout, BatchMut};
use crate::plan::tensor::Choice;
use crate::{Epilogue, TensorElement, TensorOutput};

/// A kernel of [`gemm_tensor`](crate::gemm_tensor), which takes the one that its plan predicts to be the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TensorVariant {
    /// Warps that multiply fragments in registers (`mma`), with asynchronous copies of 16 bytes: capability 8.0, any matrices.
    Lanes,
    /// Warpgroups that multiply tiles in shared memory (`wgmma`), brought in boxes by the copy engine: tiles of 128 × 128,
    /// two blocks on a multiprocessor. Capability 9.0.
    Narrow,
    /// The same with tiles of 128 × 256, in a persistent grid.
    Wide,
    /// The same by clusters of two blocks, one below the other: each brings half of B's tile for both, and C leaves by
    /// the copy engine where it can. Factors of 16 bits, A (B of a column-major C) contiguous along the inner axis; others
    /// as [`Self::Wide`].
    Cluster,
    /// `mma` by warps in tiles of 128 × 32, for factors of few rows or columns: lines are copied in 16 bytes at any
    /// alignment, none before the product. Capability 8.0, any matrices.
    Thin,
    /// Factors copied into aligned memory first, even where they are, then by the kernel that the plan takes for the
    /// fastest. Capability 8.0.
    Packed,
}

impl TensorVariant {
    /// All of them, the simplest first.
    pub const ALL: [Self; 6] =
        [Self::Lanes, Self::Narrow, Self::Wide, Self::Cluster, Self::Thin, Self::Packed];
}

/// [`gemm_tensor`](crate::gemm_tensor) by the kernel of choice; on the CPU they are all the same. `scratch` grows to
/// [`gemm_tensor_scratch`].
///
/// # Errors
/// As there, and [`Error::Unaligned`] of matrices that the copy engine does not take.
///
/// ```
/// use gpu_linalg::variants::{TensorVariant, gemm_tensor};
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch, bf16};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 8 * 16].map(bf16::from_f32))?;
/// let a = Matrix::new(&a, Layout::row_major(8, 16)?)?;
/// let stream = device.default_stream();
/// for variant in TensorVariant::ALL {
///     let mut c = device.upload(&[f32::NAN; 64])?;
///     let product = MatrixMut::new(&mut c, Layout::row_major(8, 8)?)?;
///     let mut scratch = Scratch::new(&device.default_stream());
///     gemm_tensor::<bf16, f32>(&stream, variant, 1.0, a, a.transposed(), 0.0, product, &mut scratch)?;
///     assert_eq!(c.to_vec()?, [16.0; 64]);
/// }
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tensor<'a, 'b, 'c, T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    variant: TensorVariant,
    alpha: f32,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: f32,
    c: impl Into<BatchMut<'c, C>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    gemm_tensor_with(stream, variant, alpha, a, b, beta, c, &Epilogue::new(), scratch)
}

/// [`gemm_tensor_with`](crate::gemm_tensor_with) by the kernel of choice, as [`gemm_tensor`] without an epilogue.
///
/// # Errors
/// As both.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tensor_with<'a, 'b, 'c, T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    variant: TensorVariant,
    alpha: f32,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: f32,
    c: impl Into<BatchMut<'c, C>>,
    epilogue: &Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, choice) = ((a.into(), b.into()), Choice::of(Some(variant)));
    api::tensor::gemm_tensor_by(stream, choice, alpha, factors, beta, c.into(), *epilogue, scratch)
}

/// Scratch memory of [`gemm_tensor`] by the kernel of choice.
pub fn gemm_tensor_scratch<'a, 'b, T: TensorElement>(
    variant: TensorVariant,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<f32>(
        api::tensor::needed(Choice::of(Some(variant)), (a.into(), b.into()), c.into()).unwrap_or(0),
    )
}

/// [`gemm_tf32`](crate::gemm_tf32) by the kernel of choice; on the CPU they are all the same. `scratch` grows to
/// [`gemm_tf32_scratch`]. Factors are copied for each kernel but [`TensorVariant::Thin`].
///
/// # Errors
/// As there.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tf32<'a, 'b, 'c>(
    stream: &Stream,
    variant: TensorVariant,
    alpha: f32,
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
    beta: f32,
    c: impl Into<BatchMut<'c, f32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    gemm_tf32_with(stream, variant, alpha, a, b, beta, c, &Epilogue::new(), scratch)
}

/// [`gemm_tf32_with`](crate::gemm_tf32_with) by the kernel of choice, as [`gemm_tf32`] without an epilogue.
///
/// # Errors
/// As both.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tf32_with<'a, 'b, 'c>(
    stream: &Stream,
    variant: TensorVariant,
    alpha: f32,
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
    beta: f32,
    c: impl Into<BatchMut<'c, f32>>,
    epilogue: &Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, choice) = ((a.into(), b.into()), Choice::tf32(Some(variant)));
    api::tensor::gemm_tf32_by(stream, choice, alpha, factors, beta, c.into(), *epilogue, scratch)
}

/// Scratch memory of [`gemm_tf32`] by the kernel of choice.
pub fn gemm_tf32_scratch(
    variant: TensorVariant,
    a: impl Into<BatchLayout>,
    b: impl Into<BatchLayout>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<f32>(api::tensor::tf32_needed(Choice::tf32(Some(variant)), [a.into(), b.into(), c.into()]))
}

/// [`gemm_i8`](crate::gemm_i8) by the kernel of choice; on the CPU they are all the same. `scratch` grows to
/// [`gemm_i8_scratch`]. Factors that the kernels do not take are copied for each of them but [`TensorVariant::Thin`].
///
/// # Errors
/// As there, and [`Error::Unaligned`] of batches whose matrices are one and the same, which the copy engine does not
/// take.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_i8<'a, 'b, 'c>(
    stream: &Stream,
    variant: TensorVariant,
    alpha: i32,
    a: impl Into<Batch<'a, i8>>,
    b: impl Into<Batch<'b, i8>>,
    beta: i32,
    c: impl Into<BatchMut<'c, i32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let choice = Choice::i8(Some(variant));
    api::tensor::gemm_i8_by(stream, choice, alpha, (a.into(), b.into()), beta, c.into(), scratch)
}

/// Scratch memory of [`gemm_i8`] by the kernel of choice.
pub fn gemm_i8_scratch<'a, 'b>(
    variant: TensorVariant,
    a: impl Into<Batch<'a, i8>>,
    b: impl Into<Batch<'b, i8>>,
    c: impl Into<BatchLayout>,
) -> ScratchSize {
    elements::<i32>(
        api::tensor::needed(Choice::i8(Some(variant)), (a.into(), b.into()), c.into()).unwrap_or(0),
    )
}
