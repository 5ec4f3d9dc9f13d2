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
    /// Input and output have pixels of different sizes.
    #[error("the input has {expected} channels, the output {actual}")]
    Channels {
        /// Elements of a pixel of the input.
        expected: usize,
        /// Elements of a pixel of the output.
        actual: usize,
    },
    /// Input and output are batches of different lengths.
    #[error("the input has {expected} images, the output {actual}")]
    Images {
        /// Images of the input.
        expected: usize,
        /// Images of the output.
        actual: usize,
    },
    /// The output shares memory with an input.
    #[error("the output shares memory with {input}")]
    Aliasing {
        /// Which input.
        input: &'static str,
    },
    /// The images are more than a launch can have blocks for.
    #[error("the images need {blocks} blocks, a launch has at most {limit}")]
    TooManyBlocks {
        /// Blocks needed.
        blocks: u128,
        /// The most blocks.
        limit: u32,
    },
    /// A textbook's mask has another size.
    #[error("a mask of radius {radius} has {expected} weights, this one {actual}; radii are 1 to {limit}")]
    Mask {
        /// The radius.
        radius: u32,
        /// The largest radius.
        limit: u32,
        /// Weights of a mask of this radius.
        expected: usize,
        /// Weights there are.
        actual: usize,
    },
    /// A standard deviation that is not a positive number.
    #[error("the standard deviation of a Gaussian is positive and finite, not {actual}")]
    Sigma {
        /// The standard deviation.
        actual: f64,
    },
    /// A texture has another number of dimensions than is read.
    #[error("a texture of {expected} dimensions is needed, this one has {actual}")]
    TextureDimensions {
        /// Dimensions that are read.
        expected: usize,
        /// Dimensions of the texture.
        actual: usize,
    },
    /// Coordinates are not whole places.
    #[error("{coordinates} coordinates are not whole places of {dimensions} dimensions")]
    Places {
        /// Coordinates given.
        coordinates: usize,
        /// Coordinates of a place.
        dimensions: usize,
    },
    /// An output has not room for exactly the values of all places.
    #[error("the output has {actual} elements, all values together {expected}")]
    Values {
        /// Elements of the values.
        expected: usize,
        /// Elements of the output.
        actual: usize,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
