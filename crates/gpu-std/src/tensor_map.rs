//! Copies of boxes of matrices to shared memory and back, by the copy engine (TMA, capability 9.0).
//!
//! A [`TensorMap`] says how a batch of matrices lies in memory and how large a box of it is copied at once. The host
//! makes it (`gpu_core::Stream::tensor_map`) and hands it to the kernel as a parameter; one thread starts a copy with
//! [`TensorMap::load`], and a [`Barrier`] counts its bytes when they are there. What of a box lies outside of its matrix
//! arrives as zeros, and counts.
//!
//! The other way it is [`TensorMap::store`], with groups in the place of a barrier: the thread that starts copies
//! ends a group of them with [`commit_stores`] and waits with [`wait_stores_read`] until they have read shared
//! memory, which may be written again then, or with [`wait_stores`] until they have written theirs. What of a box
//! lies outside of its matrix is left out.
//!
//! In shared memory the box's rows follow each other without gaps. With [`Swizzle::Bytes128`], where a row has 128
//! bytes, the 16-byte pieces of row `r` change places: piece `p` lies where `p ^ r % 8` would. So neither rows nor
//! columns of pieces meet in one bank, and that is how the tensor cores want it ([`crate::wgmma`]).

use crate::backend::tensor_map as backend;
use crate::barrier::Barrier;
use crate::memory::{Element, Shared};
use crate::parameter::Parameter;

/// What the elements are, as the copy engine sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// 8 bits.
    U8,
    /// 16 bits, whatever they mean.
    U16,
    /// 32 bits, whatever they mean.
    U32,
}

impl Format {
    /// The bytes of an element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
        }
    }
}

/// How a box lies in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// As it is.
    None,
    /// With the pieces of 16 bytes of each 128 exchanged; the box starts at a multiple of 1024 bytes.
    Bytes128,
}

/// A batch of matrices in global memory, and the box of it that a copy moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// The address of the first element: a multiple of 16.
    pub address: u64,
    /// Its elements.
    pub format: Format,
    /// Elements of a row, rows of a matrix, matrices: each from 1 to 2³².
    pub extents: [u64; 3],
    /// Bytes from row to row and from matrix to matrix: multiples of 16 below 2⁴⁰.
    pub strides: [u64; 2],
    /// The box: elements, rows and matrices, each from 1 to 256.
    pub tile: [u32; 3],
    /// How it lies in shared memory.
    pub swizzle: Swizzle,
}

/// What of a [`Tensor`] the copy engine does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The field.
    pub what: &'static str,
    /// Its value.
    pub actual: u64,
    /// What is allowed.
    pub allowed: &'static str,
}

impl core::fmt::Display for Unfit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} is {}, allowed is {}", self.what, self.actual, self.allowed)
    }
}

impl Tensor {
    /// Bytes that a copy moves.
    pub const fn tile_bytes(&self) -> u32 {
        self.tile[0] * self.tile[1] * self.tile[2] * self.format.bytes()
    }

    /// Whether the copy engine takes it.
    ///
    /// # Errors
    /// The first thing that it does not take.
    pub fn check(&self) -> Result<(), Unfit> {
        let refuse = |what, actual, allowed| Err(Unfit { what, actual, allowed });
        if !self.address.is_multiple_of(16) {
            return refuse("the address of a tensor", self.address, "a multiple of 16");
        }
        for extent in self.extents {
            if extent == 0 || extent > 1 << 32 {
                return refuse("an extent of a tensor", extent, "1 to 2^32");
            }
        }
        for stride in self.strides {
            if stride % 16 != 0 || stride >= 1 << 40 {
                return refuse("a stride of a tensor in bytes", stride, "a multiple of 16 below 2^40");
            }
        }
        for extent in self.tile {
            if extent == 0 || extent > 256 {
                return refuse("an extent of a tensor's box", extent.into(), "1 to 256");
            }
        }
        let row = self.tile[0] * self.format.bytes();
        if !row.is_multiple_of(16) {
            return refuse("the bytes of a row of a tensor's box", row.into(), "a multiple of 16");
        }
        if self.swizzle == Swizzle::Bytes128 && row > 128 {
            return refuse("the bytes of a row of a swizzled box", row.into(), "at most 128");
        }
        Ok(())
    }
}

/// A [`Tensor`] as the copy engine reads it: a kernel's parameter.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorMap(backend::Map);

impl TensorMap {
    /// What a driver has encoded.
    ///
    /// # Safety
    /// The bytes are those that the driver made of a tensor (`cuTensorMapEncodeTiled`), whose memory, from `address` on, is valid for the
    /// copies that kernels will start with it.
    #[cfg(not(target_arch = "nvptx64"))]
    pub const unsafe fn from_driver(words: [u64; 16], address: u64) -> Self {
        Self(backend::Map::driver(words, address))
    }

    /// The map of a tensor in a simulator's memory.
    ///
    /// # Errors
    /// What the copy engine would not take.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn simulated(tensor: Tensor) -> Result<Self, Unfit> {
        tensor.check()?;
        Ok(Self(backend::Map::simulated(tensor)))
    }

    /// Asks for the map itself, so that the first copy need not wait for it.
    #[inline(always)]
    pub fn prefetch(&self) {
        self.0.prefetch();
    }

    /// Starts the copy of the box whose first element is number `place[0]` of row `place[1]` of matrix `place[2]`, to
    /// `target`, a multiple of 128 bytes (1024 where it is swizzled). That element begins a multiple of 16 bytes behind
    /// its row. Its bytes count for the present phase of `barrier`.
    /// By one thread.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load<T: Element>(&self, target: Shared<T>, barrier: Barrier, place: [u32; 3]) {
        self.0.load(target.byte(0), barrier.place(), place);
    }

    /// The same to each block of the [cluster](crate::cluster) whose bit is set in `mask`: to the same place of its
    /// shared memory as `target` has in this one's, and its bytes count for its barrier at the place of `barrier`. The
    /// copy engine reads the box once. Those blocks have begun, and made their barriers, with a
    /// [`cluster::sync`](crate::cluster::sync) since, and none ends before its copies are there.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn load_multicast<T: Element>(
        &self,
        target: Shared<T>,
        barrier: Barrier,
        place: [u32; 3],
        mask: u16,
    ) {
        self.0.load_multicast(target.byte(0), barrier.place(), place, mask);
    }

    /// Starts the copy of a box from `source`, aligned as in [`Self::load`], to where its first element is number
    /// `place[0]` of row `place[1]` of matrix `place[2]`. By one thread, which ends a group with it ([`commit_stores`])
    /// and waits before it ends. Threads that wrote the box have called [`fence_proxy`](crate::barrier::fence_proxy)
    /// behind it, before the barrier that told this one.
    ///
    /// ```
    /// use gpu_std::barrier::fence_proxy;
    /// use gpu_std::prelude::*;
    /// use gpu_std::tensor_map::{TensorMap, commit_stores, wait_stores_read};
    ///
    /// /// Eight rows of 32 words of a matrix become their numbers.
    /// #[kernel(launch_bounds(32))]
    /// pub fn number(map: TensorMap, row: u32) {
    ///     let rows = shared::dynamic().array::<u32>(8 * 32);
    ///     let lane = thread::thread_idx_x();
    ///     for row in 0..8 {
    ///         rows.write(32 * row + lane, row);
    ///     }
    ///     fence_proxy();
    ///     thread::sync_threads();
    ///     if lane == 0 {
    ///         map.store(rows, [0, row, 0]);
    ///         commit_stores();
    ///         wait_stores_read::<0>();
    ///     }
    /// }
    /// ```
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn store<T: Element>(&self, source: Shared<T>, place: [u32; 3]) {
        self.0.store(source.byte(0), place);
    }
}

/// Ends a group: the [`TensorMap::store`]s of this thread since the last one.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn commit_stores() {
    backend::commit_stores();
}

/// Waits until all but the latest `PENDING` groups of this thread have read shared memory.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn wait_stores_read<const PENDING: u32>() {
    backend::wait_stores_read::<PENDING>();
}

/// Waits until all but the latest `PENDING` groups of this thread have written what they copy, too: this thread sees
/// it. Other kernels do in any case.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn wait_stores<const PENDING: u32>() {
    backend::wait_stores::<PENDING>();
}

// SAFETY: on the host it begins with the driver's 128 bytes, which the entry declares with their alignment; they are read where
// they lie. A map of the simulator's never reaches a driver.
unsafe impl Parameter for TensorMap {
    #[cfg(not(target_arch = "nvptx64"))]
    const READ_ONLY: bool = true;

    #[cfg(not(target_arch = "nvptx64"))]
    const BYTES: usize = 128;

    #[cfg(not(target_arch = "nvptx64"))]
    fn described(&self) -> u64 {
        self.0.address()
    }

    #[cfg(target_arch = "nvptx64")]
    type Entry = backend::Entry;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn from_entry(_entry: Self::Entry, address: u64) -> Self {
        Self(backend::Map::at(address))
    }
}
