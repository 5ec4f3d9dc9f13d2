//! The context of a thread.

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
    }
}
