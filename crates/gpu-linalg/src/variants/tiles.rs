//! Products by a kernel of choice: what [`gemm()`](crate::gemm)'s plan chooses between.

use gpu_core::{Scratch, Stream, checks};

use crate::api::{self, How, Triangle, elements, lend, of_kernels};
use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{Batch, BatchMut};
use crate::plan::gemm::{Kernel, scratch_len_of_part};

/// [`gemm()`](crate::gemm) by a kernel of choice, with the same scratch memory, as tiles even where C is a row or a
/// column: the bits are those of `gemm` where it is neither. Of a square C, if a triangle is given, only that is
/// computed, as by [`syrk()`](crate::syrk), and the scratch memory is what that takes. On the CPU all kernels are the
/// same.
///
/// # Errors
/// As there, [`gpu_core::Error::NotSquare`] of a triangle, [`Error::KernelNotFor`] where [`Kernel::takes`] says no, and
/// [`Error::NotAligned`] where the kernel [needs alignment](Kernel::needs_alignment);
/// [`gpu_core::Error::NoKernelImage`] of kernels that the device is too old for.
///
/// ```
/// use gpu_linalg::plan::gemm::Kernel;
/// use gpu_linalg::variants::gemm_tiles;
/// use gpu_linalg::{Layout, Matrix, MatrixMut, Scratch};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0f32; 9])?;
/// let a = Matrix::new(&a, Layout::row_major(3, 3)?)?;
/// for &kernel in Kernel::of(4, None) {
///     let mut c = device.upload(&[f32::NAN; 9])?;
///     let product = MatrixMut::new(&mut c, Layout::row_major(3, 3)?)?;
///     let mut scratch = Scratch::new(&device.default_stream());
///     gemm_tiles(&device.default_stream(), kernel, None, 2.0, a, a, 0.0, product, &mut scratch)?;
///     assert_eq!(c.to_vec()?, [6.0; 9]);
/// }
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tiles<'a, 'b, 'c, T: RealElement>(
    stream: &Stream,
    kernel: Kernel,
    triangle: Option<Triangle>,
    alpha: T,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: T,
    c: impl Into<BatchMut<'c, T>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (a, b, mut c) = (a.into(), b.into(), c.into());
    let (layout, k) = (c.layout(), a.layout().matrix.columns());
    let half = triangle.is_some();
    if half {
        checks::square("a symmetric matrix", layout.matrix.shape())?;
    }
    api::expect_product(stream, a, b, &mut c)?;
    let size = of_kernels(stream, elements::<T>(scratch_len_of_part::<T>(k, layout, half)));
    lend(stream, scratch, ("product", size), |room| {
        if layout.is_empty() {
            return Ok(());
        }
        let how = How { kernel: Some(kernel), triangle, ..How::default() };
        api::product(stream, how, alpha, a, b, beta, c, room)
    })
}
