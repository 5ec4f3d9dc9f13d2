//! Arrays in a layout of the device's own, and the texture objects that read them.

use core::ffi::{c_int, c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{
    CUaddress_mode, CUarray, CUarray_format, CUdeviceptr, CUfilter_mode, CUmemorytype, CUresourcetype,
    CUtexObject, layout,
};

/// Integers are read as such, and not as numbers from 0 to 1.
pub const CU_TRSF_READ_AS_INTEGER: c_uint = 1;
/// Coordinates go from 0 to 1 along an axis.
pub const CU_TRSF_NORMALIZED_COORDINATES: c_uint = 2;

/// The shape of an array; extents that are 0 do not exist.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Debug)]
pub struct CUDA_ARRAY3D_DESCRIPTOR {
    pub Width: usize,
    pub Height: usize,
    pub Depth: usize,
    pub Format: CUarray_format,
    pub NumChannels: c_uint,
    pub Flags: c_uint,
}

layout!(
    CUDA_ARRAY3D_DESCRIPTOR: size 40, align 8, Width 0, Height 8, Depth 16, Format 24, NumChannels 28, Flags 32,
);

/// A copy of a box, between host, device and arrays.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Debug)]
pub struct CUDA_MEMCPY3D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
}

layout!(
    CUDA_MEMCPY3D: size 200, align 8, srcXInBytes 0, srcY 8, srcZ 16, srcLOD 24, srcMemoryType 32, srcHost 40, srcDevice 48,
    srcArray 56, reserved0 64, srcPitch 72, srcHeight 80, dstXInBytes 88, dstY 96, dstZ 104, dstLOD 112, dstMemoryType 120,
    dstHost 128, dstDevice 136, dstArray 144, reserved1 152, dstPitch 160, dstHeight 168, WidthInBytes 176, Height 184, Depth 192,
);

/// What a texture object reads.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
pub struct CUDA_RESOURCE_DESC {
    pub resType: CUresourcetype,
    pub res: CUDA_RESOURCE,
    pub flags: c_uint,
}

/// The resource, by its type.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
pub union CUDA_RESOURCE {
    pub hArray: CUarray,
    pub reserved: [c_int; 32],
}

layout!(CUDA_RESOURCE: size 128, align 8, hArray 0, reserved 0);
layout!(CUDA_RESOURCE_DESC: size 144, align 8, resType 0, res 8, flags 136);

/// How a texture object reads.
#[repr(C)]
#[allow(missing_docs, reason = "as in NVIDIA's documentation")]
#[derive(Debug)]
pub struct CUDA_TEXTURE_DESC {
    pub addressMode: [CUaddress_mode; 3],
    pub filterMode: CUfilter_mode,
    pub flags: c_uint,
    pub maxAnisotropy: c_uint,
    pub mipmapFilterMode: CUfilter_mode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub borderColor: [f32; 4],
    pub reserved: [c_int; 12],
}

layout!(
    CUDA_TEXTURE_DESC: size 104, align 4, addressMode 0, filterMode 12, flags 16, maxAnisotropy 20, mipmapFilterMode 24,
    mipmapLevelBias 28, minMipmapLevelClamp 32, maxMipmapLevelClamp 36, borderColor 40, reserved 56,
);

driver_functions! {
    safe {
        cuArray3DCreate_v2(array: &mut CUarray, shape: &CUDA_ARRAY3D_DESCRIPTOR);
    }
    // SAFETY: the arrays and textures that callers give are alive and, where they are destroyed, in nobody's use;
    // copies stay within what they describe; `view` is null or a description.
    unsafe {
        cuArrayDestroy(array: CUarray);
        cuMemcpy3D_v2(copy: &CUDA_MEMCPY3D);
        cuTexObjectCreate(
            object: &mut CUtexObject,
            resource: &CUDA_RESOURCE_DESC,
            description: &CUDA_TEXTURE_DESC,
            view: *const c_void,
        );
        cuTexObjectDestroy(object: CUtexObject);
    }
}
