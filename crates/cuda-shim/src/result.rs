//! Result codes: the driver's numbers, and what they are called.

use core::ffi::{CStr, c_char};

use crate::resolve::driver_functions;

/// What a call returned: the driver's own number, whatever it is.
#[must_use = "the call may have failed"]
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CUresult(pub i32);

#[allow(missing_docs, reason = "`text` describes them")]
impl CUresult {
    pub const CUDA_SUCCESS: Self = Self(0);
    pub const CUDA_ERROR_INVALID_VALUE: Self = Self(1);
    pub const CUDA_ERROR_OUT_OF_MEMORY: Self = Self(2);
    /// What every call returns that the driver is too old to have. The number is the one that CUDA's runtime gives in
    /// this case.
    pub const CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER: Self = Self(36);
    /// What every call returns where there is no driver.
    pub const CUDA_ERROR_NO_DEVICE: Self = Self(100);
    pub const CUDA_ERROR_INVALID_PTX: Self = Self(218);
    pub const CUDA_ERROR_UNSUPPORTED_PTX_VERSION: Self = Self(222);
    pub const CUDA_ERROR_NOT_FOUND: Self = Self(500);
    pub const CUDA_ERROR_NOT_READY: Self = Self(600);
    pub const CUDA_ERROR_UNKNOWN: Self = Self(999);
}

impl CUresult {
    /// Whether the call did what it should; its number if not.
    ///
    /// # Errors
    /// The number of the failure.
    #[inline]
    pub fn code(self) -> Result<(), i32> {
        if self == Self::CUDA_SUCCESS { Ok(()) } else { Err(self.0) }
    }

    /// What the driver calls it, such as `CUDA_ERROR_OUT_OF_MEMORY`. Without a driver, and for codes that the driver
    /// does not know, as far as this crate knows; that of 999 for those that nobody knows.
    pub fn name(self) -> &'static CStr {
        self.of_driver(cuGetErrorName).unwrap_or(self.own().1)
    }

    /// What it means, in a sentence; see [`CUresult::name`].
    pub fn text(self) -> &'static CStr {
        self.of_driver(cuGetErrorString).unwrap_or(self.own().2)
    }

    fn of_driver(self, ask: fn(Self, &mut *const c_char) -> Self) -> Option<&'static CStr> {
        // This one is given by this crate, which describes it better.
        if self == Self::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER {
            return None;
        }
        let mut text = core::ptr::null();
        if ask(self, &mut text) != Self::CUDA_SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: the driver's texts are constants of its library, which is never closed.
        Some(unsafe { CStr::from_ptr(text) })
    }

    fn own(self) -> &'static Text {
        TEXTS.iter().find(|text| text.0 == self.0).unwrap_or(&TEXTS[TEXTS.len() - 1])
    }
}

driver_functions! {
    safe {
        cuGetErrorName(code: CUresult, text: &mut *const c_char);
        cuGetErrorString(code: CUresult, text: &mut *const c_char);
    }
    // SAFETY: there are none.
    unsafe {}
}

/// A code, its name, and its description.
type Text = (i32, &'static CStr, &'static CStr);

/// The codes that can be met without a driver, those met most often, and last what stands for all others.
const TEXTS: &[Text] = &[
    (0, c"CUDA_SUCCESS", c"no error"),
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"the driver is not initialised"),
    (4, c"CUDA_ERROR_DEINITIALIZED", c"the driver is shutting down"),
    (
        36,
        c"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
        c"the CUDA driver is too old to have this function: install a newer one",
    ),
    (100, c"CUDA_ERROR_NO_DEVICE", c"no CUDA driver or no CUDA-capable device was found"),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (200, c"CUDA_ERROR_INVALID_IMAGE", c"the kernel image is invalid"),
    (201, c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
    (209, c"CUDA_ERROR_NO_BINARY_FOR_GPU", c"no kernel image runs on this device"),
    (218, c"CUDA_ERROR_INVALID_PTX", c"the PTX does not compile"),
    (222, c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"the PTX is newer than the driver"),
    (400, c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
    (500, c"CUDA_ERROR_NOT_FOUND", c"the named symbol was not found"),
    (600, c"CUDA_ERROR_NOT_READY", c"the device has not finished yet"),
    (700, c"CUDA_ERROR_ILLEGAL_ADDRESS", c"a kernel accessed an illegal address"),
    (701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested for the launch"),
    (702, c"CUDA_ERROR_LAUNCH_TIMEOUT", c"the kernel ran into the time limit and was ended"),
    (719, c"CUDA_ERROR_LAUNCH_FAILED", c"a kernel failed on the device"),
    (801, c"CUDA_ERROR_NOT_SUPPORTED", c"not supported by this driver or device"),
    (999, c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_text_and_the_last_stands_for_the_rest() {
        for pair in TEXTS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{pair:?}");
        }
        for unknown in [-1, 9, 46, 123_456, i32::MAX] {
            assert_eq!(CUresult(unknown).own().0, 999);
        }
    }

    #[test]
    fn codes_stay_as_they_are() {
        assert_eq!(CUresult(0).code(), Ok(()));
        for code in [1, 36, 721, 916, 99_999, -5] {
            assert_eq!(CUresult(code).code(), Err(code), "also those that are newer than this crate");
        }
    }
}
