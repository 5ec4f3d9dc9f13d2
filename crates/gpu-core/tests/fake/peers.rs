//! A driver of three devices, which holds every handle to its context. It captures copies between devices, and counts events and waits, and says so as free
//! and total memory; the total memory of a device is the number of its connections.
#![allow(non_snake_case)]

mod device;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

static RECORDS: AtomicUsize = AtomicUsize::new(0);
static WAITS: AtomicUsize = AtomicUsize::new(0);
static COPIES: AtomicUsize = AtomicUsize::new(0);
static ACCESS: AtomicUsize = AtomicUsize::new(0);
static POOLS: AtomicUsize = AtomicUsize::new(0);
/// The stream that is captured, and the copies that were.
static CAPTURE: Mutex<Option<(u64, usize)>> = Mutex::new(None);
/// How many copies each graph makes.
static GRAPHS: Mutex<Option<HashMap<u64, usize>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0x10_0000);
static HOMES: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

thread_local! {
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

fn is(scenario: &str) -> bool {
    std::env::var("FAKE_DRIVER").is_ok_and(|name| name == scenario)
}

/// A new handle or address of the present context.
fn make(result: &mut u64) -> i32 {
    *result = NEXT.fetch_add(0x10_0000, SeqCst);
    HOMES.lock().unwrap().get_or_insert_default().insert(*result, CURRENT.get());
    0
}

/// The context of a handle, or of an address in the first MiB behind one. The default stream is the present context's.
fn home(handle: u64) -> u64 {
    if handle == 0 {
        return CURRENT.get();
    }
    HOMES.lock().unwrap().as_ref().and_then(|homes| homes.get(&(handle & !0xF_FFFF)).copied()).expect("a handle of nobody's")
}

/// It belongs to the context that is current.
fn expect(handle: u64) -> i32 {
    assert_eq!(home(handle), CURRENT.get(), "a handle of another context");
    0
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
    cuStreamSynchronize(u64);
    cuMemPoolSetAttribute(u64, u32, *const c_void);
    cuMemPoolGetAttribute(u64, u32, *const c_void);
}

macro_rules! makes {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name(result: &mut u64 $(, _: $argument)*) -> i32 {
            make(result)
        }
    )* };
}

makes! {
    cuStreamCreate(u32);
    cuEventCreate(u32);
    cuMemAllocAsync(usize, u64);
}

macro_rules! of_the_context {
    ($($name:ident($of:ident: u64 $(, $argument:ty)*);)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "system" fn $name($of: u64 $(, _: $argument)*) -> i32 {
            expect($of)
        }
    )* };
}

of_the_context! {
    cuMemFreeAsync(address: u64, u64);
    cuStreamDestroy_v2(stream: u64);
    cuGraphDestroy(graph: u64);
    cuGraphExecDestroy(executable: u64);
    cuMemcpyHtoD_v2(address: u64, *const c_void, usize);
    cuMemsetD8_v2(address: u64, u8, usize);
    cuMemsetD8Async(address: u64, u8, usize, u64);
    cuMemcpyDtoDAsync_v2(address: u64, u64, usize, u64);
}

/// Contexts have numbers that handles do not have.
#[unsafe(no_mangle)]
pub extern "system" fn cuDevicePrimaryCtxRetain(context: &mut u64, device: i32) -> i32 {
    *context = device as u64 + 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxSetCurrent(context: u64) -> i32 {
    CURRENT.set(context);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetDefaultMemPool(pool: &mut u64, device: i32) -> i32 {
    *pool = device as u64 + 1;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemcpyPeerAsync(
    target: u64,
    target_context: u64,
    source: u64,
    source_context: u64,
    bytes: usize,
    stream: u64,
) -> i32 {
    assert_eq!((home(target), home(source)), (target_context, source_context));
    assert!(target_context != source_context && bytes > 0);
    match CAPTURE.lock().unwrap().as_mut().filter(|(captured, _)| *captured == stream) {
        Some((_, copies)) => *copies += 1,
        None => _ = COPIES.fetch_add(1, SeqCst),
    }
    expect(stream)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamBeginCapture_v2(stream: u64, _: u32) -> i32 {
    assert!(CAPTURE.lock().unwrap().replace((stream, 0)).is_none());
    expect(stream)
}

/// A new handle of a graph that makes so many copies.
fn make_graph(graph: &mut u64, copies: usize) -> i32 {
    make(graph);
    GRAPHS.lock().unwrap().get_or_insert_default().insert(*graph, copies);
    0
}

fn copies(graph: u64) -> usize {
    GRAPHS.lock().unwrap().as_ref().and_then(|graphs| graphs.get(&graph).copied()).expect("a graph")
}

#[unsafe(no_mangle)]
pub extern "system" fn cuStreamEndCapture(stream: u64, graph: &mut u64) -> i32 {
    let (captured, copies) = CAPTURE.lock().unwrap().take().expect("a capture");
    assert_eq!(captured, stream);
    make_graph(graph, copies);
    expect(stream)
}

#[unsafe(no_mangle)]
pub extern "system" fn cuGraphInstantiateWithFlags(executable: &mut u64, graph: u64, _: u64) -> i32 {
    make_graph(executable, copies(graph))
}

/// Updates are refused where the number of copies is another.
#[unsafe(no_mangle)]
pub extern "system" fn cuGraphExecUpdate_v2(executable: u64, graph: u64, _: *mut c_void) -> i32 {
    if copies(executable) == copies(graph) { 0 } else { 910 }
}

#[unsafe(no_mangle)]
pub extern "system" fn cuGraphLaunch(executable: u64, stream: u64) -> i32 {
    COPIES.fetch_add(copies(executable), SeqCst);
    expect(executable);
    expect(stream)
}

/// The third device is on another bus.
#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceCanAccessPeer(can: &mut i32, device: i32, peer: i32) -> i32 {
    *can = i32::from(!is("far") && device < 2 && peer < 2 && device != peer);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuCtxEnablePeerAccess(peer: u64, flags: u32) -> i32 {
    assert!(flags == 0 && peer != CURRENT.get() && peer <= 2 && CURRENT.get() <= 2);
    ACCESS.fetch_add(1, SeqCst);
    // Somebody else has done so before.
    704
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemPoolSetAccess(pool: u64, map: &[u32; 3], count: usize) -> i32 {
    assert_eq!((map[0], map[2], count), (1, 3, 1));
    assert_ne!(u64::from(map[1]) + 1, pool);
    POOLS.fetch_add(1, SeqCst);
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuEventRecord(event: u64, stream: u64) -> i32 {
    RECORDS.fetch_add(1, SeqCst);
    expect(event);
    expect(stream)
}

/// An event may be of another context.
#[unsafe(no_mangle)]
pub extern "system" fn cuStreamWaitEvent(stream: u64, event: u64, _: u32) -> i32 {
    WAITS.fetch_add(1, SeqCst);
    home(event);
    expect(stream)
}

/// Nothing ends before it is waited for.
#[unsafe(no_mangle)]
pub extern "system" fn cuEventQuery(event: u64) -> i32 {
    expect(event);
    600
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetCount(count: &mut i32) -> i32 {
    *count = 3;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceGetAttribute(value: &mut i32, _: i32, _: i32) -> i32 {
    *value = 8;
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn cuMemGetInfo_v2(records: &mut usize, waits: &mut usize) -> i32 {
    (*records, *waits) = (RECORDS.load(SeqCst), WAITS.load(SeqCst));
    0
}

/// A million for each copy, a thousand for each context that was told of a peer, and one for each pool.
#[unsafe(no_mangle)]
pub extern "system" fn cuDeviceTotalMem_v2(bytes: &mut usize, _: i32) -> i32 {
    *bytes = COPIES.load(SeqCst) * 1_000_000 + ACCESS.load(SeqCst) * 1000 + POOLS.load(SeqCst);
    0
}
