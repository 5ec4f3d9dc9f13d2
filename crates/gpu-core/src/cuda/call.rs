//! Result codes: what a call of the driver returned, under its name.

use std::ffi::CStr;

use cust::error::{CudaError, CudaResult};
use cust::sys::CUresult;

use crate::error::DriverFailure;

/// What a call returned, as the driver's own number.
pub(super) trait Outcome {
    /// What a successful call gives.
    type Value;
    /// The value, or the code of the failure.
    fn code(self) -> Result<Self::Value, i32>;
}

/// A call of `cust::sys`.
impl Outcome for CUresult {
    type Value = ();

    fn code(self) -> Result<(), i32> {
        match self as i32 {
            cuda_shim::SUCCESS => Ok(()),
            code => Err(raw(code)),
        }
    }
}

/// A call of `cust`.
impl<T> Outcome for CudaResult<T> {
    type Value = T;

    fn code(self) -> Result<T, i32> {
        self.map_err(|error| match error {
            // `cust`'s own, for sizes that the caller has ruled out.
            CudaError::InvalidMemoryAllocation => 1,
            error => raw(error as i32),
        })
    }
}

/// A call of `cuda_shim`, for what is newer than `cust`.
impl Outcome for i32 {
    type Value = ();

    fn code(self) -> Result<(), i32> {
        match self {
            cuda_shim::SUCCESS => Ok(()),
            code => Err(raw(code)),
        }
    }
}

/// The driver's code. 999 stands for every code that `cust` does not know; the shim kept the real one.
fn raw(code: i32) -> i32 {
    if code == cuda_shim::UNKNOWN { cuda_shim::last_code() } else { code }
}

/// Runs a call and names its failure. The call's name is a literal, so that errors can be grepped for.
pub(super) fn check<O: Outcome>(call: &'static str, outcome: O) -> Result<O::Value, Box<DriverFailure>> {
    outcome.code().map_err(|code| failure(call, code))
}

/// The failure of `call` with this code.
#[cold]
pub(super) fn failure(call: &'static str, code: i32) -> Box<DriverFailure> {
    let (name, text) = (text(cuda_shim::cuGetErrorName, code), text(cuda_shim::cuGetErrorString, code));
    Box::new(DriverFailure { call, code, name, text, sticky: is_sticky(code), launch: None, log: None })
}

fn text(function: unsafe extern "C" fn(i32, *mut *const core::ffi::c_char) -> i32, code: i32) -> String {
    let mut text = core::ptr::null();
    // SAFETY: `text` is a valid place for a pointer; the function always sets it to a static string.
    unsafe {
        function(code, &mut text);
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

/// Whether a failure leaves the context unusable: every later call would return it again.
pub(super) fn is_sticky(code: i32) -> bool {
    matches!(
        code,
        // The driver has shut down.
        4
        // Uncorrectable memory and link errors, contained ones too.
        | 214 | 220 | 226
        // Illegal address, time limit, context destroyed, assertion.
        | 700 | 702 | 709 | 710
        // Hardware stack, illegal instruction, misaligned address, address space, program counter, launch failure,
        // tensor memory leak.
        | 714
            ..=719 | 721
        // The device is gone (fallen off the bus, or reset by someone).
        | 46 | 999
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_carry_the_code_and_its_name() {
        let failure = failure("cuMemAlloc", 2);
        assert_eq!(
            (failure.code, failure.name.as_str(), failure.sticky),
            (2, "CUDA_ERROR_OUT_OF_MEMORY", false)
        );
        assert!(
            failure.to_string().starts_with("cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2): "),
            "{failure}"
        );
    }

    #[test]
    fn faults_of_kernels_are_sticky_and_refusals_are_not() {
        for sticky in [700, 702, 710, 716, 719] {
            assert!(is_sticky(sticky), "{sticky}");
        }
        for passing in [1, 2, 100, 101, 201, 218, 400, 500, 600, 701, 720, 801] {
            assert!(!is_sticky(passing), "{passing}");
        }
    }
}
