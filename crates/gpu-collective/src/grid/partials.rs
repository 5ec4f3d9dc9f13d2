//! One result of all blocks of a launch, by the block that starts last.
//!
//! That block took the last ticket, hence every other block is running already and its partial result will come. A
//! partial travels in words of 64 bits, each of them half value and half "it is there", so that no fence is needed and
//! nothing waits for one, however many words an accumulator has; the ticket is drawn while the first loads are under
//! way. Compared with the usual "last block done" ([`is_last_block`](super::is_last_block)) this takes a fence and an
//! atomic off the end of the critical path (H200, sum of 2^20 `f32`: 4.5 against 5.2 µs).
//!
//! The words and the ticket are zero before the launch, and zero again after it.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::GlobalMut;
use gpu_std::{device, keep_rolled, unroll};

use crate::{Accumulator, MAX_WORDS};

const THERE: u64 = 1 << 32;

/// The number of blocks that drew before, for thread 0: the block that draws `blocks - 1` starts last. It leaves the
/// ticket zero.
///
/// ```
/// use gpu_collective::{block, grid::partials};
/// use gpu_std::prelude::*;
///
/// /// The sum of all elements, always in the same order.
/// #[kernel]
/// pub fn sum(values: Global<f32>, ticket: GlobalMut<u32>, words: GlobalMut<u64>, result: GlobalMut<f32>) {
///     let (mut memory, blocks) = (shared::dynamic(), thread::grid_dim_x());
///     let (room, drawn) = (memory.array(2), memory.array(1));
///     let thread = thread::thread_idx_x();
///     if thread == 0 {
///         drawn.write(0, partials::draw(ticket, blocks));
///     }
///     let add = |first: f32, second: f32| first + second;
///     let of_block = block::reduce(values.read(thread::index_1d()), 0.0, 2, room, add);
///     if thread == 0 {
///         partials::publish(words, thread::block_idx_x(), of_block);
///     }
///     if drawn.read(0) == blocks - 1 && thread < 32 {
///         // There are no more blocks than threads.
///         let value = partials::take::<f32, 1>(0.0, words, thread, 64, blocks, add);
///         let of_all = gpu_collective::warp::reduce(value, 32, add);
///         if thread == 0 {
///             result.write(0, of_all);
///         }
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let values = device.upload(&[0.5f32; 320])?;
/// # let (mut ticket, mut words, mut result) = (device.zeroed(1)?, device.zeroed(5)?, device.zeroed(1)?);
/// # let (a, b) = (values.view().as_global(), ticket.view_mut().as_global_mut());
/// # let (c, d) = (words.view_mut().as_global_mut(), result.view_mut().as_global_mut());
/// # unsafe { sum::launch(&device.default_stream(), LaunchConfig::linear(5, 64).shared(32), a, b, c, d)? };
/// assert_eq!(result.to_vec()?, [160.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[inline(always)]
pub fn draw(ticket: GlobalMut<u32>, blocks: u32) -> u32 {
    // `inc` wraps after the last block, so it leaves zero; and ptxas does not turn it into a warp-wide sum, whose
    // broadcast would wait for memory here (`add` does).
    ticket.atomic(0).fetch_inc(blocks - 1, Ordering::Relaxed, Scope::Device)
}

/// Publishes the result of block `block`. For one thread.
#[device]
#[inline(always)]
pub fn publish<A: Accumulator>(partials: GlobalMut<u64>, block: u32, result: A) {
    unroll::<{ MAX_WORDS as usize }>(|word| {
        let word = word as u32;
        if word < A::WORDS {
            let marked = THERE | result.word(word) as u64;
            partials.atomic(block * A::WORDS + word).store(marked, Ordering::Relaxed, Scope::Device);
        }
    });
}

/// Waits for what the blocks `first`, `first + step`, … publish, `N` of them as far as there are so many among
/// `blocks`, combines them in turn behind `total`, and clears their words.
///
/// All are asked for before the first is waited for: a way to memory and back takes 0.7 µs (H200).
#[device]
#[inline(always)]
pub fn take<A: Accumulator, const N: usize>(
    mut total: A,
    partials: GlobalMut<u64>,
    first: u32,
    step: u32,
    blocks: u32,
    combine: impl Fn(A, A) -> A,
) -> A {
    let mut words = [[THERE; MAX_WORDS as usize]; N];
    loop {
        keep_rolled();
        // All words are asked for before the first is looked at.
        unroll::<N>(|i| {
            let block = first + i as u32 * step;
            if block < blocks {
                unroll::<{ MAX_WORDS as usize }>(|word| {
                    if (word as u32) < A::WORDS {
                        let place = partials.atomic(block * A::WORDS + word as u32);
                        words[i][word] = place.load(Ordering::Relaxed, Scope::Device);
                    }
                });
            }
        });
        let mut all = THERE;
        unroll::<N>(|i| unroll::<{ MAX_WORDS as usize }>(|word| all &= words[i][word]));
        if all != 0 {
            break;
        }
    }
    unroll::<N>(|i| {
        let block = first + i as u32 * step;
        if block < blocks {
            unroll::<{ MAX_WORDS as usize }>(|word| {
                if (word as u32) < A::WORDS {
                    let place = partials.atomic(block * A::WORDS + word as u32);
                    place.store(0, Ordering::Relaxed, Scope::Device);
                }
            });
            total = combine(total, A::from_words(&mut |word| words[i][word as usize] as u32));
        }
    });
    total
}
