//! Block barriers and fences.

use std::panic::Location;

use super::atomic::{Ordering, Scope, switch};
use crate::engine::fiber::suspend;
use crate::engine::{Caller, on_thread, with};

/// What a barrier makes of its threads' predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierOp {
    /// How many are true.
    Count,
    /// One if all are true, else zero.
    And,
    /// One if any is true, else zero.
    Or,
}

fn arrive(operation: u32, predicate: bool, caller: Caller) -> u32 {
    let arrived = on_thread(caller, |engine| engine.arrive_barrier(operation, predicate, caller));
    let Some(completed) = arrived else { return 0 };
    if !completed {
        suspend();
    }
    with(|engine| {
        let tid = engine.current.tid as usize;
        engine.block().threads[tid].result as u32
    })
}

/// Waits for all threads of the block, and orders what they did before against what they do after.
#[track_caller]
pub fn barrier() {
    arrive(3, false, Location::caller());
}

/// A barrier that also combines a predicate of every thread.
#[track_caller]
pub fn barrier_reduce(op: BarrierOp, predicate: bool) -> u32 {
    arrive(op as u32, predicate, Location::caller())
}

/// Waits for the kernel before, in one that was launched by
/// [`Simulator::launch_programmatic`](crate::Simulator::launch_programmatic): there is nothing to wait for in others.
#[track_caller]
pub fn grid_dependency_synchronize() {
    on_thread(Location::caller(), |engine| engine.wait_for_earlier());
}

/// A fence of the given scope, and a point where threads may switch.
#[track_caller]
pub fn fence(ordering: Ordering, scope: Scope) {
    let caller = Location::caller();
    if switch(caller) {
        with(|engine| engine.fence(ordering, scope, caller));
    }
}
