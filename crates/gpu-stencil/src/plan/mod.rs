//! What is launched, from extents and the alignment of addresses alone: pure, tested without a GPU.

mod filter;

pub(crate) use filter::aligned;
pub use filter::{Kernel, Plan, Window};

use crate::error::Error;

/// The most blocks of a launch.
pub(crate) const MAX_BLOCKS: u32 = i32::MAX as u32;

/// The blocks of a launch, if it can hold so many.
pub(crate) fn blocks(needed: impl Into<u128>) -> Result<u32, Error> {
    let needed = needed.into();
    let fit = u32::try_from(needed).ok().filter(|&blocks| blocks <= MAX_BLOCKS);
    fit.ok_or(Error::Device(gpu_core::Error::TooManyBlocks { blocks: needed, limit: MAX_BLOCKS }))
}
