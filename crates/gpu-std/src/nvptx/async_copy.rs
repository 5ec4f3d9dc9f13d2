//! `cp.async`: each thread copies for itself, so assembly is right. The memory clobber keeps shared reads behind the
//! wait.
//!
//! Before sm_80 there is no such instruction: there a copy is a load and a store, and has ended when the thread goes
//! on.

#[cfg(not(target_feature = "sm_80"))]
pub use synchronous::{commit, copy, copy_or_zero, wait};

#[cfg(target_feature = "sm_80")]
use super::memory::shared_window;
#[cfg(target_feature = "sm_80")]
use core::arch::asm;

#[cfg(not(target_feature = "sm_80"))]
mod synchronous {
    use crate::memory::{Global, Shared};

    // The bytes as words of 32 bits; sizes are those that cp.async takes.
    #[inline(always)]
    fn words<const WORDS: usize>(shared: u32, global: u64, read: bool) {
        // SAFETY: whoever made the accessors vouched for both addresses.
        let source = unsafe { Global::<u32>::from_raw(global) };
        let value = if read { source.read_vec::<WORDS>(0) } else { [0; WORDS] };
        Shared::<u32>::at(shared).write_vec(0, value);
    }

    #[inline(always)]
    pub fn copy<T, const N: usize>(shared: u32, global: u64) {
        match N * size_of::<T>() {
            4 => words::<1>(shared, global, true),
            8 => words::<2>(shared, global, true),
            _ => words::<4>(shared, global, true),
        }
    }

    #[inline(always)]
    pub fn copy_or_zero<T, const N: usize>(shared: u32, global: u64, bytes: u32) {
        let size = (N * size_of::<T>()) as u32;
        if bytes == 0 || bytes == size {
            return match size {
                4 => words::<1>(shared, global, bytes != 0),
                8 => words::<2>(shared, global, bytes != 0),
                _ => words::<4>(shared, global, bytes != 0),
            };
        }
        let mut byte = 0;
        while byte < size {
            // SAFETY: whoever made the accessors vouched for both addresses.
            let source = unsafe { Global::<u8>::from_raw(global) };
            let value = if byte < bytes { source.read(byte) } else { 0 };
            Shared::<u8>::at(shared).write(byte, value);
            byte += 1;
        }
    }

    #[inline(always)]
    pub fn commit() {}

    #[inline(always)]
    pub fn wait<const PENDING: u32>() {}
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn copy<T, const N: usize>(shared: u32, global: u64) {
    let shared = shared_window(shared);
    // SAFETY: whoever made the accessors vouched for both addresses.
    unsafe {
        match N * size_of::<T>() {
            4 => {
                asm!("cp.async.ca.shared.global [{}], [{}], 4;", in(reg32) shared, in(reg64) global, options(nostack))
            }
            8 => {
                asm!("cp.async.ca.shared.global [{}], [{}], 8;", in(reg32) shared, in(reg64) global, options(nostack))
            }
            _ => {
                asm!("cp.async.cg.shared.global [{}], [{}], 16;", in(reg32) shared, in(reg64) global, options(nostack))
            }
        }
    }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn copy_or_zero<T, const N: usize>(shared: u32, global: u64, bytes: u32) {
    let shared = shared_window(shared);
    // SAFETY: whoever made the accessors vouched for both addresses.
    unsafe {
        match N * size_of::<T>() {
            4 => asm!("cp.async.ca.shared.global [{}], [{}], 4, {};", in(reg32) shared, in(reg64) global,
                in(reg32) bytes, options(nostack)),
            8 => asm!("cp.async.ca.shared.global [{}], [{}], 8, {};", in(reg32) shared, in(reg64) global,
                in(reg32) bytes, options(nostack)),
            _ => asm!("cp.async.cg.shared.global [{}], [{}], 16, {};", in(reg32) shared, in(reg64) global,
                in(reg32) bytes, options(nostack)),
        }
    }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn commit() {
    // SAFETY: no operands.
    unsafe { asm!("cp.async.commit_group;", options(nostack)) }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn wait<const PENDING: u32>() {
    // SAFETY: no operands but a constant.
    unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack)) }
}
