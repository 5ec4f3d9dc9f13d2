//! A driver that lacks functions, and gives codes that this crate has no name for: one made for this test.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod fake;

use std::ptr::without_provenance_mut as handle;

use cuda_shim::CUresult;

#[test]
fn what_a_driver_lacks_and_what_it_says() {
    fake::run_with("driver", "with_the_fake_driver", "other_times");
}

#[test]
#[ignore = "needs the driver that the test above makes"]
fn with_the_fake_driver() {
    assert_eq!(cuda_shim::driver(), Ok(()));
    let missing = cuda_shim::missing();
    assert!(missing.contains(&"cuLaunchKernelEx") && !missing.contains(&"cuInit"), "{missing:?}");
    assert_eq!(missing.len(), cuda_shim::names().count() - 8);

    // What is missing.
    let (mut free, mut total) = (7, 8);
    let outcome = cuda_shim::cuMemGetInfo_v2(&mut free, &mut total);
    assert_eq!(outcome, CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_eq!((outcome.code(), free, total), (Err(36), 7, 8), "the places for results stay as they were");
    assert_eq!(outcome.name(), c"CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER");
    assert!(outcome.text().to_str().unwrap().contains("too old"));

    // What is there: codes as they are, arguments where they belong.
    assert_eq!(cuda_shim::cuInit(0).code(), Ok(()));
    assert_eq!(cuda_shim::cuInit(5).code(), Err(1));
    let mut count = 0;
    assert_eq!((cuda_shim::cuDeviceGetCount(&mut count).code(), count), (Ok(()), 3));
    let mut address = 0;
    let outcome = cuda_shim::cuMemAlloc_v2(&mut address, usize::MAX - 1);
    assert_eq!((outcome, address), (CUresult::CUDA_ERROR_OUT_OF_MEMORY, u64::MAX));
    assert_eq!(outcome.name(), c"CUDA_ERROR_OUT_OF_MEMORY", "known here, if not to the driver");
    let outcome = cuda_shim::cuCtxSynchronize();
    assert_eq!((outcome.code(), outcome.name()), (Err(12_345), c"CUDA_ERROR_OF_TOMORROW"));
    assert_eq!(outcome.text(), c"unknown error", "the driver has no `cuGetErrorString`");
    let mut milliseconds = 0.0;
    // SAFETY: this driver looks at handles and addresses as numbers.
    unsafe {
        assert_eq!(cuda_shim::cuMemsetD8Async(1 << 40, 0xab, 1 << 33, handle(8)).code(), Ok(()));
        assert_eq!(cuda_shim::cuEventElapsedTime(&mut milliseconds, handle(8), handle(11)).code(), Ok(()));
        let launched =
            cuda_shim::cuLaunchKernel(handle(16), 1, 2, 3, 4, 5, 6, 7, handle(24), handle(32), handle(40));
        assert_eq!(launched.code(), Ok(()));
    }
    assert_eq!(milliseconds, 1.5);
}
