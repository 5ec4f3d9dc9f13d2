//! How one driver function finds itself: looked up on its first call, an atomic load on every later one.

use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::library::{Library, library};
use crate::result::CUresult;

/// A function of the driver: its name, and its address once it is known.
pub struct Function {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Function {
    /// The function that the driver exports under this name.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The function's address.
    ///
    /// # Errors
    /// What a call of it returns where there is no driver, or one that does not have it.
    #[inline]
    pub fn find(&self) -> Result<NonNull<c_void>, CUresult> {
        // Relaxed is enough: the address is all there is to see, and the library was loaded by the kernel.
        match NonNull::new(self.address.load(Ordering::Relaxed)) {
            Some(address) => Ok(address),
            None => self.look_up(library()),
        }
    }

    #[cold]
    fn look_up(&self, library: Result<&Library, &str>) -> Result<NonNull<c_void>, CUresult> {
        let library = library.map_err(|_| CUresult::CUDA_ERROR_NO_DEVICE)?;
        let address = library.symbol(self.name).ok_or(CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER)?;
        self.address.store(address.as_ptr(), Ordering::Relaxed);
        Ok(address)
    }
}

/// Declares functions of the driver: first the safe ones, whose arguments the driver checks by itself; then those that
/// are not, with what their callers promise.
macro_rules! driver_functions {
    (
        safe { $($safe:ident($($safe_argument:ident: $safe_kind:ty),* $(,)?);)* }
        unsafe { $($name:ident($($argument:ident: $kind:ty),* $(,)?);)* }
    ) => {
        $(
            #[doc = concat!("`", stringify!($safe), "`, as in NVIDIA's documentation.")]
            #[inline]
            pub fn $safe($($safe_argument: $safe_kind),*) -> $crate::CUresult {
                // SAFETY: the driver exports under this name a function with these arguments, and checks their values.
                unsafe { $crate::resolve::call!($safe($($safe_argument: $safe_kind),*)) }
            }
        )*
        $(
            #[doc = concat!("`", stringify!($name), "`, as in NVIDIA's documentation.\n\n# Safety\nAs there: handles are \
                of live objects, and addresses have the memory that the call reads, writes or frees.")]
            #[inline]
            pub unsafe fn $name($($argument: $kind),*) -> $crate::CUresult {
                // SAFETY: the driver exports under this name a function with these arguments; the caller's promise
                // for their values.
                unsafe { $crate::resolve::call!($name($($argument: $kind),*)) }
            }
        )*

        /// The names of this group.
        pub(crate) const NAMES: &[&core::ffi::CStr] =
            &[$($crate::resolve::c_name!($safe),)* $($crate::resolve::c_name!($name)),*];
    };
}

/// Calls the function of that name and signature, if the driver has it.
macro_rules! call {
    ($name:ident($($argument:ident: $kind:ty),*)) => {{
        static FUNCTION: $crate::Function = $crate::Function::new($crate::resolve::c_name!($name));
        match FUNCTION.find() {
            Ok(address) => {
                type Signature = unsafe extern "system" fn($($kind),*) -> $crate::CUresult;
                core::mem::transmute::<*mut core::ffi::c_void, Signature>(address.as_ptr())($($argument),*)
            }
            Err(code) => code,
        }
    }};
}

/// A name as the loader takes it.
macro_rules! c_name {
    ($name:ident) => {
        match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        }
    };
}

pub(crate) use {c_name, call, driver_functions};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_library_there_is_no_device() {
        let function = Function::new(c"cuInit");
        assert_eq!(function.look_up(Err("none")), Err(CUresult::CUDA_ERROR_NO_DEVICE));
    }

    /// The C library stands for a driver that lacks what is asked for.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn what_a_library_lacks_needs_a_newer_one() {
        let library = Library::open(c"libc.so.6").expect("every program has it");
        let missing = Function::new(c"cuFromTheFuture");
        for _ in 0..2 {
            let answer = missing.look_up(Ok(&library));
            assert_eq!(answer, Err(CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER));
        }
        let present = Function::new(c"strlen");
        let address = present.look_up(Ok(&library)).expect("the C library has it");
        assert_eq!(present.find(), Ok(address), "known from now on");
    }

    #[test]
    fn a_file_that_is_not_there_says_so() {
        let why = Library::open(c"libcuda-of-nobody.so.77").err().expect("there is no such library");
        assert!(!why.is_empty());
    }
}
