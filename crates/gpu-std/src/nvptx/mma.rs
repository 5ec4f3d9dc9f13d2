//! Matrix operations of a warp.
//!
//! LLVM has intrinsics for them, but does not know them to be convergent: it sinks them into the branch that uses
//! their result. So they are assembly with an effect, which it leaves where it is, behind an intrinsic that keeps the
//! block from being duplicated, and of which ptxas leaves nothing.

use super::warp::activemask;
use crate::wgmma::Kind;
use core::arch::asm;

// Elements that a lane brings of A and of B, and their places in the instruction.
macro_rules! products_of_doubles {
    ($($name:ident: $shape:literal, $A:literal [$($a:literal)*] $of_a:literal, $B:literal [$($b:literal)*] $of_b:literal;)*) => { $(
        #[cfg(target_feature = "sm_90")]
        #[inline(always)]
        pub fn $name(a: [f64; $A], b: [f64; $B], c: [f64; 4]) -> [f64; 4] {
            let (a, b) = (a.map(f64::to_bits), b.map(f64::to_bits));
            let mut d = c.map(f64::to_bits);
            let _ = activemask();
            // SAFETY: it computes with registers.
            unsafe {
                asm!(
                    concat!(
                        "mma.sync.aligned.", $shape, ".row.col.f64.f64.f64.f64 {{{d0}, {d1}, {d2}, {d3}}}, ",
                        "{{", $of_a, "}}, {{", $of_b, "}}, {{{d0}, {d1}, {d2}, {d3}}};",
                    ),
                    $(in(reg64) a[$a],)*
                    $(in(reg64) b[$b],)*
                    d0 = inout(reg64) d[0], d1 = inout(reg64) d[1], d2 = inout(reg64) d[2], d3 = inout(reg64) d[3],
                    options(nomem, nostack, preserves_flags)
                );
            }
            d.map(f64::from_bits)
        }

        #[cfg(not(target_feature = "sm_90"))]
        #[inline(always)]
        pub fn $name(a: [f64; $A], b: [f64; $B], mut c: [f64; 4]) -> [f64; 4] {
            let _ = activemask();
            // The fragments of the larger operation are those of the smaller ones, one after the other.
            crate::unroll::<$B>(|k| {
                [c[0], c[1]] = m8n8k4_f64(a[2 * k], b[k], [c[0], c[1]]);
                [c[2], c[3]] = m8n8k4_f64(a[2 * k + 1], b[k], [c[2], c[3]]);
            });
            c
        }
    )* };
}
products_of_doubles! {
    m16n8k4_f64: "m16n8k4", 2 [0 1] "{}, {}", 1 [0] "{}";
    m16n8k8_f64: "m16n8k8", 4 [0 1 2 3] "{}, {}, {}, {}", 2 [0 1] "{}, {}";
    m16n8k16_f64: "m16n8k16", 8 [0 1 2 3 4 5 6 7] "{}, {}, {}, {}, {}, {}, {}, {}", 4 [0 1 2 3] "{}, {}, {}, {}";
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

macro_rules! products_of_words {
    ($($name:ident: $shape:literal $sum:literal $type:literal;)*) => { $(
        #[inline(always)]
        pub fn $name(a: [u32; 4], b: [u32; 2], c: [u32; 4]) -> [u32; 4] {
            let mut d = c;
            let _ = activemask();
            // SAFETY: it computes with registers.
            unsafe {
                asm!(
                    concat!(
                        "mma.sync.aligned.", $shape, ".row.col.", $sum, ".", $type, ".", $type, ".", $sum,
                        " {{{0}, {1}, {2}, {3}}}, ",
                        "{{{4}, {5}, {6}, {7}}}, {{{8}, {9}}}, {{{0}, {1}, {2}, {3}}};",
                    ),
                    inout(reg32) d[0], inout(reg32) d[1], inout(reg32) d[2], inout(reg32) d[3],
                    in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], in(reg32) b[0], in(reg32) b[1],
                    options(nomem, nostack, preserves_flags)
                );
            }
            d
        }
    )* };
}
#[cfg(target_feature = "sm_80")]
products_of_words! {
    f16: "m16n8k16" "f32" "f16";
}

/// Before 8.0 there are products of half as long sums: two of them, one after the other.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
fn f16(a: [u32; 4], b: [u32; 2], c: [u32; 4]) -> [u32; 4] {
    let half = |a: [u32; 2], b: u32, c: [u32; 4]| {
        let mut d = c;
        let _ = activemask();
        // SAFETY: it computes with registers.
        unsafe {
            asm!(
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{{0}, {1}, {2}, {3}}}, {{{4}, {5}}}, {{{6}}}, \
                {{{0}, {1}, {2}, {3}}};",
                inout(reg32) d[0], inout(reg32) d[1], inout(reg32) d[2], inout(reg32) d[3],
                in(reg32) a[0], in(reg32) a[1], in(reg32) b,
                options(nomem, nostack, preserves_flags)
            );
        }
        d
    };
    half([a[2], a[3]], b[1], half([a[0], a[1]], b[0], c))
}

products_of_words! {
    bf16: "m16n8k16" "f32" "bf16";
    tf32: "m16n8k8" "f32" "tf32";
    s8: "m16n8k32" "s32" "s8";
}

#[inline(always)]
pub fn multiply_add(kind: Kind, a: [u32; 4], b: [u32; 2], c: [u32; 4]) -> [u32; 4] {
    match kind {
        Kind::F16 => f16(a, b, c),
        Kind::Bf16 => bf16(a, b, c),
        Kind::Tf32 => tf32(a, b, c),
        Kind::S8 => s8(a, b, c),
    }
}

/// It reads memory: the clobber keeps it between barriers.
#[inline(always)]
pub fn load_matrices<const TRANSPOSED: bool>(row: u32) -> [u32; 4] {
    let row = super::memory::shared_window(row);
    let (a, b, c, d): (u32, u32, u32, u32);
    let _ = activemask();
    // SAFETY: rows lie in the block's shared memory.
    unsafe {
        if TRANSPOSED {
            asm!("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b,
                out(reg32) c, out(reg32) d, in(reg32) row, options(nostack, preserves_flags));
        } else {
            asm!("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}, {}, {}, {}}}, [{}];", out(reg32) a, out(reg32) b,
                out(reg32) c, out(reg32) d, in(reg32) row, options(nostack, preserves_flags));
        }
    }
    [a, b, c, d]
}

/// It writes memory: the clobber keeps it between barriers.
#[inline(always)]
pub fn store_matrices(row: u32, [a, b, c, d]: [u32; 4]) {
    let row = super::memory::shared_window(row);
    let _ = activemask();
    // SAFETY: rows lie in the block's shared memory.
    unsafe {
        asm!("stmatrix.sync.aligned.m8n8.x4.shared.b16 [{}], {{{}, {}, {}, {}}};", in(reg32) row, in(reg32) a,
            in(reg32) b, in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
    }
}

macro_rules! packs {
    ($($name:ident: $instruction:literal;)*) => { $(
        #[inline(always)]
        pub fn $name(first: f32, second: f32) -> u32 {
            let word: u32;
            // SAFETY: it computes with registers.
            unsafe {
                asm!(
                    concat!($instruction, " {}, {}, {};"),
                    out(reg32) word, in(reg32) second, in(reg32) first,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            word
        }
    )* };
}
#[cfg(target_feature = "sm_80")]
packs! {
    pack_f16: "cvt.rn.f16x2.f32";
}

/// Before 8.0 elements are converted one by one.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn pack_f16(first: f32, second: f32) -> u32 {
    let bits = |value: f32| crate::half::f16::from_f32(value).to_bits() as u32;
    bits(second) << 16 | bits(first)
}

packs! {
    pack_bf16: "cvt.rn.bf16x2.f32";
}
