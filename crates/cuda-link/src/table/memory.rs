//! Memory: linear, pinned, pooled, virtual, arrays, pointers and sharing between processes.

use crate::export::driver_functions;

driver_functions! {
    cuMemGetInfo_v2(free: P, total: P);
    cuMemAlloc_v2(dptr: P, bytesize: usize);
    cuMemAllocPitch_v2(dptr: P, p_pitch: P, width_in_bytes: usize, height: usize, element_size_bytes: u32);
    cuMemFree_v2(dptr: u64);
    cuMemGetAddressRange_v2(pbase: P, psize: P, dptr: u64);
    cuMemAllocHost_v2(pp: P, bytesize: usize);
    cuMemFreeHost(p: P);
    cuMemHostAlloc(pp: P, bytesize: usize, flags: u32);
    cuMemHostGetDevicePointer_v2(pdptr: P, p: P, flags: u32);
    cuMemHostGetFlags(p_flags: P, p: P);
    cuMemAllocManaged(dptr: P, bytesize: usize, flags: u32);
    cuIpcGetEventHandle(p_handle: P, event: P);
    cuIpcOpenEventHandle(ph_event: P, handle: Ipc);
    cuIpcGetMemHandle(p_handle: P, dptr: u64);
    cuIpcOpenMemHandle_v2(pdptr: P, handle: Ipc, flags: u32);
    cuIpcCloseMemHandle(dptr: u64);
    cuMemHostRegister_v2(p: P, bytesize: usize, flags: u32);
    cuMemHostUnregister(p: P);
    cuMemcpy(dst: u64, src: u64, byte_count: usize);
    cuMemcpyPeer(dst_device: u64, dst_context: P, src_device: u64, src_context: P, byte_count: usize);
    cuMemcpyHtoD_v2(dst_device: u64, src_host: P, byte_count: usize);
    cuMemcpyDtoH_v2(dst_host: P, src_device: u64, byte_count: usize);
    cuMemcpyDtoD_v2(dst_device: u64, src_device: u64, byte_count: usize);
    cuMemcpyDtoA_v2(dst_array: P, dst_offset: usize, src_device: u64, byte_count: usize);
    cuMemcpyAtoD_v2(dst_device: u64, src_array: P, src_offset: usize, byte_count: usize);
    cuMemcpyHtoA_v2(dst_array: P, dst_offset: usize, src_host: P, byte_count: usize);
    cuMemcpyAtoH_v2(dst_host: P, src_array: P, src_offset: usize, byte_count: usize);
    cuMemcpyAtoA_v2(dst_array: P, dst_offset: usize, src_array: P, src_offset: usize, byte_count: usize);
    cuMemcpy2D_v2(p_copy: P);
    cuMemcpy2DUnaligned_v2(p_copy: P);
    cuMemcpy3D_v2(p_copy: P);
    cuMemcpy3DPeer(p_copy: P);
    cuMemcpyAsync(dst: u64, src: u64, byte_count: usize, h_stream: P);
    cuMemcpyPeerAsync(
        dst_device: u64, dst_context: P, src_device: u64, src_context: P, byte_count: usize, h_stream: P
    );
    cuMemcpyHtoDAsync_v2(dst_device: u64, src_host: P, byte_count: usize, h_stream: P);
    cuMemcpyDtoHAsync_v2(dst_host: P, src_device: u64, byte_count: usize, h_stream: P);
    cuMemcpyDtoDAsync_v2(dst_device: u64, src_device: u64, byte_count: usize, h_stream: P);
    cuMemcpyHtoAAsync_v2(dst_array: P, dst_offset: usize, src_host: P, byte_count: usize, h_stream: P);
    cuMemcpyAtoHAsync_v2(dst_host: P, src_array: P, src_offset: usize, byte_count: usize, h_stream: P);
    cuMemcpy2DAsync_v2(p_copy: P, h_stream: P);
    cuMemcpy3DAsync_v2(p_copy: P, h_stream: P);
    cuMemcpy3DPeerAsync(p_copy: P, h_stream: P);
    cuMemsetD8_v2(dst_device: u64, uc: u8, n: usize);
    cuMemsetD16_v2(dst_device: u64, us: u16, n: usize);
    cuMemsetD32_v2(dst_device: u64, ui: u32, n: usize);
    cuMemsetD2D8_v2(dst_device: u64, dst_pitch: usize, uc: u8, width: usize, height: usize);
    cuMemsetD2D16_v2(dst_device: u64, dst_pitch: usize, us: u16, width: usize, height: usize);
    cuMemsetD2D32_v2(dst_device: u64, dst_pitch: usize, ui: u32, width: usize, height: usize);
    cuMemsetD8Async(dst_device: u64, uc: u8, n: usize, h_stream: P);
    cuMemsetD16Async(dst_device: u64, us: u16, n: usize, h_stream: P);
    cuMemsetD32Async(dst_device: u64, ui: u32, n: usize, h_stream: P);
    cuMemsetD2D8Async(dst_device: u64, dst_pitch: usize, uc: u8, width: usize, height: usize, h_stream: P);
    cuMemsetD2D16Async(dst_device: u64, dst_pitch: usize, us: u16, width: usize, height: usize, h_stream: P);
    cuMemsetD2D32Async(dst_device: u64, dst_pitch: usize, ui: u32, width: usize, height: usize, h_stream: P);
    cuArrayCreate_v2(p_handle: P, p_allocate_array: P);
    cuArrayGetDescriptor_v2(p_array_descriptor: P, h_array: P);
    cuArrayGetSparseProperties(sparse_properties: P, array: P);
    cuMipmappedArrayGetSparseProperties(sparse_properties: P, mipmap: P);
    cuArrayGetPlane(p_plane_array: P, h_array: P, plane_idx: u32);
    cuArrayDestroy(h_array: P);
    cuArray3DCreate_v2(p_handle: P, p_allocate_array: P);
    cuArray3DGetDescriptor_v2(p_array_descriptor: P, h_array: P);
    cuMipmappedArrayCreate(p_handle: P, p_mipmapped_array_desc: P, num_mipmap_levels: u32);
    cuMipmappedArrayGetLevel(p_level_array: P, h_mipmapped_array: P, level: u32);
    cuMipmappedArrayDestroy(h_mipmapped_array: P);
    cuMemAddressReserve(ptr: P, size: usize, alignment: usize, addr: u64, flags: u64);
    cuMemAddressFree(ptr: u64, size: usize);
    cuMemCreate(handle: P, size: usize, prop: P, flags: u64);
    cuMemRelease(handle: u64);
    cuMemMap(ptr: u64, size: usize, offset: usize, handle: u64, flags: u64);
    cuMemMapArrayAsync(map_info_list: P, count: u32, h_stream: P);
    cuMemUnmap(ptr: u64, size: usize);
    cuMemSetAccess(ptr: u64, size: usize, desc: P, count: usize);
    cuMemGetAccess(flags: P, location: P, ptr: u64);
    cuMemExportToShareableHandle(shareable_handle: P, handle: u64, handle_type: u32, flags: u64);
    cuMemImportFromShareableHandle(handle: P, os_handle: P, sh_handle_type: u32);
    cuMemGetAllocationGranularity(granularity: P, prop: P, option: u32);
    cuMemGetAllocationPropertiesFromHandle(prop: P, handle: u64);
    cuMemRetainAllocationHandle(handle: P, addr: P);
    cuMemFreeAsync(dptr: u64, h_stream: P);
    cuMemAllocAsync(dptr: P, bytesize: usize, h_stream: P);
    cuMemPoolTrimTo(pool: P, min_bytes_to_keep: usize);
    cuMemPoolSetAttribute(pool: P, attr: u32, value: P);
    cuMemPoolGetAttribute(pool: P, attr: u32, value: P);
    cuMemPoolSetAccess(pool: P, map: P, count: usize);
    cuMemPoolGetAccess(flags: P, mem_pool: P, location: P);
    cuMemPoolCreate(pool: P, pool_props: P);
    cuMemPoolDestroy(pool: P);
    cuMemAllocFromPoolAsync(dptr: P, bytesize: usize, pool: P, h_stream: P);
    cuMemPoolExportToShareableHandle(handle_out: P, pool: P, handle_type: u32, flags: u64);
    cuMemPoolImportFromShareableHandle(pool_out: P, handle: P, handle_type: u32, flags: u64);
    cuMemPoolExportPointer(share_data_out: P, ptr: u64);
    cuMemPoolImportPointer(ptr_out: P, pool: P, share_data: P);
    cuPointerGetAttribute(data: P, attribute: u32, ptr: u64);
    cuMemPrefetchAsync(dev_ptr: u64, count: usize, dst_device: i32, h_stream: P);
    cuMemAdvise(dev_ptr: u64, count: usize, advice: u32, device: i32);
    cuMemRangeGetAttribute(data: P, data_size: usize, attribute: u32, dev_ptr: u64, count: usize);
    cuMemRangeGetAttributes(
        data: P, data_sizes: P, attributes: P, num_attributes: usize, dev_ptr: u64, count: usize
    );
    cuPointerSetAttribute(value: P, attribute: u32, ptr: u64);
    cuPointerGetAttributes(num_attributes: u32, attributes: P, data: P, ptr: u64);
    // Newer than the bindings of cust 0.3.2: tensor maps of the Hopper copy engine.
    cuTensorMapEncodeTiled(
        tensor_map: P, data_type: u32, rank: u32, global_address: P, global_dim: P, global_strides: P, box_dim: P,
        element_strides: P, interleave: u32, swizzle: u32, l2_promotion: u32, oob_fill: u32
    );
}
