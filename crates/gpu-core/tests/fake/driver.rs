//! A driver of which little works; what, the environment says.
#![allow(non_snake_case)]

use std::ffi::c_char;

fn is(scenario: &str) -> bool {
    std::env::var("FAKE_DRIVER").is_ok_and(|name| name == scenario)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuInit(_: u32) -> i32 {
    match () {
        () if is("no_device") => 100,
        () if is("mismatch") => 803,
        () => 0,
    }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDriverGetVersion(version: &mut i32) -> i32 {
    *version = 11_040;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGet(device: &mut i32, ordinal: i32) -> i32 {
    *device = ordinal;
    if is("future") { 12_345 } else { 0 }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGetName(name: *mut c_char, bytes: i32, _: i32) -> i32 {
    // As long as a name can be; the caller's buffer is not longer than it says.
    // SAFETY: the caller's promise.
    unsafe {
        name.cast::<u8>().write_bytes(b'x', bytes as usize - 1);
        name.add(bytes as usize - 1).write(0);
    }
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuGetErrorName(code: i32, text: &mut *const c_char) -> i32 {
    if code == 803 {
        *text = c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH".as_ptr();
        return 0;
    }
    1
}
