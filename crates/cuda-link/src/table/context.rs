//! Contexts, peers and the profiler.

use crate::export::driver_functions;

driver_functions! {
    cuCtxCreate_v2(pctx: P, flags: u32, dev: i32);
    cuCtxCreate_v3(pctx: P, params_array: P, num_params: i32, flags: u32, dev: i32);
    cuCtxDestroy_v2(ctx: P);
    cuCtxPushCurrent_v2(ctx: P);
    cuCtxPopCurrent_v2(pctx: P);
    cuCtxSetCurrent(ctx: P);
    cuCtxGetCurrent(pctx: P);
    cuCtxGetDevice(device: P);
    cuCtxGetFlags(flags: P);
    cuCtxSynchronize();
    cuCtxSetLimit(limit: u32, value: usize);
    cuCtxGetLimit(pvalue: P, limit: u32);
    cuCtxGetCacheConfig(pconfig: P);
    cuCtxSetCacheConfig(config: u32);
    cuCtxGetSharedMemConfig(p_config: P);
    cuCtxSetSharedMemConfig(config: u32);
    cuCtxGetApiVersion(ctx: P, version: P);
    cuCtxGetStreamPriorityRange(least_priority: P, greatest_priority: P);
    cuCtxResetPersistingL2Cache();
    cuCtxGetExecAffinity(p_exec_affinity: P, kind: u32);
    cuCtxAttach(pctx: P, flags: u32);
    cuCtxDetach(ctx: P);
    cuCtxEnablePeerAccess(peer_context: P, flags: u32);
    cuCtxDisablePeerAccess(peer_context: P);
    cuProfilerInitialize(config_file: P, output_file: P, output_mode: u32);
    cuProfilerStart();
    cuProfilerStop();
}
