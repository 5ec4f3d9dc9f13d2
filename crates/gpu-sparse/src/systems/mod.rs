//! Triangular systems on a device: which kernels are launched, with what.

mod launch;
mod packed;

pub(crate) use launch::{Solver, Systems, groups, groups_by_tile, order_by_tile, task_counts, tasks, warps};
pub(crate) use packed::Packed;
