//! Element-wise operations: matrices as lines, and threads to a line.

use gpu_linalg_kernels::elementwise::{AXPY, Lines, THREADS, UNROLL};
use gpu_std::launch::LaunchConfig;

use super::blocks;
use crate::error::Error;
use crate::matrix::Layout;

/// The launch of an element-wise operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Grid and block.
    pub launch: LaunchConfig,
    /// The lines.
    pub lines: Lines,
}

impl Plan {
    /// The plan for matrices of one shape and order, not empty, of elements of `bytes` bytes; `addresses` are those
    /// of `x`, `y` and the output.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn new(
        bytes: usize,
        operation: u32,
        layouts: [Layout; 3],
        addresses: [u64; 3],
    ) -> Result<Self, Error> {
        let [x, y, output] = layouts;
        // Without gaps a matrix is one line.
        let dense = layouts.iter().all(|layout| layout.span() == layout.rows() * layout.columns());
        let (length, count) =
            if dense { (x.span() as u64, 1) } else { (x.contiguous() as u64, x.lines() as u64) };
        let leading = [x, y, output].map(|layout| if dense { 0 } else { layout.leading_dimension() });
        Self::of_lines(bytes, operation, (length, count), leading, addresses)
    }

    /// The plan for the outer product that is added to a matrix, not empty; `addresses` are those of the vector along
    /// the lines and of the matrix.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn outer(bytes: usize, layout: Layout, addresses: [u64; 2]) -> Result<Self, Error> {
        let lines = (layout.contiguous() as u64, layout.lines() as u64);
        // The vector is the same for all lines.
        let leading = [0, layout.leading_dimension(), layout.leading_dimension()];
        let [vector, matrix] = addresses;
        Self::of_lines(bytes, AXPY, lines, leading, [vector, matrix, matrix])
    }

    /// The plan for lines, and the leading dimensions and addresses of `x`, `y` and the output.
    fn of_lines(
        bytes: usize,
        operation: u32,
        (length, count): (u64, u64),
        leading: [usize; 3],
        addresses: [u64; 3],
    ) -> Result<Self, Error> {
        let aligned = addresses.iter().all(|address| address.is_multiple_of(16))
            && leading.iter().all(|leading| (leading * bytes).is_multiple_of(16));

        let each = u64::from(UNROLL) * 16 / bytes as u64;
        let width = length.div_ceil(each).next_power_of_two().min(u64::from(THREADS)) as u32;
        let across = length.div_ceil(u64::from(width) * each);
        let down = count.div_ceil(u64::from(THREADS / width));
        let launch = LaunchConfig::linear(blocks(u128::from(across) * u128::from(down))?, THREADS);
        let lines = Lines {
            length,
            x_leading: leading[0] as u64,
            y_leading: leading[1] as u64,
            output_leading: leading[2] as u64,
            count,
            width,
            // No more than the blocks of the launch.
            across: across as u32,
            vectors: aligned as u32,
            operation,
        };
        Ok(Self { launch, lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_without_gaps_are_one_line_and_short_lines_share_a_block() {
        let plan = |layout: Layout| Plan::new(4, 0, [layout; 3], [0; 3]).unwrap();
        let dense = plan(Layout::row_major(1000, 1000).unwrap());
        assert_eq!((dense.lines.count, dense.lines.length, dense.lines.vectors), (1, 1_000_000, 1));
        let gaps = plan(Layout::row_major(1000, 100).unwrap().with_leading_dimension(104).unwrap());
        let Lines { count, length, width, across, vectors, .. } = gaps.lines;
        assert_eq!((count, length, width, across, vectors), (1000, 100, 8, 1, 1));
        assert_eq!(gaps.launch.grid[0], 1000u32.div_ceil(256 / 8));
        let odd = plan(Layout::column_major(100, 7).unwrap().with_leading_dimension(101).unwrap());
        assert_eq!((odd.lines.count, odd.lines.vectors), (7, 0));
    }
}
