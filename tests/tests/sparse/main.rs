//! Sparse matrices.

mod convert;
mod factor;
mod golden;
mod input;
mod market;
mod property;
mod schedules;
mod solve;
mod spmv;
mod steps;
mod support;
