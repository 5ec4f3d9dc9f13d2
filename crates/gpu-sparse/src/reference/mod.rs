//! The same results on the CPU: simple, and bit for bit what the kernels compute.

mod check;
mod convert;
mod factor;
mod solve;
mod spmv;
mod steps;

pub use check::{check, check_triangle};
pub use convert::{compress, rows_of_entries, transpose};
pub use factor::{ic0, ilu0, missing_diagonal, triangle};
pub use solve::{RowGroups, levels, order_rows, profile, solve};
pub use spmv::spmv;
pub use steps::{count_rows, place_rows, starts_of};
