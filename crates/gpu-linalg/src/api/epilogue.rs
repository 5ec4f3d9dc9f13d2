//! What is done to a product on the tensor cores on its way to memory.

use gpu_core::{Buffer, Scratch, Stream, View, ViewMut};
use gpu_tensor_kernels::Usual;

pub use gpu_tensor_kernels::Activation;

use super::in_own_buffer;
use super::tensor::{gemm_tensor_by, gemm_tf32_by};
use crate::error::Error;
use crate::matrix::{Batch, BatchLayout, BatchMut};
use crate::plan::tensor::Choice;
use crate::tensor::launch::{Fused, TensorElement, TensorOutput};

/// What is done to a product before it is rounded to C's type and written: a bias is added, of which an element is for
/// a row of C or for a column, then an [`Activation`] is applied. The default is neither.
///
/// ```
/// use gpu_linalg::{Activation, Epilogue};
/// let bias = [0.5, -1.0, 2.0];
/// let layer = Epilogue::new().bias_per_column(&bias).activation(Activation::Gelu);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    bias: Option<Bias<'a>>,
    stride: Option<usize>,
    activation: Activation,
}

#[derive(Clone, Copy, Debug)]
struct Bias<'a> {
    elements: View<'a, f32>,
    is_per_row: bool,
}

impl<'a> Epilogue<'a> {
    /// Neither bias nor activation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds element `i` of `bias` to row `i` of C, in place of another bias: as many elements as C has rows.
    pub fn bias_per_row(mut self, bias: impl Into<View<'a, f32>>) -> Self {
        self.bias = Some(Bias { elements: bias.into(), is_per_row: true });
        self
    }

    /// Adds element `j` of `bias` to column `j` of C, in place of another bias: as many elements as C has columns.
    pub fn bias_per_column(mut self, bias: impl Into<View<'a, f32>>) -> Self {
        self.bias = Some(Bias { elements: bias.into(), is_per_row: false });
        self
    }

    /// Of a batch: a bias for each matrix, so many elements behind that of the one before. Without it all matrices have
    /// the same.
    pub fn bias_stride(mut self, elements: usize) -> Self {
        self.stride = Some(elements);
        self
    }

    /// Applies `activation` to each element, after the bias was added.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Whether it leaves results as they are.
    pub(crate) fn is_empty(&self) -> bool {
        self.bias.is_none() && self.activation == Activation::None
    }

    /// Refuses a bias that is not for this C: of another length or device, or in its memory.
    pub(super) fn expect_for<C: gpu_core::Element>(
        &self,
        stream: &Stream,
        layout: BatchLayout,
        c: &ViewMut<'_, C>,
    ) -> Result<(), Error> {
        let Some(Bias { elements, is_per_row }) = self.bias else { return Ok(()) };
        stream.expect("bias of a product", elements.device())?;
        let (rows, columns) = layout.matrix.shape();
        let (of_one, actual) = (if is_per_row { rows } else { columns }, elements.len());
        // Behind the last matrix's there may be more, as there is between those of two.
        let (expected, fits) = match self.stride {
            None => (of_one, actual == of_one),
            Some(stride) => {
                let before = stride.saturating_mul(layout.count.saturating_sub(1));
                let expected = if layout.count == 0 { 0 } else { before.saturating_add(of_one) };
                (expected, actual >= expected)
            }
        };
        if !fits {
            return Err(
                gpu_core::Error::LengthMismatch { what: "a bias for the output", expected, actual }.into()
            );
        }
        self.expect_apart(c)
    }

    /// Refuses a bias in memory that is written.
    pub(super) fn expect_apart<C: gpu_core::Element>(&self, written: &ViewMut<'_, C>) -> Result<(), Error> {
        match self.bias {
            Some(bias) => Ok(written.expect_apart("the bias", &bias.elements)?),
            None => Ok(()),
        }
    }

    /// That of the transposed C.
    pub(crate) fn transposed(mut self) -> Self {
        self.bias = self.bias.map(|bias| Bias { is_per_row: !bias.is_per_row, ..bias });
        self
    }

    /// As kernels take it. Where there is no bias nothing is read, from `anywhere`.
    pub(super) fn of_kernels<T: gpu_core::Element>(self, anywhere: View<'_, T>) -> Fused {
        let bias = self.bias.map_or(anywhere.as_global().cast(), |bias| bias.elements.as_global());
        let usual = Usual {
            bias_batch: self.stride.unwrap_or(0) as u64,
            bias: match self.bias {
                None => 0,
                Some(Bias { is_per_row: true, .. }) => Usual::PER_ROW,
                Some(_) => Usual::PER_COLUMN,
            },
            activation: self.activation as u32,
        };
        (bias, usual)
    }

    /// What becomes of element `(row, column)` of matrix `number`, on the CPU.
    ///
    /// # Panics
    /// Where the bias is not in host memory.
    pub(crate) fn on_cpu(self) -> impl Fn(f32, usize, [usize; 2]) -> f32 + Sync + use<'a> {
        let bias = self
            .bias
            .map(|bias| (bias.elements.as_slice().expect("the bias is in host memory"), bias.is_per_row));
        let stride = self.stride.unwrap_or(0);
        move |value, number, [row, column]| {
            let biased = bias.map_or(value, |(bias, is_per_row)| {
                value + bias[number * stride + if is_per_row { row } else { column }]
            });
            self.activation.of(biased)
        }
    }
}

/// `C = activation(alpha · A · B + beta · C + bias)` on `stream` for factors of 16-bit floats, on the tensor cores, for
/// matrices or batches of them: [`gemm_tensor`](crate::gemm_tensor()) and an [`Epilogue`], in the same launch.
///
/// The bias and the activation are applied in `f32`, once to each element, before it is rounded to C's type: with no
/// more reads and writes than the product's, but for the bias. They are where `k`, `alpha` or `beta` are zero, too.
/// Everything else is as it is there, the order of the sums, the devices and the scratch memory
/// ([`gemm_tensor_scratch`](crate::gemm_tensor_scratch())) included.
///
/// # Error
/// That of the product, and one rounding of the bias's addition. [`Activation::Relu`] makes none larger.
/// [`Activation::Gelu`] is within `29 · 2⁻²⁴` of its size of the exact function of what it is given, and of two numbers
/// its values differ by at most 1.13 times as much as they do; the bound of the other form is
/// `gpu_tensor_kernels::gelu_tanh`'s.
///
/// # Errors
/// Those of [`gemm_tensor`](crate::gemm_tensor()), and [`gpu_core::Error::LengthMismatch`]. C is as it was then.
///
/// ```
/// use gpu_linalg::{Activation, Epilogue, Layout, Matrix, MatrixMut, Scratch, bf16, gemm_tensor_with};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 8 * 16].map(bf16::from_f32))?;
/// let bias = device.upload(&[-20.0, -16.0, -12.0, 0.0, 0.0, 0.0, 0.0, 4.0])?;
/// let mut c = device.upload(&[bf16::from_f32(f32::NAN); 64])?;
/// let matrix = Matrix::new(&a, Layout::row_major(8, 16)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(8, 8)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// let epilogue = Epilogue::new().bias_per_column(&bias).activation(Activation::Relu);
/// let stream = device.default_stream();
/// gemm_tensor_with(&stream, 1.0, matrix, matrix.transposed(), 0.0, product, &epilogue, &mut scratch)?;
/// let row = c.to_vec()?[..8].iter().map(|x| x.to_f32()).collect::<Vec<_>>();
/// assert_eq!(row, [0.0, 0.0, 4.0, 16.0, 16.0, 16.0, 16.0, 20.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tensor_with<'a, 'b, 'c, T: TensorElement, C: TensorOutput<T>>(
    stream: &Stream,
    alpha: f32,
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    beta: f32,
    c: impl Into<BatchMut<'c, C>>,
    epilogue: &Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, choice) = ((a.into(), b.into()), Choice::of(None));
    gemm_tensor_by(stream, choice, alpha, factors, beta, c.into(), *epilogue, scratch)
}

/// `C = activation(alpha · A · B + beta · C + bias)` on `stream` for factors of `f32` that are rounded to tf32, on the
/// tensor cores: [`gemm_tf32`](crate::gemm_tf32()) and an [`Epilogue`], in the same launch, as in [`gemm_tensor_with`].
///
/// # Errors
/// Those of [`gemm_tensor_with`]. C is as it was then.
///
/// ```
/// use gpu_linalg::{Activation, Epilogue, Layout, Matrix, MatrixMut, Scratch, gemm_tf32_with};
/// let device = gpu_core::Device::simulator();
/// let a = device.upload(&[1.0; 2 * 5])?;
/// let bias = device.upload(&[-6.0, 1.0])?;
/// let mut c = device.upload(&[f32::NAN; 4])?;
/// let matrix = Matrix::new(&a, Layout::row_major(2, 5)?)?;
/// let product = MatrixMut::new(&mut c, Layout::row_major(2, 2)?)?;
/// let mut scratch = Scratch::new(&device.default_stream());
/// let epilogue = Epilogue::new().bias_per_row(&bias).activation(Activation::Relu);
/// let stream = device.default_stream();
/// gemm_tf32_with(&stream, 1.0, matrix, matrix.transposed(), 0.0, product, &epilogue, &mut scratch)?;
/// assert_eq!(c.to_vec()?, [0.0, 0.0, 6.0, 6.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub fn gemm_tf32_with<'a, 'b, 'c>(
    stream: &Stream,
    alpha: f32,
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
    beta: f32,
    c: impl Into<BatchMut<'c, f32>>,
    epilogue: &Epilogue<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (factors, choice) = ((a.into(), b.into()), Choice::tf32(None));
    gemm_tf32_by(stream, choice, alpha, factors, beta, c.into(), *epilogue, scratch)
}

/// `activation(A · B + bias)` of factors of 16-bit floats on the tensor cores, of `f32` or of the factors' type,
/// computed where A lives, as a row-major matrix without gaps in a buffer of its own; of batches one product after the
/// other.
///
/// A is m × k and B k × n: a layer of a network. [`gemm_tensor_with`] on the device's default stream, with its error
/// and its devices; reading the buffer waits for it.
///
/// # Errors
/// As [`gemm_tensor_with`]; [`Error::Device`] where the device's memory does not suffice.
///
/// ```
/// use gpu_linalg::{Activation, Epilogue, Layout, Matrix, f16, matmul_tensor_with};
/// let a = [1.0, 2.0, 3.0, 4.0].map(f16::from_f32);
/// let a = Matrix::new(&a, Layout::row_major(2, 2)?)?;
/// let layer = Epilogue::new().bias_per_column(&[-9.0, 0.5]).activation(Activation::Relu);
/// let product = matmul_tensor_with::<f16, f32>(a, a.transposed(), &layer)?;
/// assert_eq!(product.to_vec()?, [0.0, 11.5, 2.0, 25.5]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tensor_with<'a, 'b, T: TensorElement, C: TensorOutput<T>>(
    a: impl Into<Batch<'a, T>>,
    b: impl Into<Batch<'b, T>>,
    epilogue: &Epilogue<'_>,
) -> Result<Buffer<C>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| {
        gemm_tensor_with::<T, C>(stream, 1.0, a, b, 0.0, c, epilogue, scratch)
    })
}

/// `activation(A · B + bias)` of factors of `f32` that are rounded to tf32, on the tensor cores: [`gemm_tf32_with`],
/// and otherwise as [`matmul_tensor_with`].
///
/// # Errors
/// As [`matmul_tensor_with`].
///
/// ```
/// use gpu_linalg::{Epilogue, Layout, Matrix, matmul_tf32_with};
/// let a = Matrix::new(&[1.0, 2.0, 3.0, 4.0], Layout::row_major(2, 2)?)?;
/// let biased = matmul_tf32_with(a, a.transposed(), &Epilogue::new().bias_per_row(&[10.0, 20.0]))?;
/// assert_eq!(biased.to_vec()?, [15.0, 21.0, 31.0, 45.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn matmul_tf32_with<'a, 'b>(
    a: impl Into<Batch<'a, f32>>,
    b: impl Into<Batch<'b, f32>>,
    epilogue: &Epilogue<'_>,
) -> Result<Buffer<f32>, Error> {
    let (a, b) = (a.into(), b.into());
    in_own_buffer((a, b), |stream, c, scratch| gemm_tf32_with(stream, 1.0, a, b, 0.0, c, epilogue, scratch))
}
