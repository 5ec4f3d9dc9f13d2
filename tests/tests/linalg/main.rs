//! Vectors and matrices.

mod basics;
mod batched;
mod chained;
mod easy;
mod elementwise;
mod gemv;
mod level2;
mod tiles;
mod variants;
