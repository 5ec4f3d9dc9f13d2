//! What a launch gives its kernel: views of buffers, whose ends the simulator watches as it does those of allocations.

use core::cell::RefCell;

use gpu_sim::Simulator;
use gpu_std::launch::Invocation;

use crate::device::{Device, Kind};

thread_local! {
    /// Addresses and bytes of the views among the arguments of the launch that this thread makes.
    static GIVEN: RefCell<Vec<(u64, usize)>> = const { RefCell::new(Vec::new()) };
}

/// As long as this lives, the views that become arguments are noted.
pub(crate) struct Noted;

impl Noted {
    pub(crate) fn from_here() -> Self {
        GIVEN.with_borrow_mut(Vec::clear);
        Self
    }
}

/// What was noted for a launch that is made later.
#[derive(Debug)]
pub(crate) struct Given(Vec<(u64, usize)>);

impl Given {
    pub(crate) fn so_far() -> Self {
        Self(GIVEN.with_borrow(Vec::clone))
    }

    /// Notes it again.
    pub(crate) fn again(&self) -> Noted {
        GIVEN.with_borrow_mut(|given| given.clone_from(&self.0));
        Noted
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        GIVEN.with_borrow_mut(Vec::clear);
    }
}

/// A view has become an argument.
pub(crate) fn note(device: &Device, address: u64, bytes: usize) {
    if device.kind() == Kind::Simulator {
        GIVEN.with_borrow_mut(|given| given.push((address, bytes)));
    }
}

/// The simulator, whose kernel reaches no more of an allocation than the views of it among the arguments; all of those
/// that come as bare addresses too, of which nobody knows the end.
pub(super) fn lending(simulator: &Simulator, invocation: &Invocation<'_>) -> Simulator {
    let given = GIVEN.with_borrow(Vec::clone);
    if given.is_empty() {
        return simulator.clone();
    }
    let addresses: Vec<u64> = invocation.addresses().map(|(address, _)| address).collect();
    let is_bare = |&address: &u64| {
        let arguments = addresses.iter().filter(|&&other| other == address).count();
        arguments > given.iter().filter(|view| view.0 == address).count()
    };
    let bare: Vec<u64> = addresses
        .iter()
        .copied()
        .filter(is_bare)
        .filter_map(|address| simulator.allocation(address))
        .collect();
    // An empty view may be behind the end, where another allocation's would begin.
    let is_known = |&(address, bytes): &(u64, usize)| {
        bytes > 0 && simulator.allocation(address).is_some_and(|start| !bare.contains(&start))
    };
    simulator.lending(&given.into_iter().filter(is_known).collect::<Vec<_>>())
}
