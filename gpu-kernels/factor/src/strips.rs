//! What lies below a factored block of a large matrix: `X · Lᵀ = A`, a thread for each row of X.
//!
//! # Order of operations
//! That of [`lanes`](super::lanes): the rows are those that [`block`](super::block) would have below, had it more.

use gpu_std::float::Float;
use gpu_std::memory::GlobalMut;
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, unroll};

use crate::block::{Elements, PANEL, add, below, stage, subtract};

/// Rows, and threads, of a block.
pub const STRIP_ROWS: u32 = 64;

const P: usize = PANEL as usize;

/// The rows below a block of a lower triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Strips {
    /// Elements from one row to the next.
    pub row: u64,
    /// Elements from one column to the next.
    pub column: u64,
    /// Elements from one column to the next of what is added to the rows before all else; zero: nothing is.
    pub added: u64,
    /// Columns of the block: a multiple of [`PANEL`].
    pub columns: u32,
    /// Rows below it.
    pub rows: u32,
}

/// Bytes of dynamic shared memory of a block, for so many columns.
pub const fn strips_shared_bytes<T: Float>(columns: u32) -> u32 {
    SharedLayout::new().array::<T>(PANEL * PANEL).array::<T>(PANEL).array::<T>(PANEL * columns).bytes()
}

/// Solves for [`STRIP_ROWS`] rows, in place. Launch a block of as many threads for as many rows, with
/// [`strips_shared_bytes`]. `a` starts at the factored block's first element, and `scratch` is that of
/// [`STEP`](super::block::STEP).
#[device]
#[inline(always)]
pub(crate) fn strips<T: Float, const V: usize>(a: GlobalMut<T>, scratch: GlobalMut<T>, shape: &Strips) {
    let l = Elements { first: a, row: shape.row, column: shape.column };
    let mut memory = shared::dynamic();
    let diagonal = memory.array::<T>(PANEL * PANEL);
    let reciprocals = memory.array::<T>(PANEL);
    let staged = memory.array::<T>(0);
    let thread = thread_idx_x();
    let below_block = block_idx_x() * STRIP_ROWS + thread;
    let exists = below_block < shape.rows;
    // What is not there computes with a row of the block, which nobody writes, and is not written.
    let row = if exists { shape.columns + below_block } else { 0 };

    let mut first = 0;
    while first < shape.columns {
        stage(&l, first, shape.columns, staged, STRIP_ROWS);
        let mut at = thread;
        while at < PANEL * PANEL {
            let (c, j) = (at % PANEL, at / PANEL);
            // Above the diagonal lies what is not the factor's.
            // Mutants: the diagonal itself is not read, but its reciprocals.
            diagonal.write(at, if c >= j { l.at(first + c, first + j).read(0) } else { T::ZERO });
            at += STRIP_ROWS;
        }
        if thread < PANEL {
            reciprocals.write(thread, scratch.read(first + thread));
        }
        let mut sums = [T::ZERO; P];
        let a = l.at(row, first);
        unroll::<P>(|c| {
            if exists {
                sums[c] = a.offset(c as u64 * shape.column).read(0);
            }
        });
        if shape.added != 0 && exists {
            add(scratch, shape.added, (row, first), PANEL, &mut sums);
        }
        sync_threads();
        subtract::<T, V>(&l, false, (row, first), staged, &mut sums);
        below::<T, V>(diagonal, |j| j * PANEL, reciprocals, &mut sums);
        if exists {
            unroll::<P>(|c| {
                a.offset(c as u64 * shape.column).write(0, sums[c]);
            });
        }
        first += PANEL;
        // Everybody has read what is in shared memory.
        sync_threads();
    }
}
