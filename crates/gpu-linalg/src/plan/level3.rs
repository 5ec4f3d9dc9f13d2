//! Triangular solves, triangular and symmetric products, symmetric updates: into which products they are cut.

use core::ops::Range;

use gpu_level3_kernels::{
    BLOCK, Copy, FEW, FEW_SIDES, NARROW, Solve, Spread, THREADS, WIDE, few_shared_bytes, solve_shared_bytes,
};
use gpu_std::float::Float;
use gpu_std::launch::LaunchConfig;

use super::{blocks, extent};
use crate::api::Diagonal;
use crate::error::Error;
use crate::matrix::{BatchLayout, Order};

/// A product of a triangular solve or of a triangular product. Rows count from the matrix's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Rows of the result are those of the right-hand side times the square on the diagonal.
    Diagonal {
        /// The rows.
        rows: Range<usize>,
        /// The square's number.
        square: usize,
        /// Whether they are reached for the first time: alpha counts.
        first: bool,
    },
    /// From rows of the right-hand side the product of `from`'s rows of the result is subtracted; of a triangular product it is added
    /// to rows of the result.
    Update {
        /// The rows that change.
        rows: Range<usize>,
        /// The rows that are multiplied.
        from: Range<usize>,
        /// Whether `rows` are reached for the first time: alpha counts.
        first: bool,
    },
}

/// Rows of the squares on the diagonal that are solved for in one launch: all of them where there are so few right-hand sides that blocks of threads
/// wait for each other no longer than for products. `wide`: of elements of 8 bytes, whose products are the faster beside this.
pub fn solve_square(n: usize, columns: usize, wide: bool) -> usize {
    let square = match (columns, wide) {
        (..=128, _) => usize::MAX,
        (..=768, true) => 512,
        (..5000, true) => 256,
        (_, true) => 128,
        (..=2048, false) => 1024,
        (..8000, false) => 512,
        (_, false) => 256,
    };
    square.min(n.max(1))
}

/// What solves for some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A thread for each right-hand side.
    Few,
    /// A block of threads for few right-hand sides, whose rows are read by several threads.
    Narrow,
    /// A block of threads for more.
    Wide,
}

impl Form {
    /// That of so many rows. `alone`: of a system that has no others.
    pub fn new(n: usize, columns: usize, count: usize, alone: bool) -> Self {
        let blocks = n.div_ceil(BLOCK as usize) as u128;
        let blocks = blocks * columns.div_ceil(NARROW as usize) as u128 * count as u128;
        // As many as an H200 runs at the same time; where they wait for each other, more hide it. No other device's
        // are asked for: forms add in different orders.
        let few = if n <= BLOCK as usize { 264 } else { 528 };
        let is_narrow = columns <= NARROW as usize || n > BLOCK as usize && columns <= WIDE as usize;
        match () {
            _ if alone && n <= FEW as usize => Self::Few,
            _ if is_narrow || blocks <= few => Self::Narrow,
            _ => Self::Wide,
        }
    }

    /// Right-hand sides of a block of threads.
    pub const fn sides(self) -> u32 {
        match self {
            Self::Few => FEW_SIDES,
            Self::Narrow => NARROW,
            Self::Wide => WIDE,
        }
    }

    /// The launch of a system.
    pub(crate) fn launch<T: Float>(self, shape: &Solve) -> Result<LaunchConfig, Error> {
        let grid = blocks(shape.grid(self.sides()))?;
        Ok(match self {
            Self::Few => LaunchConfig::linear(grid, FEW_SIDES).shared(few_shared_bytes::<T>()),
            _ => LaunchConfig::linear(grid, THREADS).shared(solve_shared_bytes::<T>(self.sides())),
        })
    }
}

/// Elements of the words that a system's launch needs, a multiple of 16 bytes; `None` where they are not a `usize`.
pub(crate) fn words<T>(form: Form, n: usize, columns: usize, count: usize) -> Option<usize> {
    let sides = form.sides() as usize;
    let blocks = n.div_ceil(BLOCK as usize);
    if blocks <= 1 {
        return Some(0);
    }
    let words = blocks.checked_mul(columns.div_ceil(sides))?.checked_mul(count)?.checked_add(1)?;
    Some(words.checked_mul(size_of::<u32>())?.checked_next_multiple_of(16)? / size_of::<T>())
}

/// The steps of a solve: recursive, the first part a power of two of squares, and the largest that leaves something; from the last row
/// to the first where it is `backward`, for the transposed triangle.
pub fn solve(n: usize, square: usize, backward: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    if n > 0 {
        Recursion { n, square, backward, product: false }.steps(0..n.div_ceil(square), true, &mut steps);
    }
    steps
}

/// The steps of a triangular product, in which everything multiplied is as it was at first.
pub fn multiply(n: usize, square: usize, backward: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    if n > 0 {
        Recursion { n, square, backward, product: true }.steps(0..n.div_ceil(square), true, &mut steps);
    }
    steps
}

struct Recursion {
    n: usize,
    square: usize,
    backward: bool,
    product: bool,
}

impl Recursion {
    fn steps(&self, squares: Range<usize>, first: bool, steps: &mut Vec<Step>) {
        let rows =
            |squares: &Range<usize>| squares.start * self.square..(squares.end * self.square).min(self.n);
        if squares.len() == 1 {
            return steps.push(Step::Diagonal { rows: rows(&squares), square: squares.start, first });
        }
        let middle = squares.start + squares.len().next_power_of_two() / 2;
        let (low, high) = (squares.start..middle, middle..squares.end);
        let (before, after) = if self.backward { (high, low) } else { (low, high) };
        let update = Step::Update { rows: rows(&after), from: rows(&before), first };
        self.steps(before, first, steps);
        if self.product {
            self.steps(after, first, steps);
            steps.push(update);
        } else {
            steps.push(update);
            self.steps(after, false, steps);
        }
    }
}

/// A launch of so many blocks.
pub(crate) fn launch(grid: u128, shared: u32) -> Result<LaunchConfig, Error> {
    Ok(LaunchConfig::linear(blocks(grid)?, THREADS).shared(shared))
}

/// Elements from one row to the next, and from one column to the next.
fn strides(layout: BatchLayout) -> (u64, u64) {
    let leading = layout.matrix.leading_dimension() as u64;
    if layout.matrix.order() == Order::RowMajor { (leading, 1) } else { (1, leading) }
}

/// Where a system's parts lie.
pub(crate) struct Places {
    /// The lower triangles, of which those of the rows count.
    pub(crate) lower: BatchLayout,
    /// Whether the transposed matrices are meant, solved from the last row to the first.
    pub(crate) backward: bool,
    /// The right-hand sides.
    pub(crate) b: BatchLayout,
    /// The copies of X.
    pub(crate) copy: Option<BatchLayout>,
}

/// The system of some rows. `further`: whether `info` has what was found before.
pub(crate) fn system(
    places: &Places,
    rows: Range<usize>,
    diagonal: Diagonal,
    further: bool,
) -> Result<Solve, Error> {
    // Of rows that are solved from the last one on, every distance changes its sign, and rows and columns change places.
    let at = if places.backward { rows.end - 1 } else { rows.start };
    let sign = |distance: u64| if places.backward { distance.wrapping_neg() } else { distance };
    let (l_row, l_column) = strides(places.lower);
    let l = if places.backward { (l_column, l_row) } else { (l_row, l_column) };
    let (b_row, b_column) = strides(places.b);
    let copy = places.copy.unwrap_or(places.b);
    let (x_row, x_column) = strides(copy);
    Ok(Solve {
        l_start: places.lower.matrix.index(at, at) as u64,
        l_row: sign(l.0),
        l_column: sign(l.1),
        l_batch: places.lower.stride as u64,
        b_start: places.b.matrix.index(at, 0) as u64,
        b_row: sign(b_row),
        b_column,
        b_batch: places.b.stride as u64,
        x_start: copy.matrix.index(at, 0) as u64,
        x_row: sign(x_row),
        x_column,
        x_batch: copy.stride as u64,
        size: extent("the number of rows of a triangle", rows.len())?,
        columns: extent("the number of right-hand sides", places.b.matrix.columns())?,
        count: extent("the number of matrices", places.b.count)?,
        first: extent("the number of rows of a triangle", at)?,
        backward: places.backward as u32,
        unit: (diagonal == Diagonal::Unit) as u32,
        copied: places.copy.is_some() as u32,
        further: further as u32,
    })
}

/// What is written out of lower triangles.
pub(crate) fn spread(
    layout: BatchLayout,
    diagonal: Diagonal,
    square: usize,
    symmetric: bool,
) -> Result<Spread, Error> {
    let (row, column) = strides(layout);
    Ok(Spread {
        row,
        column,
        batch: layout.stride as u64,
        size: extent("the number of rows of a triangle", layout.matrix.rows())?,
        square: extent("the number of rows of a square", square)?,
        count: extent("the number of matrices", layout.count)?,
        unit: (diagonal == Diagonal::Unit) as u32,
        symmetric: symmetric as u32,
    })
}

/// What is copied, to matrices of the same shape and order.
pub(crate) fn copy(from: BatchLayout, to: BatchLayout) -> Result<Copy, Error> {
    Ok(Copy {
        from_leading: from.matrix.leading_dimension() as u64,
        from_batch: from.stride as u64,
        to_leading: to.matrix.leading_dimension() as u64,
        to_batch: to.stride as u64,
        lines: extent("the number of lines", to.matrix.lines())?,
        length: extent("the length of a line", to.matrix.contiguous())?,
        count: extent("the number of matrices", to.count)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_below_the_diagonal_is_subtracted_once_and_after_it_is_known() {
        for (n, square) in [(1usize, 64usize), (64, 64), (65, 64), (300, 64), (449, 64), (1000, 128)] {
            for backward in [false, true] {
                let squares = n.div_ceil(square);
                let mut seen = vec![vec![0; squares]; squares];
                let mut known = vec![false; squares];
                let mut scaled = vec![false; squares];
                let of = |rows: &Range<usize>| rows.start / square..rows.end.div_ceil(square);
                for step in solve(n, square, backward) {
                    match step {
                        Step::Diagonal { rows, square, first } => {
                            assert!(of(&rows) == (square..square + 1) && scaled[square] != first);
                            (known[square], scaled[square]) = (true, true);
                            let others = if backward { square + 1..squares } else { 0..square };
                            assert!(others.clone().all(|other| seen[square][other] == 1), "{n} {square}");
                        }
                        Step::Update { rows, from, first } => {
                            assert!(of(&from).all(|from| known[from]));
                            for row in of(&rows) {
                                assert_ne!(scaled[row], first, "alpha counts once");
                                scaled[row] = true;
                                of(&from).for_each(|from| seen[row][from] += 1);
                            }
                        }
                    }
                }
                assert!(known.iter().all(|&known| known));
                assert_eq!(seen.iter().flatten().sum::<i32>() as usize, squares * (squares - 1) / 2);
            }
        }
    }
}
