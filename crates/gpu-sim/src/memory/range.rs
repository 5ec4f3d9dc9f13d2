//! Which addresses a simulator gives out.
//!
//! An address of one simulator must be of no use on another one. But a run shall be the same whatever else the process
//! does, and reports have addresses in them: so a simulator has others only than those that its own OS thread has made
//! and that are still there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The ranges in use by the simulators that an OS thread has made.
type InUse = Arc<Mutex<BTreeSet<u64>>>;

thread_local! {
    static IN_USE: RefCell<InUse> = RefCell::default();
}

/// The right to a range of allocation numbers, as long as it lives.
pub(crate) struct Range {
    number: u64,
    in_use: InUse,
}

impl Range {
    /// Allocations of a range. More are numbered on into the next ranges, whose simulators then have them in common.
    const LENGTH: u64 = 1 << 18;

    /// The first range that no other simulator of this OS thread has.
    pub(crate) fn new() -> Self {
        let in_use = IN_USE.with_borrow(Arc::clone);
        let mut taken = in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let number =
            (0..).find(|number| !taken.contains(number)).expect("there are more numbers than simulators");
        taken.insert(number);
        drop(taken);
        Self { number, in_use }
    }

    /// Allocation numbers before the first.
    pub(crate) fn first(&self) -> u64 {
        self.number * Self::LENGTH
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}
