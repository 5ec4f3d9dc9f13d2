//! Vectors and matrices.

mod basics;
mod elementwise;
mod gemv;
mod level2;
mod variants;
