//! Initialisation and devices.

use core::ffi::{c_char, c_int, c_uint};

use crate::resolve::driver_functions;
use crate::types::{CUcontext, CUdevice, CUdevice_attribute, layout};

/// A device's identity.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CUuuid {
    /// In the order in which they are written.
    pub bytes: [u8; 16],
}

layout!(CUuuid: size 16, align 1, bytes 0);

driver_functions! {
    safe {
        cuInit(flags: c_uint);
        cuDriverGetVersion(version: &mut c_int);
        cuDeviceGetCount(count: &mut c_int);
        cuDeviceGet(device: &mut CUdevice, ordinal: c_int);
        cuDeviceGetUuid(uuid: &mut CUuuid, device: CUdevice);
        cuDeviceTotalMem_v2(bytes: &mut usize, device: CUdevice);
        cuDeviceGetAttribute(value: &mut c_int, attribute: CUdevice_attribute, device: CUdevice);
        cuDeviceCanAccessPeer(can: &mut c_int, device: CUdevice, peer: CUdevice);
        cuDevicePrimaryCtxRetain(context: &mut CUcontext, device: CUdevice);
    }
    // SAFETY: a name has room for that many bytes; a context that is released is not used any more.
    unsafe {
        cuDeviceGetName(name: *mut c_char, bytes: c_int, device: CUdevice);
        cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    }
}
