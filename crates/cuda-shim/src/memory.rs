//! Memory of the device, pinned memory of the host, and copies.

use core::ffi::{c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{CUdeviceptr, CUstream};

/// Pinned for every context.
pub const CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;

driver_functions! {
    safe {
        cuMemGetInfo_v2(free: &mut usize, total: &mut usize);
        cuMemAlloc_v2(address: &mut CUdeviceptr, bytes: usize);
        cuMemHostAlloc(address: &mut *mut c_void, bytes: usize, flags: c_uint);
    }
    unsafe {
        cuMemFree_v2(address: CUdeviceptr);
        cuMemFreeHost(address: *mut c_void);
        cuMemcpyHtoD_v2(target: CUdeviceptr, source: *const c_void, bytes: usize);
        cuMemcpyDtoH_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize);
        cuMemcpyHtoDAsync_v2(target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream);
        cuMemcpyDtoHAsync_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream);
        cuMemcpyDtoDAsync_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream);
        cuMemsetD8_v2(target: CUdeviceptr, value: u8, bytes: usize);
        cuMemsetD8Async(target: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);
    }
}
