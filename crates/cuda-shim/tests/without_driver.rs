//! The driver API as a program sees it where there is no driver. Where there is one, only what holds for both.

use std::ptr;

use cuda_shim::CUresult;

#[test]
fn error_texts_need_no_driver() {
    assert_eq!(CUresult::CUDA_ERROR_OUT_OF_MEMORY.name(), c"CUDA_ERROR_OUT_OF_MEMORY");
    assert_eq!(CUresult::CUDA_ERROR_NO_DEVICE.name(), c"CUDA_ERROR_NO_DEVICE");
    for code in [0, 36, 100, 719, 123_456, -1] {
        assert!(!CUresult(code).name().is_empty() && !CUresult(code).text().is_empty(), "{code}");
    }
}

#[test]
fn without_a_driver_every_call_says_no_device() {
    let Err(why) = cuda_shim::driver() else {
        println!("SKIPPED without_a_driver_every_call_says_no_device: this machine has a driver");
        return;
    };
    assert!(!why.is_empty(), "the reason is named");
    assert_eq!(cuda_shim::missing(), cuda_shim::names().collect::<Vec<_>>());
    // One of each group, and twice: the answer does not change.
    for _ in 0..2 {
        let mut count = 77;
        let mut address = 78;
        let mut stream = ptr::dangling_mut();
        for outcome in [
            cuda_shim::cuInit(0),
            cuda_shim::cuDeviceGetCount(&mut count),
            cuda_shim::cuCtxSynchronize(),
            cuda_shim::cuMemAlloc_v2(&mut address, 64),
            cuda_shim::cuStreamCreate(&mut stream, cuda_shim::CU_STREAM_DEFAULT),
            // SAFETY: there is no driver to look at them.
            unsafe { cuda_shim::cuEventSynchronize(ptr::null_mut()) },
            // SAFETY: as above.
            unsafe { cuda_shim::cuModuleUnload(ptr::null_mut()) },
            // SAFETY: as above.
            unsafe { cuda_shim::cuGraphLaunch(ptr::null_mut(), ptr::null_mut()) },
            // SAFETY: as above.
            unsafe { cuda_shim::cuTexObjectDestroy(0) },
        ] {
            assert_eq!(outcome, CUresult::CUDA_ERROR_NO_DEVICE);
        }
        assert_eq!((count, address), (77, 78), "the places for results stay as they were");
        assert_eq!(stream, ptr::dangling_mut());
    }
}

#[test]
fn a_driver_of_today_has_every_function() {
    match cuda_shim::driver() {
        Ok(()) => assert_eq!(cuda_shim::missing(), [""; 0]),
        Err(why) => println!("SKIPPED a_driver_of_today_has_every_function: {why}"),
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = cuda_shim::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.iter().all(|name| name.starts_with("cu")), "{names:?}");
}
