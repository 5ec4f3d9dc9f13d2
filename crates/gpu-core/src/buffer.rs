//! Memory of a device.

use core::fmt;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ops::{Bound, Range, RangeBounds};

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::capture;
use crate::view::{View, ViewMut};

/// `len` elements in the memory of a device.
///
/// Transfers are synchronous and come after all work that was enqueued on the device's streams before. Its memory
/// is freed behind that work too, without a wait for it where the device has memory pools. A buffer of length 0 is a buffer like any other.
pub struct Buffer<T: Element> {
    device: Device,
    /// 0 where there are no bytes.
    address: u64,
    len: usize,
    /// No other buffer has it, and those that were made later have larger ones.
    number: u64,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    pub(crate) fn allocate(device: &Device, len: usize, zeroed: bool) -> Result<Self> {
        let bytes = bytes_of::<T>(device, len)?;
        if bytes > 0 {
            capture::refuse(device, "an allocation")?;
        }
        let address = if bytes == 0 { 0 } else { device.backend.allocate(bytes, zeroed)? };
        Ok(Self {
            device: device.clone(),
            address,
            len,
            number: capture::next_number(),
            element: PhantomData,
        })
    }

    /// A buffer over memory that the device's backend allocated.
    ///
    /// # Safety
    /// `address` came from the backend's `allocate` with the bytes of `len` elements and is owned by nothing else;
    /// 0 where that is no bytes.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only interop takes over memory"))]
    pub(crate) unsafe fn from_parts(device: Device, address: u64, len: usize) -> Self {
        Self { device, address, len, number: capture::next_number(), element: PhantomData }
    }

    /// Gives up the memory without freeing it.
    #[cfg(feature = "cuda")]
    pub(crate) fn forget(mut self) {
        // A buffer without elements frees nothing, and the handle to the device is dropped as usual.
        self.len = 0;
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it lives.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Fills it from `source`, which has the same length.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], and then nothing is written; those of the driver.
    pub fn copy_from(&mut self, source: &[T]) -> Result<()> {
        self.view_mut().copy_from(source)
    }

    /// Copies it to `target`, which has the same length.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], and then `target` is as it was; those of the driver; in the simulator the fault of
    /// reading bytes that were never written.
    pub fn copy_to(&self, target: &mut [T]) -> Result<()> {
        self.view().copy_to(target)
    }

    /// Its content.
    ///
    /// # Errors
    /// As [`Buffer::copy_to`]; [`Error::OutOfMemory`] where the host has too little memory.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.view().to_vec()
    }

    /// All of it, to read.
    pub fn view(&self) -> View<'_, T> {
        // SAFETY: the allocation has `len` elements and lives as long as the borrow.
        unsafe { View::from_parts(&self.device, self.address, self.len) }
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        // SAFETY: as above; the borrow is exclusive.
        unsafe { ViewMut::from_parts(&self.device, self.address, self.len) }
    }

    /// A part of it, to read.
    ///
    /// # Panics
    /// Where the range is not within `0..len`, as slices do; [`Buffer::try_slice`] returns an error.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'_, T> {
        self.view().slice(range)
    }

    /// A part of it, to write.
    ///
    /// # Panics
    /// As [`Buffer::slice`].
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> ViewMut<'_, T> {
        self.view_mut().into_slice(range)
    }

    /// A part of it, to read.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<View<'_, T>> {
        self.view().try_slice(range)
    }

    /// A part of it, to write.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn try_slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ViewMut<'_, T>> {
        self.view_mut().try_into_slice(range)
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            // SAFETY: the backend allocated it with that size, and nothing else frees it. Work that may still use it
            // is waited for.
            unsafe { self.device.backend.release(self.address, self.bytes()) };
        }
    }
}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer<{}>({} on {})", core::any::type_name::<T>(), self.len, self.device)
    }
}

/// The bytes of `len` elements, or that the device cannot have as many.
pub(crate) fn bytes_of<T>(device: &Device, len: usize) -> Result<usize> {
    // No object is larger than isize::MAX bytes, on the host as on the device.
    match len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize) {
        Some(bytes) => Ok(bytes),
        None => {
            let (free, total) = device.memory_info().unwrap_or_default();
            let asked = (len as u64).saturating_mul(size_of::<T>() as u64);
            Err(Error::OutOfMemory { device: device.to_string(), asked, free, total })
        }
    }
}

/// The range as start and end, if it lies within `0..len`.
pub(crate) fn checked_range(range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start <= end && end <= len { Ok(start..end) } else { Err(Error::OutOfRange { start, end, len }) }
}
