//! Matrix operations of a warp.
//!
//! LLVM has intrinsics for them, but does not know them to be convergent: it sinks them into the branch that uses their
//! result. So they are assembly with an effect, which it leaves where it is, behind an intrinsic that keeps the block from being
//! duplicated, and of which ptxas leaves nothing.

use super::warp::activemask;
use core::arch::asm;

#[cfg(target_feature = "sm_90")]
#[inline(always)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    let (a, b) = (a.map(f64::to_bits), b.map(f64::to_bits));
    let mut d = c.map(f64::to_bits);
    let _ = activemask();
    // SAFETY: it computes with registers.
    unsafe {
        asm!(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {{{0}, {1}, {2}, {3}}}, \
             {{{4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}}}, {{{12}, {13}, {14}, {15}}}, {{{0}, {1}, {2}, {3}}};",
            inout(reg64) d[0], inout(reg64) d[1], inout(reg64) d[2], inout(reg64) d[3],
            in(reg64) a[0], in(reg64) a[1], in(reg64) a[2], in(reg64) a[3],
            in(reg64) a[4], in(reg64) a[5], in(reg64) a[6], in(reg64) a[7],
            in(reg64) b[0], in(reg64) b[1], in(reg64) b[2], in(reg64) b[3],
            options(nomem, nostack, preserves_flags)
        );
    }
    d.map(f64::from_bits)
}

#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], mut c: [f64; 4]) -> [f64; 4] {
    let _ = activemask();
    // The fragments of the larger operation are those of the smaller ones, one after the other.
    crate::unroll::<4>(|k| {
        [c[0], c[1]] = m8n8k4_f64(a[2 * k], b[k], [c[0], c[1]]);
        [c[2], c[3]] = m8n8k4_f64(a[2 * k + 1], b[k], [c[2], c[3]]);
    });
    c
}

#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
fn m8n8k4_f64(a: f64, b: f64, c: [f64; 2]) -> [f64; 2] {
    let mut d = c.map(f64::to_bits);
    // SAFETY: it computes with registers.
    unsafe {
        asm!(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{0}, {1}}}, {{{2}}}, {{{3}}}, {{{0}, {1}}};",
            inout(reg64) d[0], inout(reg64) d[1], in(reg64) a.to_bits(), in(reg64) b.to_bits(),
            options(nomem, nostack, preserves_flags)
        );
    }
    d.map(f64::from_bits)
}
