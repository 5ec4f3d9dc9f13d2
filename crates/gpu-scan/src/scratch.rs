//! How much scratch memory a scan needs.

use gpu_core::{Error, ScratchSize};
use gpu_scan_kernels::Scan;

use crate::axis::{Along, scratch_words};
use crate::plan::{HEADER, most_scratch_words, most_segments_scratch_words};

/// Scratch memory of a launch with so many words for the totals of tiles on their way from block to block.
pub(crate) const fn with_tiles(words: usize) -> ScratchSize {
    ScratchSize::new().tickets(HEADER + words)
}

/// Scratch memory of any scan of up to `len` elements: 1 in 1,200 of the bytes of an array of `f64`.
///
/// ```
/// assert_eq!(gpu_scan::scan_scratch(1000).bytes(), 256);
/// assert!(gpu_scan::scan_scratch(5 << 19).bytes() < 8 * (5 << 19) / 1200);
/// ```
pub const fn scan_scratch(len: usize) -> ScratchSize {
    with_tiles(most_scratch_words(len))
}

/// Scratch memory of scans of segments of up to `len` elements, and of all other scans of as many.
///
/// ```
/// use gpu_scan::{scan_scratch, scan_segments_scratch};
/// assert!(scan_segments_scratch(1 << 20).bytes() >= scan_scratch(1 << 20).bytes());
/// ```
pub const fn scan_segments_scratch(len: usize) -> ScratchSize {
    with_tiles(most_segments_scratch_words(len))
}

/// Scratch memory of scans with the operator `S` along `axis` of arrays of `shape`.
///
/// # Errors
/// [`Error::Axis`], [`Error::TooLong`].
///
/// ```
/// use gpu_scan::{kernels::Sum, scan_axis_scratch, scan_segments_scratch};
/// // Rows are segments.
/// let rows = scan_axis_scratch::<Sum<f32>>(&[64, 1000], 1)?;
/// assert_eq!(rows, scan_segments_scratch(64_000));
/// # Ok::<(), gpu_scan::Error>(())
/// ```
pub fn scan_axis_scratch<S: Scan>(shape: &[usize], axis: usize) -> Result<ScratchSize, Error> {
    let elements = shape.iter().fold(1usize, |all, &extent| all.saturating_mul(extent));
    let along = Along::new(shape, axis, elements)?;
    if along.inner == 1 {
        return Ok(scan_segments_scratch(elements));
    }
    Ok(with_tiles(scratch_words::<S>(along.lines::<S>()?)))
}
