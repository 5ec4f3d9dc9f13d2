//! Graphs: work that was captured from a stream, to be launched again and again.

use crate::resolve::driver_functions;
use crate::types::{CUgraph, CUgraphExec, CUstream};

driver_functions! {
    safe {}
    unsafe {
        cuGraphInstantiateWithFlags(executable: &mut CUgraphExec, graph: CUgraph, flags: u64);
        cuGraphLaunch(executable: CUgraphExec, stream: CUstream);
        cuGraphExecDestroy(executable: CUgraphExec);
        cuGraphDestroy(graph: CUgraph);
    }
}
