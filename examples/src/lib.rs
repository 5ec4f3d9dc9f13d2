//! What the examples share.
//!
//! Functions that launch kernels, read files or draw are `#[inline]`: each is compiled with the examples that call it,
//! so that building one example does not wait for what the others need.

pub mod additions;
pub mod chart;
pub mod choice;
pub mod convolutions;
pub mod device;
pub mod model;
pub mod predicted;
pub mod products;
pub mod reductions;
pub mod scans;
pub mod structures;
pub mod transpositions;

pub use gpu_first::{exit_code, plate, table, timing};
