//! Copies from global to shared memory that run while the thread goes on (`cp.async`).
//!
//! ```text
//! copy(…); copy(…); commit();      // group 0: the first tile
//! copy(…); copy(…); commit();      // group 1: the second
//! wait::<1>();                     // all but the newest 1 group have arrived: group 0 has
//! sync_threads();                  // … and every other thread's part of it too
//! ```
//!
//! The GPU has the instruction from sm_80 on; in images for older ones a copy is a load and a store, which has ended
//! when the thread goes on.

use crate::backend::async_copy as backend;
use crate::memory::{Element, Global, Shared, vector_bytes};

/// Starts to copy `N` elements, 4, 8 or 16 bytes in all, from `source[source_index..]` to `target[target_index..]`.
///
/// Both addresses must be multiples of the bytes copied. 16 bytes bypass the L1. Reading the target before [`wait`],
/// or by another thread before a barrier after its wait, is a race.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn copy<T: Element, const N: usize>(
    target: Shared<T>,
    target_index: u32,
    source: Global<T>,
    source_index: u32,
) {
    const { asynchronous_bytes::<T, N>() };
    backend::copy::<T, N>(target.byte(target_index), source.offset(u64::from(source_index)).address());
}

/// [`copy`] of the first `elements` of the `N`; the others become zero and are not read from global memory.
///
/// compute-sanitizer's memcheck does not know that: where `elements` is neither 0 nor `N`, it wants all `N` to be
/// inside an allocation, and reports the end of one as an invalid read. What shall be clean there copies element by
/// element.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn copy_or_zero<T: Element, const N: usize>(
    target: Shared<T>,
    target_index: u32,
    source: Global<T>,
    source_index: u32,
    elements: u32,
) {
    const { asynchronous_bytes::<T, N>() };
    let bytes = elements.min(N as u32) * size_of::<T>() as u32;
    backend::copy_or_zero::<T, N>(
        target.byte(target_index),
        source.offset(u64::from(source_index)).address(),
        bytes,
    );
}

/// Closes a group: the copies that this thread has started since the last one.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn commit() {
    backend::commit();
}

/// Waits until at most `PENDING` of this thread's newest groups are still on their way.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn wait<const PENDING: u32>() {
    backend::wait::<PENDING>();
}

const fn asynchronous_bytes<T, const N: usize>() {
    assert!(vector_bytes::<T, N>() >= 4, "cp.async moves 4, 8 or 16 bytes");
}
