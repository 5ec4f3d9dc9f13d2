//! `mbarrier`: each thread acts for itself, so assembly is right. It clobbers memory: no access is moved across.

use super::memory::shared_window;
use core::arch::asm;

#[inline(always)]
pub fn init(barrier: u32, arrivals: u32) {
    // SAFETY: the barrier lies in the block's shared memory.
    unsafe {
        asm!("mbarrier.init.shared::cta.b64 [{}], {};", in(reg32) shared_window(barrier), in(reg32) arrivals,
            options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub fn arrive(barrier: u32) {
    // SAFETY: as above.
    unsafe {
        asm!("{{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [{}]; }}", in(reg32) shared_window(barrier),
            options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub fn arrive_at(barrier: u32, rank: u32) {
    // SAFETY: the barrier lies in the shared memory of a block of the cluster.
    unsafe {
        asm!("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{}];",
            in(reg32) super::cluster::window(barrier, rank), options(nostack, preserves_flags));
    }
}

/// Of the scope of a block, which takes no fence.
#[inline(always)]
pub fn free_at(barrier: u32, rank: u32) {
    // SAFETY: as above.
    unsafe {
        asm!("mbarrier.arrive.release.cta.shared::cluster.b64 _, [{}];",
            in(reg32) super::cluster::window(barrier, rank), options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub fn arrive_expect(barrier: u32, bytes: u32) {
    // SAFETY: as above.
    unsafe {
        asm!("{{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [{}], {}; }}",
            in(reg32) shared_window(barrier), in(reg32) bytes, options(nostack, preserves_flags));
    }
}

/// `try_wait` suspends the thread for a while by itself.
#[inline(always)]
pub fn wait(barrier: u32, parity: u32) {
    let barrier = shared_window(barrier);
    loop {
        let done: u32;
        // SAFETY: as above.
        unsafe {
            asm!(
                "{{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [{}], {}; selp.u32 {}, 1, 0, p; }}",
                in(reg32) barrier, in(reg32) parity, out(reg32) done, options(nostack, preserves_flags)
            );
        }
        if done != 0 {
            break;
        }
    }
}

#[inline(always)]
pub fn wait_cluster(barrier: u32, parity: u32) {
    let barrier = shared_window(barrier);
    loop {
        let done: u32;
        // SAFETY: as above.
        unsafe {
            asm!(
                concat!(
                    "{{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [{}], {}; ",
                    "selp.u32 {}, 1, 0, p; }}",
                ),
                in(reg32) barrier, in(reg32) parity, out(reg32) done, options(nostack, preserves_flags)
            );
        }
        if done != 0 {
            break;
        }
    }
}

#[inline(always)]
pub fn fence_init() {
    // SAFETY: it has no operands.
    unsafe { asm!("fence.mbarrier_init.release.cluster;", options(nostack, preserves_flags)) };
}

#[inline(always)]
pub fn fence_proxy() {
    // SAFETY: it has no operands.
    unsafe { asm!("fence.proxy.async.shared::cta;", options(nostack, preserves_flags)) };
}
