//! Sparse matrices.

mod clamped;
mod convert;
mod factor;
mod first_faults;
mod golden;
mod input;
mod many;
mod market;
mod multiprocessors;
mod orders;
mod property;
mod refused;
mod schedules;
mod solve;
mod spmv;
mod steps;
mod support;
mod tiles;
mod unchecked;
mod wide;
