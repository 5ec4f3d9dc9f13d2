//! Plain access to the block's dynamic shared memory.

use std::panic::Location;

use super::plain::{Bytes, Plain, bytes, value};
use crate::engine::access::Access;
use crate::engine::arrays::OFFSET_MASK;
use crate::engine::fiber::suspend;
use crate::engine::{Caller, on_thread, with};
use crate::fault::{Direction, Space};
use crate::memory::{aligned, fold};

/// Bytes of dynamic shared memory of the block.
#[track_caller]
pub fn shared_bytes() -> u32 {
    with(|engine| engine.geometry.shared_bytes)
}

/// The array of so many bytes at a byte offset: an offset to take for that of its start. An access that leaves the
/// array, at whatever distance from that one, is a fault, also where it arrives in another array. An array of no
/// bytes is the rest of the memory.
#[track_caller]
pub fn shared_array(offset: u32, bytes: u32) -> u32 {
    on_thread(Location::caller(), |engine| engine.shared_array(offset, bytes)).unwrap_or(offset)
}

/// The byte offset that an offset in a [`shared_array`] stands for.
#[inline]
pub const fn shared_byte(offset: u32) -> u32 {
    offset & OFFSET_MASK
}

/// Loads a value at a byte offset; sizes and alignment as for [`global_load`](super::global_load).
///
/// ```compile_fail,E0277
/// let forged: &u32 = gpu_sim::device::shared_load(0);
/// ```
#[inline]
#[track_caller]
pub fn shared_load<T: Plain>(offset: u32) -> T {
    value(load(offset, size_of::<T>(), Location::caller()))
}

fn load(offset: u32, size: usize, caller: Caller) -> Bytes {
    let Some((bytes, used_up)) = on_thread(caller, |engine| {
        let at = engine.shared_offset(offset, size, Direction::Read, caller);
        if !aligned(at, size) {
            engine.misaligned(Space::Shared, at as u64, size, Direction::Read, caller);
        }
        // Before the bytes count as unwritten: the copy into them is what is missing.
        engine.check_async(engine.current.slot, at, size, Direction::Read, caller);
        if !engine.block().shared.is_written(at, size) {
            engine.unwritten(Space::Shared, at as u64, size, Access::Read, caller);
        }
        let bytes = engine.block().shared.read(at, size);
        if engine.observe {
            engine.observe_shared(engine.current.slot, at, size, Access::Read, fold(bytes), caller);
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

/// Stores a value at a byte offset; sizes and alignment as for [`global_load`](super::global_load).
///
/// ```compile_fail,E0277
/// gpu_sim::device::shared_store(0, &7_u32);
/// ```
#[inline]
#[track_caller]
pub fn shared_store<T: Plain>(offset: u32, value: T) {
    store(offset, size_of::<T>(), bytes(value), Location::caller());
}

fn store(offset: u32, size: usize, bytes: Bytes, caller: Caller) {
    let used_up = on_thread(caller, |engine| {
        let at = engine.shared_offset(offset, size, Direction::Write, caller);
        if !aligned(at, size) {
            engine.misaligned(Space::Shared, at as u64, size, Direction::Write, caller);
        }
        engine.check_async(engine.current.slot, at, size, Direction::Write, caller);
        if engine.observe {
            engine.observe_shared(engine.current.slot, at, size, Access::Write, 0, caller);
        }
        let shared = &mut engine.block().shared;
        shared.mark_written(at, size);
        let changed = shared.write(at, size, bytes);
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
