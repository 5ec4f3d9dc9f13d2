//! Instructions by class, executed by warps.

use crate::report::Counts;

/// Instructions that warps executed, by class: one request of a warp is one instruction.
///
/// Memory, atomics and whatever makes lanes or threads meet are exact, as each is one accessor and one instruction: the
/// compiler neither merges nor drops them, except a load whose value nobody uses. Control is approximate. Arithmetic,
/// conversions and moves are not here: the simulator runs the host's compiled code and does not see them;
/// `gpu-builder inspect` shows how many of them stand in the machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// "Warp level instructions for global loads", read-only ones included.
    pub global_loads: u64,
    /// "Warp level instructions for global stores".
    pub global_stores: u64,
    /// Atomics on global memory.
    pub global_atomics: u64,
    /// "Warp level instructions for shared loads".
    pub shared_loads: u64,
    /// "Warp level instructions for shared stores".
    pub shared_stores: u64,
    /// Atomics on shared memory.
    pub shared_atomics: u64,
    /// Asynchronous copies.
    pub async_copies: u64,
    /// Block barriers.
    pub barriers: u64,
    /// Barriers of a warp.
    pub warp_syncs: u64,
    /// Fences.
    pub fences: u64,
    /// Shuffles, votes, reductions and matches: what nvprof calls inter-thread communication.
    pub communication: u64,
    /// **Approximate**: branches as they stand in the source. The compiler turns some into predicates, unrolls loops
    /// and adds jumps of its own.
    pub control_approximate: u64,
}

impl Instructions {
    pub(super) fn new(counts: &Counts) -> Self {
        Self {
            global_loads: counts.global_loads.requests + counts.read_only_loads.requests,
            global_stores: counts.global_stores.requests,
            global_atomics: counts.global_atomics.requests,
            shared_loads: counts.shared_loads.requests,
            shared_stores: counts.shared_stores.requests,
            shared_atomics: counts.shared_atomics.requests,
            async_copies: counts.async_copies.requests,
            barriers: counts.barriers.requests,
            warp_syncs: counts.warp_syncs.requests,
            fences: counts.fences.requests,
            communication: counts.shuffles.requests
                + counts.votes.requests
                + counts.reduxes.requests
                + counts.matches.requests,
            control_approximate: counts.branches.requests,
        }
    }

    /// "Number of executed local, global, shared and texture memory load and store instructions", without local ones:
    /// those that the assembler adds for spilled registers the simulator does not see.
    pub fn ldst_executed(&self) -> u64 {
        self.global_loads + self.global_stores + self.shared_loads + self.shared_stores
    }
}
