//! A driver whose events come late, on a thread of its own; what else they do, the environment says.
#![allow(non_snake_case)]

mod device;

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// What a question to an event or a stream is answered: not ready, ready, or a fault.
static STATE: AtomicI32 = AtomicI32::new(600);
static STREAMS: AtomicUsize = AtomicUsize::new(0);
static CALLED: AtomicUsize = AtomicUsize::new(0);
/// Callbacks that were asked for, and those that may come.
static ASKED: AtomicUsize = AtomicUsize::new(0);
static RELEASED: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicU64 = AtomicU64::new(0x10_0000);

thread_local! {
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

fn is(scenario: &str) -> bool {
    std::env::var("FAKE_DRIVER").is_ok_and(|name| name == scenario)
}

/// A call that is not allowed where the driver calls back.
fn call() -> i32 {
    assert!(!CALLING.get(), "the driver is called by what it calls");
    0
}

fn next(result: &mut u64) -> i32 {
    *result = NEXT.fetch_add(0x10_0000, SeqCst);
    call()
}

macro_rules! succeeds {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name($(_: $argument),*) -> i32 {
            call()
        }
    )* };
}

succeeds! {
    cuInit(u32);
    cuCtxSetCurrent(u64);
    cuMemsetD8Async(u64, u8, usize, u64);
    cuMemFreeAsync(u64, u64);
    cuMemPoolSetAttribute(u64, u32, *const c_void);
    cuStreamDestroy_v2(u64);
    cuStreamWaitEvent(u64, u64, u32);
}

macro_rules! gives {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name(result: &mut u64 $(, _: $argument)*) -> i32 {
            next(result)
        }
    )* };
}

gives! {
    cuDevicePrimaryCtxRetain(i32);
    cuEventCreate(u32);
    cuMemAllocAsync(usize, u64);
    cuDeviceGetDefaultMemPool(i32);
}

/// One more event may come, where that is by hand.
#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSynchronize() -> i32 {
    RELEASED.fetch_add(1, SeqCst);
    call()
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamCreate(stream: &mut u64, _: u32) -> i32 {
    STREAMS.fetch_add(1, SeqCst);
    next(stream)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventRecord(_: u64, _: u64) -> i32 {
    STATE.store(600, SeqCst);
    call()
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventQuery(_: u64) -> i32 {
    call();
    STATE.load(SeqCst)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventSynchronize(_: u64) -> i32 {
    call();
    while STATE.load(SeqCst) == 600 {
        thread::yield_now();
    }
    STATE.load(SeqCst)
}

/// Where a fault comes up that no call reports.
#[unsafe(no_mangle)]
pub extern "system" fn cuStreamSynchronize(_: u64) -> i32 {
    call();
    if is("lost") { 700 } else { 0 }
}

type Callback = unsafe extern "system" fn(u64, i32, *mut c_void);

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamAddCallback(stream: u64, callback: Callback, data: *mut c_void, flags: u32) -> i32 {
    call();
    assert_eq!(flags, 0);
    if is("refused") {
        return 1;
    }
    if is("lost") {
        return 0;
    }
    let (data, number) = (data.expose_provenance(), ASKED.fetch_add(1, SeqCst));
    let by_hand = is("late") || is("dropped") || is("other_waker");
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        while by_hand && RELEASED.load(SeqCst) <= number {
            thread::yield_now();
        }
        let status = if is("fault") { 700 } else { 0 };
        STATE.store(status, SeqCst);
        CALLING.set(true);
        // SAFETY: that is what was asked for, once.
        unsafe { callback(stream, status, std::ptr::with_exposed_provenance_mut(data)) };
        CALLING.set(false);
        CALLED.fetch_add(1, SeqCst);
    });
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetAttribute(value: &mut i32, _: i32, _: i32) -> i32 {
    *value = 8;
    0
}

/// How many streams there are, and how often the host was called.
#[unsafe(no_mangle)]
pub extern "system" fn cuMemGetInfo_v2(streams: &mut usize, called: &mut usize) -> i32 {
    (*streams, *called) = (STREAMS.load(SeqCst), CALLED.load(SeqCst));
    0
}
