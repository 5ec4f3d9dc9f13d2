//! Launches of kernels.

use core::ffi::{c_int, c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{CUfunction, CUlaunchAttributeID, CUstream, layout};

/// Sizes and attributes of a launch.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Debug)]
pub struct CUlaunchConfig {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: c_uint,
}

/// What a launch is told beside its sizes.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
pub struct CUlaunchAttribute {
    pub id: CUlaunchAttributeID,
    pub pad: [u8; 4],
    pub value: CUlaunchAttributeValue,
}

/// The value of an attribute, by its identifier.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
pub union CUlaunchAttributeValue {
    /// All of it.
    pub words: [u64; 8],
    pub programmaticStreamSerializationAllowed: c_int,
}

layout!(
    CUlaunchConfig: size 56, align 8, gridDimX 0, gridDimZ 8, blockDimX 12, blockDimZ 20, sharedMemBytes 24, hStream 32, attrs 40,
    numAttrs 48,
);
layout!(CUlaunchAttribute: size 72, align 8, id 0, pad 4, value 8);
layout!(CUlaunchAttributeValue: size 64, align 8, words 0, programmaticStreamSerializationAllowed 0);

driver_functions! {
    safe {}
    // SAFETY: arguments are those of the kernel, and what it does with them is valid; functions and streams are alive.
    unsafe {
        cuLaunchKernel(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
        cuLaunchKernelEx(
            config: &CUlaunchConfig,
            function: CUfunction,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
    }
}
