//! `cust`'s contexts, streams and memory beside ours, and `rustacuda_core`'s pointers.

mod common;

use std::mem::offset_of;

use common::{fill_index, on_cuda};
use gpu_core::interop::cust::{self, memory::CopyDestination, memory::DeviceBuffer, stream, sys};
use gpu_core::interop::{
    buffer_from_cust, buffer_into_cust, context, device_from_cust, device_from_raw_context, device_pointer,
    raw_context, raw_pointer, rustacuda_pointer, stream_from_cust, view_from_cust, view_from_rustacuda,
    view_mut_from_cust, view_mut_from_rustacuda,
};
use gpu_core::{Device, Error};

#[test]
fn without_a_driver_cust_says_so() {
    if cuda_shim::driver().is_ok() {
        println!("SKIPPED without_a_driver_cust_says_so: this machine has a driver");
        return;
    }
    let error = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert_eq!(error, cust::error::CudaError::NoDevice);
    assert!(error.to_string().contains("no CUDA"), "{error}");
}

#[test]
fn other_devices_have_nothing_of_custs() {
    for device in [Device::cpu(), Device::simulator()] {
        assert!(matches!(context(&device), Err(Error::Unsupported { .. })));
        let buffer = device.upload(&[1_u32]).unwrap();
        assert!(matches!(device_pointer(&buffer), Err(Error::Unsupported { .. })));
        assert!(matches!(rustacuda_pointer(&buffer), Err(Error::Unsupported { .. })));
        assert!(matches!(buffer_into_cust(buffer), Err(Error::Unsupported { .. })));
    }
}

/// `cust_raw`'s bindings were generated from NVIDIA's header; `cuda-shim`'s were written by hand.
#[test]
fn our_bindings_are_those_of_the_header() {
    macro_rules! same_layout {
        ($($name:ident { $($field:ident),* })*) => {$(
            assert_eq!(size_of::<cuda_shim::$name>(), size_of::<sys::$name>());
            assert_eq!(align_of::<cuda_shim::$name>(), align_of::<sys::$name>());
            $(assert_eq!(offset_of!(cuda_shim::$name, $field), offset_of!(sys::$name, $field));)*
        )*};
    }
    same_layout! {
        CUuuid { bytes }
        CUDA_ARRAY3D_DESCRIPTOR { Width, Height, Depth, Format, NumChannels, Flags }
        CUDA_RESOURCE_DESC { resType, res, flags }
        CUDA_TEXTURE_DESC {
            addressMode, filterMode, flags, maxAnisotropy, mipmapFilterMode, mipmapLevelBias, minMipmapLevelClamp,
            maxMipmapLevelClamp, borderColor, reserved
        }
        CUDA_MEMCPY3D {
            srcXInBytes, srcY, srcZ, srcLOD, srcMemoryType, srcHost, srcDevice, srcArray, reserved0, srcPitch, srcHeight,
            dstXInBytes, dstY, dstZ, dstLOD, dstMemoryType, dstHost, dstDevice, dstArray, reserved1, dstPitch, dstHeight,
            WidthInBytes, Height, Depth
        }
    }
    macro_rules! same_values {
        ($($name:ident { $($variant:ident),* })*) => {
            $($(assert_eq!(cuda_shim::$name::$variant.0, sys::$name::$variant as _, stringify!($variant));)*)*
        };
    }
    same_values! {
        CUresult {
            CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_PTX,
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_READY, CUDA_ERROR_UNKNOWN
        }
        CUfunction_attribute {
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
            CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        }
        CUjit_option { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES }
        CUstreamCaptureMode {
            CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED
        }
        CUstreamCaptureStatus {
            CU_STREAM_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_ACTIVE, CU_STREAM_CAPTURE_STATUS_INVALIDATED
        }
        CUarray_format { CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_FLOAT }
        CUmemorytype { CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY }
        CUresourcetype { CU_RESOURCE_TYPE_ARRAY }
        CUaddress_mode {
            CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER
        }
        CUfilter_mode { CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR }
    }
    assert_eq!(cuda_shim::CU_MEMHOSTALLOC_PORTABLE, sys::CU_MEMHOSTALLOC_PORTABLE);
    assert_eq!(cuda_shim::CU_TRSF_READ_AS_INTEGER, sys::CU_TRSF_READ_AS_INTEGER);
    assert_eq!(cuda_shim::CU_TRSF_NORMALIZED_COORDINATES, sys::CU_TRSF_NORMALIZED_COORDINATES);
}

#[test]
fn contexts_are_the_same() {
    on_cuda("contexts_are_the_same", |device| {
        let theirs = context(device).unwrap();
        assert_eq!(theirs.as_raw().cast(), raw_context(device).unwrap());
        assert_eq!(device_from_cust(&theirs).unwrap(), *device);
        drop(theirs);
        device.synchronize().expect("dropping theirs leaves ours");

        use cust::context::{ContextHandle, legacy};
        let own = cust::device::Device::get_device(0).unwrap();
        let own = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, own).unwrap();
        // SAFETY: it was just made.
        let refused = unsafe { device_from_raw_context(own.get_inner().cast()) };
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
        drop(own);
        device.synchronize().expect("and theirs does no harm");
    });
}

#[test]
fn work_runs_on_their_streams_and_in_their_memory() {
    on_cuda("work_runs_on_their_streams_and_in_their_memory", |device| {
        let _context = context(device).unwrap();
        let theirs = stream::Stream::new(stream::StreamFlags::DEFAULT, None).unwrap();
        let mut memory = DeviceBuffer::<u32>::zeroed(1000).unwrap();
        {
            // SAFETY: stream and memory outlive the work, for which the stream is waited for.
            let ours = unsafe { stream_from_cust(device, &theirs) }.unwrap();
            // SAFETY: as above.
            let view = unsafe { view_mut_from_cust(device, &mut memory) }.unwrap();
            fill_index(&ours, view, 128).unwrap();
        }
        theirs.synchronize().unwrap();
        let expected: Vec<u32> = (0..1000).collect();
        let mut read = vec![0; 1000];
        memory.copy_to(&mut read).unwrap();
        assert_eq!(read, expected);
        // SAFETY: the memory was written and is not freed meanwhile.
        unsafe { view_from_cust(device, &memory) }.unwrap().copy_to(&mut read).unwrap();
        assert_eq!(read, expected);

        // Taken over, and back.
        // SAFETY: `cust` allocated it in the current context, which is the primary one, and no work uses it.
        let ours = unsafe { buffer_from_cust(device, memory) }.unwrap();
        assert_eq!(ours.to_vec().unwrap(), expected);
        assert_eq!(device_pointer(&ours).unwrap().as_raw(), raw_pointer(&ours).unwrap());
        let theirs = buffer_into_cust(ours).unwrap();
        theirs.copy_to(&mut read).unwrap();
        assert_eq!(read, expected);

        // Without elements there is no memory.
        let empty = buffer_into_cust(device.alloc::<u32>(0).unwrap()).unwrap();
        assert!(empty.is_empty());
        // SAFETY: as above.
        assert!(unsafe { buffer_from_cust(device, empty) }.unwrap().is_empty());
    });
}

#[test]
fn their_pointers_lead_to_the_same_memory() {
    on_cuda("their_pointers_lead_to_the_same_memory", |device| {
        let mut buffer = device.zeroed::<u32>(100).unwrap();
        let pointer = rustacuda_pointer(&buffer).unwrap();
        // SAFETY: the memory is the buffer's, which nothing else uses meanwhile.
        let view = unsafe { view_mut_from_rustacuda(device, pointer, 100) }.unwrap();
        fill_index(&device.default_stream(), view, 32).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), (0..100).collect::<Vec<u32>>());
        buffer.copy_from(&[7; 100]).unwrap();
        let mut read = [0; 3];
        // SAFETY: as above.
        unsafe { view_from_rustacuda(device, pointer, 3) }.unwrap().copy_to(&mut read).unwrap();
        assert_eq!(read, [7; 3]);
    });
}
