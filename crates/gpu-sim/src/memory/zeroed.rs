//! Zeroed memory from the system, which hands out large pieces untouched, and whose lack is an answer, not an abort.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::device::Plain;

/// An array of `len` elements, zeros at first.
pub(super) struct Zeroed<T: Plain> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: a `Zeroed` owns its memory as a `Vec` does.
unsafe impl<T: Plain + Send> Send for Zeroed<T> {}

impl<T: Plain> Zeroed<T> {
    // Never empty, and of the alignment that `calloc` gives: for a larger one the allocator would write all of the
    // memory to zero it.
    fn layout(len: usize) -> Option<Layout> {
        const { assert!(align_of::<T>() <= 16 && size_of::<T>() > 0) };
        Layout::array::<T>(len.max(1)).ok()
    }

    /// `None` when the system has no memory left.
    pub(super) fn new(len: usize) -> Option<Self> {
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc_zeroed(Self::layout(len)?) })?;
        Some(Self { start: start.cast(), len })
    }
}

impl<T: Plain> Drop for Zeroed<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len).expect("it was allocated with this layout");
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.start.as_ptr().cast(), layout) }
    }
}

impl<T: Plain> Deref for Zeroed<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: it owns `len` elements, zeros or written since.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Zeroed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed mutably through self.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}
