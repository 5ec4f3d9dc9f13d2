//! Sparse matrices.

mod clamped;
mod convert;
mod input;
mod many;
mod market;
mod schedules;
mod solve;
mod spmv;
mod support;
mod wide;
