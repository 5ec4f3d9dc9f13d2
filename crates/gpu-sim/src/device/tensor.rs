//! Barriers that count bytes, copies of boxes, and what warpgroups do together.

use std::panic::Location;
use std::rc::Rc;

use crate::engine::fiber::suspend;
use crate::engine::{on_thread, with};

/// A batch of matrices, and the box of it that a copy moves.
#[derive(Clone, Copy, Debug)]
pub struct Box3 {
    /// The address of the first element.
    pub address: u64,
    /// Bytes of an element.
    pub element: u32,
    /// Elements of a row, rows of a matrix, matrices.
    pub extents: [u64; 3],
    /// Bytes from row to row and from matrix to matrix.
    pub strides: [u64; 2],
    /// The same of the box.
    pub tile: [u32; 3],
    /// Whether each 128 bytes lie as [`swizzled`] says.
    pub swizzled: bool,
}

/// Where a byte of swizzled shared memory lies: 16-byte pieces of 128 bytes change places with the number of the 128
/// bytes, of eight.
#[inline]
pub const fn swizzled(offset: u32) -> u32 {
    offset ^ (offset >> 7 & 7) << 4
}

/// Makes a barrier at an offset of shared memory, whose phases need so many arrivals.
#[track_caller]
pub fn phase_init(barrier: u32, arrivals: u32) {
    let caller = Location::caller();
    on_thread(caller, |engine| engine.phase_init(barrier, arrivals, caller));
}

/// What the thread wrote to shared memory, barriers too, is known to copies and tensor cores (`fence.proxy.async`).
#[track_caller]
pub fn fence_proxy() {
    on_thread(Location::caller(), |engine| engine.fence_proxy());
}

/// Arrives at a barrier and announces so many bytes; releases what the thread did and knows.
#[track_caller]
pub fn phase_arrive(barrier: u32, bytes: u32) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.phase_arrive(barrier, bytes, caller));
    }
}

/// Waits until the barrier's phase of this parity is complete; acquires what was released in it.
#[track_caller]
pub fn phase_wait(barrier: u32, parity: u32) {
    let caller = Location::caller();
    if super::atomic::switch(caller)
        && on_thread(caller, |engine| engine.phase_wait(barrier, parity, caller)) == Some(false)
    {
        suspend();
    }
}

/// Starts the copy of a box to shared memory, from an element, row and matrix on; its bytes count at a barrier.
#[track_caller]
pub fn tensor_load(shared: u32, barrier: u32, tensor: &Box3, place: [i32; 3]) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.tensor_load(shared, barrier, tensor, place, caller));
    }
}

/// Something that all 128 threads of a warpgroup do together.
#[track_caller]
pub fn warpgroup(operation: &'static str, operand: u32) {
    let caller = Location::caller();
    let none = |_: &[u8]| Vec::new();
    if on_thread(caller, |engine| engine.arrive_warpgroup((operation, operand), &[], none, caller))
        == Some(false)
    {
        suspend();
    }
}

/// All 128 threads of a warpgroup read tiles of shared memory, offsets and bytes, at once, as the tensor cores do:
/// `read` makes numbers of the block's shared memory, once for all.
#[track_caller]
pub fn warpgroup_read(
    operation: &'static str,
    tiles: &[(u32, u32)],
    read: impl FnOnce(&[u8]) -> Vec<f32>,
) -> Rc<Vec<f32>> {
    let caller = Location::caller();
    let arrived = on_thread(caller, |engine| engine.arrive_warpgroup((operation, 0), tiles, read, caller));
    match arrived {
        None => return Rc::default(),
        Some(true) => {}
        Some(false) => suspend(),
    }
    with(|engine| engine.warpgroup_read())
}

/// The thread's number in its block.
pub fn linear_thread() -> u32 {
    with(|engine| engine.current.tid)
}
