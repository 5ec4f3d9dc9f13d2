//! Matrices of any size, a block of threads for each: panels of [`PANEL`] columns one after the other, a thread for
//! each row, which holds its part of the panel in registers.
//!
//! # Order of operations
//! That of [`lanes`](super::lanes): of every element one chain of fused multiply-adds in ascending order of columns.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, sync_warp, warp_shuffle_idx, warp_vote_ballot};
use gpu_std::{device, opaque, rolled, unroll};

use crate::batch::{Batch, FROM, Place, TO};
use crate::pivot::{Root, reciprocal, root};

/// The most threads of a block.
pub const BLOCK_THREADS: u32 = 128;
/// Columns of a panel.
pub const PANEL: u32 = 16;
/// Columns of a step of a large matrix. Scratch memory has a reciprocal for each of them, and then what is
/// added to them: column after column of the rows from the diagonal on.
pub const STEP: u32 = 128;

const P: usize = PANEL as usize;
/// Columns that are read ahead.
const AHEAD: usize = 4;

/// Bytes of dynamic shared memory of a block, for matrices of at most so many rows.
pub const fn block_shared_bytes<T: Float>(most: u32) -> u32 {
    SharedLayout::new().array::<T>(PANEL * PANEL).array::<T>(PANEL).array::<T>(PANEL * most).bytes()
}

/// A factor's elements.
#[derive(Clone, Copy)]
pub(crate) struct Elements<T: Float> {
    pub first: GlobalMut<T>,
    pub row: u64,
    pub column: u64,
}

impl<T: Float> Elements<T> {
    /// From element (`row`, `column`) on.
    #[device]
    #[inline(always)]
    pub(crate) fn at(&self, row: u32, column: u32) -> GlobalMut<T> {
        self.first.offset(row as u64 * self.row + column as u64 * self.column)
    }
}

/// Copies what rows `first` to `first + PANEL` have before column `first` to shared memory, a column after the other.
/// Rows from `size` on are zero.
#[device]
#[inline(always)]
pub(crate) fn stage<T: Float>(l: &Elements<T>, first: u32, size: u32, staged: Shared<T>, threads: u32) {
    let mut at = thread_idx_x();
    // Mutants: from there on nothing is loaded, or written.
    while at < opaque(first * PANEL) {
        let mut ahead = [T::ZERO; AHEAD];
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * threads;
            let (row, k) = (first + at % PANEL, at / PANEL);
            // Mutants: what comes of the columns from `first` on is not written.
            if row < size && k < first {
                ahead[step] = l.at(row, k).read(0);
            }
        });
        unroll::<AHEAD>(|step| {
            let at = at + step as u32 * threads;
            // Mutants: one more is a zero where there is room, and nobody reads it.
            if at < first * PANEL {
                staged.write(at, ahead[step]);
            }
        });
        at += AHEAD as u32 * threads;
    }
}

/// Adds to the first `width` columns of a row's part of the panel that starts at column `first` what the scratch
/// memory has for it.
#[device]
#[inline(always)]
pub(crate) fn add<T: Float>(
    scratch: GlobalMut<T>,
    leading: u64,
    (row, first): (u32, u32),
    width: u32,
    sums: &mut [T; P],
) {
    let added = scratch.offset(STEP as u64 + row as u64 + first as u64 * leading);
    unroll::<P>(|c| {
        if (c as u32) < width {
            sums[c] = sums[c] + added.offset(c as u64 * leading).read(0);
        }
    });
}

/// Subtracts from a row's part of the panel the products of what it has before column `first` with what is staged.
/// Of a row whole vectors may be read if `by_vectors` says so.
#[device]
#[inline(always)]
pub(crate) fn subtract<T: Float, const V: usize>(
    l: &Elements<T>,
    by_vectors: bool,
    (row, first): (u32, u32),
    staged: Shared<T>,
    sums: &mut [T; P],
) {
    let line = l.at(row, 0);
    // What is staged starts at row `first`.
    let column = |k: u32| (k * PANEL).wrapping_sub(first);
    // Asked once: in the loop it would take longer than it spares.
    if by_vectors {
        let x = |k: u32| {
            let mut ahead = [T::ZERO; AHEAD];
            unroll::<AHEAD>(|group| {
                if group < AHEAD / V {
                    let some = line.read_vec::<V>(k + (group * V) as u32);
                    unroll::<V>(|v| ahead[group * V + v] = some[v]);
                }
            });
            ahead
        };
        subtract_with::<T, V>(first, staged, column, x, sums);
    } else {
        let x = ahead(|k| line.offset(k as u64 * l.column).read(0));
        subtract_with::<T, V>(first, staged, column, x, sums);
    }
}

/// As many elements ahead, one after the other.
#[inline(always)]
pub(crate) fn ahead<T: Float>(x: impl Fn(u32) -> T) -> impl Fn(u32) -> [T; AHEAD] {
    move |k| {
        let mut ahead = [T::ZERO; AHEAD];
        unroll::<AHEAD>(|step| ahead[step] = x(k + step as u32));
        ahead
    }
}

/// Subtracts from a row's part of the panel that starts at column `first` the products of its elements of the columns
/// before, [`AHEAD`] of which are `x` of the first one, with those of the panel's rows, of which column k has its row 0
/// at `column(k)` in shared memory.
#[device]
#[inline(always)]
pub(crate) fn subtract_with<T: Float, const V: usize>(
    first: u32,
    shared: Shared<T>,
    column: impl Fn(u32) -> u32,
    x: impl Fn(u32) -> [T; AHEAD],
    sums: &mut [T; P],
) {
    let mut k = 0;
    // `first` is a multiple of the panel's columns.
    while k < opaque(first) {
        let ahead = x(k);
        unroll::<AHEAD>(|step| {
            let factor = -ahead[step];
            let column = shared.offset(column(k + step as u32).wrapping_add(first));
            unroll::<P>(|group| {
                if group < P / V {
                    let factors = column.read_vec::<V>((group * V) as u32);
                    unroll::<V>(|v| {
                        let sum = &mut sums[group * V + v];
                        *sum = factor.mul_add(factors[v], *sum);
                    });
                }
            });
        });
        k += AHEAD as u32;
    }
}

/// Solves for a row below the diagonal block, of which `diagonal` has column j from `column(j)` on, with the
/// reciprocals of its roots.
#[device]
#[inline(always)]
pub(crate) fn below<T: Float, const V: usize>(
    diagonal: Shared<T>,
    column: impl Fn(u32) -> u32,
    reciprocals: Shared<T>,
    sums: &mut [T; P],
) {
    unroll::<P>(|j| {
        let l = sums[j] * reciprocals.read(j as u32);
        sums[j] = l;
        let column = diagonal.offset(column(j as u32));
        unroll::<P>(|group| {
            // Mutants: of each column of a group it is asked below whether it comes later.
            if group < P / V && (group + 1) * V > j + 1 {
                let factors = column.read_vec::<V>((group * V) as u32);
                unroll::<V>(|v| {
                    let k = group * V + v;
                    if k > j {
                        sums[k] = (-l).mul_add(factors[v], sums[k]);
                    }
                });
            }
        });
    });
}

/// Columns of a diagonal block that are factored before what is right of them is updated.
const GROUP: usize = 4;

/// Factors the diagonal block in the first lanes of a warp, and solves for the rows in those behind. The
/// columns of the first `rows` of all these go to `diagonal`, but for the pivots: column j from `column(j)` on, and
/// every one of [`GROUP`] columns `pitch` elements after the one before. The pivot of the lane's row: see [`roots`].
///
/// [`GROUP`] columns at a time: their products are taken off the columns behind at once, by way of shared memory. One
/// pivot waits for another, and a warp issues in order, so little may come between two: all lanes factor the group's own
/// block, of which they learn by shuffles before its first pivot, and so need none between its pivots. Nothing is asked
/// about a column alone either: those from `width` on get numbers that nobody reads, and the pivots are judged when all
/// are there, of which the first that fails is the same.
#[device]
#[inline(always)]
pub(crate) fn diagonal_block<T: Root + WarpShuffleValue, const V: usize>(
    diagonal: Shared<T>,
    (column, pitch): (impl Fn(u32) -> u32, u32),
    reciprocals: Shared<T>,
    rows: u32,
    width: u32,
    sums: &mut [T; P],
) -> T {
    let of = |value: T, row: u32| warp_shuffle_idx(FULL, value, row, 32).0;
    let row = thread_idx_x() % 32;
    // What is left of the row's element on the diagonal, and what it is as a pivot.
    let mut square = T::ONE;
    let mut pivot = T::ONE;
    unroll::<P>(|c| square = if row == c as u32 { sums[c] } else { square });
    let mut first = 0;
    while first < PANEL {
        first = rolled(first);
        // Mutants: columns from the width on get numbers that nobody reads.
        if first < width {
            let columns = diagonal.offset(column(first));
            let mut block = [[T::ONE; GROUP]; GROUP];
            unroll::<GROUP>(|k| {
                unroll::<GROUP>(|j| {
                    if j <= k {
                        block[k][j] = of(if j == k { square } else { sums[j] }, first + k as u32);
                    }
                });
            });
            unroll::<GROUP>(|j| {
                let at = first + j as u32;
                let now = reciprocal(block[j][j]);
                pivot = if row == at { block[j][j] } else { pivot };
                if row == at {
                    reciprocals.write(at, now);
                }
                let l = sums[j] * now;
                sums[j] = l;
                unroll::<GROUP>(|k| {
                    if k > j {
                        block[k][j] = block[k][j] * now;
                        unroll::<GROUP>(|m| {
                            if m > j && m <= k {
                                block[k][m] = (-block[k][j]).mul_add(block[m][j], block[k][m]);
                            }
                        });
                        sums[k] = (-l).mul_add(block[k][j], sums[k]);
                    }
                });
                square = (-l).mul_add(l, square);
                if row < rows {
                    columns.write(j as u32 * pitch + row, l);
                }
            });
            sync_warp(FULL);
            unroll::<P>(|group| {
                let behind = first + (group * GROUP) as u32;
                // Mutants: what is so many groups behind is beyond the panel.
                if group > 0 && group < P / GROUP && behind < PANEL {
                    unroll::<GROUP>(|j| {
                        let others = columns.offset(j as u32 * pitch + behind);
                        unroll::<GROUP>(|part| {
                            if part < GROUP / V {
                                let some = others.read_vec::<V>((part * V) as u32);
                                unroll::<V>(|v| {
                                    let at = group * GROUP + part * V + v;
                                    sums[at] = (-sums[j]).mul_add(some[v], sums[at]);
                                });
                            }
                        });
                    });
                }
            });
        }
        *sums = core::array::from_fn(|c| sums[(c + GROUP) % P]);
        first += GROUP as u32;
    }
    pivot
}

/// The root of the pivot of a lane's row of a [`diagonal_block`], and the order of the first minor that is not positive,
/// or zero.
#[device]
#[inline(always)]
pub(crate) fn roots<T: Root>(pivot: T, width: u32) -> (T, u32) {
    let (row, root) = (thread_idx_x() % 32, root(pivot));
    let failed = warp_vote_ballot(FULL, row < width && !pivot.is_positive());
    (root, if failed == 0 { 0 } else { failed.trailing_zeros() + 1 })
}

/// Replaces the element on the diagonal of a row's part of a diagonal block.
#[inline(always)]
pub(crate) fn set_diagonal<T: Float>(sums: &mut [T; P], row: u32, root: T) {
    unroll::<P>(|j| sums[j] = if row == j as u32 { root } else { sums[j] });
}

/// Factors a matrix. Launch a block for each, of whole warps and up to [`BLOCK_THREADS`] threads, as many as there are
/// rows, with
/// [`block_shared_bytes`] for the largest.
///
/// Of a step of a larger matrix the reciprocals of the roots go to `scratch`, from where what is added to it comes
/// (see [`STEP`]).
#[device]
#[inline(always)]
pub(crate) fn block<T: Root + WarpShuffleValue, const V: usize>(
    from: Global<T>,
    to: GlobalMut<T>,
    scratch: GlobalMut<T>,
    info: GlobalMut<u32>,
    table: Global<u64>,
    batch: &Batch,
) {
    let place: Place = batch.place(table, block_idx_x());
    let size = place.size;
    let from = from.offset(place.first);
    let l = Elements { first: to.offset(place.to_first), row: place.to_row, column: place.to_column };
    let mut memory = shared::dynamic();
    let diagonal = memory.array::<T>(PANEL * PANEL);
    let reciprocals = memory.array::<T>(PANEL);
    let staged = memory.array::<T>(0);
    let (thread, threads) = (thread_idx_x(), block_dim_x());

    let mut failed = 0;
    let mut first = 0;
    // Mutants: from the size on there are no rows.
    while first < size {
        let width = (size - first).min(PANEL);
        stage(&l, first, size, staged, threads);
        sync_threads();
        let mut above = 0;
        // Mutants: as above.
        while first + above < size {
            let row = first + above + thread;
            let exists = row < size;
            let mut sums = [T::ZERO; P];
            let a = from.offset(row as u64 * place.row + first as u64 * place.column);
            // Whether the row has all of the panel's columns.
            // Mutants: an element at a time it is the same.
            let is_whole = exists && first + PANEL <= size && row >= first + (PANEL - 1);
            if is_whole && batch.vectors & FROM != 0 {
                unroll::<P>(|group| {
                    if group < P / V {
                        let some = a.read_vec::<V>((group * V) as u32);
                        unroll::<V>(|v| sums[group * V + v] = some[v]);
                    }
                });
            } else {
                unroll::<P>(|c| {
                    // Mutants: of a panel that is less wide no row is as far down as its width.
                    if exists && first + c as u32 <= row && (c as u32) < width {
                        sums[c] = a.offset(c as u64 * place.column).read(0);
                    }
                });
            }
            if batch.added != 0 && exists {
                add(scratch, batch.added, (row, first), width, &mut sums);
            }
            if exists {
                subtract::<T, V>(&l, batch.vectors & TO != 0, (row, first), staged, &mut sums);
            }
            if above == 0 {
                if thread < 32 {
                    let columns = (|j| j * PANEL, PANEL);
                    let pivot =
                        diagonal_block::<T, V>(diagonal, columns, reciprocals, PANEL, width, &mut sums);
                    let (root, order) = roots(pivot, width);
                    set_diagonal(&mut sums, thread, root);
                    if order != 0 && failed == 0 {
                        failed = first + order;
                    }
                }
                sync_threads();
                if batch.part != 0 && thread < width {
                    scratch.write(first + thread, reciprocals.read(thread));
                }
            }
            if exists && (above != 0 || thread >= 32) {
                below::<T, V>(diagonal, |j| j * PANEL, reciprocals, &mut sums);
            }
            let into = l.at(row, first);
            if is_whole && batch.vectors & TO != 0 {
                unroll::<P>(|group| {
                    if group < P / V {
                        let some = core::array::from_fn(|v| sums[group * V + v]);
                        into.write_vec::<V>((group * V) as u32, some);
                    }
                });
            } else if exists {
                unroll::<P>(|c| {
                    // Mutants: of a panel that is less wide no row is as far down as its width.
                    if first + c as u32 <= row && (c as u32) < width {
                        into.offset(c as u64 * l.column).write(0, sums[c]);
                    }
                });
            }
            above += threads;
        }
        first += PANEL;
        // Everybody has written, and read what is in shared memory.
        sync_threads();
    }
    if thread == 0 {
        let old = if batch.part != 0 { info.read(place.number) } else { 0 };
        let found = if failed != 0 { batch.before + failed } else { 0 };
        info.write(place.number, if old != 0 { old } else { found });
    }
}
