//! Places in the host's memory that kernels write results of calls to: what a call waits for is then there, and no copy
//! is enqueued and waited for behind the kernel.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use cuda_shim as sys;

use super::context::Context;
use crate::backend::{SLOT_BYTES, Slot};

/// Those of a context that are not in use: as many are made as calls were there at the same time.
#[derive(Default)]
pub(super) struct Slots {
    spare: Mutex<Vec<Slot>>,
    /// Whether kernels cannot write to the host's memory.
    impossible: AtomicBool,
}

impl Slots {
    pub(super) fn take(&self) -> Option<Slot> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(super) fn give_back(&self, slot: Slot) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }
}

impl Context {
    /// A new one, of zeros; `None` where the host's memory is not mapped for kernels.
    #[cold]
    pub(super) fn make_slot(&self) -> Option<Slot> {
        if self.slots.impossible.load(Ordering::Relaxed) {
            return None;
        }
        self.enter().ok()?;
        let mut host = ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        sys::cuMemHostAlloc(&mut host, SLOT_BYTES, flags).code().ok()?;
        let mut address = 0;
        // SAFETY: the memory was just allocated, mapped.
        let found = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) }.code();
        let (Ok(()), Some(place)) = (found, NonNull::new(host.cast::<u8>())) else {
            self.slots.impossible.store(true, Ordering::Relaxed);
            // SAFETY: it was allocated above, and nothing uses it.
            let _ = unsafe { sys::cuMemFreeHost(host) };
            return None;
        };
        // SAFETY: the driver has allocated that many bytes.
        unsafe { place.write_bytes(0, SLOT_BYTES) };
        // Like any memory: work of other streams that uses it is waited for.
        self.adopt(address, SLOT_BYTES);
        Some(Slot { host: place, address })
    }
}
