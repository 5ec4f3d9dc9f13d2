//! Descriptions of tensors for the copy engine of compute capability 9.0.

use core::ffi::{c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{CUtensorMapDataType, CUtensorMapSwizzle, layout};

/// A tensor as the copy engine reads it.
#[repr(C, align(64))]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Clone, Copy, Debug, Default)]
pub struct CUtensorMap {
    pub opaque: [u64; 16],
}

layout!(CUtensorMap: size 128, align 64, opaque 0);

/// Rows are not interleaved.
pub const CU_TENSOR_MAP_INTERLEAVE_NONE: c_uint = 0;
/// What is missed in the L2 is read by 256 bytes.
pub const CU_TENSOR_MAP_L2_PROMOTION_L2_256B: c_uint = 3;
/// What is outside is zero.
pub const CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: c_uint = 0;

driver_functions! {
    safe {}
    // SAFETY: callers give as many extents, strides and steps as `rank` asks for. The driver does not read the tensor.
    unsafe {
        cuTensorMapEncodeTiled(
            map: &mut CUtensorMap,
            format: CUtensorMapDataType,
            rank: c_uint,
            address: *mut c_void,
            extents: *const u64,
            strides: *const u64,
            tile: *const c_uint,
            steps: *const c_uint,
            interleave: c_uint,
            swizzle: CUtensorMapSwizzle,
            promotion: c_uint,
            fill: c_uint,
        );
    }
}
