//! Cholesky factorisations: which kernel, and in which steps a large matrix.

use gpu_factor_kernels::{
    BLOCK_THREADS, Batch, COPY_THREADS, COPY_TILE, Copy, FROM, LANES_MOST, LANES_THREADS, SOLVE_MOST,
    SOLVE_RHS, STEP_ROWS, STEP_THREADS, STRIP_ROWS, Solve, Step, Strips, TO, block_shared_bytes,
    lanes_shared_bytes, solve_shared_bytes, step_shared_bytes, strips_shared_bytes, tiled,
};
use gpu_std::launch::LaunchConfig;

use super::{blocks, extent};
use crate::api::Triangle;
use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{BatchLayout, Layout, Order};

/// The most rows of matrices that a block of threads factors whole: of batches of sizes of their own all.
pub const MOST: usize = 512;
/// Up to how many rows matrices of one size are factored whole where there are so many, at least: by tiles some 500 of
/// 256 rows take an H200 as long, 150 of 200, and some of 150.
const WHOLE: [(usize, usize); 3] = [(160, 8), (208, 128), (320, 320)];
/// So many systems fill a device better one beside the other than one after the other.
const SEVERAL: usize = 8;
/// Columns of a step of a large matrix, and the most rows of one that is factored whole alone.
pub const STEP: usize = gpu_factor_kernels::STEP as usize;

/// Elements from one column to the next of what is added to a step's columns, those from `first` on of a matrix of `n`
/// rows; zero: nothing is. 16 bytes can be written at once.
pub const fn leading(n: usize, first: usize) -> usize {
    if first == 0 { 0 } else { (n - first).next_multiple_of(4) }
}

fn added(n: usize, first: usize) -> u64 {
    leading(n, first) as u64
}

/// A kernel for whole matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// 8 lanes a matrix.
    Lanes8,
    /// 16 lanes.
    Lanes16,
    /// A warp.
    Lanes32,
    /// A block of threads.
    Block,
}

impl Kernel {
    /// All, the smallest first.
    pub const ALL: [Self; 4] = [Self::Lanes8, Self::Lanes16, Self::Lanes32, Self::Block];

    /// That of matrices of `n` rows.
    pub const fn of(n: usize) -> Self {
        match n {
            0..=8 => Self::Lanes8,
            9..=16 => Self::Lanes16,
            17..=32 => Self::Lanes32,
            _ => Self::Block,
        }
    }

    /// The launch for `count` matrices of at most `most` rows.
    ///
    /// # Errors
    /// [`gpu_core::Error::TooManyBlocks`].
    pub fn launch<T: RealElement>(self, count: usize, most: u32) -> Result<LaunchConfig, Error> {
        let lanes = match self {
            Self::Lanes8 => 8,
            Self::Lanes16 => 16,
            Self::Lanes32 => LANES_MOST,
            Self::Block => {
                let threads = most.next_multiple_of(32).min(BLOCK_THREADS);
                let launch = LaunchConfig::linear(blocks(count as u128)?, threads);
                return Ok(launch.shared(block_shared_bytes::<T>(most)));
            }
        };
        let each = (LANES_THREADS / lanes) as usize;
        let launch = LaunchConfig::linear(blocks(count.div_ceil(each) as u128)?, LANES_THREADS);
        Ok(launch.shared(lanes_shared_bytes::<T>()))
    }
}

/// Elements from one row of the lower factor to the next, and from one column to the next. An upper factor is the
/// lower one, transposed.
pub const fn strides(triangle: Triangle, layout: Layout) -> (usize, usize) {
    let rows_are_lines = matches!(layout.order(), Order::RowMajor);
    if rows_are_lines == matches!(triangle, Triangle::Lower) {
        (layout.leading_dimension(), 1)
    } else {
        (1, layout.leading_dimension())
    }
}

/// Whether matrices are factored whole, a block of threads for each, and not in steps of [`STEP`] columns.
pub fn is_whole(n: usize, count: usize) -> bool {
    n <= STEP || WHOLE.iter().any(|&(most, several)| n <= most && count >= several)
}

/// The launch for whole matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    /// The kernel.
    pub kernel: Kernel,
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// The matrices.
    pub batch: Batch,
}

impl Whole {
    /// The plan for batches of matrices that are neither empty nor larger than [`MOST`].
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new<T: RealElement>(
        triangle: Triangle,
        from: BatchLayout,
        to: BatchLayout,
    ) -> Result<Self, Error> {
        let n = to.matrix.rows();
        let kernel = Kernel::of(n);
        let (row, column) = strides(triangle, from.matrix);
        let (to_row, to_column) = strides(triangle, to.matrix);
        let batch = Batch {
            row: row as u64,
            column: column as u64,
            stride: from.stride as u64,
            to_row: to_row as u64,
            to_column: to_column as u64,
            to_stride: to.stride as u64,
            count: extent("the number of matrices", to.count)?,
            size: extent("the number of rows", n)?,
            before: 0,
            ..Batch::default()
        };
        Ok(Self { kernel, launch: kernel.launch::<T>(to.count, batch.size)?, batch })
    }

    /// The matrices, of which those that are read and those that are written start at these addresses: whether 16 bytes
    /// of a row may be accessed at once.
    pub fn vectors<T: RealElement>(&self, from: u64, to: u64) -> Batch {
        let Batch { row, column, stride, to_row, to_column, to_stride, size, .. } = self.batch;
        let may = |address: u64, row: u64, column: u64, stride: u64| {
            let is_aligned = |elements: u64| (elements * size_of::<T>() as u64).is_multiple_of(16);
            // Matrices of sizes of their own have distances of their own.
            size != 0 && column == 1 && address.is_multiple_of(16) && is_aligned(row) && is_aligned(stride)
        };
        let of_from = if may(from, row, column, stride) { FROM } else { 0 };
        let of_to = if may(to, to_row, to_column, to_stride) { TO } else { 0 };
        Batch { vectors: of_from + of_to, ..self.batch }
    }

    /// The plan for the block of a large matrix that starts at column `first`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_step<T: RealElement>(triangle: Triangle, matrix: Layout, first: usize) -> Result<Self, Error> {
        let n = STEP.min(matrix.rows() - first);
        let (row, column) = strides(triangle, matrix);
        let (row, column, size) = (row as u64, column as u64, extent("the number of rows", n)?);
        let before = extent("the number of rows", first)?;
        let batch = Batch {
            row,
            column,
            to_row: row,
            to_column: column,
            count: 1,
            size,
            before,
            part: 1,
            added: added(matrix.rows(), first),
            ..Batch::default()
        };
        Ok(Self { kernel: Kernel::Block, launch: Kernel::Block.launch::<T>(1, size)?, batch })
    }
}

/// The launch for large matrices, of which the first starts at `address` and each has so many tiles, on a device with
/// so many multiprocessors.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`].
pub fn tiled<T: RealElement>(
    triangle: Triangle,
    layout: BatchLayout,
    address: u64,
    tiles: usize,
    multiprocessors: u32,
) -> Result<(LaunchConfig, tiled::Shape), Error> {
    let BatchLayout { matrix, count, stride } = layout;
    let all = extent("the number of tiles", count.saturating_mul(tiles))?;
    let (row, column) = strides(triangle, matrix);
    let bytes = size_of::<T>();
    let is_aligned = |elements: usize| (elements * bytes).is_multiple_of(16);
    let are_aligned = is_aligned(column) && is_aligned(matrix.rows()) && (count == 1 || is_aligned(stride));
    let shape = tiled::Shape {
        row: row as u64,
        column: column as u64,
        stride: stride as u64,
        size: extent("the number of rows", matrix.rows())?,
        vectors: (row == 1 && address.is_multiple_of(16) && are_aligned) as u32,
        tiles: tiles as u32,
        count: count as u32,
    };
    let launch = LaunchConfig::linear(all.min(multiprocessors), tiled::THREADS);
    Ok((launch.shared(tiled::shared_bytes::<T>()), shape))
}

/// The tiles of [`tiled()`] of a whole triangle of `n` rows.
pub fn tiles(n: usize) -> usize {
    let rows = n.div_ceil(tiled::TILE as usize);
    rows * (rows + 1) / 2
}

/// Words of `progress` that [`tiled()`] needs for so many tiles of all matrices.
pub fn tiled_words(tiles: usize) -> usize {
    tiled::HEAD as usize + tiles
}

/// Elements of scratch memory that [`tiled()`] needs for matrices of so many rows and tiles in all: a reciprocal for
/// each row, and the words.
pub fn tiled_scratch_len<T>(rows: usize, tiles: usize) -> usize {
    rows + (tiled_words(tiles) * size_of::<u32>()).div_ceil(size_of::<T>())
}

/// The launch for the step of a large matrix that starts at column `first`.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`].
pub fn step<T: RealElement>(
    triangle: Triangle,
    matrix: Layout,
    first: usize,
) -> Result<(LaunchConfig, Step), Error> {
    let n = extent("the number of rows", matrix.rows())?;
    let columns = STEP.min(matrix.rows() - first) as u32;
    let (row, column) = strides(triangle, matrix);
    let (first, rows) = (first as u32, n - first as u32 - columns);
    let shape = Step {
        row: row as u64,
        column: column as u64,
        added: added(matrix.rows(), first as usize),
        first,
        columns,
        rows,
        blocks: rows.div_ceil(STEP_ROWS).max(1),
    };
    Ok((LaunchConfig::linear(shape.grid(), STEP_THREADS).shared(step_shared_bytes::<T>()), shape))
}

/// The launch for the rows below the block of a large matrix that starts at column `first`, which is a whole [`STEP`].
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`].
pub fn strips<T: RealElement>(
    triangle: Triangle,
    matrix: Layout,
    first: usize,
) -> Result<(LaunchConfig, Strips), Error> {
    let (row, column) = strides(triangle, matrix);
    let rows = extent("the number of rows", matrix.rows() - first - STEP)?;
    let shape = Strips {
        row: row as u64,
        column: column as u64,
        added: added(matrix.rows(), first),
        columns: STEP as u32,
        rows,
    };
    let launch = LaunchConfig::linear(rows.div_ceil(STRIP_ROWS), STRIP_ROWS);
    Ok((launch.shared(strips_shared_bytes::<T>(STEP as u32)), shape))
}

/// The launch for the systems of factored matrices, neither empty nor larger than [`SOLVE_MOST`].
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
pub fn solve<T: RealElement>(
    triangle: Triangle,
    l: BatchLayout,
    b: BatchLayout,
) -> Result<(LaunchConfig, Batch, Solve), Error> {
    let (row, column) = strides(triangle, l.matrix);
    let batch = Batch {
        row: row as u64,
        column: column as u64,
        stride: l.stride as u64,
        count: extent("the number of matrices", l.count)?,
        size: extent("the number of rows", l.matrix.rows())?,
        ..Batch::default()
    };
    let leading = b.matrix.leading_dimension();
    let (row, column) = if b.matrix.order() == Order::RowMajor { (leading, 1) } else { (1, leading) };
    let columns = extent("the number of right-hand sides", b.matrix.columns())?;
    let shape = Solve {
        row: row as u64,
        column: column as u64,
        stride: b.stride as u64,
        count: columns,
        blocks: columns.div_ceil(SOLVE_RHS),
    };
    let launch = LaunchConfig::linear(blocks(l.count as u128 * u128::from(shape.blocks))?, 32);
    Ok((launch.shared(solve_shared_bytes::<T>(batch.size)), batch, shape))
}

/// Whether systems are solved whole: those that one block of threads holds, where there are several, or where they are
/// small.
pub const fn solves_whole(n: usize, count: usize) -> bool {
    n <= 64 || n <= SOLVE_MOST as usize && count >= SEVERAL
}

/// The launch for a copy of a matrix, or of its `lower` triangle, whose rows and columns are so many elements apart
/// where it is read and where it is written. Rows that are beside each other are one element apart.
///
/// # Errors
/// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
pub fn copy(
    (rows, columns): (usize, usize),
    from: (usize, usize),
    to: (usize, usize),
    lower: bool,
) -> Result<(LaunchConfig, Copy), Error> {
    let (tile, across) = (COPY_TILE as usize, columns.div_ceil(COPY_TILE as usize));
    let shape = Copy {
        row: from.0 as u64,
        column: from.1 as u64,
        to_row: to.0 as u64,
        to_column: to.1 as u64,
        rows: extent("the number of rows", rows)?,
        columns: extent("the number of columns", columns)?,
        lower: lower as u32,
        across: across as u32,
        ..Copy::default()
    };
    let grid = blocks(rows.div_ceil(tile) as u128 * across as u128)?;
    Ok((LaunchConfig::linear(grid, COPY_THREADS), shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_triangle_is_the_lower_one_transposed() {
        let layout = Layout::row_major(3, 3).unwrap().with_leading_dimension(5).unwrap();
        assert_eq!(strides(Triangle::Lower, layout), (5, 1));
        assert_eq!(strides(Triangle::Upper, layout), (1, 5));
        assert_eq!(strides(Triangle::Upper, layout.transposed()), (5, 1));
    }

    #[test]
    fn every_matrix_has_its_lanes() {
        for (n, count, blocks, threads) in [
            (4, 100_000, 6250, 128),
            (8, 17, 2, 128),
            (9, 8, 1, 128),
            (32, 50_000, 12_500, 128),
            (33, 7, 7, 64),
            (200, 9, 9, 128),
        ] {
            let launch = Kernel::of(n).launch::<f64>(count, n as u32).unwrap();
            assert_eq!((launch.grid[0], launch.block[0]), (blocks, threads));
        }
        assert!(
            Kernel::Block.launch::<f64>(1, MOST as u32).unwrap().shared_bytes <= 99 << 10,
            "what 8.6 has"
        );
    }

    #[test]
    fn few_large_matrices_are_not_factored_whole() {
        for (n, count, expected) in [
            (128, 1, true),
            (129, 7, false),
            (160, 8, true),
            (161, 127, false),
            (208, 128, true),
            (320, 319, false),
            (320, 320, true),
            (321, 100_000, false),
        ] {
            assert_eq!(is_whole(n, count), expected, "{count} of {n} rows");
        }
    }

    #[test]
    fn rows_are_accessed_by_16_bytes_where_all_are_aligned() {
        let plan = |columns: usize, gap: usize, triangle| {
            let matrix = Layout::row_major(6, 6).unwrap().with_leading_dimension(columns).unwrap();
            let batch = BatchLayout::new(matrix, 3, 6 * columns + gap).unwrap();
            Whole::new::<f64>(triangle, batch, batch).unwrap()
        };
        let vectors = |plan: Whole, from, to| plan.vectors::<f64>(from, to).vectors;
        assert_eq!(vectors(plan(6, 0, Triangle::Lower), 32, 64), FROM + TO);
        assert_eq!(vectors(plan(6, 0, Triangle::Lower), 32, 72), FROM);
        assert_eq!(vectors(plan(6, 1, Triangle::Lower), 32, 64), 0);
        assert_eq!(vectors(plan(7, 0, Triangle::Lower), 32, 64), 0);
        // An upper triangle's rows, as those of the lower one, are columns.
        assert_eq!(vectors(plan(6, 0, Triangle::Upper), 32, 64), 0);
    }
}
