//! `wgmma`: fence, operations, commit and wait in one piece of assembly, so that nothing comes between.
//!
//! The intrinsic before it keeps the block from being duplicated, as for `mma`; a second fence costs nothing.

use crate::wgmma::Kind;
use core::arch::asm;

use super::memory::shared_window_1024;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.wgmma.fence.sync.aligned"]
    safe fn fence();
}

/// Bits 62 and 63 of a descriptor: 128-byte swizzle.
const SWIZZLE_128: u64 = 1 << 62;
/// From 8 rows of a tile to the next 8, in units of 16 bytes, where the descriptor has it.
const EIGHT_ROWS: u64 = (1024 >> 4) << 32;
/// From 64 elements across to the next 64.
const ACROSS: u64 = (8192 >> 4) << 16;

/// What the instruction knows of a tile: where it starts, and its strides. Those along `k` need no second one.
#[inline(always)]
fn descriptor(offset: u32, across: bool) -> u64 {
    let address = u64::from(shared_window_1024(offset) >> 4 & 0x3fff);
    address | if across { ACROSS } else { 1 << 16 } | EIGHT_ROWS | SWIZZLE_128
}

/// One operation on all registers of the sums.
macro_rules! operation {
    ($n:literal, $types:literal, $tail:literal, [$($at:literal)*] $last:literal) => {
        concat!(
            "wgmma.mma_async.sync.aligned.m64n", $n, $types, " {{", $("{", $at, "}, ",)* "{", $last, "}}}, a, b, p",
            $tail, ";\n"
        )
    };
}

/// A tile's four operations: steps of the descriptors from one to the next are in units of 16 bytes, 32 bytes along k or 16
/// rows of 128.
macro_rules! tile {
    (
        $sums:ident, $a:ident, $b:ident, $n:literal, $types:literal, $tail:literal, $a_step:literal, $b_step:literal,
        [$($at:literal)*] $last:literal
    ) => {{
        fence();
        // SAFETY: it reads the block's shared memory.
        unsafe {
            asm!(
                concat!(
                    "{{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, 1, 0;\nmov.b64 a, {a};\nmov.b64 b, {b};\n",
                    "wgmma.fence.sync.aligned;\n",
                    operation!($n, $types, $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, $tail, [$($at)*] $last),
                    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}}"
                ),
                $(inout(reg32) $sums[$at],)*
                inout(reg32) $sums[$last],
                a = in(reg64) $a,
                b = in(reg64) $b,
                options(nostack, preserves_flags)
            );
        }
    }};
}

/// The tile's operations by kind and order, so many columns wide, on the registers of these numbers.
macro_rules! kinds {
    ($of:expr, $sums:ident, $a:ident, $b:ident, $n:literal, $numbers:tt $last:literal) => {
        match $of {
            (Kind::Bf16, false, false) => {
                tile!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 0, 0", 2, 2, $numbers $last)
            }
            (Kind::Bf16, false, true) => {
                tile!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 0, 1", 2, 128, $numbers $last)
            }
            (Kind::Bf16, true, false) => {
                tile!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 1, 0", 128, 2, $numbers $last)
            }
            (Kind::Bf16, true, true) => {
                tile!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 1, 1", 128, 128, $numbers $last)
            }
            (Kind::F16, false, false) => {
                tile!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 0, 0", 2, 2, $numbers $last)
            }
            (Kind::F16, false, true) => {
                tile!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 0, 1", 2, 128, $numbers $last)
            }
            (Kind::F16, true, false) => {
                tile!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 1, 0", 128, 2, $numbers $last)
            }
            (Kind::F16, true, true) => {
                tile!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 1, 1", 128, 128, $numbers $last)
            }
            (Kind::Tf32, ..) => tile!($sums, $a, $b, $n, "k8.f32.tf32.tf32", ", 1, 1", 2, 2, $numbers $last),
            (Kind::S8, ..) => tile!($sums, $a, $b, $n, "k32.s32.s8.s8", "", 2, 2, $numbers $last),
        }
    };
}

#[inline(always)]
pub fn multiply_add<const SUMS: usize>(
    kind: Kind,
    a_across: bool,
    b_across: bool,
    sums: &mut [u32; SUMS],
    a: u32,
    b: u32,
) {
    let (a, b) = (descriptor(a, a_across), descriptor(b, b_across));
    let of = (kind, a_across, b_across);
    if const { SUMS == 128 } {
        kinds!(of, sums, a, b, "256", [
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36
        37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70
        71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102
        103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126
        ] 127);
    } else {
        kinds!(of, sums, a, b, "128", [
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36
        37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
        ] 63);
    }
}
