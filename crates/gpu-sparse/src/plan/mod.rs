//! The choice of kernels, and their launches, from sizes alone.

pub mod order;
pub mod solve;
pub mod spmv;
pub mod transpose;
