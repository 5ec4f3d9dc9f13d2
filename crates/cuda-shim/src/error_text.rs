//! `cuGetErrorName` and `cuGetErrorString`, which must work without a driver.
//!
//! `cust` panics while it formats an error when the driver cannot describe it, and "there is no driver" is the
//! error that is printed most often.

use core::ffi::{CStr, c_char, c_void};

use crate::codes::{self, SUCCESS};
use crate::library::library;
use crate::resolve::hide;

/// Asks the driver for the text of `code`.
fn ask_driver(function: &CStr, code: i32) -> Option<*const c_char> {
    let address: *mut c_void = library().ok()?.symbol(function)?;
    // SAFETY: both functions that are asked for take a code and a place for a pointer.
    let function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32 =
        unsafe { core::mem::transmute(address) };
    let mut text = core::ptr::null();
    // SAFETY: `text` is a valid place.
    let result = unsafe { function(code, &mut text) };
    (result == SUCCESS && !text.is_null()).then_some(text)
}

/// The text of `code` from the table of this crate; what stands for an unknown code if it is not there.
fn own_text(code: i32, pick: impl Fn(&(i32, &'static str, &'static str)) -> &'static str) -> *const c_char {
    let unknown = &codes::TEXTS[codes::TEXTS.len() - 1];
    let entry = codes::TEXTS.iter().find(|entry| entry.0 == code).unwrap_or(unknown);
    pick(entry).as_ptr().cast()
}

/// The name of a result code, such as `CUDA_ERROR_OUT_OF_MEMORY`. Never fails; unknown codes get the name of 999.
///
/// # Safety
/// `text` is a valid place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: i32, text: *mut *const c_char) -> i32 {
    let found = ask_driver(c"cuGetErrorName", code).unwrap_or_else(|| own_text(code, |entry| entry.1));
    // SAFETY: the caller's promise.
    unsafe { text.write(found) };
    SUCCESS
}
hide!(cuGetErrorName);

/// The description of a result code. Never fails; unknown codes get the description of 999.
///
/// # Safety
/// `text` is a valid place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: i32, text: *mut *const c_char) -> i32 {
    let found = ask_driver(c"cuGetErrorString", code).unwrap_or_else(|| own_text(code, |entry| entry.2));
    // SAFETY: the caller's promise.
    unsafe { text.write(found) };
    SUCCESS
}
hide!(cuGetErrorString);
