//! The blocks of a cluster: their barrier, and each other's shared memory.

use std::panic::Location;

use super::plain::{Bytes, Plain, bytes, value};
use crate::engine::fiber::suspend;
use crate::engine::{on_thread, with};

/// The block's rank in its cluster.
#[track_caller]
pub fn cluster_rank() -> u32 {
    with(|engine| engine.rank())
}

/// Blocks of a cluster: 1 where the launch has none.
#[track_caller]
pub fn cluster_size() -> u32 {
    with(|engine| engine.cluster)
}

/// Arrives at the cluster's barrier; releases what the thread did and knows (`barrier.cluster.arrive.release`).
#[track_caller]
pub fn cluster_arrive() {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.cluster_arrive(caller));
    }
}

/// Waits until all threads of the cluster have arrived; acquires what they released (`barrier.cluster.wait.acquire`).
#[track_caller]
pub fn cluster_wait() {
    let caller = Location::caller();
    if super::atomic::switch(caller) && on_thread(caller, |engine| engine.cluster_wait(caller)) == Some(false)
    {
        suspend();
    }
}

/// Loads a value at a byte offset of the shared memory of the block of this rank.
#[inline]
#[track_caller]
pub fn cluster_load<T: Plain>(rank: u32, offset: u32) -> T {
    value(load(rank, offset, size_of::<T>()))
}

#[track_caller]
fn load(rank: u32, offset: u32, size: usize) -> Bytes {
    let caller = Location::caller();
    if !super::atomic::switch(caller) {
        return Bytes::default();
    }
    on_thread(caller, |engine| engine.cluster_load(rank, offset, size, caller)).unwrap_or_default()
}

/// Stores a value at a byte offset of the shared memory of the block of this rank.
#[inline]
#[track_caller]
pub fn cluster_store<T: Plain>(rank: u32, offset: u32, value: T) {
    store(rank, offset, size_of::<T>(), bytes(value));
}

#[track_caller]
fn store(rank: u32, offset: u32, size: usize, bytes: Bytes) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.cluster_store(rank, offset, size, bytes, caller));
    }
}
