//! Triangular solves, triangular and symmetric products, symmetric updates: products of parts, and three kernels of their own.

pub(crate) mod launch;
mod parts;
mod steps;
mod system;

pub(crate) use launch::TriangleElement;
pub(crate) use parts::{part, part_mut, rows_of, take, temporary, whole};
pub(crate) use steps::{copy, solve, spread};
pub(crate) use system::{Needs, OnLeft, square, system};
