//! The driver's two ways to launch a kernel.

use core::ffi::c_void;
use core::ptr;

use cuda_shim::{
    self as sys, CUfunction, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig,
    CUresult, CUstream,
};
use gpu_std::launch::LaunchConfig;

/// A kernel that starts when everything before it on the stream has ended.
///
/// # Safety
/// The function is loaded, the stream alive, and `arguments` point to the kernel's arguments, valid to run it with.
pub(super) unsafe fn plain(
    function: CUfunction,
    config: LaunchConfig,
    stream: CUstream,
    arguments: &mut [*mut c_void],
) -> CUresult {
    let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (config.grid, config.block);
    // SAFETY: the caller's promise.
    unsafe {
        sys::cuLaunchKernel(
            function,
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            config.shared_bytes,
            stream,
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        )
    }
}

/// A kernel whose blocks may be scheduled while the kernel before it on the stream is still at work (programmatic
/// dependent launch).
///
/// # Safety
/// As [`plain`]; the kernel waits for what is before it by itself, and the device's capability is 9.0 or later.
pub(super) unsafe fn programmatic(
    function: CUfunction,
    config: LaunchConfig,
    stream: CUstream,
    arguments: &mut [*mut c_void],
) -> CUresult {
    let mut value = CUlaunchAttributeValue { words: [0; 8] };
    value.programmaticStreamSerializationAllowed = 1;
    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        pad: [0; 4],
        value,
    };
    let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (config.grid, config.block);
    let config = CUlaunchConfig {
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: block_x,
        blockDimY: block_y,
        blockDimZ: block_z,
        sharedMemBytes: config.shared_bytes,
        hStream: stream,
        attrs: &mut attribute,
        numAttrs: 1,
    };
    // SAFETY: the caller's promise; the driver reads configuration and attribute before it returns.
    unsafe { sys::cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), ptr::null_mut()) }
}
