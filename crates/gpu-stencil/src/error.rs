//! What can go wrong.

/// An error of a stencil. Its output is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
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
    /// There are not as many weights as a filter or a stencil has places.
    #[error("{expected} weights are needed, {actual} were given")]
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
    /// A standard deviation that is negative or not finite.
    #[error("the standard deviation of a Gaussian is 0 or more and finite, not {actual}")]
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
    /// SciPy has no border mode `Valid`.
    #[error("SciPy's filters have no border mode `Valid`")]
    NoSuchBorder,
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
    /// A signal or a filter without elements.
    #[error("the {what} is empty")]
    EmptyOperand {
        /// Which one.
        what: &'static str,
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
    /// A number that has to be finite is not.
    #[error("{what} is {actual}, which is not finite")]
    NotFinite {
        /// Which one.
        what: &'static str,
        /// Its value.
        actual: String,
    },
    /// The device, its memory or the launch.
    #[error(transparent)]
    Device(#[from] gpu_core::Error),
}

/// So that `?` works in a function that calls primitives of several crates and returns gpu-core's error.
impl From<Error> for gpu_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Device(error) => error,
            own => Self::Primitive(Box::new(own)),
        }
    }
}
