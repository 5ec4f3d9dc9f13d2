//! The driver's two ways to launch a kernel.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;

use cust::sys::{self, CUfunction, CUresult, CUstream};
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
    let mut attribute = Attribute {
        id: Attribute::PROGRAMMATIC_STREAM_SERIALIZATION,
        padding: 0,
        value: AttributeValue([0; 8]),
    };
    attribute.value.0[0] = 1;
    let config = Config {
        grid: config.grid,
        block: config.block,
        shared_bytes: config.shared_bytes,
        stream,
        attributes: &mut attribute,
        attribute_count: 1,
    };
    // SAFETY: the caller's promise; the driver reads configuration and attribute before it returns.
    unsafe { cuLaunchKernelEx(&config, function, arguments.as_mut_ptr(), ptr::null_mut()) }
}

// Newer than the bindings of cust 0.3.2 (CUDA 11.8). cuda-shim resolves it.
unsafe extern "C" {
    fn cuLaunchKernelEx(
        config: *const Config,
        function: CUfunction,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> CUresult;
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: CUstream,
    attributes: *mut Attribute,
    attribute_count: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C)]
struct Attribute {
    id: c_int,
    padding: c_int,
    value: AttributeValue,
}

impl Attribute {
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
    const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;
}

/// `CUlaunchAttributeValue`, a union of 64 bytes; here the flag in its first word. Little-endian, as every host of a
/// CUDA device is.
#[repr(C)]
struct AttributeValue([u64; 8]);

// What cuda.h says of the structures on 64-bit hosts.
const _: () = assert!(size_of::<Attribute>() == 72 && size_of::<Config>() == 56);
