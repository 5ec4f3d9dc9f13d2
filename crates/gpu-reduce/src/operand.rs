//! What a reduction takes: one array, or two of the same length.

use gpu_core::{Device, View, checks};
use gpu_reduce_kernels::{Item, Reduction, THREADS};
use gpu_std::half::{bf16, f16};

use crate::reference;
use gpu_core::Error;

/// An [`Item`] with the views that it comes from. Implemented for every type of elements, and for pairs of one.
pub trait Operand: Item {
    /// `View<'a, T>` or a pair of them.
    type Views<'a>;
    /// `&'a [T]` or a pair of them.
    type Slices<'a>: Columns<Item = Self>;
    /// Elements of each array.
    ///
    /// # Errors
    /// [`Error::InputLengths`].
    fn len(views: &Self::Views<'_>, what: &'static str) -> Result<usize, Error>;
    /// Where each array lives.
    fn devices<'a>(views: &Self::Views<'a>) -> [&'a Device; 2];
    /// The elements, if they are on the CPU.
    fn slices<'a>(views: &Self::Views<'a>) -> Option<Self::Slices<'a>>;
    /// What a kernel reads them through.
    fn source(views: &Self::Views<'_>) -> Self::Source;
    /// The CPU's reduction of at least one item: [`reference::whole`] with the layout of a thread's loads.
    #[doc(hidden)]
    fn on_cpu<R: Reduction<Item = Self>, C: Columns<Item = Self>>(input: C) -> R::Accumulator;
}

/// One or two slices of the same length.
#[expect(clippy::len_without_is_empty, reason = "nothing asks")]
pub trait Columns: Copy + Send + Sync {
    /// An element, or a pair.
    type Item;
    /// How long they are.
    fn len(self) -> usize;
    /// The item at `index`.
    fn get(self, index: usize) -> Self::Item;
    /// A part of each.
    #[must_use]
    fn part(self, range: core::ops::Range<usize>) -> Self;
}

macro_rules! operands {
    ($($t:ty: $per_load:literal, $accumulators:literal;)*) => { $(
        impl Operand for $t {
            type Views<'a> = View<'a, $t>;
            type Slices<'a> = &'a [$t];
            fn len(views: &View<'_, $t>, _: &'static str) -> Result<usize, Error> {
                Ok(views.len())
            }
            fn devices<'a>(views: &Self::Views<'a>) -> [&'a Device; 2] {
                [views.device(); 2]
            }
            fn slices<'a>(views: &Self::Views<'a>) -> Option<Self::Slices<'a>> {
                views.as_slice()
            }
            fn source(views: &View<'_, $t>) -> Self::Source {
                views.as_global()
            }
            fn on_cpu<R: Reduction<Item = Self>, C: Columns<Item = Self>>(input: C) -> R::Accumulator {
                reference::whole::<R, C, $per_load, $accumulators, { $accumulators * THREADS as usize }>(input)
            }
        }

        impl Operand for ($t, $t) {
            type Views<'a> = (View<'a, $t>, View<'a, $t>);
            type Slices<'a> = (&'a [$t], &'a [$t]);
            fn len(views: &Self::Views<'_>, what: &'static str) -> Result<usize, Error> {
                checks::inputs(what, views.0.len(), views.1.len())?;
                Ok(views.0.len())
            }
            fn devices<'a>(views: &Self::Views<'a>) -> [&'a Device; 2] {
                [views.0.device(), views.1.device()]
            }
            fn slices<'a>(views: &Self::Views<'a>) -> Option<Self::Slices<'a>> {
                Some((views.0.as_slice()?, views.1.as_slice()?))
            }
            fn source(views: &Self::Views<'_>) -> Self::Source {
                (views.0.as_global(), views.1.as_global())
            }
            fn on_cpu<R: Reduction<Item = Self>, C: Columns<Item = Self>>(input: C) -> R::Accumulator {
                reference::whole::<R, C, $per_load, $accumulators, { $accumulators * THREADS as usize }>(input)
            }
        }

        impl Columns for &[$t] {
            type Item = $t;
            #[inline(always)]
            fn len(self) -> usize {
                <[$t]>::len(self)
            }
            #[inline(always)]
            fn get(self, index: usize) -> $t {
                self[index]
            }
            #[inline(always)]
            fn part(self, range: core::ops::Range<usize>) -> Self {
                &self[range]
            }
        }

        impl Columns for (&[$t], &[$t]) {
            type Item = ($t, $t);
            #[inline(always)]
            fn len(self) -> usize {
                self.0.len().min(self.1.len())
            }
            #[inline(always)]
            fn get(self, index: usize) -> ($t, $t) {
                (self.0[index], self.1[index])
            }
            #[inline(always)]
            fn part(self, range: core::ops::Range<usize>) -> Self {
                (&self.0[range.clone()], &self.1[range])
            }
        }
    )* };
}
// Elements of a 16-byte load, and the accumulators of a thread.
operands! {
    i8: 16, 4; u8: 16, 4; i16: 8, 4; u16: 8, 4; f16: 8, 4; bf16: 8, 4;
    f32: 4, 4; i32: 4, 4; u32: 4, 4; f64: 2, 2; i64: 2, 2; u64: 2, 2;
}
