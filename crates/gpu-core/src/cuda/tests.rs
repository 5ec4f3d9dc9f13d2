//! The driver's own answers against what this crate works out without it. Skipped, loudly, without a device.

use std::io::Write;

use cuda_shim as sys;
use gpu_std::launch::{Image, KernelMeta, LaunchConfig, Module};

use super::context::Context;
use super::discovery::context;
use crate::backend::Backend;
use crate::occupancy;

static MODULE: Module = Module {
    name: "gpu_core_tests",
    images: &[Image { arch: 75, exact: false, isa: 74, ptx: include_str!("../../tests/common/kernels.ptx") }],
};

static KERNEL: KernelMeta = KernelMeta {
    name: "reverse_shared",
    module: &MODULE,
    file: file!(),
    line: line!(),
    max_threads: 1024,
    min_blocks: 0,
    programmatic: false,
};

/// Runs a test on the first CUDA device, if there is one.
fn on_cuda(test: &str, body: impl Fn(&Context)) {
    match context(0) {
        Ok(context) => body(&context),
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
