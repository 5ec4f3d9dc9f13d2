//! What the lanes of a warp do together.
//!
//! Of these only `sync_warp` orders memory: PTX gives shuffles, votes, reductions and matches no such effect.

use std::panic::Location;

use crate::engine::collective::{Kind, OPERANDS};
use crate::engine::fiber::suspend;
use crate::engine::{Caller, on_thread, with};
use crate::fault::FaultKind;

/// Where a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// From the lane `operand` below, if in the segment.
    Up,
    /// From the lane `operand` above, if in the segment.
    Down,
    /// From the lane whose number differs in the bits of `operand`.
    Xor,
    /// From lane `operand` of the segment.
    Index,
}

/// What a vote answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// One if the predicate holds for all lanes of the mask, else zero.
    All,
    /// One if it holds for any, else zero.
    Any,
    /// A bit per lane for which it holds.
    Ballot,
}

/// How `redux` combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redux {
    /// Sum, wrapping.
    Add,
    /// Minimum, unsigned.
    MinU,
    /// Maximum, unsigned.
    MaxU,
    /// Minimum, signed.
    MinS,
    /// Maximum, signed.
    MaxS,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

fn meet(kind: Kind, mask: u32, value: u64, operand: (u32, u32), caller: Caller) -> u64 {
    let arrived = on_thread(caller, |engine| engine.arrive_collective(kind, mask, value, operand, caller));
    let Some(completed) = arrived else { return 0 };
    if !completed {
        suspend();
    }
    with(|engine| {
        let tid = engine.current.tid as usize;
        engine.block().threads[tid].result
    })
}

/// Waits for the lanes of the mask, and orders what they did before against what they do after.
#[track_caller]
pub fn sync_warp(mask: u32) {
    meet(Kind::Sync, mask, 0, (0, 0), Location::caller());
}

/// Exchanges values between lanes, in segments of `width` lanes (a power of two up to 32). Also says whether the
/// source lay in the segment; where not, the value is the lane's own. Reading a lane that is not in the mask is a
/// fault.
#[track_caller]
pub fn shuffle(mask: u32, mode: Shuffle, value: u32, operand: u32, width: u32) -> (u32, bool) {
    let caller = Location::caller();
    if !width.is_power_of_two() || width > 32 {
        let allowed = "a power of two up to 32";
        let kind =
            FaultKind::InvalidOperand { operation: "shuffle", what: "width", value: width.into(), allowed };
        on_thread(caller, |engine| engine.raise(kind, caller));
    }
    let result = meet(Kind::Shuffle(mode), mask, value.into(), (operand, width), caller);
    (result as u32, result >> 32 != 0)
}

/// Asks the lanes of the mask about a predicate.
#[track_caller]
pub fn vote(mask: u32, mode: Vote, predicate: bool) -> u32 {
    meet(Kind::Vote(mode), mask, predicate.into(), (0, 0), Location::caller()) as u32
}

/// Combines a value of every lane of the mask.
#[track_caller]
pub fn redux(mask: u32, op: Redux, value: u32) -> u32 {
    meet(Kind::Redux(op), mask, value.into(), (0, 0), Location::caller()) as u32
}

/// The lanes of the mask that brought the same value as this one.
#[track_caller]
pub fn match_any(mask: u32, value: u64) -> u32 {
    meet(Kind::Match, mask, value, (0, 0), Location::caller()) as u32
}

/// Brings `operands` (12 numbers at most) to a matrix operation of all 32 lanes, and gives what all lanes brought to
/// `look`. A warp without 32 lanes is a fault. It orders no memory.
#[track_caller]
pub fn matrix<const N: usize, R>(
    operands: [f64; N],
    look: impl FnOnce(&dyn Fn(usize, usize) -> f64) -> R,
) -> R {
    const { assert!(N <= OPERANDS) };
    let caller = Location::caller();
    let mut all = [0.0; OPERANDS];
    all[..N].copy_from_slice(&operands);
    let arrived = on_thread(caller, |engine| {
        engine.bring(all, caller);
        engine.arrive_collective(Kind::Matrix, u32::MAX, 0, (0, 0), caller)
    });
    let Some(completed) = arrived else { return look(&|_, _| 0.0) };
    if !completed {
        suspend();
    }
    // `look` may call device functions: the engine is not borrowed meanwhile.
    let brought = with(|engine| engine.brought());
    look(&|lane, operand| brought[lane][operand])
}

/// Lanes that are active together with this one. The simulator collects the lanes of the warp that reach this call
/// while no other can run, and nearly always splits them: hardware promises no more than that the caller is among them.
#[track_caller]
pub fn active_mask() -> u32 {
    let caller = Location::caller();
    if on_thread(caller, |engine| engine.gather(caller)).is_none() {
        return 0;
    }
    suspend();
    with(|engine| {
        let tid = engine.current.tid as usize;
        engine.block().threads[tid].result as u32
    })
}
