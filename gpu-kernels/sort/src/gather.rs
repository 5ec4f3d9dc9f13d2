//! Values in the order of an index.

use gpu_std::device;
use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// Writes `output[i] = input[index[i]]` for `len` elements. Any number of blocks and threads.
#[device]
#[inline(always)]
pub fn gather<T: Element>(input: Global<T>, index: Global<u32>, output: GlobalMut<T>, len: u64) {
    let mut at = block_idx_x() as u64 * block_dim_x() as u64 + thread_idx_x() as u64;
    while at < len {
        output.offset(at).write(0, input.read(index.offset(at).read(0)));
        at += grid_dim_x() as u64 * block_dim_x() as u64;
    }
}
