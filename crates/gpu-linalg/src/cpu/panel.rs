//! Some rows of a product of matrices on one core: blocks that fit the caches, tiles that fit the registers.

use core::cell::Cell;
use core::ops::Range;
use std::thread::LocalKey;

use super::aligned::Aligned;
use super::down::{self, Down};
use super::lanes::{Has, Lanes, Registers, TURNED};
use super::pack::pack;
use super::tile::Tile;
use crate::matrix::{Layout, Order};
use crate::plan::gemm::Split;

/// Elements of the sums of a block.
pub(super) const DEPTH: usize = 192;
/// The same of one tile side by side, whose part of B is all that stays near.
pub(super) const MOST_DEPTH: usize = 2 * DEPTH;
/// Columns of C of which the sums are kept from one block of A to the next, so that A is packed once for all of them.
pub(super) const COLUMNS: usize = 2048;
/// Columns of a block of B: with [`DEPTH`] half of a second-level cache.
const BLOCK: usize = 256;

/// Products of an element of a block, below which it is written line by line.
const LITTLE: usize = 128;
/// Tiles below each other that are few.
const FEW_DOWN: usize = 13;
/// Bytes from one k's elements to the next one's that are few: then A is read where it lies, for up to [`BESIDE`]
/// columns, 64³ `f32` in 4.2 µs instead of 4.8; and so is B, if they are even fewer.
const SHORT: usize = 512;
const SHORT_OF_B: usize = 256;
const BESIDE: usize = 128;
/// Bytes that a cache near the core holds.
const NEAR: usize = 1 << 19;
/// Bytes that a thread keeps for its next product, at most.
const MOST_KEPT: usize = 8 << 20;

/// Memory that a task leaves to the next.
#[derive(Debug, Default)]
pub struct Buffers<T> {
    a: Aligned<T>,
    b: Aligned<T>,
    /// B's last columns, if they are computed by themselves.
    last: Aligned<T>,
    /// Of the part of k that is at work, and of those before it.
    sums: Aligned<T>,
    totals: Aligned<T>,
}

/// A type of which threads keep buffers from one product to the next: new ones are filled with zeros first, which
/// small products need not wait for.
pub trait Kept: Registers {
    /// Those of this thread, which are empty while they are in use.
    fn kept() -> &'static LocalKey<Cell<Buffers<Self>>>;

    /// Does `work` with them.
    fn with_kept<R>(work: impl FnOnce(&mut Buffers<Self>) -> R) -> R {
        let mut buffers = Self::kept().take();
        let done = work(&mut buffers);
        let Buffers { a, b, last, sums, totals } = &buffers;
        let elements: usize = [a, b, last, sums, totals].iter().map(|of| of.len()).sum();
        if elements * size_of::<Self>() <= MOST_KEPT {
            Self::kept().set(buffers);
        }
        done
    }
}

macro_rules! kept {
    ($($T:ty)*) => { $(
        impl Kept for $T {
            fn kept() -> &'static LocalKey<Cell<Buffers<Self>>> {
                thread_local! {
                    static KEPT: Cell<Buffers<$T>> = Cell::default();
                }
                &KEPT
            }
        }
    )* };
}
kept! { f32 f64 }

/// Some rows of a row-major C, and what they are made of.
#[derive(Clone)]
pub(super) struct Panel<'a, T> {
    pub(super) a: (&'a [T], Layout),
    pub(super) b: (&'a [T], Layout),
    pub(super) rows: Range<usize>,
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) split: Split,
    pub(super) leading: usize,
    pub(super) factors: (T, T),
}

/// Some k of a product, and what of it they are.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) ks: Range<usize>,
    /// Whether they begin and end a part, and whether that is the first and the last one.
    pub(super) begins: bool,
    pub(super) ends: bool,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl<T: Registers> Panel<'_, T> {
    /// Computes the panel, `c` being its rows, in tiles of `M` rows of `N` registers, of which the last ones are lower
    /// and narrower.
    #[inline(always)]
    pub(super) fn compute<V: Lanes<T>, const M: usize, const N: usize>(
        &self,
        has: Has<V>,
        buffers: &mut Buffers<T>,
        c: &mut [&mut [T]],
    ) {
        let n = N * V::LEN;
        for columns in blocks(0..self.columns, COLUMNS / n * n) {
            for part in self.split.ranges(self.depth) {
                let (is_first, is_last) = (part.start == 0, part.end == self.depth);
                let mut start = part.start;
                // Where there are no k, C is still scaled; parts behind the end are none.
                while start < part.end || self.depth == 0 {
                    // Steps as long as the others: a short last one would read and write all sums for little. Of one
                    // tile side by side longer ones: its part of B is all that stays near.
                    let most = if self.columns <= n { MOST_DEPTH } else { DEPTH };
                    let steps = (part.end - start).div_ceil(most).max(1);
                    let end = start + (part.end - start).div_ceil(steps);
                    let (begins, ends) = (start == part.start, end == part.end);
                    let step = Step { ks: start..end, begins, ends, is_first, is_last };
                    self.add::<V, M, N>(has, buffers, &step, columns.clone(), c);
                    if ends {
                        break;
                    }
                    start = end;
                }
                if is_last {
                    break;
                }
            }
        }
    }

    /// Adds the products of some k to the sums of some columns.
    #[inline(always)]
    fn add<V: Lanes<T>, const M: usize, const N: usize>(
        &self,
        has: Has<V>,
        Buffers { a, b, last, sums, totals }: &mut Buffers<T>,
        step: &Step,
        columns: Range<usize>,
        c: &mut [&mut [T]],
    ) {
        let (depth, n) = (step.ks.len(), N * V::LEN);
        let len = self.rows.len().next_multiple_of(M) * columns.len().next_multiple_of(n);
        if !(step.begins && step.ends) {
            sums.grow(T::ZERO, len);
        }
        if !(step.is_first && step.is_last) {
            totals.grow(T::ZERO, len);
        }
        let tiles = self.rows.len().div_ceil(M);
        // What is read for hardly more than one block of B is not copied before, if lines are its k, or short.
        let [bytes_of_a, bytes_of_b] =
            [self.a.1.leading_dimension() * size_of::<T>(), self.b.1.leading_dimension() * size_of::<T>()];
        let a_is_read = depth > 0
            && match self.a.1.order() {
                Order::RowMajor => self.columns <= BLOCK,
                Order::ColumnMajor => self.columns <= BESIDE && bytes_of_a < SHORT,
            };
        // Those need A in tiles.
        let few =
            if a_is_read { 0 } else { down::columns::<T, V, M>(columns.len(), self.rows.len(), self.depth) };
        let side = columns.start..columns.end - few;
        // To copy what few tiles below each other read would take longer, if it is near, and so of short lines.
        let b_is_read = depth > 0
            && self.b.1.order() == Order::RowMajor
            && (tiles <= FEW_DOWN || bytes_of_b <= SHORT_OF_B)
            && self.depth * self.columns * size_of::<T>() <= 2 * NEAR;
        // A's rows are to it what B's columns are. Without k the factors may have no elements.
        if depth > 0 && !a_is_read {
            pack(a, [M, TURNED], (self.a.0, self.a.1.transposed()), step.ks.clone(), self.rows.clone());
        }
        let is_far = depth >= LITTLE && self.rows.len() * self.columns * size_of::<T>() > NEAR;
        for block in blocks(side.clone(), BLOCK / n * n) {
            // Of what is read where it lies only columns that are no full tile are packed.
            let packed = if b_is_read { block.len() / n } else { 0 };
            if depth > 0 {
                pack(b, [n, V::LEN], self.b, step.ks.clone(), block.start + packed * n..block.end);
            }
            let is_narrow = is_narrow::<T, V, M, N>(block.len());
            let narrow = if is_narrow { tiles.div_ceil(2) } else { 0 };
            let across = block.len().div_ceil(n) - usize::from(is_narrow);
            for at in 0..tiles * across + narrow {
                // Tiles below each other read the same of B, which stays near. Where A is far it is read once, for
                // those beside each other; and with few products a tile it is writing that counts, along the lines.
                let is_across = a_is_read || depth < LITTLE;
                let (tile, number, below) = if at >= tiles * across {
                    ((at - tiles * across) * 2, across, 2)
                } else if is_across {
                    (at / across, at % across, 1)
                } else {
                    (at % tiles, at / tiles, 1)
                };
                let first = block.start + number * n;
                let memory = ((first - columns.start) / n * tiles + tile) * M * n;
                let rows = tile * M..c.len().min((tile + below) * M);
                let width = n.min((block.end - first).next_multiple_of(V::LEN));
                let tile = Tile {
                    a: if a_is_read {
                        let first = self.a.1.index(self.rows.start + rows.start, step.ks.start);
                        let [row, k] = [self.a.1.index(1, 0), self.a.1.index(0, 1)];
                        (&self.a.0[first..], [row, TURNED * row, k])
                    } else if const { M == TURNED } {
                        (&a[tile * depth * M..], [1, depth * M, M])
                    } else {
                        (&a[tile * depth * M..], [1, TURNED, rows.len().next_multiple_of(TURNED)])
                    },
                    b: if number < packed {
                        (&self.b.0[self.b.1.index(step.ks.start, first)..], self.b.1.leading_dimension())
                    } else {
                        (&b[(number - packed) * depth * n..], width)
                    },
                    sums: sums.get_mut(memory..).unwrap_or_default(),
                    totals: totals.get_mut(memory..).unwrap_or_default(),
                    factors: self.factors,
                    columns: first..block.end.min(first + n),
                    step,
                    is_far,
                    c: &mut c[rows],
                };
                tile.compute::<V, M, N>(has);
            }
        }
        if few > 0 {
            if depth > 0 {
                pack(last, [down::MOST, TURNED], self.b, step.ks.clone(), side.end..columns.end);
            }
            // In what the last tiles have no registers for.
            let before = if is_narrow::<T, V, M, N>(side.len()) { 2 * V::LEN } else { side.len() % n };
            let memory = side.len() / n * tiles * M * n + before * M;
            let down = Down {
                a,
                b: last,
                sums: sums.get_mut(memory..).unwrap_or_default(),
                totals: totals.get_mut(memory..).unwrap_or_default(),
                between: M * n,
                factors: self.factors,
                columns: side.end..columns.end,
                step,
                c,
            };
            down.compute::<V, M>(has);
        }
    }
}

/// Whether the last of `columns` are a register, of which tiles of four rows are computed in pairs: one by itself has
/// too few chains to keep a core at work. Their sums are in the first one's memory, which has room for three registers.
#[inline(always)]
const fn is_narrow<T, V: Lanes<T>, const M: usize, const N: usize>(columns: usize) -> bool {
    M == TURNED && N == 3 && columns > 0 && (columns - 1) % (N * V::LEN) < V::LEN
}

/// `range` in pieces of `size`, the last one shorter.
fn blocks(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(size).map(move |start| start..(start + size).min(end))
}
