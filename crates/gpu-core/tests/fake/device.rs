//! What the drivers that are made for tests say of their devices: the version that is new enough for everything, and no name.

use std::ffi::c_char;

#[unsafe(no_mangle)]
pub extern "system" fn cuDriverGetVersion(version: &mut i32) -> i32 {
    *version = 13_000;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGet(device: &mut i32, ordinal: i32) -> i32 {
    *device = ordinal;
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn cuDeviceGetName(name: *mut c_char, bytes: i32, _: i32) -> i32 {
    // SAFETY: the caller's promise: the buffer is as long as it says.
    unsafe { name.cast::<u8>().write_bytes(0, bytes as usize) };
    0
}
