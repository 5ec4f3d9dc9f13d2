//! The block's dynamic shared memory and its layout, the same on both sides of a launch.
//!
//! ```
//! use gpu_std::shared::SharedLayout;
//!
//! const TILE: u32 = 32 * 33;
//! // Host side: how many bytes to launch with.
//! const BYTES: u32 = SharedLayout::new().array::<f32>(TILE).array::<u32>(32).bytes();
//! assert_eq!(BYTES, 4 * TILE + 4 * 32);
//! ```
//! and in the kernel, in the same order:
//! ```
//! # use gpu_std::prelude::*;
//! # const TILE: u32 = 32 * 33;
//! # #[kernel]
//! # pub fn example() {
//! let mut shared = shared::dynamic();
//! let tile: Shared<f32> = shared.array(TILE);
//! let flags: Shared<u32> = shared.array(32);
//! # tile.write(0, 0.0); flags.write(0, 0);
//! # }
//! ```
//!
//! Every array starts at a multiple of 16 bytes, so that vector accesses from its start are aligned. Offsets are
//! constants wherever lengths are.

use crate::memory::{Element, Shared};

const ALIGNMENT: u32 = 16;

/// A layout of shared memory: arrays one after the other, each aligned to 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedLayout {
    bytes: u32,
}

impl SharedLayout {
    /// Nothing yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Self { bytes: 0 }
    }

    /// With room for `length` more elements of `T`.
    ///
    /// # Panics
    /// On a layout of 4 GiB or more.
    #[inline(always)]
    #[must_use]
    pub const fn array<T: Element>(self, length: u32) -> Self {
        // 64 bits: the first multiple of 16 can lie beyond 32.
        let start = (self.bytes as u64).next_multiple_of(ALIGNMENT as u64);
        let end = start + length as u64 * size_of::<T>() as u64;
        assert!(end <= u32::MAX as u64, "a shared-memory layout of 4 GiB or more");
        Self { bytes: end as u32 }
    }

    /// The bytes of dynamic shared memory to launch with.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        self.bytes
    }
}

/// The block's dynamic shared memory, given out piece by piece.
#[derive(Debug)]
pub struct Dynamic {
    used: u32,
}

/// The block's dynamic shared memory, from its start.
///
/// Every call starts anew: two results hand out the same bytes. Call it once, at the kernel's start.
#[inline(always)]
pub fn dynamic() -> Dynamic {
    Dynamic { used: 0 }
}

impl Dynamic {
    /// The next `length` elements, from the next multiple of 16 bytes on; contents are unspecified. Of length 0 it is
    /// all the rest; in the simulator an access that leaves any other array is a fault.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn array<T: Element>(&mut self, length: u32) -> Shared<T> {
        // Wraps instead of panicking: a panic's branch would stay in the PTX wherever `length` is not a constant. The
        // simulator checks each access against the launch's size.
        let start = self.used.wrapping_add(ALIGNMENT - 1) & !(ALIGNMENT - 1);
        let bytes = length.wrapping_mul(size_of::<T>() as u32);
        self.used = start.wrapping_add(bytes);
        // The simulator tells the arrays apart: what leaves one does not arrive in the next.
        #[cfg(not(target_arch = "nvptx64"))]
        let start = crate::backend::memory::shared_array(start, bytes);
        Shared::at(start)
    }

    /// Bytes given out so far.
    #[inline(always)]
    pub fn used(&self) -> u32 {
        self.used
    }
}

/// Bytes of dynamic shared memory that the block was launched with.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn bytes() -> u32 {
    crate::backend::memory::shared_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_start_at_multiples_of_16() {
        assert_eq!(SharedLayout::new().array::<u8>(1).array::<u32>(1).bytes(), 20);
        assert_eq!(SharedLayout::new().array::<u8>(u32::MAX).bytes(), u32::MAX);
    }

    #[test]
    #[should_panic(expected = "4 GiB or more")]
    fn a_layout_whose_last_array_would_start_beyond_32_bits_is_refused() {
        let _ = SharedLayout::new().array::<u8>(u32::MAX).array::<u8>(0);
    }
}
