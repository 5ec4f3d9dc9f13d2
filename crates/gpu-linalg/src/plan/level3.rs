//! Triangular solves, triangular and symmetric products, symmetric updates: into which products they are cut.

use core::ops::Range;

use gpu_level3_kernels::{BLOCK, Invert, Merge, Spread, THREADS};
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

/// Rows of the squares on the diagonal that are inverted: twice a block where there are many of one matrix.
pub fn solve_square(n: usize, count: usize) -> usize {
    let block = BLOCK as usize;
    if n <= 4 * block || count > 1 { block } else { 2 * block }
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

/// What is inverted of lower triangles.
pub(crate) fn invert(
    layout: BatchLayout,
    diagonal: Diagonal,
    square: usize,
    apart: bool,
) -> Result<Invert, Error> {
    let (row, column) = strides(layout);
    Ok(Invert {
        row,
        column,
        batch: layout.stride as u64,
        size: extent("the number of rows of a triangle", layout.matrix.rows())?,
        square: square as u32,
        count: extent("the number of matrices", layout.count)?,
        unit: (diagonal == Diagonal::Unit) as u32,
        apart: apart as u32,
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

/// What is written of C, from sums of its shape and order.
pub(crate) fn merge(sums: BatchLayout, c: BatchLayout) -> Result<Merge, Error> {
    Ok(Merge {
        sums_leading: sums.matrix.leading_dimension() as u64,
        sums_batch: sums.stride as u64,
        leading: c.matrix.leading_dimension() as u64,
        batch: c.stride as u64,
        rows: extent("the number of lines", c.matrix.lines())?,
        columns: extent("the length of a line", c.matrix.contiguous())?,
        count: extent("the number of matrices", c.count)?,
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
