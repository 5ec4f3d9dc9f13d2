//! Borrowed parts of device memory.

use core::fmt;
use core::marker::PhantomData;
use core::mem::size_of;
use core::ops::RangeBounds;

use gpu_std::memory::{Global, GlobalMut};

use crate::buffer::{Buffer, checked_range};
use crate::checks;
use crate::device::{Device, Kind};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::capture;
use crate::launch::Untyped;

/// Some elements in the memory of a device, to read.
///
/// Made from a [`Buffer`] (`buffer.view()`, `buffer.slice(range)`, `(&buffer).into()`) or from a host slice, which is
/// a view on the CPU.
pub struct View<'a, T: Element> {
    device: &'a Device,
    address: u64,
    len: usize,
    memory: PhantomData<&'a [T]>,
}

/// Some elements in the memory of a device, to read and write; exclusive as `&mut` is.
pub struct ViewMut<'a, T: Element> {
    device: &'a Device,
    address: u64,
    len: usize,
    memory: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element> View<'a, T> {
    /// # Safety
    /// `address` has `len` elements of the device's memory that nothing else writes during `'a`; any address will do
    /// where that is no bytes.
    pub(crate) unsafe fn from_parts(device: &'a Device, address: u64, len: usize) -> Self {
        Self { device, address, len, memory: PhantomData }
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
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// What a kernel on this device reads it through. On the CPU no kernel can be launched, and the accessor is of
    /// no use there: see [`View::as_slice`].
    pub fn as_global(&self) -> Global<T> {
        // SAFETY: this is an address and no access: kernels dereference it, and launching one is unsafe.
        unsafe { Global::from_raw(self.address) }
    }

    /// The elements, if they are on the CPU.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.device.kind() != Kind::Cpu {
            return None;
        }
        if self.len == 0 {
            return Some(&[]);
        }
        let first = core::ptr::with_exposed_provenance(self.address as usize);
        // SAFETY: on the CPU the address is that of `len` elements, borrowed for 'a.
        Some(unsafe { core::slice::from_raw_parts(first, self.len) })
    }

    /// The same for a kernel that takes another type of elements, whatever their number and alignment.
    #[must_use]
    pub fn untyped(self) -> Untyped<Self> {
        Untyped(self)
    }

    /// The same bytes as elements of another type.
    ///
    /// ```
    /// let buffer = gpu_core::Device::simulator().upload(&[-1i32, 2])?;
    /// assert_eq!(buffer.view().cast::<u16>().len(), 4);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// Where they are no whole number of such elements, or do not start at a multiple of their alignment.
    #[must_use]
    #[track_caller]
    pub fn cast<U: Element>(self) -> View<'a, U> {
        let len = cast_len::<T, U>(self.address, self.len);
        // SAFETY: the same bytes, any of which are a value of `U`.
        unsafe { View::from_parts(self.device, self.address, len) }
    }

    /// A part of it.
    ///
    /// # Panics
    /// Where the range is not within `0..len`, as slices do; [`View::try_slice`] returns an error.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Self {
        match self.try_slice(range) {
            Ok(view) => view,
            Err(error) => panic!("{error}"),
        }
    }

    /// A part of it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = checked_range(range, self.len)?;
        let address = self.address + (range.start * size_of::<T>()) as u64;
        // SAFETY: the range lies within this view.
        Ok(unsafe { Self::from_parts(self.device, address, range.len()) })
    }

    /// Whether it has memory in common with `other`. Borrows rule that out for what is written, but for memory that
    /// was taken over from elsewhere.
    ///
    /// ```
    /// let buffer = gpu_core::Device::simulator().upload(&[1u32, 2, 3])?;
    /// assert!(buffer.slice(..2).overlaps(&buffer.slice(1..)));
    /// assert!(!buffer.slice(..2).overlaps(&buffer.slice(2..)));
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn overlaps<U: Element>(&self, other: &View<'_, U>) -> bool {
        let end = |start: u64, bytes: usize| start + bytes as u64;
        !self.is_empty()
            && !other.is_empty()
            && self.device == other.device
            && self.address < end(other.address, other.len * size_of::<U>())
            && other.address < end(self.address, self.len * size_of::<T>())
    }

    /// Its content, of so many elements; ordered after all work enqueued before.
    ///
    /// ```
    /// let buffer = gpu_core::Device::simulator().upload(&[1u8, 2, 3, 4])?;
    /// let [first, second] = buffer.slice(..2).to_array()?;
    /// assert_eq!((first, second), (1, 2));
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`View::copy_to`].
    pub fn to_array<const N: usize>(&self) -> Result<[T; N]> {
        let mut content = [T::zeroed(); N];
        self.copy_to(&mut content)?;
        Ok(content)
    }

    /// Its content; ordered after all work enqueued before.
    ///
    /// ```
    /// let buffer = gpu_core::Device::simulator().upload(&[1u8, 2, 3, 4])?;
    /// assert_eq!(buffer.slice(1..3).to_vec()?, [2, 3]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`View::copy_to`]; [`Error::OutOfMemory`] where the host has too little memory.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut content: Vec<T> = Vec::new();
        let bytes = self.len * size_of::<T>();
        if content.try_reserve_exact(self.len).is_err() {
            let (free, total) = crate::cpu::memory_info();
            let device = Device::cpu_ref().to_string();
            return Err(Error::OutOfMemory { device, asked: bytes as u64, free, total });
        }
        if self.len > 0 {
            capture::refuse(self.device, "a copy to the host")?;
            // SAFETY: the reserved memory and the view both have that many bytes.
            unsafe { self.device.backend.read(self.address, content.as_mut_ptr().cast(), bytes)? };
            // SAFETY: the read has written every byte, and any bytes are elements.
            unsafe { content.set_len(self.len) };
        }
        Ok(content)
    }

    /// Copies it to `target`, which has the same length; ordered after all work enqueued before.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch), and then `target` is as it was; those of the driver; in
    /// the simulator the fault of reading bytes that were never written.
    pub fn copy_to(&self, target: &mut [T]) -> Result<()> {
        checks::length("target of a copy from the device", self.len, target.len())?;
        if target.is_empty() {
            return Ok(());
        }
        capture::refuse(self.device, "a copy to the host")?;
        // SAFETY: the view has as many bytes as the target, whose elements may be any bytes.
        unsafe { self.device.backend.read(self.address, target.as_mut_ptr().cast(), size_of_val(target)) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// # Safety
    /// `address` has `len` elements of the device's memory that nothing else reads or writes during `'a`; any
    /// address will do where that is no bytes.
    pub(crate) unsafe fn from_parts(device: &'a Device, address: u64, len: usize) -> Self {
        Self { device, address, len, memory: PhantomData }
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
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// What a kernel on this device writes it through; see [`View::as_global`].
    pub fn as_global_mut(&mut self) -> GlobalMut<T> {
        // SAFETY: this is an address and no access: kernels dereference it, and launching one is unsafe.
        unsafe { GlobalMut::from_raw(self.address) }
    }

    /// The elements, if they are on the CPU.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        if self.device.kind() != Kind::Cpu {
            return None;
        }
        if self.len == 0 {
            return Some(&mut []);
        }
        let first = core::ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: on the CPU the address is that of `len` elements, borrowed exclusively for longer than this.
        Some(unsafe { core::slice::from_raw_parts_mut(first, self.len) })
    }

    /// The same elements, to read.
    pub fn view(&self) -> View<'_, T> {
        // SAFETY: the same elements for a shorter time, and not written while they are borrowed.
        unsafe { View::from_parts(self.device, self.address, self.len) }
    }

    /// Refuses this as an output where it has memory in common with `other`: see [`View::overlaps`].
    ///
    /// # Errors
    /// [`Error::Aliasing`], which calls the other `with`.
    ///
    /// ```
    /// let device = gpu_core::Device::simulator();
    /// let (x, mut y) = (device.upload(&[1u32, 2, 3])?, device.alloc::<u32>(3)?);
    /// y.view_mut().expect_apart("x", &x.view())?;
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    pub fn expect_apart<U: Element>(&self, with: &'static str, other: &View<'_, U>) -> Result<()> {
        if self.view().overlaps(other) { Err(Error::Aliasing { with }) } else { Ok(()) }
    }

    /// The same elements for a shorter time, so that this view can be used again afterwards.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        // SAFETY: the same elements for a shorter time, borrowed exclusively.
        unsafe { ViewMut::from_parts(self.device, self.address, self.len) }
    }

    /// The same for a kernel that takes another type of elements, whatever their number and alignment.
    #[must_use]
    pub fn untyped(self) -> Untyped<Self> {
        Untyped(self)
    }

    /// The same bytes as elements of another type.
    ///
    /// ```
    /// let mut buffer = gpu_core::Device::simulator().upload(&[-1i32, 2])?;
    /// assert_eq!(buffer.view_mut().cast::<u64>().len(), 1);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// Where they are no whole number of such elements, or do not start at a multiple of their alignment.
    #[must_use]
    #[track_caller]
    pub fn cast<U: Element>(self) -> ViewMut<'a, U> {
        let len = cast_len::<T, U>(self.address, self.len);
        // SAFETY: the same bytes, any of which are a value of both types; this view is given up.
        unsafe { ViewMut::from_parts(self.device, self.address, len) }
    }

    /// A part of it.
    ///
    /// # Panics
    /// Where the range is not within `0..len`, as slices do.
    #[track_caller]
    pub fn into_slice(self, range: impl RangeBounds<usize>) -> Self {
        match self.try_into_slice(range) {
            Ok(view) => view,
            Err(error) => panic!("{error}"),
        }
    }

    /// A part of it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange).
    pub fn try_into_slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = checked_range(range, self.len)?;
        let address = self.address + (range.start * size_of::<T>()) as u64;
        // SAFETY: the range lies within this view, which is given up.
        Ok(unsafe { Self::from_parts(self.device, address, range.len()) })
    }

    /// The elements before `middle` and those from there on, to be written independently.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) where `middle` exceeds the length.
    pub fn try_split_at(self, middle: usize) -> Result<(Self, Self)> {
        checked_range(middle.., self.len)?;
        let second = self.address + (middle * size_of::<T>()) as u64;
        // SAFETY: two parts that do not overlap of a view that is given up.
        Ok(unsafe {
            (
                Self::from_parts(self.device, self.address, middle),
                Self::from_parts(self.device, second, self.len - middle),
            )
        })
    }

    /// Copies `source`, which has the same length, to it; ordered after all work enqueued before.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch), and then nothing is written; those of the driver.
    pub fn copy_from(&mut self, source: &[T]) -> Result<()> {
        checks::length("source of a copy to the device", self.len, source.len())?;
        if source.is_empty() {
            return Ok(());
        }
        capture::refuse(self.device, "a copy from the host")?;
        // SAFETY: the view has as many bytes as the source, and is exclusive.
        unsafe { self.device.backend.write(self.address, bytemuck::cast_slice(source)) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

/// How many elements of type `U` as many of type `T` at `address` are.
#[track_caller]
fn cast_len<T: Element, U: Element>(address: u64, len: usize) -> usize {
    let (bytes, of_one) = (len * size_of::<T>(), size_of::<U>());
    assert!(bytes.is_multiple_of(of_one), "{bytes} bytes are no whole number of elements of {of_one}");
    let alignment = align_of::<U>();
    assert!(
        len == 0 || address.is_multiple_of(alignment as u64),
        "{address:#x} is not aligned to {alignment}"
    );
    bytes / of_one
}

impl<T: Element> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for View<'_, T> {}

impl<'a, T: Element> From<&'a Buffer<T>> for View<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> Self {
        buffer.view()
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for ViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        buffer.view_mut()
    }
}

impl<'a, T: Element> From<&'a [T]> for View<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        let address = slice.as_ptr().expose_provenance() as u64;
        // SAFETY: the slice has as many elements in host memory, borrowed for 'a.
        unsafe { Self::from_parts(Device::cpu_ref(), address, slice.len()) }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ViewMut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        let address = slice.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the slice has as many elements in host memory, borrowed exclusively for 'a.
        unsafe { Self::from_parts(Device::cpu_ref(), address, slice.len()) }
    }
}

/// What derefs to a slice becomes a view as that does.
macro_rules! slices {
    ($($(const $n:ident)? $source:ty),*) => { $(
        impl<'a, T: Element $(, const $n: usize)?> From<&'a $source> for View<'a, T> {
            fn from(source: &'a $source) -> Self {
                source.as_slice().into()
            }
        }

        impl<'a, T: Element $(, const $n: usize)?> From<&'a mut $source> for ViewMut<'a, T> {
            fn from(source: &'a mut $source) -> Self {
                source.as_mut_slice().into()
            }
        }
    )* };
}
slices!(Vec<T>, const N [T; N]);

impl<'a, T: Element> From<ViewMut<'a, T>> for View<'a, T> {
    fn from(view: ViewMut<'a, T>) -> Self {
        // SAFETY: the same elements; the exclusive view is given up.
        unsafe { Self::from_parts(view.device, view.address, view.len) }
    }
}

impl<T: Element> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View<{}>({} on {})", core::any::type_name::<T>(), self.len, self.device)
    }
}

impl<T: Element> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ViewMut<{}>({} on {})", core::any::type_name::<T>(), self.len, self.device)
    }
}
