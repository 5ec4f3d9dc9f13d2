//! A device's primary context: entered before every call, and closed for good by a sticky failure.

use std::sync::{Mutex, OnceLock, PoisonError};

use cust::context::CurrentContext;
use cust::device::Device;

use super::attributes;
use super::call::{Outcome, check};
use super::event::Spares;
use super::module::Modules;
use crate::capability::Capability;
use crate::error::{DriverFailure, Error, Launched, Result};
use crate::limits::Limits;

/// A device and its primary context.
pub(crate) struct Context {
    cust: cust::context::Context,
    pub(super) device: Device,
    pub(super) ordinal: usize,
    pub(super) name: String,
    pub(super) capability: Capability,
    pub(super) driver_version: u32,
    pub(super) limits: Limits,
    pub(super) modules: Modules,
    pub(super) events: Spares,
    last_launch: Mutex<Option<Launched>>,
    failure: OnceLock<Box<DriverFailure>>,
}

impl Context {
    /// Retains the primary context of a device.
    pub(super) fn new(ordinal: usize, driver_version: u32) -> core::result::Result<Self, Box<DriverFailure>> {
        let device = check("cuDeviceGet", Device::get_device(ordinal as u32))?;
        let name = check("cuDeviceGetName", device.name())?;
        let cust = check("cuDevicePrimaryCtxRetain", cust::context::Context::new(device))?;
        // `cust` ignores whether the new context could be made current; this does not.
        check("cuCtxSetCurrent", CurrentContext::set_current(&cust))?;
        Ok(Self {
            cust,
            device,
            ordinal,
            name,
            capability: attributes::capability(device),
            driver_version,
            limits: attributes::limits(device),
            modules: Modules::default(),
            events: Spares::default(),
            last_launch: Mutex::default(),
            failure: OnceLock::new(),
        })
    }

    /// Makes the context current on this thread, as every call of the driver needs it; refuses after a sticky
    /// failure. The thread's context stays set: a program that uses others besides sets its own before its calls.
    pub(super) fn enter(&self) -> Result<()> {
        if let Some(first) = self.failure.get() {
            return Err(Error::Poisoned { first: first.clone() });
        }
        self.check("cuCtxSetCurrent", CurrentContext::set_current(&self.cust))
    }

    /// The same for destructors, which go on after a failure. Whether there is sense in it.
    pub(super) fn enter_to_release(&self) -> bool {
        CurrentContext::set_current(&self.cust).is_ok()
    }

    /// Judges a call: a sticky failure closes the context.
    pub(super) fn check<O: Outcome>(&self, call: &'static str, outcome: O) -> Result<O::Value> {
        check(call, outcome).map_err(|failure| self.fail(failure))
    }

    /// The error for a failure; a sticky one closes the context.
    #[cold]
    pub(super) fn fail(&self, mut failure: Box<DriverFailure>) -> Error {
        if failure.sticky {
            if failure.launch.is_none() {
                failure.launch = self.last_launch().map(Box::new);
            }
            // Of two threads that fail at the same time, the first names the cause.
            let _ = self.failure.set(failure.clone());
        }
        Error::Cuda(failure)
    }

    pub(super) fn last_launch(&self) -> Option<Launched> {
        self.last_launch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_last_launch(&self, launched: Launched) {
        *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner) = Some(launched);
    }

    /// The context as `cust` has it.
    pub(crate) fn cust(&self) -> &cust::context::Context {
        &self.cust
    }
}
