//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_linalg_kernels::gemm::{GEMM_MEDIUM_F32, Operand, Product, linalg_gemm_medium_f32};
use gpu_linalg_kernels::variants as kernels;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use super::{GemmVariant, GemvVariant};
use crate::error::Error;

/// Enqueues `C = A · B`, the views being long enough for `[m, n, k]` and on the stream's device.
pub(super) fn gemm(
    variant: GemmVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: View<'_, f32>,
    b: View<'_, f32>,
    mut c: ViewMut<'_, f32>,
    [m, n, k]: [u32; 3],
) -> Result<(), Error> {
    let (a, b, c) = (a.as_global(), b.as_global(), c.as_global_mut());
    match variant {
        // SAFETY: the kernel reads the factors' elements and writes C's, which the views hold, and C is exclusive;
        // the memory is freed only after the work enqueued before.
        GemmVariant::Naive => unsafe { kernels::linalg_gemm_naive::launch(stream, config, a, b, c, m, n, k) },
        // SAFETY: as above.
        GemmVariant::Shared => unsafe {
            kernels::linalg_gemm_shared::launch(stream, config, a, b, c, m, n, k)
        },
        GemmVariant::Registers => {
            let (k_leading, n_leading) = (u64::from(k), u64::from(n));
            let vectors = |address: u64| address.is_multiple_of(16) && n.is_multiple_of(4);
            let product = Product {
                a: Operand::new(GEMM_MEDIUM_F32, GEMM_MEDIUM_F32.rows, k_leading, 0, true, false),
                b: Operand::new(
                    GEMM_MEDIUM_F32,
                    GEMM_MEDIUM_F32.columns,
                    n_leading,
                    0,
                    false,
                    vectors(b.address()),
                ),
                c_leading: n_leading,
                c_batch: 0,
                c_vectors: vectors(c.address()) as u32,
                m,
                n,
                k,
                piece: k,
                parts: 1,
                c_part: 0,
            };
            // SAFETY: as above; 16 bytes are accessed at once only where addresses and rows are multiples of them.
            unsafe { linalg_gemm_medium_f32::launch(stream, config, a, b, c, product, 1.0, 0.0) }
        }
    }?;
    Ok(())
}

/// A type of elements that the products with a vector come for: `f32`, `f64`, `i32`.
pub trait VariantElement: gpu_core::Element + kernels::Number + sealed::GemvKernels {}

mod sealed {
    use super::*;

    /// The kernels for products of a matrix and a vector.
    pub trait GemvKernels: kernels::Number {
        /// Enqueues a product.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold a matrix of `[m, n]` elements, and vectors of n and m,
        /// of which `y` is shared with nothing.
        unsafe fn gemv(
            variant: GemvVariant,
            stream: &Stream,
            config: LaunchConfig,
            a: Global<Self>,
            x: Global<Self>,
            y: GlobalMut<Self>,
            shape: [u32; 2],
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! elements {
    ($($T:ty: $row:ident, $rows:ident, $column:ident;)*) => { $(
        impl VariantElement for $T {}

        impl sealed::GemvKernels for $T {
            #[inline]
            unsafe fn gemv(
                variant: GemvVariant,
                stream: &Stream,
                config: LaunchConfig,
                a: Global<Self>,
                x: Global<Self>,
                y: GlobalMut<Self>,
                [m, n]: [u32; 2],
            ) -> Result<(), gpu_core::Error> {
                match variant {
                    // SAFETY: the caller's promise.
                    GemvVariant::Row => unsafe { kernels::$row::launch(stream, config, a, x, y, m, n) },
                    // SAFETY: the caller's promise.
                    GemvVariant::Rows(per_thread) => unsafe {
                        kernels::$rows::launch(stream, config, a, x, y, m, n, per_thread.max(1))
                    },
                    // SAFETY: the caller's promise.
                    GemvVariant::Column => unsafe { kernels::$column::launch(stream, config, a, x, y, m, n) },
                }
            }
        }
    )* };
}
elements! {
    f32: linalg_gemv_row_f32, linalg_gemv_rows_f32, linalg_gemv_column_f32;
    f64: linalg_gemv_row_f64, linalg_gemv_rows_f64, linalg_gemv_column_f64;
    i32: linalg_gemv_row_i32, linalg_gemv_rows_i32, linalg_gemv_column_i32;
}

/// Enqueues `y = A · x`, the views being long enough for `shape`, `[m, n]`, and on the stream's device.
pub(super) fn gemv<T: VariantElement>(
    variant: GemvVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: View<'_, T>,
    x: View<'_, T>,
    mut y: ViewMut<'_, T>,
    shape: [u32; 2],
) -> Result<(), Error> {
    let (a, x, y) = (a.as_global(), x.as_global(), y.as_global_mut());
    // SAFETY: threads read the elements of A and x and write those of y, which the views hold, and y is exclusive;
    // the memory is freed only after the work enqueued before.
    unsafe { T::gemv(variant, stream, config, a, x, y, shape)? };
    Ok(())
}

/// Enqueues `z = x + y`, the views being long enough for `[rows, columns]` and on the stream's device.
pub(super) fn add(
    stream: &Stream,
    config: LaunchConfig,
    x: View<'_, f32>,
    y: View<'_, f32>,
    mut z: ViewMut<'_, f32>,
    [rows, columns]: [u32; 2],
) -> Result<(), Error> {
    let (x, y, z) = (x.as_global(), y.as_global(), z.as_global_mut());
    // The kernel for vectors counts through x alone.
    if rows == 1 && config.grid[1] == 1 && config.block[1] == 1 {
        // SAFETY: threads read the elements of x and y and write those of z, which the views hold, and z is
        // exclusive; the memory is freed only after the work enqueued before.
        unsafe { kernels::linalg_vector_add::launch(stream, config, x, y, z, columns)? };
    } else {
        // SAFETY: as above.
        unsafe { kernels::linalg_matrix_add::launch(stream, config, x, y, z, rows, columns)? };
    }
    Ok(())
}
