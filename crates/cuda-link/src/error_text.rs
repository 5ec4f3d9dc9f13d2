//! `cuGetErrorName` and `cuGetErrorString`, which must work without a driver.
//!
//! `cust` panics while it formats an error when the driver cannot describe it, and "there is no driver" is the
//! error that is printed most often.

use core::ffi::c_char;

use cuda_shim::CUresult;

use crate::codes::SUCCESS;
use crate::export::hide;

/// The name of a result code, such as `CUDA_ERROR_OUT_OF_MEMORY`. Never fails; unknown codes get the name of 999.
///
/// # Safety
/// `text` is a valid place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: i32, text: *mut *const c_char) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { text.write(CUresult(code).name().as_ptr()) };
    SUCCESS
}
hide!(cuGetErrorName);

/// The description of a result code. Never fails; unknown codes get the description of 999.
///
/// # Safety
/// `text` is a valid place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: i32, text: *mut *const c_char) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { text.write(CUresult(code).text().as_ptr()) };
    SUCCESS
}
hide!(cuGetErrorString);
