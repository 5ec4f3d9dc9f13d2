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
    /// A filter without weights along an axis, or with too many.
    #[error("{what} is {actual}, it can be 1 to {limit}")]
    FilterExtent {
        /// Which extent.
        what: &'static str,
        /// The extent.
        actual: usize,
        /// The largest.
        limit: usize,
    },
    /// A filter has another number of weights than its extents say.
    #[error("the filter has {expected} places, but {actual} weights were given")]
    Weights {
        /// Places.
        expected: usize,
        /// Weights given.
        actual: usize,
    },
    /// An origin would leave an output outside of its window.
    #[error("{what} is {actual}, it can be {low} to {high}")]
    Origin {
        /// Which origin.
        what: &'static str,
        /// The origin.
        actual: isize,
        /// The smallest.
        low: isize,
        /// The largest.
        high: isize,
    },
    /// A standard deviation that is none.
    #[error("a Gaussian's standard deviation is positive and finite, this one is {actual}")]
    Sigma {
        /// The standard deviation.
        actual: f64,
    },
    /// A Gaussian cannot be cut off there.
    #[error("a Gaussian is cut off at 0 or more standard deviations, not at {actual}")]
    Truncate {
        /// Where.
        actual: f64,
    },
    /// The filter is larger than the image, of which it is to see nothing but the inside.
    #[error(
        "a {} × {} filter does not fit into a {} × {} image", filter.0, filter.1, image.0, image.1
    )]
    FilterOutsideImage {
        /// Width and height of the filter.
        filter: (usize, usize),
        /// Width and height of the image.
        image: (usize, usize),
    },
    /// A filter has more weights than travel with a launch, and they are not in the device's memory.
    #[error(
        "{actual} weights have to be uploaded to the device (Filter::upload), up to {limit} travel with the launch"
    )]
    WeightsNotOnDevice {
        /// Weights of the filter.
        actual: usize,
        /// Weights that travel with the launch.
        limit: usize,
    },
    /// An image with gaps where there may be none.
    #[error(
        "the images must have no gaps: the pitch is {pitch} for a row of {row} elements, or images lie apart"
    )]
    NotDense {
        /// Elements from one row to the next.
        pitch: usize,
        /// Elements of a row.
        row: usize,
    },
    /// SciPy has no border mode `Valid`.
    #[error("SciPy's filters have no border mode `Valid`")]
    NoSuchBorder,
    /// The output has other extents than the result.
    #[error(
        "the result is {} × {} with {} channels, {} times; the output is {} × {} with {}, {} times",
        expected[0], expected[1], expected[2], expected[3], actual[0], actual[1], actual[2], actual[3]
    )]
    Extents {
        /// Width, height, channels and number of images of the result.
        expected: [usize; 4],
        /// The same of the output.
        actual: [usize; 4],
    },
    /// The output shares memory with the input, or two outputs with each other.
    #[error("{what} share memory")]
    Aliasing {
        /// Which two.
        what: &'static str,
    },
    /// A launch cannot hold as many blocks as are needed.
    #[error("{blocks} blocks are needed, the limit of a launch is {limit}")]
    TooManyBlocks {
        /// Blocks needed.
        blocks: u64,
        /// The most blocks of a launch.
        limit: u32,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}
