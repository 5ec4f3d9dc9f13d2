//! What can go wrong, with the expected and the actual value.

mod driver;

use gpu_sim::Fault;

use crate::capability::{Capability, version};
pub use driver::{DriverFailure, Launched};

/// The result of everything that can fail here.
pub type Result<T> = core::result::Result<T, Error>;

/// What can go wrong with a device, its memory or a launch, and with what a primitive is given: inputs, outputs and
/// scratch memory are as they were then, but where a launch failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A CUDA device was asked for where there is no CUDA driver.
    #[error("there is no CUDA driver: {why}")]
    NoDriver {
        /// What the loader or the driver said.
        why: String,
    },

    /// The driver cannot compile any of a kernel's images: they are written in a newer PTX.
    #[error(
        "the driver is too old for kernel `{kernel}`: PTX {} needs a driver for CUDA {}, this one is for CUDA {}",
        version(*needs_isa, 10), version(*needs_driver, 1000), version(*driver, 1000)
    )]
    DriverTooOld {
        /// The kernel that was to be loaded.
        kernel: String,
        /// The oldest PTX version among the images that the device can run, times ten.
        needs_isa: u32,
        /// The CUDA version whose driver takes it, as `cuDriverGetVersion` writes it: 12040 is 12.4.
        needs_driver: u32,
        /// The CUDA version of the driver, written likewise.
        driver: u32,
    },

    /// No CUDA device has this number.
    #[error("CUDA device {asked} was asked for, but there are {count} (counted from 0)")]
    NoSuchDevice {
        /// The ordinal that was asked for.
        asked: usize,
        /// How many devices there are.
        count: usize,
    },

    /// The simulator was asked for in a program that was built without it.
    #[error("gpu-core was built without its feature `simulator`")]
    NoSimulator,

    /// A device was named in a way that is not understood.
    #[error("`{asked}` names no device: use `cpu`, `simulator`, `cuda` or `cuda:N`")]
    UnknownDevice {
        /// The name.
        asked: String,
    },

    /// The device has too little memory.
    #[error("out of memory on {device}: asked for {asked} bytes, {free} of {total} are free")]
    OutOfMemory {
        /// The device.
        device: String,
        /// The bytes asked for; `u64::MAX` where they do not fit 64 bits.
        asked: u64,
        /// The bytes free when it failed; 0 where that cannot be known.
        free: u64,
        /// The bytes the device has; 0 where that cannot be known.
        total: u64,
    },

    /// Two lengths should be the same.
    #[error("{what}: expected {expected} elements, got {actual}")]
    LengthMismatch {
        /// What has the wrong length.
        what: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        actual: usize,
    },

    /// A range lies outside of a buffer or view.
    #[error("the range {start}..{end} is not within 0..{len}")]
    OutOfRange {
        /// Its first element.
        start: usize,
        /// One past its last.
        end: usize,
        /// The elements there are.
        len: usize,
    },

    /// A launch asks for more than the device, or the kernel, allows.
    #[error("kernel `{kernel}`: {what} {asked} exceeds the limit {limit}")]
    LaunchLimit {
        /// The kernel.
        kernel: String,
        /// What exceeds its limit: "threads in a block", "grid size in y", "bytes of shared memory".
        what: &'static str,
        /// The value in the launch.
        asked: u64,
        /// The largest value allowed.
        limit: u64,
    },

    /// A launch without a single thread.
    #[error("kernel `{kernel}`: the launch is empty (grid {grid:?}, block {block:?})")]
    EmptyLaunch {
        /// The kernel.
        kernel: String,
        /// Blocks in x, y and z.
        grid: [u32; 3],
        /// Threads of a block in x, y and z.
        block: [u32; 3],
    },

    /// A grid that is no whole number of clusters.
    #[error("kernel `{kernel}`: {blocks} blocks in x are no multiple of the {cluster} of a cluster")]
    PartialCluster {
        /// The kernel.
        kernel: String,
        /// Blocks in x.
        blocks: u32,
        /// Blocks of a cluster.
        cluster: u32,
    },

    /// A call of the CUDA driver failed.
    #[error("{0}")]
    Cuda(Box<DriverFailure>),

    /// An earlier failure has left the CUDA context unusable; only a new process gets a new one.
    #[error("the device is unusable since an earlier failure: {first}")]
    Poisoned {
        /// The failure that did it.
        first: Box<DriverFailure>,
    },

    /// The simulator caught a fault in a kernel, or in a transfer.
    #[error(transparent)]
    Simulator(Box<Fault>),

    /// Memory, stream and event of one operation must be of one device.
    #[error("{what} is on {actual}, expected it on {expected}")]
    WrongDevice {
        /// What is in the wrong place.
        what: &'static str,
        /// The device of the operation.
        expected: String,
        /// The device it is on.
        actual: String,
    },

    /// Copies between devices are between two of one kind: GPUs, or simulators.
    #[error(
        "no stream copies from {from} to {to}: devices of different kinds exchange data through the host"
    )]
    NotPeers {
        /// Where the source is.
        from: String,
        /// Where the target is.
        to: String,
    },

    /// A graph holds work of one stream: this is done once, by the host, or has to be waited for.
    #[error("{what} cannot be captured in a graph")]
    NotCapturable {
        /// What was asked for while a stream was captured.
        what: &'static str,
    },

    /// Work of a graph uses memory that the graph does not hold, or writes what it holds to read.
    #[error("{by} {} memory that its graph does not hold{}", if *write { "writes" } else { "reads" }, if *write { " to write" } else { "" })]
    GraphMemory {
        /// The kernel, "a fill", "a copy" or "a copy between devices".
        by: &'static str,
        /// Whether it writes there.
        write: bool,
    },

    /// A graph was to be updated to work of another kind.
    #[error("work {at} of a graph was {expected} and cannot become {actual}")]
    GraphTopology {
        /// Its number, counted from 0.
        at: usize,
        /// "a kernel", "a fill", "a copy", "a copy between devices", or "nothing" where the graph has no more.
        expected: &'static str,
        /// What was captured in its place.
        actual: &'static str,
    },

    /// There is no result of no elements.
    #[error("the {what} of no elements does not exist")]
    Empty {
        /// What was asked for.
        what: &'static str,
    },

    /// Two arrays that go together have different lengths.
    #[error("the inputs of a {what} hold {first} and {second} elements")]
    InputLengths {
        /// What was asked for.
        what: &'static str,
        /// Elements of the first.
        first: usize,
        /// Elements of the second.
        second: usize,
    },

    /// The output does not hold exactly the elements that there will be.
    #[error("the output of a {what} holds {actual} elements, not {expected}")]
    OutputLength {
        /// What was asked for.
        what: &'static str,
        /// Elements that there will be.
        expected: usize,
        /// Elements of the output given.
        actual: usize,
    },

    /// An array does not have the elements of its shape.
    #[error("the array of a {what} holds {actual} elements, its shape {expected}")]
    ShapeLength {
        /// What was asked for.
        what: &'static str,
        /// Those of the shape.
        expected: usize,
        /// Those there are.
        actual: usize,
    },

    /// Memory is shorter than what it is to hold.
    #[error("the memory holds {actual} elements, but {what} spans {expected}")]
    Length {
        /// "a matrix", "a batch" or "an image".
        what: &'static str,
        /// Elements it spans.
        expected: usize,
        /// Elements there are.
        actual: usize,
    },

    /// An array has no such axis.
    #[error("axis {axis} of an array of {axes} axes (counted from 0)")]
    Axis {
        /// The axis.
        axis: usize,
        /// Axes of the array.
        axes: usize,
    },

    /// An input is longer than can be counted.
    #[error("an input of {len} elements is longer than {most}")]
    TooLong {
        /// Elements of the input.
        len: usize,
        /// The most there may be.
        most: usize,
    },

    /// There is less scratch memory than a call needs, and what there is does not grow.
    #[error("a {what} needs {expected} bytes of scratch memory, but this has {actual}")]
    ScratchTooSmall {
        /// What was asked for.
        what: &'static str,
        /// Bytes that are needed.
        expected: usize,
        /// Bytes that there are.
        actual: usize,
    },

    /// The scratch memory belongs to another stream, whose work may be using it.
    #[error("a {what} was given scratch memory of another stream")]
    ScratchOfOtherStream {
        /// What was asked for.
        what: &'static str,
    },

    /// An output shares memory with an input, or with another output.
    #[error("the output shares memory with {with}")]
    Aliasing {
        /// What it shares memory with.
        with: &'static str,
    },

    /// What has to be square is not.
    #[error("{what} has as many rows as columns, not {rows} × {columns}")]
    NotSquare {
        /// "a triangular matrix".
        what: &'static str,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },

    /// A matrix has other rows or columns than it should.
    #[error("{what} is {} × {}, not {} × {}", actual.0, actual.1, expected.0, expected.1)]
    Shape {
        /// Which one: "the output".
        what: &'static str,
        /// The rows and columns it should have.
        expected: (usize, usize),
        /// Those it has.
        actual: (usize, usize),
    },

    /// Vectors do not fit the matrix.
    #[error(
        "a {rows} × {columns} matrix takes a vector of {columns} elements to one of {rows}, not {x} to {y}"
    )]
    VectorLengths {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// Elements of the vector that it is multiplied by, or that is solved for.
        x: usize,
        /// Elements of the other.
        y: usize,
    },

    /// An extent is more than the kernels can count.
    #[error("{what} is {actual}, the limit is {limit}")]
    ExtentTooLarge {
        /// Which extent.
        what: &'static str,
        /// The extent.
        actual: usize,
        /// The largest.
        limit: usize,
    },

    /// A launch cannot hold as many blocks as are needed.
    #[error("{blocks} blocks are needed, the limit of a launch is {limit}")]
    TooManyBlocks {
        /// Blocks needed.
        blocks: u128,
        /// The most blocks of a launch.
        limit: u32,
    },

    /// There are no such bits in a key.
    #[error("a sort by bits {start} to {end} of keys that have {width}")]
    Bits {
        /// The lowest bit.
        start: u32,
        /// One past the highest.
        end: u32,
        /// Bits of a key.
        width: u32,
    },

    /// What compares all bits of the keys was asked to sort by some of them.
    #[error("a {what} by bits {start} to {end} of keys that have {width}: it compares all")]
    SomeBits {
        /// What was asked for.
        what: &'static str,
        /// The lowest bit.
        start: u32,
        /// One past the highest.
        end: u32,
        /// Bits of a key.
        width: u32,
    },

    /// Not one key is to be selected, or more than there are.
    #[error("a {what} of the first {k}, not 1 to {most}")]
    K {
        /// What was asked for.
        what: &'static str,
        /// How many.
        k: usize,
        /// How many there are, in the shortest segment.
        most: usize,
    },

    /// There is nothing between the bounds of a histogram, or more than its type can express, or so little that bins
    /// of that many to a unit are.
    #[error("a histogram from {lower} to {upper}")]
    Bounds {
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },

    /// A histogram needs a bin at least, and can only have so many.
    #[error("a histogram of {bins} bins, not 1 to {most}")]
    Bins {
        /// Bins asked for.
        bins: usize,
        /// The most there may be.
        most: usize,
    },

    /// An edge of a histogram is less than the one before, or one of them is not a number.
    #[error("edge {index} of a histogram is {after}, after {before}")]
    Edges {
        /// Which edge.
        index: usize,
        /// The edge before.
        before: f64,
        /// The edge.
        after: f64,
    },

    /// A kernel has no image that the device can run.
    #[error("kernel `{kernel}` has no image for compute capability {capability}; there are: {have}")]
    NoKernelImage {
        /// The kernel.
        kernel: String,
        /// The device's capability.
        capability: Capability,
        /// The images, such as `sm_80, sm_90a`.
        have: String,
    },

    /// The PTX of a kernel is not that of the kernel in this program: it is cut off, or of another version of its
    /// source.
    #[error("the PTX of kernel `{kernel}` for {target} {why}: build it again (gpu-builder build)")]
    BadImage {
        /// The kernel.
        kernel: String,
        /// What the image was compiled for: `sm_75`.
        target: String,
        /// What is wrong with it.
        why: String,
    },

    /// A matrix, or a batch of them, that cannot be.
    #[error(transparent)]
    Matrix(#[from] crate::matrix::Invalid),

    /// Segments that an array cannot have, or not for what is asked of them.
    #[error(transparent)]
    Segments(#[from] crate::segments::Invalid),

    /// An image that cannot be.
    #[error(transparent)]
    Image(#[from] crate::image::Invalid),

    /// A grid that cannot be.
    #[error(transparent)]
    Grid(#[from] crate::grid::Invalid),

    /// A texture that cannot be.
    #[error(transparent)]
    Texture(#[from] crate::texture::Invalid),

    /// A tensor that the copy engine does not take.
    #[error("{what} is {actual}, allowed is {allowed}")]
    InvalidTensor {
        /// The part of it.
        what: &'static str,
        /// Its value.
        actual: u64,
        /// What is allowed.
        allowed: &'static str,
    },

    /// A mistake that only a primitive's crate has a word for: that crate's own error, to which `downcast_ref` leads
    /// back.
    #[error(transparent)]
    Primitive(Box<dyn std::error::Error + Send + Sync>),

    /// The device cannot do this at all.
    #[error("{device} does not offer {what}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// The device.
        device: String,
    },
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Simulator(Box::new(fault))
    }
}
