//! Typed views of global and shared memory: the only way a kernel touches either.
//!
//! An accessor is a bare address with a type. On the GPU each method is one instruction (`ld.global`, `st.shared`, …)
//! and checks nothing; in the simulator bounds, alignment, initialisation and races are checked at every access.
//!
//! Indices are 32-bit, in elements. Beyond 2³² elements, move the base first: `x.offset(tile * TILE).read(i)`. The
//! same form lets the compiler fold a constant distance into the instruction: `x.offset(1024).read(i)` costs no
//! addition, `x.read(i + 1024)` may.
//!
//! A vector access of another size than 2, 4, 8 or 16 bytes does not compile:
//!
//! ```compile_fail,E0080
//! # use gpu_std::prelude::*;
//! # // SAFETY: never run.
//! # let x: Global<f32> = unsafe { Global::from_raw(0) };
//! let three: [f32; 3] = x.read_vec(0);
//! ```

use crate::atomic::{Atomic, AtomicElement, Space};
use crate::backend::memory as backend;
use core::marker::PhantomData;

/// What global and shared memory can hold: numbers of 1 to 16 bytes without padding, valid for any bits.
///
/// Sealed: the simulator and the vector accesses rely on exactly these properties.
pub trait Element:
    sealed::Sealed + Copy + Default + PartialEq + PartialOrd + core::fmt::Debug + Send + Sync + 'static
{
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ty)*) => { $(
        impl sealed::Sealed for $t {}
        impl Element for $t {}
    )* };
}
elements!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 u128 crate::half::f16 crate::half::bf16);

/// Read access to an array in global memory. Copying it copies the address.
#[repr(transparent)]
pub struct Global<T: Element>(backend::Address<T>);

/// Read and write access to an array in global memory. Copying it copies the address.
#[repr(transparent)]
pub struct GlobalMut<T: Element>(backend::Address<T>);

/// Access to an array in the block's shared memory, made by [`crate::shared::Dynamic::array`].
#[repr(transparent)]
pub struct Shared<T: Element> {
    /// Bytes from the start of the block's dynamic shared memory.
    offset: u32,
    element: PhantomData<fn() -> T>,
}

macro_rules! copyable {
    ($($accessor:ident)*) => { $(
        impl<T: Element> Clone for $accessor<T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T: Element> Copy for $accessor<T> {}
    )* };
}
copyable!(Global GlobalMut Shared);

// A vector access moves 2, 4, 8 or 16 bytes (a single element may be one byte), checked when the kernel is compiled.
pub(crate) const fn vector_bytes<T, const N: usize>() -> u32 {
    let bytes = N * size_of::<T>();
    assert!(matches!(bytes, 1 | 2 | 4 | 8 | 16), "a vector access moves 1, 2, 4, 8 or 16 bytes");
    bytes as u32
}

macro_rules! global_common {
    () => {
        /// The accessor of the array that starts at `address`.
        ///
        /// # Safety
        /// Every access made through it, in whatever kernel it is passed to, must fall into memory that is valid for
        /// it on the device the kernel runs on. `address` must be a multiple of the element's size.
        #[inline(always)]
        pub const unsafe fn from_raw(address: u64) -> Self {
            Self(backend::Address::from_raw(address))
        }

        /// The address of element 0: a device address on the GPU, a simulated one in the simulator.
        #[inline(always)]
        pub fn address(self) -> u64 {
            self.0.raw()
        }

        /// The same array from element `elements` on: the 64-bit part of an index.
        #[inline(always)]
        #[must_use]
        pub fn offset(self, elements: u64) -> Self {
            Self(self.0.offset(elements))
        }

        /// Element `index` (`ld.global`).
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn read(self, index: u32) -> T {
            self.0.load::<1>(index)[0]
        }

        /// `N` elements from `index` on, in one access of 2, 4, 8 or 16 bytes in all.
        ///
        /// `index` counts elements; the address of that element must be a multiple of the access's size.
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn read_vec<const N: usize>(self, index: u32) -> [T; N] {
            const { vector_bytes::<T, N>() };
            self.0.load(index)
        }
    };
}

impl<T: Element> Global<T> {
    global_common!();

    /// The same memory as elements of another type. Each access needs the alignment of the type it is made with.
    #[inline(always)]
    #[must_use]
    pub fn cast<U: Element>(self) -> Global<U> {
        Global(self.0.cast())
    }

    /// Element `index` through the read-only path (`ld.global.nc`). Nothing may write it while the kernel runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_only(self, index: u32) -> T {
        self.0.load_read_only::<1>(index)[0]
    }

    /// Element `index` through the read-only path where that is below `limit`, elsewhere `otherwise`. One predicated
    /// load: a branch around [`Self::read_only`] would do the same with more code. Nothing may write it while the
    /// kernel runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_only_below(self, index: u32, limit: u32, otherwise: T) -> T {
        const { vector_bytes::<T, 1>() };
        self.0.load_read_only_below(index, limit, otherwise)
    }

    /// [`Self::read_vec`] through the read-only path. Nothing may write the elements while the kernel runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_only_vec<const N: usize>(self, index: u32) -> [T; N] {
        const { vector_bytes::<T, N>() };
        self.0.load_read_only(index)
    }

    /// Element `index`, which nobody will read again: through the read-only path, without a place in the L1
    /// (`ld.global.nc.L1::no_allocate`). Nothing may write it while the kernel runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_streaming(self, index: u32) -> T {
        self.0.load_streaming::<1>(index)[0]
    }

    /// [`Self::read_vec`] of elements that nobody will read again, as [`Self::read_streaming`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_streaming_vec<const N: usize>(self, index: u32) -> [T; N] {
        const { vector_bytes::<T, N>() };
        self.0.load_streaming(index)
    }

    /// Asks for the 128 bytes around element `index`, to be in the L2 when they are read (`prefetch.global.L2`).
    /// Nobody waits for them, and nothing is read: whoever writes there later is seen by whoever reads later still,
    /// as without it. The element must be inside the allocation.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// /// While the block looks for its first row, that row's likely bytes are on their way.
    /// #[kernel]
    /// pub fn ask(rows: Global<f32>, len: u32) {
    ///     let line = (thread::block_idx_x() * 256 + thread::thread_idx_x()) * 32;
    ///     if line < len {
    ///         rows.prefetch(line);
    ///     }
    /// }
    /// ```
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn prefetch(self, index: u32) {
        self.0.prefetch(index);
    }
}

impl<T: Element> GlobalMut<T> {
    global_common!();

    /// The same memory as elements of another type. Each access needs the alignment of the type it is made with.
    #[inline(always)]
    #[must_use]
    pub fn cast<U: Element>(self) -> GlobalMut<U> {
        GlobalMut(self.0.cast())
    }

    /// The same array for reading.
    #[inline(always)]
    pub fn as_global(self) -> Global<T> {
        Global(self.0)
    }

    /// Writes element `index` (`st.global`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write(self, index: u32, value: T) {
        self.0.store(index, [value]);
    }

    /// Writes `N` elements from `index` on in one access; sizes and alignment as [`Self::read_vec`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_vec<const N: usize>(self, index: u32, value: [T; N]) {
        const { vector_bytes::<T, N>() };
        self.0.store(index, value);
    }

    /// Writes element `index`, which is not read again soon: first to leave the caches (`st.global.cs`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_streaming(self, index: u32, value: T) {
        self.0.store_streaming(index, [value]);
    }

    /// [`Self::write_vec`] of elements that are not read again soon, as [`Self::write_streaming`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_streaming_vec<const N: usize>(self, index: u32, value: [T; N]) {
        const { vector_bytes::<T, N>() };
        self.0.store_streaming(index, value);
    }

    /// Reads element `index` from memory each time (`ld.volatile.global`): never merged, moved or left out. It orders
    /// nothing; where another thread's writes are awaited, use [`Self::atomic`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_volatile(self, index: u32) -> T {
        self.0.load_volatile(index)
    }

    /// Writes element `index` to memory each time (`st.volatile.global`); see [`Self::read_volatile`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_volatile(self, index: u32, value: T) {
        self.0.store_volatile(index, value);
    }

    /// Element `index` as an atomic variable.
    #[inline(always)]
    pub fn atomic(self, index: u32) -> Atomic<T>
    where
        T: AtomicElement,
    {
        let bytes = u64::from(index) * size_of::<T>() as u64;
        Atomic::new(Space::Global, self.address().wrapping_add(bytes))
    }
}

impl<T: Element> Shared<T> {
    #[inline(always)]
    pub(crate) const fn at(offset: u32) -> Self {
        Self { offset, element: PhantomData }
    }

    /// Bytes from the start of the block's dynamic shared memory.
    #[inline(always)]
    pub const fn byte_offset(self) -> u32 {
        #[cfg(target_arch = "nvptx64")]
        return self.offset;
        #[cfg(not(target_arch = "nvptx64"))]
        backend::shared_byte(self.offset)
    }

    /// The same array from element `elements` on.
    #[inline(always)]
    #[must_use]
    pub const fn offset(self, elements: u32) -> Self {
        Self::at(self.byte(elements))
    }

    /// The same memory as elements of another type, for a tile that is used twice. Values written as one type and
    /// read as another are reinterpreted bit by bit.
    #[inline(always)]
    #[must_use]
    pub const fn cast<U: Element>(self) -> Shared<U> {
        Shared::at(self.offset)
    }

    // Where element `index` lies. The GPU does not check and wraps, the simulator sees to it that what wraps is found.
    #[inline(always)]
    pub(crate) const fn byte(self, index: u32) -> u32 {
        #[cfg(target_arch = "nvptx64")]
        return self.offset.wrapping_add(index.wrapping_mul(size_of::<T>() as u32));
        #[cfg(not(target_arch = "nvptx64"))]
        backend::shared_at::<T>(self.offset, index)
    }

    /// Element `index` (`ld.shared`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read(self, index: u32) -> T {
        backend::shared_load::<T, 1>(self.offset, index)[0]
    }

    /// `N` elements from `index` on, in one access of 2, 4, 8 or 16 bytes in all; alignment as for
    /// [`Global::read_vec`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read_vec<const N: usize>(self, index: u32) -> [T; N] {
        const { vector_bytes::<T, N>() };
        backend::shared_load(self.offset, index)
    }

    /// Writes element `index` (`st.shared`).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write(self, index: u32, value: T) {
        backend::shared_store(self.offset, index, [value]);
    }

    /// Writes `N` elements from `index` on in one access; sizes and alignment as [`Self::read_vec`].
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn write_vec<const N: usize>(self, index: u32, value: [T; N]) {
        const { vector_bytes::<T, N>() };
        backend::shared_store(self.offset, index, value);
    }

    /// Element `index` as an atomic variable.
    #[inline(always)]
    pub fn atomic(self, index: u32) -> Atomic<T>
    where
        T: AtomicElement,
    {
        Atomic::new(Space::Shared, u64::from(self.byte(index)))
    }
}
