//! What the tests share: the backends to run on, and the comparison of results.

pub mod backends;
pub mod compare;
pub mod data;
pub mod errors;
pub mod golden;
pub mod scratch;
pub mod threes;
