//! A block's histogram in shared memory.
//!
//! Of few bins there are several copies, side by side, a lane's in its own bank wherever there is room for 32: then
//! lanes neither wait for each other at a bin nor at a bank, however unevenly samples are spread.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::Shared;
use gpu_std::thread::{block_dim_x, thread_idx_x};
use gpu_std::{device, rolled, unroll};

/// Copies of a bin that are asked for before the first is waited for, when they are added up.
const AT_ONCE: usize = 4;

/// The most copies of `bins` bins, a power of two up to 32, that fit into `counters` counters; one at least.
pub const fn histogram_copies(bins: u32, counters: u32) -> u32 {
    let mut copies = 32;
    while copies > 1 && copies * bins > counters {
        copies /= 2;
    }
    copies
}

/// How often each of `bins` bins was counted: a bin's copies side by side. Behind the bins stands one for samples that
/// fall into none: to count them there is less than to ask each whether to count it.
///
/// ```
/// use gpu_collective::block::Histogram;
/// use gpu_std::prelude::*;
///
/// /// How often each letter occurs.
/// #[kernel]
/// pub fn letters(text: Global<u8>, len: u32, counts: GlobalMut<u32>) {
///     let histogram = Histogram::new(shared::dynamic().array(27 * 8), 26, 8);
///     histogram.clear();
///     thread::sync_threads();
///     let mut at = thread::thread_idx_x();
///     while at < len {
///         histogram.count((text.read(at) as u32).wrapping_sub(u32::from(b'a')));
///         at += 64;
///     }
///     thread::sync_threads();
///     histogram.totals(|letter, count| counts.write(letter, count));
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let text = b"the bins of a block stand in shared memory";
/// # let (input, mut counts) = (device.upload(text)?, device.zeroed(26)?);
/// # let (from, to) = (input.view().as_global(), counts.view_mut().as_global_mut());
/// # let config = LaunchConfig::linear(1, 64).shared(4 * 27 * 8);
/// # unsafe { letters::launch(&device.default_stream(), config, from, text.len() as u32, to)? };
/// assert_eq!(counts.to_vec()?[..5], [3, 2, 1, 2, 3]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Histogram {
    all: Shared<u32>,
    /// From the thread's copy on.
    own: Shared<u32>,
    bins: u32,
    copies: u32,
}

impl Histogram {
    /// In `(bins + 1) * copies` words of shared memory; `copies` is a power of two up to 32.
    #[inline(always)]
    pub fn new(words: Shared<u32>, bins: u32, copies: u32) -> Self {
        Self { all: words, own: words.offset(thread_idx_x() & (copies - 1)), bins, copies }
    }

    /// Sets all counters to zero. A barrier has to follow.
    #[device]
    #[inline(always)]
    pub fn clear(self) {
        let mut at = thread_idx_x();
        while at < (self.bins + 1) * self.copies {
            self.all.write(at, 0);
            at += block_dim_x();
        }
    }

    /// Counts a sample of bin `bin`, if there is such a bin.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn count(self, bin: u32) {
        let bin = bin.min(self.bins);
        self.own.atomic(bin * self.copies).fetch_add(1, Ordering::Relaxed, Scope::Block);
    }

    /// Gives `take` each bin that was counted, and how often: a thread for each. Behind a barrier.
    #[device]
    #[inline(always)]
    pub fn totals(self, take: impl Fn(u32, u32)) {
        let mut bin = thread_idx_x();
        while bin < self.bins {
            let mut count = 0;
            let mut copy = 0;
            // Mutants: a round beyond the copies adds nothing.
            while copy < self.copies {
                copy = rolled(copy);
                unroll::<AT_ONCE>(|i| {
                    // Every lane begins with another copy: the same one of all bins is in few banks.
                    let at = (copy + i as u32 + thread_idx_x()) & (self.copies - 1);
                    let own = self.all.read(bin * self.copies + at);
                    count += if copy + (i as u32) < self.copies { own } else { 0 };
                });
                copy += AT_ONCE as u32;
            }
            if count > 0 {
                take(bin, count);
            }
            bin += block_dim_x();
        }
    }
}
