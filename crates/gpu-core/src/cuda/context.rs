//! A device's primary context: entered before every call, and closed for good by a sticky failure.

use core::ffi::CStr;
use core::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cuda_shim::{CUcontext, CUdevice, CUresult};

use super::attributes;
use super::call::check;
use super::event::Spares;
use super::graph;
use super::module::Modules;
use super::peer::Peers;
use super::pool::Pool;
use super::retired::Retired;
use super::slots::Slots;
use super::stream::{Line, Queue};
use crate::capability::Capability;
use crate::error::{DriverFailure, Error, Launched, Result};
use crate::limits::Limits;
use crate::order::Order;
use crate::scratch::Scratch;
use crate::texture;

/// A device and its primary context.
pub(crate) struct Context {
    primary: Primary,
    pub(super) device: CUdevice,
    pub(super) ordinal: usize,
    pub(super) name: String,
    pub(super) capability: Capability,
    pub(super) driver_version: u32,
    pub(super) limits: Limits,
    pub(super) modules: Modules,
    pub(super) events: Spares,
    /// Graphs, each with the end of its last launch.
    pub(super) given_up: Retired<graph::Raw>,
    /// Textures, each with the ends of all streams' work.
    pub(super) dropped: Retired<texture::Raw>,
    pub(super) order: Order<Arc<Self>>,
    /// The device's default pool, where there are pools.
    pub(super) pool: Option<Pool>,
    pub(super) multiprocessors: u32,
    pub(super) slots: Slots,
    pub(super) peers: Peers,
    #[cfg(feature = "async")]
    pub(super) waits: super::waits::Waits,
    /// Both have a handle to this, which stays until the process ends anyway.
    pub(super) kept: Mutex<Option<Scratch>>,
    pub(super) default_queue: OnceLock<Arc<Queue>>,
    itself: Weak<Self>,
    last_launch: Mutex<Option<Launched>>,
    failure: OnceLock<Box<DriverFailure>>,
}

impl Context {
    /// Retains the primary context of a device.
    pub(super) fn new(
        ordinal: usize,
        driver_version: u32,
    ) -> core::result::Result<Arc<Self>, Box<DriverFailure>> {
        let mut device = 0;
        // An ordinal that does not fit is none that exists.
        let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
        check("cuDeviceGet", cuda_shim::cuDeviceGet(&mut device, number))?;
        let name = name(device)?;
        let primary = Primary::retain(device)?;
        check("cuCtxSetCurrent", primary.make_current())?;
        Ok(Arc::new_cyclic(|itself| Self {
            primary,
            device,
            ordinal,
            name,
            capability: attributes::capability(device),
            driver_version,
            limits: attributes::limits(device),
            modules: Modules::default(),
            pool: Pool::of(device),
            multiprocessors: attributes::multiprocessors(device),
            slots: Slots::default(),
            peers: Peers::default(),
            #[cfg(feature = "async")]
            waits: super::waits::Waits::default(),
            kept: Mutex::default(),
            default_queue: OnceLock::new(),
            events: Spares::default(),
            given_up: Retired::default(),
            dropped: Retired::default(),
            order: Order::new(Line::own(ptr::null_mut())),
            last_launch: Mutex::default(),
            failure: OnceLock::new(),
            itself: Weak::clone(itself),
        }))
    }

    /// Another handle to it.
    pub(super) fn itself(&self) -> Arc<Self> {
        self.itself.upgrade().expect("it is only ever made within an `Arc`")
    }

    /// Makes the context current on this thread, as every call of the driver needs it; refuses after a sticky
    /// failure. The thread's context stays set: a program that uses others besides sets its own before its calls.
    pub(super) fn enter(&self) -> Result<()> {
        if let Some(first) = self.failure.get() {
            return Err(Error::Poisoned { first: first.clone() });
        }
        self.check("cuCtxSetCurrent", self.primary.make_current())
    }

    /// The same for destructors, which go on after a failure. Whether there is sense in it.
    pub(super) fn enter_to_release(&self) -> bool {
        self.primary.make_current().code().is_ok()
    }

    /// Judges a call: a sticky failure closes the context.
    pub(super) fn check(&self, call: &'static str, outcome: CUresult) -> Result<()> {
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
            #[cfg(feature = "async")]
            self.waits.give_up();
        }
        Error::Cuda(failure)
    }

    pub(super) fn last_launch(&self) -> Option<Launched> {
        self.last_launch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_last_launch(&self, launched: Launched) {
        *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner) = Some(launched);
    }

    /// The device's number.
    #[cfg(feature = "cust")]
    pub(crate) fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> CUcontext {
        self.primary.raw
    }
}

/// A primary context, retained.
struct Primary {
    raw: CUcontext,
    device: CUdevice,
}

// SAFETY: the driver's contexts may be used from any thread.
unsafe impl Send for Primary {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Primary {}

impl Primary {
    fn retain(device: CUdevice) -> core::result::Result<Self, Box<DriverFailure>> {
        let mut raw = ptr::null_mut();
        check("cuDevicePrimaryCtxRetain", cuda_shim::cuDevicePrimaryCtxRetain(&mut raw, device))?;
        Ok(Self { raw, device })
    }

    /// Asking takes the driver less than setting, and nobody has to know who else sets the thread's context.
    fn make_current(&self) -> CUresult {
        let mut current = ptr::null_mut();
        if cuda_shim::cuCtxGetCurrent(&mut current) == CUresult::CUDA_SUCCESS && current == self.raw {
            return CUresult::CUDA_SUCCESS;
        }
        // SAFETY: the context is retained.
        unsafe { cuda_shim::cuCtxSetCurrent(self.raw) }
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and its handle is not used any more. A failure leaves it retained, which does
        // no harm.
        let _ = unsafe { cuda_shim::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The device's name.
fn name(device: CUdevice) -> core::result::Result<String, Box<DriverFailure>> {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer has the size it says; what the driver cuts off there ends with a nul.
    let outcome = unsafe { cuda_shim::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32, device) };
    check("cuDeviceGetName", outcome)?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}
