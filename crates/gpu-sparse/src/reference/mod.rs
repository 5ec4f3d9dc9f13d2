//! The same results on the CPU: simple, and bit for bit what the kernels compute.

mod check;
mod convert;
mod solve;
mod spmv;

pub use check::{check, check_triangle};
pub use convert::{compress, transpose};
pub use solve::{RowGroups, levels, order_rows, profile, solve};
pub use spmv::spmv;
