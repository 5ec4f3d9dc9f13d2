//! Host memory that a device transfers from and to directly.

use core::fmt;
use core::mem::size_of;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use crate::buffer::bytes_of;
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::graph::capture;

/// A slice of host memory, page-locked for a device; made by [`Device::pinned`], zeroed at first.
pub struct Pinned<T: Element> {
    device: Device,
    memory: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its memory, and the elements may be sent.
unsafe impl<T: Element> Send for Pinned<T> {}
// SAFETY: shared, it only gives out shared slices.
unsafe impl<T: Element> Sync for Pinned<T> {}

impl<T: Element> Pinned<T> {
    pub(crate) fn allocate(device: &Device, len: usize) -> Result<Self> {
        let bytes = bytes_of::<T>(device, len)?;
        capture::refuse(device, "an allocation of pinned memory")?;
        let memory = match bytes {
            0 => NonNull::dangling(),
            _ => {
                NonNull::new(device.backend.allocate_pinned(bytes)?.cast()).expect("allocations are not null")
            }
        };
        Ok(Self { device: device.clone(), memory, len })
    }

    /// The device it was made for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn as_raw(&self) -> *mut u8 {
        self.memory.as_ptr().cast()
    }
}

impl<T: Element> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: it owns that many initialised elements.
        unsafe { core::slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: it owns that many initialised elements.
        unsafe { core::slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl<T: Element> Drop for Pinned<T> {
    fn drop(&mut self) {
        let bytes = self.len * size_of::<T>();
        if bytes > 0 {
            // SAFETY: the backend allocated it with that size. No transfer uses it: one that does owns it.
            unsafe { self.device.backend.release_pinned(self.as_raw(), bytes) };
        }
    }
}

impl<T: Element> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pinned<{}>({} for {})", core::any::type_name::<T>(), self.len, self.device)
    }
}
