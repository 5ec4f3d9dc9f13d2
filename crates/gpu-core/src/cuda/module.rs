//! Kernels, each loaded when it is first used and kept as long as the context.

use core::ffi::{c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cuda_shim::{self as sys, CUfunction, CUfunction_attribute, CUjit_option, CUmodule};
use gpu_std::launch::{Image, Invocation, KernelMeta, LaunchConfig};

use super::call::failure;
use super::context::Context;
use crate::error::{Error, Result};
use crate::occupancy::KernelResources;
use crate::ptx::{choose, driver_for_isa, expect_kernel, target};

/// The shared memory that a block may have without opting in, in bytes, on every device.
const WITHOUT_OPT_IN: u32 = 48 * 1024;

/// What has been loaded into a context. Kernels are known by the address of their static, which is never reused.
#[derive(Default)]
pub(super) struct Modules {
    kernels: RwLock<HashMap<usize, Arc<Function>>>,
    /// One lock per kernel: two kernels compile beside each other, one kernel compiles once.
    loading: Mutex<HashMap<usize, Arc<Mutex<()>>>>,
}

/// A kernel in the driver.
pub(super) struct Function {
    raw: CUfunction,
    resources: KernelResources,
    /// The capability of the image that it is from, times ten.
    arch: u32,
    /// The dynamic shared memory it has been opted into, in bytes.
    opted_in: AtomicU32,
    opting_in: Mutex<()>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Modules {
    /// The kernel, loaded and compiled if it is asked for the first time. The context is current.
    pub(super) fn function(&self, context: &Context, kernel: &'static KernelMeta) -> Result<Arc<Function>> {
        let key = ptr::from_ref(kernel).addr();
        let known = || self.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        if let Some(function) = known() {
            return Ok(function);
        }
        let place = {
            let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(loading.entry(key).or_default())
        };
        let _guard = place.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if let Some(function) = known() {
            return Ok(function);
        }
        let image = choose(kernel, context.capability, context.driver_version)?;
        let text = expect_kernel(kernel, image)?;
        let module = load(context, kernel, image, &text)?;
        let function = Arc::new(Function::find(context, module, kernel, image.arch)?);
        self.kernels.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&function));
        Ok(function)
    }
}

/// Hands PTX to the driver, which compiles it.
fn load(context: &Context, kernel: &KernelMeta, image: &Image, text: &str) -> Result<CUmodule> {
    let Ok(text) = CString::new(text) else {
        let mut failure = failure("cuModuleLoadDataEx", sys::CUresult::CUDA_ERROR_INVALID_PTX.0);
        failure.log = Some(format!("the PTX of kernel `{}` contains a zero byte", kernel.name));
        return Err(Error::Cuda(failure));
    };
    let mut log = vec![0_u8; 8192];
    // Numbers are passed in the place of the pointer.
    let number = |value: usize| ptr::without_provenance_mut::<c_void>(value);
    let opt_level = image.opt_level();
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
    ];
    let mut values =
        [log.as_mut_ptr().cast::<c_void>(), number(log.len()), number(opt_level.unwrap_or(0) as usize)];
    // The last one only where the image asks for a level.
    let count = if opt_level.is_some() { options.len() } else { options.len() - 1 };
    let mut raw = ptr::null_mut();
    // SAFETY: the text ends with a nul, there are `count` options and values, and the log has the size it says.
    let outcome = unsafe {
        sys::cuModuleLoadDataEx(
            &mut raw,
            text.as_ptr().cast(),
            count as c_uint,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let Err(code) = outcome.code() else { return Ok(raw) };
    // The version table may be wrong about a driver; the driver is not.
    if code == sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION.0 {
        let isa = image.isa().unwrap_or(0);
        return Err(Error::DriverTooOld {
            kernel: kernel.name.into(),
            needs_isa: isa,
            needs_driver: driver_for_isa(isa),
            driver: context.driver_version,
        });
    }
    let mut failure = failure("cuModuleLoadDataEx", code);
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let what = format!("kernel `{}`, image for {}", kernel.name, target(image));
    let written = String::from_utf8_lossy(&log[..end]);
    failure.log = Some(format!("{what}\n{written}").trim_end().to_owned());
    Err(context.fail(failure))
}

impl Context {
    /// The kernel of a launch that is within the limits, loaded.
    pub(super) fn prepared(&self, invocation: &Invocation<'_>) -> Result<Arc<Function>> {
        let Invocation { kernel, config, .. } = *invocation;
        // What needs no driver is checked before the module is loaded.
        self.limits.check(kernel, &config, 0)?;
        self.enter()?;
        let function = self.modules.function(self, kernel)?;
        function.prepare(self, kernel, &config)?;
        Ok(function)
    }

    /// What a kernel uses, as compiled by this driver.
    pub(crate) fn kernel_resources(&self, kernel: &'static KernelMeta) -> Result<KernelResources> {
        self.enter()?;
        Ok(self.modules.function(self, kernel)?.resources)
    }
}

impl Function {
    fn find(context: &Context, module: CUmodule, kernel: &KernelMeta, arch: u32) -> Result<Self> {
        let mut raw = ptr::null_mut();
        let outcome = match CString::new(kernel.name) {
            // SAFETY: the module is loaded, the name ends with a nul, `raw` is a valid place.
            Ok(name) => unsafe { sys::cuModuleGetFunction(&mut raw, module, name.as_ptr()) }.code(),
            Err(_) => Err(sys::CUresult::CUDA_ERROR_NOT_FOUND.0),
        };
        if let Err(code) = outcome {
            let mut failure = failure("cuModuleGetFunction", code);
            failure.log = Some(format!("kernel `{}`", kernel.name));
            return Err(context.fail(failure));
        }
        let attribute = |attribute| {
            let mut value = 0_i32;
            // SAFETY: the function is loaded, `value` is a valid place.
            let outcome = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, raw) };
            context.check("cuFuncGetAttribute", outcome).map(|()| value.max(0) as u32)
        };
        let resources = KernelResources {
            registers: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            static_shared: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            constant: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            local: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            max_threads: attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        Ok(Self { raw, resources, arch, opted_in: AtomicU32::new(0), opting_in: Mutex::new(()) })
    }

    pub(super) fn raw(&self) -> CUfunction {
        self.raw
    }

    /// Whether it waits for the kernels before it by itself: images before 9.0 lack the instruction, so code from them
    /// must not be launched as if it did.
    pub(super) fn is_programmatic(&self, kernel: &KernelMeta) -> bool {
        kernel.programmatic && self.arch >= 90
    }

    /// Checks what only the compiled kernel knows, and opts into shared memory beyond 48 KiB.
    pub(super) fn prepare(
        &self,
        context: &Context,
        kernel: &KernelMeta,
        config: &LaunchConfig,
    ) -> Result<()> {
        context.limits.check(kernel, config, self.resources.static_shared)?;
        // The product fits: the limits have been checked.
        let threads: u32 = config.block.iter().product();
        if threads > self.resources.max_threads {
            return Err(Error::LaunchLimit {
                kernel: kernel.name.into(),
                what: "threads in a block (limit of the compiled kernel)",
                asked: threads.into(),
                limit: self.resources.max_threads.into(),
            });
        }
        if config.shared_bytes + self.resources.static_shared <= WITHOUT_OPT_IN {
            return Ok(());
        }
        self.opt_in(context, config.shared_bytes)
    }

    /// Raises what the kernel may have; never lowers it, since another thread may be about to use it.
    fn opt_in(&self, context: &Context, bytes: u32) -> Result<()> {
        if self.opted_in.load(Ordering::Acquire) >= bytes {
            return Ok(());
        }
        let _guard = self.opting_in.lock().unwrap_or_else(PoisonError::into_inner);
        if self.opted_in.load(Ordering::Acquire) >= bytes {
            return Ok(());
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is loaded. The limits have been checked, so the number fits.
        let outcome = unsafe { sys::cuFuncSetAttribute(self.raw, attribute, bytes as i32) };
        context.check("cuFuncSetAttribute", outcome)?;
        self.opted_in.store(bytes, Ordering::Release);
        Ok(())
    }
}
