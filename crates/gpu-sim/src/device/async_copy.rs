//! `cp.async`: copies from global to shared memory that their thread waits for later.

use std::panic::Location;

use crate::engine::on_thread;

/// Starts copying `bytes` (4, 8 or 16) from global to shared memory; both aligned to `bytes`. Only the first
/// `source_bytes` are read, the rest is filled with zeros. Until the copy has been waited for, nobody may touch the
/// destination, and after that, other threads only behind a barrier.
#[track_caller]
pub fn cp_async(shared: u32, global: u64, bytes: u32, source_bytes: u32) {
    let caller = Location::caller();
    on_thread(caller, |engine| engine.copy_start(shared, global, bytes, source_bytes, caller));
}

/// Puts the copies started since the last commit into one group.
#[track_caller]
pub fn cp_async_commit() {
    on_thread(Location::caller(), |engine| engine.copy_commit());
}

/// Waits until at most `pending` of the thread's latest groups are under way. Copies that no group has been
/// committed for are not waited for.
#[track_caller]
pub fn cp_async_wait(pending: u32) {
    on_thread(Location::caller(), |engine| engine.copy_wait(pending));
}
