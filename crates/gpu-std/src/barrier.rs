//! Barriers in shared memory (`mbarrier`, capability 9.0): arrivals and bytes of copies, counted in phases.
//!
//! A barrier is 8 bytes of shared memory. It is in a *phase*, which completes when as many threads have arrived as it
//! was made for and as many bytes have been copied as were announced; then the next one begins at once. A thread waits for a phase
//! by its *parity*: the first phase has parity 0, the next one 1, then 0 again. To wait for the parity that the phase
//! *before* the present one had costs nothing, so that a ring's first round finds its stages empty:
//!
//! ```
//! use gpu_std::barrier::Barrier;
//! use gpu_std::prelude::*;
//!
//! /// One warp fills a word of shared memory for another, again and again.
//! #[kernel(launch_bounds(64))]
//! pub fn hand_over(x: Global<u32>, y: GlobalMut<u32>, rounds: u32) {
//!     let mut shared = shared::dynamic();
//!     let (barriers, words) = (shared.array::<u64>(2), shared.array::<u32>(32));
//!     let (full, empty) = (Barrier::at(barriers, 0), Barrier::at(barriers, 1));
//!     let (thread, lane) = (thread::thread_idx_x(), thread::thread_idx_x() % 32);
//!     if thread == 0 {
//!         full.init(32);
//!         empty.init(32);
//!     }
//!     thread::sync_threads();
//!     for round in 0..rounds {
//!         if thread < 32 {
//!             empty.wait(round % 2 ^ 1);
//!             words.write(lane, x.read(32 * round + lane));
//!             full.arrive();
//!         } else {
//!             full.wait(round % 2);
//!             y.write(32 * round + lane, words.read(lane));
//!             empty.arrive();
//!         }
//!     }
//! }
//! ```
//!
//! Who arrives releases what it did and knows, who waits acquires that of all who arrived, and of the copies that the phase
//! counted. Where threads of other blocks of the [cluster](crate::cluster) arrive, with [`Barrier::arrive_at`], it is
//! [`Barrier::wait_cluster`] that acquires theirs. Copies are made by the *asynchronous proxy*: [`fence_init`] makes a
//! barrier's beginning known to it, and [`fence_proxy`] what a thread has written.

use crate::backend::barrier as backend;
use crate::memory::Shared;

/// A barrier in shared memory.
#[derive(Clone, Copy)]
pub struct Barrier(u32);

impl Barrier {
    /// Barrier number `index` of those that lie in `memory`, 8 bytes each.
    #[inline(always)]
    #[must_use]
    pub fn at(memory: Shared<u64>, index: u32) -> Self {
        Self(memory.byte(index))
    }

    /// Where it lies: bytes from the start of the block's dynamic shared memory.
    #[inline(always)]
    pub(crate) fn place(self) -> u32 {
        self.0
    }

    /// Makes it a barrier whose phases need so many arrivals, in its first phase. By one thread, before all others.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn init(self, arrivals: u32) {
        backend::init(self.0, arrivals);
    }

    /// Arrives.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive(self) {
        backend::arrive(self.0);
    }

    /// Arrives at the barrier that lies in the block of this rank of the cluster where this one lies in its own, as a
    /// release to the whole cluster. That block has begun, and the barrier been made, with a
    /// [`cluster::sync`](crate::cluster::sync) since.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive_at(self, rank: u32) {
        backend::arrive_at(self.0, rank);
    }

    /// As [`Self::arrive_at`], of a thread that has only *read*: who then waits with [`Self::wait`] may have shared
    /// memory written, this block's and its own, that this thread, or its warpgroup's tensor cores, had read before.
    ///
    /// What threads have read is there, so nothing is fenced, where a release to the cluster takes a fence of the whole
    /// device. For what this thread has written to another block it is no release.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn free_at(self, rank: u32) {
        backend::free_at(self.0, rank);
    }

    /// Arrives, and announces copies of so many bytes: the phase is not complete before they are there.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn arrive_expect(self, bytes: u32) {
        backend::arrive_expect(self.0, bytes);
    }

    /// Waits until the phase of this parity, 0 or 1, is complete.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait(self, parity: u32) {
        backend::wait(self.0, parity);
    }

    /// As [`Self::wait`], and acquires what threads of other blocks of the cluster released when they arrived.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn wait_cluster(self, parity: u32) {
        backend::wait_cluster(self.0, parity);
    }
}

/// Makes the [`Barrier::init`]s that this thread has done known to copies that will arrive there
/// (`fence.mbarrier_init`). The threads that start these know of it behind a block barrier, those of other blocks
/// behind the cluster's.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn fence_init() {
    backend::fence_init();
}

/// Orders what this thread has written to shared memory before what copies and tensor cores read there afterwards
/// (`fence.proxy.async`). Each thread that wrote calls it, before the barrier that tells others.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn fence_proxy() {
    backend::fence_proxy();
}
