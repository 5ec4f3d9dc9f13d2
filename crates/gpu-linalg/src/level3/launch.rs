//! The launches of these steps: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_level3_kernels::{self as kernels, Invert, Merge, Spread};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::error::Error;
use crate::launch::RealElement;

/// A type of elements of triangular and symmetric matrices: `f32`, `f64`.
pub trait TriangleElement: RealElement + sealed::Kernels {}

mod sealed {
    use super::*;

    /// The parameters of inverses: A, the inverses, the same apart, zeros on the diagonal, what is inverted.
    pub type OfInvert<T> = (Global<T>, GlobalMut<T>, GlobalMut<T>, GlobalMut<u32>, Invert);

    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        type Invert: Kernel<Arguments = OfInvert<Self>>;
        /// A, the squares, what is written out.
        type Spread: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Spread)>;
        /// Sums, C, what is written, alpha, beta.
        type Merge: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Merge, Self, Self)>;
    }
}

macro_rules! elements {
    ($($T:ty: $invert:ident, $spread:ident, $merge:ident;)*) => { $(
        impl TriangleElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type Invert = kernels::$invert;
            type Spread = kernels::$spread;
            type Merge = kernels::$merge;
        }
    )* };
}
kernels::level3_instances!(elements);

/// Enqueues inverses of the blocks of matrices that start where `a` does. `apart` is `None` where the shape does not ask for it.
pub(super) fn invert<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Invert,
    a: View<'_, T>,
    mut inverses: ViewMut<'_, T>,
    apart: Option<ViewMut<'_, T>>,
    mut info: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let first = inverses.as_global_mut();
    let apart = apart.map_or(first, |mut apart| apart.as_global_mut());
    // SAFETY: the views hold the batch of the shape, the squares, the blocks apart where they are written, and a word for each
    // matrix (checked by the caller); all but A are exclusive, and they are freed only after the work enqueued before.
    unsafe { stream.launch::<T::Invert>(launch, (a, first, apart, info.as_global_mut(), shape))? };
    Ok(())
}

/// Enqueues the writing out of triangles of matrices that start where `a` does.
pub(super) fn spread<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Spread,
    a: View<'_, T>,
    output: ViewMut<'_, T>,
) -> Result<(), Error> {
    // SAFETY: the views hold the batch of the shape and its squares (checked by the caller); these are exclusive, and
    // everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Spread>(launch, (a, output, shape))? };
    Ok(())
}

/// Enqueues the writing of sums to C.
pub(super) fn merge<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Merge,
    sums: View<'_, T>,
    c: ViewMut<'_, T>,
    (alpha, beta): (T, T),
) -> Result<(), Error> {
    // SAFETY: the views hold the batches of the shape (checked where they were made), C's matrices do not overlap and are
    // exclusive; everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Merge>(launch, (sums, c, shape, alpha, beta))? };
    Ok(())
}
