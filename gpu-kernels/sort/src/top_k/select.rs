//! What a block selects.

use gpu_collective::warp::sort::{Sortable, sort_groups, sort_lanes};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, shared, unroll, warp};

use super::array::{Array, Keyed, compose, word_of};
use super::{COUNT, Selection};
use crate::composite::{Composite, Raw};
use crate::segmented::Job;
use crate::segmented::memory::{Arrays, segment, store, tile_of_row};

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
}

/// Candidates.
#[derive(Clone, Copy)]
pub struct Composites<C: Composite>(Global<C>);

impl<C: Composite> Source for Composites<C> {
    type Word = C;
    type Composite = C;
    #[inline(always)]
    fn offset(self, elements: u32) -> Self {
        Self(self.0.offset(elements as u64))
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word(self, at: u32) -> C {
        self.0.read(at)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn word_below(self, at: u32, limit: u32) -> C {
        if at < limit { self.0.read(at) } else { C::HIGHEST }
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
        if bits == 0 { None } else { Some(C::of_bits(bits - 1)) }
    }
}

/// What a block holds.
#[derive(Clone, Copy)]
struct Room<S: Source> {
    count: Shared<u32>,
    /// A bound of each warp.
    bounds: Shared<S::Word>,
    candidates: Shared<S::Composite>,
}

/// Selects the first `k` of each row or segment, or of each part of a row, by a block of `P` threads; `k` is at most half of
/// `room`, and the row's elements are less than 2^32.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn select_rows<K: Keyed, C: Composite, const P: usize, const L: usize>(
    selection: Selection,
    room: u32,
    keys: Global<u8>,
    offsets: Global<u32>,
    header: Global<u32>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
    candidates: GlobalMut<C>,
) {
    let (job, k) = (selection.job, selection.job.limit);
    if selection.guard > 0 {
        let count = header.read(COUNT);
        if k <= count && count <= selection.guard {
            return;
        }
    }
    let (row, part) = tile_of_row(block_idx_x(), selection.parts);
    let (start, len) = segment(job, offsets, row);
    let first = part as u64 * selection.part;
    let len = len.saturating_sub(first).min(selection.part) as u32;
    let source = Keys::<K, C> {
        keys: Array::new(keys, job.key_bytes, job.order).offset(start + first),
        last: selection.last,
        index: first as u32,
        composite: core::marker::PhantomData,
    };
    let arrays = Arrays { keys, keys_output, indices };
    let own = candidates.offset(block_idx_x() as u64 * k as u64);
    let selected = select::<Keys<K, C>, P, L>(source, len, k, room, |rank, composite| {
        if selection.parts == 1 {
            let job = Job { key_bytes: K::bytes(job.key_bytes), ..job };
            store(arrays, job, composite, row, start, rank);
        } else {
            own.write(rank, composite);
        }
    });
    if selection.parts > 1 {
        let mut rank = selected + thread_idx_x();
        while rank < k {
            keep_rolled();
            own.write(rank, C::HIGHEST);
            rank += P as u32;
        }
    }
}

/// Selects the first `k` of each row's candidates, of which there are `k` of each of [`Selection::parts`] parts; or, where that
/// is 0, of those of the whole array as many as `header` says. `K`'s bits are those of the keys.
#[device]
#[inline(always)]
pub fn select_candidates<C: Composite, const P: usize, const L: usize>(
    selection: Selection,
    room: u32,
    candidates: Global<C>,
    offsets: Global<u32>,
    header: Global<u32>,
    keys_output: GlobalMut<u8>,
    indices: GlobalMut<u32>,
) {
    let (job, k, row) = (selection.job, selection.job.limit, block_idx_x());
    let mut len = selection.parts * k;
    if selection.parts == 0 {
        len = header.read(COUNT);
        if len < k || len > selection.guard {
            return;
        }
    }
    let (start, _) = segment(job, offsets, row);
    let arrays = Arrays { keys: keys_output.as_global(), keys_output, indices };
    let source = Composites(candidates.offset(row as u64 * len as u64));
    select::<Composites<C>, P, L>(source, len, k, room, |rank, composite| {
        store(arrays, job, composite, row, start, rank);
    });
}

/// Hands the first `k` of `len` words to `emit`, with their ranks; how many there are.
#[device]
#[inline(always)]
fn select<S: Source, const P: usize, const L: usize>(
    source: S,
    len: u32,
    k: u32,
    room: u32,
    emit: impl Fn(u32, S::Composite),
) -> u32 {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let mut memory = shared::dynamic();
    let held: Room<S> =
        Room { count: memory.array(4), bounds: memory.array(threads / 32), candidates: memory.array(room) };
    if thread == 0 {
        held.count.write(0, 0);
    }
    sync_threads();
    let mut bound = S::Word::HIGHEST;
    let (mut known, mut base) = (0, 0);
    while base < len {
        keep_rolled();
        let left = len - base;
        // ---- A tile
        let own = source.offset(base).offset(thread);
        let mut words = [S::Word::HIGHEST; L];
        if left >= L as u32 * threads {
            unroll::<L>(|i| words[i] = own.word(i as u32 * threads));
        } else {
            let limit = left.saturating_sub(thread);
            unroll::<L>(|i| words[i] = own.word_below(i as u32 * threads, limit));
        }
        if base == 0 && k <= threads {
            bound = first_bound::<S, P, L>(held, &words, k);
        }
        let mut within = 0u32;
        unroll::<L>(|i| within |= ((words[i] <= bound) as u32) << i);
        while within != 0 {
            keep_rolled();
            let at = within.trailing_zeros() * threads;
            within &= within - 1;
            if at + thread < left {
                // Once more from memory: the index of a register has to be known beforehand.
                append(held, room, own.composite(own.word(at), at));
            }
        }
        sync_threads();
        let now = held.count.read(0);
        sync_threads();
        let mut rest = Some(bound);
        if now > room {
            // ---- Too many: a row of the tile at a time
            if thread == 0 {
                held.count.write(0, known);
            }
            sync_threads();
            let (mut at, end) = (thread, (L as u32 * threads).min(left).next_multiple_of(threads));
            while at < end {
                keep_rolled();
                if at < left
                    && let Some(bound) = rest
                {
                    let word = source.word(base + at);
                    if word <= bound {
                        append(held, room, source.composite(word, base + at));
                    }
                }
                sync_threads();
                known = held.count.read(0);
                if known > room - threads {
                    rest = keep_first::<S, P>(held, known, k);
                    known = k;
                }
                sync_threads();
                at += threads;
            }
        } else if now > room / 2 {
            rest = keep_first::<S, P>(held, now, k);
            known = k;
            sync_threads();
        } else {
            known = now;
        }
        let Some(next) = rest else { break };
        bound = next;
        base += L as u32 * threads;
    }

    // ---- In order: few by counting, for each, how many are before it
    let is_counted = known <= 2 * threads;
    if is_counted {
        if thread < 3 && known + thread < room {
            held.candidates.write(known + thread, S::Composite::HIGHEST);
        }
        sync_threads();
    } else {
        sort::<S, P>(held, known);
    }
    let mut at = thread;
    while at < known {
        keep_rolled();
        let own = held.candidates.read(at);
        let mut rank = at;
        if is_counted {
            rank = 0;
            let mut other = 0;
            // Behind the last are some that do not count.
            while other < known {
                keep_rolled();
                unroll::<4>(|i| rank += (held.candidates.read(other + i as u32) < own) as u32);
                other += 4;
            }
        }
        if rank < k {
            emit(rank, own);
        }
        at += threads;
    }
    known.min(k)
}

/// A word that at least `k` of the tile's do not exceed, or the highest: of each warp's threads' least words as many as make `k`
/// together do not exceed the greatest of the warps' bounds.
#[device]
#[inline(always)]
fn first_bound<S: Source, const P: usize, const L: usize>(
    held: Room<S>,
    words: &[S::Word; L],
    k: u32,
) -> S::Word {
    const { assert!(P / 32 <= 16) };
    let mut least = words[0];
    unroll::<L>(|i| least = Ord::min(least, words[i]));
    // Of words of 32 bits written out; of wider ones that would be long.
    let sorted = if size_of::<S::Word>() == 4 {
        sort_lanes(least)
    } else {
        let mut own = [least];
        sort_groups(&mut own, 32);
        own[0]
    };
    if warp::lane_id() == k.div_ceil(P as u32 / 32) - 1 {
        held.bounds.write(thread_idx_x() / 32, sorted);
    }
    sync_threads();
    let mut bound = held.bounds.read(0);
    unroll::<16>(|warp| {
        if warp < P / 32 {
            bound = Ord::max(bound, held.bounds.read(warp as u32));
        }
    });
    bound
}

#[inline(always)]
fn append<S: Source>(held: Room<S>, room: u32, composite: S::Composite) {
    let place = held.count.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Block);
    if place < room {
        held.candidates.write(place, composite);
    }
}

/// Keeps the first `k` of `known` candidates. What comes later in the row has to be before the bound that this gives; if there is
/// none, nothing can be.
#[device]
#[inline(always)]
fn keep_first<S: Source, const P: usize>(held: Room<S>, known: u32, k: u32) -> Option<S::Word> {
    sort::<S, P>(held, known);
    if thread_idx_x() == 0 {
        held.count.write(0, k);
    }
    S::before(S::word_of(held.candidates.read(k - 1)))
}

/// Sorts so many candidates: K. E. Batcher's bitonic sort, whose merges begin with the mirror image.
#[device]
#[inline(never)]
fn sort<S: Source, const P: usize>(held: Room<S>, known: u32) {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let len = known.next_power_of_two();
    let mut at = known + thread;
    while at < len {
        keep_rolled();
        held.candidates.write(at, S::Composite::HIGHEST);
        at += threads;
    }
    sync_threads();
    let mut size = 2;
    while size <= len {
        keep_rolled();
        let mut distance = size / 2;
        while distance > 0 {
            keep_rolled();
            let mut pair = thread;
            while pair < len / 2 {
                keep_rolled();
                let within = pair & (distance - 1);
                let low = 2 * (pair - within) + within;
                let high = if 2 * distance == size { low + size - 1 - 2 * within } else { low + distance };
                let (a, b) = (held.candidates.read(low), held.candidates.read(high));
                if b < a {
                    held.candidates.write(low, b);
                    held.candidates.write(high, a);
                }
                pair += threads;
            }
            sync_threads();
            distance /= 2;
        }
        size *= 2;
    }
}
