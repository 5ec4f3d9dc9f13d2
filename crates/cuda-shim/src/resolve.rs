//! How one driver function finds itself: looked up on its first call, an atomic load on every later one.

use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::cell::Cell;

use crate::codes::{self, NO_DEVICE, NOT_SUPPORTED, SUCCESS};
use crate::library::library;

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

/// A function of the driver: its name, and its address once it is known.
pub(crate) struct Function {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The function's address, or the code to return in its place.
    #[inline]
    pub(crate) fn find(&self) -> Result<*mut c_void, i32> {
        // Relaxed is enough: the address is all there is to see, and the library was loaded by the kernel.
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.look_up() } else { Ok(address) }
    }

    #[cold]
    fn look_up(&self) -> Result<*mut c_void, i32> {
        let library = library().map_err(|_| NO_DEVICE)?;
        let address = library.symbol(self.name).ok_or(NOT_SUPPORTED)?;
        self.address.store(address, Ordering::Relaxed);
        Ok(address)
    }
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
                static FUNCTION: $crate::resolve::Function = $crate::resolve::Function::new(
                    match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    },
                );
                let code = match FUNCTION.find() {
                    Ok(address) => {
                        type Signature = unsafe extern "C" fn($($kind),*) -> i32;
                        // SAFETY: the driver exports under this name a function with these arguments.
                        let function = unsafe { core::mem::transmute::<P, Signature>(address) };
                        // SAFETY: the caller keeps the contract of the driver's function.
                        unsafe { function($($argument),*) }
                    }
                    Err(code) => code,
                };
                $crate::resolve::finish(code)
            }
            $crate::resolve::hide!($name);
        )*

        /// The names of this part of the driver API.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

pub(crate) use {driver_functions, hide};
