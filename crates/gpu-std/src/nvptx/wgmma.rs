//! `wgmma`: fence, operations, commit and wait in one piece of assembly, so that nothing comes between.
//!
//! The intrinsic before it keeps the block from being duplicated, as for `mma`; a second fence costs nothing.

use crate::wgmma::{Kind, SUMS};
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

/// All registers of the sums.
macro_rules! all {
    () => {
        concat!(
            "{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}, {16}, {17}, ",
            "{18}, {19}, {20}, {21}, {22}, {23}, {24}, {25}, {26}, {27}, {28}, {29}, {30}, {31}, {32}, {33}, ",
            "{34}, {35}, {36}, {37}, {38}, {39}, {40}, {41}, {42}, {43}, {44}, {45}, {46}, {47}, {48}, {49}, ",
            "{50}, {51}, {52}, {53}, {54}, {55}, {56}, {57}, {58}, {59}, {60}, {61}, {62}, {63}, {64}, {65}, ",
            "{66}, {67}, {68}, {69}, {70}, {71}, {72}, {73}, {74}, {75}, {76}, {77}, {78}, {79}, {80}, {81}, ",
            "{82}, {83}, {84}, {85}, {86}, {87}, {88}, {89}, {90}, {91}, {92}, {93}, {94}, {95}, {96}, {97}, ",
            "{98}, {99}, {100}, {101}, {102}, {103}, {104}, {105}, {106}, {107}, {108}, {109}, {110}, {111}, ",
            "{112}, {113}, {114}, {115}, {116}, {117}, {118}, {119}, {120}, {121}, {122}, {123}, {124}, {125}, ",
            "{126}, {127}",
        )
    };
}

macro_rules! operation {
    ($shape:literal, $tail:literal) => {
        concat!("wgmma.mma_async.sync.aligned.", $shape, " {{", all!(), "}}, a, b, p", $tail, ";\n")
    };
}

// Steps of the descriptors from one operation to the next, in units of 16 bytes: 32 bytes along k, or 16 rows of 128.
macro_rules! tile {
    ($sums:ident, $a:ident, $b:ident, $shape:literal, $tail:literal, $a_step:literal, $b_step:literal) => {{
        fence();
        // SAFETY: it reads the block's shared memory.
        unsafe {
            asm!(concat!(
                "{{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, 1, 0;\nmov.b64 a, {128};\nmov.b64 b, {129};\n",
                "wgmma.fence.sync.aligned;\n",
                operation!($shape, $tail),
                "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                operation!($shape, $tail),
                "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                operation!($shape, $tail),
                "add.s64 a, a, ", $a_step, ";\nadd.s64 b, b, ", $b_step, ";\n",
                operation!($shape, $tail),
                "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}}"),
            inout(reg32) $sums[0], inout(reg32) $sums[1], inout(reg32) $sums[2], inout(reg32) $sums[3],
            inout(reg32) $sums[4], inout(reg32) $sums[5], inout(reg32) $sums[6], inout(reg32) $sums[7],
            inout(reg32) $sums[8], inout(reg32) $sums[9], inout(reg32) $sums[10], inout(reg32) $sums[11],
            inout(reg32) $sums[12], inout(reg32) $sums[13], inout(reg32) $sums[14], inout(reg32) $sums[15],
            inout(reg32) $sums[16], inout(reg32) $sums[17], inout(reg32) $sums[18], inout(reg32) $sums[19],
            inout(reg32) $sums[20], inout(reg32) $sums[21], inout(reg32) $sums[22], inout(reg32) $sums[23],
            inout(reg32) $sums[24], inout(reg32) $sums[25], inout(reg32) $sums[26], inout(reg32) $sums[27],
            inout(reg32) $sums[28], inout(reg32) $sums[29], inout(reg32) $sums[30], inout(reg32) $sums[31],
            inout(reg32) $sums[32], inout(reg32) $sums[33], inout(reg32) $sums[34], inout(reg32) $sums[35],
            inout(reg32) $sums[36], inout(reg32) $sums[37], inout(reg32) $sums[38], inout(reg32) $sums[39],
            inout(reg32) $sums[40], inout(reg32) $sums[41], inout(reg32) $sums[42], inout(reg32) $sums[43],
            inout(reg32) $sums[44], inout(reg32) $sums[45], inout(reg32) $sums[46], inout(reg32) $sums[47],
            inout(reg32) $sums[48], inout(reg32) $sums[49], inout(reg32) $sums[50], inout(reg32) $sums[51],
            inout(reg32) $sums[52], inout(reg32) $sums[53], inout(reg32) $sums[54], inout(reg32) $sums[55],
            inout(reg32) $sums[56], inout(reg32) $sums[57], inout(reg32) $sums[58], inout(reg32) $sums[59],
            inout(reg32) $sums[60], inout(reg32) $sums[61], inout(reg32) $sums[62], inout(reg32) $sums[63],
            inout(reg32) $sums[64], inout(reg32) $sums[65], inout(reg32) $sums[66], inout(reg32) $sums[67],
            inout(reg32) $sums[68], inout(reg32) $sums[69], inout(reg32) $sums[70], inout(reg32) $sums[71],
            inout(reg32) $sums[72], inout(reg32) $sums[73], inout(reg32) $sums[74], inout(reg32) $sums[75],
            inout(reg32) $sums[76], inout(reg32) $sums[77], inout(reg32) $sums[78], inout(reg32) $sums[79],
            inout(reg32) $sums[80], inout(reg32) $sums[81], inout(reg32) $sums[82], inout(reg32) $sums[83],
            inout(reg32) $sums[84], inout(reg32) $sums[85], inout(reg32) $sums[86], inout(reg32) $sums[87],
            inout(reg32) $sums[88], inout(reg32) $sums[89], inout(reg32) $sums[90], inout(reg32) $sums[91],
            inout(reg32) $sums[92], inout(reg32) $sums[93], inout(reg32) $sums[94], inout(reg32) $sums[95],
            inout(reg32) $sums[96], inout(reg32) $sums[97], inout(reg32) $sums[98], inout(reg32) $sums[99],
            inout(reg32) $sums[100], inout(reg32) $sums[101], inout(reg32) $sums[102], inout(reg32) $sums[103],
            inout(reg32) $sums[104], inout(reg32) $sums[105], inout(reg32) $sums[106], inout(reg32) $sums[107],
            inout(reg32) $sums[108], inout(reg32) $sums[109], inout(reg32) $sums[110], inout(reg32) $sums[111],
            inout(reg32) $sums[112], inout(reg32) $sums[113], inout(reg32) $sums[114], inout(reg32) $sums[115],
            inout(reg32) $sums[116], inout(reg32) $sums[117], inout(reg32) $sums[118], inout(reg32) $sums[119],
            inout(reg32) $sums[120], inout(reg32) $sums[121], inout(reg32) $sums[122], inout(reg32) $sums[123],
            inout(reg32) $sums[124], inout(reg32) $sums[125], inout(reg32) $sums[126], inout(reg32) $sums[127],
            in(reg64) $a, in(reg64) $b, options(nostack, preserves_flags));
        }
    }};
}

#[inline(always)]
pub fn multiply_add(kind: Kind, a_across: bool, b_across: bool, sums: &mut [u32; SUMS], a: u32, b: u32) {
    let (a, b) = (descriptor(a, a_across), descriptor(b, b_across));
    match (kind, a_across, b_across) {
        (Kind::Bf16, false, false) => {
            tile!(sums, a, b, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0", 2, 2)
        }
        (Kind::Bf16, false, true) => {
            tile!(sums, a, b, "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 1", 2, 128)
        }
        (Kind::Bf16, true, false) => {
            tile!(sums, a, b, "m64n256k16.f32.bf16.bf16", ", 1, 1, 1, 0", 128, 2)
        }
        (Kind::Bf16, true, true) => {
            tile!(sums, a, b, "m64n256k16.f32.bf16.bf16", ", 1, 1, 1, 1", 128, 128)
        }
        (Kind::F16, false, false) => tile!(sums, a, b, "m64n256k16.f32.f16.f16", ", 1, 1, 0, 0", 2, 2),
        (Kind::F16, false, true) => tile!(sums, a, b, "m64n256k16.f32.f16.f16", ", 1, 1, 0, 1", 2, 128),
        (Kind::F16, true, false) => tile!(sums, a, b, "m64n256k16.f32.f16.f16", ", 1, 1, 1, 0", 128, 2),
        (Kind::F16, true, true) => tile!(sums, a, b, "m64n256k16.f32.f16.f16", ", 1, 1, 1, 1", 128, 128),
        (Kind::Tf32, ..) => tile!(sums, a, b, "m64n256k8.f32.tf32.tf32", ", 1, 1", 2, 2),
        (Kind::S8, ..) => tile!(sums, a, b, "m64n256k32.s32.s8.s8", "", 2, 2),
    }
}
