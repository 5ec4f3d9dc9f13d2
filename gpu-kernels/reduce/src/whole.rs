//! The reduction of a whole array, in one launch.
//!
//! # One launch
//! A second launch costs 3 to 4 µs, as much as reading 16 MB. So the block that *starts* last also finishes
//! ([`partials`]).

use gpu_collective::block;
use gpu_collective::grid::partials;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, thread_idx_x, trigger_launch_completion,
};
use gpu_std::{device, keep_rolled, opaque, shared, unroll};

use super::computed::{Computed, SourceOf};
use super::item::Source;
use super::number::Accumulator;
use super::quad::Quads;
use super::{THREADS, WARPS, tile};

/// The words that a block publishes its partial result in.
pub const fn publishes<R: Computed>() -> u32 {
    <R::Accumulator as Accumulator>::WORDS
}

/// Reduces `len` items of `source` into `output[0]` (and `output[1]`, … where the reduction has more).
///
/// `V` is [`per_load`](super::per_load), `A` is [`accumulators`](super::accumulators), `L` the loads of one array
/// that a thread has in flight. Launch [`blocks`](super::blocks)`(len)` blocks of [`THREADS`] threads with
/// [`shared_bytes`](super::shared_bytes). `words` holds [`publishes`] words for each block and `ticket` one; all
/// are zero before and after.
#[device]
#[inline(always)]
pub fn whole<R: Computed, const V: usize, const A: usize, const L: usize>(
    source: SourceOf<R>,
    len: u64,
    tiles_per_block: u64,
    words: GlobalMut<u64>,
    ticket: GlobalMut<u32>,
    output: GlobalMut<R::Output>,
) {
    const { assert!(V as u32 == super::per_load::<R::Item>() && A as u32 == super::accumulators::<R::Item>()) };
    const { assert!(THREADS * (V * L) as u32 == tile::<R::Item>()) };
    let mut memory = shared::dynamic();
    // Twice: a place of its own spares a barrier between the block's own result and that of all.
    let warp_results = memory.array::<u32>(2 * WARPS * publishes::<R>());
    let block_ticket = memory.array::<u32>(1);
    let thread = thread_idx_x();
    let blocks = grid_dim_x();

    grid_dependency_synchronize();
    trigger_launch_completion();

    // The ticket's way to memory and back is hidden behind the loads.
    // Mutants: of one block the ticket stays zero, and nobody asks for it.
    let drawn = if thread == 0 && blocks > 1 { partials::draw(ticket, blocks) } else { 0 };

    let mut value = of_tiles::<R, V, A, L>(source, len, tiles_per_block);
    if thread == 0 {
        block_ticket.write(0, drawn);
    }
    // First the block's own result, then that of all blocks in the one that started last. Opaque, or the compiler
    // would write both out.
    let mut results = warp_results;
    let mut is_total = blocks == 1;
    loop {
        keep_rolled();
        let result = block_result::<R>(source, value, results);
        if is_total {
            if thread == 0 {
                R::write(source, output, 0, (len > 0).then_some(result));
            }
            return;
        }
        if thread == 0 {
            partials::publish(words, block_idx_x(), result);
        }
        if block_ticket.read(0) != blocks - 1 {
            return;
        }
        value = R::IDENTITY;
        let mut block = thread;
        // Mutants: behind the last block nothing is taken.
        while block < blocks {
            keep_rolled();
            let combine = |first, second| R::combine(source, first, second);
            // Four of three words or more would not fit the registers (ptxas 13.0: 96 to 272 bytes of stack).
            // Mutants: one at a time they come in the same order.
            if publishes::<R>() <= 2 {
                value = partials::take::<_, 4>(value, words, block, THREADS, blocks, combine);
                block += 4 * THREADS;
            } else {
                value = partials::take::<_, 1>(value, words, block, THREADS, blocks, combine);
                block += THREADS;
            }
        }
        results = warp_results.offset(opaque(WARPS * publishes::<R>()));
        is_total = opaque(1) != 0;
    }
}

/// What this thread makes of the block's tiles of `len` items.
#[device]
#[inline(always)]
pub(super) fn of_tiles<R: Computed, const V: usize, const A: usize, const L: usize>(
    source: SourceOf<R>,
    len: u64,
    tiles_per_block: u64,
) -> R::Accumulator {
    let (tile, first) = (tile::<R::Item>(), thread_idx_x() * V as u32);
    let begin = block_idx_x() as u64 * tiles_per_block * tile as u64;
    let end = (begin + tiles_per_block * tile as u64).min(len);
    let whole_loads = source.is_aligned();
    let mut locals: [R::Local; A] = core::array::from_fn(|lane| R::start(first + lane as u32));
    let mut base = begin;
    if whole_loads {
        // Mutants: a whole tile that is left to `take_end` gives the same: items come in the same order.
        while end - base >= tile as u64 {
            take_tile::<R, V, A, L>(&mut locals, source.offset(base), (base - begin) as u32);
            base += tile as u64;
        }
    }
    // Mutants: in one more turn no item is left.
    while base < end {
        keep_rolled();
        let (left, offset) = ((end - base).min(tile as u64) as u32, (base - begin) as u32);
        take_end::<R, V, A, L>(&mut locals, source.offset(base), left, whole_loads, offset);
        base += tile as u64;
    }
    of_thread::<R, A>(source, &locals, begin)
}

/// The accumulators of a thread as one: (0 with 1) with (2 with 3). The first item is number `base` of the array.
#[device]
#[inline(always)]
pub(super) fn of_thread<R: Computed, const A: usize>(
    source: SourceOf<R>,
    locals: &[R::Local; A],
    base: u64,
) -> R::Accumulator {
    let mut results: [R::Accumulator; A] = core::array::from_fn(|lane| R::widen(source, locals[lane], base));
    unroll::<A>(|i| {
        if i % 2 == 1 {
            results[i - 1] = R::combine(source, results[i - 1], results[i]);
        }
    });
    if A > 2 {
        results[0] = R::combine(source, results[0], results[A / 2]);
    }
    results[0]
}

/// Takes a whole tile. All loads are asked for before the first is used.
#[device]
#[inline(always)]
pub(super) fn take_tile<R: Computed, const V: usize, const A: usize, const L: usize>(
    locals: &mut [R::Local; A],
    part: SourceOf<R>,
    offset: u32,
) {
    let first = thread_idx_x() * V as u32;
    let loaded: [[R::Item; V]; L] =
        core::array::from_fn(|load| part.read_vec::<V>(first + load as u32 * row::<V>()));
    unroll::<L>(|load| {
        take_vector::<R, V, A>(part, locals, &loaded[load], offset + first + load as u32 * row::<V>());
    });
}

/// Takes the first `left` items of a tile. Whole loads, where there can be any, are again all asked for first, and
/// taken one after the other by the same instructions; then come the items that no whole load has, which are asked
/// for one by one.
#[device]
#[inline(always)]
fn take_end<R: Computed, const V: usize, const A: usize, const L: usize>(
    locals: &mut [R::Local; A],
    part: SourceOf<R>,
    left: u32,
    whole_loads: bool,
    offset: u32,
) {
    let first = thread_idx_x() * V as u32;
    let loaded_before = if whole_loads { left - left % V as u32 } else { 0 };
    let nothing = <SourceOf<R> as Quads>::NOTHING;
    let mut quads: [_; L] = core::array::from_fn(|load| {
        let at = first + load as u32 * row::<V>();
        if at < loaded_before { part.offset(at as u64).streamed() } else { nothing }
    });
    let item = SourceOf::<R>::item;
    let mut at = first;
    // Steps are opaque, or the compiler would write a pass out for each load; ptxas would, and spill registers for it.
    while at < loaded_before {
        keep_rolled();
        let taken = quads[0];
        unroll::<V>(|lane| {
            let offset = offset + at + lane as u32;
            locals[lane % A] = R::take(part, locals[lane % A], item(taken, lane as u32), offset);
        });
        // In a circle: without the last step it would do so still; and by hand, as `rotate_left` does it in memory.
        unroll::<L>(|load| quads[load] = if load + 1 < L { quads[load + 1] } else { taken });
        at += opaque(row::<V>());
    }
    // Mutants: in one more turn none is wanted.
    while at < left {
        keep_rolled();
        let wanted = left - at;
        let quad = part.offset(at as u64).one_by_one(wanted);
        unroll::<V>(|lane| {
            if (lane as u32) < wanted {
                let offset = offset + at + lane as u32;
                locals[lane % A] = R::take(part, locals[lane % A], item(quad, lane as u32), offset);
            }
        });
        at += opaque(row::<V>());
    }
}

/// Takes `V` items, the first of them at `offset` in the block's part.
#[device]
#[inline(always)]
fn take_vector<R: Computed, const V: usize, const A: usize>(
    source: SourceOf<R>,
    locals: &mut [R::Local; A],
    items: &[R::Item; V],
    offset: u32,
) {
    unroll::<V>(|lane| {
        locals[lane % A] = R::take(source, locals[lane % A], items[lane], offset + lane as u32);
    });
}

/// Items between a thread's load and its next.
const fn row<const V: usize>() -> u32 {
    THREADS * V as u32
}

/// The result of the block, in thread 0.
#[device]
#[inline(always)]
pub(super) fn block_result<R: Computed>(
    source: SourceOf<R>,
    value: R::Accumulator,
    room: Shared<u32>,
) -> R::Accumulator {
    let combine = |first, second| R::combine(source, first, second);
    block::reduce(value, R::IDENTITY, WARPS, room, combine)
}
