//! A selection for a large `k`: by digits, the highest first, until few enough are left to be sorted.
//!
//! Radix selection (T. Alabi, J. D. Blanchard, B. Gordon and R. Steinbach, *Fast k-selection algorithms for graphics processing
//! units*, ACM JEA 17, 2012), of composites: a pass counts the digits of those that may be the last of the first `k`. Where words are
//! equal it goes on with their indices, so that any data end with `k`.

use gpu_collective::block::Histogram;
use gpu_collective::warp::inclusive_scan;
use gpu_collective::warp::sort::Sortable;
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, shared, unroll, warp};

use super::candidates::{Candidates, emit_first};
use super::rows::Algorithm;
use super::source::Source;
use crate::composite::Composite;

/// Bits of a digit.
const DIGIT: u32 = 8;
/// Values that it has.
const BINS: u32 = 1 << DIGIT;
/// Counters of each.
const COPIES: u32 = 8;
/// Up to so many candidates are put in order in lists.
const LISTED: u32 = 512;
/// Up to so many candidates it is not worth counting another digit.
const FEW: u32 = 1024;

/// Bytes of dynamic shared memory of a block that holds `room` candidates.
pub const fn digits_bytes(room: u32, composite_bytes: u32) -> u32 {
    shared::SharedLayout::new()
        .array::<u32>(4)
        .array::<u8>(room * composite_bytes)
        .array::<u32>((BINS + 1) * COPIES)
        .array::<u32>(BINS)
        .bytes()
}

/// Selects by digits, with `P` threads that read `L` words at once. `k` may be as much as there is room for.
pub struct ByDigits<const P: usize, const L: usize>;

impl<const P: usize, const L: usize> Algorithm for ByDigits<P, L> {
    const THREADS: usize = P;
    #[inline(always)]
    fn select<S: Source>(source: S, len: u32, k: u32, room: u32, emit: impl Fn(u32, S::Composite)) -> u32 {
        select::<S, P, L>(source, len, k, room, emit)
    }
}

#[device]
#[inline(always)]
fn select<S: Source, const P: usize, const L: usize>(
    source: S,
    len: u32,
    k: u32,
    room: u32,
    emit: impl Fn(u32, S::Composite),
) -> u32 {
    // Mutants: a block has more threads, or it does not compile.
    const { assert!(P as u32 >= BINS) };
    let thread = thread_idx_x();
    let mut memory = shared::dynamic();
    let place: Shared<u32> = memory.array(4);
    let held = Candidates { count: place.offset(3), items: memory.array(room), room };
    let histogram = Histogram::new(memory.array((BINS + 1) * COPIES), BINS, COPIES);
    let counts = memory.array::<u32>(BINS);
    let k = k.min(len);
    let enough = (2 * k).max(FEW).min(room);

    // The composites up to `bound` are those of all digits up to here that may be among the first `k`: `less` that are, and `among`
    // that have its digits.
    let mut shift = 32 + source.key_bits();
    let mut bound = (1u128 << shift) - 1;
    let (mut less, mut among) = (0, len);
    if thread == 0 {
        held.count.write(0, 0);
    }
    // Mutants: all digits are always enough, unless something else changes the keys meanwhile; more than are needed
    // select the same.
    while less + among > enough && shift > 0 {
        keep_rolled();
        let known = shift;
        shift -= DIGIT;
        if shift < 32 {
            // No index has more bits.
            let bits = 32 - source.last_index(len).leading_zeros();
            shift = shift.min(bits.saturating_sub(1) / DIGIT * DIGIT);
        }
        let above = S::Composite::of_bits(bound).shifted(known);
        histogram.clear();
        if thread < BINS {
            counts.write(thread, 0);
        }
        sync_threads();
        each::<S, P, L>(source, len, |composite| {
            if composite.shifted(known) == above {
                histogram.count(composite.shifted(shift).to_bits() as u32 & (BINS - 1));
            }
        });
        sync_threads();
        histogram.totals(|bin, count| counts.write(bin, count));
        sync_threads();
        if thread < 32 {
            find(counts, k - less, place);
        }
        sync_threads();
        let [digit, below, count, _] = place.read_vec(0);
        // What lies between the digits that were known and this one is zero.
        bound = (above.to_bits() << (known - shift) | digit as u128) << shift | ((1u128 << shift) - 1);
        less += below;
        among = count;
    }
    sync_threads();
    let bound = S::Composite::of_bits(bound);
    each::<S, P, L>(source, len, |composite| {
        if composite <= bound {
            held.append(composite);
        }
    });
    sync_threads();
    // In a row's candidates there may be some that only fill a part's place: beyond the bound.
    let known = held.count.read(0).min(room);
    emit_first::<S::Composite, P, LISTED>(held, known, k, emit);
    k
}

/// Takes every composite.
#[device]
#[inline(always)]
fn each<S: Source, const P: usize, const L: usize>(source: S, len: u32, take: impl Fn(S::Composite)) {
    let (thread, threads) = (thread_idx_x(), P as u32);
    let mut base = 0;
    // Mutants: in one more turn no word is left.
    while base < len {
        keep_rolled();
        let left = (len - base).saturating_sub(thread);
        let own = source.offset(base).offset(thread);
        let mut words = [S::Word::HIGHEST; L];
        unroll::<L>(|i| words[i] = own.word_below(i as u32 * threads, left));
        unroll::<L>(|i| {
            let at = i as u32 * threads;
            if at < left {
                take(own.composite(words[i], at));
            }
        });
        base += L as u32 * threads;
    }
}

/// Writes to `place` which bin has the element of rank `rank - 1`, how many are in bins below, and in it. By a warp.
#[device]
#[inline(always)]
fn find(counts: Shared<u32>, rank: u32, place: Shared<u32>) {
    const EACH: usize = BINS as usize / 32;
    let first = warp::lane_id() * EACH as u32;
    let mut own = [0; EACH];
    let mut sum = 0u32;
    unroll::<EACH>(|i| {
        own[i] = counts.read(first + i as u32);
        sum += own[i];
    });
    let mut below = inclusive_scan(sum, |a, b| a + b) - sum;
    unroll::<EACH>(|i| {
        if below < rank && rank <= below + own[i] {
            place.write(0, first + i as u32);
            place.write(1, below);
            place.write(2, own[i]);
        }
        below += own[i];
    });
}
