//! Products of a matrix and a vector: `y = alpha · A · x + beta · y`.
//!
//! # Order of operations
//! A row's entries are cut into pieces of [`PIECE`]. Entry `k` of a piece belongs to chain `k mod 32`; a chain is one
//! of fused multiply-adds in ascending order, from zero; the 32 chains are added at the distances 16, 8, 4, 2, 1. The
//! sum of piece `p` is added to chain `p mod 32` of 32 more, which are added likewise. The result is `fma(alpha, sum +
//! 0, beta · y)`, or `alpha · (sum + 0)` where `beta` is zero.
//!
//! That depends on the length of the row alone. Who computes it does not matter: a thread that has all chains of a
//! short row in registers, lanes that share them, or warps of several blocks that take a piece each. All kernels give
//! the same bits.
//!
//! # Who computes it
//! * Each row by 1 or 4 lanes, if that is what they can hold in registers; the block lists longer ones, its warps take
//!   them from the list, and those of several pieces are the whole block's. Where no row has more than 32 entries, the
//!   block may first multiply its rows' entries as they lie in memory, and a lane finds those of its row in shared memory
//!   (as CSR-Stream of Greathouse and Daga, *Efficient sparse matrix-vector multiplication on GPUs using the CSR storage
//!   format*, SC 2014).
//! * Or dealt out: rows and entries are laid out on one line, a row before its entries (the merge path of Merrill and
//!   Garland, *Merge-based parallel sparse matrix-vector multiplication*, SC 2016), and each block has [`SPAN`] of it:
//!   the rows, and the pieces of long rows, that start there.
//!
//! Elements of `x` are read without a branch around the load, so that a lane asks for all of its own together.

use gpu_std::atomic::{Ordering, Scope};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, sync_threads_and, thread_idx_x};
use gpu_std::{device, keep_rolled, kernel, opaque, rolled, unroll, warp};

use crate::check::bounds;
use crate::row::{piece_inline, short_tree, tree};
use crate::scalar::{Scalar, combine};
use crate::{NONE, THREADS};

/// Entries of a piece: the longest that one warp adds while others wait for it.
pub const PIECE: u32 = 1024;
/// Rows and entries, together, of a block that is balanced: some pieces.
pub const SPAN: u32 = 2 * PIECE;

/// A product, but for addresses and factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Shape {
    /// Rows.
    pub rows: u32,
    /// Entries that count: none where `alpha` is zero, so that nothing is read.
    pub entries: u32,
    /// Lanes of a row: 1 or 4; 1 where rows are dealt out.
    pub lanes: u32,
    /// Rows of a block, at most [`THREADS`]; of no matter where they are dealt out.
    pub block_rows: u32,
    /// Whether rows and entries are dealt out evenly: 1 or 0.
    pub dealt: u32,
    /// Whether blocks multiply entries as they lie in memory, where no row has more than [`MOST_STREAMED`]: 1 or 0; nothing
    /// is dealt out then.
    pub streamed: u32,
    /// Whether there may be rows that are too long for their lanes ([`limit`]): 1 or 0. Those are left out otherwise.
    pub listed: u32,
    /// The last column: none stands beyond it, even if indices changed since they were checked.
    pub last: u32,
}

/// Lanes that have all chains of a row of up to so many entries in registers.
pub const fn limit(lanes: u32) -> u32 {
    if lanes == 1 { 8 } else { 32 }
}

/// What is read.
#[derive(Clone, Copy)]
struct Sources<T: Scalar> {
    indices: Global<u32>,
    values: Global<T>,
    x: Global<T>,
    last: u32,
}

impl<T: Scalar> Sources<T> {
    /// The elements that stand in these columns; zero where there is none.
    #[device]
    #[inline(always)]
    fn elements<const J: usize>(&self, columns: [u32; J]) -> [T; J] {
        core::array::from_fn(|j| self.x.read_only_below(columns[j], self.last + 1, T::ZERO))
    }

    /// The sum of a row of at most `32` entries, or 8 of one lane, by as many lanes as have `J` chains each.
    #[device]
    #[inline(always)]
    fn short<const LANES: u32, const J: usize>(&self, start: u32, end: u32) -> T {
        let first = start + thread_idx_x() % LANES;
        let (indices, values) = (self.indices.offset(first as u64), self.values.offset(first as u64));
        // Mutants: at the end none is left either way.
        let left = if first < end { end - first } else { 0 };
        let columns: [u32; J] =
            core::array::from_fn(|j| indices.read_only_below(j as u32 * LANES, left, NONE));
        let values: [T; J] =
            core::array::from_fn(|j| values.read_only_below(j as u32 * LANES, left, T::ZERO));
        let elements: [T; J] = self.elements(columns);
        let sums: [T; J] = core::array::from_fn(|j| values[j].mul_add(elements[j], T::ZERO));
        short_tree::<T, LANES, J>(sums)
    }
}

/// Entries of a block that has them in shared memory, at most.
pub const STREAMED: u32 = THREADS * 8;
/// Entries of a row there, at most.
pub const MOST_STREAMED: u32 = 32;
/// Rows that a block lists at most, of one piece and of several: more than it can have that are so long.
const LISTED: u32 = 256;

/// Where entry `at` lies in shared memory: rows of eight begin in different banks.
#[device]
#[inline(always)]
fn spread(at: u32) -> u32 {
    at + at / 8
}

/// Elements, words and elements of shared memory: products, the list, and the chains of a row.
const fn shared_lengths(shape: &Shape) -> (u32, u32, u32) {
    let products = if shape.streamed != 0 { STREAMED + STREAMED / 8 } else { 0 };
    let (list, totals) = if shape.listed != 0 { (3 + 2 * LISTED, 32) } else { (0, 0) };
    (products, list, totals)
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes<T: Scalar>(shape: &Shape) -> u32 {
    let (products, list, totals) = shared_lengths(shape);
    SharedLayout::new().array::<T>(products).array::<u32>(list).array::<T>(totals).bytes()
}

impl<T: Scalar> Sources<T> {
    /// The sum of this lane's row, the entries from `start` to `end`, where all rows of the block are short and lie
    /// between `from` and `to`, one after the other.
    #[device]
    #[inline(always)]
    fn streamed(&self, products: Shared<T>, (from, to): (u32, u32), (start, end): (u32, u32)) -> T {
        const J: usize = 8;
        let thread = thread_idx_x();
        let (indices, values) = (self.indices.offset(from as u64), self.values.offset(from as u64));
        let place = |j: usize| thread + j as u32 * THREADS;
        let columns: [u32; J] = core::array::from_fn(|j| indices.read_only_below(place(j), to - from, NONE));
        let factors: [T; J] = core::array::from_fn(|j| values.read_only_below(place(j), to - from, T::ZERO));
        let elements: [T; J] = self.elements(columns);
        unroll::<J>(|j| products.write(spread(place(j)), factors[j].mul_add(elements[j], T::ZERO)));
        sync_threads();
        // Beyond the end of the row there are zeros, whatever lies there.
        let product = |k: usize| {
            let at = start - from + k as u32;
            let product = products.read(spread(if at < STREAMED { at } else { STREAMED - 1 }));
            if start + (k as u32) < end { product } else { T::ZERO }
        };
        let mut sums: [T; J] = core::array::from_fn(product);
        // Mutants: zeros are added then, and the sign of a zero gets lost in the end.
        if warp::warp_vote_any(warp::FULL, end - start > J as u32) {
            unroll::<J>(|j| sums[j] = (sums[j] + product(j + 16)) + (product(j + 8) + product(j + 24)));
        }
        short_tree::<T, 1, J>(sums)
    }
}

/// The first row whose place on the line is not before `place`.
#[device]
#[inline(always)]
fn row_at(offsets: Global<u32>, rows: u32, place: u32) -> u32 {
    let (mut low, mut high) = (0, rows);
    while low < high {
        keep_rolled();
        let middle = low + (high - low) / 2;
        if middle + offsets.read_only(middle) < place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The rows of a block, and, of the line that is dealt out, the pieces that start in its part.
///
/// A piece that is not the last of its row is [`PIECE`] long, so no two of those start in the same [`PIECE`] of the
/// line, and neither do two that are the last of rows of several: each has its word of `partials`, the latter in the
/// second half, and `tails` says whose it is.
#[device]
#[inline(always)]
fn product<T: Scalar>(
    offsets: Global<u32>,
    sources: &Sources<T>,
    y: GlobalMut<T>,
    partials: GlobalMut<T>,
    tails: GlobalMut<u32>,
    shape: &Shape,
    (alpha, beta): (T, T),
) {
    let slots = (shape.rows + shape.entries).div_ceil(PIECE);
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let dealt = shape.dealt != 0;
    let lanes = if shape.lanes == 1 { 1 } else { 4 };

    let mut memory = shared::dynamic();
    let (products, list, totals) = shared_lengths(shape);
    let products = memory.array::<T>(products);
    let (list, totals) = (memory.array::<u32>(list), memory.array::<T>(totals));
    // Before the rows: how many of one piece, how many of those are taken, how many of several.
    let listed = list.offset(3);

    let (mut first, mut last) =
        (block_idx_x() * shape.block_rows, shape.rows.min((block_idx_x() + 1) * shape.block_rows));
    let mut to = 0;
    if dealt {
        let from = block_idx_x() * SPAN;
        to = (shape.rows + shape.entries).min(from + SPAN);
        let own = from / PIECE + thread;
        if thread < SPAN / PIECE && own < slots {
            tails.write(own, NONE);
        }
        // Mutants: the next writes of `tails`, of long rows, are behind another barrier.
        sync_threads();
        let found = row_at(offsets, shape.rows, if thread.is_multiple_of(2) { from } else { to });
        first = warp::shuffle_idx(warp::FULL, found, 0);
        last = warp::shuffle_idx(warp::FULL, found, 1);
    }
    // Mutants: of no entries all bounds are zero, and so are the sums.
    if shape.streamed != 0 && shape.entries > 0 {
        let row = first + thread;
        let (from, to) =
            (bounds(offsets, first, shape.entries).0, bounds(offsets, last - 1, shape.entries).1);
        let (mut start, mut end) = (from, from);
        if row < last {
            (start, end) = bounds(offsets, row, shape.entries);
        }
        // Offsets that changed since they were checked may say anything.
        // Mutants: a block that goes the other way has the same sums.
        let is_short = end - start <= MOST_STREAMED && from <= start && end <= to;
        // Mutants: as above.
        if sync_threads_and(is_short && from <= to && to - from <= STREAMED) {
            let sum = sources.streamed(products, (from, to), (start, end));
            if row < last {
                y.write(row, combine(alpha, sum, beta, || y.read(row)));
            }
            return;
        }
    }
    if shape.listed != 0 {
        // Mutants: one word more is the list's first, which is written later, behind a barrier.
        if thread < 3 {
            list.write(thread, 0);
        }
        sync_threads();
    }
    let mut base = first + thread / 32 * (32 / lanes);
    // Mutants: from the last on there are no rows.
    while base < last {
        keep_rolled();
        let row = base + lane / lanes;
        let inside = row < last;
        let (mut start, mut end) = (0, 0);
        // Mutants: of no entries all bounds are zero.
        if inside && shape.entries > 0 {
            (start, end) = bounds(offsets, row, shape.entries);
        }
        let long = end - start > limit(lanes);
        let is_first = lane.is_multiple_of(lanes);
        if long && is_first && shape.listed != 0 {
            // Mutants: a row of one piece has the same sum from the block.
            let several = !dealt && end - start > PIECE;
            let counter = list.atomic(if several { 2 } else { 0 });
            let place = counter.fetch_add(1, Ordering::Relaxed, Scope::Block);
            // Mutants: one more has room, behind all of one piece; and no block of a matrix has as many.
            if place < LISTED {
                listed.write(if several { LISTED + place } else { place }, row);
            }
        }
        // A long row has nothing for its lanes alone.
        let stop = if long { start } else { end };
        let sum =
            if lanes == 1 { sources.short::<1, 8>(start, stop) } else { sources.short::<4, 8>(start, stop) };
        if inside && !long && is_first {
            y.write(row, combine(alpha, sum, beta, || y.read(row)));
        }
        base += THREADS / lanes;
    }
    if shape.listed == 0 {
        return;
    }
    sync_threads();
    // ---- the long rows: what the block has of the row that started before it; those of several pieces, which are the
    // block's, a chain of each a warp's; and the others, each a warp's
    let (single, several) = (list.read(0).min(LISTED), list.read(2).min(LISTED));
    let (mut of_block, warps) = (if dealt && first > 0 { several + 1 } else { several }, THREADS / 32);
    loop {
        keep_rolled();
        let (mut row, mut number, mut step) = (first.wrapping_sub(1), thread / 32, warps);
        let is_of_block = of_block > 0;
        let is_before = of_block > several;
        if is_of_block {
            of_block -= 1;
            if !is_before {
                row = listed.read(LISTED + of_block);
            }
        } else {
            let mut taken = 0;
            if lane == 0 {
                taken = list.atomic(1).fetch_add(1, Ordering::Relaxed, Scope::Block);
            }
            taken = warp::shuffle_idx(warp::FULL, taken, 0);
            if taken >= single {
                break;
            }
            (row, number, step) = (listed.read(taken), 0, 1);
        }
        let (start, end) = bounds(offsets, row, shape.entries);
        // Of rows of several pieces that are dealt out the block has those that start in its part.
        let is_part = dealt && end - start > PIECE;
        let mut until = end - start;
        if is_part {
            until = until.min(to.saturating_sub(row + start));
            if is_before {
                number += (block_idx_x() * SPAN).wrapping_sub(row + start).div_ceil(PIECE);
            }
        } else if is_before {
            until = 0;
        }
        let mut total = T::ZERO;
        while number * PIECE < until {
            number = rolled(number);
            let at = start + number * PIECE;
            let left = end - at;
            let x = (sources.x, 1, sources.last);
            let (indices, values) = (sources.indices, sources.values);
            let sum = piece_inline::<T, false, 8>(indices, values, x, at, at + left.min(PIECE));
            if is_part {
                let slot = (row + at) / PIECE;
                if lane == 0 && left <= PIECE {
                    partials.write(slots + slot, sum);
                    tails.write(slot, row);
                } else if lane == 0 {
                    partials.write(slot, sum);
                }
            } else if lane == number % 32 {
                total = total + sum;
            }
            number += step;
        }
        if !is_part && is_of_block && !is_before {
            if lane % warps == thread / 32 {
                totals.write(lane, total);
            }
            sync_threads();
            total = tree(totals.read(lane));
            sync_threads();
        }
        // The chain of one piece is its sum.
        if !is_part && !is_before && lane == 0 && (!is_of_block || thread == 0) {
            y.write(row, combine(alpha, total, beta, || y.read(row)));
        }
    }
}

/// The rows of several pieces: a warp for each [`PIECE`] of the line.
#[device]
#[inline(always)]
fn finish<T: Scalar>(
    offsets: Global<u32>,
    partials: Global<T>,
    tails: Global<u32>,
    y: GlobalMut<T>,
    shape: &Shape,
    (alpha, beta): (T, T),
) {
    let slots = (shape.rows + shape.entries).div_ceil(PIECE);
    let slot = block_idx_x() * (THREADS / 32) + thread_idx_x() / 32;
    let row = if slot < slots { tails.read_only(slot) } else { NONE };
    if row != NONE {
        let (start, end) = bounds(offsets, row, shape.entries);
        let last = (end - start).div_ceil(PIECE) - 1;
        let first = (row + start) / PIECE;
        let mut sum = T::ZERO;
        let mut number = warp::lane_id();
        while number <= opaque(last) {
            keep_rolled();
            let at = if number == last { slots + slot } else { first + number };
            sum = sum + partials.read_only(at);
            number += 32;
        }
        let sum = tree(sum);
        if warp::lane_id() == 0 {
            y.write(row, combine(alpha, sum, beta, || y.read(row)));
        }
    }
}

macro_rules! kernels {
    ($($T:ty: $product:ident, $finish:ident;)*) => { $(
        #[doc = concat!("Products of matrices of `", stringify!($T), "`, in blocks of [`THREADS`], with [`shared_bytes`]: of as many rows as have [`Shape::lanes`] each, or of [`SPAN`] rows and entries, but for rows of several pieces. Of `partials` there are two elements then for each [`PIECE`] of them, of `tails` one.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $product(
            offsets: Global<u32>,
            indices: Global<u32>,
            values: Global<$T>,
            x: Global<$T>,
            y: GlobalMut<$T>,
            partials: GlobalMut<$T>,
            tails: GlobalMut<u32>,
            shape: Shape,
            alpha: $T,
            beta: $T,
        ) {
            product::<$T>(offsets, &Sources { indices, values, x, last: shape.last }, y, partials, tails, &shape, (alpha, beta));
        }

        #[doc = concat!("The rows of several pieces of `", stringify!($T), "`: a warp for each [`PIECE`] of rows and entries.")]
        #[kernel(images = sm_75, launch_bounds(256))]
        pub fn $finish(
            offsets: Global<u32>,
            partials: Global<$T>,
            tails: Global<u32>,
            y: GlobalMut<$T>,
            shape: Shape,
            alpha: $T,
            beta: $T,
        ) {
            finish::<$T>(offsets, partials, tails, y, &shape, (alpha, beta));
        }
    )* };
}

kernels! {
    f32: sparse_spmv_f32, sparse_spmv_finish_f32;
    f64: sparse_spmv_f64, sparse_spmv_finish_f64;
}
