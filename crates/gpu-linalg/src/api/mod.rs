//! Validate, plan, launch.

mod batched;
mod elementwise;
mod epilogue;
mod factor;
mod factor_inverse;
mod factor_refined;
mod factor_sizes;
mod gemm;
mod gemv;
mod ger;
mod multiply;
mod skyline;
mod solve;
pub(crate) mod tensor;
mod triangle;
mod update;

pub use batched::{
    BatchStarts, gemm_batched, gemm_i8_batched, gemm_tensor_batched, gemm_tf32_batched, matmul_batched,
    matmul_i8_batched, matmul_tensor_batched, matmul_tf32_batched,
};
pub use elementwise::{add, axpy, copy, hadamard, minus, plus, scale, subtract, swap, times};
pub use epilogue::{
    Activation, Epilogue, gemm_tensor_with, gemm_tf32_with, matmul_tensor_with, matmul_tf32_with,
};
pub use factor::{
    cholesky, cholesky_solve, expect_positive_definite, potrf, potrf_scratch, potrf_to, potrs, potrs_scratch,
    potrs_to,
};
pub use factor_inverse::{cholesky_inverse, logdet, logdet_batch, potri, potri_scratch, potri_to};
pub use factor_refined::{Refinement, potrs_refined};
pub use factor_sizes::{potrf_sizes, potrs_sizes};
pub(crate) use gemm::{How, expect_product, multiply, product};
pub use gemm::{gemm, gemm_scratch, matmul};
pub use gemv::{gemv, gemv_scratch, matvec};
pub use ger::{ger, outer};
pub use multiply::{matmul_symmetric, matmul_triangular, symm, symm_scratch, trmm, trmm_scratch};
pub use skyline::{BlockSkyline, cholesky_skyline, potrf_skyline};
pub(crate) use solve::expect_system;
pub use solve::{Side, solve_triangular, trsm, trsm_scratch, trsv, trsv_scratch};
pub use tensor::{
    gemm_i8, gemm_i8_scratch, gemm_tensor, gemm_tensor_scratch, gemm_tf32, gemm_tf32_scratch, matmul_i8,
    matmul_tensor, matmul_tf32,
};
pub use triangle::{
    Diagonal, Triangle, matvec_symmetric, matvec_triangular, symv, symv_scratch, trmv, trmv_scratch,
};
pub use update::{gram, gram_pair, syr2k, syr2k_scratch, syrk, syrk_scratch};

use gpu_core::{Buffer, Device, Element, Kind, Scratch, ScratchSize, Stream, View, ViewMut, checks};

use crate::error::Error;
use crate::level3::{self, TriangleElement};
use crate::matrix::{Batch, BatchLayout, BatchMut, Layout, Matrix};

/// The products of A's matrices and B's where A lives, row-major and without gaps in a buffer of its own, by
/// `multiply`, which refuses what does not fit together.
fn in_own_buffer<T: Element, C: Element>(
    (a, b): (Batch<'_, T>, Batch<'_, T>),
    multiply: impl FnOnce(&Stream, BatchMut<'_, C>, &mut Scratch) -> Result<(), Error>,
) -> Result<Buffer<C>, Error> {
    let product = Layout::row_major(a.layout().matrix.rows(), b.layout().matrix.columns())?;
    written(a.data().device(), product.batch(a.layout().count)?, multiply)
}

/// Matrices that `call` writes, in memory for just them.
fn written<C: Element>(
    device: &Device,
    layout: BatchLayout,
    call: impl FnOnce(&Stream, BatchMut<'_, C>, &mut Scratch) -> Result<(), Error>,
) -> Result<Buffer<C>, Error> {
    Scratch::computed(device, layout.span()?, |stream, c, scratch| {
        call(stream, BatchMut::new(c, layout)?, scratch)
    })
}

/// Symmetric matrices of which `call` writes this triangle, whole, in memory for just them.
fn symmetric<T: TriangleElement>(
    device: &Device,
    triangle: Triangle,
    layout: BatchLayout,
    call: impl FnOnce(&Stream, BatchMut<'_, T>, &mut Scratch) -> Result<(), Error>,
) -> Result<Buffer<T>, Error> {
    let half = written(device, layout, call)?;
    let (mut full, n) = (device.alloc(layout.span()?)?, layout.matrix.rows());
    if !layout.is_empty() {
        let half = Batch::new(&half, layout)?;
        let lower = if triangle == Triangle::Lower { half } else { half.transposed() };
        level3::spread(&device.default_stream(), lower, Diagonal::Stored, n, true, full.view_mut())?;
    }
    Ok(full)
}

/// Copies of matrices, `what` in errors, that `call` changes: without gaps, in memory for just them.
fn changed<T: TriangleElement>(
    device: &Device,
    (what, from): (&'static str, Batch<'_, T>),
    call: impl FnOnce(&Stream, BatchMut<'_, T>, &mut Scratch) -> Result<(), Error>,
) -> Result<Buffer<T>, Error> {
    let layout = from.layout().without_gaps()?;
    written(device, layout, |stream, mut to, scratch| {
        stream.expect(what, from.data().device())?;
        if !layout.is_empty() {
            level3::copy(stream, from, BatchMut::new(to.data_mut(), layout)?)?;
        }
        call(stream, to, scratch)
    })
}

/// Scratch memory of so many elements.
pub(crate) const fn elements<T>(len: usize) -> ScratchSize {
    ScratchSize::new().array::<T>(len)
}

/// What kernels need: on the CPU nothing.
pub(crate) fn of_kernels(stream: &Stream, size: ScratchSize) -> ScratchSize {
    if stream.device().kind() == Kind::Cpu { ScratchSize::new() } else { size }
}

/// Lends `enqueue` so much scratch memory, of arrays of `T`; `what` is the call's name in errors. The CPU has its own
/// where there is too little.
pub(crate) fn lend<T: Element>(
    stream: &Stream,
    scratch: &mut Scratch,
    (what, size): (&'static str, ScratchSize),
    enqueue: impl FnOnce(ViewMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut own = None;
    let scratch = match scratch.expect(stream, what, size) {
        Err(gpu_core::Error::ScratchTooSmall { .. }) if stream.device().kind() == Kind::Cpu => {
            own.insert(Scratch::new(stream))
        }
        expected => expected.map(|()| scratch)?,
    };
    // Nothing of it has to be zero, so that errors of `enqueue` do not matter to it.
    scratch.lend(what, size, |mut parts| Ok(enqueue(parts.array(size.bytes() / size_of::<T>()))))?
}

/// That `y = A · x` or the like is one of a matrix and vectors that fit, on the stream's device, and the output apart
/// from what is read.
fn expect_vectors<T: Element>(
    stream: &Stream,
    a: Matrix<'_, T>,
    x: &View<'_, T>,
    y: &ViewMut<'_, T>,
) -> Result<(), Error> {
    checks::vectors(a.layout().shape(), x.len(), y.len())?;
    stream.expect("matrix of a product", a.data().device())?;
    stream.expect("vector of a product", x.device())?;
    stream.expect("output of a product", y.device())?;
    y.expect_apart("A", &a.data())?;
    Ok(y.expect_apart("x", x)?)
}
