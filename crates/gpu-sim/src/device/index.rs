//! Which thread this is, and of which simulator.

use crate::engine::with;

/// Index of the thread in its block.
#[track_caller]
pub fn thread_idx() -> [u32; 3] {
    with(|engine| engine.coordinates[engine.current.tid as usize])
}

/// Index of the thread's block in the grid.
#[track_caller]
pub fn block_idx() -> [u32; 3] {
    with(|engine| engine.block().index)
}

/// Threads of a block.
#[track_caller]
pub fn block_dim() -> [u32; 3] {
    with(|engine| engine.geometry.block)
}

/// Blocks of the grid.
#[track_caller]
pub fn grid_dim() -> [u32; 3] {
    with(|engine| engine.geometry.grid)
}

/// [`Simulator::id`](crate::Simulator::id) of the simulator that runs the kernel.
#[track_caller]
pub fn simulator() -> u64 {
    with(|engine| engine.simulator)
}
