//! What is measured, at which sizes.

mod cases;
mod copy;
pub mod histogram;
mod linalg;
mod linalg_level1;
mod linalg_level2;
pub mod permute;
mod reduce;
pub mod runs;
mod scan;
mod scan_axis;
mod scan_segments;
pub mod segments;
mod select;
mod sort;
pub mod sparse;
mod stencil;
mod stencil_iterate;
mod stencil_resize;
mod stencil_signal;
mod transpose;
mod unordered;

pub use cases::{LITERATURE, cases};
pub use copy::Copy;
pub use histogram::Histogram;
pub use linalg::{Add, Gemm, Gemv};
pub use linalg_level1::{Axpy, Dot, FACTOR, Scale};
pub use linalg_level2::{Ger, Symv, Trmv};
pub use reduce::{Reduce, SumWithCopy};
pub use runs::{RunLengths, SumByKey, Unique};
pub use scan::Scan;
pub use scan_axis::ScanAxis;
pub use scan_segments::ScanSegments;
use segments::Lengths;
pub use select::Select;
pub use sort::Sort;
pub use stencil::{Filtered, Sobel};
pub use stencil_iterate::{HEAT_STEPS, Iterate};
pub use stencil_resize::Resize;
pub use stencil_signal::Correlate;
pub use transpose::Transpose;
pub use unordered::SumUnordered;

use crate::report::Subject;

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// The sum of an array.
    Sum,
    /// The sum of an array in any order, of `f32`.
    SumUnordered,
    /// The largest element of an array.
    Max,
    /// Where it is.
    ArgMax,
    /// The sum of an array that is on the host, copies included.
    SumWithCopy,
    /// The sum of each segment of an array.
    Segments,
    /// The sum of the values of each run of equal keys.
    ReduceByKey,
    /// The sum of each column of a matrix.
    Columns,
    /// The inclusive sums of an array.
    Scan,
    /// The inclusive sums of each segment of an array.
    ScanSegments,
    /// The inclusive sums of each row of a matrix.
    ScanRows,
    /// The inclusive sums of each column of a matrix.
    ScanColumns,
    /// The keys of an array in order.
    Sort,
    /// Keys in order, and values in that of their keys.
    SortPairs,
    /// How many elements fall into each of 256 bins.
    Histogram,
    /// The elements that have a flag.
    Select,
    /// The elements that have a flag, and those that have none.
    Partition,
    /// The first element of each run of equal ones.
    Unique,
    /// The runs of equal elements: the element of each, where it starts, and how long it is.
    RunLengthEncode,
    /// The transposition of a matrix.
    Transpose,
    /// The transposition of a matrix of another element type, or a permutation of axes.
    Permute,
    /// The transposition of a square in place.
    InPlace,
    /// The sum of two vectors.
    Add,
    /// The sum of two vectors' products, element by element.
    Dot,
    /// The square root of the sum of a vector's squares.
    Nrm2,
    /// The sum of a vector's magnitudes.
    Asum,
    /// The multiple of a vector, added to another one in place.
    Axpy,
    /// The multiple of a vector, in place.
    Scale,
    /// The outer product of two vectors, added to a matrix in place.
    Ger,
    /// The product of a symmetric matrix, whose lower triangle is stored, and a vector.
    Symv,
    /// The product of a lower triangular matrix and a vector, in place.
    Trmv,
    /// The product of two square matrices.
    Gemm,
    /// The product of a row-major matrix and a vector.
    Gemv,
    /// The product of the transposed matrix and a vector.
    GemvTransposed,
    /// Both sides of an image halved, bilinear.
    ResizeHalf,
    /// Both sides of an image doubled, bilinear.
    ResizeDouble,
    /// The correlation of a signal with a filter.
    Correlate,
    /// [`HEAT_STEPS`] steps of the heat equation on a plane. Its bytes are those of one step.
    Heat,
    /// A step of Jacobi's method in a volume.
    Jacobi,
    /// A Gaussian of 5 × 5 weights.
    Gaussian5,
    /// A Gaussian of 11 × 11 weights.
    Gaussian11,
    /// A filter of 3 × 3 weights that are no product of a row and a column.
    Filter3,
    /// One of 11 × 11 weights.
    Filter11,
    /// [`Op::Gaussian5`] of pixels of three elements: a third as many as the matrix has columns.
    Gaussian5Rgb,
    /// [`Op::Filter3`] of such pixels.
    Filter3Rgb,
    /// The magnitude of Sobel's gradients.
    SobelMagnitude,
    /// A copy from device memory to device memory, by the driver.
    Copy,
    /// The first result of a fresh process: a sum.
    FirstResult,
}

impl Op {
    /// The name in cases and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::SumUnordered => "sum_unordered",
            Self::Max => "max",
            Self::ArgMax => "argmax",
            Self::SumWithCopy => "sum_with_copy",
            Self::Segments => "segments",
            Self::ReduceByKey => "reduce_by_key",
            Self::Columns => "columns",
            Self::Scan => "scan",
            Self::ScanSegments => "scan_segments",
            Self::ScanRows => "scan_rows",
            Self::ScanColumns => "scan_columns",
            Self::Sort => "sort",
            Self::SortPairs => "sort_pairs",
            Self::Histogram => "histogram",
            Self::Select => "select",
            Self::Partition => "partition",
            Self::Unique => "unique",
            Self::RunLengthEncode => "run_length_encode",
            Self::Transpose => "transpose",
            Self::Permute => "permute",
            Self::InPlace => "in_place",
            Self::Add => "add",
            Self::Dot => "dot",
            Self::Nrm2 => "nrm2",
            Self::Asum => "asum",
            Self::Axpy => "axpy",
            Self::Scale => "scale",
            Self::Ger => "ger",
            Self::Symv => "symv",
            Self::Trmv => "trmv",
            Self::Gemm => "gemm",
            Self::Gemv => "gemv",
            Self::GemvTransposed => "gemv_transposed",
            Self::ResizeHalf => "resize_half",
            Self::ResizeDouble => "resize_double",
            Self::Correlate => "correlate",
            Self::Heat => "heat",
            Self::Jacobi => "jacobi",
            Self::Gaussian5 => "gaussian_5x5",
            Self::Gaussian11 => "gaussian_11x11",
            Self::Filter3 => "filter_3x3",
            Self::Filter11 => "filter_11x11",
            Self::Gaussian5Rgb => "gaussian_5x5_rgb",
            Self::Filter3Rgb => "filter_3x3_rgb",
            Self::SobelMagnitude => "sobel_magnitude",
            Self::Copy => "copy",
            Self::FirstResult => "first_result",
        }
    }
}

/// The types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Type {
    F32,
    F64,
    I32,
    U8,
    U16,
    U32,
    U128,
}

impl Type {
    /// Those of the reductions.
    const REDUCED: [Self; 4] = [Self::F32, Self::F64, Self::I32, Self::U8];

    /// The name in cases and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U128 => "u128",
        }
    }

    /// What stands for moved elements of so many bytes.
    const fn of_bytes(bytes: usize) -> Self {
        match bytes {
            1 => Self::U8,
            2 => Self::U16,
            4 => Self::F32,
            8 => Self::F64,
            _ => Self::U128,
        }
    }
}

/// The shape of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// So many elements.
    Vector(usize),
    /// A matrix, row-major without gaps.
    Matrix {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// So many elements in segments.
    Segmented(usize, Lengths),
    /// So many elements, and a filter of so many.
    Filtered(usize, usize),
    /// A cube of so many elements along each axis.
    Cube(usize),
    /// An array of any element type and a permutation of its axes.
    Array(Typed),
}

/// An array of elements of so many bytes, and what is done with its axes; matrices have two axes of extent one before
/// theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Typed {
    /// Bytes of an element.
    pub bytes: usize,
    /// The shape.
    pub extents: [usize; 4],
    /// The permutation.
    pub axes: [u8; 4],
    /// Whether it is done in place.
    pub in_place: bool,
}

impl Typed {
    /// A matrix that is transposed.
    const fn matrix(bytes: usize, rows: usize, cols: usize, in_place: bool) -> Self {
        Self { bytes, extents: [1, 1, rows, cols], axes: [0, 1, 3, 2], in_place }
    }

    /// Elements.
    pub fn elements(self) -> usize {
        self.extents.iter().product()
    }

    pub(crate) fn is_matrix(self) -> bool {
        self.extents[..2] == [1, 1]
    }
}

/// One case: all its modes are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// What is done.
    pub op: Op,
    /// Of what.
    pub element: Type,
    /// With how much.
    pub shape: Shape,
}

impl Case {
    /// What `--list` shows and `--filter` searches: `sum/f32/2^20`, `transpose/f32/16381x16363`.
    pub fn name(self) -> String {
        let size = match self.shape {
            Shape::Vector(len) if len.is_power_of_two() => format!("2^{}", len.trailing_zeros()),
            Shape::Vector(len) => len.to_string(),
            Shape::Matrix { rows, cols } => format!("{rows}x{cols}"),
            Shape::Segmented(_, lengths) => lengths.name(),
            Shape::Filtered(len, taps) if len.is_power_of_two() => {
                format!("2^{}/{taps}", len.trailing_zeros())
            }
            Shape::Filtered(len, taps) => format!("{len}/{taps}"),
            Shape::Cube(side) => format!("{side}x{side}x{side}"),
            Shape::Array(typed) if typed.is_matrix() => format!("{}x{}", typed.extents[2], typed.extents[3]),
            Shape::Array(Typed { extents: [a, b, c, d], axes: [i, j, k, l], .. }) => {
                format!("{a}x{b}x{c}x{d}/{i}{j}{k}{l}")
            }
        };
        format!("{}/{}/{size}", self.op.name(), self.element.name())
    }

    /// Elements of its input.
    pub fn elements(self) -> usize {
        match self.shape {
            Shape::Vector(len) => len,
            Shape::Matrix { rows, cols } => rows * cols,
            Shape::Segmented(elements, _) | Shape::Filtered(elements, _) => elements,
            Shape::Cube(side) => side * side * side,
            Shape::Array(typed) => typed.elements(),
        }
    }

    /// Whether it takes so long that it is measured only where a filter asks for it: the orders of four axes, with 17
    /// GB to check for each.
    pub fn is_long(self) -> bool {
        matches!(self.shape, Shape::Array(typed) if !typed.is_matrix() && typed.elements() >= 1 << 30)
    }

    /// The same for the record.
    pub fn subject(self) -> Subject {
        let (rows, cols) = match self.shape {
            Shape::Vector(_) | Shape::Segmented(..) | Shape::Filtered(..) | Shape::Cube(_) => (None, None),
            Shape::Matrix { rows, cols } => (Some(rows as u64), Some(cols as u64)),
            Shape::Array(typed) if typed.is_matrix() => {
                (Some(typed.extents[2] as u64), Some(typed.extents[3] as u64))
            }
            Shape::Array(_) => (None, None),
        };
        let op = match self.shape {
            Shape::Array(Typed { axes: [i, j, k, l], .. }) if rows.is_none() => {
                format!("permute_{i}{j}{k}{l}")
            }
            Shape::Segmented(_, lengths) => format!("{}_{}", self.op.name(), lengths.name()),
            Shape::Filtered(_, taps) => format!("{}_{taps}", self.op.name()),
            _ => self.op.name().into(),
        };
        Subject { op, element: self.element.name().into(), n: self.elements() as u64, rows, cols }
    }

    /// The copy that moves as many bytes as `bytes`.
    pub fn copy_of(bytes: u64) -> Self {
        let elements = bytes.div_ceil(2 * size_of::<f32>() as u64).max(1) as usize;
        // A reduction also writes one element, of 8 bytes at most. Whole powers of two keep the copies few and their
        // names readable.
        let elements = if elements > 1 && (elements - 1).is_power_of_two() { elements - 1 } else { elements };
        Self { op: Op::Copy, element: Type::F32, shape: Shape::Vector(elements) }
    }
}
