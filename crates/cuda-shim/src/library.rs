//! Opens the driver's library, once, and finds functions in it.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use std::sync::OnceLock;

/// An open library; never closed, so that function addresses stay valid.
pub(crate) struct Library {
    handle: NonNull<c_void>,
}

// SAFETY: a library handle may be used from any thread: the loader locks for itself.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a library; the error is the loader's.
    pub(crate) fn open(file: &CStr) -> Result<Self, String> {
        loader::open(file).map(|handle| Self { handle })
    }

    /// The address of a function, if the library has it.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        loader::symbol(self.handle, name)
    }
}

/// The driver's library, or why there is none.
pub(crate) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(open_first).as_ref().map_err(|why| why.as_str())
}

fn open_first() -> Result<Library, String> {
    let mut first = None;
    for file in loader::CANDIDATES {
        match Library::open(file) {
            Ok(library) => return Ok(library),
            // Each candidate fails in its own way; the first is the one people know.
            Err(why) => first = first.or(Some(why)),
        }
    }
    Err(first.unwrap_or_else(|| "there is no CUDA driver for this kind of machine".into()))
}

/// Whether the CUDA driver was found; the error says why not.
///
/// # Errors
/// The loader's message, where the driver's library is missing or cannot be loaded.
pub fn driver() -> Result<(), &'static str> {
    library().map(drop)
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod loader {
    use core::ffi::{CStr, c_char, c_int, c_void};
    use core::ptr::NonNull;

    // SAFETY: as in `dlfcn.h`.
    #[link(name = "dl")]
    unsafe extern "C" {
        fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
        fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
        fn dlerror() -> *mut c_char;
    }

    /// Resolve everything at once, so that a broken library fails here and not in a later call.
    const RTLD_NOW: c_int = 2;

    /// The driver's library by its version name, which needs no development package; then where WSL keeps it.
    pub(super) const CANDIDATES: &[&CStr] = &[c"libcuda.so.1", c"/usr/lib/wsl/lib/libcuda.so.1"];

    pub(super) fn open(file: &CStr) -> Result<NonNull<c_void>, String> {
        // SAFETY: the name ends with a nul; running the library's initialisers is what opening it means.
        let handle = unsafe { dlopen(file.as_ptr(), RTLD_NOW) };
        NonNull::new(handle).ok_or_else(|| {
            // SAFETY: the message, if any, is valid until this thread's next call of the loader.
            unsafe {
                let text = dlerror();
                if text.is_null() {
                    "unknown".into()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            }
        })
    }

    pub(super) fn symbol(handle: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is `open`'s and never closed; the name ends with a nul.
        NonNull::new(unsafe { dlsym(handle.as_ptr(), name.as_ptr()) })
    }
}

#[cfg(all(windows, target_pointer_width = "64"))]
mod loader {
    use core::ffi::{CStr, c_char, c_void};
    use core::ptr::{self, NonNull};

    // SAFETY: as in `libloaderapi.h`.
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn LoadLibraryExA(file: *const c_char, reserved: *mut c_void, flags: u32) -> *mut c_void;
        fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// Where the driver's installer puts it, and nowhere else: not the program's folder, nor the current one.
    const LOAD_LIBRARY_SEARCH_SYSTEM32: u32 = 0x800;

    pub(super) const CANDIDATES: &[&CStr] = &[c"nvcuda.dll"];

    pub(super) fn open(file: &CStr) -> Result<NonNull<c_void>, String> {
        // SAFETY: the name ends with a nul; running the library's initialisers is what opening it means.
        let handle = unsafe { LoadLibraryExA(file.as_ptr(), ptr::null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
        NonNull::new(handle)
            .ok_or_else(|| format!("{}: {}", file.to_string_lossy(), std::io::Error::last_os_error()))
    }

    pub(super) fn symbol(handle: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is `open`'s and never closed; the name ends with a nul.
        NonNull::new(unsafe { GetProcAddress(handle.as_ptr(), name.as_ptr()) })
    }
}

/// Other systems have no driver, and 32-bit ones another form of its functions.
#[cfg(not(all(any(target_os = "linux", windows), target_pointer_width = "64")))]
mod loader {
    use core::ffi::{CStr, c_void};
    use core::ptr::NonNull;

    pub(super) const CANDIDATES: &[&CStr] = &[];

    pub(super) fn open(file: &CStr) -> Result<NonNull<c_void>, String> {
        Err(format!("{}: this kind of machine has no CUDA driver", file.to_string_lossy()))
    }

    pub(super) fn symbol(_: NonNull<c_void>, _: &CStr) -> Option<NonNull<c_void>> {
        None
    }
}
