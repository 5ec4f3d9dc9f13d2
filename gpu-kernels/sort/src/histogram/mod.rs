//! Histograms: how many samples fall into each bin.
//!
//! A block counts in shared memory ([`Histogram`]) and adds up what it has at the end. More bins than shared memory
//! holds are counted in global memory.
//!
//! Whole numbers add up to the same in any order.

mod binning;
mod kernels;

use binning::Bytes;
pub use binning::{Binning, Edges, EvenF32, EvenF64, EvenInteger, NO_BIN, Sample};
pub use kernels::*;

use gpu_collective::block::{Histogram, histogram_copies};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{block_dim_x, block_idx_x, grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, shared, unroll};

use gpu_collective::Packed;

/// Threads of a block.
pub const THREADS: u32 = 512;
/// Blocks on a multiprocessor.
pub const BLOCKS: u32 = 4;
/// Bytes that a thread reads at once.
pub const VECTOR_BYTES: u32 = 16;
/// Words of a vector.
const WORDS: usize = VECTOR_BYTES as usize / 4;
/// Vectors that it asks for before the first is used.
pub const AT_ONCE: usize = 2;
/// Counters of a block, of all copies together, wherever bins are few: 32 KiB, so that four blocks fit on a
/// multiprocessor.
pub const COUNTERS: u32 = 8192;
/// The most bins that are counted in shared memory: 48 KiB, with the one for samples in none, need no leave of the
/// driver.
pub const MAX_SHARED_BINS: u32 = (12 << 10) - 1;

/// How many copies of the bins a block has: none where it counts in global memory.
pub const fn copies(bins: u32) -> u32 {
    // Mutants: to count just so many in global memory takes longer only.
    if bins > MAX_SHARED_BINS { 0 } else { histogram_copies(bins, COUNTERS) }
}

/// How many bins a block has of its own for samples of so many bytes: those of one byte are counted value by value,
/// which is put into bins in the end.
pub const fn own_bins(bins: u32, sample_bytes: u32) -> u32 {
    if sample_bytes == 1 { 256 } else { bins }
}

/// Bytes of dynamic shared memory of a block, for samples of so many bytes.
pub const fn shared_bytes(bins: u32, sample_bytes: u32) -> u32 {
    let own = own_bins(bins, sample_bytes);
    SharedLayout::new().array::<u32>((own + 1) * copies(own)).bytes()
}

/// The counts of all blocks.
#[derive(Clone, Copy)]
struct Counts {
    counts: GlobalMut<u32>,
    /// Whether they have 64 bits.
    wide: bool,
}

impl Counts {
    #[inline(always)]
    fn add(self, bin: u32, count: u32) {
        if self.wide {
            self.counts.cast::<u64>().atomic(bin).fetch_add(count as u64, Ordering::Relaxed, Scope::Device);
        } else {
            self.counts.atomic(bin).fetch_add(count, Ordering::Relaxed, Scope::Device);
        }
    }

    /// Adds to a bin if there is such a bin.
    #[inline(always)]
    fn add_if(self, bin: u32, bins: u32, count: u32) {
        if bin < bins {
            self.add(bin, count);
        }
    }
}

/// Adds to `counts`, of 32 bits each or, where `wide` is 1, of 64, how many of the `len` samples fall into each of
/// `bins` bins.
///
/// `V` samples have [`VECTOR_BYTES`]. Any number of blocks of [`THREADS`], with [`shared_bytes`].
#[device]
#[inline(always)]
pub fn histogram<T: Packed, B: Binning<T>, const V: usize>(
    samples: Global<T>,
    len: u64,
    binning: B,
    bins: u32,
    counts: GlobalMut<u32>,
    wide: u32,
) {
    const { assert!(V * size_of::<T>() == VECTOR_BYTES as usize) };
    let counts = Counts { counts, wide: wide == 1 };
    if T::BYTES == 1 {
        // Any value of a byte is its bin, and its bits are the sample.
        in_shared::<T, Bytes, V>(samples, len, Bytes, 256, 32, |value, count| {
            counts.add_if(binning.bin(T::unpack(&[value], 0)), bins, count);
        });
        return;
    }
    let copies = copies(bins);
    if copies > 0 {
        in_shared::<T, B, V>(samples, len, binning, bins, copies, |bin, count| counts.add(bin, count));
        return;
    }
    let mut at = block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64;
    while at < len {
        counts.add_if(binning.bin(samples.offset(at).read(0)), bins, 1);
        at += grid_dim_x() as u64 * block_dim_x() as u64;
    }
}

/// Counts in `copies` copies of `bins` bins and gives `add` what each bin has.
#[device]
#[inline(always)]
fn in_shared<T: Packed, B: Binning<T>, const V: usize>(
    samples: Global<T>,
    len: u64,
    binning: B,
    bins: u32,
    copies: u32,
    add: impl Fn(u32, u32),
) {
    let own = Histogram::new(shared::dynamic().array(0), bins, copies);
    let (thread, threads) = (thread_idx_x(), block_dim_x());
    own.clear();
    sync_threads();

    // ---- Samples before the first vector and after the last: less than two vectors, one a thread of the first block
    let past = (samples.address() % VECTOR_BYTES as u64) as u32 / T::BYTES;
    let head = (((V as u32 - past) % V as u32) as u64).min(len);
    let vectors = (len - head) / V as u64;
    let tail = head + vectors * V as u64;
    if block_idx_x() == 0 {
        if (thread as u64) < head {
            own.count(binning.bin(samples.read(thread)));
        }
        if (thread as u64) < len - tail {
            own.count(binning.bin(samples.offset(tail).read(thread)));
        }
    }

    // ---- Whole vectors
    let aligned = samples.offset(head);
    let each = threads * AT_ONCE as u32;
    // How many vectors there are from a block's base on, of those that it takes at once.
    let left = |base: u64| vectors.saturating_sub(base).min(each as u64) as u32;
    let load = |base: u64, row: usize| {
        let at = row as u32 * threads + thread;
        if at < left(base) {
            aligned.offset(base * V as u64).cast::<u32>().read_streaming_vec(at * WORDS as u32)
        } else {
            [0; WORDS]
        }
    };
    let mut base = block_idx_x() as u64 * each as u64;
    let mut loaded = [[0; WORDS]; AT_ONCE];
    unroll::<AT_ONCE>(|row| loaded[row] = load(base, row));
    // Mutants: in one more turn no vector is left.
    while base < vectors {
        let next = base + grid_dim_x() as u64 * each as u64;
        // A vector's successor is on its way as soon as it is counted, while the others are.
        unroll::<AT_ONCE>(|row| {
            if row as u32 * threads + thread < left(base) {
                unroll::<V>(|i| own.count(binning.bin(T::unpack(&loaded[row], i))));
            }
            loaded[row] = load(next, row);
        });
        base = next;
    }
    sync_threads();

    // ---- What the block has
    own.totals(add);
}
