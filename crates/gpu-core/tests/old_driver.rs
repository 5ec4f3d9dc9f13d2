//! Drivers that do not work, or are too old: made for these tests.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

// As cuda-shim makes its own.
#[path = "../../cuda-shim/tests/fake/mod.rs"]
mod fake;

use gpu_core::{Device, Error, Kind};

#[test]
fn broken_and_old_drivers_are_named() {
    for scenario in ["old", "mismatch", "no_device", "future"] {
        fake::run_with("driver", "with_the_fake_driver", scenario);
    }
}

#[test]
#[ignore = "needs the drivers that the test above makes"]
fn with_the_fake_driver() {
    let error = Device::cuda(0).expect_err("nothing works here");
    let text = error.to_string();
    match (std::env::var("FAKE_DRIVER").unwrap().as_str(), error) {
        // It has a device, but not the functions to use it.
        ("old", Error::Cuda(failure)) => {
            assert_eq!((failure.call, failure.code, failure.sticky), ("cuDevicePrimaryCtxRetain", 36, false));
            assert!(text.contains("too old") && text.contains("newer"), "{text}");
        }
        ("mismatch", Error::NoDriver { why }) => {
            assert!(why.starts_with("cuInit failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"), "{why}");
        }
        ("no_device", Error::NoSuchDevice { asked: 0, count: 0 }) => {
            assert!(Device::all_cuda().unwrap().is_empty());
        }
        // A code that nobody can name is reported as it is.
        ("future", Error::Cuda(failure)) => {
            assert_eq!((failure.call, failure.code, failure.sticky), ("cuDeviceGet", 12_345, false));
        }
        (scenario, error) => panic!("{scenario}: {error:?}"),
    }
    let best = Device::best();
    assert_eq!(best.kind(), Kind::Cpu);
    assert_eq!(best.why(), format!("no CUDA device: {text}"));
}
