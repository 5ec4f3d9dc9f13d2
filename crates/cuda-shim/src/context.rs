//! The context of a thread.

use core::ffi::c_uint;

use crate::resolve::driver_functions;
use crate::types::{CUcontext, CUdevice};

driver_functions! {
    safe {
        cuCtxGetCurrent(context: &mut CUcontext);
        cuCtxGetDevice(device: &mut CUdevice);
        cuCtxSynchronize();
    }
    unsafe {
        cuCtxSetCurrent(context: CUcontext);
        cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);
    }
}
