//! What kernels compute.

use gpu_std::memory::{Element, GlobalMut};

use super::item::Item;
use super::number::Accumulator;
use super::operator::Reduction;

/// What a kernel computes: any [`Reduction`], or one of [several](super::several), which the kernel's source tells it.
///
/// What has the name of something of [`Reduction`] is that.
pub trait Computed: 'static {
    /// What it takes.
    type Item: Item;
    /// What a thread holds while it takes elements.
    type Local: Copy + Send + Sync;
    /// What threads and blocks exchange.
    type Accumulator: Accumulator;
    /// What it writes; the largest type of several.
    type Output: Element;
    /// How many outputs it writes at most.
    const OUTPUTS: u32;
    /// The result of nothing, internally.
    const IDENTITY: Self::Accumulator;
    /// Before any element.
    fn start(first: u32) -> Self::Local;
    /// With one element more.
    #[must_use]
    fn take(source: SourceOf<Self>, local: Self::Local, item: Self::Item, offset: u32) -> Self::Local;
    /// For other threads.
    fn widen(source: SourceOf<Self>, local: Self::Local, base: u64) -> Self::Accumulator;
    /// Two results as one.
    #[must_use]
    fn combine(source: SourceOf<Self>, a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;
    /// Writes the outputs of result number `index`, of nothing those of [`Reduction::EMPTY`].
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(
        source: SourceOf<Self>,
        output: GlobalMut<Self::Output>,
        index: u64,
        total: Option<Self::Accumulator>,
    );
}

/// What the kernels of a reduction read.
pub type SourceOf<R> = <<R as Computed>::Item as Item>::Source;

impl<R: Reduction> Computed for R {
    type Item = R::Item;
    type Local = R::Local;
    type Accumulator = R::Accumulator;
    type Output = R::Output;
    const OUTPUTS: u32 = R::OUTPUTS;
    const IDENTITY: R::Accumulator = R::IDENTITY;
    #[inline(always)]
    fn start(first: u32) -> R::Local {
        R::start(first)
    }
    #[inline(always)]
    fn take(_: SourceOf<R>, local: R::Local, item: R::Item, offset: u32) -> R::Local {
        R::take(local, item, offset)
    }
    #[inline(always)]
    fn widen(_: SourceOf<R>, local: R::Local, base: u64) -> R::Accumulator {
        R::widen(local, base)
    }
    #[inline(always)]
    fn combine(_: SourceOf<R>, a: R::Accumulator, b: R::Accumulator) -> R::Accumulator {
        R::combine(a, b)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn write(_: SourceOf<R>, output: GlobalMut<R::Output>, index: u64, total: Option<R::Accumulator>) {
        let output = output.offset(index * R::OUTPUTS as u64);
        for number in 0..R::OUTPUTS {
            let value = match (total, R::EMPTY) {
                (Some(total), _) => R::output(total, number),
                (None, Some(empty)) => empty,
                (None, None) => return,
            };
            output.write(number, value);
        }
    }
}
