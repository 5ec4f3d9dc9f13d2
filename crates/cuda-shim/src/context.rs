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
    // SAFETY: the contexts that callers give are alive, or null for none.
    unsafe {
        cuCtxSetCurrent(context: CUcontext);
        cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);
    }
}
