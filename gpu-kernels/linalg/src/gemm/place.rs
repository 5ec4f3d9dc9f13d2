//! Which tile of which product a block computes.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::block_idx_x;
use gpu_std::{device, opaque};

use super::operand::{ALL, LOWER, Operand, Product, UPPER};

/// Rows of tiles whose blocks follow each other: those that run at the same time then share their tiles of A and B in
/// the L2.
const GROUP: u32 = 8;

/// The grid of the tiles of a product: its rows and columns, of which each place is a block.
///
/// Where only a triangle of a square C is computed its rows of tiles are folded, the first onto the last and so on, so
/// that blocks which compute nothing are few: they would be as many as the others, and start on a multiprocessor in
/// their place. Of 2048² `f32` in tiles of 64 × 64 some multiprocessors then had six tiles where four were each one's
/// share.
/// Tiles have at most as many rows as columns.
pub const fn grid(down: u32, across: u32, triangle: u32) -> [u32; 2] {
    match triangle {
        ALL => [down, across],
        // The fuller row of a pair has all columns at most, and both have one or two more together, as tiles that are
        // wider than high begin in the middle of a row.
        LOWER => [down.div_ceil(2), across + 1],
        _ => [down.div_ceil(2), across + 2],
    }
}

/// Where the matrices of the block's product begin, if a table says so: for each product an entry of three words, the
/// first elements of its factors and of its C, counted from those of the arguments.
#[device]
#[inline(always)]
pub(super) fn listed<T: Float>(
    (a, b, c): (Global<T>, Global<T>, GlobalMut<T>),
    starts: Global<u64>,
    product: &Product,
) -> (Global<T>, Global<T>, GlobalMut<T>) {
    if product.listed == 0 {
        return (a, b, c);
    }
    let entry = 3 * (block_idx_x() / product.listed);
    let start = |word: u32| starts.read_only(entry + word);
    (a.offset(start(product.listed_a)), b.offset(start(1 - product.listed_a)), c.offset(start(2)))
}

/// What a block computes.
pub(super) struct Place {
    /// The number of its product in the batch.
    number: u32,
    /// Which part of the sums.
    part: u32,
    /// The first row of its tile.
    pub(super) row: u32,
    /// Its first column; beyond C's last where the block has no tile.
    pub(super) column: u32,
}

impl Place {
    /// Where the block's part of a factor begins.
    #[device]
    #[inline(always)]
    pub(super) fn factor<T: Float>(&self, factor: Global<T>, operand: &Operand) -> Global<T> {
        factor.offset(self.number as u64 * operand.batch + self.part as u64 * operand.part)
    }

    /// Which matrix of a factor's batch the block multiplies: the first one, if they are all the same.
    #[device]
    #[inline(always)]
    pub(super) fn matrix(&self, operand: &Operand) -> u32 {
        if operand.batch == 0 { 0 } else { self.number }
    }

    /// Where along `k` the block's part of the sums begins.
    #[device]
    #[inline(always)]
    pub(super) fn first(&self, product: &Product) -> u32 {
        self.part * product.piece
    }

    /// The length of the block's part of the sums.
    #[device]
    #[inline(always)]
    pub(super) fn depth(&self, product: &Product) -> u32 {
        (product.k - self.part * product.piece).min(product.piece)
    }

    /// The matrix that the block writes to.
    #[device]
    #[inline(always)]
    pub(super) fn product<T: Float>(&self, c: GlobalMut<T>, product: &Product) -> GlobalMut<T> {
        c.offset(self.number as u64 * product.c_batch + self.part as u64 * product.c_part)
    }
}

/// What the block computes, in tiles of `BM` × `BN`: those of one part of one product follow each other.
#[device]
#[inline(always)]
pub(super) fn block_place<const BM: u32, const BN: u32>(product: &Product) -> Place {
    // Mutants: some tiles have as many, and it does not compile.
    const { assert!(BM <= BN && BN.is_multiple_of(BM)) };
    let block = opaque(block_idx_x());
    let (down, across) = (product.m.div_ceil(BM), product.n.div_ceil(BN));
    let triangle = product.triangle;
    let [rows, columns] = grid(down, across, triangle);
    let number = block / (rows * columns);
    let tile = block - number * (rows * columns);
    let group = tile / (GROUP * columns);
    let rest = tile - group * (GROUP * columns);
    let first = group * GROUP;
    let height = (rows - first).min(GROUP);
    let (mut row, mut column) = (first + rest % height, rest / height);
    if triangle != ALL {
        (row, column) = unfolded::<BM, BN>(triangle, (down, across), (row, column));
    }
    Place { number: number / product.parts, part: number % product.parts, row: row * BM, column: column * BN }
}

/// The tile at a place of a folded [`grid`], or one behind the last column: pure arithmetic, the same for all threads.
#[inline(always)]
const fn unfolded<const BM: u32, const BN: u32>(
    triangle: u32,
    (down, across): (u32, u32),
    (row, column): (u32, u32),
) -> (u32, u32) {
    let other = down - 1 - row;
    let (fuller, rest) = if triangle == UPPER { (row, other) } else { (other, row) };
    let (first, count) = tiles::<BM, BN>(triangle, across, fuller);
    if column < count {
        return (fuller, first + column);
    }
    let column = column - count;
    let (first, count) = tiles::<BM, BN>(triangle, across, rest);
    // The row in the middle is folded onto itself.
    // Mutants: of a tile right behind the triangle's last one of a row nothing is written.
    if column < count && rest != fuller { (rest, first + column) } else { (rest, across) }
}

/// The first tile of a row of tiles of a triangle, and how many there are.
#[inline(always)]
const fn tiles<const BM: u32, const BN: u32>(triangle: u32, across: u32, row: u32) -> (u32, u32) {
    let diagonal = row / (BN / BM);
    if triangle == UPPER { (diagonal, across - diagonal) } else { (0, diagonal + 1) }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use super::*;

    fn covered<const BM: u32, const BN: u32>(n: u32, triangle: u32) {
        let (down, across) = (n.div_ceil(BM), n.div_ceil(BN));
        let [rows, columns] = grid(down, across, triangle);
        let mut times = vec![0; (down * across) as usize];
        let mut idle = 0;
        for row in 0..rows {
            for column in 0..columns {
                match unfolded::<BM, BN>(triangle, (down, across), (row, column)) {
                    (_, column) if column == across => idle += 1,
                    (row, column) => times[(row * across + column) as usize] += 1,
                }
            }
        }
        for row in 0..down {
            for column in 0..across {
                let inside = match triangle {
                    LOWER => column * BN < (row * BM + BM).min(n),
                    _ => row * BM < (column * BN + BN).min(n),
                };
                assert_eq!(
                    times[(row * across + column) as usize],
                    u32::from(inside),
                    "{n}: {row}, {column}"
                );
            }
        }
        assert!(idle <= 2 * rows + columns, "{n}: {idle} of {rows} x {columns}");
    }

    #[test]
    fn every_tile_of_a_triangle_has_one_block() {
        for n in (1..600).chain([1024, 2047, 2048]) {
            for triangle in [LOWER, UPPER] {
                covered::<128, 256>(n, triangle);
                covered::<64, 64>(n, triangle);
                covered::<64, 128>(n, triangle);
                covered::<32, 128>(n, triangle);
                covered::<16, 128>(n, triangle);
            }
        }
    }
}
