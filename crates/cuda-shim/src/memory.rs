//! Memory of the device, pinned memory of the host, and copies.

use core::ffi::{c_int, c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{
    CUcontext, CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemLocationType, CUmemPool_attribute,
    CUmemoryPool, CUstream, layout,
};

/// Pinned for every context.
pub const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
/// Mapped: kernels can read and write it.
pub const CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;

/// Where memory is, or who uses it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemLocation {
    /// What kind of place it is.
    pub kind: CUmemLocationType,
    /// The device's number.
    pub id: c_int,
}

layout!(CUmemLocation: size 8, align 4, kind 0, id 4);

/// What a place may do with memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemAccessDesc {
    /// The place.
    pub location: CUmemLocation,
    /// What it may do.
    pub flags: CUmemAccess_flags,
}

layout!(CUmemAccessDesc: size 12, align 4, location 0, flags 8);

driver_functions! {
    safe {
        cuMemGetInfo_v2(free: &mut usize, total: &mut usize);
        cuMemAlloc_v2(address: &mut CUdeviceptr, bytes: usize);
        cuDeviceGetDefaultMemPool(pool: &mut CUmemoryPool, device: CUdevice);
        cuMemHostAlloc(address: &mut *mut c_void, bytes: usize, flags: c_uint);
    }
    // SAFETY: the addresses that callers give have the bytes that are read, written or freed, on the host as on the
    // device, and the streams and pools are alive. What is asynchronous uses them until it has ended.
    unsafe {
        cuMemFree_v2(address: CUdeviceptr);
        cuMemAllocAsync(address: &mut CUdeviceptr, bytes: usize, stream: CUstream);
        cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
        cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
        cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
        cuMemFreeHost(address: *mut c_void);
        cuMemHostGetDevicePointer_v2(address: &mut CUdeviceptr, memory: *mut c_void, flags: c_uint);
        cuMemcpyHtoD_v2(target: CUdeviceptr, source: *const c_void, bytes: usize);
        cuMemcpyDtoH_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize);
        cuMemcpyHtoDAsync_v2(target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream);
        cuMemcpyDtoHAsync_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream);
        cuMemcpyDtoDAsync_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream);
        cuMemcpyPeerAsync(
            target: CUdeviceptr,
            target_context: CUcontext,
            source: CUdeviceptr,
            source_context: CUcontext,
            bytes: usize,
            stream: CUstream,
        );
        cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
        cuMemsetD8_v2(target: CUdeviceptr, value: u8, bytes: usize);
        cuMemsetD8Async(target: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);
    }
}
