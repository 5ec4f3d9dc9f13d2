//! What a transposition launches, from the matrix's shape alone: pure, tested without a GPU.

use gpu_kernels::transpose;
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::matrix::Matrix;

/// The launch for a matrix of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Tiles from the first row of the input to the last.
    pub tiles_down: u32,
    /// Blocks: one for each tile.
    pub blocks: u32,
}

impl Plan {
    /// The plan for `matrix`.
    ///
    /// # Errors
    /// [`Error::TooManyTiles`] where a launch cannot hold as many blocks as the matrix has tiles (2^31 - 1).
    pub fn new(matrix: Matrix) -> Result<Self, Error> {
        let tiles_down = matrix.rows().div_ceil(transpose::TILE as usize);
        let tiles_across = matrix.columns().div_ceil(transpose::TILE as usize);
        let limit = i32::MAX as u32;
        tiles_down
            .checked_mul(tiles_across)
            .and_then(|tiles| u32::try_from(tiles).ok())
            .filter(|&tiles| tiles <= limit)
            .map(|blocks| Self { tiles_down: tiles_down as u32, blocks })
            .ok_or(Error::TooManyTiles { tiles_down, tiles_across, limit })
    }

    /// Grid, block and shared memory.
    pub const fn launch(self) -> LaunchConfig {
        LaunchConfig::linear(self.blocks, transpose::THREADS).shared(transpose::SHARED_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_a_tile() {
        for (rows, columns, down, blocks) in
            [(1, 1, 1, 1), (64, 64, 1, 1), (65, 64, 2, 2), (64, 65, 1, 2), (130, 1000, 3, 48)]
        {
            let plan = Plan::new(Matrix::new(rows, columns).unwrap()).unwrap();
            assert_eq!((plan.tiles_down, plan.blocks), (down, blocks), "{rows} × {columns}");
        }
    }

    #[test]
    fn too_many_tiles_are_an_error() {
        let matrix = Matrix::new(1 << 22, 1 << 22).unwrap();
        let error = Plan::new(matrix).unwrap_err();
        assert!(
            matches!(error, Error::TooManyTiles { tiles_down: 65536, tiles_across: 65536, .. }),
            "{error}"
        );
    }
}
