//! Control flow and clocks.

use std::panic::Location;

use crate::engine::counts::Event;
use crate::engine::fiber::suspend;
use crate::engine::{on_thread, with};
use crate::report::Operation;

/// Says which way a thread went at this call site. Lanes that go different ways at the same occurrence diverge.
#[track_caller]
pub fn branch(arm: u32) {
    let caller = Location::caller();
    with(|engine| {
        if engine.record.is_counted() {
            let site = engine.site(caller);
            engine.log_event(Event { site, operation: Operation::Branch, size: 0, extra: arm, address: 0 });
        }
    });
}

/// Called once an iteration: a loop without any access must not hang the simulator.
#[track_caller]
pub fn loop_tick() {
    let caller = Location::caller();
    let used_up = on_thread(caller, |engine| {
        if engine.record.is_counted() {
            let site = engine.site(caller);
            engine.log_event(Event { site, operation: Operation::Loop, size: 0, extra: 0, address: 0 });
        }
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

/// A clock that never goes back: the steps that the launch has taken. No two calls give the same.
#[track_caller]
pub fn clock64() -> u64 {
    with(|engine| engine.clock())
}

/// The same clock, for kernels that read nanoseconds.
#[track_caller]
pub fn globaltimer() -> u64 {
    with(|engine| engine.clock())
}
