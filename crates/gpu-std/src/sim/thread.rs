//! Indices, barriers and clocks.

use gpu_sim::device::{self, BarrierOp};

macro_rules! registers {
    ($($register:ident: $x:ident $y:ident $z:ident;)*) => { $(
        #[track_caller]
        pub fn $x() -> u32 {
            device::$register()[0]
        }
        #[track_caller]
        pub fn $y() -> u32 {
            device::$register()[1]
        }
        #[track_caller]
        pub fn $z() -> u32 {
            device::$register()[2]
        }
    )* };
}
registers! {
    thread_idx: thread_idx_x thread_idx_y thread_idx_z;
    block_idx: block_idx_x block_idx_y block_idx_z;
    block_dim: block_dim_x block_dim_y block_dim_z;
    grid_dim: grid_dim_x grid_dim_y grid_dim_z;
}

#[track_caller]
pub fn sync_threads() {
    device::barrier();
}

#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    device::barrier_reduce(BarrierOp::Count, predicate)
}

#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    device::barrier_reduce(BarrierOp::And, predicate) != 0
}

#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    device::barrier_reduce(BarrierOp::Or, predicate) != 0
}

#[track_caller]
pub fn clock64() -> u64 {
    device::clock64()
}

#[track_caller]
pub fn globaltimer() -> u64 {
    device::globaltimer()
}

/// Time does not pass in the simulator: a sleep is a step in which others may run.
#[track_caller]
pub fn nanosleep(_nanos: u32) {
    device::loop_tick();
}

#[track_caller]
pub fn grid_dependency_synchronize() {
    device::grid_dependency_synchronize();
}

/// Launches run one after the other here: when the next may begin makes no difference.
#[inline]
pub fn trigger_launch_completion() {}

#[track_caller]
pub fn set_more_registers<const REGISTERS: u32>() {
    device::warpgroup("setmaxnreg", REGISTERS);
}

#[track_caller]
pub fn set_fewer_registers<const REGISTERS: u32>() {
    device::warpgroup("setmaxnreg", REGISTERS);
}
