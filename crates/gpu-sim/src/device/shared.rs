//! Plain access to the block's dynamic shared memory.

use std::panic::Location;

use super::plain::{Plain, zero};
use crate::engine::access::Access;
use crate::engine::fiber::suspend;
use crate::engine::{on_thread, with};
use crate::fault::{Direction, Space};
use crate::memory::fold;

/// Bytes of dynamic shared memory of the block.
#[inline]
#[track_caller]
pub fn shared_bytes() -> u32 {
    with(|engine| engine.geometry.shared_bytes)
}

/// Loads a value at a byte offset; sizes and alignment as for [`global_load`](super::global_load).
#[inline]
#[track_caller]
pub fn shared_load<T: Plain>(offset: u32) -> T {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "an access has 1, 2, 4, 8 or 16 bytes") };
    let caller = Location::caller();
    let Some((value, used_up)) = on_thread(caller, |engine| {
        let (at, size) = (offset as usize, size_of::<T>());
        if at + size > engine.block().shared.len() {
            engine.bad_offset(offset, size, Direction::Read, caller);
        }
        if at % size != 0 {
            engine.misaligned(Space::Shared, offset.into(), size, Direction::Read, caller);
        }
        // Before the bytes count as unwritten: the copy into them is what is missing.
        engine.check_async(at, size, Direction::Read, caller);
        if !engine.block().shared.is_written(at, size) {
            engine.unwritten(Space::Shared, offset.into(), size, Access::Read, caller);
        }
        // SAFETY: in bounds as checked above.
        let value: T = unsafe { engine.block().shared.read(at) };
        if engine.observe {
            engine.observe_shared(at, size, Access::Read, fold(&value), caller);
        }
        engine.quantum -= 1;
        if engine.quantum == 0 {
            engine.expire(caller);
        }
        (value, engine.quantum == 0)
    }) else {
        return zero();
    };
    if used_up {
        suspend();
    }
    value
}

/// Stores a value at a byte offset; sizes and alignment as for [`global_load`](super::global_load).
#[inline]
#[track_caller]
pub fn shared_store<T: Plain>(offset: u32, value: T) {
    const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16), "an access has 1, 2, 4, 8 or 16 bytes") };
    let caller = Location::caller();
    let used_up = on_thread(caller, |engine| {
        let (at, size) = (offset as usize, size_of::<T>());
        if at + size > engine.block().shared.len() {
            engine.bad_offset(offset, size, Direction::Write, caller);
        }
        if at % size != 0 {
            engine.misaligned(Space::Shared, offset.into(), size, Direction::Write, caller);
        }
        engine.check_async(at, size, Direction::Write, caller);
        if engine.observe {
            engine.observe_shared(at, size, Access::Write, 0, caller);
        }
        let shared = &mut engine.block().shared;
        shared.mark_written(at, size);
        // SAFETY: in bounds as checked above.
        let changed = unsafe { shared.write(at, value) };
        engine.progressed |= changed;
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
