//! What the lanes of a warp do together.

pub mod sort;
