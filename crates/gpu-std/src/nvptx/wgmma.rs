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

/// One operation on all registers of the sums, whose A is what is named.
macro_rules! operation {
    ($n:literal, $types:literal, $a:literal, $tail:literal, [$($at:literal)*] $last:literal) => {
        concat!(
            "wgmma.mma_async.sync.aligned.m64n", $n, $types, " {{", $("{", $at, "}, ",)* "{", $last, "}}}, ", $a,
            ", b, p", $tail, ";\n"
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
                    operation!($n, $types, "a", $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, "a", $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, "a", $tail, [$($at)*] $last),
                    "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                    operation!($n, $types, "a", $tail, [$($at)*] $last),
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

/// The same with the words of A in registers, four an operation.
macro_rules! rows {
    ($sums:ident, $a:ident, $b:ident, $n:literal, $types:literal, $tail:literal, $b_step:literal, $numbers:tt $last:literal) => {
        if const { WORDS == 16 } {
            rows!(
                @of $sums, $a, $b, $n, $types, $tail, $b_step, $numbers $last;
                "{{{a0}, {a1}, {a2}, {a3}}}" "{{{a4}, {a5}, {a6}, {a7}}}"
                "{{{a8}, {a9}, {a10}, {a11}}}" "{{{a12}, {a13}, {a14}, {a15}}}";
                a0 0, a1 1, a2 2, a3 3, a4 4, a5 5, a6 6, a7 7,
                a8 8, a9 9, a10 10, a11 11, a12 12, a13 13, a14 14, a15 15
            )
        } else {
            rows!(
                @of $sums, $a, $b, $n, $types, $tail, $b_step, $numbers $last;
                "{{{a0}, {a1}, {a2}, {a3}}}"; a0 0, a1 1, a2 2, a3 3
            )
        }
    };
    (
        @of $sums:ident, $a:ident, $b:ident, $n:literal, $types:literal, $tail:literal, $b_step:literal,
        $numbers:tt $last:literal; $($four:literal)*; $($name:ident $at:literal),*
    ) => {
        rows!(
            @asm $sums, $b, $numbers $last,
            concat!($(operation!($n, $types, $four, $tail, $numbers $last), "add.s64 b, b, ", $b_step, ";\n",)*);
            $($name = in(reg32) $a[$at % WORDS],)*
        )
    };
    (@asm $sums:ident, $b:ident, [$($number:literal)*] $last:literal, $operations:expr; $($words:tt)*) => {{
        fence();
        // SAFETY: it reads the block's shared memory.
        unsafe {
            asm!(
                concat!(
                    "{{\n.reg .pred p;\n.reg .b64 b;\nsetp.ne.b32 p, 1, 0;\nmov.b64 b, {b};\n",
                    "wgmma.fence.sync.aligned;\n",
                    $operations,
                    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}}"
                ),
                $(inout(reg32) $sums[$number],)*
                inout(reg32) $sums[$last],
                $($words)*
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

/// The same with A in registers.
macro_rules! kinds_of_rows {
    ($of:expr, $sums:ident, $a:ident, $b:ident, $n:literal, $numbers:tt $last:literal) => {
        match $of {
            (Kind::Bf16, false) => {
                rows!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 0", 2, $numbers $last)
            }
            (Kind::Bf16, true) => {
                rows!($sums, $a, $b, $n, "k16.f32.bf16.bf16", ", 1, 1, 1", 128, $numbers $last)
            }
            (Kind::F16, false) => {
                rows!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 0", 2, $numbers $last)
            }
            (Kind::F16, true) => {
                rows!($sums, $a, $b, $n, "k16.f32.f16.f16", ", 1, 1, 1", 128, $numbers $last)
            }
            (Kind::Tf32, _) => rows!($sums, $a, $b, $n, "k8.f32.tf32.tf32", ", 1, 1", 2, $numbers $last),
            (Kind::S8, _) => rows!($sums, $a, $b, $n, "k32.s32.s8.s8", "", 2, $numbers $last),
        }
    };
}

/// By how many sums a thread has, with the numbers of their registers.
macro_rules! by_columns {
    ($SUMS:ident, $kinds:ident, $of:expr, $sums:ident, $a:ident, $b:ident) => {
        if const { $SUMS == 128 } {
            $kinds!($of, $sums, $a, $b, "256", [
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36
            37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70
            71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102
            103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126
            ] 127);
        } else {
            $kinds!($of, $sums, $a, $b, "128", [
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36
            37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
            ] 63);
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
    by_columns!(SUMS, kinds, (kind, a_across, b_across), sums, a, b);
}

#[inline(always)]
pub fn multiply_add_rows<const WORDS: usize, const SUMS: usize>(
    kind: Kind,
    b_across: bool,
    sums: &mut [u32; SUMS],
    a: [u32; WORDS],
    first: u32,
    b: u32,
) {
    // An operation takes four words and is a step further.
    let b = descriptor(b, b_across) + u64::from(first / 4) * if b_across { 128 } else { 2 };
    by_columns!(SUMS, kinds_of_rows, (kind, b_across), sums, a, b);
}

#[inline(always)]
pub fn round_tf32(bits: u32) -> u32 {
    let rounded: u32;
    // SAFETY: it takes a number, nothing more.
    unsafe {
        asm!("cvt.rn.tf32.f32 {0}, {1};", out(reg32) rounded, in(reg32) bits, options(nomem, nostack, preserves_flags));
    }
    rounded
}
