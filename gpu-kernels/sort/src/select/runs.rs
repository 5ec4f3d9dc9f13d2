//! Runs of equal items, once it is known where they start.

use gpu_std::device;
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Threads of a block that describes runs.
pub const DESCRIBE_THREADS: u32 = 256;
/// Such blocks on a multiprocessor, as many as fit. They go on with others until none is left, as how many runs there
/// are is known only on the device.
pub const DESCRIBE_BLOCKS: u32 = 8;

/// Writes the item and the length of each run, of which `starts` says where they start among `len` items and `count`
/// how many there are.
#[device]
#[inline(always)]
pub fn describe<T: Element>(
    items: Global<T>,
    len: u64,
    starts: Global<u64>,
    count: Global<u64>,
    values: GlobalMut<T>,
    lengths: GlobalMut<u64>,
) {
    let count = count.read(0);
    let mut run = block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64;
    while run < count {
        let starts = starts.offset(run);
        let start = starts.read(0);
        let end = if run + 1 < count { starts.read(1) } else { len };
        values.offset(run).write(0, items.offset(start).read(0));
        lengths.offset(run).write(0, end - start);
        run += grid_dim_x() as u64 * block_dim_x() as u64;
    }
}
