//! Operations of a warp.

use crate::warp::{ReduceOp, ShuffleMode};
use gpu_sim::device::{self, Redux, Shuffle, Vote};

/// As the simulator numbers lanes: 32 threads in a row of the block's linear index.
#[track_caller]
pub fn lane_id() -> u32 {
    let ([x, y, z], [width, height, _]) = (device::thread_idx(), device::block_dim());
    (x + width * (y + height * z)) % 32
}

#[track_caller]
pub fn activemask() -> u32 {
    device::active_mask()
}

/// The last lane, so that nobody takes it for the first.
#[track_caller]
pub fn elect(mask: u32) -> bool {
    let lanes = device::vote(mask, Vote::Ballot, true);
    lane_id() == 31 - lanes.leading_zeros()
}

#[track_caller]
pub fn sync_warp(mask: u32) {
    device::sync_warp(mask);
}

#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    device::vote(mask, Vote::All, predicate) != 0
}

#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    device::vote(mask, Vote::Any, predicate) != 0
}

#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    device::vote(mask, Vote::Ballot, predicate)
}

// The simulator compares 64 bits, so that both are one operation.
#[track_caller]
pub fn match_any_32(mask: u32, value: u32) -> u32 {
    device::match_any(mask, u64::from(value))
}

#[track_caller]
pub fn match_any_64(mask: u32, value: u64) -> u32 {
    device::match_any(mask, value)
}

#[track_caller]
pub fn shuffle_valid(mode: ShuffleMode, mask: u32, value: u32, operand: u32, width: u32) -> (u32, bool) {
    let mode = match mode {
        ShuffleMode::Up => Shuffle::Up,
        ShuffleMode::Down => Shuffle::Down,
        ShuffleMode::Xor => Shuffle::Xor,
        ShuffleMode::Index => Shuffle::Index,
    };
    device::shuffle(mask, mode, value, operand, width)
}

#[track_caller]
pub fn shuffle(mode: ShuffleMode, mask: u32, value: u32, operand: u32, width: u32) -> u32 {
    shuffle_valid(mode, mask, value, operand, width).0
}

#[track_caller]
pub fn reduce(op: ReduceOp, mask: u32, value: u32) -> u32 {
    let op = match op {
        ReduceOp::Add => Redux::Add,
        ReduceOp::MinUnsigned => Redux::MinU,
        ReduceOp::MaxUnsigned => Redux::MaxU,
        ReduceOp::MinSigned => Redux::MinS,
        ReduceOp::MaxSigned => Redux::MaxS,
        ReduceOp::And => Redux::And,
        ReduceOp::Or => Redux::Or,
        ReduceOp::Xor => Redux::Xor,
    };
    device::redux(mask, op, value)
}
