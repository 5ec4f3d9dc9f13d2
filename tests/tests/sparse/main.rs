//! Sparse matrices.

mod convert;
mod factor;
mod input;
mod market;
mod schedules;
mod solve;
mod spmv;
mod support;
