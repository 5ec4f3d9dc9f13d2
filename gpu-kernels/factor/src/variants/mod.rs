//! The textbook's kernels of Cholesky's factorisation, for comparison only (seed: C. González, 2012, section 8.4): of
//! blocks without gaps, row-major.
//!
//! `B - A · Aᵀ` is a transposition, a product and a subtraction; the triangular solve is a launch for every column.

mod product;
mod solve;
mod transpose;

pub use product::*;
pub use solve::*;
pub use transpose::*;

/// Rows and columns of the tiles in shared memory.
pub const TILE: u32 = 32;

/// The kernels: calls the macro `$with` with, for each type, those of transposition, product, subtraction and solution.
#[macro_export]
macro_rules! textbook_instances {
    ($with:ident) => {
        $with! {
            f32: factor_transpose_f32, factor_product_f32, factor_subtract_f32, factor_solve_step_f32;
            f64: factor_transpose_f64, factor_product_f64, factor_subtract_f64, factor_solve_step_f64;
        }
    };
}
