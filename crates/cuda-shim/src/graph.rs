//! Graphs: work that was captured from a stream, to be launched again and again.

use core::ffi::c_void;

use crate::resolve::driver_functions;
use crate::types::{CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUstream, layout};

/// What came of an update.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Debug)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: CUgraphExecUpdateResult,
    pub pad: [u8; 4],
    pub errorNode: *mut c_void,
    pub errorFromNode: *mut c_void,
}

layout!(CUgraphExecUpdateResultInfo: size 24, align 8, result 0, pad 4, errorNode 8, errorFromNode 16);

driver_functions! {
    safe {}
    // SAFETY: the graphs, executables and streams that callers give are alive; the memory that a graph uses is there
    // while it runs.
    unsafe {
        cuGraphInstantiateWithFlags(executable: &mut CUgraphExec, graph: CUgraph, flags: u64);
        cuGraphExecUpdate_v2(executable: CUgraphExec, graph: CUgraph, result: &mut CUgraphExecUpdateResultInfo);
        cuGraphLaunch(executable: CUgraphExec, stream: CUstream);
        cuGraphExecDestroy(executable: CUgraphExec);
        cuGraphDestroy(graph: CUgraph);
    }
}
