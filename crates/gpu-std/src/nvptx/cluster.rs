//! Clusters. Their barrier is LLVM's, which knows it to be convergent; accesses to other blocks' memory are each
//! thread's own, so assembly is right. It clobbers memory: no access is moved across.

use super::memory::{cast, shared_window};
use super::warp::sync_warp;
use crate::memory::{Element, vector_bytes};
use core::arch::asm;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    pub safe fn rank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    pub safe fn size() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clusterid.x"]
    pub safe fn id_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nclusterid.x"]
    pub safe fn grid_dim_x() -> u32;
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    safe fn arrive_aligned();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    safe fn wait_aligned();
}

/// A warp arrives as one: lanes that a branch has parted meet first.
#[inline(always)]
pub fn arrive() {
    sync_warp(u32::MAX);
    arrive_aligned();
}

#[inline(always)]
pub fn wait() {
    wait_aligned();
}

/// The address, in the window of the cluster's shared memory, of what lies in the block of this rank where byte
/// `offset` of the dynamic shared memory lies in this one.
#[inline(always)]
pub fn window(offset: u32, rank: u32) -> u32 {
    let address: u32;
    // SAFETY: it computes an address.
    unsafe {
        asm!("mapa.shared::cluster.u32 {}, {}, {};", out(reg32) address, in(reg32) shared_window(offset),
            in(reg32) rank, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

/// A place in the shared memory of a block.
#[derive(Clone, Copy)]
pub struct Memory(u32);

impl Memory {
    #[inline(always)]
    pub fn of(offset: u32, rank: u32) -> Self {
        Self(window(offset, rank))
    }

    #[inline(always)]
    fn at<T>(self, index: u32) -> u32 {
        self.0.wrapping_add(index.wrapping_mul(size_of::<T>() as u32))
    }

    #[inline(always)]
    pub fn load<T: Element, const N: usize>(self, index: u32) -> [T; N] {
        let place = self.at::<T>(index);
        // SAFETY: the place lies in the shared memory of a block of the cluster.
        unsafe {
            match const { vector_bytes::<T, N>() } {
                1 => {
                    let a: u16;
                    asm!("ld.shared::cluster.u8 {}, [{}];", out(reg16) a, in(reg32) place,
                        options(nostack, preserves_flags));
                    cast(a as u8)
                }
                2 => {
                    let a: u16;
                    asm!("ld.shared::cluster.b16 {}, [{}];", out(reg16) a, in(reg32) place,
                        options(nostack, preserves_flags));
                    cast(a)
                }
                4 => {
                    let a: u32;
                    asm!("ld.shared::cluster.b32 {}, [{}];", out(reg32) a, in(reg32) place,
                        options(nostack, preserves_flags));
                    cast(a)
                }
                8 => {
                    let a: u64;
                    asm!("ld.shared::cluster.b64 {}, [{}];", out(reg64) a, in(reg32) place,
                        options(nostack, preserves_flags));
                    cast(a)
                }
                _ => {
                    let (a, b): (u64, u64);
                    asm!("ld.shared::cluster.v2.b64 {{{}, {}}}, [{}];", out(reg64) a, out(reg64) b,
                        in(reg32) place, options(nostack, preserves_flags));
                    cast([a, b])
                }
            }
        }
    }

    #[inline(always)]
    pub fn store<T: Element, const N: usize>(self, index: u32, value: [T; N]) {
        let place = self.at::<T>(index);
        // SAFETY: as above.
        unsafe {
            match const { vector_bytes::<T, N>() } {
                1 => {
                    asm!("st.shared::cluster.u8 [{}], {};", in(reg32) place,
                        in(reg16) u16::from(cast::<[T; N], u8>(value)), options(nostack, preserves_flags));
                }
                2 => {
                    asm!("st.shared::cluster.b16 [{}], {};", in(reg32) place,
                        in(reg16) cast::<[T; N], u16>(value), options(nostack, preserves_flags));
                }
                4 => {
                    asm!("st.shared::cluster.b32 [{}], {};", in(reg32) place,
                        in(reg32) cast::<[T; N], u32>(value), options(nostack, preserves_flags));
                }
                8 => {
                    asm!("st.shared::cluster.b64 [{}], {};", in(reg32) place,
                        in(reg64) cast::<[T; N], u64>(value), options(nostack, preserves_flags));
                }
                _ => {
                    let [a, b]: [u64; 2] = cast(value);
                    asm!("st.shared::cluster.v2.b64 [{}], {{{}, {}}};", in(reg32) place, in(reg64) a, in(reg64) b,
                        options(nostack, preserves_flags));
                }
            }
        }
    }
}
