//! The result codes of the driver API: which of them `cust_raw` knows, and what they are called.

/// The call did what it should.
pub const SUCCESS: i32 = 0;
/// `CUDA_ERROR_NO_DEVICE`: what every call returns where there is no driver.
pub const NO_DEVICE: i32 = 100;
/// `CUDA_ERROR_NOT_SUPPORTED`: what a call returns that the driver is too old to have.
pub const NOT_SUPPORTED: i32 = 801;
/// `CUDA_ERROR_UNKNOWN`: stands for every code that `cust_raw`'s enum lacks.
pub const UNKNOWN: i32 = 999;

/// The codes of CUDA 11.4, which are those of `cust_raw::cudaError_enum`, as inclusive ranges.
const KNOWN: &[(i32, i32)] = &[
    (0, 8),
    (34, 34),
    (100, 102),
    (200, 202),
    (205, 224),
    (300, 304),
    (400, 401),
    (500, 500),
    (600, 600),
    (700, 705),
    (708, 720),
    (800, 809),
    (900, 911),
    (999, 999),
];

/// `code`, or [`UNKNOWN`] where `cust_raw`'s enum has no such value.
pub(crate) fn clamp(code: i32) -> i32 {
    if KNOWN.iter().any(|&(first, last)| (first..=last).contains(&code)) { code } else { UNKNOWN }
}

/// Name and description of the codes that can be met without a driver, and of those met most often.
pub(crate) const TEXTS: &[(i32, &str, &str)] = &[
    (0, "CUDA_SUCCESS\0", "no error\0"),
    (1, "CUDA_ERROR_INVALID_VALUE\0", "invalid argument\0"),
    (2, "CUDA_ERROR_OUT_OF_MEMORY\0", "out of memory\0"),
    (3, "CUDA_ERROR_NOT_INITIALIZED\0", "the driver is not initialised\0"),
    (4, "CUDA_ERROR_DEINITIALIZED\0", "the driver is shutting down\0"),
    (100, "CUDA_ERROR_NO_DEVICE\0", "no CUDA driver or no CUDA-capable device was found\0"),
    (101, "CUDA_ERROR_INVALID_DEVICE\0", "invalid device ordinal\0"),
    (200, "CUDA_ERROR_INVALID_IMAGE\0", "the kernel image is invalid\0"),
    (201, "CUDA_ERROR_INVALID_CONTEXT\0", "invalid device context\0"),
    (209, "CUDA_ERROR_NO_BINARY_FOR_GPU\0", "no kernel image runs on this device\0"),
    (218, "CUDA_ERROR_INVALID_PTX\0", "the PTX does not compile\0"),
    (222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION\0", "the PTX is newer than the driver\0"),
    (400, "CUDA_ERROR_INVALID_HANDLE\0", "invalid resource handle\0"),
    (500, "CUDA_ERROR_NOT_FOUND\0", "the named symbol was not found\0"),
    (600, "CUDA_ERROR_NOT_READY\0", "the device has not finished yet\0"),
    (700, "CUDA_ERROR_ILLEGAL_ADDRESS\0", "a kernel accessed an illegal address\0"),
    (701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES\0", "too many resources requested for the launch\0"),
    (702, "CUDA_ERROR_LAUNCH_TIMEOUT\0", "the kernel ran into the time limit and was ended\0"),
    (719, "CUDA_ERROR_LAUNCH_FAILED\0", "a kernel failed on the device\0"),
    (801, "CUDA_ERROR_NOT_SUPPORTED\0", "not supported by this driver or device\0"),
    (999, "CUDA_ERROR_UNKNOWN\0", "unknown error\0"),
];

/// What the driver calls `code`, as far as this crate knows without asking it.
pub fn name_of(code: i32) -> Option<&'static str> {
    TEXTS.iter().find(|entry| entry.0 == code).map(|entry| entry.1.trim_end_matches('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_newer_than_the_bindings_become_unknown() {
        for newer in [9, 36, 46, 225, 226, 721, 910 + 2, 998, -1, i32::MAX] {
            assert_eq!(clamp(newer), UNKNOWN, "{newer}");
        }
    }

    #[test]
    fn known_codes_stay() {
        for known in [0, 2, 100, 205, 222, 224, 700, 719, 720, 801, 911, 999] {
            assert_eq!(clamp(known), known);
        }
    }

    #[test]
    fn every_text_ends_with_nul_and_is_known() {
        for &(code, name, text) in TEXTS {
            assert!(name.ends_with('\0') && text.ends_with('\0'), "{code}");
            assert_eq!(clamp(code), code);
        }
    }
}
