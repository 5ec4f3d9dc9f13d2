//! The launches: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_linalg_kernels::{self as kernels, Scalar, elementwise, gemm, gemv, triangle};
use gpu_std::half::{bf16, f16};
use gpu_std::launch::Kernel;
use gpu_std::memory::{Global, GlobalMut};

use crate::cpu::{Lines, Products};
use crate::plan;

/// A type of elements of vectors and matrices: `f32`, `f64`, and, computed with as `f32`, `f16` and `bf16`.
pub trait Element:
    gpu_core::Element + Scalar<Sum: gpu_core::Element> + Lines + sealed::VectorKernels
{
}

/// A type of elements that are computed with as they are: `f32`, `f64`.
pub trait RealElement:
    Element + Products + Into<f64> + Scalar<Sum = Self> + sealed::MatrixKernels + sealed::ProductKernels
{
}

mod sealed {
    use super::*;

    /// The parameters of a product of matrices: A, B, C, what is to be done, alpha, beta.
    pub type OfProduct<T> = (Global<T>, Global<T>, GlobalMut<T>, gemm::Product, T, T);

    /// The same of batches whose matrices start where a table says, too, which is behind C.
    pub type OfListed<T> = (Global<T>, Global<T>, GlobalMut<T>, Global<u64>, gemm::Product, T, T);

    /// The parameters of a product of a matrix and a vector: A, x, y, the sums of the pieces, what is to be done, alpha,
    /// beta.
    pub type OfVectors<T, S> = (Global<T>, Global<T>, GlobalMut<T>, GlobalMut<S>, gemv::Shape, S, S);

    /// The kernels for products of matrices.
    ///
    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait ProductKernels: Scalar {
        /// Products by the kernels of [`plan::gemm::Kernel`].
        type Large: Kernel<Arguments = OfProduct<Self>>;
        type LargeB: Kernel<Arguments = OfProduct<Self>>;
        type LargeAb: Kernel<Arguments = OfProduct<Self>>;
        type Medium: Kernel<Arguments = OfListed<Self>>;
        type Low: Kernel<Arguments = OfProduct<Self>>;
        type Flat: Kernel<Arguments = OfProduct<Self>>;
        type Double: Kernel<Arguments = OfProduct<Self>>;
        type AlignedNn: Kernel<Arguments = OfProduct<Self>>;
        type AlignedNt: Kernel<Arguments = OfProduct<Self>>;
        type AlignedTn: Kernel<Arguments = OfProduct<Self>>;
        type AlignedTt: Kernel<Arguments = OfProduct<Self>>;
        type TensorLarge: Kernel<Arguments = OfProduct<Self>>;
        type TensorMedium: Kernel<Arguments = OfListed<Self>>;
        type TensorHalves: Kernel<Arguments = OfProduct<Self>>;
        type TensorFlat: Kernel<Arguments = OfProduct<Self>>;
        type Short: Kernel<Arguments = OfProduct<Self>>;
        type Small: Kernel<Arguments = OfListed<Self>>;
        /// The sums of the parts, C, what is to be done, alpha, beta.
        type AddParts: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, gemm::Parts, Self, Self)>;
    }

    /// The other kernels for matrices.
    ///
    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait MatrixKernels: Scalar {
        /// x, y, output, the lines, alpha.
        type Elementwise: Kernel<
            Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, elementwise::Lines, Self),
        >;
        /// x, y, the lines.
        type Swap: Kernel<Arguments = (GlobalMut<Self>, GlobalMut<Self>, elementwise::Lines)>;
        /// Factors of lines and of places, A, the lines, alpha.
        type Ger: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, elementwise::Lines, Self)>;
        /// A, x, the sums of the pieces, the triangle.
        type Triangle: Kernel<Arguments = (Global<Self>, Global<Self>, GlobalMut<Self>, triangle::Shape)>;
    }

    /// The kernels for products of a matrix and a vector.
    ///
    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait VectorKernels: Scalar {
        /// Sums along the lines.
        type Along: Kernel<Arguments = OfVectors<Self, Self::Sum>>;
        /// Sums across the lines.
        type Across: Kernel<Arguments = OfVectors<Self, Self::Sum>>;
        /// The addition of the pieces: their sums, y, what is to be done, alpha, beta.
        type Finish: Kernel<
            Arguments = (Global<Self::Sum>, GlobalMut<Self>, gemv::Shape, Self::Sum, Self::Sum),
        >;
    }
}

macro_rules! real_elements {
    ($($T:ty, $v:literal: $elementwise:ident, $swap:ident, $ger:ident, $triangle:ident;)*) => { $(
        impl RealElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::MatrixKernels for $T {
            type Elementwise = kernels::$elementwise;
            type Swap = kernels::$swap;
            type Ger = kernels::$ger;
            type Triangle = kernels::$triangle;
        }
    )* };
}
kernels::real_instances!(real_elements);

macro_rules! products {
    ($($T:ty: $($kernel:ident $name:ident)*;)*) => { $(
        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::ProductKernels for $T {
            $( type $kernel = gemm::$name; )*
        }
    )* };
}
// A plan never has a kernel that its type does not: those stand for the one they would be.
products! {
    f32: Large linalg_gemm_large_f32 LargeB linalg_gemm_large_b_f32 LargeAb linalg_gemm_large_ab_f32
        Medium linalg_gemm_medium_f32
        Low linalg_gemm_low_f32 Flat linalg_gemm_flat_f32
        AlignedNn linalg_gemm_low_f32 AlignedNt linalg_gemm_low_f32
        AlignedTn linalg_gemm_low_f32 AlignedTt linalg_gemm_low_f32
        Double linalg_gemm_low_f32 TensorLarge linalg_gemm_low_f32 TensorMedium linalg_gemm_medium_f32
        TensorHalves linalg_gemm_low_f32 TensorFlat linalg_gemm_low_f32
        Short linalg_gemm_short_f32 Small linalg_gemm_small_f32
        AddParts linalg_gemm_finish_f32;
    f64: Large linalg_gemm_f64 LargeB linalg_gemm_f64 LargeAb linalg_gemm_f64 Medium linalg_gemm_small_f64
        Low linalg_gemm_f64 Flat linalg_gemm_f64
        AlignedNn linalg_gemm_aligned_nn_f64 AlignedNt linalg_gemm_aligned_nt_f64
        AlignedTn linalg_gemm_aligned_tn_f64 AlignedTt linalg_gemm_aligned_tt_f64
        Double linalg_gemm_f64 TensorLarge linalg_gemm_tensor_f64 TensorMedium linalg_gemm_tensor_medium_f64
        TensorHalves linalg_gemm_tensor_halves_f64
        TensorFlat linalg_gemm_tensor_flat_f64
        Short linalg_gemm_short_f64 Small linalg_gemm_small_f64
        AddParts linalg_gemm_finish_f64;
}

macro_rules! elements {
    ($($T:ty, $Sum:ty, $v:literal: $along:ident, $across:ident, $finish:ident;)*) => { $(
        impl Element for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::VectorKernels for $T {
            type Along = gemv::$along;
            type Across = gemv::$across;
            type Finish = gemv::$finish;
        }
    )* };
}
kernels::gemv_instances!(elements);

/// Enqueues the product of `plan`; `starts` is the table of a [listed](plan::gemm::Plan::listed) one.
#[expect(clippy::too_many_arguments, reason = "those of the product")]
pub(crate) fn gemm<T: RealElement>(
    stream: &Stream,
    plan: &plan::gemm::Plan,
    alpha: T,
    a: View<'_, T>,
    b: View<'_, T>,
    beta: T,
    mut c: ViewMut<'_, T>,
    starts: Option<View<'_, u64>>,
    mut scratch: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    use plan::gemm::Kernel;
    let (a, b) = if plan.swapped { (b, a) } else { (a, b) };
    let (mut to, of_sums, of_c) = match plan.finish {
        None => (c.reborrow(), alpha, beta),
        Some(_) => (scratch.reborrow(), T::ONE, T::ZERO),
    };
    // Without a table nothing is read of it.
    let starts = starts.map_or(a.as_global().cast(), |starts| starts.as_global());
    let plain = |to| (a, b, to, plan.product, of_sums, of_c);
    let listed = |to| (a, b, to, starts, plan.product, of_sums, of_c);
    // SAFETY: the views hold the batches of the plan's layouts (checked where they were made), C's matrices do not
    // overlap and are exclusive, and so are the parts' sums, for which there is room (checked by the caller); so it is
    // of matrices that start where the table says. Everything is freed only after the work enqueued before.
    unsafe {
        match plan.kernel {
            // By which of the factors are copied by 16 bytes.
            Kernel::Large => match (plan.product.a.vectors, plan.product.b.vectors) {
                (_, 0) => stream.launch::<T::Large>(plan.launch, plain(to)),
                (0, _) => stream.launch::<T::LargeB>(plan.launch, plain(to)),
                _ => stream.launch::<T::LargeAb>(plan.launch, plain(to)),
            },
            Kernel::Medium => stream.launch::<T::Medium>(plan.launch, listed(to)),
            Kernel::Low => stream.launch::<T::Low>(plan.launch, plain(to)),
            Kernel::Flat => stream.launch::<T::Flat>(plan.launch, plain(to)),
            Kernel::Double => stream.launch::<T::Double>(plan.launch, plain(to)),
            // By which of the factors are contiguous along the sums.
            Kernel::TensorAligned => match (plan.product.a.along_k, plan.product.b.along_k) {
                (1, 0) => stream.launch::<T::AlignedNn>(plan.launch, plain(to)),
                (1, _) => stream.launch::<T::AlignedNt>(plan.launch, plain(to)),
                (_, 0) => stream.launch::<T::AlignedTn>(plan.launch, plain(to)),
                _ => stream.launch::<T::AlignedTt>(plan.launch, plain(to)),
            },
            Kernel::TensorBulk => {
                let [a, b] = plan.tensors.expect("the plan says where the copy engine finds the factors");
                let (a, b) = (stream.tensor_map(&a)?, stream.tensor_map(&b)?);
                // Only doubles have this kernel.
                let c = to.as_global_mut().cast::<f64>();
                let arguments = (a, b, c, plan.product, of_sums.into(), of_c.into());
                // As above.
                match (plan.product.a.along_k, plan.product.b.along_k) {
                    (1, 0) => stream.launch::<gemm::linalg_gemm_bulk_nn_f64>(plan.launch, arguments),
                    (1, _) => stream.launch::<gemm::linalg_gemm_bulk_nt_f64>(plan.launch, arguments),
                    (_, 0) => stream.launch::<gemm::linalg_gemm_bulk_tn_f64>(plan.launch, arguments),
                    _ => stream.launch::<gemm::linalg_gemm_bulk_tt_f64>(plan.launch, arguments),
                }
            }
            Kernel::TensorLarge => stream.launch::<T::TensorLarge>(plan.launch, plain(to)),
            Kernel::TensorMedium => stream.launch::<T::TensorMedium>(plan.launch, listed(to)),
            Kernel::TensorHalves => stream.launch::<T::TensorHalves>(plan.launch, plain(to)),
            Kernel::TensorFlat => stream.launch::<T::TensorFlat>(plan.launch, plain(to)),
            Kernel::Short => stream.launch::<T::Short>(plan.launch, plain(to)),
            Kernel::Small => stream.launch::<T::Small>(plan.launch, listed(to)),
        }
    }?;
    if let Some((launch, parts)) = plan.finish {
        // SAFETY: as above.
        unsafe { stream.launch::<T::AddParts>(launch, (View::from(scratch), c, parts, alpha, beta))? };
    }
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
) -> gpu_core::Result<()> {
    let arguments = (a, x, y.reborrow(), scratch.reborrow(), plan.shape, alpha, beta);
    // SAFETY: the views hold matrix, vectors and partial sums of the plan's shape (checked by the caller), `y` and
    // the partial sums are exclusive; everything is freed only after the work enqueued before.
    unsafe {
        if plan.along {
            stream.launch::<T::Along>(plan.launch, arguments)
        } else {
            stream.launch::<T::Across>(plan.launch, arguments)
        }
    }?;
    if let Some(finish) = plan.finish {
        // SAFETY: as above.
        unsafe { stream.launch::<T::Finish>(finish, (View::from(scratch), y, plan.shape, alpha, beta))? };
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
) -> gpu_core::Result<()> {
    // SAFETY: the caller took the accessors from views that hold the matrices of the plan's layouts. The output is
    // exclusive, or it is an input with the same layout, of which each thread reads what it writes; everything is
    // freed only after the work enqueued before.
    unsafe { stream.launch::<T::Elementwise>(plan.launch, (x, y, output, plan.lines, alpha)) }
}

/// Enqueues the exchange of `plan`, whose matrices start at `x` and `y`.
pub(crate) fn swap<T: RealElement>(
    stream: &Stream,
    plan: &plan::elementwise::Plan,
    x: GlobalMut<T>,
    y: GlobalMut<T>,
) -> gpu_core::Result<()> {
    // SAFETY: the caller took the accessors from exclusive views that hold the matrices of the plan's layouts, and
    // everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Swap>(plan.launch, (x, y, plan.lines)) }
}

/// Enqueues the outer product of `plan`, added to `a`.
pub(crate) fn ger<T: RealElement>(
    stream: &Stream,
    plan: &plan::elementwise::Plan,
    alpha: T,
    of_lines: View<'_, T>,
    of_places: View<'_, T>,
    a: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    // SAFETY: the views hold the matrix of the plan's layout and a factor for each of its rows and columns (checked
    // by the caller), and `a` is exclusive; everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Ger>(plan.launch, (of_lines, of_places, a, plan.lines, alpha)) }
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
) -> gpu_core::Result<()> {
    // SAFETY: the caller took the accessors of the vectors from views that hold them, `y` from an exclusive one; the
    // other views hold the triangle and the pieces of the plan's shape (checked by the caller), and the pieces are
    // exclusive. The second launch, which writes `y`, begins after the first, which reads `x`. Everything is freed
    // only after the work enqueued before.
    unsafe {
        stream.launch::<T::Triangle>(plan.launch, (a, x, scratch.reborrow(), plan.shape))?;
        stream.launch::<T::Finish>(plan.finish, (View::from(scratch), y, plan.pieces, alpha, beta))
    }
}
