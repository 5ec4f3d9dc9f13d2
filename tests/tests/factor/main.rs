//! Cholesky factorisations: one body over all backends, against a serial oracle and bounds of the error.

mod bad_input;
mod batches;
mod common;
mod easy;
mod golden;
mod into;
mod large;
mod property;
mod schedules;
mod sizes;
mod systems;
