//! What a simulated thread calls: one function per instruction, each checked.
//!
//! These functions work only inside [`Simulator::launch`](crate::Simulator::launch) and panic elsewhere. Each
//! reports the line that called it, through `#[track_caller]`: wrappers pass that on.
//!
//! A fault ends its thread by unwinding it. In destructors that run then they have no effect and give zeros; a thread
//! that catches the unwinding ends at the next call, and one that does so for ever ends the process.
//!
//! Linear thread number: `x + y * dx + z * dx * dy`; lane: that number modulo 32.

// Only shells are generic or `#[inline]`: what those call is compiled once, optimised, and not with each kernel of a
// test, which is not.
mod async_copy;
mod atomic;
mod cluster;
mod control;
mod global;
mod index;
mod plain;
mod shared;
mod sync;
mod tensor;
mod warp;

pub use async_copy::{cp_async, cp_async_commit, cp_async_wait};
pub use atomic::{Ordering, Scope, Word, atomic_load, atomic_store, atomic_update};
pub use cluster::{cluster_arrive, cluster_load, cluster_rank, cluster_size, cluster_store, cluster_wait};
pub use control::{branch, clock64, globaltimer, loop_tick};
pub use global::{Load, Store, global_load, global_prefetch, global_store};
pub use index::{block_dim, block_idx, grid_dim, simulator, thread_idx};
pub(crate) use plain::Bytes;
pub use plain::Plain;
pub use shared::{shared_array, shared_byte, shared_bytes, shared_load, shared_store};
pub use sync::{BarrierOp, barrier, barrier_reduce, fence, grid_dependency_synchronize};
pub(crate) use tensor::Row;
pub use tensor::{
    Box3, fence_proxy, linear_thread, phase_arrive, phase_arrive_at, phase_free_at, phase_init, phase_wait,
    phase_wait_cluster, store_commit, store_wait, swizzled, tensor_load, tensor_load_multicast, tensor_store,
    warpgroup, warpgroup_read,
};
pub use warp::{Redux, Shuffle, Vote, active_mask, match_any, matrix, redux, shuffle, sync_warp, vote};

pub use crate::fault::Space;
