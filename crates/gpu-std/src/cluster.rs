//! Clusters: neighbouring blocks that run at the same time, on multiprocessors that reach each other's shared memory
//! (capability 9.0).
//!
//! A kernel with `#[kernel(cluster = 2)]` is launched in clusters of two blocks, next to each other in x: a grid
//! whose x is no multiple is refused. 8 blocks are the most. In a kernel without, each block is a cluster by itself.
//!
//! ```
//! use gpu_std::cluster::{self, Remote};
//! use gpu_std::prelude::*;
//!
//! /// The words of each two blocks, exchanged.
//! #[kernel(launch_bounds(32), cluster = 2)]
//! pub fn exchange(x: Global<u32>, y: GlobalMut<u32>) {
//!     let (lane, i) = (thread::thread_idx_x(), thread::index_1d());
//!     let words = shared::dynamic().array::<u32>(32);
//!     // The other block's shared memory is there once it has begun.
//!     cluster::sync();
//!     Remote::of(words, cluster::rank() ^ 1).write(lane, x.read(i));
//!     // And what was written there can be read, and the block may end.
//!     cluster::sync();
//!     y.write(i, words.read(lane));
//! }
//! # use gpu_std::launch::LaunchConfig;
//! # let simulator = gpu_sim::Simulator::default();
//! # let (x, y) = (simulator.alloc_zeroed(512)?, simulator.alloc(512)?);
//! # let bytes: Vec<u8> = (0..128_u32).flat_map(u32::to_ne_bytes).collect();
//! # simulator.write(x, &bytes)?;
//! # let config = LaunchConfig::linear(4, 32).shared(128);
//! # // SAFETY: the simulator checks every access.
//! # unsafe { exchange::launch(&simulator, config, Global::from_raw(x), GlobalMut::from_raw(y)) }?;
//! # let mut exchanged = bytes.clone();
//! # simulator.read(y, &mut exchanged)?;
//! # assert_eq!((&exchanged[..128], &exchanged[384..]), (&bytes[128..256], &bytes[256..384]));
//! # Ok::<(), gpu_sim::Fault>(())
//! ```
//!
//! Shared memory goes with its block. Whoever reads or writes another block's, arrives at a barrier there
//! ([`Barrier::arrive_at`](crate::barrier::Barrier::arrive_at)) or has boxes copied there
//! ([`TensorMap::load_multicast`](crate::tensor_map::TensorMap::load_multicast)) does so after that block has begun and
//! before it ends: a [`sync`] before the first such thing and one behind the last see to it.

use crate::backend::cluster as backend;
use crate::memory::{Element, Shared, vector_bytes};

/// The block's number in its cluster.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn rank() -> u32 {
    backend::rank()
}

/// Blocks of a cluster.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn size() -> u32 {
    backend::size()
}

/// The cluster's x index in the grid.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn id_x() -> u32 {
    backend::id_x()
}

/// Clusters of the grid in x.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn grid_dim_x() -> u32 {
    backend::grid_dim_x()
}

/// Arrives at the cluster's barrier and releases what the thread did and knows; [`wait`] is the other half of it. All
/// threads of the cluster come here, the lanes of a warp together.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn arrive() {
    backend::arrive();
}

/// Waits until all threads of the cluster have arrived, and acquires what they released. The lanes of a warp come here
/// together, each of which has arrived once since it last waited.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn wait() {
    backend::wait();
}

/// Waits until all threads of the cluster are here; what they wrote before is visible to all of them after.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync() {
    arrive();
    wait();
}

/// An array in the shared memory of a block of the cluster.
#[derive(Clone, Copy)]
pub struct Remote<T> {
    memory: backend::Memory,
    element: core::marker::PhantomData<fn() -> T>,
}

impl<T: Element> Remote<T> {
    /// The array that lies in the block of this rank where `memory` lies in this one.
    #[inline(always)]
    #[must_use]
    pub fn of(memory: Shared<T>, rank: u32) -> Self {
        Self { memory: backend::Memory::of(memory.byte(0), rank), element: core::marker::PhantomData }
    }

    /// Element `index` (`ld.shared::cluster`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read(self, index: u32) -> T {
        self.memory.load::<T, 1>(index)[0]
    }

    /// `N` elements from `index` on, in one access of 2, 4, 8 or 16 bytes in all, to which they are aligned.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_vec<const N: usize>(self, index: u32) -> [T; N] {
        const { vector_bytes::<T, N>() };
        self.memory.load(index)
    }

    /// Writes element `index` (`st.shared::cluster`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write(self, index: u32, value: T) {
        self.memory.store(index, [value]);
    }

    /// Writes `N` elements from `index` on in one access, as [`Self::read_vec`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_vec<const N: usize>(self, index: u32, value: [T; N]) {
        const { vector_bytes::<T, N>() };
        self.memory.store(index, value);
    }
}
