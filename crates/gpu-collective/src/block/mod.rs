//! What the threads of a block do together.

pub mod merge;
