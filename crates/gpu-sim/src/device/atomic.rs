//! Atomic and volatile access.

use std::panic::Location;

use super::plain::Bytes;
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
fn target(
    direction: Direction,
    (space, mut address): (Space, u64),
    size: usize,
    (ordering, scope): (Ordering, Scope),
    caller: Caller,
) -> Target {
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
    W::narrow(load((space, addr), size_of::<W>(), (ordering, scope), Location::caller()))
}

// All but the shells is compiled here, whatever the word and whoever calls.
fn load(place: (Space, u64), size: usize, how: (Ordering, Scope), caller: Caller) -> u64 {
    if !switch(caller) {
        return 0;
    }
    let target = target(Direction::Read, place, size, how, caller);
    with(|engine| engine.atomic_load(&target))
}

/// Stores atomically.
#[track_caller]
pub fn atomic_store<W: Word>(space: Space, addr: u64, value: W, ordering: Ordering, scope: Scope) {
    store((space, addr), size_of::<W>(), value.widen(), (ordering, scope), Location::caller());
}

fn store(place: (Space, u64), size: usize, value: u64, how: (Ordering, Scope), caller: Caller) {
    if switch(caller) {
        let target = target(Direction::Write, place, size, how, caller);
        with(|engine| engine.atomic_store(&target, value));
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
    let caller = Location::caller();
    let Some((target, read)) = update_begin((space, addr), size_of::<W>(), (ordering, scope), caller) else {
        return W::default();
    };
    let old = W::narrow(read.0);
    let new = f(old).map(Word::widen);
    update_finish(&target, read, new);
    old
}

type Read = (u64, usize);

fn update_begin(
    place: (Space, u64),
    size: usize,
    how: (Ordering, Scope),
    caller: Caller,
) -> Option<(Target, Read)> {
    switch(caller).then(|| {
        let target = target(Direction::Write, place, size, how, caller);
        (target, with(|engine| engine.update_begin(&target)))
    })
}

fn update_finish(target: &Target, read: Read, new: Option<u64>) {
    with(|engine| engine.update_finish(target, read, new));
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
pub(super) fn volatile_load(address: u64, size: usize, caller: Caller) -> Bytes {
    let mut bytes = Bytes::default();
    if !switch(caller) {
        return bytes;
    }
    check_alignment(address, size, Direction::Read, caller);
    with(|engine| {
        for at in (0..size).step_by(8) {
            let piece = size.min(8);
            let target = volatile_target(address + at as u64, piece, Operation::GlobalLoad, caller);
            let word = engine.atomic_load(&target);
            bytes |= Bytes::from(word) << (8 * at);
        }
    });
    bytes
}

/// A volatile store: a relaxed atomic one of system scope.
pub(super) fn volatile_store(address: u64, size: usize, bytes: Bytes, caller: Caller) {
    if !switch(caller) {
        return;
    }
    check_alignment(address, size, Direction::Write, caller);
    with(|engine| {
        for at in (0..size).step_by(8) {
            let piece = size.min(8);
            let target = volatile_target(address + at as u64, piece, Operation::GlobalStore, caller);
            engine.atomic_store(&target, (bytes >> (8 * at)) as u64);
        }
    });
}

fn check_alignment(address: u64, size: usize, direction: Direction, caller: Caller) {
    if !address.is_multiple_of(size as u64) {
        with(|engine| engine.misaligned(Space::Global, address, size, direction, caller));
    }
}
