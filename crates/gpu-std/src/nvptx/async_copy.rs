//! `cp.async`: each thread copies for itself, so assembly is right. The memory clobber keeps shared reads behind the wait.

use super::memory::shared_window;
use core::arch::asm;

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

#[inline(always)]
pub fn commit() {
    // SAFETY: no operands.
    unsafe { asm!("cp.async.commit_group;", options(nostack)) }
}

#[inline(always)]
pub fn wait<const PENDING: u32>() {
    // SAFETY: no operands but a constant.
    unsafe { asm!("cp.async.wait_group {};", const PENDING, options(nostack)) }
}
