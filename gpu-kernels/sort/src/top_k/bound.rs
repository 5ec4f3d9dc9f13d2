//! A selection that reads once: by a bound that becomes less as more is known.

use gpu_collective::warp::sort::{Sortable, sort_groups};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, shared, unroll, warp};

use super::candidates::{Candidates, emit_first, sort, sorted_lanes};
use super::rows::Algorithm;
use super::source::Source;

/// Groups of a thread's words, of which it knows the least.
const GROUPS: usize = 4;

/// Selects by bounds, with `P` threads that read `L` words at once. For a `k` of up to `P` it has a bound from the start.
/// Up to `LISTED` candidates are put in order in lists.
pub struct ByBound<const P: usize, const L: usize, const LISTED: u32>;

impl<const P: usize, const L: usize, const LISTED: u32> Algorithm for ByBound<P, L, LISTED> {
    const THREADS: usize = P;
    #[inline(always)]
    fn select<S: Source>(source: S, len: u32, k: u32, room: u32, emit: impl Fn(u32, S::Composite)) -> u32 {
        select::<S, P, L, LISTED>(source, len, k, room, emit)
    }
}

/// Hands the first `k` of `len` words to `emit`, with their ranks; how many there are.
#[device]
#[inline(always)]
fn select<S: Source, const P: usize, const L: usize, const LISTED: u32>(
    source: S,
    len: u32,
    k: u32,
    room: u32,
    emit: impl Fn(u32, S::Composite),
) -> u32 {
    // Mutants: a thread has less, or it does not compile.
    const { assert!(L <= 8 * GROUPS && L.is_multiple_of(GROUPS)) };
    let (thread, threads) = (thread_idx_x(), P as u32);
    let mut memory = shared::dynamic();
    let held = Candidates { count: memory.array(4), items: memory.array(room), room };
    let bounds = memory.array(threads / 32);
    if thread == 0 {
        held.count.write(0, 0);
    }
    // Else there is a barrier before the first candidate.
    if k > threads {
        sync_threads();
    }
    let tile = L as u32 * threads;
    let mut bound = S::Word::HIGHEST;
    let (mut known, mut base) = (0, 0);
    // Mutants: in one more turn no word is left.
    while base < len {
        keep_rolled();
        let left = len - base;
        // ---- A tile
        let own = source.offset(base).offset(thread);
        let mut words = [S::Word::HIGHEST; L];
        let mut there = u32::MAX;
        // Mutants: of a whole tile all words are below its limit.
        if left >= tile {
            unroll::<L>(|i| words[i] = own.word(i as u32 * threads));
        } else {
            let limit = left.saturating_sub(thread);
            unroll::<L>(|i| words[i] = own.word_below(i as u32 * threads, limit));
            there = u32::MAX.unbounded_shr(32 - limit.div_ceil(threads));
        }
        let mut least = [S::Word::HIGHEST; GROUPS];
        unroll::<L>(|i| least[i / (L / GROUPS)] = Ord::min(least[i / (L / GROUPS)], words[i]));
        // Behind its barrier there are no candidates. Mutants: without a bound from the start it takes longer only.
        if base == 0 && k <= threads {
            bound = first_bound::<S, P>(bounds, least, k);
        }
        let mut within = 0u32;
        unroll::<L>(|i| within = words[i].add_if_at_most(bound, within, 1 << i));
        within &= there;
        if within != 0 {
            let count = within.count_ones();
            let mut place = held.reserve(count);
            // Where there is no room the tile is taken again, below.
            if place + count <= room {
                // Most groups have one at most, which is the least. The index of a register has to be known beforehand,
                // and for what a thread reads once more from memory it waits.
                unroll::<GROUPS>(|group| {
                    let first = group * (L / GROUPS);
                    let bits = within >> first & ((1 << (L / GROUPS)) - 1);
                    if bits != 0 && bits & (bits - 1) == 0 {
                        let at = (first as u32 + bits.trailing_zeros()) * threads;
                        held.items.write(place, own.composite(least[group], at));
                        place += 1;
                    } else if bits != 0 {
                        unroll::<8>(|i| {
                            if i < L / GROUPS && bits >> i & 1 != 0 {
                                let i = first + i;
                                held.items.write(place, own.composite(words[i], i as u32 * threads));
                                place += 1;
                            }
                        });
                    }
                });
            }
        }
        sync_threads();
        let now = held.count.read(0);
        // Mutants: a last tile may as well be treated as others.
        if left <= tile && now <= room {
            known = now;
            break;
        }
        sync_threads();
        let mut rest = Some(bound);
        // Mutants: what has just room may as well be taken again, a row at a time.
        if now > room {
            // ---- Too many: a row of the tile at a time
            if thread == 0 {
                held.count.write(0, known);
            }
            sync_threads();
            let (mut at, end) = (thread, tile.min(left).next_multiple_of(threads));
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
        base += tile;
    }

    emit_first::<S::Composite, P, LISTED>(held, known, k, emit);
    known.min(k)
}

/// A word that at least `k` of the tile's do not exceed, or the highest: of each warp's minima as many as make `k`
/// together do not exceed the greatest of the warps' bounds. A thread has one minimum, or for a `k` near to as many as
/// there are threads one of each half of its words: of 1024 words the bound of the first 32 lets 43 pass then, not 128.
#[device]
#[inline(always)]
fn first_bound<S: Source, const P: usize>(
    bounds: Shared<S::Word>,
    least: [S::Word; GROUPS],
    k: u32,
) -> S::Word {
    // Mutants: a block has less, or it does not compile.
    const { assert!(P / 32 <= 16) };
    let mut least = [Ord::min(least[0], least[1]), Ord::min(least[2], least[3])];
    let of_warp = k.div_ceil(P as u32 / 32);
    // Mutants: both are bounds.
    let is_halved = of_warp > 16;
    let (lane, sorted) = if is_halved && P > 64 {
        sort_groups(&mut least, 32);
        ((of_warp - 1) / 2, if of_warp % 2 == 1 { least[0] } else { least[1] })
    } else {
        // Each half on its own is faster; of more warps the greatest of so many bounds would be too great.
        let mut sorted = sorted_lanes(if is_halved { least[0] } else { Ord::min(least[0], least[1]) });
        if is_halved {
            sorted = Ord::max(sorted, sorted_lanes(least[1]));
        }
        (if is_halved { of_warp.div_ceil(2) } else { of_warp } - 1, sorted)
    };
    if warp::lane_id() == lane {
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
