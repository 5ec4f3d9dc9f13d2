//! The lengths of runs of equal items, once it is known where they start.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Threads of a block of [`run_lengths()`].
pub const LENGTHS_THREADS: u32 = 256;
/// Such blocks on a multiprocessor, as many as fit. They go on with other runs until none is left, as how many there
/// are is known only on the device.
pub const LENGTHS_BLOCKS: u32 = 8;

/// Writes the length of each run, of which `starts` says where they start among `len` items and `count` how many there
/// are.
#[kernel(images = sm_75, launch_bounds(256))]
pub fn run_lengths(starts: Global<u64>, count: Global<u64>, len: u64, lengths: GlobalMut<u64>) {
    let count = count.read(0);
    let mut run = block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64;
    while run < count {
        let starts = starts.offset(run);
        let end = if run + 1 < count { starts.read(1) } else { len };
        lengths.offset(run).write(0, end - starts.read(0));
        run += grid_dim_x() as u64 * block_dim_x() as u64;
    }
}
