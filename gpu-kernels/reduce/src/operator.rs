//! What a reduction is.

use gpu_std::memory::Element;

use super::item::Item;
use super::number::Accumulator;

/// A reduction: how elements become one result.
///
/// A thread takes elements one after the other into a `Local`; threads, warps and blocks then combine `Accumulator`s.
/// The two are the same for a sum; where they differ the local form is the cheaper one (an offset of 32 bits instead
/// of an index of 64, a count of 32 bits).
///
/// # Laws
/// 1. *Identity:* `combine(IDENTITY, a)` and `combine(a, IDENTITY)` are `a`, bit for bit (any NaN being any NaN).
/// 2. *Associativity:* `combine(combine(a, b), c)` is `combine(a, combine(b, c))`, up to rounding. Elements are
///    combined in an order of their own (see the [module](super)), so it has to be commutative as well; that order is
///    always the same, so rounding is too.
/// 3. *Taking is combining:* `widen(take(l, x, i), b)` is what combining `widen(l, b)` with the result of `x` alone
///    gives.
/// 4. *Nothing taken:* `widen(start(i), b)` combined with any result that is not of elements beyond `b + i` leaves it.
///
/// Functions here run on the GPU, in the simulator and on the CPU; they are pure.
pub trait Reduction: Sized + 'static {
    /// What it takes.
    type Item: Item;
    /// What a thread holds while it takes elements.
    type Local: Copy + Send + Sync;
    /// What threads and blocks exchange.
    type Accumulator: Accumulator;
    /// What it writes.
    type Output: Element;
    /// Its name in messages.
    const NAME: &'static str;
    /// How many outputs it writes.
    const OUTPUTS: u32 = 1;
    /// The result of nothing, internally.
    const IDENTITY: Self::Accumulator;
    /// The result of nothing, if there is one.
    const EMPTY: Option<Self::Output>;
    /// Before any element. `first` is the offset of the first one that this accumulator may take.
    fn start(first: u32) -> Self::Local;
    /// With one element more, which lies `offset` after the block's first.
    #[must_use]
    fn take(local: Self::Local, item: Self::Item, offset: u32) -> Self::Local;
    /// For other threads. The block's first element is number `base` of the array.
    fn widen(local: Self::Local, base: u64) -> Self::Accumulator;
    /// Two results as one.
    #[must_use]
    fn combine(a: Self::Accumulator, b: Self::Accumulator) -> Self::Accumulator;
    /// Output `index` of the result of at least one element.
    fn output(total: Self::Accumulator, index: u32) -> Self::Output;
}

/// A function of one element, applied as it is read.
pub trait Map: 'static {
    /// What it takes.
    type Item: Item;
    /// What it gives.
    type Output;
    /// The function; pure.
    fn map(item: Self::Item) -> Self::Output;
}

/// The reduction `R` of what the map `M` gives.
#[derive(Clone, Copy, Debug)]
pub struct Mapped<M, R>(core::marker::PhantomData<fn() -> (M, R)>);

impl<M: Map<Output = R::Item>, R: Reduction> Reduction for Mapped<M, R> {
    type Item = M::Item;
    type Local = R::Local;
    type Accumulator = R::Accumulator;
    type Output = R::Output;
    const NAME: &'static str = R::NAME;
    const OUTPUTS: u32 = R::OUTPUTS;
    const IDENTITY: R::Accumulator = R::IDENTITY;
    const EMPTY: Option<R::Output> = R::EMPTY;
    #[inline(always)]
    fn start(first: u32) -> R::Local {
        R::start(first)
    }
    #[inline(always)]
    fn take(local: R::Local, item: M::Item, offset: u32) -> R::Local {
        R::take(local, M::map(item), offset)
    }
    #[inline(always)]
    fn widen(local: R::Local, base: u64) -> R::Accumulator {
        R::widen(local, base)
    }
    #[inline(always)]
    fn combine(a: R::Accumulator, b: R::Accumulator) -> R::Accumulator {
        R::combine(a, b)
    }
    #[inline(always)]
    fn output(total: R::Accumulator, index: u32) -> R::Output {
        R::output(total, index)
    }
}
