//! Texture objects over arrays of their own.

use core::ffi::c_void;
use core::ptr;

use cuda_shim::{self as sys, CUresult};

use super::context::Context;
use crate::error::Result;
use crate::texture::{AddressMode, FilterMode, Plan, Raw, ReadMode};

/// # Safety
/// [`Context::make_texture`] made it, nothing reads it, and nothing else frees it. Its context is current.
unsafe fn free(raw: Raw) {
    // A failure is reported by the next call that can return one.
    // SAFETY: the caller's promise.
    unsafe {
        let _ = sys::cuTexObjectDestroy(raw.object);
        let _ = sys::cuArrayDestroy(ptr::with_exposed_provenance_mut(raw.array as usize));
    }
}

impl Context {
    /// Frees the dropped textures that nothing reads any longer: where a device is waited for anyway, or another is
    /// made, as the driver may wait when it frees an array, and has no way to free one behind a stream's work. The
    /// context is current, and is so again.
    pub(super) fn free_dropped(&self) {
        // SAFETY: it was dropped, and all that could read it has ended. It leaves the list.
        self.dropped.sweep(self, |raw| unsafe { free(*raw) });
    }

    /// Allocates; where there is not enough memory once more, behind the work that may read dropped textures. The
    /// context is current, and is so again.
    pub(super) fn with_dropped_freed(
        &self,
        call: &'static str,
        bytes: usize,
        mut allocate: impl FnMut() -> CUresult,
    ) -> Result<()> {
        let mut outcome = allocate();
        if outcome == CUresult::CUDA_ERROR_OUT_OF_MEMORY && !self.dropped.is_empty() {
            self.dropped.wait();
            self.free_dropped();
            outcome = allocate();
        }
        outcome.code().map_err(|code| self.allocation_error(call, code, bytes))
    }

    /// An array with a copy of the plan's texels, and the object that reads it.
    ///
    /// # Safety
    /// The plan's source has the bytes of all its texels.
    pub(super) unsafe fn make_texture(&self, plan: &Plan) -> Result<Raw> {
        self.enter()?;
        let [width, height, depth] = plan.extents;
        let format = match (plan.integer, plan.bytes) {
            (true, 1) => sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
            (true, _) => sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
            (false, _) => sys::CUarray_format::CU_AD_FORMAT_FLOAT,
        };
        let shape = sys::CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            Format: format,
            NumChannels: plan.channels as u32,
            Flags: 0,
        };
        let mut array = ptr::null_mut();
        let bytes = width * height.max(1) * depth.max(1) * plan.channels * plan.bytes;
        self.free_dropped();
        let create = || sys::cuArray3DCreate_v2(&mut array, &shape);
        self.with_dropped_freed("cuArray3DCreate", bytes, create)?;
        // SAFETY: the array is this one's, and the caller's promise for the source.
        let object = unsafe { self.fill_array(plan, array).and_then(|()| self.texture_object(plan, array)) };
        if object.is_err() {
            // The copy may still be under way. The first failure is the one to report.
            let _ = sys::cuCtxSynchronize();
            // SAFETY: nothing else has seen it.
            let _ = unsafe { sys::cuArrayDestroy(array) };
        }
        Ok(Raw { object: object?, array: array.expose_provenance() as u64 })
    }

    /// # Safety
    /// As [`Context::make_texture`]; the array is of the plan's shape.
    unsafe fn fill_array(&self, plan: &Plan, array: sys::CUarray) -> Result<()> {
        let [width, height, depth] = plan.extents;
        let row = width * plan.channels * plan.bytes;
        let (kind, host, device) = if plan.on_host {
            let host = ptr::with_exposed_provenance::<c_void>(plan.source as usize);
            (sys::CUmemorytype::CU_MEMORYTYPE_HOST, host, 0)
        } else {
            (sys::CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null(), plan.source)
        };
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: kind,
            srcHost: host,
            srcDevice: device,
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: row,
            srcHeight: height.max(1),
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstHost: ptr::null_mut(),
            dstDevice: 0,
            dstArray: array,
            reserved1: ptr::null_mut(),
            dstPitch: 0,
            dstHeight: 0,
            WidthInBytes: row,
            Height: height.max(1),
            Depth: depth.max(1),
        };
        // On the legacy default stream, so after all that was enqueued on the blocking ones, and before all that will
        // be. From the host it returns when the source has been read; the device's memory is freed only after it.
        // SAFETY: the caller's promise.
        self.on_default((device, false), "cuMemcpy3D", || unsafe { sys::cuMemcpy3D_v2(&copy) })
    }

    /// # Safety
    /// The array is live.
    unsafe fn texture_object(&self, plan: &Plan, array: sys::CUarray) -> Result<u64> {
        // All of it is written, as the driver may read all of it.
        let mut resource = sys::CUDA_RESOURCE { reserved: [0; 32] };
        resource.hArray = array;
        let resource = sys::CUDA_RESOURCE_DESC {
            resType: sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
            res: resource,
            flags: 0,
        };
        let address = match plan.descriptor.address {
            AddressMode::Clamp => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
            AddressMode::Wrap => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
            AddressMode::Mirror => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
            AddressMode::Border => sys::CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
        };
        // Along axes that the texture does not have, a linear read is between its texels and what lies outside: that
        // is the same texel.
        let mut addresses = [sys::CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3];
        for (of_axis, _) in addresses.iter_mut().zip(plan.extents).filter(|(_, extent)| *extent > 0) {
            *of_axis = address;
        }
        let filter = match plan.descriptor.filter {
            FilterMode::Point => sys::CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            FilterMode::Linear => sys::CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        };
        let as_integer = plan.integer && plan.descriptor.read == ReadMode::Element;
        let normalized = plan.descriptor.normalized_coordinates;
        let description = sys::CUDA_TEXTURE_DESC {
            addressMode: addresses,
            filterMode: filter,
            flags: if as_integer { sys::CU_TRSF_READ_AS_INTEGER } else { 0 }
                | if normalized { sys::CU_TRSF_NORMALIZED_COORDINATES } else { 0 },
            maxAnisotropy: 0,
            mipmapFilterMode: sys::CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            mipmapLevelBias: 0.0,
            minMipmapLevelClamp: 0.0,
            maxMipmapLevelClamp: 0.0,
            borderColor: [0.0; 4],
            reserved: [0; 12],
        };
        let mut object = 0;
        // SAFETY: all are valid places, and the caller's promise for the array. The whole array is read, by no other
        // format.
        let outcome = unsafe { sys::cuTexObjectCreate(&mut object, &resource, &description, ptr::null()) };
        self.check("cuTexObjectCreate", outcome)?;
        Ok(object)
    }

    /// # Safety
    /// [`Context::make_texture`] made it, and nothing else frees it; no work that reads it is enqueued any more.
    pub(super) unsafe fn free_texture(&self, raw: Raw) {
        if !self.enter_to_release() {
            return;
        }
        // Kernels on any stream may still read it. Where their ends cannot be marked the context is unusable, and the
        // texture stays.
        if let Ok(ends) = self.order.ends(&self.itself()) {
            self.dropped.push(raw, ends);
        }
    }
}
