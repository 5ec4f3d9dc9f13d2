//! Modules, their kernels, and what a kernel uses.

use core::ffi::{c_char, c_int, c_uint, c_void};

use crate::resolve::driver_functions;
use crate::types::{CUfunction, CUfunction_attribute, CUjit_option, CUmodule};

driver_functions! {
    safe {}
    // SAFETY: images are whole and end with a nul, as names do; there are `count` options and values; modules and
    // functions are alive.
    unsafe {
        cuModuleLoadDataEx(
            module: &mut CUmodule,
            image: *const c_void,
            count: c_uint,
            options: *mut CUjit_option,
            values: *mut *mut c_void,
        );
        cuModuleUnload(module: CUmodule);
        cuModuleGetFunction(function: &mut CUfunction, module: CUmodule, name: *const c_char);
        cuFuncGetAttribute(value: &mut c_int, attribute: CUfunction_attribute, function: CUfunction);
        cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
        cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: &mut c_int,
            function: CUfunction,
            threads: c_int,
            shared_bytes: usize,
        );
    }
}
