//! Devices without the instructions: a typed error that says what they lack, and nothing is launched; or kernels for
//! those that they have, without boxes, which drivers describe to devices of 9.0 only.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

// As cuda-shim makes its own.
#[path = "../../../crates/cuda-shim/tests/fake/mod.rs"]
mod fake;

use std::fs;

use gpu_core::{Buffer, Device, Element, Scratch, ScratchSize};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{Error, Layout, Matrix, MatrixMut, bf16, f16, gemm_i8, gemm_tensor, gemm_tf32};

#[test]
fn a_device_of_7_5_has_a_kernel_of_f16_and_is_named() {
    fake::run_with("calls", "older_devices::are_named_or_work", "capability_7_5");
}

#[test]
fn a_device_of_8_0_has_kernels_of_its_own() {
    fake::run_with("calls", "older_devices::are_named_or_work", "capability_8_0");
}

fn factor<T: Element>(device: &Device) -> Buffer<T> {
    device.alloc(64 * 64).unwrap()
}

#[test]
#[ignore = "needs the driver that the tests above make"]
fn are_named_or_work() {
    let log = std::env::temp_dir().join(format!("driver-calls-{}", std::process::id()));
    fs::write(&log, "").unwrap();
    let device = Device::cuda(0).unwrap();
    let (stream, layout) = (device.default_stream(), Layout::row_major(64, 64).unwrap());
    let mut scratch = Scratch::with_size(&stream, ScratchSize::new().array::<f32>(1 << 16)).unwrap();
    let (mut c, mut counts) = (factor::<f32>(&device), factor::<i32>(&device));
    let (halves, bfloats) = (factor::<f16>(&device), factor::<bf16>(&device));
    let (singles, bytes) = (factor::<f32>(&device), factor::<i8>(&device));
    let launches = || fs::read_to_string(&log).unwrap().matches("cuLaunchKernel").count();
    let before = launches();
    let to = MatrixMut::new(&mut c, layout).unwrap();
    let a = Matrix::new(&halves, layout).unwrap();
    let mut results = vec![gemm_tensor::<f16, f32>(&stream, 1.0, a, a, 0.0, to, &mut scratch)];
    let to = MatrixMut::new(&mut c, layout).unwrap();
    let a = Matrix::new(&singles, layout).unwrap();
    results.push(gemm_tf32(&stream, 1.0, a, a, 0.0, to, &mut scratch));
    let to = MatrixMut::new(&mut counts, layout).unwrap();
    let a = Matrix::new(&bytes, layout).unwrap();
    results.push(gemm_i8(&stream, 1, a, a, 0, to, &mut scratch));
    let to = MatrixMut::new(&mut c, layout).unwrap();
    let a = Matrix::new(&bfloats, layout).unwrap();
    results.push(gemm_tensor::<bf16, f32>(&stream, 1.0, a, a, 0.0, to, &mut scratch));
    let launched = launches() - before;

    let to = MatrixMut::new(&mut c, layout).unwrap();
    let wide = TensorVariant::Wide;
    let by_name = variants::gemm_tensor::<bf16, f32>(&stream, wide, 1.0, a, a, 0.0, to, &mut scratch);
    let missing = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("call gemm"), "{error}");
        let Error::NoTensorCores { capability, needs } = error else { panic!("{error:?}") };
        (capability, needs)
    };
    let capability = device.capability().unwrap().to_string();
    assert_eq!(missing(by_name), (capability.clone(), "9.0"));
    if capability == "8.0" {
        results.into_iter().for_each(Result::unwrap);
        assert!(launched >= 4, "{launched}");
    } else {
        // It has `mma` of `f16`, and of nothing else.
        results.remove(0).unwrap();
        assert_eq!(launched, 1);
        results.into_iter().for_each(|result| assert_eq!(missing(result), ("7.5".into(), "8.0")));
    }
    fs::remove_file(&log).unwrap();
}
