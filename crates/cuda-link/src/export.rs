//! How functions are defined under the names that `cust_raw` links against.

use std::cell::Cell;

use cuda_shim::CUresult;

use crate::codes::{self, NOT_SUPPORTED, SUCCESS};

thread_local! {
    static LAST_CODE: Cell<i32> = const { Cell::new(SUCCESS) };
}

/// The code that the driver gave to the last call on this thread that failed, before it was made to fit `cust_raw`.
///
/// Meaningful only right after a call failed: a call that succeeds leaves it as it was.
pub fn last_code() -> i32 {
    LAST_CODE.get()
}

/// Keeps the raw code of a failed call and returns one that `cust_raw`'s enum has.
#[inline]
pub(crate) fn finish(code: i32) -> i32 {
    if code == SUCCESS {
        return SUCCESS;
    }
    LAST_CODE.set(code);
    codes::clamp(code)
}

/// The code that stands for a function that cannot be called.
#[cold]
pub(crate) fn absent(why: CUresult) -> i32 {
    if why == CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER { NOT_SUPPORTED } else { why.0 }
}

/// Hides a symbol: a shared library that contains this crate would otherwise export it.
macro_rules! hide {
    ($name:ident) => {
        #[cfg(target_os = "linux")]
        core::arch::global_asm!(concat!(".hidden ", stringify!($name)));
    };
}

/// Defines one function per line, under the name that `cust_raw` links against.
///
/// Arguments have the plain types of the C interface: enums are `u32`, every pointer is `P`.
macro_rules! driver_functions {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        #[allow(unused_imports)]
        use $crate::table::{Ipc, P};

        $(
            #[doc = concat!("`", stringify!($name), "` of the driver API.\n\n# Safety\nAs in NVIDIA's documentation.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> i32 {
                static FUNCTION: cuda_shim::Function = cuda_shim::Function::new(
                    match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    },
                );
                let code = match FUNCTION.find() {
                    Ok(address) => {
                        type Signature = unsafe extern "C" fn($($kind),*) -> i32;
                        // SAFETY: the driver exports under this name a function with these arguments.
                        let function = unsafe { core::mem::transmute::<P, Signature>(address.as_ptr()) };
                        // SAFETY: the caller keeps the contract of the driver's function.
                        unsafe { function($($argument),*) }
                    }
                    Err(why) => $crate::export::absent(why),
                };
                $crate::export::finish(code)
            }
            $crate::export::hide!($name);
        )*

        /// The names of this part of the driver API.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

pub(crate) use {driver_functions, hide};
