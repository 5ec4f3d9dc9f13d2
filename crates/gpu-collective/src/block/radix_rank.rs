//! The places of a tile's keys when it is sorted by a digit.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::Shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{self, FULL, sync_warp};
use gpu_std::{device, unroll};

use crate::warp::{inclusive_scan, match_bits};

/// Ranks a tile's keys by a digit of `B` bits, at least 5, with `W` warps: stable, by counting (CUB's `BlockRadixRankMatchEarlyCounts`).
///
/// A warp's keys follow each other in rows of 32, and the next warp's follow them. Warps count their digits first, so that the tile's
/// counts are known early; a thread for each digit turns them into the places of each warp's first key of that digit; then warps place
/// their keys, row by row.
///
/// ```
/// use gpu_collective::block::RadixRank;
/// use gpu_std::prelude::*;
///
/// const WARPS: usize = 2;
///
/// /// 128 keys, sorted by their lowest 5 bits.
/// #[kernel]
/// pub fn sort_by_digit(keys: GlobalMut<u32>) {
///     let mut memory = shared::dynamic();
///     let rank = RadixRank::<5, WARPS>::new(memory.array(32 * WARPS as u32), memory.array(1));
///     let first = thread::thread_idx_x() / 32 * 64 + warp::lane_id();
///     let keys_of = [keys.read(first), keys.read(first + 32)];
///     rank.clear();
///     thread::sync_threads();
///     keys_of.iter().for_each(|key| rank.count(key % 32));
///     rank.starts(|_| {});
///     for key in keys_of {
///         keys.write(rank.place(key % 32), key);
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let mut values: Vec<u32> = (0..128).map(|i| i * 77 % 128).collect();
/// # let mut keys = device.upload(&values)?;
/// # let config = LaunchConfig::linear(1, 64).shared(4 * (64 + 1));
/// # unsafe { sort_by_digit::launch(&device.default_stream(), config, keys.view_mut().as_global_mut())? };
/// values.sort_by_key(|key| key % 32); // stable
/// assert_eq!(keys.to_vec()?, values);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct RadixRank<const B: usize, const W: usize> {
    /// A warp's counters behind those of the one before.
    warps: Shared<u32>,
    /// Those of the thread's warp.
    own: Shared<u32>,
    warp_sums: Shared<u32>,
}

/// What the thread of a digit knows of it, a thread for each of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DigitPlaces {
    /// How many keys of the tile have it.
    pub count: u32,
    /// The place of the first of them.
    pub start: u32,
}

impl<const B: usize, const W: usize> RadixRank<B, W> {
    /// Values of a digit.
    pub const DIGITS: u32 = 1 << B;

    /// In [`Self::DIGITS`] words of shared memory for each warp, and one for each 32 digits.
    #[inline(always)]
    pub fn new(counters: Shared<u32>, warp_sums: Shared<u32>) -> Self {
        const { assert!(1 << B <= 32 * W && B >= 5, "a thread for each digit, a warp of them at least") };
        Self { warps: counters, own: counters.offset(thread_idx_x() / 32 * Self::DIGITS), warp_sums }
    }

    /// Sets all counters to zero. A barrier has to follow.
    #[device]
    #[inline(always)]
    pub fn clear(self) {
        let mut word = warp::lane_id();
        while word < Self::DIGITS {
            self.own.write(word, 0);
            word += 32;
        }
    }

    /// Counts the digit of one of the thread's keys.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn count(self, digit: u32) {
        self.own.atomic(digit).fetch_add(1, Ordering::Relaxed, Scope::Block);
    }

    /// How many keys have the digit that is the thread's number, and where the first of them goes; of threads beyond the digits nothing.
    ///
    /// `publish` is called with the count as soon as it is known, by the warps of the digits. Three barriers.
    #[device]
    #[inline(always)]
    pub fn starts(self, publish: impl FnOnce(u32)) -> DigitPlaces {
        let thread = thread_idx_x();
        sync_threads();
        let mut count = 0;
        let mut inclusive = 0;
        if warp::uniform(thread < Self::DIGITS) {
            unroll::<W>(|warp| count += self.warps.read(warp as u32 * Self::DIGITS + thread));
            publish(count);
            inclusive = inclusive_scan(count, |below, own| below + own);
            if warp::lane_id() == 31 {
                self.warp_sums.write(thread / 32, inclusive);
            }
        }
        sync_threads();
        let mut start = inclusive - count;
        if thread < Self::DIGITS {
            let mut warp = 0;
            while warp < thread / 32 {
                start += self.warp_sums.read(warp);
                warp += 1;
            }
            let mut before = start;
            unroll::<W>(|warp| {
                let at = warp as u32 * Self::DIGITS + thread;
                let of_warp = self.warps.read(at);
                self.warps.write(at, before);
                before += of_warp;
            });
        }
        sync_threads();
        DigitPlaces { count, start }
    }

    /// The place of a key with this digit: behind all keys of the same that the warp has placed, and those of the lanes below. All lanes,
    /// for one row of keys after the other.
    #[device]
    #[inline(always)]
    pub fn place(self, digit: u32) -> u32 {
        let lane = warp::lane_id();
        let peers = match_bits::<B>(digit);
        let place = self.own.read(digit) + (peers & ((1 << lane) - 1)).count_ones();
        sync_warp(FULL);
        // The highest of them has them all below itself.
        if peers >> lane == 1 {
            self.own.write(digit, place + 1);
        }
        sync_warp(FULL);
        place
    }
}
