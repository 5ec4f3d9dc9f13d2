//! Triangular systems on a device: which kernels are launched, with what.

mod launch;

pub(crate) use launch::{Solver, Systems, task_counts, tasks};
