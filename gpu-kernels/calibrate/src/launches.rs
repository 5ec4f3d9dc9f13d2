//! Launches: kernels that do nothing, or next to nothing.

use gpu_std::kernel;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{self, index_1d};

/// Nothing, without arguments.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_empty_0() {}

/// Nothing, with one argument.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_empty_1(_first: u64) {}

/// Nothing, with three arguments.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_empty_3(_first: u64, _second: u64, _third: u64) {}

/// Nothing, with six arguments.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_empty_6(_first: u64, _second: u64, _third: u64, _fourth: u64, _fifth: u64, _sixth: u64) {}

/// Nothing but waiting for the kernel before: a launch that follows another as closely as can be, from 9.0 on. The argument
/// tells it from the other empty kernels where it has nothing to wait with.
#[kernel(images = sm_75_90, launch_bounds(1024), programmatic)]
pub fn calibrate_dependent(_number: u32) {
    thread::grid_dependency_synchronize();
    thread::trigger_launch_completion();
}

/// `output[i] = input[i]` for `len` words, one thread each: a wave of blocks after the other, each of which waits for
/// memory once. Launch one dimension of blocks, any size.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_copy(input: Global<u32>, output: GlobalMut<u32>, len: u32) {
    let index = index_1d();
    if index < len {
        output.write(index, input.read(index));
    }
}

/// The same through shared memory: each warp writes a row of words, and after a barrier reads what the next warp wrote.
///
/// Launch blocks of a power of two of threads, as many in all as words, with a word of shared memory each.
#[kernel(images = sm_75, launch_bounds(1024))]
pub fn calibrate_pass(input: Global<u32>, output: GlobalMut<u32>) {
    let (index, here) = (index_1d(), thread::thread_idx_x());
    let words = gpu_std::shared::dynamic().array::<u32>(thread::block_dim_x());
    words.write(here, input.read(index));
    thread::sync_threads();
    let next = (here + 32) & (thread::block_dim_x() - 1);
    output.write(index, words.read(next));
}
