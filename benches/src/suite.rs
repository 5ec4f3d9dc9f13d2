//! What is measured, at which sizes.

mod copy;
mod reduce;
mod transpose;

pub use copy::Copy;
pub use reduce::Sum;
pub use transpose::Transpose;

use crate::report::Subject;

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// The sum of an array.
    Sum,
    /// The transposition of a matrix.
    Transpose,
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
            Self::Transpose => "transpose",
            Self::Copy => "copy",
            Self::FirstResult => "first_result",
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
}

/// One case: all its modes are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// What is done.
    pub op: Op,
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
        };
        format!("{}/f32/{size}", self.op.name())
    }

    /// Elements of its input.
    pub fn elements(self) -> usize {
        match self.shape {
            Shape::Vector(len) => len,
            Shape::Matrix { rows, cols } => rows * cols,
        }
    }

    /// The same for the record.
    pub fn subject(self) -> Subject {
        let (rows, cols) = match self.shape {
            Shape::Vector(_) => (None, None),
            Shape::Matrix { rows, cols } => (Some(rows as u64), Some(cols as u64)),
        };
        Subject { op: self.op.name().into(), element: "f32".into(), n: self.elements() as u64, rows, cols }
    }

    /// The copy that moves as many bytes as `bytes`.
    pub fn copy_of(bytes: u64) -> Self {
        let elements = bytes.div_ceil(2 * size_of::<f32>() as u64).max(1) as usize;
        // A sum also writes one element. Whole powers of two keep the copies few and their names readable.
        let elements = if elements > 1 && (elements - 1).is_power_of_two() { elements - 1 } else { elements };
        Self { op: Op::Copy, shape: Shape::Vector(elements) }
    }
}

/// Elements of the sum that is a fresh process's first result.
const FIRST: usize = 1 << 20;

/// All cases: the sizes of the figures, or small ones.
pub fn cases(quick: bool) -> Vec<Case> {
    let (lengths, matrices, first): (&[usize], &[(usize, usize)], usize) = if quick {
        (&[1 << 10, 1 << 16], &[(64, 64), (256, 256), (61, 67)], 1 << 10)
    } else {
        let matrices = &[(1024, 1024), (4096, 4096), (16384, 16384), (16381, 16363)];
        (&[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28], matrices, FIRST)
    };
    let vector = |op, len| Case { op, shape: Shape::Vector(len) };
    let mut cases = vec![vector(Op::FirstResult, first)];
    cases.extend(lengths.iter().map(|&len| vector(Op::Sum, len)));
    cases.extend(
        matrices.iter().map(|&(rows, cols)| Case { op: Op::Transpose, shape: Shape::Matrix { rows, cols } }),
    );
    // The copies of the same sizes; where a matrix has as many elements as an array, one copy serves both.
    let mut copies: Vec<usize> =
        lengths.iter().copied().chain(matrices.iter().map(|(rows, cols)| rows * cols)).collect();
    copies.sort_unstable();
    copies.dedup();
    cases.extend(copies.into_iter().map(|len| vector(Op::Copy, len)));
    cases
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
            "transpose/f32/1024x1024",
            "transpose/f32/4096x4096",
            "transpose/f32/16384x16384",
            "transpose/f32/16381x16363",
            "copy/f32/2^28",
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
    fn quick_sizes_are_small() {
        assert!(cases(true).into_iter().all(|case| case.elements() <= 1 << 16));
    }

    #[test]
    fn a_copy_moves_as_many_bytes() {
        assert_eq!(Case::copy_of(8 << 20).elements(), 1 << 20);
        assert_eq!(Case::copy_of((4 << 28) + 4).name(), "copy/f32/2^27");
        assert_eq!(Case::copy_of(8 * 16381 * 16363).elements(), 16381 * 16363);
        assert_eq!(Case::copy_of(8).elements(), 1);
    }
}
