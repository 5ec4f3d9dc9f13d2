//! Simulated memory: bytes, which of them were written, and who touched them last.

pub(crate) mod alloc;
pub(crate) mod history;
pub(crate) mod runs;
pub(crate) mod shadow;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use shadow::Shadow;

/// Zeroed bytes from the system, which hands out large ones untouched, and whose lack is an answer, not an abort.
struct Bytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a `Bytes` owns its memory as a `Vec<u8>` does.
unsafe impl Send for Bytes {}

impl Bytes {
    /// Room past the end, so that a copy of a whole machine word never leaves the allocation.
    const PAD: usize = 16;

    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.checked_add(Self::PAD)?, 64).ok()
    }

    fn zeroed(len: usize) -> Option<Self> {
        let layout = Self::layout(len)?;
        // SAFETY: the layout is at least PAD bytes long.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, len })
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let layout = Self::layout(self.len).expect("it was allocated with this layout");
        // SAFETY: allocated in `zeroed` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), layout) }
    }
}

/// One allocation of global memory, or the shared memory of one block.
pub(crate) struct Region {
    data: Bytes,
    /// One bit per byte; empty when all bytes are written.
    written: Vec<u64>,
    pub(crate) shadow: Shadow,
}

impl Region {
    /// `len` never-written bytes, or `None` when the system has none left.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let mut written = Vec::new();
        written.try_reserve_exact(len.div_ceil(64)).ok()?;
        written.resize(len.div_ceil(64), 0);
        Some(Self { data: Bytes::zeroed(len)?, written, shadow: Shadow::default() })
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.data.len
    }

    /// Forgets which bytes were written (shared memory of a new block).
    pub(crate) fn unwrite(&mut self) {
        self.written.clear();
        self.written.resize(self.len().div_ceil(64), 0);
    }

    /// Whether `size` bytes at `offset` are written; `size` is a power of two up to 16 and divides `offset`.
    #[inline]
    pub(crate) fn is_written(&self, offset: usize, size: usize) -> bool {
        match self.written.get(offset / 64) {
            None => true,
            Some(word) => {
                let mask = ((1u64 << size) - 1) << (offset % 64);
                word & mask == mask
            }
        }
    }

    /// Marks bytes as written, under the same conditions.
    #[inline]
    pub(crate) fn mark_written(&mut self, offset: usize, size: usize) {
        if let Some(word) = self.written.get_mut(offset / 64) {
            *word |= ((1u64 << size) - 1) << (offset % 64);
        }
    }

    /// Whether a whole range is written; returns the first byte that is not.
    pub(crate) fn first_unwritten(&self, offset: usize, len: usize) -> Option<usize> {
        if self.written.is_empty() {
            return None;
        }
        let mut at = offset;
        while at < offset + len {
            let word = self.written[at / 64];
            if at.is_multiple_of(64) && at + 64 <= offset + len && word == u64::MAX {
                at += 64;
                continue;
            }
            if word >> (at % 64) & 1 == 0 {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Marks a whole range as written.
    pub(crate) fn mark_range(&mut self, offset: usize, len: usize) {
        if self.written.is_empty() {
            return;
        }
        if offset == 0 && len == self.len() {
            self.written = Vec::new();
            return;
        }
        let mut at = offset;
        while at < offset + len {
            if at.is_multiple_of(64) && at + 64 <= offset + len {
                self.written[at / 64] = u64::MAX;
                at += 64;
            } else {
                self.written[at / 64] |= 1 << (at % 64);
                at += 1;
            }
        }
    }

    /// Marks one byte as written or not.
    pub(crate) fn set_written(&mut self, offset: usize, written: bool) {
        if self.written.is_empty() {
            if written {
                return;
            }
            self.written = vec![u64::MAX; self.len().div_ceil(64)];
        }
        let word = &mut self.written[offset / 64];
        *word = *word & !(1 << (offset % 64)) | u64::from(written) << (offset % 64);
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `data` owns `len` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.data.start.as_ptr(), self.data.len) }
    }

    /// The bytes, to change.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `data` owns `len` initialised bytes, borrowed mutably through self.
        unsafe { std::slice::from_raw_parts_mut(self.data.start.as_ptr(), self.data.len) }
    }

    /// Reads a value.
    ///
    /// # Safety
    /// `offset + size_of::<T>()` must not exceed `len()`, and any bits must be a valid `T`.
    #[inline]
    pub(crate) unsafe fn read<T: Copy>(&self, offset: usize) -> T {
        // SAFETY: in bounds by the caller's promise; unaligned reads are allowed.
        unsafe { self.data.start.as_ptr().add(offset).cast::<T>().read_unaligned() }
    }

    /// Writes a value and says whether that changed a byte.
    ///
    /// # Safety
    /// `offset + size_of::<T>()` must not exceed `len()`, and `T` must have no padding.
    #[inline]
    pub(crate) unsafe fn write<T: Copy>(&mut self, offset: usize, value: T) -> bool {
        // SAFETY: in bounds by the caller's promise.
        let target = unsafe { self.data.start.as_ptr().add(offset) };
        let size = size_of::<T>();
        // SAFETY: `value` is `size` initialised bytes (no padding), and `target` has room for as many.
        unsafe {
            let new = std::slice::from_raw_parts((&raw const value).cast::<u8>(), size);
            let changed = std::slice::from_raw_parts(target, size) != new;
            target.cast::<T>().write_unaligned(value);
            changed
        }
    }
}

/// The bytes of a value, folded into 64 bits: to tell values apart, not to rebuild them.
#[inline]
pub(crate) fn fold<T: Copy>(value: &T) -> u64 {
    let size = size_of::<T>();
    let mut folded = 0u64;
    for at in (0..size).step_by(8) {
        let mut word = 0u64;
        // SAFETY: at most `size - at` bytes are read from a value of `size` bytes without padding.
        unsafe {
            std::ptr::copy_nonoverlapping(
                std::ptr::from_ref(value).cast::<u8>().add(at),
                (&raw mut word).cast::<u8>(),
                (size - at).min(8),
            );
        }
        folded = folded.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word;
    }
    folded
}
