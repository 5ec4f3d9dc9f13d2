//! Operations of a warp: all LLVM intrinsics, because lanes cooperate in them.

use crate::warp::{ReduceOp, ShuffleMode};

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub safe fn lane_id() -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    pub safe fn activemask() -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub safe fn sync_warp(mask: u32);
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub safe fn all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub safe fn any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub safe fn ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    pub safe fn match_any_32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    pub safe fn match_any_64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    safe fn shuffle_up(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    safe fn shuffle_down(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    safe fn shuffle_xor(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    safe fn shuffle_index(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
}

// These return the value and the predicate as an LLVM pair, which the C ABI would pack into one integer.
#[allow(improper_ctypes)]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.shfl.sync.up.i32p"]
    safe fn shuffle_up_valid(mask: u32, value: u32, operand: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.down.i32p"]
    safe fn shuffle_down_valid(mask: u32, value: u32, operand: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32p"]
    safe fn shuffle_xor_valid(mask: u32, value: u32, operand: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32p"]
    safe fn shuffle_index_valid(mask: u32, value: u32, operand: u32, clamp: u32) -> (u32, bool);
    #[link_name = "llvm.nvvm.elect.sync"]
    safe fn elect_sync(mask: u32) -> (u32, bool);
}

#[inline(always)]
pub fn elect(mask: u32) -> bool {
    elect_sync(mask).1
}

// The instruction's third operand: the width as a lane mask in bits 8 to 12, the last lane of a segment in bits 0 to 4.
#[inline(always)]
fn clamp(mode: ShuffleMode, width: u32) -> u32 {
    let segment = 32u32.wrapping_sub(width) << 8;
    match mode {
        ShuffleMode::Up => segment,
        _ => segment | 31,
    }
}

#[inline(always)]
pub fn shuffle(mode: ShuffleMode, mask: u32, value: u32, operand: u32, width: u32) -> u32 {
    let clamp = clamp(mode, width);
    match mode {
        ShuffleMode::Up => shuffle_up(mask, value, operand, clamp),
        ShuffleMode::Down => shuffle_down(mask, value, operand, clamp),
        ShuffleMode::Xor => shuffle_xor(mask, value, operand, clamp),
        ShuffleMode::Index => shuffle_index(mask, value, operand, clamp),
    }
}

#[inline(always)]
pub fn shuffle_valid(mode: ShuffleMode, mask: u32, value: u32, operand: u32, width: u32) -> (u32, bool) {
    let clamp = clamp(mode, width);
    match mode {
        ShuffleMode::Up => shuffle_up_valid(mask, value, operand, clamp),
        ShuffleMode::Down => shuffle_down_valid(mask, value, operand, clamp),
        ShuffleMode::Xor => shuffle_xor_valid(mask, value, operand, clamp),
        ShuffleMode::Index => shuffle_index_valid(mask, value, operand, clamp),
    }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn reduce(op: ReduceOp, mask: u32, value: u32) -> u32 {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.redux.sync.add"]
        safe fn add(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.umin"]
        safe fn umin(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.umax"]
        safe fn umax(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.min"]
        safe fn smin(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.max"]
        safe fn smax(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.and"]
        safe fn and(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.or"]
        safe fn or(value: u32, mask: u32) -> u32;
        #[link_name = "llvm.nvvm.redux.sync.xor"]
        safe fn xor(value: u32, mask: u32) -> u32;
    }
    match op {
        ReduceOp::Add => add(value, mask),
        ReduceOp::MinUnsigned => umin(value, mask),
        ReduceOp::MaxUnsigned => umax(value, mask),
        ReduceOp::MinSigned => smin(value, mask),
        ReduceOp::MaxSigned => smax(value, mask),
        ReduceOp::And => and(value, mask),
        ReduceOp::Or => or(value, mask),
        ReduceOp::Xor => xor(value, mask),
    }
}

// Before sm_80 there is no such instruction. Each lane collects the values of the lanes in `mask` one by one: right for
// any mask, and for a full warp the same 5 shuffles that everybody writes.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn reduce(op: ReduceOp, mask: u32, value: u32) -> u32 {
    let mut total = value;
    if mask == u32::MAX {
        let mut distance = 16;
        while distance > 0 {
            total = op.apply(total, shuffle(ShuffleMode::Xor, mask, total, distance, 32));
            distance /= 2;
        }
        return total;
    }
    let first = mask.trailing_zeros();
    let mut rest = mask & mask.wrapping_sub(1);
    total = shuffle(ShuffleMode::Index, mask, value, first, 32);
    while rest != 0 {
        total = op.apply(total, shuffle(ShuffleMode::Index, mask, value, rest.trailing_zeros(), 32));
        rest &= rest.wrapping_sub(1);
    }
    total
}
