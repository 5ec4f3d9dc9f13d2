//! A driver whose memory and streams are numbers. It writes the names of the calls that concern work and memory to the
//! file `driver-calls-` and the process's number in the folder of temporary files, if it is there at the first of them.
#![allow(non_snake_case)]

#[path = "../../../crates/gpu-core/tests/fake/device.rs"]
mod device;

use std::ffi::{c_char, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

static NEXT: AtomicU64 = AtomicU64::new(0x10_0000_0000);
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// A number that was never given before, and is no address within one that was.
fn next() -> u64 {
    NEXT.fetch_add(0x10_0000_0000, SeqCst)
}

fn called(name: &str) -> i32 {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let path = || std::env::temp_dir().join(format!("driver-calls-{}", std::process::id()));
    let open = || OpenOptions::new().append(true).open(path()).ok();
    if let Some(mut file) = FILE.get_or_init(open).as_ref() {
        // A call that is not noted fails the test that counts.
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
    0
}

/// Whether the scenario is this one.
fn is(scenario: &str) -> bool {
    static SCENARIO: OnceLock<String> = OnceLock::new();
    SCENARIO.get_or_init(|| std::env::var("FAKE_DRIVER").unwrap_or_default()) == scenario
}

macro_rules! noted {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name($(_: $argument),*) -> i32 {
            called(stringify!($name))
        }
    )* };
}

noted! {
    cuMemcpyHtoD_v2(u64, *const c_void, usize);
    cuMemcpyDtoH_v2(*const c_void, u64, usize);
    cuMemsetD8_v2(u64, u8, usize);
    cuMemsetD8Async(u64, u8, usize, u64);
    cuMemcpyDtoDAsync_v2(u64, u64, usize, u64);
    cuStreamSynchronize(u64);
    cuCtxSynchronize();
    cuMemFree_v2(u64);
    cuMemFreeAsync(u64, u64);
    cuEventRecord(u64, u64);
    cuStreamWaitEvent(u64, u64, u32);
    cuEventQuery(u64);
    cuLaunchKernel(u64, u32, u32, u32, u32, u32, u32, u32, u64, *const c_void, *const c_void);
    cuLaunchKernelEx(*const c_void, u64, *const c_void, *const c_void);
}

macro_rules! gives {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name(result: &mut u64 $(, _: $argument)*) -> i32 {
            *result = next();
            called(stringify!($name))
        }
    )* };
}

gives! {
    cuDevicePrimaryCtxRetain(i32);
    cuStreamCreate(u32);
    cuEventCreate(u32);
    cuDeviceGetDefaultMemPool(i32);
    cuModuleLoadDataEx(*const c_void, u32, *const c_void, *const c_void);
    cuModuleGetFunction(u64, *const c_char);
    cuMemAlloc_v2(usize);
    cuMemAllocAsync(usize, u64);
}

#[unsafe(no_mangle)]
pub extern "system" fn cuInit(_: u32) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxGetCurrent(context: &mut u64) -> i32 {
    *context = CURRENT.load(SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSetCurrent(context: u64) -> i32 {
    CURRENT.store(context, SeqCst);
    called("cuCtxSetCurrent")
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemPoolSetAttribute(_: u64, _: u32, _: *const c_void) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemHostAlloc(memory: &mut *mut u8, bytes: usize, _: u32) -> i32 {
    *memory = Vec::leak(vec![0_u8; bytes]).as_mut_ptr();
    called("cuMemHostAlloc")
}

/// Without this function results are copied.
#[unsafe(no_mangle)]
pub extern "system" fn cuMemHostGetDevicePointer_v2(address: &mut u64, memory: *mut c_void, _: u32) -> i32 {
    *address = memory as u64;
    if is("unmapped") { 1 } else { 0 }
}

/// Host memory of this driver lives as long as the process.
#[unsafe(no_mangle)]
pub extern "system" fn cuMemFreeHost(_: *mut c_void) -> i32 {
    called("cuMemFreeHost")
}

#[unsafe(no_mangle)]
pub extern "system" fn cuFuncGetAttribute(value: &mut i32, attribute: i32, _: u64) -> i32 {
    *value = if attribute == 0 { 1024 } else { 0 };
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuFuncSetAttribute(_: u64, _: i32, _: i32) -> i32 {
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 2;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemGetInfo_v2(free: &mut usize, total: &mut usize) -> i32 {
    (*free, *total) = (1 << 40, 1 << 40);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceTotalMem_v2(bytes: &mut usize, _: i32) -> i32 {
    *bytes = 1 << 40;
    0
}

/// Of an H200, where a launch depends on it; or of a device of compute capability 7.5 or 8.0.
#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetAttribute(value: &mut i32, attribute: i32, _: i32) -> i32 {
    *value = match attribute {
        75 if is("capability_7_5") => 7,
        75 if is("capability_8_0") => 8,
        76 if is("capability_7_5") => 5,
        75 => 9,
        76 => 0,
        16 => 132,
        97 => 227 << 10,
        115 => i32::from(!is("no_pools")),
        2..=7 => i32::MAX,
        _ => 1024,
    };
    called("cuDeviceGetAttribute")
}
