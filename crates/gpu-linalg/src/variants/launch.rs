//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_linalg_kernels::gemm::{ALL, GEMM_MEDIUM_F32, Operand, Product, linalg_gemm_medium_f32};
use gpu_linalg_kernels::variants as kernels;
use gpu_std::half::bf16;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::tensor_map::Tensor;
use gpu_tensor_kernels::{tensor_step_boxes, tensor_step_fragments, tensor_step_tiles};

use super::{GemmVariant, GemvVariant, TensorStep};

/// Enqueues `C = A · B`, the views being long enough for `[m, n, k]` and on the stream's device.
pub(super) fn gemm(
    variant: GemmVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: View<'_, f32>,
    b: View<'_, f32>,
    mut c: ViewMut<'_, f32>,
    [m, n, k]: [u32; 3],
) -> gpu_core::Result<()> {
    match variant {
        // SAFETY: the kernel reads the factors' elements and writes C's, which the views hold, and C is exclusive;
        // the memory is freed only after the work enqueued before.
        GemmVariant::Naive => unsafe {
            stream.launch::<kernels::linalg_gemm_naive>(config, (a, b, c, m, n, k))
        },
        // SAFETY: as above.
        GemmVariant::Shared => unsafe {
            stream.launch::<kernels::linalg_gemm_shared>(config, (a, b, c, m, n, k))
        },
        GemmVariant::Registers => {
            let (k_leading, n_leading) = (u64::from(k), u64::from(n));
            let vectors = |address: u64| address.is_multiple_of(16) && n.is_multiple_of(4);
            let (b_vectors, c_vectors) =
                (vectors(b.as_global().address()), vectors(c.as_global_mut().address()));
            let product = Product {
                a: Operand::new(GEMM_MEDIUM_F32, GEMM_MEDIUM_F32.rows, k_leading, 0, true, false),
                b: Operand::new(GEMM_MEDIUM_F32, GEMM_MEDIUM_F32.columns, n_leading, 0, false, b_vectors),
                c_leading: n_leading,
                c_batch: 0,
                c_vectors: c_vectors as u32,
                m,
                n,
                k,
                piece: k,
                parts: 1,
                c_part: 0,
                triangle: ALL,
                listed: 0,
                listed_a: 0,
            };
            // SAFETY: as above; 16 bytes are accessed at once only where addresses and rows are multiples of them, and
            // nothing is listed.
            unsafe {
                stream.launch::<linalg_gemm_medium_f32>(config, (a, b, c, a.untyped(), product, 1.0, 0.0))
            }
        }
    }
}

/// Enqueues `C = A · B` by a step, as [`gemm`]; matrices and lines begin at multiples of 16 bytes, and `boxes` are the
/// factors.
pub(super) fn step(
    step: TensorStep,
    stream: &Stream,
    config: LaunchConfig,
    (a, b): (View<'_, bf16>, View<'_, bf16>),
    [a_boxes, b_boxes]: [Tensor; 2],
    c: ViewMut<'_, f32>,
    [m, n, k]: [u32; 3],
) -> gpu_core::Result<()> {
    match step {
        // SAFETY: as in `gemm`; 16 bytes are accessed at once, at multiples of them.
        TensorStep::Fragments => unsafe {
            stream.launch::<tensor_step_fragments>(config, (a, b, c, m, n, k))
        },
        // SAFETY: as above.
        TensorStep::Tiles => unsafe { stream.launch::<tensor_step_tiles>(config, (a, b, c, m, n, k)) },
        TensorStep::Boxes => {
            let (a, b) = (stream.tensor_map(&a_boxes)?, stream.tensor_map(&b_boxes)?);
            // SAFETY: as above; nothing outside of the tensors, which the views hold, is copied.
            unsafe { stream.launch::<tensor_step_boxes>(config, (a, b, c, m, n, k)) }
        }
    }
}

/// A type of elements that the products with a vector come for: `f32`, `f64`, `i32`.
pub trait VariantElement: gpu_core::Element + kernels::Number + sealed::GemvKernels {}

mod sealed {
    use gpu_std::launch::Kernel;

    use super::*;

    /// The kernels for products of a matrix and a vector.
    ///
    /// # Safety
    /// Each is that of its name, of this type.
    pub unsafe trait GemvKernels: gpu_std::memory::Element {
        /// A, x, y, rows, columns.
        type Row: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, u32, u32)>;
        /// The same, and the rows of a thread.
        type Rows: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, u32, u32, u32)>;
        /// A, x, y, rows, columns.
        type Column: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, u32, u32)>;
    }
}

macro_rules! elements {
    ($($T:ty: $row:ident, $rows:ident, $column:ident;)*) => { $(
        impl VariantElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::GemvKernels for $T {
            type Row = kernels::$row;
            type Rows = kernels::$rows;
            type Column = kernels::$column;
        }
    )* };
}
gpu_linalg_kernels::gemv_variants!(elements);

/// Enqueues `y = A · x`, the views being long enough for `[m, n]` and on the stream's device.
pub(super) fn gemv<T: VariantElement>(
    variant: GemvVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: View<'_, T>,
    x: View<'_, T>,
    y: ViewMut<'_, T>,
    [m, n]: [u32; 2],
) -> gpu_core::Result<()> {
    // SAFETY: threads read the elements of A and x and write those of y, which the views hold, and y is exclusive;
    // the memory is freed only after the work enqueued before.
    unsafe {
        match variant {
            GemvVariant::Row => stream.launch::<T::Row>(config, (a, x, y, m, n)),
            GemvVariant::Rows(each) => stream.launch::<T::Rows>(config, (a, x, y, m, n, each.max(1))),
            GemvVariant::Column => stream.launch::<T::Column>(config, (a, x, y, m, n)),
        }
    }
}

/// Enqueues `z = x + y`, the views being long enough for `[rows, columns]` and on the stream's device.
pub(super) fn add(
    stream: &Stream,
    config: LaunchConfig,
    x: View<'_, f32>,
    y: View<'_, f32>,
    z: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> gpu_core::Result<()> {
    // The kernel for vectors counts through x alone.
    if rows == 1 && config.grid[1] == 1 && config.block[1] == 1 {
        // SAFETY: threads read the elements of x and y and write those of z, which the views hold, and z is
        // exclusive; the memory is freed only after the work enqueued before.
        unsafe { stream.launch::<kernels::linalg_vector_add>(config, (x, y, z, columns))? };
    } else {
        // SAFETY: as above.
        unsafe { stream.launch::<kernels::linalg_matrix_add>(config, (x, y, z, rows, columns))? };
    }
    Ok(())
}
