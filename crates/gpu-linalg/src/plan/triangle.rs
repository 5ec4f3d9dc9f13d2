//! Products of a vector and a matrix of which one triangle is stored.

use gpu_linalg_kernels::{gemv, triangle};
use gpu_std::launch::LaunchConfig;

use super::{blocks, extent};
use crate::api::{Diagonal, Triangle};
use crate::error::Error;
use crate::launch::RealElement;
use crate::matrix::{Layout, Order};

/// What the triangle that is not stored holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// The mirror image.
    Symmetric,
    /// Zeros; and the diagonal is stored, or it is ones.
    Zero(Diagonal),
}

/// The launches of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Grid, block and shared memory.
    pub launch: LaunchConfig,
    /// The same of the launch that adds the pieces.
    pub finish: LaunchConfig,
    /// The triangle.
    pub shape: triangle::Shape,
    /// The pieces.
    pub pieces: gemv::Shape,
}

impl Plan {
    /// The plan for the `stored` triangle of a square matrix, not empty. Without `sums` the product counts as zero,
    /// and nothing is read.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`], [`gpu_core::Error::TooManyBlocks`].
    pub fn new<T: RealElement>(
        layout: Layout,
        stored: Triangle,
        other: Other,
        sums: bool,
    ) -> Result<Self, Error> {
        let size = extent("the number of rows", layout.rows())?;
        let rows_are_lines = layout.order() == Order::RowMajor;
        let symmetric = other == Other::Symmetric;
        let shape = triangle::Shape {
            leading: layout.leading_dimension() as u64,
            size,
            read: if sums { size } else { 0 },
            up_to_diagonal: ((stored == Triangle::Lower) == rows_are_lines) as u32,
            along: (symmetric || rows_are_lines) as u32,
            across: (symmetric || !rows_are_lines) as u32,
            unit: (other == Other::Zero(Diagonal::Unit)) as u32,
        };
        let launch = LaunchConfig::linear(blocks(shape.blocks())?, triangle::THREADS);
        Ok(Self {
            launch: launch.shared(triangle::shared_bytes::<T>()),
            finish: LaunchConfig::linear(size.div_ceil(gemv::THREADS), gemv::THREADS),
            shape,
            pieces: gemv::Shape { results: size, pieces: shape.pieces(), ..gemv::Shape::default() },
        })
    }
}

/// Elements of scratch memory for matrices of so many rows: the sums of all pieces.
pub fn scratch_len(rows: usize) -> Result<usize, Error> {
    let rows = extent("the number of rows", rows)? as usize;
    // Less than 2^30 · 2^24.
    Ok(rows.div_ceil(triangle::TILE as usize) * rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_has_its_block() {
        for size in [1, 64, 65, 128, 129, 1000] {
            let layout = Layout::row_major(size, size).unwrap();
            let plan = Plan::new::<f32>(layout, Triangle::Lower, Other::Symmetric, true).unwrap();
            let tiles = plan.shape.pieces() as usize;
            // Of an odd number of rows the one in the middle has a row of blocks for itself.
            let idle = if tiles % 2 == 1 { tiles.div_ceil(2) } else { 0 };
            assert_eq!(plan.launch.grid[0] as usize, tiles * (tiles + 1) / 2 + idle);
            assert_eq!(scratch_len(size).unwrap(), tiles * size);
        }
    }

    #[test]
    fn a_transposed_view_reads_the_same_triangle_of_the_same_memory() {
        let plan =
            |layout, stored| Plan::new::<f64>(layout, stored, Other::Zero(Diagonal::Stored), true).unwrap();
        let layout = Layout::row_major(100, 100).unwrap();
        let lower = plan(layout, Triangle::Lower).shape;
        let upper = plan(layout.transposed(), Triangle::Upper).shape;
        assert_eq!((lower.up_to_diagonal, upper.up_to_diagonal), (1, 1));
        assert_eq!([lower.along, lower.across, upper.along, upper.across], [1, 0, 0, 1]);
    }
}
