//! Loads and stores: bounds, alignment, initialisation and races are the simulator's to check.

use crate::memory::Element;
use core::marker::PhantomData;
use gpu_sim::device::{self, Load, Store};

/// What an access moves.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Vector<T, const N: usize>(pub [T; N]);

// SAFETY: elements are numbers without padding, valid for any bits: the trait is sealed.
unsafe impl<T: Element, const N: usize> device::Plain for Vector<T, N> {}

#[inline]
#[track_caller]
fn global_load<T: Element, const N: usize>(address: u64, kind: Load) -> [T; N] {
    device::global_load::<Vector<T, N>>(address, kind).0
}

/// Where an element lies. A distance may be negative, in two's complement. One that is larger than any allocation leads
/// nowhere, rather than around to where the array is, or into another: the simulator checks the address when it is
/// used.
fn address(start: u64, elements: u64, size: usize) -> u64 {
    const FARTHEST: u64 = 1 << 39;
    match elements.cast_signed().checked_mul(size as i64) {
        Some(bytes) if bytes.unsigned_abs() < FARTHEST => start.wrapping_add_signed(bytes),
        // No allocation has number zero.
        _ => elements % FARTHEST,
    }
}

/// A simulated address, or one of a CUDA device on its way to a launch.
#[repr(transparent)]
pub struct Address<T> {
    address: u64,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Address<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Address<T> {}

impl<T: Element> Address<T> {
    #[inline]
    pub const fn from_raw(address: u64) -> Self {
        Self { address, element: PhantomData }
    }

    #[inline]
    pub fn raw(self) -> u64 {
        self.address
    }

    #[inline]
    pub fn offset(self, elements: u64) -> Self {
        Self::from_raw(address(self.address, elements, size_of::<T>()))
    }

    #[inline]
    pub fn cast<U: Element>(self) -> Address<U> {
        Address::from_raw(self.address)
    }

    #[inline]
    fn at(self, index: u32) -> u64 {
        address(self.address, index.into(), size_of::<T>())
    }

    #[inline]
    #[track_caller]
    pub fn load<const N: usize>(self, index: u32) -> [T; N] {
        global_load(self.at(index), Load::Weak)
    }

    #[inline]
    #[track_caller]
    pub fn load_read_only<const N: usize>(self, index: u32) -> [T; N] {
        global_load(self.at(index), Load::ReadOnly)
    }

    #[inline]
    #[track_caller]
    pub fn load_read_only_below(self, index: u32, limit: u32, otherwise: T) -> T {
        if index < limit { self.load_read_only::<1>(index)[0] } else { otherwise }
    }

    #[inline]
    #[track_caller]
    pub fn load_streaming<const N: usize>(self, index: u32) -> [T; N] {
        global_load(self.at(index), Load::ReadOnly)
    }

    #[inline]
    #[track_caller]
    pub fn prefetch(self, index: u32) {
        device::global_prefetch(self.at(index));
    }

    #[inline]
    #[track_caller]
    pub fn load_volatile(self, index: u32) -> T {
        global_load::<T, 1>(self.at(index), Load::Volatile)[0]
    }

    #[inline]
    #[track_caller]
    pub fn store<const N: usize>(self, index: u32, value: [T; N]) {
        device::global_store(self.at(index), Vector(value), Store::Weak);
    }

    #[inline]
    #[track_caller]
    pub fn store_streaming<const N: usize>(self, index: u32, value: [T; N]) {
        device::global_store(self.at(index), Vector(value), Store::Streaming);
    }

    #[inline]
    #[track_caller]
    pub fn store_volatile(self, index: u32, value: T) {
        device::global_store(self.at(index), Vector([value]), Store::Volatile);
    }
}

/// Where an element lies. Its index may be negative, in two's complement. One whose distance is more than shared memory
/// has leads nowhere: on a GPU it can come around to where the array is.
#[inline]
pub const fn shared_at<T>(offset: u32, index: u32) -> u32 {
    shared_address(offset, index, size_of::<T>())
}

const fn shared_address(offset: u32, index: u32, size: usize) -> u32 {
    const FARTHEST: u32 = device::shared_byte(u32::MAX);
    match index.cast_signed().checked_mul(size as i32) {
        Some(bytes) if bytes.unsigned_abs() <= FARTHEST => offset.wrapping_add_signed(bytes),
        _ => !FARTHEST,
    }
}

#[inline]
#[track_caller]
pub fn shared_load<T: Element, const N: usize>(offset: u32, index: u32) -> [T; N] {
    device::shared_load::<Vector<T, N>>(shared_at::<T>(offset, index)).0
}

#[inline]
#[track_caller]
pub fn shared_store<T: Element, const N: usize>(offset: u32, index: u32, value: [T; N]) {
    device::shared_store(shared_at::<T>(offset, index), Vector(value));
}

#[inline]
#[track_caller]
pub fn shared_array(offset: u32, bytes: u32) -> u32 {
    device::shared_array(offset, bytes)
}

#[inline]
pub const fn shared_byte(offset: u32) -> u32 {
    device::shared_byte(offset)
}

#[inline]
#[track_caller]
pub fn shared_bytes() -> u32 {
    device::shared_bytes()
}
