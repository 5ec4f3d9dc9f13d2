//! The launches of these steps: their only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_level3_kernels::{self as kernels, Copy, Solve, Spread};
use gpu_std::launch::{Kernel, LaunchConfig};
use gpu_std::memory::{Global, GlobalMut};

use crate::launch::RealElement;
use crate::plan::level3::Form;

/// A type of elements of triangular and symmetric matrices: `f32`, `f64`.
pub trait TriangleElement: RealElement + sealed::Kernels {}

mod sealed {
    use super::*;

    /// The parameters of systems: L, B, the copy of X, words, zeros on the diagonal, alpha, what is solved.
    pub type OfSolve<T> = (Global<T>, GlobalMut<T>, GlobalMut<T>, GlobalMut<u32>, GlobalMut<u32>, T, Solve);

    /// # Safety
    /// Each is the kernel of its name, of this type.
    pub unsafe trait Kernels: gpu_std::memory::Element {
        type SolveWide: Kernel<Arguments = OfSolve<Self>>;
        type SolveNarrow: Kernel<Arguments = OfSolve<Self>>;
        /// L, B, zeros on the diagonal, alpha, what is solved.
        type SolveFew: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, GlobalMut<u32>, Self, Solve)>;
        /// A, the squares, what is written out.
        type Spread: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Spread)>;
        /// From where, to where, what is copied.
        type Copy: Kernel<Arguments = (Global<Self>, GlobalMut<Self>, Copy)>;
    }
}

macro_rules! elements {
    ($($T:ty, $v:literal: $wide:ident, $narrow:ident, $few:ident, $spread:ident, $copy:ident;)*) => { $(
        impl TriangleElement for $T {}

        // SAFETY: the table names the kernels of the type.
        unsafe impl sealed::Kernels for $T {
            type SolveWide = kernels::$wide;
            type SolveNarrow = kernels::$narrow;
            type SolveFew = kernels::$few;
            type Spread = kernels::$spread;
            type Copy = kernels::$copy;
        }
    )* };
}
kernels::level3_instances!(elements);

/// What a system is solved with, and where to.
pub(super) struct System<'s, T: RealElement> {
    pub(super) l: View<'s, T>,
    pub(super) b: ViewMut<'s, T>,
    /// The copy of X, if there is one.
    pub(super) x: Option<ViewMut<'s, T>>,
    /// Words that are zero, in elements of any type; none where none are needed.
    pub(super) words: ViewMut<'s, T>,
    pub(super) info: ViewMut<'s, u32>,
    pub(super) alpha: T,
}

/// Enqueues a system.
pub(super) fn solve<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Solve,
    form: Form,
    system: System<'_, T>,
) -> gpu_core::Result<()> {
    let System { l, mut b, x, mut words, mut info, alpha } = system;
    let b = b.as_global_mut();
    let x = x.map_or(b, |mut x| x.as_global_mut());
    let (words, info) = (words.as_global_mut().cast::<u32>(), info.as_global_mut());
    // SAFETY: the views hold the batches of the shape, its words, and a word of `info` for each matrix (checked by the caller); all but L
    // are exclusive, elements are aligned as words are, and everything is freed only after the work enqueued before.
    unsafe {
        match form {
            Form::Few => stream.launch::<T::SolveFew>(launch, (l, b, info, alpha, shape))?,
            Form::Narrow => stream.launch::<T::SolveNarrow>(launch, (l, b, x, words, info, alpha, shape))?,
            Form::Wide => stream.launch::<T::SolveWide>(launch, (l, b, x, words, info, alpha, shape))?,
        }
    }
    Ok(())
}

/// Enqueues the writing out of triangles of matrices that start where `a` does.
pub(super) fn spread<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Spread,
    a: View<'_, T>,
    output: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    // SAFETY: the views hold the batch of the shape and its squares (checked by the caller); these are exclusive, and
    // everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Spread>(launch, (a, output, shape)) }
}

/// Enqueues a copy of matrices.
pub(super) fn copy<T: TriangleElement>(
    stream: &Stream,
    launch: LaunchConfig,
    shape: Copy,
    from: View<'_, T>,
    to: ViewMut<'_, T>,
) -> gpu_core::Result<()> {
    // SAFETY: the views hold the batches of the shape (checked where they were made), those written do not overlap and are
    // exclusive; everything is freed only after the work enqueued before.
    unsafe { stream.launch::<T::Copy>(launch, (from, to, shape)) }
}
