//! Which items are selected: one rule for the kernels and the CPU.

use std::marker::PhantomData;

use gpu_core::{Element, Stream, View, checks};

use super::launch::{LaunchRule, PredicateInstance};
use gpu_core::Error;

/// A rule that selects items of type `T`.
pub(super) trait Rule<T: Element>: LaunchRule<T> + Sync {
    /// Its name in messages.
    const NAME: &'static str;

    /// Whether it is one for `len` items.
    fn check(&self, _len: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Whether what it reads is on the stream's device.
    fn expect(&self, _stream: &Stream) -> Result<(), Error> {
        Ok(())
    }

    /// Whether an item is selected; on the CPU.
    fn keeps(&self, items: &[T], index: usize) -> bool;
}

/// By flags.
pub(super) struct ByFlags<'a>(pub(super) View<'a, u8>);

impl<T: Element> Rule<T> for ByFlags<'_> {
    const NAME: &'static str = "selection by flags";

    fn check(&self, len: usize) -> Result<(), Error> {
        checks::inputs(<Self as Rule<T>>::NAME, len, self.0.len())
    }

    fn expect(&self, stream: &Stream) -> Result<(), Error> {
        stream.expect("flags of a selection", self.0.device())
    }

    fn keeps(&self, _: &[T], index: usize) -> bool {
        self.0.as_slice().expect("flags are where items are")[index] != 0
    }
}

/// What differs in its bits from the item before.
pub(super) struct Unlike;

impl<T: Element> Rule<T> for Unlike {
    const NAME: &'static str = "selection of unique items";

    fn keeps(&self, items: &[T], index: usize) -> bool {
        index == 0 || bytemuck::bytes_of(&items[index]) != bytemuck::bytes_of(&items[index - 1])
    }
}

/// By a predicate.
pub(super) struct ByPredicate<P>(PhantomData<fn() -> P>);

impl<P> ByPredicate<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: PredicateInstance> Rule<P::Item> for ByPredicate<P> {
    const NAME: &'static str = P::NAME;

    fn keeps(&self, items: &[P::Item], index: usize) -> bool {
        P::keep(items[index])
    }
}
