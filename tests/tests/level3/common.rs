//! Matrices, and oracles of what is computed with them.

use gpu_core::Device;
use gpu_linalg::{BatchLayout, Diagonal, Layout, Order, Side, Triangle, TriangleElement};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::random;

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];
pub const TRIANGLES: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];
pub const DIAGONALS: [Diagonal; 2] = [Diagonal::Stored, Diagonal::Unit];
pub const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// What lies in gaps and in triangles that are not to be touched.
pub const CANARY: f32 = -12345.0;

/// `f32` or `f64`, with its unit roundoff.
pub trait Real: TriangleElement + From<f32> + Into<f64> + Bits {
    const UNIT: f64;
}

impl Real for f32 {
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
}

impl Real for f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
}

/// `gamma_k` of Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.1, and once more for `f64`, whose oracle is no more
/// precise than it.
pub fn gamma<T: Real>(k: usize) -> f64 {
    let ku = k as f64 * T::UNIT;
    let own = if T::UNIT < f32::UNIT { 2.0 } else { 1.0 + 1e-6 };
    own * ku / (1.0 - ku)
}

pub fn layout(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

/// Matrices apart by `gap` elements.
pub fn batch(matrix: Layout, count: usize, gap: usize) -> BatchLayout {
    BatchLayout::new(matrix, count, matrix.span() + gap).unwrap()
}

/// From -1/2 to 1/2.
pub fn value(seed: u64, index: usize) -> f32 {
    (random(seed, index) >> 40) as f32 / (1 << 24) as f32 - 0.5
}

/// The elements of matrices, with the canary in the gaps.
pub fn matrices<T: Real>(seed: u64, layout: BatchLayout) -> Vec<T> {
    filled(layout, |number, row, column| value(seed + number as u64, row * 1_000_003 + column).into())
}

pub fn filled<T: Real>(layout: BatchLayout, of: impl Fn(usize, usize, usize) -> T) -> Vec<T> {
    let mut data = vec![T::from(CANARY); layout.span().unwrap()];
    for number in 0..layout.count {
        for row in 0..layout.matrix.rows() {
            for column in 0..layout.matrix.columns() {
                data[number * layout.stride + layout.matrix.index(row, column)] = of(number, row, column);
            }
        }
    }
    data
}

/// Triangles with some dominance of the diagonal, so that they are well conditioned, and NaN wherever nobody may read.
pub fn triangles<T: Real>(seed: u64, layout: BatchLayout, triangle: Triangle, diagonal: Diagonal) -> Vec<T> {
    let n = layout.matrix.rows().max(8) as f32;
    filled(layout, |number, row, column| {
        let value = value(seed + number as u64, row * 1_000_003 + column);
        T::from(match (row == column, diagonal) {
            (true, Diagonal::Stored) => 1.5 + value,
            (false, _) if triangle.holds(row, column) => value * 8.0 / n,
            _ => f32::NAN,
        })
    })
}

/// A matrix in `f64`, dense.
#[derive(Clone)]
pub struct Dense {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<f64>,
}

impl Dense {
    pub fn new(rows: usize, columns: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let elements = (0..rows * columns).map(|at| of(at / columns, at % columns)).collect();
        Self { rows, columns, elements }
    }

    /// A matrix of a batch.
    pub fn of<T: Real>(data: &[T], layout: BatchLayout, number: usize) -> Self {
        let (rows, columns) = layout.matrix.shape();
        Self::new(rows, columns, |row, column| {
            data[number * layout.stride + layout.matrix.index(row, column)].into()
        })
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.elements[row * self.columns + column]
    }

    pub fn map(&self, of: impl Fn(f64) -> f64) -> Self {
        Self { elements: self.elements.iter().map(|&value| of(value)).collect(), ..*self }
    }

    pub fn abs(&self) -> Self {
        self.map(f64::abs)
    }

    pub fn transposed(&self) -> Self {
        Self::new(self.columns, self.rows, |row, column| self.at(column, row))
    }

    /// What counts of a triangle.
    pub fn triangle(&self, triangle: Triangle, diagonal: Diagonal) -> Self {
        Self::new(self.rows, self.columns, |row, column| match (row == column, diagonal) {
            (true, Diagonal::Unit) => 1.0,
            _ if triangle.holds(row, column) => self.at(row, column),
            _ => 0.0,
        })
    }

    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        let mut product = Self::new(self.rows, other.columns, |_, _| 0.0);
        for row in 0..self.rows {
            for k in 0..self.columns {
                let factor = self.at(row, k);
                let sums = &mut product.elements[row * other.columns..][..other.columns];
                for (sum, &value) in sums.iter_mut().zip(&other.elements[k * other.columns..]) {
                    *sum = factor.mul_add(value, *sum);
                }
            }
        }
        product
    }

    pub fn plus(&self, other: &Self) -> Self {
        Self::new(self.rows, self.columns, |row, column| self.at(row, column) + other.at(row, column))
    }
}

/// That every element of `actual` is as close to `expected` as `bound` says.
#[track_caller]
pub fn assert_close(actual: &Dense, expected: &Dense, bound: &Dense, context: &str) {
    for row in 0..expected.rows {
        for column in 0..expected.columns {
            let error = (actual.at(row, column) - expected.at(row, column)).abs();
            // Not `>`: a NaN is no result.
            assert!(
                error <= bound.at(row, column),
                "{context}: ({row}, {column}) is {}, expected {}: {error:e} of {:e}",
                actual.at(row, column),
                expected.at(row, column),
                bound.at(row, column)
            );
        }
    }
}

/// The result of the first device, whose bits are those of all.
pub struct Results<T> {
    first: Option<Vec<T>>,
}

impl<T: Real> Results<T> {
    pub fn new() -> Self {
        Self { first: None }
    }

    pub fn add(&mut self, device: &Device, result: Vec<T>, context: &str) {
        match &self.first {
            None => self.first = Some(result),
            Some(first) => {
                assert_same_bits(&result, first, &format!("{context} on {}", device.name()));
            }
        }
    }

    pub fn take(self) -> Vec<T> {
        self.first.expect("a backend ran")
    }
}

/// That nothing changed but what `may`.
#[track_caller]
pub fn assert_untouched<T: Real>(
    old: &[T],
    new: &[T],
    layout: BatchLayout,
    may: impl Fn(usize, usize) -> bool,
    context: &str,
) {
    let mut expected = old.to_vec();
    for number in 0..layout.count {
        for row in 0..layout.matrix.rows() {
            for column in 0..layout.matrix.columns() {
                let at = number * layout.stride + layout.matrix.index(row, column);
                if may(row, column) {
                    expected[at] = new[at];
                }
            }
        }
    }
    assert_same_bits(new, &expected, &format!("{context}: what is not C's"));
}
