//! What is launched, from shapes and the alignment of addresses alone: pure, tested without a GPU.

pub mod elementwise;
pub mod factor;
pub mod gemm;
pub mod gemv;
pub mod level3;
pub mod pack;
pub mod skyline;
pub mod tensor;
pub mod triangle;

use std::cell::Cell;
use std::thread::LocalKey;

use gpu_core::checks;
pub use gpu_core::checks::MAX_BLOCKS;
pub(crate) use gpu_core::checks::blocks;

use crate::error::Error;

/// The largest extent: kernels count in 32 bits, with room for what they look ahead.
pub const MAX_EXTENT: usize = 1 << 30;

/// An extent as the kernels take it.
pub(crate) fn extent(what: &'static str, actual: usize) -> Result<u32, Error> {
    checks::extent(what, actual, MAX_EXTENT)?;
    Ok(actual as u32)
}

/// What was found for the last question where this is the same, or else what is found now.
pub(crate) fn kept<Q: Copy + PartialEq, A: Copy>(
    last: &'static LocalKey<Cell<Option<(Q, A)>>>,
    question: Q,
    find: impl FnOnce() -> A,
) -> A {
    match last.get() {
        Some((asked, found)) if asked == question => found,
        _ => {
            let found = find();
            last.set(Some((question, found)));
            found
        }
    }
}
