//! Triangular solves, triangular and symmetric products, symmetric updates: one body over all backends, the bits of the first one
//! being those of all, against serial oracles in `f64` and bounds that are derived.

mod bad_input;
mod common;
mod easy;
mod golden;
mod multiply;
mod not_finite;
mod property;
mod schedules;
mod solve;
mod update;
