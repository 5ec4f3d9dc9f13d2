//! A driver from another time: some functions are missing, some codes nobody knows. It checks what it is called with.
#![allow(non_snake_case)]

use std::ffi::{c_char, c_void};

#[unsafe(no_mangle)]
pub extern "system" fn cuInit(flags: u32) -> i32 {
    if flags == 0 { 0 } else { 1 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 3;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSynchronize() -> i32 {
    12_345
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemAlloc_v2(address: &mut u64, bytes: usize) -> i32 {
    *address = bytes as u64 + 1;
    2
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemsetD8Async(target: u64, value: u8, bytes: usize, stream: *mut c_void) -> i32 {
    ((target, value, bytes, stream.addr()) != (1 << 40, 0xab, 1 << 33, 8)) as i32
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventElapsedTime(
    milliseconds: &mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> i32 {
    *milliseconds = (end.addr() - start.addr()) as f32 / 2.0;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared_bytes: u32,
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> i32 {
    let sizes = [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes];
    let pointers = [function.addr(), stream.addr(), arguments.addr(), extra.addr()];
    (sizes != [1, 2, 3, 4, 5, 6, 7] || pointers != [16, 24, 32, 40]) as i32
}

#[unsafe(no_mangle)]
pub extern "system" fn cuGetErrorName(code: i32, text: &mut *const c_char) -> i32 {
    match code {
        12_345 => *text = c"CUDA_ERROR_OF_TOMORROW".as_ptr(),
        // As the real one does.
        _ => return 1,
    }
    0
}
