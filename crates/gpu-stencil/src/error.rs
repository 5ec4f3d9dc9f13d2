//! What can go wrong.

/// An error of a stencil. Its output is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An image without pixels.
    #[error("an image has at least one pixel, this one is {width} × {height} with {channels} channels")]
    EmptyImage {
        /// Pixels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Elements of a pixel.
        channels: usize,
    },
    /// A row's elements are not whole pixels.
    #[error("a row of {elements} elements cannot hold pixels of {channels} channels")]
    ChannelsDoNotDivideRow {
        /// Elements of a row.
        elements: usize,
        /// Elements of a pixel.
        channels: usize,
    },
    /// A pitch is smaller than a row.
    #[error("the pitch is {actual} elements, but a row has {expected}")]
    Pitch {
        /// Elements of a row.
        expected: usize,
        /// The pitch given.
        actual: usize,
    },
    /// Images of a batch overlap.
    #[error("the images of the batch are {actual} elements apart, but each spans {expected}")]
    BatchStride {
        /// Elements an image spans.
        expected: usize,
        /// Elements from one image to the next.
        actual: usize,
    },
    /// An extent is more than the kernels can index.
    #[error("{what} is {actual}, the limit is {limit}")]
    ExtentTooLarge {
        /// Which extent.
        what: &'static str,
        /// The extent.
        actual: usize,
        /// The largest.
        limit: usize,
    },
    /// The length of all images is not a `usize`.
    #[error("{count} images of {rows} rows, {pitch} elements apart, are more than can be addressed")]
    SizeOverflow {
        /// Images.
        count: usize,
        /// Rows of each.
        rows: usize,
        /// Elements from one row, or image, to the next.
        pitch: usize,
    },
    /// Memory is shorter than what it is to hold.
    #[error("the memory holds {actual} elements, but the images span {expected}")]
    Length {
        /// Elements the images span.
        expected: usize,
        /// Elements there are.
        actual: usize,
    },
    /// A signal or a filter without elements.
    #[error("the {what} is empty")]
    EmptyOperand {
        /// Which one.
        what: &'static str,
    },
    /// An output has not as many elements as there are results.
    #[error("the output has {actual} elements, but there are {expected} results")]
    OutputLength {
        /// Results.
        expected: usize,
        /// Elements of the output.
        actual: usize,
    },
    /// A filter is longer than the signal, or than the memory that is to hold it.
    #[error("a filter of {actual} elements is too long for the one in {memory} memory: {limit} at most")]
    FilterTooLong {
        /// Where the filter is.
        memory: &'static str,
        /// Its elements.
        actual: usize,
        /// The most.
        limit: usize,
    },
    /// A grid without cells.
    #[error("a grid has at least one cell, this one is {planes} × {rows} × {columns}")]
    EmptyGrid {
        /// Planes.
        planes: usize,
        /// Rows of a plane.
        rows: usize,
        /// Columns of a row.
        columns: usize,
    },
    /// A stencil is neither of 2 nor of 3 dimensions.
    #[error("a stencil of {actual} dimensions: there are those of 2 and of 3")]
    StencilDimensions {
        /// Dimensions asked for.
        actual: usize,
    },
    /// A stencil is for grids of another number of dimensions.
    #[error("a stencil of {expected} dimensions cannot be applied to a grid of {actual}")]
    Dimensions {
        /// The stencil's.
        expected: usize,
        /// The grid's.
        actual: usize,
    },
    /// A stencil reaches too far, or nowhere.
    #[error("a stencil has a radius of 1 to {limit}, this one of {actual}")]
    Radius {
        /// The radius asked for.
        actual: usize,
        /// The largest.
        limit: usize,
    },
    /// A stencil has not as many weights as neighbours.
    #[error("a stencil of this shape has {expected} weights, not {actual}")]
    Weights {
        /// Neighbours, and the cell.
        expected: usize,
        /// Weights given.
        actual: usize,
    },
    /// A number that has to be finite is not.
    #[error("{what} is {actual}, which is not finite")]
    NotFinite {
        /// Which one.
        what: &'static str,
        /// Its value.
        actual: String,
    },
    /// Memory has not as many elements as the grid has cells.
    #[error("the {what} has {actual} elements, but the grid has {expected} cells")]
    GridLength {
        /// Which memory.
        what: &'static str,
        /// The grid's cells.
        expected: usize,
        /// Elements there are.
        actual: usize,
    },
    /// Scratch memory does not suffice.
    #[error("the scratch memory has {actual} elements, not {expected}")]
    ScratchTooSmall {
        /// Elements needed.
        expected: usize,
        /// Elements there are.
        actual: usize,
    },
    /// A launch would need more blocks than there can be.
    #[error("{blocks} blocks are too many for a launch: {limit} at most")]
    TooManyBlocks {
        /// Blocks needed, at least.
        blocks: usize,
        /// The most.
        limit: usize,
    },
    /// The output shares memory with an input.
    #[error("the output shares memory with the {input}")]
    Aliasing {
        /// Which input.
        input: &'static str,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
    /// A norm.
    #[error(transparent)]
    Reduce(#[from] gpu_reduce::Error),
}

/// Refuses memory to write that shares some with `input`. Borrows rule it out, but for memory that was taken over from elsewhere.
pub(crate) fn expect_apart<T: gpu_core::Element>(
    output: &mut gpu_core::ViewMut<'_, T>,
    name: &'static str,
    input: &gpu_core::View<'_, T>,
) -> Result<(), Error> {
    let bytes = |len: usize| (len * size_of::<T>()) as u64;
    let (to, from) = (output.as_global_mut().address(), input.as_global().address());
    let shared = to < from + bytes(input.len()) && from < to + bytes(output.len());
    if shared && output.device() == input.device() { Err(Error::Aliasing { input: name }) } else { Ok(()) }
}
