//! What can go wrong.

use crate::matrix::Order;

/// An error of an operation on vectors and matrices. Its output is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The shapes of a product do not fit together.
    #[error(
        "a product of {} × {} and {} × {} matrices is {} × {}, if their inner lengths agree; the output is {} × {}",
        a.0, a.1, b.0, b.1, a.0, b.1, c.0, c.1
    )]
    ProductShapes {
        /// Rows and columns of the first factor.
        a: (usize, usize),
        /// Rows and columns of the second factor.
        b: (usize, usize),
        /// Rows and columns of the output.
        c: (usize, usize),
    },
    /// Row-major and column-major matrices in one element-wise operation: transpose one first.
    #[error("one matrix is {expected:?}, another {actual:?}")]
    Orders {
        /// The order of the first.
        expected: Order,
        /// The order of the other.
        actual: Order,
    },
    /// Batches of different sizes.
    #[error("the batches have {a}, {b} and {c} matrices")]
    BatchCounts {
        /// Matrices of the first factor.
        a: usize,
        /// Matrices of the second factor.
        b: usize,
        /// Matrices of the output.
        c: usize,
    },
    /// A kernel was asked for whose copies are of whole boxes, of matrices that these do not fit.
    #[error(
        "addresses, leading dimensions and strides have to be multiples of {bytes} bytes for this kernel"
    )]
    Unaligned {
        /// What they are to be multiples of.
        bytes: usize,
    },
    /// A matrix is not positive definite.
    #[error("matrix {matrix} is not positive definite: its leading minor of order {index} is not positive")]
    NotPositiveDefinite {
        /// Its place in the batch.
        matrix: usize,
        /// The order of the first leading minor that is not positive, counted from one.
        index: usize,
    },
    /// A triangle with a zero on its diagonal, which has no inverse.
    #[error("triangle {matrix} is singular: element {index} of its diagonal is zero")]
    SingularTriangle {
        /// Its place in the batch.
        matrix: usize,
        /// The first zero of the diagonal, counted from zero.
        index: usize,
    },
    /// A refinement whose residual does not become small enough.
    #[error(
        "after {steps} steps of refinement the residual of right-hand side {column} is {residual} times its bound: the matrix is too \
         ill-conditioned to be factored in f32, call potrf and potrs"
    )]
    NotConverged {
        /// The right-hand side.
        column: usize,
        /// Steps taken.
        steps: usize,
        /// Its residual, in units of what would do.
        residual: f64,
    },
    /// The device has no tensor cores, or none of the kind that the kernels are for.
    #[error(
        "products on the tensor cores need compute capability {needs}, the device has {capability}: convert the factors to f32, those of i8 to f64, and call gemm"
    )]
    NoTensorCores {
        /// The device's capability.
        capability: String,
        /// The capability needed.
        needs: &'static str,
    },
    /// A kernel was asked for by name that does not take the product.
    #[error("kernel `{kernel}` takes no product of elements of {bytes} bytes with sums of {k} products")]
    KernelNotFor {
        /// The kernel.
        kernel: &'static str,
        /// Bytes of an element.
        bytes: usize,
        /// The products of a sum.
        k: usize,
    },
    /// A kernel was asked for by name that accesses matrices by 16 bytes.
    #[error(
        "kernel `{kernel}` takes only matrices of which lines begin at multiples of 16 bytes, those of A and B in whole"
    )]
    NotAligned {
        /// The kernel.
        kernel: &'static str,
    },
    /// A launch whose size is the caller's has too few threads.
    #[error("{expected} threads are needed, the launch has {actual}")]
    TooFewThreads {
        /// Threads needed.
        expected: u64,
        /// Threads of the launch.
        actual: u64,
    },
    /// A launch whose size is the caller's has threads along an axis that the kernel does not count through: several
    /// would do the same work at the same time.
    #[error(
        "the kernel counts through {axes} axes, the launch has a grid of {grid:?} and blocks of {block:?}"
    )]
    TooManyAxes {
        /// The axes of the kernel.
        axes: usize,
        /// Blocks in x, y and z.
        grid: [u32; 3],
        /// Threads of a block in x, y and z.
        block: [u32; 3],
    },
    /// A skyline that does not have a first block for every block row.
    #[error("a matrix of {n} rows has {expected} block rows of {side}, the skyline has {actual}")]
    SkylineRows {
        /// Rows of the matrix.
        n: usize,
        /// Rows of a block.
        side: usize,
        /// Block rows of the matrix.
        expected: usize,
        /// Block rows of the skyline.
        actual: usize,
    },
    /// A block row of a skyline that begins right of the diagonal.
    #[error("block row {row} of a skyline begins with block {first}; the diagonal's is the last it may")]
    SkylineRow {
        /// The block row.
        row: usize,
        /// Its first block.
        first: usize,
    },
    /// Blocks without rows.
    #[error("blocks of a matrix have one row or more, not {side}")]
    SkylineSide {
        /// Rows of a block.
        side: usize,
    },
    /// A matrix of another size than the skyline's.
    #[error("the skyline is of {expected} rows and columns, the matrix has {} × {}", actual.0, actual.1)]
    SkylineSize {
        /// Rows of the skyline.
        expected: usize,
        /// Rows and columns of the matrix.
        actual: (usize, usize),
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
