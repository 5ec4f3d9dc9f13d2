//! How many keys have each digit, for all digits in one pass over the keys, and from that where the keys of each
//! digit start.

use gpu_collective::grid::is_last_block;
use gpu_collective::warp::inclusive_scan;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{
    block_idx_x, grid_dependency_synchronize, grid_dim_x, sync_threads, thread_idx_x,
    trigger_launch_completion,
};
use gpu_std::{device, shared, unroll, warp};

use super::COUNT_AT_ONCE;
use super::order::{Key, Order};

/// Writes to `starts` where the first key of each digit goes: `2^B` words for the lowest digit, as many of which
/// nothing is said, and so on for each digit of the `bits` bits of the keys' words from `first_bit` on. Clears the first
/// `words` of `counts`, and the ticket in `header`: what the passes behind it need to be zero.
///
/// `zeros` is zero before the launch, and again after it: [`zero_words`](super::zero_words). Any number of blocks, of `W`
/// warps.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn count<K: Key, const B: usize, const W: usize>(
    keys: Global<K>,
    len: u64,
    order: Order,
    first_bit: u32,
    bits: u32,
    zeros: GlobalMut<u64>,
    starts: GlobalMut<u64>,
    counts: GlobalMut<u32>,
    words: u64,
    header: GlobalMut<u32>,
) {
    grid_dependency_synchronize();
    trigger_launch_completion();
    let digits = 1 << B;
    let (thread, threads) = (thread_idx_x(), 32 * W as u32);
    let passes = bits.div_ceil(B as u32);
    let mut memory = shared::dynamic();
    let own = memory.array::<u32>(passes * digits);
    let room = memory.array::<u32>(1);
    let (set, clear) = (K::narrow(order.set), K::narrow(order.clear));

    let mut word = thread;
    while word < passes * digits {
        own.write(word, 0);
        word += threads;
    }
    let mut base = block_idx_x() as u64 * threads as u64;
    // Mutants: in one more turn nothing is left to clear.
    while base < words {
        if (thread as u64) < words - base {
            counts.offset(base).write(thread, 0);
        }
        base += grid_dim_x() as u64 * threads as u64;
    }
    sync_threads();

    // ---- The block's part of the keys
    let each = threads * COUNT_AT_ONCE as u32;
    let mut base = block_idx_x() as u64 * each as u64;
    // Mutants: in one more turn no key is left.
    while base < len {
        let part = keys.offset(base);
        let left = (len - base).min(each as u64) as u32;
        let mut words = [K::default(); COUNT_AT_ONCE];
        unroll::<COUNT_AT_ONCE>(|row| {
            let at = row as u32 * threads + thread;
            if at < left {
                words[row] = part.read(at).word(set, clear);
            }
        });
        let mut pass = 0;
        while pass < passes {
            let shift = pass * B as u32;
            let mask = (1 << (bits - shift).min(B as u32)) - 1;
            let of_pass = own.offset(pass * digits);
            unroll::<COUNT_AT_ONCE>(|row| {
                if row as u32 * threads + thread < left {
                    let digit = words[row].shifted(first_bit + shift) & mask;
                    of_pass.atomic(digit).fetch_add(1, Ordering::Relaxed, Scope::Block);
                }
            });
            pass += 1;
        }
        base += grid_dim_x() as u64 * each as u64;
    }
    sync_threads();

    // ---- All blocks' counts
    let totals = zeros.offset(1);
    let mut word = thread;
    while word < passes * digits {
        let count = own.read(word);
        // Mutants: to add nothing takes time only.
        if count > 0 {
            totals.atomic(word).fetch_add(count as u64, Ordering::Relaxed, Scope::Device);
        }
        word += threads;
    }
    let is_last = is_last_block(zeros.cast(), grid_dim_x(), room);
    if is_last && thread == 0 {
        header.write(super::TICKET, 0);
    }

    // ---- Where digits start: a warp for each pass, in the last block
    let mut pass = thread / 32;
    // Of no bits there is one pass too, whose digits are all 0.
    while warp::uniform(is_last && pass < passes.max(1)) {
        // Every other row is that of the next launch.
        let starts = starts.offset((2 * pass * digits) as u64);
        let totals = totals.offset((pass * digits) as u64);
        let each = digits / 32;
        let first = warp::lane_id() * each;
        let mut count = 0;
        let mut digit = 0;
        while digit < each {
            // Mutants: the last block is behind all others, which `is_last_block` has acquired: any scope does.
            count += totals.atomic(first + digit).load(Ordering::Relaxed, Scope::Device);
            digit += 1;
        }
        let mut start = inclusive_scan(count, |below, own| below + own) - count;
        let mut digit = 0;
        while digit < each {
            let total = totals.atomic(first + digit);
            // Mutants: as above.
            let count = total.load(Ordering::Relaxed, Scope::Device);
            // Mutants: nobody reads it before the next launch.
            total.store(0, Ordering::Relaxed, Scope::Device);
            starts.write(first + digit, start);
            start += count;
            digit += 1;
        }
        pass += W as u32;
    }
}
