//! `rustacuda_core`'s pointers. `rustacuda`'s own streams and contexts keep their handles to themselves.

use rustacuda_core::DevicePointer;

use super::{raw_pointer, view_from_raw, view_mut_from_raw};
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::view::{View, ViewMut};

/// The device address of a view, as `rustacuda_core` has it.
///
/// # Errors
/// As [`raw_pointer`].
pub fn rustacuda_pointer<'a, T: Element>(view: impl Into<View<'a, T>>) -> Result<DevicePointer<T>> {
    let pointer = raw_pointer(view)?;
    // SAFETY: it is a device address, and kept as one.
    Ok(unsafe { DevicePointer::wrap(core::ptr::without_provenance_mut(pointer as usize)) })
}

/// A view of the memory that a pointer points to (that of a `DeviceBuffer`: `buffer.as_device_ptr()`).
///
/// # Safety
/// As [`view_from_raw`].
///
/// # Errors
/// As [`view_from_raw`].
pub unsafe fn view_from_rustacuda<T: Element>(
    device: &Device,
    pointer: DevicePointer<T>,
    len: usize,
) -> Result<View<'_, T>> {
    // SAFETY: the caller's promise.
    unsafe { view_from_raw(device, pointer.as_raw().addr() as u64, len) }
}

/// A view to write of the memory that a pointer points to.
///
/// # Safety
/// As [`view_mut_from_raw`].
///
/// # Errors
/// As [`view_mut_from_raw`].
pub unsafe fn view_mut_from_rustacuda<T: Element>(
    device: &Device,
    pointer: DevicePointer<T>,
    len: usize,
) -> Result<ViewMut<'_, T>> {
    // SAFETY: the caller's promise.
    unsafe { view_mut_from_raw(device, pointer.as_raw().addr() as u64, len) }
}
