//! Triangular systems on a device: which kernels are launched, with what.

mod launch;
mod packed;

pub(crate) use launch::{Solver, Systems, task_counts, tasks};
pub(crate) use packed::Packed;
