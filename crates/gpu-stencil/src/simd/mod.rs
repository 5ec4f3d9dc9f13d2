//! The widest vectors that the machine has: a fused multiply-add without the instruction is a call of a function.

mod launch;

pub(crate) use launch::widest;

/// Something that is compiled for every set of instructions: `run` has to be `#[inline(always)]`, and so has what it calls.
pub(crate) trait Task {
    /// Does it.
    fn run(self);
}
