//! Copies of boxes: one thread starts them, so assembly is right. It clobbers memory: no access is moved across.

use super::memory::shared_window_1024;
use core::arch::asm;

/// The map's generic address: it stays where it lies, among the parameters.
#[derive(Clone, Copy)]
pub struct Map(u64);

/// What the PTX entry declares; gpu-builder raises its alignment to the 64 bytes that the hardware wants.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry([u128; 8]);

impl Map {
    #[inline(always)]
    pub fn at(parameter: u64) -> Self {
        let address: u64;
        // SAFETY: it takes an address, nothing more.
        unsafe {
            asm!("cvta.param.u64 {}, {};", out(reg64) address, in(reg64) parameter,
                options(pure, nomem, nostack, preserves_flags));
        }
        Self(address)
    }

    #[inline(always)]
    pub fn prefetch(&self) {
        // SAFETY: the map is a parameter.
        unsafe {
            asm!("prefetch.tensormap [{}];", in(reg64) self.0, options(nomem, nostack, preserves_flags))
        };
    }

    #[inline(always)]
    pub fn load(&self, target: u32, barrier: u32, [x, y, z]: [u32; 3]) {
        // SAFETY: whoever made the map vouched for the tensor's memory; target and barrier are the block's.
        unsafe {
            asm!(
                "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{}], [{}, {{{}, {}, {}}}], [{}];",
                in(reg32) shared_window_1024(target), in(reg64) self.0, in(reg32) x, in(reg32) y, in(reg32) z,
                in(reg32) shared_window_1024(barrier), options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    pub fn load_multicast(&self, target: u32, barrier: u32, [x, y, z]: [u32; 3], mask: u16) {
        // SAFETY: whoever made the map vouched for the tensor's memory; targets and barriers are those of the cluster's
        // blocks.
        unsafe {
            asm!(
                concat!(
                    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                    ".multicast::cluster ",
                    "[{}], [{}, {{{}, {}, {}}}], [{}], {};",
                ),
                in(reg32) shared_window_1024(target), in(reg64) self.0, in(reg32) x, in(reg32) y, in(reg32) z,
                in(reg32) shared_window_1024(barrier), in(reg16) mask, options(nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    pub fn store(&self, source: u32, [x, y, z]: [u32; 3]) {
        // SAFETY: whoever made the map vouched for the tensor's memory; the source is the block's.
        unsafe {
            asm!(
                "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [{}, {{{}, {}, {}}}], [{}];",
                in(reg64) self.0, in(reg32) x, in(reg32) y, in(reg32) z, in(reg32) shared_window_1024(source),
                options(nostack, preserves_flags)
            );
        }
    }
}

#[inline(always)]
pub fn commit_stores() {
    // SAFETY: it has no operands.
    unsafe { asm!("cp.async.bulk.commit_group;", options(nostack, preserves_flags)) };
}

#[inline(always)]
pub fn wait_stores_read<const PENDING: u32>() {
    // SAFETY: it waits.
    unsafe { asm!("cp.async.bulk.wait_group.read {};", const PENDING, options(nostack, preserves_flags)) };
}

#[inline(always)]
pub fn wait_stores<const PENDING: u32>() {
    // SAFETY: it waits.
    unsafe { asm!("cp.async.bulk.wait_group {};", const PENDING, options(nostack, preserves_flags)) };
}
