//! The driver's functions as a program that is linked against them sees them where there is no driver. Where there is
//! one, only what holds for both.

use std::ffi::{CStr, c_char};

use cuda_link::table::{device, memory};

/// What `cuGetErrorName` and `cuGetErrorString` say.
fn text(function: unsafe extern "C" fn(i32, *mut *const c_char) -> i32, code: i32) -> String {
    let mut text = std::ptr::null();
    // SAFETY: `text` is a valid place for a pointer.
    assert_eq!(unsafe { function(code, &mut text) }, 0);
    // SAFETY: the call succeeded, so it points to a string that is never freed.
    unsafe { CStr::from_ptr(text) }.to_str().expect("texts are ASCII").to_owned()
}

#[test]
fn error_texts_need_no_driver() {
    assert_eq!(text(cuda_link::cuGetErrorName, 2), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_eq!(text(cuda_link::cuGetErrorName, 100), "CUDA_ERROR_NO_DEVICE");
    assert!(!text(cuda_link::cuGetErrorString, 100).is_empty());
    assert!(
        !text(cuda_link::cuGetErrorString, 123_456).is_empty(),
        "a code that nobody knows has a text too"
    );
}

#[test]
fn without_a_driver_every_call_says_no_device() {
    let Err(why) = cuda_shim::driver() else {
        println!("SKIPPED without_a_driver_every_call_says_no_device: this machine has a driver");
        return;
    };
    assert!(!why.is_empty(), "the reason is named");
    // SAFETY: cuInit takes no pointers.
    assert_eq!(unsafe { device::cuInit(0) }, cuda_link::NO_DEVICE);
    assert_eq!(cuda_link::last_code(), cuda_link::NO_DEVICE);
    let mut count = 77_i32;
    // SAFETY: `count` is a valid place.
    assert_eq!(unsafe { device::cuDeviceGetCount((&raw mut count).cast()) }, cuda_link::NO_DEVICE);
    assert_eq!(count, 77, "the place for the result stays as it was");
    let mut address = 0_u64;
    // SAFETY: `address` is a valid place.
    assert_eq!(unsafe { memory::cuMemAlloc_v2((&raw mut address).cast(), 64) }, cuda_link::NO_DEVICE);
    assert_eq!(address, 0);
}

#[test]
fn the_last_code_belongs_to_its_thread() {
    if cuda_shim::driver().is_ok() {
        println!("SKIPPED the_last_code_belongs_to_its_thread: this machine has a driver");
        return;
    }
    // SAFETY: cuInit takes no pointers.
    unsafe { device::cuInit(0) };
    let elsewhere = std::thread::spawn(cuda_link::last_code).join().expect("the thread ends");
    assert_eq!((cuda_link::last_code(), elsewhere), (cuda_link::NO_DEVICE, cuda_link::SUCCESS));
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = cuda_link::table::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 353, "cust_raw declares 353 functions, the table has {count}");
}
