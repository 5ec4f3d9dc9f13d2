//! The launches: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_linalg_kernels::{Scalar, elementwise, gemm, gemv, ger, triangle};
use gpu_std::float::Float;
use gpu_std::half::{bf16, f16};
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::plan;

/// A type of elements of vectors and matrices: `f32`, `f64`, and, computed with as `f32`, `f16` and `bf16`.
pub trait Element: gpu_core::Element + Scalar<Sum: gpu_core::Element> + sealed::VectorKernels {}

/// A type of elements that are computed with as they are: `f32`, `f64`.
pub trait RealElement: Element + Float + Scalar<Sum = Self> + sealed::MatrixKernels {}

mod sealed {
    use super::*;

    /// The kernels for products of matrices.
    pub trait MatrixKernels: Scalar {
        /// Enqueues a product.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the matrices that `product` describes, of which C is
        /// shared with nothing; `config` must be that of the plan.
        #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
        unsafe fn gemm(
            kernel: plan::gemm::Kernel,
            stream: &Stream,
            config: LaunchConfig,
            a: Global<Self>,
            b: Global<Self>,
            c: GlobalMut<Self>,
            product: gemm::Product,
            alpha: Self,
            beta: Self,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues an element-wise operation.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the `lines`; the output is shared with nothing but,
        /// line by line, an input. `config` must be that of the plan.
        unsafe fn elementwise(
            stream: &Stream,
            config: LaunchConfig,
            x: Global<Self>,
            y: Global<Self>,
            output: GlobalMut<Self>,
            lines: elementwise::Lines,
            alpha: Self,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues an exchange.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the `lines`, shared with nothing. `config` must be that
        /// of the plan.
        unsafe fn swap(
            stream: &Stream,
            config: LaunchConfig,
            x: GlobalMut<Self>,
            y: GlobalMut<Self>,
            lines: elementwise::Lines,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues an outer product.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the `lines` and a factor for each line and each place;
        /// `a` is shared with nothing. `config` must be that of the plan.
        unsafe fn ger(
            stream: &Stream,
            config: LaunchConfig,
            of_lines: Global<Self>,
            of_places: Global<Self>,
            a: GlobalMut<Self>,
            lines: elementwise::Lines,
            alpha: Self,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues the pieces of a product with a triangle.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the triangle and the vector that `shape` describes, and
        /// `partials` all pieces, shared with nothing. `config` must be that of the plan.
        unsafe fn triangle(
            stream: &Stream,
            config: LaunchConfig,
            a: Global<Self>,
            x: Global<Self>,
            partials: GlobalMut<Self>,
            shape: triangle::Shape,
        ) -> Result<(), gpu_core::Error>;
    }

    /// The kernels for products of a matrix and a vector.
    pub trait VectorKernels: Scalar {
        /// Enqueues the sums of the pieces, along or across the lines.
        ///
        /// # Safety
        /// Until the kernel has ended the accessors must hold the matrix and the vectors that `shape` describes, and
        /// `partials` the sums of all pieces if there are several; `y` and `partials` are shared with nothing;
        /// `config` must be that of the plan.
        #[expect(clippy::too_many_arguments, reason = "those of the kernel")]
        unsafe fn gemv(
            along: bool,
            stream: &Stream,
            config: LaunchConfig,
            a: Global<Self>,
            x: Global<Self>,
            y: GlobalMut<Self>,
            partials: GlobalMut<Self::Sum>,
            shape: gemv::Shape,
            alpha: Self::Sum,
            beta: Self::Sum,
        ) -> Result<(), gpu_core::Error>;

        /// Enqueues the addition of the pieces.
        ///
        /// # Safety
        /// As [`VectorKernels::gemv`].
        unsafe fn finish(
            stream: &Stream,
            config: LaunchConfig,
            partials: Global<Self::Sum>,
            y: GlobalMut<Self>,
            shape: gemv::Shape,
            alpha: Self::Sum,
            beta: Self::Sum,
        ) -> Result<(), gpu_core::Error>;
    }
}

macro_rules! real_elements {
    ($($T:ty, $elementwise:ident, $swap:ident, $ger:ident, $triangle:ident: $($kernel:ident => $name:ident),*;)*) => { $(
        impl RealElement for $T {}

        impl sealed::MatrixKernels for $T {
            #[inline]
            unsafe fn gemm(
                kernel: plan::gemm::Kernel,
                stream: &Stream,
                config: LaunchConfig,
                a: Global<Self>,
                b: Global<Self>,
                c: GlobalMut<Self>,
                product: gemm::Product,
                alpha: Self,
                beta: Self,
            ) -> Result<(), gpu_core::Error> {
                match kernel {
                    $(
                        // SAFETY: the caller's promise.
                        plan::gemm::Kernel::$kernel => unsafe {
                            gemm::$name::launch(stream, config, a, b, c, product, alpha, beta)
                        },
                    )*
                }
            }

            #[inline]
            unsafe fn elementwise(
                stream: &Stream,
                config: LaunchConfig,
                x: Global<Self>,
                y: Global<Self>,
                output: GlobalMut<Self>,
                lines: elementwise::Lines,
                alpha: Self,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { elementwise::$elementwise::launch(stream, config, x, y, output, lines, alpha) }
            }

            #[inline]
            unsafe fn swap(
                stream: &Stream,
                config: LaunchConfig,
                x: GlobalMut<Self>,
                y: GlobalMut<Self>,
                lines: elementwise::Lines,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { elementwise::$swap::launch(stream, config, x, y, lines) }
            }

            #[inline]
            unsafe fn ger(
                stream: &Stream,
                config: LaunchConfig,
                of_lines: Global<Self>,
                of_places: Global<Self>,
                a: GlobalMut<Self>,
                lines: elementwise::Lines,
                alpha: Self,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { ger::$ger::launch(stream, config, of_lines, of_places, a, lines, alpha) }
            }

            #[inline]
            unsafe fn triangle(
                stream: &Stream,
                config: LaunchConfig,
                a: Global<Self>,
                x: Global<Self>,
                partials: GlobalMut<Self>,
                shape: triangle::Shape,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { triangle::$triangle::launch(stream, config, a, x, partials, shape) }
            }
        }
    )* };
}

// A plan never has a kernel that its type does not: those stand for the one they would be.
real_elements! {
    f32, linalg_elementwise_f32, linalg_swap_f32, linalg_ger_f32, linalg_triangle_f32: Wide => linalg_gemm_wide_f32, Large => linalg_gemm_f32, Small => linalg_gemm_small_f32,
        TensorLarge => linalg_gemm_f32, TensorSmall => linalg_gemm_small_f32;
    f64, linalg_elementwise_f64, linalg_swap_f64, linalg_ger_f64, linalg_triangle_f64: Wide => linalg_gemm_f64, Large => linalg_gemm_f64, Small => linalg_gemm_f64,
        TensorLarge => linalg_gemm_tensor_f64, TensorSmall => linalg_gemm_tensor_small_f64;
}

macro_rules! elements {
    ($($T:ty, $Sum:ty: $along:ident, $across:ident, $finish:ident;)*) => { $(
        impl Element for $T {}

        impl sealed::VectorKernels for $T {
            #[inline]
            unsafe fn gemv(
                along: bool,
                stream: &Stream,
                config: LaunchConfig,
                a: Global<Self>,
                x: Global<Self>,
                y: GlobalMut<Self>,
                partials: GlobalMut<$Sum>,
                shape: gemv::Shape,
                alpha: $Sum,
                beta: $Sum,
            ) -> Result<(), gpu_core::Error> {
                if along {
                    // SAFETY: the caller's promise.
                    unsafe { gemv::$along::launch(stream, config, a, x, y, partials, shape, alpha, beta) }
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { gemv::$across::launch(stream, config, a, x, y, partials, shape, alpha, beta) }
                }
            }

            #[inline]
            unsafe fn finish(
                stream: &Stream,
                config: LaunchConfig,
                partials: Global<$Sum>,
                y: GlobalMut<Self>,
                shape: gemv::Shape,
                alpha: $Sum,
                beta: $Sum,
            ) -> Result<(), gpu_core::Error> {
                // SAFETY: the caller's promise.
                unsafe { gemv::$finish::launch(stream, config, partials, y, shape, alpha, beta) }
            }
        }
    )* };
}

elements! {
    f32, f32: linalg_gemv_along_f32, linalg_gemv_across_f32, linalg_gemv_finish_f32;
    f64, f64: linalg_gemv_along_f64, linalg_gemv_across_f64, linalg_gemv_finish_f64;
    f16, f32: linalg_gemv_along_f16, linalg_gemv_across_f16, linalg_gemv_finish_f16;
    bf16, f32: linalg_gemv_along_bf16, linalg_gemv_across_bf16, linalg_gemv_finish_bf16;
}

/// Enqueues the product of `plan`.
pub(crate) fn gemm<T: RealElement>(
    stream: &Stream,
    plan: &plan::gemm::Plan,
    alpha: T,
    a: View<'_, T>,
    b: View<'_, T>,
    beta: T,
    mut c: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (a, b) = if plan.swapped { (b, a) } else { (a, b) };
    let (a, b, c) = (a.as_global(), b.as_global(), c.as_global_mut());
    // SAFETY: the views hold the batches of the plan's layouts (checked where they were made), C's matrices do not
    // overlap and are exclusive; everything is freed only after the work enqueued before.
    unsafe { T::gemm(plan.kernel, stream, plan.launch, a, b, c, plan.product, alpha, beta)? };
    Ok(())
}

/// Enqueues the product of `plan`.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn gemv<T: Element>(
    stream: &Stream,
    plan: &plan::gemv::Plan,
    alpha: T::Sum,
    a: View<'_, T>,
    x: View<'_, T>,
    beta: T::Sum,
    mut y: ViewMut<'_, T>,
    mut scratch: ViewMut<'_, T::Sum>,
) -> Result<(), Error> {
    let (a, x, y, partials) = (a.as_global(), x.as_global(), y.as_global_mut(), scratch.as_global_mut());
    // SAFETY: the views hold matrix, vectors and partial sums of the plan's shape (checked by the caller), `y` and
    // the partial sums are exclusive; everything is freed only after the work enqueued before.
    unsafe { T::gemv(plan.along, stream, plan.launch, a, x, y, partials, plan.shape, alpha, beta)? };
    if let Some(finish) = plan.finish {
        // SAFETY: as above.
        unsafe { T::finish(stream, finish, partials.as_global(), y, plan.shape, alpha, beta)? };
    }
    Ok(())
}

/// Enqueues the element-wise operation of `plan`, whose matrices start at `x`, `y` and `output`.
pub(crate) fn elementwise<T: RealElement>(
    stream: &Stream,
    plan: &plan::elementwise::Plan,
    alpha: T,
    x: Global<T>,
    y: Global<T>,
    output: GlobalMut<T>,
) -> Result<(), Error> {
    // SAFETY: the caller took the accessors from views that hold the matrices of the plan's layouts. The output is
    // exclusive, or it is an input with the same layout, of which each thread reads what it writes; everything is
    // freed only after the work enqueued before.
    unsafe { T::elementwise(stream, plan.launch, x, y, output, plan.lines, alpha)? };
    Ok(())
}

/// Enqueues the exchange of `plan`, whose matrices start at `x` and `y`.
pub(crate) fn swap<T: RealElement>(
    stream: &Stream,
    plan: &plan::elementwise::Plan,
    x: GlobalMut<T>,
    y: GlobalMut<T>,
) -> Result<(), Error> {
    // SAFETY: the caller took the accessors from exclusive views that hold the matrices of the plan's layouts, and
    // everything is freed only after the work enqueued before.
    unsafe { T::swap(stream, plan.launch, x, y, plan.lines)? };
    Ok(())
}

/// Enqueues the outer product of `plan`, added to `a`.
pub(crate) fn ger<T: RealElement>(
    stream: &Stream,
    plan: &plan::elementwise::Plan,
    alpha: T,
    of_lines: View<'_, T>,
    of_places: View<'_, T>,
    mut a: ViewMut<'_, T>,
) -> Result<(), Error> {
    let (of_lines, of_places, a) = (of_lines.as_global(), of_places.as_global(), a.as_global_mut());
    // SAFETY: the views hold the matrix of the plan's layout and a factor for each of its rows and columns (checked
    // by the caller), and `a` is exclusive; everything is freed only after the work enqueued before.
    unsafe { T::ger(stream, plan.launch, of_lines, of_places, a, plan.lines, alpha)? };
    Ok(())
}

/// Enqueues `y = alpha · A · x + beta · y`, of A the triangle of `plan`. `x` may be `y`, as it is read before `y` is
/// written.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn triangle<T: RealElement>(
    stream: &Stream,
    plan: &plan::triangle::Plan,
    alpha: T,
    a: View<'_, T>,
    x: Global<T>,
    beta: T,
    y: GlobalMut<T>,
    mut scratch: ViewMut<'_, T>,
) -> Result<(), Error> {
    let partials = scratch.as_global_mut();
    // SAFETY: the caller took the accessors of the vectors from views that hold them, `y` from an exclusive one; the
    // other views hold the triangle and the pieces of the plan's shape (checked by the caller), and the pieces are
    // exclusive. The second launch, which writes `y`, begins after the first, which reads `x`. Everything is freed
    // only after the work enqueued before.
    unsafe {
        T::triangle(stream, plan.launch, a.as_global(), x, partials, plan.shape)?;
        T::finish(stream, plan.finish, partials.as_global(), y, plan.pieces, alpha, beta)?;
    }
    Ok(())
}
