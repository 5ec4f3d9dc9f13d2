//! Compiles Rust kernel crates to PTX.
