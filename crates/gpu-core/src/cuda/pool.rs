//! The device's default pool: memory is allocated and freed in the order of the legacy default stream, so neither call
//! waits for the device, and what is freed stays for the next allocation.
//!
//! The driver orders that stream with all blocking streams, on both sides: an allocation comes before all that they do
//! later, a free behind all that they did before. Others are ordered by [`Order`](crate::order::Order).

use core::ffi::c_void;
use core::ptr;

use cuda_shim::{
    self as sys, CUdevice, CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType,
    CUmemPool_attribute, CUmemoryPool, CUresult,
};

use super::attributes;

/// A device's default pool, which lives as long as the device.
#[derive(Clone, Copy)]
pub(crate) struct Pool(CUmemoryPool);

// SAFETY: the driver's pools may be used from any thread.
unsafe impl Send for Pool {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Pool {}

impl Pool {
    /// `None` where device or driver have none. What is freed into it stays there.
    pub(super) fn of(device: CUdevice) -> Option<Self> {
        let mut pool = ptr::null_mut();
        if !attributes::has_pools(device)
            || sys::cuDeviceGetDefaultMemPool(&mut pool, device) != CUresult::CUDA_SUCCESS
        {
            return None;
        }
        let mut all = u64::MAX;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's, and the attribute a number of 64 bits.
        let told = unsafe { sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut all).cast::<c_void>()) };
        (told == CUresult::CUDA_SUCCESS).then_some(Self(pool))
    }

    /// Lets another device reach all that is in it; whether it may.
    pub(super) fn open_to(self, device: CUdevice) -> bool {
        let location = CUmemLocation { kind: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device };
        let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access = CUmemAccessDesc { location, flags };
        // SAFETY: the pool is the device's, and there is one description.
        let told = unsafe { sys::cuMemPoolSetAccess(self.0, &raw const access, 1) };
        told == CUresult::CUDA_SUCCESS
    }

    /// The bytes that it holds and nobody uses: free for the next allocation. 0 where the driver does not say.
    pub(super) fn unused(self) -> u64 {
        let ask = |attribute| {
            let mut value = 0_u64;
            // SAFETY: the pool is the device's, and the attribute a number of 64 bits.
            let told =
                unsafe { sys::cuMemPoolGetAttribute(self.0, attribute, (&raw mut value).cast::<c_void>()) };
            (told == CUresult::CUDA_SUCCESS).then_some(value)
        };
        let reserved = ask(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        let used = ask(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
        reserved.zip(used).map_or(0, |(reserved, used)| reserved.saturating_sub(used))
    }
}
