//! Where a thread stands in its block and grid, and how the threads of a block wait for each other.

use crate::atomic::Scope;
use crate::backend::thread as backend;

macro_rules! registers {
    ($($name:ident: $doc:literal;)*) => { $(
        #[doc = $doc]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $name() -> u32 {
            backend::$name()
        }
    )* };
}
registers! {
    thread_idx_x: "The thread's x index in its block.";
    thread_idx_y: "The thread's y index in its block.";
    thread_idx_z: "The thread's z index in its block.";
    block_idx_x: "The block's x index in the grid.";
    block_idx_y: "The block's y index in the grid.";
    block_idx_z: "The block's z index in the grid.";
    block_dim_x: "Threads of a block in x.";
    block_dim_y: "Threads of a block in y.";
    block_dim_z: "Threads of a block in z.";
    grid_dim_x: "Blocks of the grid in x.";
    grid_dim_y: "Blocks of the grid in y.";
    grid_dim_z: "Blocks of the grid in z.";
}

/// The thread's index in its block: x, y, z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_idx() -> [u32; 3] {
    [thread_idx_x(), thread_idx_y(), thread_idx_z()]
}

/// The block's index in the grid: x, y, z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_idx() -> [u32; 3] {
    [block_idx_x(), block_idx_y(), block_idx_z()]
}

/// Threads of a block: x, y, z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_dim() -> [u32; 3] {
    [block_dim_x(), block_dim_y(), block_dim_z()]
}

/// Blocks of the grid: x, y, z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim() -> [u32; 3] {
    [grid_dim_x(), grid_dim_y(), grid_dim_z()]
}

/// The thread's place in its block, counted through x, then y, then z: what decides its warp and lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_index_in_block() -> u32 {
    thread_idx_x() + block_dim_x() * (thread_idx_y() + block_dim_y() * thread_idx_z())
}

/// The thread's x index in the whole grid, modulo 2³²: `block_idx_x() * block_dim_x() + thread_idx_x()`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_1d() -> u32 {
    block_idx_x().wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// The thread's x and y index in the whole grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_2d() -> [u32; 2] {
    [index_1d(), block_idx_y().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y())]
}

/// The thread's x, y and z index in the whole grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn index_3d() -> [u32; 3] {
    let [x, y] = index_2d();
    [x, y, block_idx_z().wrapping_mul(block_dim_z()).wrapping_add(thread_idx_z())]
}

/// Whether this is the first thread of the first block.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn first() -> bool {
    block_idx() == [0; 3] && thread_idx() == [0; 3]
}

/// Lanes of a warp: 32 on every GPU.
#[inline(always)]
pub const fn warp_size() -> u32 {
    32
}

/// Waits until the kernels before this one on its stream have ended and what they wrote can be seen.
///
/// Without this call a kernel does not start before that anyway. With it, and with `#[kernel(programmatic)]`, its
/// blocks may be scheduled while the kernel before is still at work, which takes most of the launch's latency off a
/// sequence of short kernels (programmatic dependent launch; `griddepcontrol.wait`, capability 9.0). A programmatic
/// kernel calls it before its first access to memory. Elsewhere it does nothing; the simulator runs kernels one after
/// the other, and reports those that touch what the one before touched without having waited for it.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dependency_synchronize() {
    backend::grid_dependency_synchronize();
}

/// Lets the next kernel on the stream be scheduled once all blocks have come here or ended, if it is programmatic.
///
/// It says nothing about memory: the next kernel waits for the end of this one by itself. Call it after
/// [`grid_dependency_synchronize`], so that no block can start before the kernel before the last has ended.
#[inline(always)]
pub fn trigger_launch_completion() {
    backend::trigger_launch_completion();
}

/// Waits until every thread of the block is here; what they wrote before is visible to all of them after.
///
/// Every thread of the block that has not returned must come to the same call: under a condition that differs within
/// the block it is undefined behaviour on the GPU and a reported fault in the simulator.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads() {
    backend::sync_threads();
}

/// [`sync_threads`], and the number of threads whose `predicate` holds.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_count(predicate: bool) -> u32 {
    backend::sync_threads_count(predicate)
}

/// [`sync_threads`], and whether `predicate` holds in every thread.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_and(predicate: bool) -> bool {
    backend::sync_threads_and(predicate)
}

/// [`sync_threads`], and whether `predicate` holds in any thread.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_threads_or(predicate: bool) -> bool {
    backend::sync_threads_or(predicate)
}

/// Orders this thread's accesses before it against those after it, as seen by its block (`fence.acq_rel.cta`).
///
/// A fence waits for nobody. See [`crate::atomic::fence`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_fence() {
    crate::atomic::fence(crate::atomic::Ordering::AcqRel, Scope::Block);
}

/// As [`block_fence`], as seen by every thread of the device (`fence.acq_rel.gpu`): what CUDA calls `__threadfence`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn device_fence() {
    crate::atomic::fence(crate::atomic::Ordering::AcqRel, Scope::Device);
}

/// As [`block_fence`], as seen by every device and the host (`fence.acq_rel.sys`).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn system_fence() {
    crate::atomic::fence(crate::atomic::Ordering::AcqRel, Scope::System);
}

/// The multiprocessor's cycle counter. Only differences taken on one multiprocessor mean anything.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn clock64() -> u64 {
    backend::clock64()
}

/// Nanoseconds of the device's global timer, whose resolution may be a microsecond.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn globaltimer() -> u64 {
    backend::globaltimer()
}

/// Sleeps for about `nanos` nanoseconds (at most 1 ms): for back-off in a spin.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn nanosleep(nanos: u32) {
    backend::nanosleep(nanos);
}

/// Gives each thread of this warpgroup (128 threads, from a multiple of 128 on) more registers, `REGISTERS` in all, once
/// others have given them back with [`set_fewer_registers`]. All 128 threads call it at the same place. Capability
/// 9.0 exactly; the kernel states `launch_bounds(threads, 1)`.
///
/// From 24 to 256, a multiple of 8.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn set_more_registers<const REGISTERS: u32>() {
    const { assert!(REGISTERS >= 24 && REGISTERS <= 256 && REGISTERS.is_multiple_of(8)) };
    backend::set_more_registers::<REGISTERS>();
}

/// Gives registers of this warpgroup back, all but `REGISTERS` of each thread. As [`set_more_registers`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn set_fewer_registers<const REGISTERS: u32>() {
    const { assert!(REGISTERS >= 24 && REGISTERS <= 256 && REGISTERS.is_multiple_of(8)) };
    backend::set_fewer_registers::<REGISTERS>();
}
