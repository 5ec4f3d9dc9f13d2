//! Opens the driver's library, once, and finds functions in it.

use core::ffi::{CStr, c_void};
use std::sync::OnceLock;

/// An open library; never closed, so that function addresses stay valid.
pub(crate) struct Library {
    handle: *mut c_void,
}

// SAFETY: a library handle may be used from any thread: the loader locks for itself.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// The address of a function, if the library has it.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle came from the loader and is never closed; the name ends with a nul.
        let address = unsafe { loader::symbol(self.handle, name) };
        (!address.is_null()).then_some(address)
    }
}

/// The driver's library, or why there is none.
pub(crate) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| loader::open().map(|handle| Library { handle }))
        .as_ref()
        .map_err(|why| why.as_str())
}

/// Whether the CUDA driver was found; the error says why not.
///
/// # Errors
/// The loader's message, where the driver's library is missing or cannot be loaded.
pub fn driver() -> Result<(), &'static str> {
    library().map(drop)
}

#[cfg(target_os = "linux")]
mod loader {
    use core::ffi::{CStr, c_char, c_int, c_void};

    #[link(name = "dl")]
    unsafe extern "C" {
        fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
        fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
        fn dlerror() -> *mut c_char;
    }

    /// Resolve everything at once, so that a broken library fails here and not in a later call.
    const RTLD_NOW: c_int = 2;

    /// The driver's library by its version name, which needs no development package; then where WSL keeps it.
    const CANDIDATES: [&CStr; 2] = [c"libcuda.so.1", c"/usr/lib/wsl/lib/libcuda.so.1"];

    pub(super) fn open() -> Result<*mut c_void, String> {
        let mut why = String::new();
        for file in CANDIDATES {
            // SAFETY: the name ends with a nul; running the driver's initialisers is what opening it means.
            let handle = unsafe { dlopen(file.as_ptr(), RTLD_NOW) };
            if !handle.is_null() {
                return Ok(handle);
            }
            // SAFETY: the message, if any, is valid until this thread's next call of the loader.
            let message = unsafe {
                let text = dlerror();
                if text.is_null() { "unknown".into() } else { CStr::from_ptr(text).to_string_lossy() }
            };
            // Each candidate fails in its own way; the first is the one people know.
            if why.is_empty() {
                why = message.into_owned();
            }
        }
        Err(why)
    }

    /// # Safety
    /// `handle` is an open library.
    pub(super) unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the caller's promise; the name ends with a nul.
        unsafe { dlsym(handle, name.as_ptr()) }
    }
}

#[cfg(windows)]
mod loader {
    use core::ffi::{CStr, c_char, c_void};

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn LoadLibraryA(file: *const c_char) -> *mut c_void;
        fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    pub(super) fn open() -> Result<*mut c_void, String> {
        // SAFETY: the name ends with a nul; running the driver's initialisers is what opening it means.
        let handle = unsafe { LoadLibraryA(c"nvcuda.dll".as_ptr()) };
        if handle.is_null() { Err("nvcuda.dll cannot be loaded".into()) } else { Ok(handle) }
    }

    /// # Safety
    /// `handle` is an open library.
    pub(super) unsafe fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: the caller's promise; the name ends with a nul.
        unsafe { GetProcAddress(handle, name.as_ptr()) }
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
mod loader {
    use core::ffi::{CStr, c_void};

    pub(super) fn open() -> Result<*mut c_void, String> {
        Err("there is no CUDA driver for this operating system".into())
    }

    /// # Safety
    /// None: it has nothing to look in.
    pub(super) unsafe fn symbol(_: *mut c_void, _: &CStr) -> *mut c_void {
        core::ptr::null_mut()
    }
}
