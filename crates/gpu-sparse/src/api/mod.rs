//! Validate, plan, launch.

mod convert;
mod factor;
mod order;
mod solve;
mod spmm;
mod spmv;
mod steps;
mod wide;

pub use convert::{Duplicates, compress, expand, sort_rows, transpose, transpose_by};
pub use factor::{Ilu0, ic0, ilu0, triangle};
pub use order::RowOrder;
pub use solve::{Analysis, Diagonal, Side};
pub use spmm::spmm;
pub use spmv::{Spmv, spmv};
pub use steps::OrderSteps;
pub use wide::WideSpmv;

pub(crate) use convert::transposed_with_order;

pub use crate::plan::solve::{Algorithm, Profile};
pub use crate::plan::spmv::{Statistics, Strategy};
pub use crate::plan::transpose::Transposition;

use gpu_core::{Buffer, Layout, Order, Stream};
use gpu_scan::{Options, Scratch, kernels::Sum, scan_in_place};

/// Elements from one row to the next, and from one column to the next.
fn strides(layout: Layout) -> (u64, u64) {
    let leading_dimension = layout.leading_dimension() as u64;
    match layout.order() {
        Order::RowMajor => (leading_dimension, 1),
        Order::ColumnMajor => (1, leading_dimension),
    }
}

/// Enqueues the sums of counts, in their place, with the scratch memory that the device keeps: it is cleared already.
fn sums(stream: &Stream, counts: &mut Buffer<u32>, options: Options<u32>) -> gpu_core::Result<()> {
    Scratch::kept(stream, |scratch| scan_in_place::<Sum<u32>>(stream, counts, options, scratch))
}
