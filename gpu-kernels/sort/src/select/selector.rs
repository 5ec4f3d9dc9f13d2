//! What is kept, and where it goes.

use core::marker::PhantomData;

use gpu_std::memory::{Element, Global, GlobalMut};

/// Where items go.
#[derive(Clone, Copy)]
pub struct Kept<T: Element> {
    /// Those that are kept.
    pub selected: GlobalMut<T>,
    /// Those that are not, if they are wanted.
    pub rejected: GlobalMut<T>,
    /// Whether they are.
    pub partition: bool,
    /// How many are kept.
    pub count: GlobalMut<u64>,
}

/// A rule that says which items are kept, and what of them.
pub trait Selector<T: Element>: Copy {
    /// What is taken of an item into shared memory.
    type Taken: Element;
    /// What is written.
    type Output: Element;
    /// Whether [`keep`](Self::keep) reads items beside the one that it is asked about.
    const READS_ITEMS: bool;
    /// Whether `item` is kept, which is `part[at]` and the array's number `base + at`.
    fn keep(self, part: Global<T>, base: u64, at: u32, item: T) -> bool;
    /// What is taken of `item`, number `at` of its tile.
    fn take(self, at: u32, item: T) -> Self::Taken;
    /// What is written of it; its tile starts at `base`.
    fn output(self, base: u64, taken: Self::Taken) -> Self::Output;
}

/// The item itself is taken and written.
macro_rules! takes_items {
    ($t:ty) => {
        type Taken = $t;
        type Output = $t;
        #[inline(always)]
        fn take(self, _: u32, item: $t) -> $t {
            item
        }
        #[inline(always)]
        fn output(self, _: u64, taken: $t) -> $t {
            taken
        }
    };
}

/// Items whose flag is not zero.
#[derive(Clone, Copy)]
pub struct Flags(
    /// One an item.
    pub Global<u8>,
);

impl<T: Element> Selector<T> for Flags {
    takes_items!(T);
    const READS_ITEMS: bool = false;
    #[inline(always)]
    fn keep(self, _: Global<T>, base: u64, at: u32, _: T) -> bool {
        self.0.offset(base).read(at) != 0
    }
}

/// The first item, and those that differ from the one before.
#[derive(Clone, Copy)]
pub struct Unique;

impl<T: Element> Selector<T> for Unique {
    takes_items!(T);
    const READS_ITEMS: bool = true;
    #[inline(always)]
    fn keep(self, part: Global<T>, base: u64, at: u32, item: T) -> bool {
        // Of the first item the one before is itself.
        let is_first = at == 0 && base == 0;
        let before = part.offset((at as u64).wrapping_sub(!is_first as u64)).read(0);
        is_first || before != item
    }
}

/// The numbers of the items that [`Unique`] keeps: where runs of equal items start.
#[derive(Clone, Copy)]
pub struct Starts;

impl<T: Element> Selector<T> for Starts {
    type Taken = u16;
    type Output = u64;
    const READS_ITEMS: bool = true;
    #[inline(always)]
    fn keep(self, part: Global<T>, base: u64, at: u32, item: T) -> bool {
        Unique.keep(part, base, at, item)
    }
    #[inline(always)]
    fn take(self, at: u32, _: T) -> u16 {
        at as u16
    }
    #[inline(always)]
    fn output(self, base: u64, taken: u16) -> u64 {
        base + taken as u64
    }
}

/// A rule about items alone.
///
/// It runs on the GPU, in the simulator and on the CPU; it is pure.
pub trait Predicate: 'static {
    /// An item.
    type Item: Element;
    /// Its name in messages.
    const NAME: &'static str;
    /// Whether the item is kept.
    fn keep(item: Self::Item) -> bool;
}

/// A predicate as a selector.
pub(super) struct By<P>(PhantomData<fn() -> P>);

impl<P> By<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P> Clone for By<P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for By<P> {}

impl<P: Predicate> Selector<P::Item> for By<P> {
    takes_items!(P::Item);
    const READS_ITEMS: bool = false;
    #[inline(always)]
    fn keep(self, _: Global<P::Item>, _: u64, _: u32, item: P::Item) -> bool {
        P::keep(item)
    }
}
