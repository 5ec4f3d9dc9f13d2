//! The devices a test runs on.

use gpu_core::{Device, Error};
use gpu_sim::Config;

/// Runs `body` on the CPU, in the simulator and on every CUDA device, and prints which ones ran and which were left
/// out.
///
/// With `GPU_TESTS_REQUIRE_CUDA` set, a machine without a CUDA device fails the test instead.
pub fn for_each(test: &str, body: impl FnMut(&Device)) {
    on_all(test, Config::default(), body);
}

/// As [`for_each`], where launches in the simulator are cut for a device of one multiprocessor: of few blocks each has
/// several pieces of work, as those of long arrays have on a GPU.
pub fn for_each_small(test: &str, body: impl FnMut(&Device)) {
    on_all(test, Config { multiprocessors: 1, ..Config::default() }, body);
}

/// That `of` gives on simulated devices of 132, 80, 16 multiprocessors and one what it gives on the CPU, and that the
/// kernels whose name begins with `kernel` have fewer blocks on one than on 132, and on none more than on 132.
pub fn same_on_all_multiprocessors<R: PartialEq>(kernel: &str, of: impl Fn(&Device) -> R) {
    let expected = of(&Device::cpu());
    let blocks = [132, 80, 16, 1].map(|multiprocessors| {
        let device = Device::simulator_with(Config { multiprocessors, ..Config::default() });
        assert!(of(&device) == expected, "{kernel} on {multiprocessors} multiprocessors");
        let reports = device.as_simulator().expect("it is one").take_reports();
        let of_kernel = reports.iter().filter(|report| report.kernel.starts_with(kernel));
        of_kernel.map(|report| report.blocks).sum::<u64>()
    });
    assert!(
        blocks.is_sorted_by(|more, fewer| more >= fewer) && blocks[0] > blocks[3],
        "{kernel}: {blocks:?}"
    );
}

fn on_all(test: &str, simulated: Config, mut body: impl FnMut(&Device)) {
    let mut ran = Vec::new();
    for device in [Device::cpu(), Device::simulator_with(simulated)] {
        body(&device);
        ran.push(device.name());
    }
    let skipped = match Device::all_cuda() {
        Ok(devices) if !devices.is_empty() => {
            for device in devices {
                body(&device);
                ran.push(device.name());
            }
            0
        }
        other => {
            let why = other.err().map_or_else(|| "no CUDA device".to_string(), |error| error.to_string());
            assert!(
                std::env::var_os("GPU_TESTS_REQUIRE_CUDA").is_none(),
                "{test}: CUDA was required, but {why}"
            );
            println!("{test}: skipped on CUDA: {why}");
            1
        }
    };
    println!("{test}: ran on {} backends ({}), skipped {skipped}", ran.len(), ran.join(", "));
}

/// The first CUDA device, or `None` after saying that the test is skipped.
pub fn cuda(test: &str) -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => {
            println!("{test}: ran on {}", device.name());
            Some(device)
        }
        Err(error @ (Error::NoDriver { .. } | Error::NoSuchDevice { .. })) => {
            assert!(
                std::env::var_os("GPU_TESTS_REQUIRE_CUDA").is_none(),
                "{test}: CUDA was required, but {error}"
            );
            println!("{test}: skipped 1 of 1 backends: {error}");
            None
        }
        Err(error) => panic!("{test}: {error}"),
    }
}

/// How many random cases a property gets: `GPU_TESTS_CASES`, or 256.
pub fn cases() -> u32 {
    std::env::var("GPU_TESTS_CASES").map_or(256, |cases| cases.parse().expect("GPU_TESTS_CASES is a number"))
}
