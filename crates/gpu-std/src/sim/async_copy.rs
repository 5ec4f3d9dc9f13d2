//! `cp.async`: the simulator delivers the bytes at the wait, or at any time before.

use gpu_sim::device;

#[inline]
#[track_caller]
pub fn copy<T, const N: usize>(shared: u32, global: u64) {
    let bytes = (N * size_of::<T>()) as u32;
    device::cp_async(shared, global, bytes, bytes);
}

#[inline]
#[track_caller]
pub fn copy_or_zero<T, const N: usize>(shared: u32, global: u64, bytes: u32) {
    device::cp_async(shared, global, (N * size_of::<T>()) as u32, bytes);
}

#[inline]
#[track_caller]
pub fn commit() {
    device::cp_async_commit();
}

#[inline]
#[track_caller]
pub fn wait<const PENDING: u32>() {
    device::cp_async_wait(PENDING);
}
