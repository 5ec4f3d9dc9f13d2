//! The first steps to the products of this crate, each with one thing more than the step before: to learn from.
//!
//! `fragments.rs` multiplies what each warp reads from shared memory into registers (`mma`). `../lanes.rs` fetches the
//! next tiles meanwhile, by asynchronous copies. `tiles.rs` multiplies tiles where they lie in shared memory (`wgmma`).
//! `boxes.rs` has the copy engine fetch the next ones meanwhile. `../warps.rs` leaves that to a warp of its own and
//! goes on from tile to tile of C, `../pairs.rs` lets two blocks share what they fetch.
//!
//! All of them are `C = A · B` of `bf16` with sums of `f32`, row-major without gaps: A is m × k, B is k × n. k and n
//! are multiples of eight, so that 16 bytes of a line can be read at once, and the matrices begin at multiples of them.

use gpu_std::device;
use gpu_std::half::bf16;
use gpu_std::memory::{Global, GlobalMut};

mod boxes;
mod fragments;
mod tiles;

// The kernels of a compilation are those of its capability.
pub use boxes::*;
pub use fragments::*;
pub use tiles::*;

/// Rows, and columns, of a block's tile of C.
pub const STEP_TILE: u32 = 128;
/// Threads of a block.
pub const STEP_THREADS: u32 = 256;

/// Vectors of 16 bytes that a thread moves of a tile of [`STEP_TILE`] lines, `depth` elements deep along `k`.
const fn vectors(depth: u32) -> usize {
    (STEP_TILE * depth / 8 / STEP_THREADS) as usize
}

/// Eight elements of a matrix of so many rows and columns, from a column on that is a multiple of eight; zeros beyond
/// its edges.
#[device]
#[inline(always)]
fn eight(matrix: Global<bf16>, row: u32, column: u32, [rows, columns]: [u32; 2]) -> [u32; 4] {
    if row < rows && column < columns {
        matrix.offset(u64::from(row) * u64::from(columns)).cast::<u32>().read_only_vec(column / 2)
    } else {
        [0; 4]
    }
}

/// Writes two neighbours, the bits of `f32`, unless they are beyond C's edges.
#[device]
#[inline(always)]
fn write_pair(c: GlobalMut<f32>, row: u32, column: u32, [rows, columns]: [u32; 2], pair: [u32; 2]) {
    if row < rows && column < columns {
        c.offset(u64::from(row) * u64::from(columns)).write_vec(column, pair.map(f32::from_bits));
    }
}
