//! Clusters: the simulator knows the blocks of each.

use super::memory::{Vector, shared_at};
use crate::memory::Element;
use gpu_sim::device;

#[track_caller]
pub fn rank() -> u32 {
    device::cluster_rank()
}

#[track_caller]
pub fn size() -> u32 {
    device::cluster_size()
}

#[track_caller]
pub fn id_x() -> u32 {
    device::block_idx()[0] / device::cluster_size()
}

#[track_caller]
pub fn grid_dim_x() -> u32 {
    device::grid_dim()[0] / device::cluster_size()
}

#[track_caller]
pub fn arrive() {
    device::cluster_arrive();
}

#[track_caller]
pub fn wait() {
    device::cluster_wait();
}

/// A place in the shared memory of a block.
#[derive(Clone, Copy)]
pub struct Memory {
    offset: u32,
    rank: u32,
}

impl Memory {
    #[inline]
    pub fn of(offset: u32, rank: u32) -> Self {
        Self { offset, rank }
    }

    #[inline]
    #[track_caller]
    pub fn load<T: Element, const N: usize>(self, index: u32) -> [T; N] {
        device::cluster_load::<Vector<T, N>>(self.rank, shared_at::<T>(self.offset, index)).0
    }

    #[inline]
    #[track_caller]
    pub fn store<T: Element, const N: usize>(self, index: u32, value: [T; N]) {
        device::cluster_store(self.rank, shared_at::<T>(self.offset, index), Vector(value));
    }
}
