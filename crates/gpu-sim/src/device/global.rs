//! Plain access to global memory.

use std::panic::Location;

use super::atomic::{volatile_load, volatile_store};
use super::plain::{Bytes, Plain, bytes, value};
use crate::engine::access::Access;
use crate::engine::fiber::suspend;
use crate::engine::{Caller, on_thread};
use crate::fault::{Direction, Space};
use crate::memory::{aligned, fold};

/// How a load reaches global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// `ld.global`.
    Weak,
    /// `ld.global.nc`: of data that nobody writes during the launch.
    ReadOnly,
    /// `ld.volatile.global`: behaves as a relaxed atomic of system scope, and is a point where threads may switch.
    Volatile,
}

/// How a store reaches global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// `st.global`.
    Weak,
    /// `st.global.cs`: like `Weak`, with a hint to the cache.
    Streaming,
    /// `st.volatile.global`: behaves as a relaxed atomic of system scope, and is a point where threads may switch.
    Volatile,
}

/// Loads a value of 1, 2, 4, 8 or 16 bytes from an address that is a multiple of its size.
///
/// Only [`Plain`] values: anything else could be forged from bytes.
///
/// ```compile_fail,E0277
/// use gpu_sim::device::{Load, global_load};
/// let forged: &str = global_load(1 << 40, Load::Weak);
/// ```
#[inline]
#[track_caller]
pub fn global_load<T: Plain>(addr: u64, kind: Load) -> T {
    value(load(addr, size_of::<T>(), kind, Location::caller()))
}

fn load(addr: u64, size: usize, kind: Load, caller: Caller) -> Bytes {
    if kind == Load::Volatile {
        return volatile_load(addr, size, caller);
    }
    let access = if kind == Load::ReadOnly { Access::ReadOnly } else { Access::Read };
    let Some((bytes, used_up)) = on_thread(caller, |engine| {
        let Some((region, offset)) = engine.heap.reach(addr, size) else {
            engine.bad_address(addr, size, Direction::Read, caller)
        };
        if !aligned(offset, size) {
            engine.misaligned(Space::Global, addr, size, Direction::Read, caller);
        }
        if !region.is_written(offset, size) {
            engine.unwritten(Space::Global, addr, size, access, caller);
        }
        let bytes = region.read(offset, size);
        if engine.observe {
            engine.observe_global(addr, size, access, fold(bytes), caller);
        }
        engine.quantum -= 1;
        if engine.quantum == 0 {
            engine.expire(caller);
        }
        (bytes, engine.quantum == 0)
    }) else {
        return Bytes::default();
    };
    if used_up {
        suspend();
    }
    bytes
}

/// Asks for what is around an address, which has to be inside an allocation (`prefetch.global.L2`): it reads nothing,
/// so it races with nothing and may come before what it asks for is written.
#[track_caller]
pub fn global_prefetch(addr: u64) {
    let caller = Location::caller();
    on_thread(caller, |engine| {
        if engine.heap.locate(addr, 1).is_none() {
            engine.bad_address(addr, 1, Direction::Read, caller)
        }
    });
}

/// Stores a value; size and alignment as for [`global_load`].
///
/// ```compile_fail,E0277
/// use gpu_sim::device::{Store, global_store};
/// global_store(1 << 40, &7_u32, Store::Weak);
/// ```
#[inline]
#[track_caller]
pub fn global_store<T: Plain>(addr: u64, value: T, kind: Store) {
    store(addr, size_of::<T>(), bytes(value), kind, Location::caller());
}

fn store(addr: u64, size: usize, bytes: Bytes, kind: Store, caller: Caller) {
    if kind == Store::Volatile {
        return volatile_store(addr, size, bytes, caller);
    }
    let used_up = on_thread(caller, |engine| {
        if engine.observe {
            // Before the store: a racing one must not change memory.
            match engine.heap.reach(addr, size) {
                Some((_, offset)) if aligned(offset, size) => {
                    engine.observe_global(addr, size, Access::Write, 0, caller);
                }
                _ => {}
            }
        }
        let Some((region, offset)) = engine.heap.reach(addr, size) else {
            engine.bad_address(addr, size, Direction::Write, caller)
        };
        if !aligned(offset, size) {
            engine.misaligned(Space::Global, addr, size, Direction::Write, caller);
        }
        region.mark_written(offset, size);
        engine.progressed |= region.write(offset, size, bytes);
        engine.quantum -= 1;
        if engine.quantum == 0 {
            engine.expire(caller);
        }
        engine.quantum == 0
    });
    if used_up == Some(true) {
        suspend();
    }
}
