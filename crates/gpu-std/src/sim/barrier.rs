//! Barriers in shared memory: the simulator keeps them beside it.

use gpu_sim::device;

#[inline]
#[track_caller]
pub fn init(barrier: u32, arrivals: u32) {
    device::phase_init(barrier, arrivals);
}

#[inline]
#[track_caller]
pub fn arrive(barrier: u32) {
    device::phase_arrive(barrier, 0);
}

#[inline]
#[track_caller]
pub fn arrive_at(barrier: u32, rank: u32) {
    device::phase_arrive_at(rank, barrier);
}

#[inline]
#[track_caller]
pub fn free_at(barrier: u32, rank: u32) {
    device::phase_free_at(rank, barrier);
}

#[inline]
#[track_caller]
pub fn arrive_expect(barrier: u32, bytes: u32) {
    device::phase_arrive(barrier, bytes);
}

#[inline]
#[track_caller]
pub fn wait(barrier: u32, parity: u32) {
    device::phase_wait(barrier, parity);
}

#[inline]
#[track_caller]
pub fn wait_cluster(barrier: u32, parity: u32) {
    device::phase_wait_cluster(barrier, parity);
}

#[inline]
#[track_caller]
pub fn fence_init() {
    device::fence_proxy();
}

#[inline]
#[track_caller]
pub fn fence_proxy() {
    device::fence_proxy();
}
