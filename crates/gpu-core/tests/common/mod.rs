//! What the tests share: the backends that are there, said aloud, and a few kernels in both of their forms.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::io::Write;

use gpu_core::{Device, Result, Stream, ViewMut};
use gpu_std::launch::{Arg, Image, Invocation, KernelMeta, LaunchConfig, LaunchTarget};
use gpu_std::{shared, thread};

/// Makes a skipped CUDA part a failure: for machines that have a GPU.
const REQUIRE_CUDA: &str = "GPU_TESTS_REQUIRE_CUDA";

/// Makes a skipped pair of GPUs a failure: for machines that have two.
const REQUIRE_TWO: &str = "GPU_TESTS_REQUIRE_TWO_CUDA";

/// Says a line even where the harness captures output.
pub fn say(line: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Runs a test body on the CPU, the simulator, and the first CUDA device if there is one.
pub fn on_each(test: &str, body: impl Fn(&Device)) {
    run(test, vec![Device::cpu(), Device::simulator()], body);
}

/// Runs a test body on every backend that launches kernels.
pub fn on_each_launching(test: &str, body: impl Fn(&Device)) {
    run(test, vec![Device::simulator()], body);
}

/// Runs a test body on the first CUDA device if there is one.
pub fn on_cuda(test: &str, body: impl Fn(&Device)) {
    run(test, Vec::new(), body);
}

/// Runs a test body on each pair of devices of one kind that is there.
pub fn on_each_pair(test: &str, body: impl Fn(&Device, &Device)) {
    body(&Device::simulator(), &Device::simulator());
    match Device::cuda(0).and_then(|near| Ok((near, Device::cuda(1)?))) {
        Ok((near, far)) => {
            body(&near, &far);
            body(&far, &near);
            say(&format!("{test}: ran on 2 pairs (simulators, {near} and {far}), skipped 0"));
        }
        Err(why) => {
            say(&format!("{test}: ran on 1 pair (simulators), SKIPPED 1: two CUDA devices ({why})"));
            assert!(std::env::var_os(REQUIRE_TWO).is_none(), "{test}: two are required, but: {why}");
        }
    }
}

fn run(test: &str, mut devices: Vec<Device>, body: impl Fn(&Device)) {
    let skipped = match Device::cuda(0) {
        Ok(device) => {
            devices.push(device);
            None
        }
        Err(error) => Some(error),
    };
    for device in &devices {
        body(device);
    }
    let ran: Vec<_> = devices.iter().map(Device::to_string).collect();
    let ran = format!("{test}: ran on {} ({})", ran.len(), ran.join(", "));
    match skipped {
        None => say(&format!("{ran}, skipped 0")),
        Some(why) => {
            say(&format!("{ran}, SKIPPED 1: CUDA ({why})"));
            assert!(std::env::var_os(REQUIRE_CUDA).is_none(), "{test}: CUDA is required, but: {why}");
        }
    }
}

const fn kernel(name: &'static str, max_threads: u32, parameters: &'static [usize]) -> KernelMeta {
    KernelMeta {
        name,
        images: &[Image { arch: 75, exact: false, ptx: include_str!("kernels.ptx") }],
        parameters,
        file: file!(),
        line: line!(),
        max_threads,
        min_blocks: 0,
        cluster: 1,
        programmatic: false,
    }
}

pub const FILL_INDEX: KernelMeta = kernel("fill_index", 1024, &[8, 4]);
static FILL: KernelMeta = FILL_INDEX;
pub static REVERSE_SHARED: KernelMeta = kernel("reverse_shared", 1024, &[8, 4]);
pub static STORE_LATE: KernelMeta = kernel("store_late", 1024, &[8, 8, 4]);
/// Its host side promises more threads than its PTX allows.
pub static BOUNDED: KernelMeta = kernel("bounded", 1024, &[8, 4]);
/// Its host side allows 64 threads a block.
pub static AT_MOST_64: KernelMeta = kernel("fill_index", 64, &[8, 4]);
pub static MISSING: KernelMeta = kernel("no_such_kernel", 1024, &[8, 4]);

fn arg<T>(value: &T) -> Arg {
    Arg { pointer: std::ptr::from_ref(value).cast(), size: size_of::<T>(), read_only: false, described: 0 }
}

/// Launches a kernel with an address and one more number: the form of most of them.
///
/// # Safety
/// As [`LaunchTarget::launch`].
unsafe fn launch(
    stream: &Stream,
    kernel: &'static KernelMeta,
    config: LaunchConfig,
    address: u64,
    number: u32,
    thread: &dyn gpu_std::launch::Thread,
) -> Result<()> {
    let args = [arg(&address), arg(&number)];
    // SAFETY: the caller's promise.
    unsafe { LaunchTarget::launch(stream, &Invocation { kernel, config, args: &args, thread }) }
}

/// `out[i] = i`, by blocks of `threads`.
pub fn fill_index(stream: &Stream, out: ViewMut<'_, u32>, threads: u32) -> Result<()> {
    let blocks = (out.len() as u32).div_ceil(threads);
    fill_index_with(stream, &FILL, out, LaunchConfig::linear(blocks, threads))
}

/// The same with a configuration of the caller's.
pub fn fill_index_with(
    stream: &Stream,
    kernel: &'static KernelMeta,
    mut out: ViewMut<'_, u32>,
    config: LaunchConfig,
) -> Result<()> {
    let (global, n) = (out.as_global_mut(), out.len() as u32);
    let thread = move || {
        let index = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
        if index < n {
            global.write(index, index);
        }
    };
    // SAFETY: the kernel writes the elements of `out` and nothing else, whatever the configuration.
    unsafe { launch(stream, kernel, config, global.address(), n, &thread) }
}

/// Every block writes `threads - 1 - t` for its thread `t`, through the end of `bytes` of shared memory.
pub fn reverse_shared(stream: &Stream, mut out: ViewMut<'_, u32>, threads: u32, bytes: u32) -> Result<()> {
    assert!((out.len() as u32).is_multiple_of(threads) && bytes >= threads * 4, "whole blocks that fit");
    let (global, words) = (out.as_global_mut(), bytes / 4);
    let thread = move || {
        let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let tile = shared::dynamic().array::<u32>(words);
        tile.write(words - 1 - t, t);
        thread::sync_threads();
        global.write(thread::block_idx_x() * threads + t, tile.read(words - threads + t));
    };
    let config = LaunchConfig::linear(out.len() as u32 / threads, threads).shared(bytes);
    // SAFETY: the kernel writes the elements of `out`, whole blocks of them, and nothing else.
    unsafe { launch(stream, &REVERSE_SHARED, config, global.address(), words, &thread) }
}

/// `out[0] = value`, on CUDA after about `cycles` clock cycles.
pub fn store_late(stream: &Stream, mut out: ViewMut<'_, u32>, cycles: u64, value: u32) -> Result<()> {
    assert!(!out.is_empty(), "there is an element to write");
    let global = out.as_global_mut();
    let thread = move || global.write(0, value);
    let address = global.address();
    let args = [arg(&address), arg(&cycles), arg(&value)];
    let config = LaunchConfig::linear(1, 1);
    // SAFETY: the kernel writes the first element of `out` and nothing else.
    unsafe {
        LaunchTarget::launch(
            stream,
            &Invocation { kernel: &STORE_LATE, config, args: &args, thread: &thread },
        )
    }
}

/// A launch that writes outside of everything.
///
/// # Safety
/// None is kept: the fault is the purpose.
pub unsafe fn store_outside(stream: &Stream) -> Result<()> {
    let thread = || unreachable!("only CUDA is asked to do this");
    let (address, cycles, value) = (64_u64, 0_u64, 1_u32);
    let args = [arg(&address), arg(&cycles), arg(&value)];
    let config = LaunchConfig::linear(1, 1);
    // SAFETY: the caller's.
    unsafe {
        LaunchTarget::launch(
            stream,
            &Invocation { kernel: &STORE_LATE, config, args: &args, thread: &thread },
        )
    }
}
