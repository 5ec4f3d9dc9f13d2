//! Small read-only tables that travel with the launch and are read from the constant bank.
//!
//! A table is a kernel parameter passed by value: no global state, so launches on different streams cannot disturb each
//! other's. All parameters of a kernel share 4 KB. Reading costs as much as a register when all lanes of a warp read
//! the same entry; different entries are served one after the other.

use crate::backend::constant as backend;
use crate::memory::Element;
use crate::parameter::Parameter;

/// A table of `N` elements as a kernel parameter.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn filter(weights: Constant<f32, 3>, x: Global<f32>, y: GlobalMut<f32>) {
///     let i = thread::index_1d();
///     let mut sum = 0.0;
///     for k in 0..3 {
///         sum = gpu_std::float::mul_add(weights.read(k), x.read(i + k), sum);
///     }
///     y.write(i, sum);
/// }
/// // On the host: Constant::new([0.25, 0.5, 0.25])
/// ```
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Constant<T: Element, const N: usize>(backend::Table<T, N>);

impl<T: Element, const N: usize> Constant<T, N> {
    /// The table with these entries, to be passed to a launch.
    #[cfg(not(target_arch = "nvptx64"))]
    pub const fn new(entries: [T; N]) -> Self {
        const { assert!(N * size_of::<T>() <= 4096, "a kernel's parameters have 4 KB in all") };
        Self(backend::Table::new(entries))
    }

    /// Entry `index`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read(self, index: u32) -> T {
        self.0.read(index)
    }

    /// The number of entries.
    #[inline(always)]
    pub const fn len(self) -> u32 {
        N as u32
    }

    /// Whether it has no entries.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        N == 0
    }
}

// SAFETY: on the host it is the array itself; the entry declares the same array and leaves it where it lies.
unsafe impl<T: Element, const N: usize> Parameter for Constant<T, N> {
    #[cfg(target_arch = "nvptx64")]
    type Entry = backend::Entry<T, N>;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn from_entry(_entry: Self::Entry, address: u64) -> Self {
        Self(backend::Table::at(address))
    }
}
