//! Streams, and what is captured from them.

use core::ffi::{c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{
    CUevent, CUgraph, CUstream, CUstreamCallback, CUstreamCaptureMode, CUstreamCaptureStatus,
};

/// Ordered with the legacy default stream.
pub const CU_STREAM_DEFAULT: c_uint = 0;
/// Not ordered with it.
pub const CU_STREAM_NON_BLOCKING: c_uint = 1;

driver_functions! {
    safe {
        cuStreamCreate(stream: &mut CUstream, flags: c_uint);
    }
    // SAFETY: the streams and events that callers give are alive; a callback may be called with its data.
    unsafe {
        cuStreamDestroy_v2(stream: CUstream);
        cuStreamSynchronize(stream: CUstream);
        cuStreamQuery(stream: CUstream);
        cuStreamGetFlags(stream: CUstream, flags: &mut c_uint);
        cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
        cuStreamAddCallback(stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint);
        cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode);
        cuStreamEndCapture(stream: CUstream, graph: &mut CUgraph);
        cuStreamIsCapturing(stream: CUstream, status: &mut CUstreamCaptureStatus);
    }
}
