//! An operator that starts anew with every segment.

use core::marker::PhantomData;

use super::super::Scan;
use gpu_collective::Accumulator;

/// A result, and whether a segment starts among the elements it is of: then it is that since the last start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Since<A> {
    /// The result.
    pub value: A,
    /// 1 where a segment starts, else 0: a word, as a `bool` would bring bytes of padding, which the compiler copies
    /// through memory.
    starts: u32,
}

impl<A> Since<A> {
    /// A result, and whether a segment starts.
    #[inline(always)]
    pub const fn new(value: A, starts: bool) -> Self {
        Self { value, starts: starts as u32 }
    }

    /// Whether a segment starts.
    #[inline(always)]
    pub const fn starts(&self) -> bool {
        self.starts != 0
    }
}

impl<A: Accumulator> Accumulator for Since<A> {
    const WORDS: u32 = A::WORDS + 1;
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        if index < A::WORDS { self.value.word(index) } else { self.starts }
    }
    #[inline(always)]
    fn from_words(word: &mut impl FnMut(u32) -> u32) -> Self {
        let value = A::from_words(word);
        Self { value, starts: word(A::WORDS) }
    }
}

/// The operator on results since the last start of a segment that scans segments with `S` (Blelloch, "Prefix sums and
/// their applications", 1990, section 1.5). It is associative where `S` is, and its brackets are those of `S`, but
/// for those that a start cuts off.
#[derive(Clone, Copy, Debug)]
pub struct BySegment<S>(PhantomData<fn() -> S>);

impl<S: Scan> Scan for BySegment<S> {
    type Item = S::Item;
    type Register = Since<S::Register>;
    type Output = S::Output;
    const NAME: &'static str = S::NAME;
    const IDENTITY: S::Item = S::IDENTITY;
    const EMPTY: S::Output = S::EMPTY;
    #[inline(always)]
    fn extend(item: S::Item) -> Since<S::Register> {
        Since::new(S::extend(item), false)
    }
    #[inline(always)]
    fn combine(before: Since<S::Register>, after: Since<S::Register>) -> Since<S::Register> {
        let both = S::combine(before.value, after.value);
        let value = if after.starts() { after.value } else { both };
        Since { value, starts: before.starts | after.starts }
    }
    #[inline(always)]
    fn output(result: Since<S::Register>) -> S::Output {
        S::output(result.value)
    }
    #[inline(always)]
    fn resume(output: S::Output) -> Since<S::Register> {
        Since::new(S::resume(output), false)
    }
}

/// An element that starts a segment or does not; every segment starts with `initial`.
#[inline(always)]
pub fn element<S: Scan>(item: S::Item, starts: bool, initial: S::Register) -> Since<S::Register> {
    let value = S::extend(item);
    Since::new(if starts { S::combine(initial, value) } else { value }, starts)
}
