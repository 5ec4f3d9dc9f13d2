//! Products of a vector and a matrix of which one triangle is stored: symmetric or triangular.
//!
//! To the kernel A is a set of *lines*, contiguous in memory, cut into square tiles. Only the tiles of the stored
//! triangle are read, each once. A tile serves two products: of its lines with the elements of `x` along them, and,
//! of a symmetric matrix, of what stands across them with the elements of `x` at the lines. Of the tiles on the
//! diagonal only one triangle is read.
//!
//! # Order of operations
//! The sum of a result is cut into pieces of [`TILE`] consecutive elements. A piece is one chain of fused
//! multiply-adds in ascending order, from zero, over the elements that count; the pieces are added in ascending order
//! by [`gemv`](super::gemv)'s last kernel. So row- and column-major, upper and lower make no difference.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, opaque, unroll};

/// Rows and columns of a tile, and elements of a piece.
pub const TILE: u32 = 64;
/// Threads of a block.
pub const THREADS: u32 = 256;

/// From one line of a tile to the next in shared memory: reads across the lines have no bank conflicts.
const PITCH: u32 = TILE + 1;
/// Lines that are read at the same time.
const LINES: u32 = THREADS / TILE;

/// A product, but for addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Elements from one line to the next.
    pub leading: u64,
    /// Rows, and columns.
    pub size: u32,
    /// The same, or zero so that nothing is read and all pieces are zero.
    pub read: u32,
    /// Whether of line `i` the elements up to place `i` are stored, or those from there on: 1 or 0.
    pub up_to_diagonal: u32,
    /// Whether there are products along the lines: 1 or 0.
    pub along: u32,
    /// Whether there are products across the lines: 1 or 0. With both the matrix is symmetric, else triangular.
    pub across: u32,
    /// Whether the diagonal is taken to be one, and not read: 1 or 0.
    pub unit: u32,
}

impl Shape {
    /// Pieces of a sum.
    pub const fn pieces(&self) -> u32 {
        self.size.div_ceil(TILE)
    }

    /// Blocks of a launch: the rows of tiles of a triangle two by two, the longest with the shortest.
    pub const fn blocks(&self) -> u64 {
        self.pieces().div_ceil(2) as u64 * (self.pieces() as u64 + 1)
    }
}

/// Bytes of dynamic shared memory of a block: a tile, and the elements of `x` at its places and its lines.
pub const fn shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(TILE * PITCH).array::<T>(TILE).array::<T>(TILE).bytes()
}

/// Computes the pieces of a tile. Launch [`Shape::blocks`] blocks of [`THREADS`] threads with [`shared_bytes`].
#[device]
#[inline(always)]
pub(super) fn triangle<T: Float>(a: Global<T>, x: Global<T>, partials: GlobalMut<T>, shape: &Shape) {
    // ---- the tile of this block: `far` is not before `near`
    let tiles = shape.pieces();
    let (row, column) = (block_idx_x() / (tiles + 1), block_idx_x() % (tiles + 1));
    let second = column > row;
    if second && 2 * row + 1 == tiles {
        return; // the row in the middle stands alone
    }
    let (far, near) = if second { (tiles - 1 - row, column - row - 1) } else { (row, column) };
    let diagonal = far == near;
    let (line_tile, place_tile) = if shape.up_to_diagonal != 0 { (far, near) } else { (near, far) };
    let (line, place) = (line_tile * TILE, place_tile * TILE);

    // ---- into shared memory; what is not stored counts as zero
    let mut memory = shared::dynamic();
    let tile = memory.array::<T>(TILE * PITCH);
    let (at_places, at_lines) = (memory.array::<T>(TILE), memory.array::<T>(TILE));
    let (p, first) = (thread_idx_x() % TILE, thread_idx_x() / TILE);
    let lines = a.offset(line as u64 * shape.leading + place as u64);
    let mut values = [T::ZERO; (TILE / LINES) as usize];
    unroll::<{ (TILE / LINES) as usize }>(|step| {
        let l = first + step as u32 * LINES;
        let inside = line + l < shape.read && place + p < shape.read;
        let on_diagonal = diagonal && l == p;
        // Mutants: of the diagonal it was asked before.
        let counts = !diagonal || l == p || (p < l) == (shape.up_to_diagonal != 0);
        if on_diagonal && shape.unit != 0 {
            values[step] = T::ONE;
        } else if inside && counts {
            values[step] = lines.offset(l as u64 * shape.leading).read_streaming(p);
        }
    });
    unroll::<{ (TILE / LINES) as usize }>(|step| {
        tile.write((first + step as u32 * LINES) * PITCH + p, values[step]);
    });
    // Mutants: the third part writes the same as the second.
    if first < 2 {
        let (start, into) = if first == 0 { (place, at_places) } else { (line, at_lines) };
        into.write(p, if start + p < shape.read { x.read_only(start + p) } else { T::ZERO });
    }
    sync_threads();

    // ---- sums, a thread each: first those along the lines, then those across
    let (index, across) = (p, first == 1);
    let twice = shape.along != 0 && shape.across != 0;
    // A tile on the diagonal has one sum a line: of a symmetric matrix that along it.
    // Mutants: the third part computes the same as the first.
    if first >= 2 || diagonal && across == (shape.along != 0) {
        return;
    }
    let (result, piece, x) =
        if across { (place + index, line_tile, at_lines) } else { (line + index, place_tile, at_places) };
    let (start, step) = if across { (index, PITCH) } else { (index * PITCH, 1) };
    let wanted = (if across { shape.across } else { shape.along }) != 0;
    let sum = if !wanted {
        // Of a triangular matrix the tile has nothing for these results.
        T::ZERO
    } else if diagonal {
        on_diagonal(tile, x, index, across, shape.up_to_diagonal != 0, twice)
    } else {
        let mut sum = T::ZERO;
        let mut k = 0;
        while k < opaque(TILE) {
            unroll::<8>(|j| {
                let k = k + j as u32;
                sum = tile.read(start + k * step).mul_add(x.read(k), sum);
            });
            k += 8;
        }
        sum
    };
    if result < shape.size {
        partials.offset(piece as u64 * shape.size as u64).write(result, sum);
    }
}

/// The sum numbered `index` of a tile on the diagonal, over the stored elements and, of a symmetric matrix, their
/// mirror images.
#[device]
#[inline(always)]
fn on_diagonal<T: Float>(
    tile: Shared<T>,
    x: Shared<T>,
    index: u32,
    across: bool,
    up_to_diagonal: bool,
    symmetric: bool,
) -> T {
    let mut sum = T::ZERO;
    let mut k = 0;
    while k < opaque(TILE) {
        let (l, p) = if across { (k, index) } else { (index, k) };
        // Mutants: of the diagonal it was asked before.
        let stored = l == p || (p < l) == up_to_diagonal;
        let (l, p) = if stored { (l, p) } else { (p, l) };
        // What does not count is left out, not multiplied by zero: `x` may be infinite there.
        if stored || symmetric {
            sum = tile.read(l * PITCH + p).mul_add(x.read(k), sum);
        }
        k += 1;
    }
    sum
}
