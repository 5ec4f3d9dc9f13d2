//! Graphs.

use crate::export::driver_functions;

driver_functions! {
    cuGraphCreate(ph_graph: P, flags: u32);
    cuGraphAddKernelNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphKernelNodeGetParams(h_node: P, node_params: P);
    cuGraphKernelNodeSetParams(h_node: P, node_params: P);
    cuGraphAddMemcpyNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, copy_params: P, ctx: P
    );
    cuGraphMemcpyNodeGetParams(h_node: P, node_params: P);
    cuGraphMemcpyNodeSetParams(h_node: P, node_params: P);
    cuGraphAddMemsetNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, memset_params: P, ctx: P
    );
    cuGraphMemsetNodeGetParams(h_node: P, node_params: P);
    cuGraphMemsetNodeSetParams(h_node: P, node_params: P);
    cuGraphAddHostNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphHostNodeGetParams(h_node: P, node_params: P);
    cuGraphHostNodeSetParams(h_node: P, node_params: P);
    cuGraphAddChildGraphNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, child_graph: P
    );
    cuGraphChildGraphNodeGetGraph(h_node: P, ph_graph: P);
    cuGraphAddEmptyNode(ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize);
    cuGraphAddEventRecordNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, event: P
    );
    cuGraphEventRecordNodeGetEvent(h_node: P, event_out: P);
    cuGraphEventRecordNodeSetEvent(h_node: P, event: P);
    cuGraphAddEventWaitNode(ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, event: P);
    cuGraphEventWaitNodeGetEvent(h_node: P, event_out: P);
    cuGraphEventWaitNodeSetEvent(h_node: P, event: P);
    cuGraphAddExternalSemaphoresSignalNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphExternalSemaphoresSignalNodeGetParams(h_node: P, params_out: P);
    cuGraphExternalSemaphoresSignalNodeSetParams(h_node: P, node_params: P);
    cuGraphAddExternalSemaphoresWaitNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphExternalSemaphoresWaitNodeGetParams(h_node: P, params_out: P);
    cuGraphExternalSemaphoresWaitNodeSetParams(h_node: P, node_params: P);
    cuGraphAddMemAllocNode(
        ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, node_params: P
    );
    cuGraphMemAllocNodeGetParams(h_node: P, params_out: P);
    cuGraphAddMemFreeNode(ph_graph_node: P, h_graph: P, dependencies: P, num_dependencies: usize, dptr: u64);
    cuGraphMemFreeNodeGetParams(h_node: P, dptr_out: P);
    cuGraphClone(ph_graph_clone: P, original_graph: P);
    cuGraphNodeFindInClone(ph_node: P, h_original_node: P, h_cloned_graph: P);
    cuGraphNodeGetType(h_node: P, kind: P);
    cuGraphGetNodes(h_graph: P, nodes: P, num_nodes: P);
    cuGraphGetRootNodes(h_graph: P, root_nodes: P, num_root_nodes: P);
    cuGraphGetEdges(h_graph: P, from: P, to: P, num_edges: P);
    cuGraphNodeGetDependencies(h_node: P, dependencies: P, num_dependencies: P);
    cuGraphNodeGetDependentNodes(h_node: P, dependent_nodes: P, num_dependent_nodes: P);
    cuGraphAddDependencies(h_graph: P, from: P, to: P, num_dependencies: usize);
    cuGraphRemoveDependencies(h_graph: P, from: P, to: P, num_dependencies: usize);
    cuGraphDestroyNode(h_node: P);
    cuGraphInstantiate_v2(ph_graph_exec: P, h_graph: P, ph_error_node: P, log_buffer: P, buffer_size: usize);
    cuGraphInstantiateWithFlags(ph_graph_exec: P, h_graph: P, flags: u64);
    cuGraphExecKernelNodeSetParams(h_graph_exec: P, h_node: P, node_params: P);
    cuGraphExecMemcpyNodeSetParams(h_graph_exec: P, h_node: P, copy_params: P, ctx: P);
    cuGraphExecMemsetNodeSetParams(h_graph_exec: P, h_node: P, memset_params: P, ctx: P);
    cuGraphExecHostNodeSetParams(h_graph_exec: P, h_node: P, node_params: P);
    cuGraphExecChildGraphNodeSetParams(h_graph_exec: P, h_node: P, child_graph: P);
    cuGraphExecEventRecordNodeSetEvent(h_graph_exec: P, h_node: P, event: P);
    cuGraphExecEventWaitNodeSetEvent(h_graph_exec: P, h_node: P, event: P);
    cuGraphExecExternalSemaphoresSignalNodeSetParams(h_graph_exec: P, h_node: P, node_params: P);
    cuGraphExecExternalSemaphoresWaitNodeSetParams(h_graph_exec: P, h_node: P, node_params: P);
    cuGraphUpload(h_graph_exec: P, h_stream: P);
    cuGraphLaunch(h_graph_exec: P, h_stream: P);
    cuGraphExecDestroy(h_graph_exec: P);
    cuGraphDestroy(h_graph: P);
    cuGraphExecUpdate(h_graph_exec: P, h_graph: P, h_error_node_out: P, update_result_out: P);
    cuGraphKernelNodeCopyAttributes(dst: P, src: P);
    cuGraphKernelNodeGetAttribute(h_node: P, attr: u32, value_out: P);
    cuGraphKernelNodeSetAttribute(h_node: P, attr: u32, value: P);
    cuGraphDebugDotPrint(h_graph: P, path: P, flags: u32);
    cuUserObjectCreate(object_out: P, ptr: P, destroy: P, initial_refcount: u32, flags: u32);
    cuUserObjectRetain(object: P, count: u32);
    cuUserObjectRelease(object: P, count: u32);
    cuGraphRetainUserObject(graph: P, object: P, count: u32, flags: u32);
    cuGraphReleaseUserObject(graph: P, object: P, count: u32);
}
