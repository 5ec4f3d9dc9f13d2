//! Atomic and volatile access.

use super::plain::{Plain, zero};
use crate::engine::atomic::Target;
use crate::engine::fiber::suspend;
use crate::engine::{Caller, on_thread, with};
use crate::fault::{Direction, Space};
use crate::report::Operation;

/// What an atomic access or fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// Nothing.
    Relaxed,
    /// What was released by whoever wrote the value read.
    Acquire,
    /// What the thread did and knew before.
    Release,
    /// Both.
    AcqRel,
}

impl Ordering {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel)
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel)
    }
}

/// Between whom an atomic access or fence orders: two of them order only when the scope of each includes the other's
/// thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Threads of the same block (`.cta`).
    Block,
    /// Threads of the same device (`.gpu`).
    Device,
    /// All (`.sys`).
    System,
}

/// A value that atomics handle: `u32` or `u64`. Floats and signed integers pass through their bits.
pub trait Word: Copy + Eq + Default + 'static + sealed::Sealed {
    #[doc(hidden)]
    fn widen(self) -> u64;
    #[doc(hidden)]
    fn narrow(bits: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

impl Word for u32 {
    fn widen(self) -> u64 {
        self.into()
    }
    fn narrow(bits: u64) -> Self {
        bits as Self
    }
}

impl Word for u64 {
    fn widen(self) -> u64 {
        self
    }
    fn narrow(bits: u64) -> Self {
        bits
    }
}

/// What is accessed; an address in shared memory becomes the offset there.
fn target<W: Word>(
    direction: Direction,
    space: Space,
    mut address: u64,
    ordering: Ordering,
    scope: Scope,
    caller: Caller,
) -> Target {
    let size = size_of::<W>();
    let operation = if space == Space::Global { Operation::GlobalAtomic } else { Operation::SharedAtomic };
    if let (Space::Shared, Ok(offset)) = (space, u32::try_from(address)) {
        address = with(|engine| engine.shared_offset(offset, size, direction, caller)) as u64;
    }
    Target { space, address, size, ordering, scope, caller, operation }
}

/// Every atomic access is a point where another thread may run. Whether the thread goes on.
#[must_use]
pub(super) fn switch(caller: Caller) -> bool {
    let Some(gives_way) = on_thread(caller, |engine| engine.switch_point(caller)) else { return false };
    if gives_way {
        suspend();
    }
    true
}

/// Loads atomically. A relaxed load may return an older value, as far as coherence allows.
#[track_caller]
pub fn atomic_load<W: Word>(space: Space, addr: u64, ordering: Ordering, scope: Scope) -> W {
    let caller = std::panic::Location::caller();
    if !switch(caller) {
        return W::default();
    }
    let target = target::<W>(Direction::Read, space, addr, ordering, scope, caller);
    W::narrow(with(|engine| engine.atomic_load(&target)))
}

/// Stores atomically.
#[track_caller]
pub fn atomic_store<W: Word>(space: Space, addr: u64, value: W, ordering: Ordering, scope: Scope) {
    let caller = std::panic::Location::caller();
    if switch(caller) {
        let target = target::<W>(Direction::Write, space, addr, ordering, scope, caller);
        with(|engine| engine.atomic_store(&target, value.widen()));
    }
}

/// Reads a value, stores what `f` makes of it with nothing in between, and returns the value read. `None` stores
/// nothing, like a compare-and-swap that fails. It is the newest value, or an older one that is followed by a store
/// which nothing orders before this operation. `f` must not call functions of this module.
#[track_caller]
pub fn atomic_update<W: Word>(
    space: Space,
    addr: u64,
    ordering: Ordering,
    scope: Scope,
    f: impl FnOnce(W) -> Option<W>,
) -> W {
    let caller = std::panic::Location::caller();
    if !switch(caller) {
        return W::default();
    }
    let target = target::<W>(Direction::Write, space, addr, ordering, scope, caller);
    let read = with(|engine| engine.update_begin(&target));
    let new = f(W::narrow(read.0)).map(Word::widen);
    with(|engine| engine.update_finish(&target, read, new));
    W::narrow(read.0)
}

/// `size_of::<T>()` bytes as one or two words.
fn volatile_target(address: u64, size: usize, operation: Operation, caller: Caller) -> Target {
    Target {
        space: Space::Global,
        address,
        size,
        ordering: Ordering::Relaxed,
        scope: Scope::System,
        caller,
        operation,
    }
}

/// A volatile load: a relaxed atomic one of system scope. 16 bytes are two loads, as PTX vector accesses are.
pub(super) fn volatile_load<T: Plain>(address: u64, caller: Caller) -> T {
    if !switch(caller) {
        return zero();
    }
    let size = size_of::<T>();
    check_alignment(address, size, Direction::Read, caller);
    let mut bytes = [0u8; 16];
    with(|engine| {
        for at in (0..size).step_by(8) {
            let piece = size.min(8);
            let target = volatile_target(address + at as u64, piece, Operation::GlobalLoad, caller);
            let word = engine.atomic_load(&target);
            bytes[at..at + piece].copy_from_slice(&word.to_le_bytes()[..piece]);
        }
    });
    // SAFETY: `T` is at most 16 bytes, as `global_load` checks, and any bits are a `Plain` value.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// A volatile store: a relaxed atomic one of system scope.
pub(super) fn volatile_store<T: Plain>(address: u64, value: T, caller: Caller) {
    if !switch(caller) {
        return;
    }
    let size = size_of::<T>();
    check_alignment(address, size, Direction::Write, caller);
    let mut bytes = [0u8; 16];
    // SAFETY: `T` is at most 16 bytes, as `global_store` checks, and `Plain` values have no padding.
    unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) };
    with(|engine| {
        for at in (0..size).step_by(8) {
            let piece = size.min(8);
            let mut word = [0; 8];
            word[..piece].copy_from_slice(&bytes[at..at + piece]);
            let target = volatile_target(address + at as u64, piece, Operation::GlobalStore, caller);
            engine.atomic_store(&target, u64::from_le_bytes(word));
        }
    });
}

fn check_alignment(address: u64, size: usize, direction: Direction, caller: Caller) {
    if !address.is_multiple_of(size as u64) {
        with(|engine| engine.misaligned(Space::Global, address, size, direction, caller));
    }
}
