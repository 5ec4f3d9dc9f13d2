//! The variants' launches: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_kernels::linalg::gemm::{GEMM_F32, Operand, Product, linalg_gemm_f32};
use gpu_kernels::linalg::variants as kernels;
use gpu_std::launch::LaunchConfig;

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
        // SAFETY: the kernel reads the factors' elements and writes C's, which the views hold, and C is exclusive; the memory
        // is freed only after the work enqueued before.
        GemmVariant::Naive => unsafe { kernels::linalg_gemm_naive::launch(stream, config, a, b, c, m, n, k) },
        // SAFETY: as above.
        GemmVariant::Shared => unsafe {
            kernels::linalg_gemm_shared::launch(stream, config, a, b, c, m, n, k)
        },
        GemmVariant::Registers => {
            let (k_leading, n_leading) = (u64::from(k), u64::from(n));
            let vectors = |address: u64| address.is_multiple_of(16) && n.is_multiple_of(4);
            let product = Product {
                a: Operand::new(GEMM_F32, GEMM_F32.rows, k_leading, 0, true, false),
                b: Operand::new(GEMM_F32, GEMM_F32.columns, n_leading, 0, false, vectors(b.address())),
                c_leading: n_leading,
                c_batch: 0,
                c_vectors: vectors(c.address()) as u32,
                m,
                n,
                k,
            };
            // SAFETY: as above; 16 bytes are accessed at once only where addresses and rows are multiples of them.
            unsafe { linalg_gemm_f32::launch(stream, config, a, b, c, product, 1.0, 0.0) }
        }
    }?;
    Ok(())
}

/// Enqueues `y = A · x`, the views being long enough for `[m, n]` and on the stream's device.
pub(super) fn gemv(
    variant: GemvVariant,
    stream: &Stream,
    config: LaunchConfig,
    a: View<'_, f32>,
    x: View<'_, f32>,
    mut y: ViewMut<'_, f32>,
    [m, n]: [u32; 2],
) -> Result<(), Error> {
    let (a, x, y) = (a.as_global(), x.as_global(), y.as_global_mut());
    match variant {
        // SAFETY: threads read the elements of A and x and write those of y, which the views hold, and y is exclusive; the
        // memory is freed only after the work enqueued before.
        GemvVariant::Row => unsafe { kernels::linalg_gemv_row::launch(stream, config, a, x, y, m, n) },
        // SAFETY: as above.
        GemvVariant::Rows(per_thread) => unsafe {
            kernels::linalg_gemv_rows::launch(stream, config, a, x, y, m, n, per_thread.max(1))
        },
        // SAFETY: as above.
        GemvVariant::Column => unsafe { kernels::linalg_gemv_column::launch(stream, config, a, x, y, m, n) },
    }?;
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
        // SAFETY: threads read the elements of x and y and write those of z, which the views hold, and z is exclusive; the
        // memory is freed only after the work enqueued before.
        unsafe { kernels::linalg_vector_add::launch(stream, config, x, y, z, columns)? };
    } else {
        // SAFETY: as above.
        unsafe { kernels::linalg_matrix_add::launch(stream, config, x, y, z, rows, columns)? };
    }
    Ok(())
}
