//! A driver whose memory and streams are numbers. It counts events and waits, and says so as free and total memory.
//! Nothing ends before it is waited for.
#![allow(non_snake_case)]

mod device;

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

static RECORDS: AtomicUsize = AtomicUsize::new(0);
static WAITS: AtomicUsize = AtomicUsize::new(0);
static SYNCHRONISED: AtomicUsize = AtomicUsize::new(0);
/// Of events, how many were recorded until their last record, that one too.
static RECORDED: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());
/// So many records have come to pass.
static ENDED: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicU64 = AtomicU64::new(0x10_0000);

fn is(scenario: &str) -> bool {
    std::env::var("FAKE_DRIVER").is_ok_and(|name| name == scenario)
}

/// A number that was never given before, and is no address within one that was.
fn next() -> u64 {
    NEXT.fetch_add(0x10_0000, SeqCst)
}

macro_rules! succeeds {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name($(_: $argument),*) -> i32 {
            0
        }
    )* };
}

succeeds! {
    cuInit(u32);
    cuCtxSetCurrent(u64);
    cuMemcpyHtoD_v2(u64, *const c_void, usize);
    cuMemsetD8_v2(u64, u8, usize);
    cuMemsetD8Async(u64, u8, usize, u64);
    cuMemcpyDtoDAsync_v2(u64, u64, usize, u64);
    cuMemcpy3D_v2(*const c_void);
    cuTexObjectDestroy(u64);
    cuStreamSynchronize(u64);
    cuStreamDestroy_v2(u64);
    cuStreamBeginCapture_v2(u64, u32);
    cuGraphExecDestroy(u64);
    cuGraphDestroy(u64);
    cuGraphLaunch(u64, u64);
    cuMemPoolSetAttribute(u64, u32, *const c_void);
    cuLaunchKernel(u64, u32, u32, u32, u32, u32, u32, u32, u64, *const c_void, *const c_void);
}

macro_rules! gives {
    ($($name:ident($($argument:ty),*) = $value:expr;)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name(result: &mut u64 $(, _: $argument)*) -> i32 {
            *result = $value;
            0
        }
    )* };
}

gives! {
    cuDevicePrimaryCtxRetain(i32) = next();
    cuStreamCreate(u32) = next();
    cuEventCreate(u32) = next();
    cuTexObjectCreate(*const c_void, *const c_void, *const c_void) = next();
    cuDeviceGetDefaultMemPool(i32) = next();
    cuModuleLoadDataEx(*const c_void, u32, *const c_void, *const c_void) = next();
    cuModuleGetFunction(u64, *const c_char) = next();
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamEndCapture(_: u64, graph: &mut u64) -> i32 {
    *graph = next();
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuGraphInstantiateWithFlags(executable: &mut u64, _: u64, _: u64) -> i32 {
    *executable = next();
    0
}

/// Updates are refused, as drivers may.
#[unsafe(no_mangle)]
pub extern "system" fn cuGraphExecUpdate_v2(_: u64, _: u64, _: *mut c_void) -> i32 {
    910
}

#[unsafe(no_mangle)]
pub extern "system" fn cuFuncGetAttribute(value: &mut i32, attribute: i32, _: u64) -> i32 {
    *value = if attribute == 0 { 1024 } else { 0 };
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetAttribute(value: &mut i32, attribute: i32, _: i32) -> i32 {
    *value = match attribute {
        75 => 8,
        76 => 0,
        115 => i32::from(!is("no_pools")),
        _ => 1024,
    };
    0
}

/// A stream that was made elsewhere is not blocking.
#[unsafe(no_mangle)]
pub extern "system" fn cuStreamGetFlags(_: u64, flags: &mut u32) -> i32 {
    *flags = 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventRecord(event: u64, _: u64) -> i32 {
    let number = RECORDS.fetch_add(1, SeqCst) + 1;
    RECORDED.lock().unwrap().insert(event, number);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamWaitEvent(_: u64, _: u64, _: u32) -> i32 {
    WAITS.fetch_add(1, SeqCst);
    0
}

fn number(event: u64) -> usize {
    RECORDED.lock().unwrap()[&event]
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventQuery(event: u64) -> i32 {
    if number(event) <= ENDED.load(SeqCst) { 0 } else { 600 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventSynchronize(event: u64) -> i32 {
    SYNCHRONISED.fetch_add(1, SeqCst);
    ENDED.fetch_max(number(event), SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemGetInfo_v2(records: &mut usize, waits: &mut usize) -> i32 {
    (*records, *waits) = (RECORDS.load(SeqCst), WAITS.load(SeqCst));
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSynchronize() -> i32 {
    SYNCHRONISED.fetch_add(1, SeqCst);
    ENDED.store(RECORDS.load(SeqCst), SeqCst);
    0
}

fn allocate(address: &mut u64) -> i32 {
    *address = next();
    LIVE.fetch_add(1, SeqCst);
    0
}

fn free() -> i32 {
    LIVE.fetch_sub(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemAlloc_v2(address: &mut u64, _: usize) -> i32 {
    if is("no_pools") { allocate(address) } else { 1 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemFree_v2(_: u64) -> i32 {
    if is("no_pools") { free() } else { 1 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemAllocAsync(address: &mut u64, _: usize, _: u64) -> i32 {
    if is("no_pools") { 1 } else { allocate(address) }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemFreeAsync(_: u64, _: u64) -> i32 {
    if is("no_pools") { 1 } else { free() }
}

/// There is room for four allocations.
#[unsafe(no_mangle)]
pub extern "system" fn cuArray3DCreate_v2(array: &mut u64, _: *const c_void) -> i32 {
    if LIVE.load(SeqCst) < 4 { allocate(array) } else { 2 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuArrayDestroy(_: u64) -> i32 {
    free()
}

/// A thousand for each allocation, and one for each time that the device or an event was waited for.
#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceTotalMem_v2(bytes: &mut usize, _: i32) -> i32 {
    *bytes = LIVE.load(SeqCst) * 1000 + SYNCHRONISED.load(SeqCst);
    0
}
