//! What a product is, and which tile of it is computed when.

use gpu_std::device;
use gpu_std::parameter::Parameter;

/// A product, but for the addresses and the two factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Product {
    /// Elements from one line of C to the next.
    pub c_leading: u64,
    /// Elements from one C of the batch to the next.
    pub c_batch: u64,
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// The length of the sums.
    pub k: u32,
    /// Matrices of the batch.
    pub count: u32,
    /// Whether C is of the factors' type and not of the sums': 1 or 0.
    pub narrow: u32,
    /// Whether 16 bytes of C may be accessed at once, the last of a row, too, or four elements, or one: 2, 1 or 0.
    pub vectors: u32,
    /// Parts that the sums are cut into: each is a product of its own.
    pub parts: u32,
    /// Inner length of a part, but of the last.
    pub part: u32,
    /// Whether A, and whether B, is contiguous across the inner axis: 1 or 0.
    pub across: [u32; 2],
    /// Whether C's lines are its columns and not its rows: 1 or 0. Only of products with a thin factor, and of parts
    /// that are added.
    pub c_across: u32,
}

impl Product {
    /// Of part `number` of all matrices' parts: the matrix, where along `k` it begins, and where it ends.
    #[device]
    #[inline(always)]
    pub fn of_part(&self, number: u32) -> [u32; 3] {
        let (matrix, part) = (number / self.parts.max(1), number % self.parts.max(1));
        let first = part * self.part;
        [matrix, first, self.k.min(first + self.part)]
    }
}

/// A tile's row and column, in tiles, or an element's, and its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From the top.
    pub row: u32,
    /// From the left.
    pub column: u32,
    /// Of the batch, or the number of its part.
    pub matrix: u32,
}

/// Rows of tiles that are computed together, column by column: the tiles that blocks compute at a time then form a
/// square, more or less, and share what they read in the L2.
const GROUP: u32 = 8;

impl Place {
    /// Where the tile of this number is, of matrices of so many tiles.
    #[device]
    #[inline(always)]
    pub fn of(tile: u32, rows: u32, columns: u32) -> Self {
        // At least one of each, which the compiler does not know.
        let (all, group) = ((rows * columns).max(1), (GROUP * columns).max(1));
        let (matrix, tile) = (tile / all, tile % all);
        let first = tile / group * GROUP;
        let tile = tile % group;
        let together = GROUP.min(rows - first).max(1);
        Self { row: first + tile % together, column: tile / together, matrix }
    }

    /// The index in C of the element that is here.
    #[device]
    #[inline(always)]
    pub(crate) fn start(self, product: &Product) -> u64 {
        u64::from(self.matrix) * product.c_batch
            + u64::from(self.row) * product.c_leading
            + u64::from(self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tile_comes_once() {
        for (rows, columns, count) in [(1, 1, 1), (8, 3, 2), (9, 5, 1), (23, 2, 3), (3, 40, 1)] {
            let tiles = rows * columns * count;
            let mut seen = vec![false; tiles as usize];
            for tile in 0..tiles {
                let Place { row, column, matrix } = Place::of(tile, rows, columns);
                assert!(row < rows && column < columns && matrix < count);
                let at = ((matrix * rows + row) * columns + column) as usize;
                assert!(!std::mem::replace(&mut seen[at], true), "tile {tile} of {rows} × {columns}");
            }
        }
    }
}
