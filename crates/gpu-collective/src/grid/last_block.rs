//! Which block is the last to be done with its part.
//!
//! What every block wrote before it counted itself, the last one sees: writes, fence, count (NVIDIA,
//! *threadFenceReduction*; here release and acquire of one atomic).

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::device;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};

/// Whether this block is the last of `blocks` to call: then it sees what all of them wrote before.
///
/// `counter` is zero before the launch, and again after it. `room` is one word of shared memory, read until the next
/// barrier. Two barriers.
///
/// ```
/// use gpu_collective::{block, grid::is_last_block};
/// use gpu_std::prelude::*;
///
/// /// The largest of all elements, in one launch.
/// #[kernel]
/// pub fn largest(values: Global<u32>, of_blocks: GlobalMut<u32>, counter: GlobalMut<u32>, result: GlobalMut<u32>) {
///     let (mut memory, blocks) = (shared::dynamic(), thread::grid_dim_x());
///     let (room, flag) = (memory.array(2), memory.array(1));
///     let thread = thread::thread_idx_x();
///     let of_block = block::reduce(values.read(thread::index_1d()), 0, 2, room, Ord::max);
///     if thread == 0 {
///         of_blocks.write(thread::block_idx_x(), of_block);
///     }
///     if is_last_block(counter, blocks, flag) {
///         // There are no more blocks than threads.
///         let value = if thread < blocks { of_blocks.read(thread) } else { 0 };
///         let of_all = block::reduce(value, 0, 2, room, Ord::max);
///         if thread == 0 {
///             result.write(0, of_all);
///         }
///     }
/// }
/// # use gpu_std::launch::LaunchConfig;
/// # let device = gpu_core::Device::simulator();
/// # let values = device.upload(&(0..320).map(|i| i * 101 % 1000).collect::<Vec<u32>>())?;
/// # let (mut of_blocks, mut counter, mut result) = (device.zeroed(5)?, device.zeroed(1)?, device.zeroed(1)?);
/// # let (a, b) = (values.view().as_global(), of_blocks.view_mut().as_global_mut());
/// # let (c, d) = (counter.view_mut().as_global_mut(), result.view_mut().as_global_mut());
/// # unsafe { largest::launch(&device.default_stream(), LaunchConfig::linear(5, 64).shared(32), a, b, c, d)? };
/// assert_eq!(result.to_vec()?, (0..320).map(|i| i * 101 % 1000).max().as_slice());
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[device]
#[inline(always)]
pub fn is_last_block(counter: GlobalMut<u32>, blocks: u32, room: Shared<u32>) -> bool {
    completes(counter, 1, blocks, room)
}

/// Whether with `done` of this block `all` are done, of a task that blocks have unequal parts of: as
/// [`is_last_block`].
#[device]
#[inline(always)]
pub fn completes(counter: GlobalMut<u32>, done: u32, all: u32, room: Shared<u32>) -> bool {
    sync_threads();
    if thread_idx_x() == 0 {
        let counter = counter.atomic(0);
        let before = counter.fetch_add(done, Ordering::AcqRel, Scope::Device);
        if before + done == all {
            // Mutants: the next launch reads it, and comes after this one's end whatever the scope.
            counter.store(0, Ordering::Relaxed, Scope::Device);
        }
        room.write(0, (before + done == all) as u32);
    }
    sync_threads();
    room.read(0) == 1
}
