//! What the examples share.

pub mod table;
