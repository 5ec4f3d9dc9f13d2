//! What primitives refuse, in the same words: for those who write them.

use crate::error::{Error, Result};

/// The most blocks of a launch.
pub const MAX_BLOCKS: u32 = i32::MAX as u32;

/// The blocks of a launch, if it can hold so many.
///
/// # Errors
/// [`Error::TooManyBlocks`].
///
/// ```
/// assert_eq!(gpu_core::checks::blocks(7u64)?, 7);
/// assert!(gpu_core::checks::blocks(1u64 << 31).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn blocks(blocks: impl Into<u128>) -> Result<u32> {
    let blocks = blocks.into();
    let fit = u32::try_from(blocks).ok().filter(|&blocks| blocks <= MAX_BLOCKS);
    fit.ok_or(Error::TooManyBlocks { blocks, limit: MAX_BLOCKS })
}

/// Refuses an extent, called `what`, of more than `limit`.
///
/// # Errors
/// [`Error::ExtentTooLarge`].
///
/// ```
/// gpu_core::checks::extent("the number of rows", 7, 7)?;
/// assert!(gpu_core::checks::extent("the number of rows", 8, 7).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn extent(what: &'static str, actual: usize, limit: usize) -> Result<()> {
    if actual > limit { Err(Error::ExtentTooLarge { what, actual, limit }) } else { Ok(()) }
}

/// Refuses an array, called `what`, that has another length.
///
/// # Errors
/// [`Error::LengthMismatch`].
///
/// ```
/// gpu_core::checks::length("offsets", 3, [0, 1, 2].len())?;
/// assert!(gpu_core::checks::length("offsets", 3, [0, 1].len()).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn length(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::LengthMismatch { what, expected, actual }) }
}

/// Refuses an output of `what`, of another length than there will be elements.
///
/// # Errors
/// [`Error::OutputLength`].
///
/// ```
/// gpu_core::checks::output("sum", 1, [0].len())?;
/// assert!(gpu_core::checks::output("sum", 1, [0, 0].len()).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn output(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::OutputLength { what, expected, actual }) }
}

/// Refuses arrays of which `what` takes elements in pairs, and of which one is longer.
///
/// # Errors
/// [`Error::InputLengths`].
///
/// ```
/// gpu_core::checks::inputs("dot product", [1, 2].len(), [3, 4].len())?;
/// assert!(gpu_core::checks::inputs("dot product", [1, 2].len(), [3].len()).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn inputs(what: &'static str, first: usize, second: usize) -> Result<()> {
    if first == second { Ok(()) } else { Err(Error::InputLengths { what, first, second }) }
}

/// Refuses an input of more elements than can be counted.
///
/// # Errors
/// [`Error::TooLong`].
///
/// ```
/// gpu_core::checks::at_most(1 << 20, [0].len())?;
/// assert!(gpu_core::checks::at_most(1 << 20, (1 << 20) + 1).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn at_most(most: usize, len: usize) -> Result<()> {
    if len > most { Err(Error::TooLong { len, most }) } else { Ok(()) }
}

/// Refuses memory with fewer elements than `what` in it spans: "a matrix", "a batch".
///
/// # Errors
/// [`Error::Length`].
///
/// ```
/// gpu_core::checks::span("a matrix", 6, [0; 8].len())?;
/// assert!(gpu_core::checks::span("a matrix", 6, [0; 5].len()).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn span(what: &'static str, expected: usize, actual: usize) -> Result<()> {
    if actual < expected { Err(Error::Length { what, expected, actual }) } else { Ok(()) }
}

/// The rows of a matrix, `what` in errors, that has as many columns.
///
/// # Errors
/// [`Error::NotSquare`].
///
/// ```
/// assert_eq!(gpu_core::checks::square("a triangular matrix", (3, 3))?, 3);
/// assert!(gpu_core::checks::square("a triangular matrix", (3, 4)).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn square(what: &'static str, (rows, columns): (usize, usize)) -> Result<usize> {
    if rows == columns { Ok(rows) } else { Err(Error::NotSquare { what, rows, columns }) }
}

/// Refuses a matrix, called `what`, of other rows and columns.
///
/// # Errors
/// [`Error::Shape`].
///
/// ```
/// gpu_core::checks::shape("the output", (3, 4), (3, 4))?;
/// assert!(gpu_core::checks::shape("the output", (3, 4), (4, 3)).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn shape(what: &'static str, expected: (usize, usize), actual: (usize, usize)) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::Shape { what, expected, actual }) }
}

/// Refuses vectors of `x` and `y` elements that do not fit `y = A · x` with an A of so many rows and columns.
///
/// # Errors
/// [`Error::VectorLengths`].
///
/// ```
/// gpu_core::checks::vectors((3, 4), 4, 3)?;
/// assert!(gpu_core::checks::vectors((3, 4), 3, 3).is_err());
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn vectors((rows, columns): (usize, usize), x: usize, y: usize) -> Result<()> {
    if (y, x) == (rows, columns) { Ok(()) } else { Err(Error::VectorLengths { rows, columns, x, y }) }
}
