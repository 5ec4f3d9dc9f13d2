//! Handles, enumerations and structures, as `cuda.h` has them.

use core::ffi::{c_int, c_uint, c_void};

use crate::result::CUresult;

/// A device's number.
pub type CUdevice = c_int;
/// An address in a device's memory.
pub type CUdeviceptr = u64;
/// A texture object.
pub type CUtexObject = u64;
/// What a stream calls on the host, with how its work went and a pointer of the caller's. It may not call the driver.
pub type CUstreamCallback = Option<unsafe extern "system" fn(CUstream, CUresult, *mut c_void)>;

/// Declares handles: pointers to what only the driver knows, each of a type of its own.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $pointee:ident;)*) => {
        $(
            #[doc = concat!("What [`", stringify!($name), "`] points to.")]
            #[repr(C)]
            #[derive(Debug)]
            pub struct $pointee {
                private: [u8; 0],
            }
            $(#[$doc])*
            pub type $name = *mut $pointee;
        )*
    };
}

handles! {
    /// A context.
    CUcontext = CUctx_st;
    /// A stream; null is the legacy default stream.
    CUstream = CUstream_st;
    /// An event.
    CUevent = CUevent_st;
    /// A loaded module.
    CUmodule = CUmod_st;
    /// A kernel of a module.
    CUfunction = CUfunc_st;
    /// An array in a layout of the device's own.
    CUarray = CUarray_st;
    /// A pool that memory is allocated from in the order of a stream.
    CUmemoryPool = CUmemPoolHandle_st;
    /// A graph: work that was captured.
    CUgraph = CUgraph_st;
    /// A graph that can be launched.
    CUgraphExec = CUgraphExec_st;
}

/// Declares enumerations. The driver may give values that are newer than this crate, so each is a number with names.
macro_rules! enumerations {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $value:expr),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[repr(transparent)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $name(pub c_uint);

            #[allow(missing_docs, reason = "as in NVIDIA's documentation")]
            impl $name {
                $(pub const $variant: Self = Self($value);)*
            }
        )*
    };
}

enumerations! {
    /// What a device is asked for; `gpu-core` has the numbers.
    CUdevice_attribute {}

    /// What a kernel is asked for, or allowed.
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    }

    /// What a pool of memory is asked for, or told: numbers of 64 bits.
    CUmemPool_attribute {
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    }

    /// What kind of place memory is in.
    CUmemLocationType {
        CU_MEM_LOCATION_TYPE_DEVICE = 1,
    }

    /// What may be done with memory.
    CUmemAccess_flags {
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    }

    /// What the JIT compiler is told.
    CUjit_option {
        CU_JIT_ERROR_LOG_BUFFER = 5,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
        CU_JIT_OPTIMIZATION_LEVEL = 7,
    }

    /// Which calls of other threads are an error while a stream is captured.
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
        CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }

    /// Whether a stream is captured.
    CUstreamCaptureStatus {
        CU_STREAM_CAPTURE_STATUS_NONE = 0,
        CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
        CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    }

    /// Whether a graph could be updated, or why not.
    CUgraphExecUpdateResult {
        CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
        CU_GRAPH_EXEC_UPDATE_ERROR = 1,
        CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
    }

    /// What a launch is told beside its sizes.
    CUlaunchAttributeID {
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    }

    /// An array's type of element.
    CUarray_format {
        CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
        CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
        CU_AD_FORMAT_FLOAT = 0x20,
    }

    /// Where memory is.
    CUmemorytype {
        CU_MEMORYTYPE_HOST = 1,
        CU_MEMORYTYPE_DEVICE = 2,
        CU_MEMORYTYPE_ARRAY = 3,
    }

    /// What a texture object reads.
    CUresourcetype {
        CU_RESOURCE_TYPE_ARRAY = 0,
    }

    /// The elements of a tensor.
    CUtensorMapDataType {
        CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
        CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
        CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
    }

    /// How a box of a tensor lies in shared memory.
    CUtensorMapSwizzle {
        CU_TENSOR_MAP_SWIZZLE_NONE = 0,
        CU_TENSOR_MAP_SWIZZLE_128B = 3,
    }

    /// What a texture gives outside of its texels.
    CUaddress_mode {
        CU_TR_ADDRESS_MODE_WRAP = 0,
        CU_TR_ADDRESS_MODE_CLAMP = 1,
        CU_TR_ADDRESS_MODE_MIRROR = 2,
        CU_TR_ADDRESS_MODE_BORDER = 3,
    }

    /// What a texture gives between its texels.
    CUfilter_mode {
        CU_TR_FILTER_MODE_POINT = 0,
        CU_TR_FILTER_MODE_LINEAR = 1,
    }
}

/// Holds a structure to the sizes and offsets that a C compiler gives for `cuda.h` on 64-bit hosts.
macro_rules! layout {
    ($name:ident: size $size:literal, align $align:literal, $($field:ident $offset:literal),* $(,)?) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            assert!(size_of::<$name>() == $size && align_of::<$name>() == $align);
            $(assert!(core::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}
pub(crate) use layout;
