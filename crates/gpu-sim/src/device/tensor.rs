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

/// What of a row of a box is in its matrix.
pub(crate) struct Row {
    /// Where it lies in global memory.
    pub(crate) address: u64,
    /// Its bytes.
    pub(crate) len: usize,
    /// Where it lies in the box, before that is swizzled.
    pub(crate) at: usize,
}

impl Box3 {
    /// Bytes of the box.
    pub(crate) fn bytes(&self) -> usize {
        self.tile.iter().product::<u32>() as usize * self.element as usize
    }

    /// What of the box at a place is inside.
    pub(crate) fn rows(&self, place: [i32; 3]) -> Vec<Row> {
        let [width, height, depth] = self.tile.map(i64::from);
        let element = self.element as usize;
        let inside = |at: i64, extent: u64| at >= 0 && (at as u64) < extent;
        let x = i64::from(place[0]);
        let (start, end) = (x.max(0), (x + width).min(self.extents[0] as i64));
        let row = |number: i64| {
            let (y, z) = (i64::from(place[1]) + number % height, i64::from(place[2]) + number / height);
            let is_inside = inside(y, self.extents[1]) && inside(z, self.extents[2]) && start < end;
            is_inside.then(|| Row {
                address: self.address
                    + z as u64 * self.strides[1]
                    + y as u64 * self.strides[0]
                    + start as u64 * element as u64,
                len: (end - start) as usize * element,
                at: (number * width + start - x) as usize * element,
            })
        };
        (0..height * depth).filter_map(row).collect()
    }
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

/// Arrives at a barrier at an offset of the shared memory of the block of this rank.
#[track_caller]
pub fn phase_arrive_at(rank: u32, barrier: u32) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.phase_arrive_at(rank, barrier, caller));
    }
}

/// The same of a thread that has only read: those who wait for the phase may write what it has read. Where it has
/// written to another block's shared memory since it last released anything to the cluster, it releases nothing.
#[track_caller]
pub fn phase_free_at(rank: u32, barrier: u32) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.phase_free_at(rank, barrier, caller));
    }
}

/// Waits until the barrier's phase of this parity is complete; acquires what the block's threads released in it.
#[track_caller]
pub fn phase_wait(barrier: u32, parity: u32) {
    wait(barrier, parity, false);
}

/// The same, and acquires what threads of other blocks of the cluster released.
#[track_caller]
pub fn phase_wait_cluster(barrier: u32, parity: u32) {
    wait(barrier, parity, true);
}

#[track_caller]
fn wait(barrier: u32, parity: u32, far: bool) {
    let caller = Location::caller();
    if super::atomic::switch(caller)
        && on_thread(caller, |engine| engine.phase_wait(barrier, parity, far, caller)) == Some(false)
    {
        suspend();
    }
}

/// Starts the copy of a box to shared memory, from an element, row and matrix on; its bytes count at a barrier.
#[track_caller]
pub fn tensor_load(shared: u32, barrier: u32, tensor: &Box3, place: [i32; 3]) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.tensor_load((shared, barrier), None, tensor, place, caller));
    }
}

/// The same for each block of the cluster whose bit is set in the mask, at the same offsets of its shared memory.
#[track_caller]
pub fn tensor_load_multicast(shared: u32, barrier: u32, tensor: &Box3, place: [i32; 3], mask: u16) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.tensor_load((shared, barrier), Some(mask), tensor, place, caller));
    }
}

/// Starts the copy of a box out of shared memory, to an element, row and matrix and on: what is outside is left out.
#[track_caller]
pub fn tensor_store(shared: u32, tensor: &Box3, place: [i32; 3]) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.tensor_store(shared, tensor, place, caller));
    }
}

/// Ends a group: the copies out of shared memory that the thread has started since the last one.
#[track_caller]
pub fn store_commit() {
    on_thread(Location::caller(), |engine| engine.store_commit());
}

/// Waits until at most `pending` of the thread's latest groups have not read shared memory, or with `written` not
/// written global memory.
#[track_caller]
pub fn store_wait(pending: u32, written: bool) {
    let caller = Location::caller();
    if super::atomic::switch(caller) {
        on_thread(caller, |engine| engine.store_wait(pending, written));
    }
}

/// Something that all 128 threads of a warpgroup do together.
#[track_caller]
pub fn warpgroup(operation: &'static str, operand: u32) {
    let caller = Location::caller();
    let none = |_: &[u8], _: &[u32]| Vec::new();
    if on_thread(caller, |engine| engine.arrive_warpgroup((operation, operand), &[], &[], none, caller))
        == Some(false)
    {
        suspend();
    }
}

/// All 128 threads of a warpgroup read tiles of shared memory, offsets and bytes, at once, as the tensor cores do, and
/// words that each of them brings: `read` makes numbers of the block's shared memory and of the words, thread by thread,
/// once for all.
#[track_caller]
pub fn warpgroup_read(
    operation: &'static str,
    tiles: &[(u32, u32)],
    words: &[u32],
    read: impl FnOnce(&[u8], &[u32]) -> Vec<f32>,
) -> Rc<Vec<f32>> {
    let caller = Location::caller();
    let arrived =
        on_thread(caller, |engine| engine.arrive_warpgroup((operation, 0), tiles, words, read, caller));
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
