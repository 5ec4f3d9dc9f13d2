//! The driver's own answers against what this crate works out without it. Skipped, loudly, without a device.

use core::ffi::c_void;
use core::ptr;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use cuda_shim::{self as sys, CUmemorytype, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};
use gpu_std::launch::{Image, KernelMeta, LaunchConfig};
use gpu_std::texture::Descriptor;

use super::context::Context;
use super::discovery::context;
use super::launch;
use crate::backend::Backend;
use crate::occupancy;
use crate::texture::Plan;

const fn kernel(name: &'static str) -> KernelMeta {
    KernelMeta {
        name,
        images: &[Image { arch: 75, exact: false, ptx: include_str!("../../tests/common/kernels.ptx") }],
        parameters: &[8, 4],
        file: file!(),
        line: line!(),
        max_threads: 1024,
        min_blocks: 0,
        cluster: 1,
        programmatic: false,
    }
}

static KERNEL: KernelMeta = kernel("reverse_shared");
static FILL_INDEX: KernelMeta = kernel("fill_index");

/// Runs a test on the first CUDA device, if there is one. One after the other: while one captures, calls of others
/// would fail.
fn on_cuda(test: &str, body: impl Fn(&Context)) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    match context(0) {
        Ok(context) => {
            let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
            body(&context);
        }
        Err(why) => {
            // Past the harness, which keeps the output of tests that pass. A closed stderr is no reason to fail.
            let _ = writeln!(std::io::stderr(), "{test}: SKIPPED: CUDA ({why})");
            assert!(
                std::env::var_os("GPU_TESTS_REQUIRE_CUDA").is_none(),
                "{test}: CUDA is required, but: {why}"
            );
        }
    }
}

#[test]
fn the_driver_agrees_about_occupancy() {
    on_cuda("the_driver_agrees_about_occupancy", |context| {
        let properties = context.properties().expect("the device has properties");
        let function = context.modules.function(context, &KERNEL).expect("the kernel loads");
        let registers = context.kernel_resources(&KERNEL).expect("the kernel is loaded").registers;
        for threads in [1, 32, 33, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1024] {
            for shared in
                [0, 1, 1000, 8 << 10, (16 << 10) + 1, 40_000, 48 << 10, 64 << 10, context.limits.shared_bytes]
            {
                if shared > context.limits.shared_bytes {
                    continue;
                }
                let config = LaunchConfig::linear(1, threads).shared(shared);
                function.prepare(context, &KERNEL, &config).expect("it is within the limits");
                let mut blocks = 0;
                // SAFETY: the function is loaded.
                let outcome = unsafe {
                    sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                        &mut blocks,
                        function.raw(),
                        threads as i32,
                        shared as usize,
                    )
                };
                context
                    .check("cuOccupancyMaxActiveBlocksPerMultiprocessor", outcome)
                    .expect("the driver answers");
                let ours = occupancy::occupancy(&properties, registers, shared, threads)
                    .expect("a known capability");
                assert_eq!(
                    ours.blocks, blocks as u32,
                    "{threads} threads, {shared} bytes, {registers} registers"
                );
            }
        }
    });
}

#[test]
fn the_driver_names_codes_that_this_crate_does_not() {
    on_cuda("the_driver_names_codes_that_this_crate_does_not", |_| {
        let failure = super::call::failure("cuLaunchKernel", 720);
        assert_eq!((failure.code, failure.name.as_str()), (720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"));
    });
}

#[test]
fn what_the_driver_refuses_is_named_and_passes() {
    on_cuda("what_the_driver_refuses_is_named_and_passes", |context| {
        context.enter().expect("the context is usable");
        let mut device = 77;
        match context.check("cuDeviceGet", sys::cuDeviceGet(&mut device, 1_000_000)) {
            Err(crate::Error::Cuda(failure)) => {
                assert_eq!((failure.code, failure.sticky), (101, false));
                assert_eq!(failure.name, "CUDA_ERROR_INVALID_DEVICE");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(device, 77, "a refusal gives nothing");
        context.enter().expect("a refusal does not poison");
        context.synchronize().expect("and the device goes on");
    });
}

fn done(outcome: CUresult) {
    assert_eq!(outcome.code(), Ok(()), "{:?}", outcome.name());
}

/// A stream, and memory for `WORDS` numbers that `fill_index` fills.
struct Work<'a> {
    context: &'a Context,
    stream: sys::CUstream,
    address: u64,
}

const WORDS: u32 = 1000;

impl<'a> Work<'a> {
    fn new(context: &'a Context) -> Self {
        context.enter().expect("the context is usable");
        let mut stream = ptr::null_mut();
        done(sys::cuStreamCreate(&mut stream, sys::CU_STREAM_DEFAULT));
        let address = context.allocate(WORDS as usize * 4, true).expect("there is memory");
        Self { context, stream, address }
    }

    fn launch(
        &self,
        how: unsafe fn(sys::CUfunction, LaunchConfig, sys::CUstream, &mut [*mut c_void]) -> CUresult,
    ) {
        let function = self.context.modules.function(self.context, &FILL_INDEX).expect("the kernel loads");
        let (mut address, mut words) = (self.address, WORDS);
        let mut arguments = [(&raw mut address).cast(), (&raw mut words).cast()];
        // SAFETY: the kernel writes that many words there and nothing else; nothing it needs is before it.
        done(unsafe { how(function.raw(), LaunchConfig::linear(8, 128), self.stream, &mut arguments) });
    }

    /// Sets the memory to zeros again.
    fn clear(&self) {
        // SAFETY: stream and memory are this one's.
        done(unsafe { sys::cuMemsetD8Async(self.address, 0, WORDS as usize * 4, self.stream) });
    }

    fn expect(&self, filled: bool) {
        let mut words = vec![9_u32; WORDS as usize];
        // SAFETY: the memory has as many bytes as `words`.
        unsafe { self.context.read(self.address, words.as_mut_ptr().cast(), WORDS as usize * 4) }
            .expect("it can be read");
        assert!(
            words.iter().zip(0..).all(|(&word, index)| word == if filled { index } else { 0 }),
            "{words:?}"
        );
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        // SAFETY: both are this one's, and nothing else uses them.
        unsafe {
            done(sys::cuStreamDestroy_v2(self.stream));
            self.context.release(self.address, WORDS as usize * 4);
        }
    }
}

#[test]
fn kernels_are_launched_in_both_ways() {
    on_cuda("kernels_are_launched_in_both_ways", |context| {
        let work = Work::new(context);
        work.expect(false);
        work.launch(launch::plain);
        work.expect(true);
        if context.capability.arch() >= 90 {
            work.clear();
            work.expect(false);
            work.launch(launch::programmatic);
            work.expect(true);
        }
    });
}

#[test]
fn work_is_captured_and_launched_again() {
    on_cuda("work_is_captured_and_launched_again", |context| {
        let work = Work::new(context);
        // Loaded before: the driver does not compile while it captures.
        work.launch(launch::plain);
        work.clear();
        work.expect(false);
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is alive, and so are graph and executable until they are destroyed.
        unsafe {
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            done(sys::cuStreamBeginCapture_v2(work.stream, mode));
            done(sys::cuStreamIsCapturing(work.stream, &mut status));
            work.launch(launch::plain);
            done(sys::cuStreamEndCapture(work.stream, &mut graph));
            assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
            work.expect(false);
            done(sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0));
            done(sys::cuGraphDestroy(graph));
            for _ in 0..2 {
                work.clear();
                done(sys::cuGraphLaunch(executable, work.stream));
                work.expect(true);
            }
            done(sys::cuGraphExecDestroy(executable));
        }
    });
}

#[test]
fn events_and_modules_can_be_given_up() {
    on_cuda("events_and_modules_can_be_given_up", |context| {
        context.enter().expect("the context is usable");
        let (mut event, mut module) = (ptr::null_mut(), ptr::null_mut());
        done(sys::cuEventCreate(&mut event, sys::CU_EVENT_DEFAULT));
        let text = std::ffi::CString::new(KERNEL.images[0].ptx).expect("PTX is text");
        // SAFETY: the event is alive until it is destroyed, and the module until it is unloaded; the text ends with a
        // nul, and there are no options.
        unsafe {
            done(sys::cuEventRecord(event, ptr::null_mut()));
            done(sys::cuEventDestroy_v2(event));
            let image = text.as_ptr().cast();
            done(sys::cuModuleLoadDataEx(&mut module, image, 0, ptr::null_mut(), ptr::null_mut()));
            done(sys::cuModuleUnload(module));
        }
    });
}

#[test]
fn textures_have_the_texels_they_were_made_of() {
    on_cuda("textures_have_the_texels_they_were_made_of", |context| {
        let texels: Vec<f32> = (0..5 * 3 * 2 * 4).map(|texel| texel as f32 + 0.5).collect();
        let plan = Plan {
            extents: [5, 3, 2],
            channels: 4,
            bytes: 4,
            integer: false,
            descriptor: Descriptor::default(),
            source: texels.as_ptr().expose_provenance() as u64,
            on_host: true,
        };
        // SAFETY: the source has all texels.
        let texture = unsafe { context.create_texture(&plan) }.expect("the device has textures");
        assert_ne!((texture.object, texture.array), (0, 0));
        let mut back = vec![0.0_f32; texels.len()];
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            srcHost: ptr::null(),
            srcDevice: 0,
            srcArray: ptr::with_exposed_provenance_mut(texture.array as usize),
            reserved0: ptr::null_mut(),
            srcPitch: 0,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: back.as_mut_ptr().cast(),
            dstDevice: 0,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: 5 * 16,
            dstHeight: 3,
            WidthInBytes: 5 * 16,
            Height: 3,
            Depth: 2,
        };
        // SAFETY: `back` has as many bytes as the array.
        done(unsafe { sys::cuMemcpy3D_v2(&copy) });
        assert_eq!(back, texels);
        // SAFETY: it was made here, and nothing else uses it.
        unsafe { context.release_texture(texture) };
    });
}
