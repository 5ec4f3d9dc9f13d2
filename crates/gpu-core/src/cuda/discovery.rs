//! Which devices there are, and the one context that each has.

use core::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cuda_shim::{CUcontext, CUresult};

use super::call::check;
use super::context::Context;
use crate::error::{Error, Result};

/// A driver that answers.
struct Driver {
    version: u32,
    /// One place per device, filled when it is first asked for.
    contexts: Vec<Mutex<Option<Arc<Context>>>>,
}

/// The driver, initialised on first use; or why there is none, which does not change while the process runs.
fn driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<core::result::Result<Driver, String>> = OnceLock::new();
    let found = DRIVER.get_or_init(|| {
        cuda_shim::driver()?;
        initialise().map_err(|error| error.to_string())
    });
    found.as_ref().map_err(|why| Error::NoDriver { why: why.clone() })
}

fn initialise() -> core::result::Result<Driver, Box<crate::error::DriverFailure>> {
    let mut count = 0;
    match cuda_shim::cuInit(0) {
        // A driver without a device: none is there, which is no failure.
        CUresult::CUDA_ERROR_NO_DEVICE => {}
        outcome => {
            check("cuInit", outcome)?;
            check("cuDeviceGetCount", cuda_shim::cuDeviceGetCount(&mut count))?;
        }
    }
    let mut version = 0;
    check("cuDriverGetVersion", cuda_shim::cuDriverGetVersion(&mut version))?;
    Ok(Driver { version: version.unsigned_abs(), contexts: (0..count).map(|_| Mutex::default()).collect() })
}

/// How many CUDA devices there are.
pub(crate) fn count() -> Result<usize> {
    Ok(driver()?.contexts.len())
}

/// The context of a device.
pub(crate) fn context(ordinal: usize) -> Result<Arc<Context>> {
    let driver = driver()?;
    let count = driver.contexts.len();
    let place = driver.contexts.get(ordinal).ok_or(Error::NoSuchDevice { asked: ordinal, count })?;
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = &*place {
        return Ok(Arc::clone(context));
    }
    // A failure is not kept: memory may be free the next time.
    let context = Context::new(ordinal, driver.version).map_err(Error::Cuda)?;
    *place = Some(Arc::clone(&context));
    Ok(context)
}

/// The number of the device that a context is on. The thread's context stays what it was.
///
/// # Safety
/// The context lives.
pub(crate) unsafe fn ordinal_of(context: CUcontext) -> Result<usize> {
    let count = count()?;
    let mut before = ptr::null_mut();
    check("cuCtxGetCurrent", cuda_shim::cuCtxGetCurrent(&mut before)).map_err(Error::Cuda)?;
    let mut device = 0;
    // SAFETY: the caller's promise; what was current before may be so again.
    let (entered, asked, left) = unsafe {
        (
            cuda_shim::cuCtxSetCurrent(context),
            cuda_shim::cuCtxGetDevice(&mut device),
            cuda_shim::cuCtxSetCurrent(before),
        )
    };
    for (call, outcome) in
        [("cuCtxSetCurrent", entered), ("cuCtxGetDevice", asked), ("cuCtxSetCurrent", left)]
    {
        check(call, outcome).map_err(Error::Cuda)?;
    }
    for ordinal in 0..count {
        let mut other = 0;
        check("cuDeviceGet", cuda_shim::cuDeviceGet(&mut other, ordinal as i32)).map_err(Error::Cuda)?;
        if other == device {
            return Ok(ordinal);
        }
    }
    // A part of a device, which `Device` does not know.
    Err(Error::NoSuchDevice { asked: device.unsigned_abs() as usize, count })
}
