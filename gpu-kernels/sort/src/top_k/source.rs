//! What is selected from: keys, or candidates of a launch before.

use gpu_collective::warp::sort::Sortable;
use gpu_std::memory::Global;

use super::array::{Array, Keyed, compose, word_of};
use crate::composite::{Composite, Raw};

/// Where a row's words come from.
pub trait Source: Copy {
    /// What keys are compared by.
    type Word: Sortable;
    /// What is selected.
    type Composite: Composite;
    /// The same from element `elements` on.
    #[must_use]
    fn offset(self, elements: u32) -> Self;
    /// Word `at`, which is not needed again.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word(self, at: u32) -> Self::Word;
    /// Word `at` where that is below `limit`, elsewhere the highest.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word_below(self, at: u32, limit: u32) -> Self::Word;
    /// With its index.
    fn composite(self, word: Self::Word, at: u32) -> Self::Composite;
    /// The word of a composite.
    fn word_of(composite: Self::Composite) -> Self::Word;
    /// The word before this one, if there is one.
    fn before(word: Self::Word) -> Option<Self::Word>;
    /// Bits of a key.
    fn key_bits(self) -> u32;
    /// The highest index of `len` words that there may be.
    fn last_index(self, len: u32) -> u32;
}

/// Keys, the first of which has index `index` in its row.
#[derive(Clone, Copy)]
pub struct Keys<K: Keyed, C: Composite> {
    keys: Array<K>,
    /// One whose word is the highest.
    last: u64,
    index: u32,
    composite: core::marker::PhantomData<C>,
}

impl<K: Keyed, C: Composite> Keys<K, C> {
    /// Keys, one whose word is the highest, and the first one's index.
    #[inline(always)]
    pub(super) fn new(keys: Array<K>, last: u64, index: u32) -> Self {
        Self { keys, last, index, composite: core::marker::PhantomData }
    }
}

impl<K: Keyed, C: Composite> Source for Keys<K, C> {
    type Word = K::Word;
    type Composite = C;
    #[inline(always)]
    fn offset(self, elements: u32) -> Self {
        Self { keys: self.keys.offset(elements as u64), index: self.index + elements, ..self }
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word(self, at: u32) -> K::Word {
        self.keys.word(at)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word_below(self, at: u32, limit: u32) -> K::Word {
        self.keys.word_below(at, limit, self.last)
    }
    #[inline(always)]
    fn composite(self, word: K::Word, at: u32) -> C {
        compose(word, self.index + at)
    }
    #[inline(always)]
    fn word_of(composite: C) -> K::Word {
        word_of(composite)
    }
    #[inline(always)]
    fn before(word: K::Word) -> Option<K::Word> {
        word.wide().checked_sub(1).map(K::Word::narrow)
    }
    #[inline(always)]
    fn key_bits(self) -> u32 {
        8 * self.keys.bytes()
    }
    #[inline(always)]
    fn last_index(self, len: u32) -> u32 {
        self.index + (len - 1)
    }
}

/// Candidates.
#[derive(Clone, Copy)]
pub struct Composites<C: Composite> {
    composites: Global<C>,
    key_bits: u32,
}

impl<C: Composite> Composites<C> {
    /// Those of keys of so many bits.
    #[inline(always)]
    pub(super) fn new(composites: Global<C>, key_bits: u32) -> Self {
        Self { composites, key_bits }
    }
}

impl<C: Composite> Source for Composites<C> {
    type Word = C;
    type Composite = C;
    #[inline(always)]
    fn offset(self, elements: u32) -> Self {
        Self { composites: self.composites.offset(elements as u64), ..self }
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word(self, at: u32) -> C {
        self.composites.read(at)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word_below(self, at: u32, limit: u32) -> C {
        if at < limit { self.composites.read(at) } else { C::HIGHEST }
    }
    #[inline(always)]
    fn composite(self, word: C, _: u32) -> C {
        word
    }
    #[inline(always)]
    fn word_of(composite: C) -> C {
        composite
    }
    #[inline(always)]
    fn before(word: C) -> Option<C> {
        let bits = word.to_bits();
        // Mutants: no two composites are equal, so that none that comes later equals the last one held.
        if bits == 0 { None } else { Some(C::of_bits(bits - 1)) }
    }
    #[inline(always)]
    fn key_bits(self) -> u32 {
        self.key_bits
    }
    #[inline(always)]
    fn last_index(self, _: u32) -> u32 {
        u32::MAX
    }
}
