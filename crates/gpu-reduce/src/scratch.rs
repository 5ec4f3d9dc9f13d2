//! How much scratch memory a reduction needs.

use gpu_core::{Error, ScratchSize};

use crate::axis::Along;
use crate::instance::{AlongColumns, Segmented};
use crate::plan::{most_scratch_words, segments_scratch_words};

/// Words before the partial results: the ticket, which tells which block finishes.
pub(crate) const HEADER: usize = 4;

/// Scratch memory of a launch with so many words of partial results, which it leaves zero.
pub(crate) const fn with_partials(words: usize) -> ScratchSize {
    ScratchSize::new().zeros(HEADER + words)
}

/// Scratch memory of any reduction of up to `len` elements: 97 KiB at most.
///
/// ```
/// assert_eq!(gpu_reduce::reduce_scratch(1).bytes(), 256);
/// assert!(gpu_reduce::reduce_scratch(usize::MAX).bytes() < 97 << 10);
/// ```
pub const fn reduce_scratch(len: usize) -> ScratchSize {
    with_partials(most_scratch_words(len))
}

/// Scratch memory of reductions `R` of segments of arrays of up to `len` elements: about a word of 64 bits for each 2
/// KiB.
///
/// ```
/// use gpu_reduce::{Scratch, kernels::Sum, reduce_segments_scratch};
/// let stream = gpu_core::Device::simulator().default_stream();
/// let scratch = Scratch::with_size(&stream, reduce_segments_scratch::<Sum<f32>>(1 << 20))?;
/// assert!(scratch.bytes() < 20 << 10);
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub const fn reduce_segments_scratch<R: Segmented>(len: usize) -> ScratchSize {
    with_partials(segments_scratch_words::<R>(len))
}

/// Scratch memory of reductions `R` along `axis` of arrays of `shape`.
///
/// # Errors
/// [`Error::Axis`], [`Error::Empty`], [`Error::TooLong`],
/// [`Invalid::TooManySegments`](gpu_core::segments::Invalid::TooManySegments).
///
/// ```
/// use gpu_reduce::{kernels::Sum, reduce_axis_scratch};
/// let of_columns = reduce_axis_scratch::<Sum<f32>>(&[10_000, 300], 0)?;
/// assert!(of_columns.bytes() > reduce_axis_scratch::<Sum<f32>>(&[10, 300], 0)?.bytes());
/// # Ok::<(), gpu_reduce::Error>(())
/// ```
pub fn reduce_axis_scratch<R: Segmented + AlongColumns>(
    shape: &[usize],
    axis: usize,
) -> Result<ScratchSize, Error> {
    Ok(with_partials(Along::new::<R>(shape, axis)?.scratch_words::<R>()))
}
