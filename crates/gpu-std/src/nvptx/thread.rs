//! Indices, barriers, fences and clocks.

use crate::atomic::Scope;
use core::arch::asm;

macro_rules! registers {
    ($($name:ident = $register:literal;)*) => { $(
        #[inline(always)]
        pub fn $name() -> u32 {
            unsafe extern "C" {
                #[link_name = concat!("llvm.nvvm.read.ptx.sreg.", $register)]
                safe fn read() -> u32;
            }
            read()
        }
    )* };
}
registers! {
    thread_idx_x = "tid.x"; thread_idx_y = "tid.y"; thread_idx_z = "tid.z";
    block_idx_x = "ctaid.x"; block_idx_y = "ctaid.y"; block_idx_z = "ctaid.z";
    block_dim_x = "ntid.x"; block_dim_y = "ntid.y"; block_dim_z = "ntid.z";
    grid_dim_x = "nctaid.x"; grid_dim_y = "nctaid.y"; grid_dim_z = "nctaid.z";
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    safe fn barrier(id: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    safe fn barrier_popc(id: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    safe fn barrier_and(id: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    safe fn barrier_or(id: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clock64"]
    pub safe fn clock64() -> u64;
    #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
    pub safe fn globaltimer() -> u64;
    #[link_name = "llvm.nvvm.nanosleep"]
    pub safe fn nanosleep(nanos: u32);
}

#[inline(always)]
pub fn sync_threads() {
    barrier(0);
}

#[inline(always)]
pub fn sync_threads_count(predicate: bool) -> u32 {
    barrier_popc(0, predicate)
}

#[inline(always)]
pub fn sync_threads_and(predicate: bool) -> bool {
    barrier_and(0, predicate)
}

#[inline(always)]
pub fn sync_threads_or(predicate: bool) -> bool {
    barrier_or(0, predicate)
}

/// Orders this thread's accesses; lanes do not cooperate in it, so assembly is right.
#[inline(always)]
pub fn fence(scope: Scope) {
    // SAFETY: a fence has no operands.
    unsafe {
        match scope {
            Scope::Block => asm!("fence.acq_rel.cta;", options(nostack, preserves_flags)),
            Scope::Device => asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)),
            Scope::System => asm!("fence.acq_rel.sys;", options(nostack, preserves_flags)),
        }
    }
}

/// The instruction is the same for every lane and may be executed by any of them, so assembly is right.
#[inline(always)]
pub fn grid_dependency_synchronize() {
    // Clobbers memory: no access may be moved before it.
    #[cfg(target_feature = "sm_90")]
    // SAFETY: it has no operands.
    unsafe {
        asm!("griddepcontrol.wait;", options(nostack, preserves_flags));
    }
}

#[inline(always)]
pub fn trigger_launch_completion() {
    #[cfg(target_feature = "sm_90")]
    // SAFETY: as above.
    unsafe {
        asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags));
    }
}

/// LLVM's intrinsics, which it knows to be convergent.
#[inline(always)]
pub fn set_more_registers<const REGISTERS: u32>() {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
        safe fn setmaxnreg(registers: u32);
    }
    setmaxnreg(REGISTERS);
}

#[inline(always)]
pub fn set_fewer_registers<const REGISTERS: u32>() {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"]
        safe fn setmaxnreg(registers: u32);
    }
    setmaxnreg(REGISTERS);
}
