//! Which devices there are, and the one context that each has.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cust::CudaFlags;
use cust::device::Device;

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
    let count = match check("cuInit", cust::init(CudaFlags::empty())) {
        Ok(()) => check("cuDeviceGetCount", Device::num_devices())?,
        // A driver without a device: none is there, which is no failure.
        Err(failure) if failure.code == cuda_shim::NO_DEVICE => 0,
        Err(failure) => return Err(failure),
    };
    let mut version = 0_i32;
    // SAFETY: `version` is a valid place.
    check("cuDriverGetVersion", unsafe { cust::sys::cuDriverGetVersion(&mut version) })?;
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
    let context = Arc::new(Context::new(ordinal, driver.version).map_err(Error::Cuda)?);
    *place = Some(Arc::clone(&context));
    Ok(context)
}
