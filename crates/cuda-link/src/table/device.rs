//! Initialisation and devices.

use crate::export::driver_functions;

driver_functions! {
    cuInit(flags: u32);
    cuDriverGetVersion(driver_version: P);
    cuDeviceGet(device: P, ordinal: i32);
    cuDeviceGetCount(count: P);
    cuDeviceGetName(name: P, len: i32, dev: i32);
    cuDeviceGetUuid(uuid: P, dev: i32);
    cuDeviceGetUuid_v2(uuid: P, dev: i32);
    cuDeviceGetLuid(luid: P, device_node_mask: P, dev: i32);
    cuDeviceTotalMem_v2(bytes: P, dev: i32);
    cuDeviceGetTexture1DLinearMaxWidth(max_width_in_elements: P, format: u32, num_channels: u32, dev: i32);
    cuDeviceGetAttribute(pi: P, attrib: u32, dev: i32);
    cuDeviceGetNvSciSyncAttributes(nv_sci_sync_attr_list: P, dev: i32, flags: i32);
    cuDeviceSetMemPool(dev: i32, pool: P);
    cuDeviceGetMemPool(pool: P, dev: i32);
    cuDeviceGetDefaultMemPool(pool_out: P, dev: i32);
    cuFlushGPUDirectRDMAWrites(target: u32, scope: u32);
    cuDeviceGetProperties(prop: P, dev: i32);
    cuDeviceComputeCapability(major: P, minor: P, dev: i32);
    cuDevicePrimaryCtxRetain(pctx: P, dev: i32);
    cuDevicePrimaryCtxRelease_v2(dev: i32);
    cuDevicePrimaryCtxSetFlags_v2(dev: i32, flags: u32);
    cuDevicePrimaryCtxGetState(dev: i32, flags: P, active: P);
    cuDevicePrimaryCtxReset_v2(dev: i32);
    cuDeviceGetExecAffinitySupport(pi: P, kind: u32, dev: i32);
    cuDeviceGetByPCIBusId(dev: P, pci_bus_id: P);
    cuDeviceGetPCIBusId(pci_bus_id: P, len: i32, dev: i32);
    cuDeviceGraphMemTrim(device: i32);
    cuDeviceGetGraphMemAttribute(device: i32, attr: u32, value: P);
    cuDeviceSetGraphMemAttribute(device: i32, attr: u32, value: P);
    cuDeviceCanAccessPeer(can_access_peer: P, dev: i32, peer_dev: i32);
    cuDeviceGetP2PAttribute(value: P, attrib: u32, src_device: i32, dst_device: i32);
    cuGetProcAddress(symbol: P, pfn: P, cuda_version: i32, flags: u64);
}
