//! Streams, events and external semaphores.

use crate::export::driver_functions;

driver_functions! {
    cuStreamCreate(ph_stream: P, flags: u32);
    cuStreamCreateWithPriority(ph_stream: P, flags: u32, priority: i32);
    cuStreamGetPriority(h_stream: P, priority: P);
    cuStreamGetFlags(h_stream: P, flags: P);
    cuStreamGetCtx(h_stream: P, pctx: P);
    cuStreamWaitEvent(h_stream: P, h_event: P, flags: u32);
    cuStreamAddCallback(h_stream: P, callback: P, user_data: P, flags: u32);
    cuStreamBeginCapture_v2(h_stream: P, mode: u32);
    cuThreadExchangeStreamCaptureMode(mode: P);
    cuStreamEndCapture(h_stream: P, ph_graph: P);
    cuStreamIsCapturing(h_stream: P, capture_status: P);
    cuStreamGetCaptureInfo(h_stream: P, capture_status_out: P, id_out: P);
    cuStreamGetCaptureInfo_v2(
        h_stream: P, capture_status_out: P, id_out: P, graph_out: P, dependencies_out: P,
        num_dependencies_out: P
    );
    cuStreamUpdateCaptureDependencies(h_stream: P, dependencies: P, num_dependencies: usize, flags: u32);
    cuStreamAttachMemAsync(h_stream: P, dptr: u64, length: usize, flags: u32);
    cuStreamQuery(h_stream: P);
    cuStreamSynchronize(h_stream: P);
    cuStreamDestroy_v2(h_stream: P);
    cuStreamCopyAttributes(dst: P, src: P);
    cuStreamGetAttribute(h_stream: P, attr: u32, value_out: P);
    cuStreamSetAttribute(h_stream: P, attr: u32, value: P);
    cuEventCreate(ph_event: P, flags: u32);
    cuEventRecord(h_event: P, h_stream: P);
    cuEventRecordWithFlags(h_event: P, h_stream: P, flags: u32);
    cuEventQuery(h_event: P);
    cuEventSynchronize(h_event: P);
    cuEventDestroy_v2(h_event: P);
    cuEventElapsedTime(p_milliseconds: P, h_start: P, h_end: P);
    cuImportExternalMemory(ext_mem_out: P, mem_handle_desc: P);
    cuExternalMemoryGetMappedBuffer(dev_ptr: P, ext_mem: P, buffer_desc: P);
    cuExternalMemoryGetMappedMipmappedArray(mipmap: P, ext_mem: P, mipmap_desc: P);
    cuDestroyExternalMemory(ext_mem: P);
    cuImportExternalSemaphore(ext_sem_out: P, sem_handle_desc: P);
    cuSignalExternalSemaphoresAsync(ext_sem_array: P, params_array: P, num_ext_sems: u32, stream: P);
    cuWaitExternalSemaphoresAsync(ext_sem_array: P, params_array: P, num_ext_sems: u32, stream: P);
    cuDestroyExternalSemaphore(ext_sem: P);
    cuStreamWaitValue32(stream: P, addr: u64, value: u32, flags: u32);
    cuStreamWaitValue64(stream: P, addr: u64, value: u64, flags: u32);
    cuStreamWriteValue32(stream: P, addr: u64, value: u32, flags: u32);
    cuStreamWriteValue64(stream: P, addr: u64, value: u64, flags: u32);
    cuStreamBatchMemOp(stream: P, count: u32, param_array: P, flags: u32);
}
