//! What is measured, at which sizes.

mod copy;
pub mod histogram;
mod linalg;
pub mod permute;
mod reduce;
mod scan;
mod scan_segments;
pub mod segments;
mod select;
mod sort;
mod stencil;
mod stencil_iterate;
mod stencil_resize;
mod stencil_signal;
mod transpose;
mod unordered;

pub use copy::Copy;
pub use histogram::Histogram;
pub use linalg::{Add, Gemm, Gemv};
pub use reduce::{Reduce, SumWithCopy};
pub use scan::Scan;
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
    /// The sum of each column of a matrix.
    Columns,
    /// The inclusive sums of an array.
    Scan,
    /// The inclusive sums of each segment of an array.
    ScanSegments,
    /// The keys of an array in order.
    Sort,
    /// Keys in order, and values in that of their keys.
    SortPairs,
    /// How many elements fall into each of 256 bins.
    Histogram,
    /// The elements that have a flag.
    Select,
    /// The transposition of a matrix.
    Transpose,
    /// The transposition of a matrix of another element type, or a permutation of axes.
    Permute,
    /// The transposition of a square in place.
    InPlace,
    /// The sum of two vectors.
    Add,
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
            Self::Columns => "columns",
            Self::Scan => "scan",
            Self::ScanSegments => "scan_segments",
            Self::Sort => "sort",
            Self::SortPairs => "sort_pairs",
            Self::Histogram => "histogram",
            Self::Select => "select",
            Self::Transpose => "transpose",
            Self::Permute => "permute",
            Self::InPlace => "in_place",
            Self::Add => "add",
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

/// An array of elements of so many bytes, and what is done with its axes; matrices have two axes of extent one before theirs.
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

    fn is_matrix(self) -> bool {
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

    /// Whether it takes so long that it is measured only where a filter asks for it: the orders of four axes, with 17 GB to
    /// check for each.
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
        // A reduction also writes one element, of 8 bytes at most. Whole powers of two keep the copies few and their names
        // readable.
        let elements = if elements > 1 && (elements - 1).is_power_of_two() { elements - 1 } else { elements };
        Self { op: Op::Copy, element: Type::F32, shape: Shape::Vector(elements) }
    }
}

/// Elements of the sum that is a fresh process's first result.
const FIRST: usize = 1 << 20;

/// The sums of doubles that the literature measured, with and without the copy to the device (C. González, *Modelo de
/// estimación de rendimiento para arquitecturas paralelas heterogéneas*, 2012, chapter 9).
pub const LITERATURE: [usize; 7] =
    [500_000, 1_000_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000, 100_000_000];

/// All cases: the sizes of the figures, or small ones.
pub fn cases(quick: bool) -> Vec<Case> {
    let (lengths, matrices, first): (&[usize], &[(usize, usize)], usize) = if quick {
        (&[1 << 10, 1 << 16], &[(64, 64), (256, 256), (61, 67)], 1 << 10)
    } else {
        let matrices = &[(1024, 1024), (4096, 4096), (16384, 16384), (16381, 16363)];
        (&[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28], matrices, FIRST)
    };
    let literature: &[usize] = if quick { &[1000] } else { &LITERATURE };
    let vector = |op, element, len| Case { op, element, shape: Shape::Vector(len) };
    let mut cases = vec![vector(Op::FirstResult, Type::F32, first)];
    // All of a type one after the other: they share their inputs.
    for element in Type::REDUCED {
        for op in [Op::Sum, Op::Max, Op::ArgMax, Op::Scan] {
            cases.extend(lengths.iter().map(|&len| vector(op, element, len)));
        }
    }
    let sorted: &[usize] = if quick { &[1 << 10, 1 << 12] } else { &[1 << 16, 1 << 20, 1 << 24, 1 << 27] };
    for op in [Op::Sort, Op::SortPairs] {
        cases.extend(sorted.iter().map(|&len| vector(op, Type::I32, len)));
    }
    for element in [Type::F32, Type::U8] {
        cases.extend(lengths.iter().map(|&len| vector(Op::Histogram, element, len)));
    }
    cases.extend(lengths.iter().map(|&len| vector(Op::Select, Type::I32, len)));
    // One size: that of the figure.
    cases.push(vector(Op::SumUnordered, Type::F32, lengths[lengths.len() - 1]));
    for op in [Op::Sum, Op::SumWithCopy] {
        cases.extend(literature.iter().map(|&len| vector(op, Type::F64, len)));
    }
    cases.extend(matrices.iter().map(|&(rows, cols)| Case {
        op: Op::Transpose,
        element: Type::F32,
        shape: Shape::Matrix { rows, cols },
    }));
    let (segmented, columns) =
        if quick { (segments::QUICK_ELEMENTS, (256, 256)) } else { (segments::ELEMENTS, (16384, 16384)) };
    for op in [Op::Segments, Op::ScanSegments] {
        cases.extend(Lengths::ALL.into_iter().map(|lengths| Case {
            op,
            element: Type::F32,
            shape: Shape::Segmented(segmented, lengths),
        }));
    }
    // What the scan of segments is measured by.
    if !quick {
        cases.push(vector(Op::Scan, Type::F32, segmented));
    }
    cases.push(Case {
        op: Op::Columns,
        element: Type::F32,
        shape: Shape::Matrix { rows: columns.0, cols: columns.1 },
    });
    // The copies of the same sizes; where a matrix has as many elements as an array, one copy serves both.
    let mut copies: Vec<usize> =
        lengths.iter().copied().chain(matrices.iter().map(|(rows, cols)| rows * cols)).collect();
    copies.sort_unstable();
    copies.dedup();
    cases.extend(copies.into_iter().map(|len| vector(Op::Copy, Type::F32, len)));
    cases.extend(products(quick));
    cases.extend(resizes(quick));
    cases.extend(stencils(quick));
    cases.extend(arrays(quick));
    cases.extend(filters(quick));
    cases
}

/// Correlations with short and long filters, steps on a plane and in a volume.
fn stencils(quick: bool) -> Vec<Case> {
    let (len, side, cube) = if quick { (1 << 12, 40, 12) } else { (1 << 26, 16384, 512) };
    let mut cases = Vec::new();
    for element in [Type::F32, Type::F64] {
        let filtered = [5, 32, 256].map(|taps| Shape::Filtered(len, taps));
        cases.extend(filtered.map(|shape| Case { op: Op::Correlate, element, shape }));
        let plane = Shape::Matrix { rows: side, cols: side };
        cases.push(Case { op: Op::Heat, element, shape: plane });
        cases.push(Case { op: Op::Jacobi, element, shape: Shape::Cube(cube) });
    }
    cases
}

/// Filters of square images.
fn filters(quick: bool) -> Vec<Case> {
    let sides: &[usize] = if quick { &[64] } else { &[4096, 16384] };
    let cases = [
        (Op::Gaussian5, Type::F32),
        (Op::Gaussian11, Type::F32),
        (Op::Gaussian5, Type::U8),
        (Op::Gaussian11, Type::U8),
        (Op::Gaussian5, Type::F64),
        (Op::Filter3, Type::F32),
        (Op::Filter11, Type::F32),
        (Op::SobelMagnitude, Type::F32),
    ];
    let case = |op, element, side| Case { op, element, shape: Shape::Matrix { rows: side, cols: side } };
    cases.iter().flat_map(|&(op, element)| sides.iter().map(move |&side| case(op, element, side))).collect()
}

/// Products of square matrices, and of matrices of any shape and a vector; the sum of two vectors.
fn products(quick: bool) -> Vec<Case> {
    let (squares, shapes): (&[usize], &[(usize, usize)]) = if quick {
        (&[65], &[(64, 64), (3, 1000), (1000, 3)])
    } else {
        let shapes = &[(1024, 1024), (4096, 4096), (16384, 16384), (100_000, 2000), (2000, 100_000)];
        (&[512, 1024, 2048, 4096, 8192], shapes)
    };
    let case = |op, element, rows, cols| Case { op, element, shape: Shape::Matrix { rows, cols } };
    let sum = Shape::Vector(if quick { 1 << 10 } else { 1 << 28 });
    let mut cases = vec![Case { op: Op::Add, element: Type::F32, shape: sum }];
    for element in [Type::F32, Type::F64] {
        cases.extend(squares.iter().map(|&n| case(Op::Gemm, element, n, n)));
    }
    for op in [Op::Gemv, Op::GemvTransposed] {
        cases.extend(shapes.iter().map(|&(rows, cols)| case(op, Type::F32, rows, cols)));
    }
    cases
}

/// Images made smaller and larger.
fn resizes(quick: bool) -> Vec<Case> {
    let (sides, smaller): (&[usize], usize) =
        if quick { (&[64, 250], 61) } else { (&[1024, 4096, 16384], 8192) };
    let case = |op, element, side| Case { op, element, shape: Shape::Matrix { rows: side, cols: side } };
    let mut cases: Vec<Case> = sides.iter().map(|&side| case(Op::ResizeHalf, Type::F32, side)).collect();
    cases.push(case(Op::ResizeHalf, Type::U8, sides[sides.len() - 1]));
    cases.push(case(Op::ResizeDouble, Type::F32, smaller));
    cases.push(case(Op::ResizeDouble, Type::U8, smaller));
    cases
}

/// Transpositions of other elements, in place, and all orders of four axes.
fn arrays(quick: bool) -> Vec<Case> {
    let (side, odd, axis) = if quick { (128, (61, 67), 6) } else { (16384, (16381, 16363), 256) };
    let out_of_place = |bytes, rows, cols| Typed::matrix(bytes, rows, cols, false);
    let mut arrays = vec![
        out_of_place(1, side, side),
        out_of_place(2, side, side),
        out_of_place(8, side / 2, side / 2),
        out_of_place(8, side, side),
        out_of_place(16, side / 2, side / 2),
        out_of_place(16, side, side),
        out_of_place(1, odd.0, odd.1),
        out_of_place(2, odd.0, odd.1),
        out_of_place(8, odd.0, odd.1),
    ];
    for bytes in [1, 2, 4, 8, 16] {
        arrays.extend([side / 2, side].map(|side| Typed::matrix(bytes, side, side, true)));
    }
    for number in 0..24u8 {
        // The digits of `number` in the bases 4, 3, 2 pick the axes.
        let mut left = vec![0, 1, 2, 3];
        let axes = [number / 6, number / 2 % 3, number % 2, 0].map(|digit| left.remove(usize::from(digit)));
        arrays.push(Typed { bytes: 2, extents: [axis; 4], axes, in_place: false });
    }
    let op = |typed: Typed| if typed.in_place { Op::InPlace } else { Op::Permute };
    let case = |typed: Typed| Case {
        op: op(typed),
        element: Type::of_bytes(typed.bytes),
        shape: Shape::Array(typed),
    };
    arrays.into_iter().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_sizes_are_there_and_names_are_distinct() {
        let names: Vec<String> = cases(false).into_iter().map(Case::name).collect();
        for name in [
            "first_result/f32/2^20",
            "sum/f32/2^10",
            "sum/f32/2^16",
            "sum/f32/2^20",
            "sum/f32/2^24",
            "sum/f32/2^28",
            "sum_unordered/f32/2^28",
            "max/f64/2^10",
            "argmax/u8/2^28",
            "sum/i32/2^20",
            "scan/f32/2^28",
            "scan/u8/2^10",
            "sort/i32/2^27",
            "sort_pairs/i32/2^27",
            "histogram/f32/2^28",
            "histogram/u8/2^28",
            "select/i32/2^28",
            "sum/f64/100000000",
            "sum_with_copy/f64/500000",
            "transpose/f32/1024x1024",
            "transpose/f32/4096x4096",
            "transpose/f32/16384x16384",
            "transpose/f32/16381x16363",
            "gaussian_5x5/f32/16384x16384",
            "gaussian_11x11/f32/16384x16384",
            "gaussian_5x5/u8/16384x16384",
            "filter_3x3/f32/16384x16384",
            "filter_11x11/f32/16384x16384",
            "sobel_magnitude/f32/16384x16384",
            "segments/f32/2^3",
            "segments/f32/2^20",
            "segments/f32/power_law",
            "scan_segments/f32/2^3",
            "scan_segments/f32/power_law",
            "scan/f32/2^26",
            "columns/f32/16384x16384",
            "copy/f32/2^28",
            "add/f32/2^28",
            "gemm/f32/4096x4096",
            "gemm/f64/512x512",
            "gemv/f32/100000x2000",
            "correlate/f32/2^26/256",
            "heat/f32/16384x16384",
            "jacobi/f64/512x512x512",
            "gemv_transposed/f32/16384x16384",
            "resize_half/f32/16384x16384",
            "copy/f32/268042303",
        ] {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name} in {names:?}");
        }
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn only_the_orders_of_four_axes_are_long() {
        let long: Vec<String> =
            cases(false).into_iter().filter(|case| case.is_long()).map(Case::name).collect();
        assert_eq!(long.len(), 24);
        assert!(long.iter().all(|name| name.starts_with("permute/u16/256x256x256x256/")), "{long:?}");
        assert!(!cases(true).into_iter().any(Case::is_long));
    }

    #[test]
    fn quick_sizes_are_small() {
        assert!(cases(true).into_iter().all(|case| case.elements() <= 1 << 16));
    }

    #[test]
    fn a_copy_moves_as_many_bytes() {
        assert_eq!(Case::copy_of(8 << 20).elements(), 1 << 20);
        assert_eq!(Case::copy_of((4 << 28) + 4).name(), "copy/f32/2^27");
        assert_eq!(Case::copy_of((8 << 28) + 8).name(), "copy/f32/2^28");
        assert_eq!(Case::copy_of(8 * 16381 * 16363).elements(), 16381 * 16363);
        assert_eq!(Case::copy_of(8).elements(), 1);
    }
}
