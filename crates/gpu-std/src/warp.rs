//! Operations among the 32 lanes of a warp.
//!
//! `mask` names the lanes that take part, bit *i* for lane *i*: each of them must call with the same mask, and wait
//! there for the others. A lane outside its own mask, or one in the mask that never comes, is undefined behaviour on
//! the GPU and a reported fault in the simulator.
//!
//! Functions named `warp_…` and their arguments are those of `cuda_std`; [`shuffle_up`] and its siblings are short
//! forms for segments of 32 lanes, without the flag.

use crate::backend::warp as backend;
use crate::memory::Element;

/// The mask of all 32 lanes.
pub const FULL: u32 = u32::MAX;

/// How a shuffle finds the lane to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShuffleMode {
    /// The lane `operand` below.
    Up,
    /// The lane `operand` above.
    Down,
    /// The lane whose number differs in the bits of `operand`.
    Xor,
    /// Lane `operand` of the segment.
    Index,
}

/// What [`warp_reduce`] combines with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, modulo 2³².
    Add,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// A reduction of 32-bit words: [`WarpReductionOp`] with the type's sign in it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    Add,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
}

impl ReduceOp {
    /// The two words combined.
    #[inline(always)]
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::MinUnsigned => a.min(b),
            Self::MaxUnsigned => a.max(b),
            Self::MinSigned => (a as i32).min(b as i32) as u32,
            Self::MaxSigned => (a as i32).max(b as i32) as u32,
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
        }
    }
}

/// A value that lanes can shuffle: a word for up to 32 bits, two for 64, four for 128.
pub trait WarpShuffleValue: Element {
    /// Shuffles it word by word; the flag says whether the source lane was inside the segment.
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_valid(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> (Self, bool);
    /// The same without the flag.
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> Self;
}

macro_rules! shuffle_values {
    ($($t:ty: $to:expr, $from:expr;)*) => { $(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shuffle_valid(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> (Self, bool) {
                let (bits, valid) = backend::shuffle_valid(mode, mask, $to(self), operand, width);
                ($from(bits), valid)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shuffle(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> Self {
                $from(backend::shuffle(mode, mask, $to(self), operand, width))
            }
        }
    )* };
}
shuffle_values! {
    u8: |v| v as u32, |v| v as u8;
    i8: |v| v as u32, |v| v as i8;
    u16: |v| v as u32, |v| v as u16;
    i16: |v| v as u32, |v| v as i16;
    u32: |v| v, |v| v;
    i32: |v| v as u32, |v| v as i32;
    f32: f32::to_bits, f32::from_bits;
}

macro_rules! shuffle_values_64 {
    ($($t:ty: $to:expr, $from:expr;)*) => { $(
        impl WarpShuffleValue for $t {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shuffle_valid(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> (Self, bool) {
                let bits: u64 = $to(self);
                let (low, valid) = backend::shuffle_valid(mode, mask, bits as u32, operand, width);
                let high = backend::shuffle(mode, mask, (bits >> 32) as u32, operand, width);
                ($from(u64::from(high) << 32 | u64::from(low)), valid)
            }
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn shuffle(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> Self {
                let bits: u64 = $to(self);
                let low = backend::shuffle(mode, mask, bits as u32, operand, width);
                let high = backend::shuffle(mode, mask, (bits >> 32) as u32, operand, width);
                $from(u64::from(high) << 32 | u64::from(low))
            }
        }
    )* };
}
shuffle_values_64! {
    u64: |v| v, |v| v;
    i64: |v| v as u64, |v| v as i64;
    f64: f64::to_bits, f64::from_bits;
}

impl WarpShuffleValue for u128 {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_valid(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> (Self, bool) {
        let (low, valid) = (self as u64).shuffle_valid(mode, mask, operand, width);
        let high = ((self >> 64) as u64).shuffle(mode, mask, operand, width);
        (u128::from(high) << 64 | u128::from(low), valid)
    }
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle(self, mode: ShuffleMode, mask: u32, operand: u32, width: u32) -> Self {
        let low = (self as u64).shuffle(mode, mask, operand, width);
        let high = ((self >> 64) as u64).shuffle(mode, mask, operand, width);
        u128::from(high) << 64 | u128::from(low)
    }
}

macro_rules! shuffles {
    ($($full:ident, $short:ident, $mode:ident, $operand:ident, $what:literal;)*) => { $(
        #[doc = concat!("The value of ", $what, ", and whether that lane is inside the segment of `width` lanes ")]
        /// (a power of two, at most 32) that this lane belongs to. Where it is not, the lane's own value.
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $full<T: WarpShuffleValue>(mask: u32, value: T, $operand: u32, width: u32) -> (T, bool) {
            value.shuffle_valid(ShuffleMode::$mode, mask, $operand, width)
        }

        #[doc = concat!("The value of ", $what, " of the whole warp; where there is no such lane, the lane's own.")]
        #[inline(always)]
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        pub fn $short<T: WarpShuffleValue>(mask: u32, value: T, $operand: u32) -> T {
            value.shuffle(ShuffleMode::$mode, mask, $operand, 32)
        }
    )* };
}
shuffles! {
    warp_shuffle_up, shuffle_up, Up, delta, "the lane `delta` below";
    warp_shuffle_down, shuffle_down, Down, delta, "the lane `delta` above";
    warp_shuffle_xor, shuffle_xor, Xor, lane_mask, "the lane whose number differs in the bits of `lane_mask`";
    warp_shuffle_idx, shuffle_idx, Index, lane, "lane `lane`";
}

/// The thread's number in its warp, 0 to 31.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn lane_id() -> u32 {
    backend::lane_id()
}

/// The lanes that happen to execute this together: a hint, not a promise. Lanes that took the same branch need not
/// be in it.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn activemask() -> u32 {
    backend::activemask()
}

/// Waits for the lanes in `mask`; what they wrote before is visible to all of them after.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_warp(mask: u32) {
    backend::sync_warp(mask);
}

/// Whether this lane is the one that the hardware elects among those in `mask` (capability 9.0): for what one thread
/// does for its warp, such as to start a copy.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn elect(mask: u32) -> bool {
    backend::elect(mask)
}

/// Whether `predicate` holds in every lane of `mask`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    backend::all(mask, predicate)
}

/// Whether `predicate` holds in any lane of `mask`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    backend::any(mask, predicate)
}

/// `condition`, which is the same in all lanes of the warp: all of them go the same way, and the assembler knows.
///
/// Where it does not, in a loop until a word in shared memory says that it is over, or where only warp 0 goes, it
/// writes a second version of every shuffle and vote, for warps whose lanes are apart: 30 % of a scan's instructions,
/// and a fifth of the time that a driver takes to compile it. A vote costs one instruction. All lanes of the warp
/// together; the simulator panics where they differ.
///
/// ```
/// # use gpu_std::{kernel, memory::GlobalMut, thread::thread_idx_x, warp};
/// # #[kernel]
/// # pub fn first_warp(output: GlobalMut<u32>) {
/// if warp::uniform(thread_idx_x() < 32) {
///     output.write(thread_idx_x(), warp::shuffle_xor(warp::FULL, thread_idx_x(), 1));
/// }
/// # }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn uniform(condition: bool) -> bool {
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let lanes = backend::ballot(FULL, condition);
        assert!(
            lanes == 0 || lanes == FULL,
            "lanes of a warp differ in what is uniform: it holds in {lanes:#010x}"
        );
    }
    #[cfg(target_arch = "nvptx64")]
    let condition = backend::any(FULL, condition);
    condition
}

/// The lanes of `mask` in which `predicate` holds.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    backend::ballot(mask, predicate)
}

/// A value that [`warp_reduce`] takes.
pub trait WarpReduceValue: Element {
    /// Its operation on words.
    #[doc(hidden)]
    fn op(op: WarpReductionOp) -> ReduceOp;
    /// Its bits.
    #[doc(hidden)]
    fn to_word(self) -> u32;
    /// The value with those bits.
    #[doc(hidden)]
    fn from_word(word: u32) -> Self;
}

macro_rules! reduce_values {
    ($($t:ty: $min:ident, $max:ident;)*) => { $(
        impl WarpReduceValue for $t {
            #[inline(always)]
            fn op(op: WarpReductionOp) -> ReduceOp {
                match op {
                    WarpReductionOp::Add => ReduceOp::Add,
                    WarpReductionOp::Min => ReduceOp::$min,
                    WarpReductionOp::Max => ReduceOp::$max,
                    WarpReductionOp::And => ReduceOp::And,
                    WarpReductionOp::Or => ReduceOp::Or,
                    WarpReductionOp::Xor => ReduceOp::Xor,
                }
            }
            #[inline(always)]
            fn to_word(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn from_word(word: u32) -> Self {
                word as Self
            }
        }
    )* };
}
reduce_values! {
    u32: MinUnsigned, MaxUnsigned;
    i32: MinSigned, MaxSigned;
}

/// The values of the lanes in `mask` combined, in every one of them.
///
/// In images for sm_80 and later this is one instruction (`redux.sync`); in older ones it is 5 shuffles for a full
/// warp, and one shuffle a lane for any other mask.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    T::from_word(backend::reduce(T::op(op), mask, value.to_word()))
}

/// A value that [`warp_match_any`] compares, bit by bit.
pub trait WarpMatchValue: Element {
    /// The lanes of `mask` with the same bits.
    #[doc(hidden)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_any(self, mask: u32) -> u32;
}

macro_rules! match_values {
    ($($t:ty: $compare:ident, $to:expr;)*) => { $(
        impl WarpMatchValue for $t {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            fn match_any(self, mask: u32) -> u32 {
                backend::$compare(mask, $to(self))
            }
        }
    )* };
}
match_values! {
    u32: match_any_32, |v| v;
    i32: match_any_32, |v| v as u32;
    f32: match_any_32, f32::to_bits;
    u64: match_any_64, |v| v;
    i64: match_any_64, |v| v as u64;
    f64: match_any_64, f64::to_bits;
}

/// The lanes of `mask` whose value has the same bits as this lane's.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    value.match_any(mask)
}
