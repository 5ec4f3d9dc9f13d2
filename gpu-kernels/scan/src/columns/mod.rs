//! Scans along columns of a row-major matrix, or any axis but the last of an array.
//!
//! A lane takes a column, so that neighbouring lanes read neighbours. A matrix is cut into slabs of rows and those
//! into the parts of a block's warps. Slabs are chained: one adds what comes before it, column by column, and passes
//! it on (S. Yan, G. Long and Y. Zhang, *StreamScan: fast scan algorithms for GPUs without global barrier
//! synchronization*, 2013). All columns go down at the same time, so the chain is short beside the rows that it
//! moves.
//!
//! # Order of combination
//! With `p`, the result before the slab, and `b`, that of the parts of the slab before the warp's, combined from left
//! to right, the result at a row is `(p ⊕ b) ⊕ q`, `q` being that of the warp's rows up to it, from left to right.
//! What comes before the next slab is the result at the last row of this one; an exclusive scan gives the same
//! values, one place later.

use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::SharedLayout;
use gpu_std::thread::{grid_dim_x, sync_threads, thread_idx_x};
use gpu_std::{device, opaque, shared, unroll, warp};

use gpu_collective::grid::tickets::mark;
use gpu_collective::grid::{Tickets, TileStates};
use gpu_collective::words::{read, write};
use gpu_collective::{Accumulator, Packed};

use super::tile::identity;
use super::{EXCLUSIVE, Flip, HEADER_WORDS, REVERSE, Scan};

/// Warps of a block.
pub const WARPS: usize = 8;
/// Columns of a block: one for each lane.
pub const COLUMNS: u32 = 32;

/// How matrices are cut: pure numbers that kernels and hosts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Warps of a block.
    pub warps: u32,
    /// Rows of a warp.
    pub rows: u32,
    /// Words of 32 bits of what is exchanged.
    pub words: u32,
}

impl Shape {
    /// That of the kernels in the PTX modules: 64 bytes of each column's results in a thread's registers.
    pub const fn of<S: Scan>() -> Self {
        let (input, output) = (S::Item::BYTES, S::Output::BYTES);
        let rows = if input <= 4 && output <= 4 { 16 } else { 8 };
        Self { warps: WARPS as u32, rows, words: <S::Register as Accumulator>::WORDS }
    }

    /// Slabs of so many rows.
    pub const fn slabs(self, rows: u32) -> u32 {
        rows.div_ceil(self.warps * self.rows)
    }

    /// Words of 64 bits of scratch memory after the header: those of every column in every slab.
    pub const fn scratch_words(self, lines: Lines) -> u64 {
        self.slabs(lines.rows) as u64 * lines.columns as u64 * self.words as u64
    }

    /// Tiles: groups of columns, slab by slab.
    pub const fn tiles(self, lines: Lines) -> u64 {
        self.slabs(lines.rows) as u64 * lines.columns.div_ceil(COLUMNS) as u64
    }

    /// Bytes of dynamic shared memory of a block.
    pub const fn shared_bytes(self) -> u32 {
        SharedLayout::new()
            .array::<u32>(self.warps * COLUMNS * self.words)
            .array::<u32>(COLUMNS * self.words)
            .array::<u64>(1)
            .bytes()
    }
}

/// Where columns lie: those of `columns / inner` matrices of `rows` rows of `inner` elements, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Elements of a column.
    pub rows: u32,
    /// From an element of a column to the next.
    pub inner: u32,
    /// How many columns there are.
    pub columns: u32,
}

/// Scans the columns of `input` into `output`, which may be the same memory where their elements have the same type.
///
/// `K` rows of a warp, `W` warps: what [`Shape`] says. `mode` is a sum of [`EXCLUSIVE`] and [`REVERSE`]. `words` has
/// [`HEADER_WORDS`] and the shape's scratch words, `capacity` in all, as [`whole`](super::whole()) has them. Launch
/// at most as many blocks as there are tiles. It does not wait for the work before it: no kernel of it is
/// `programmatic`.
#[device]
#[inline(always)]
pub fn columns<S: Scan, const K: usize, const W: usize>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    lines: Lines,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    columns_flipped::<S, (), K, W>(input, output, lines, initial, mode, words, capacity, ());
}

/// As [`columns`], with the bits of `flip` flipped in all elements and results, as
/// [`whole_flipped`](super::whole_flipped) does.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn columns_flipped<S: Scan, F: Flip, const K: usize, const W: usize>(
    input: Global<S::Item>,
    output: GlobalMut<S::Output>,
    lines: Lines,
    initial: S::Register,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
    flip: F,
) {
    let register_words = <S::Register as Accumulator>::WORDS;
    let mut memory = shared::dynamic();
    let totals = memory.array::<u32>(W as u32 * COLUMNS * register_words);
    let prefixes = memory.array::<u32>(COLUMNS * register_words);
    let block_ticket = memory.array::<u64>(1);
    let (own_warp, lane) = (thread_idx_x() / 32, warp::lane_id());
    let groups = lines.columns.div_ceil(COLUMNS);
    let slabs = lines.rows.div_ceil((W * K) as u32);
    let tiles = slabs * groups;
    let tickets = Tickets { words, tiles, capacity };
    loop {
        if thread_idx_x() == 0 {
            block_ticket.write(0, tickets.draw());
        }
        sync_threads();
        let ticket = block_ticket.read(0);
        let tile = ticket as u32;
        if tile >= tiles {
            tickets.finish(tile, mark(ticket), block_ticket, grid_dim_x());
            break;
        }
        let slab = tile / groups;
        let column = tile % groups * COLUMNS + lane;
        let is_column = column < lines.columns;
        // Lanes without a column read the last one.
        let column = column.min(lines.columns - 1);
        let (matrix, inner) = (column / lines.inner, lines.inner as u64);
        let base = matrix as u64 * lines.rows as u64 * inner + (column % lines.inner) as u64;
        let first = (slab * W as u32 + own_warp) * K as u32;
        let is_reverse = mode & REVERSE != 0;
        // Where the column's element in row `first` is, and from there to the next row, modulo 2^64.
        let start = |first: u32| {
            let row =
                if is_reverse { (lines.rows as u64 - 1).wrapping_sub(first as u64) } else { first as u64 };
            base.wrapping_add(row.wrapping_mul(inner))
        };
        let step = if is_reverse { inner.wrapping_neg() } else { inner };

        // ---- The warp's rows
        // Not through the read-only path: the output may be the same memory.
        let mut items = [S::IDENTITY; K];
        let rows = lines.rows.saturating_sub(first);
        let mut at = start(first);
        unroll::<K>(|k| {
            if (k as u32) < rows {
                items[k] = input.offset(at).read(0);
            }
            at = at.wrapping_add(step);
        });
        let mut results = [identity::<S>(); K];
        unroll::<K>(|k| {
            // Mutants: what is behind the last row is in no result.
            let own = S::extend(if (k as u32) < rows { flip.element(items[k]) } else { S::IDENTITY });
            results[k] = if k > 0 { S::combine(results[k - 1], own) } else { own };
        });
        write(totals, W as u32 * COLUMNS, thread_idx_x(), results[K - 1]);
        sync_threads();

        // ---- The parts before it
        let (mut before, mut last) = (identity::<S>(), identity::<S>());
        let mut before_last = before;
        unroll::<W>(|warp| {
            // Mutants: the last part is before no warp.
            if warp + 1 < W {
                let total = read(totals, W as u32 * COLUMNS, warp as u32 * COLUMNS + lane);
                if (warp as u32) < own_warp {
                    (before_last, last) = (before, total);
                    before = S::combine(before, last);
                }
            }
        });

        // ---- The slabs before it: the last warp, which knows the slab's total
        if own_warp == W as u32 - 1 {
            let states = TileStates {
                words: words.offset(HEADER_WORDS as u64),
                tiles,
                mark: mark(ticket),
                several: false,
            };
            let slot = slab * lines.columns + column;
            let prefix = if slab > 0 { states.wait(slot - lines.columns) } else { initial };
            let with = S::combine(S::combine(prefix, before), results[K - 1]);
            // Mutants: the last slab has words too, which nobody waits for.
            if slab + 1 < slabs && is_column {
                states.publish(slot, with);
            }
            write(prefixes, COLUMNS, lane, prefix);
        }
        sync_threads();
        let prefix = read(prefixes, COLUMNS, lane);

        // ---- Together
        let mut previous = prefix;
        // Mutants: before the first warp there are identities, which change nothing.
        if own_warp > 0 {
            previous = S::combine(S::combine(prefix, before_last), last);
        }
        let start_of_warp = S::combine(prefix, before);
        // Opaque: the compiler would keep all addresses since the loads.
        let first = opaque(first);
        let rows = if is_column { lines.rows.saturating_sub(first) } else { 0 };
        let mut at = start(first);
        unroll::<K>(|k| {
            let result = S::combine(start_of_warp, results[k]);
            let own = if mode & EXCLUSIVE != 0 { previous } else { result };
            if (k as u32) < rows {
                output.offset(at).write_streaming(0, flip.element(S::output(own)));
            }
            at = at.wrapping_add(step);
            previous = result;
        });
    }
}
