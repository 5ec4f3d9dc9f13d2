//! Events.

use core::ffi::c_uint;

use crate::resolve::driver_functions;
use crate::types::{CUevent, CUstream};

/// With the time.
pub const CU_EVENT_DEFAULT: c_uint = 0;

driver_functions! {
    safe {
        cuEventCreate(event: &mut CUevent, flags: c_uint);
    }
    // SAFETY: the handles that callers give are of live events and streams.
    unsafe {
        cuEventDestroy_v2(event: CUevent);
        cuEventRecord(event: CUevent, stream: CUstream);
        cuEventQuery(event: CUevent);
        cuEventSynchronize(event: CUevent);
        cuEventElapsedTime(milliseconds: &mut f32, start: CUevent, end: CUevent);
    }
}
