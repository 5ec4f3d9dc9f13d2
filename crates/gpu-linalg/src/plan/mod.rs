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

use crate::error::Error;

/// The most blocks of a launch.
pub const MAX_BLOCKS: u32 = i32::MAX as u32;
/// The largest extent: kernels count in 32 bits, with room for what they look ahead.
pub const MAX_EXTENT: usize = 1 << 30;

/// An extent as the kernels take it.
pub(crate) fn extent(what: &'static str, actual: usize) -> Result<u32, Error> {
    if actual > MAX_EXTENT {
        return Err(Error::ExtentTooLarge { what, actual, limit: MAX_EXTENT });
    }
    Ok(actual as u32)
}

/// The number of blocks of a launch.
pub(crate) fn blocks(blocks: u128) -> Result<u32, Error> {
    u32::try_from(blocks)
        .ok()
        .filter(|&blocks| blocks <= MAX_BLOCKS)
        .ok_or(Error::TooManyBlocks { blocks, limit: MAX_BLOCKS })
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
