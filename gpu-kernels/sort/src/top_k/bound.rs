//! A selection that reads once: by a bound that becomes less as more is known.

use gpu_collective::warp::sort::{Sortable, sort_groups, sort_lanes};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, shared, unroll, warp};

use super::candidates::{Candidates, emit_first, sort};
use super::rows::Algorithm;
use super::source::Source;

/// Selects by bounds, with `P` threads that read `L` words at once. For a `k` of up to `P` it has a bound from the start.
/// Up to `COUNTED` candidates are put in order by counting.
pub struct ByBound<const P: usize, const L: usize, const COUNTED: u32>;

impl<const P: usize, const L: usize, const COUNTED: u32> Algorithm for ByBound<P, L, COUNTED> {
    const THREADS: usize = P;
    #[inline(always)]
    fn select<S: Source>(source: S, len: u32, k: u32, room: u32, emit: impl Fn(u32, S::Composite)) -> u32 {
        select::<S, P, L, COUNTED>(source, len, k, room, emit)
    }
}

/// Hands the first `k` of `len` words to `emit`, with their ranks; how many there are.
#[device]
#[inline(always)]
fn select<S: Source, const P: usize, const L: usize, const COUNTED: u32>(
    source: S,
    len: u32,
    k: u32,
    room: u32,
    emit: impl Fn(u32, S::Composite),
) -> u32 {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let mut memory = shared::dynamic();
    let held = Candidates { count: memory.array(4), items: memory.array(room), room };
    let bounds = memory.array(threads / 32);
    if thread == 0 {
        held.count.write(0, 0);
    }
    sync_threads();
    let mut bound = S::Word::HIGHEST;
    let (mut known, mut base) = (0, 0);
    // Mutants: in one more turn no word is left.
    while base < len {
        keep_rolled();
        let left = len - base;
        // ---- A tile
        let own = source.offset(base).offset(thread);
        let mut words = [S::Word::HIGHEST; L];
        // Mutants: of a whole tile all words are below its limit.
        if left >= L as u32 * threads {
            unroll::<L>(|i| words[i] = own.word(i as u32 * threads));
        } else {
            let limit = left.saturating_sub(thread);
            unroll::<L>(|i| words[i] = own.word_below(i as u32 * threads, limit));
        }
        // Mutants: without a bound from the start it takes longer only.
        if base == 0 && k <= threads {
            bound = first_bound::<S, P, L>(bounds, &words, k);
        }
        let mut within = 0u32;
        unroll::<L>(|i| within |= ((words[i] <= bound) as u32) << i);
        while within != 0 {
            keep_rolled();
            let at = within.trailing_zeros() * threads;
            within &= within - 1;
            if at + thread < left {
                // Once more from memory: the index of a register has to be known beforehand.
                held.append(own.composite(own.word(at), at));
            }
        }
        sync_threads();
        let now = held.count.read(0);
        sync_threads();
        let mut rest = Some(bound);
        // Mutants: what has just room may as well be taken again, a row at a time.
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
                        held.append(source.composite(word, base + at));
                    }
                }
                sync_threads();
                known = held.count.read(0);
                // Mutants: when the held ones are put in order is a matter of speed.
                if known > room - threads {
                    rest = keep_first::<S, P>(held, known, k);
                    known = k;
                }
                sync_threads();
                at += threads;
            }
        // Mutants: when the held ones are put in order is a matter of speed.
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

    emit_first::<S::Composite, P, COUNTED>(held, known, k, emit);
    known.min(k)
}

/// A word that at least `k` of the tile's do not exceed, or the highest: of each warp's threads' least words as many as make `k`
/// together do not exceed the greatest of the warps' bounds.
#[device]
#[inline(always)]
fn first_bound<S: Source, const P: usize, const L: usize>(
    bounds: Shared<S::Word>,
    words: &[S::Word; L],
    k: u32,
) -> S::Word {
    // Mutants: a block has less, or it does not compile.
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
        bounds.write(thread_idx_x() / 32, sorted);
    }
    sync_threads();
    let mut bound = bounds.read(0);
    unroll::<16>(|warp| {
        if warp < P / 32 {
            bound = Ord::max(bound, bounds.read(warp as u32));
        }
    });
    bound
}

/// Keeps the first `k` of `known` candidates. What comes later in the row has to be before the bound that this gives; if there is
/// none, nothing can be.
#[device]
#[inline(always)]
fn keep_first<S: Source, const P: usize>(
    held: Candidates<S::Composite>,
    known: u32,
    k: u32,
) -> Option<S::Word> {
    sort::<S::Composite, P>(held, known);
    if thread_idx_x() == 0 {
        held.count.write(0, k);
    }
    S::before(S::word_of(held.items.read(k - 1)))
}
