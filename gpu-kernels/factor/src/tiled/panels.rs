//! The panels of a tile, one after the other: factored, on the diagonal, or solved with those there.

use gpu_std::async_copy::{commit, wait};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{WarpShuffleValue, lane_id};
use gpu_std::{device, keep_rolled, opaque, rolled, unroll};

use super::matrix::{Matrix, Rows};
use super::products::{Sums, copy_panel};
use super::{PANEL, PITCH, THREADS, TILE, panel, place, wait_for};
use crate::block::{ahead, below, diagonal_block, roots, subtract_with};
use crate::pivot::Root;

const P: usize = PANEL as usize;

/// A tile whose panels become known.
pub(super) struct Panels<T: Float, const SKYLINE: bool> {
    pub(super) matrix: Matrix<T, SKYLINE>,
    pub(super) progress: GlobalMut<u32>,
    pub(super) row: u32,
    pub(super) column: u32,
    /// Room for six panels.
    pub(super) room: Shared<T>,
    /// That for the reciprocals of the roots of a square on the diagonal, and for its pivots.
    pub(super) of_square: Shared<T>,
    /// Those of the matrices.
    pub(super) reciprocals: GlobalMut<T>,
    /// The orders of the first minors that are not positive.
    pub(super) info: GlobalMut<u32>,
}

impl<T: Sums + Root + WarpShuffleValue, const SKYLINE: bool> Panels<T, SKYLINE> {
    #[inline(always)]
    fn is_diagonal(&self) -> bool {
        self.row == self.column
    }

    /// The columns that the tile has: on the diagonal as many as rows, else all.
    #[inline(always)]
    fn columns(&self) -> u32 {
        // Asked for where it is needed: it would need a register meanwhile.
        (self.matrix.shape.size - opaque(self.column) * TILE).min(TILE)
    }

    /// The first panel that is there. On the diagonal all are: every row has its pivot.
    #[device]
    #[inline(always)]
    fn begin(&self) -> u32 {
        if !SKYLINE || self.is_diagonal() {
            return 0;
        }
        self.matrix.first(self.row).max(self.column * TILE) % TILE / PANEL
    }

    /// Replaces the sums of products by what A has there less them. What is not there is zero.
    ///
    /// A comes by way of shared memory: four panels are on their way, and a fifth is subtracted from.
    #[device]
    #[inline(always)]
    pub(super) fn subtract<const V: usize>(&self, sums: &mut T::Part) {
        // Nobody reads the stages of the products any longer.
        sync_threads();
        let mut number = self.begin();
        let mut copied = number;
        while number < self.columns().div_ceil(PANEL) {
            number = rolled(number);
            while copied < self.columns().div_ceil(PANEL).min(number + 5) {
                copied = rolled(copied);
                let at = (self.matrix.start_of(Rows::Own), self.row, self.column * TILE + copied * PANEL);
                copy_panel::<T, V, SKYLINE, true>(&self.matrix, at, panel(self.room, copied % 6));
                commit();
                copied += 1;
            }
            match copied - number {
                5 => wait::<4>(),
                4 => wait::<3>(),
                3 => wait::<2>(),
                2 => wait::<1>(),
                _ => wait::<0>(),
            }
            sync_threads();
            T::subtract_from(sums, number, panel(self.room, number % 6));
            number += 1;
        }
        sync_threads();
    }

    /// Replaces the tile by its part of the factor.
    ///
    /// Panels go to shared memory two turns before they are solved. In the first half of a turn a thread solves for a
    /// row of the panel, and takes off its products from the next one; in the second all take them off from all behind
    /// that. On the diagonal the first warp has no rows there: meanwhile it factors the next panel's square, and solves
    /// for the rows of the one after, so that nobody waits for those. Elsewhere the next panel of the tile on the
    /// diagonal is waited for.
    #[device]
    #[inline(always)]
    pub(super) fn solve<const V: usize>(&self, sums: &mut T::Part) {
        let thread = thread_idx_x();
        let is_diagonal = self.is_diagonal();
        let mut ahead = self.begin();
        while ahead * PANEL < self.columns() + 2 * PANEL {
            ahead = rolled(ahead);
            let (begin, columns) = (self.begin(), self.columns());
            // The panel that is solved, the next one, and theirs of the tile on the diagonal.
            let (own, next) = (panel(self.room, (ahead + 1) % 3), panel(self.room, (ahead + 2) % 3));
            let (other, other_next) = if is_diagonal {
                (own, next)
            } else {
                (panel(self.room, 3 + ahead % 2), panel(self.room, 4 - ahead % 2))
            };
            if ahead >= begin + 2 {
                let first = (ahead - 2) * PANEL;
                let square = other.offset(first);
                let is_there = thread < if is_diagonal { columns } else { TILE };
                // ---- the rows that the square's warp has not solved for
                if is_there && (!is_diagonal || thread >= first + 2 * PANEL) {
                    let mut of_row = [T::ZERO; P];
                    let target = self.target(thread, first);
                    unroll::<P>(|c| of_row[c] = own.read(place::<T>(c as u32) + thread));
                    below::<T, V>(square, place::<T>, self.of_square, &mut of_row);
                    unroll::<P>(|c| own.write(place::<T>(c as u32) + thread, of_row[c]));
                    self.write::<P>(target, (thread, first), PANEL, |c| of_row[c]);
                }
                // ---- what the next panel loses: on the diagonal at once, as its square is waited for
                let take_off = || {
                    if is_there && first + PANEL < columns && (!is_diagonal || thread >= first + PANEL) {
                        let mut of_next = [T::ZERO; P];
                        unroll::<P>(|c| of_next[c] = next.read(place::<T>(c as u32) + thread));
                        last_products::<T, V>(own, square, thread, &mut of_next);
                        unroll::<P>(|c| next.write(place::<T>(c as u32) + thread, of_next[c]));
                    }
                };
                let publish = || {
                    // The square and those rows are written by the threads that have no rows.
                    if is_diagonal && thread >= TILE {
                        self.write_square(own, first);
                    }
                    let word = self.word(self.row);
                    sync_threads();
                    self.publish(word, ahead - 1);
                };
                if T::AT_ONCE {
                    take_off();
                    publish();
                } else {
                    // The same code twice would be long.
                    let mut is_published = false;
                    loop {
                        keep_rolled();
                        if is_diagonal != is_published {
                            take_off();
                        }
                        if is_published {
                            break;
                        }
                        publish();
                        is_published = true;
                    }
                }
                let from = if is_diagonal { ahead * PANEL } else { 0 };
                T::subtract_products(sums, own, other, (from, ahead * PANEL));
            }
            T::put(sums, ahead, panel(self.room, ahead % 3));
            if ahead > begin && (ahead - 1) * PANEL < columns {
                let first = (ahead - 1) * PANEL;
                if !is_diagonal {
                    self.bring::<V>(first, other_next);
                } else if thread < 32 {
                    self.square::<V>(next, first);
                }
            }
            sync_threads();
            ahead += 1;
        }
    }

    /// Factors the square on the diagonal of the panel that starts at column `first` of the tile, by a warp, and solves
    /// for as many rows below.
    #[device]
    #[inline(always)]
    fn square<const V: usize>(&self, own: Shared<T>, first: u32) {
        let lane = opaque(lane_id());
        let square = own.offset(first);
        let rows = (TILE - first).min(2 * PANEL);
        let mut sums = [T::ZERO; P];
        if lane < rows {
            unroll::<P>(|c| sums[c] = square.read(place::<T>(c as u32) + lane));
        }
        // Rows that are not there come last: they change nothing, and no loop has to end early for them.
        let place = (place::<T>, PITCH);
        let pivot = diagonal_block::<T, V>(square, place, self.of_square, rows, PANEL, &mut sums);
        if lane < PANEL {
            self.of_square.write(PANEL + lane, pivot);
        }
    }

    /// Writes what [`square`](Self::square) has left in shared memory to the matrix, with the roots of the pivots: by
    /// the threads from [`TILE`] on, a warp four columns.
    #[device]
    #[inline(always)]
    fn write_square(&self, own: Shared<T>, first: u32) {
        let (warp, lane) = ((thread_idx_x() - TILE) / 32, lane_id());
        let width = (self.columns() - first).min(PANEL);
        let before = self.column * TILE + first;
        let pivot = if lane < width { self.of_square.read(PANEL + lane) } else { T::ONE };
        let target = self.target(first + lane, first + 4 * warp);
        let (root, order) = roots(pivot, width);
        if warp == 0 {
            if order != 0 && lane == 0 {
                self.report(before + order);
            }
            if lane < width {
                self.of_rows(before).write(lane, self.of_square.read(lane));
            }
        }
        if first + lane < self.columns() {
            let own = own.offset(place::<T>(4 * warp) + first + lane);
            let count = (lane + 1).min(PANEL).saturating_sub(4 * warp);
            self.write::<4>(target, (first + lane, first + 4 * warp), count, |c| {
                if 4 * warp + c as u32 == lane { root } else { own.read(c as u32 * PITCH) }
            });
        }
    }

    /// The reciprocals of the matrix's rows from the given one on.
    #[device]
    #[inline(always)]
    fn of_rows(&self, first: u32) -> GlobalMut<T> {
        let matrices = self.matrix.number() as u64;
        self.reciprocals.offset(matrices * u64::from(self.matrix.shape.size) + u64::from(first))
    }

    /// Says that the minor of this order is not positive. The first one counts, whoever comes first.
    #[device]
    #[inline(always)]
    fn report(&self, order: u32) {
        let word = self.info.atomic(self.matrix.number());
        let mut old = word.load(Ordering::Relaxed, Scope::Device);
        // Mutants: to say the same order again changes nothing.
        while old == 0 || order < old {
            keep_rolled();
            let found = word.compare_exchange(old, order, Ordering::Relaxed, Scope::Device);
            if found == old {
                break;
            }
            old = found;
        }
    }

    /// Waits for the panel that starts at column `first` of the tile on the diagonal, and copies it, and the
    /// reciprocals of its roots.
    #[device]
    #[inline(always)]
    fn bring<const V: usize>(&self, first: u32, to: Shared<T>) {
        let first_of_all = self.column * TILE + first;
        let (reciprocals, start) = (self.of_rows(first_of_all), self.matrix.start_of(Rows::Column));
        wait_for(self.progress, || self.word(self.column), first / PANEL);
        copy_panel::<T, V, SKYLINE, true>(&self.matrix, (start, self.column, first_of_all), to);
        let thread = thread_idx_x();
        if thread < PANEL {
            self.of_square.write(thread, reciprocals.read(thread));
        }
        commit();
        wait::<0>();
    }

    /// Where an element of the tile is in the matrix. It is asked for early, as others wait for what is written there.
    #[device]
    #[inline(always)]
    fn target(&self, row: u32, column: u32) -> GlobalMut<T> {
        self.matrix.at(self.matrix.start_of(Rows::Own), row, opaque(self.column) * TILE + column)
    }

    /// Writes the first `count` of `N` elements of a row's part of a panel to the matrix.
    #[device]
    #[inline(always)]
    fn write<const N: usize>(
        &self,
        mut target: GlobalMut<T>,
        (row, first): (u32, u32),
        count: u32,
        elements: impl Fn(usize) -> T,
    ) {
        // Opaque: what addresses begin with would need registers meanwhile.
        let (row_of_all, first) = (opaque(self.row) * TILE + row, opaque(self.column) * TILE + first);
        let is_there = row_of_all < self.matrix.shape.size;
        let start = if is_there { self.matrix.start(row_of_all).saturating_sub(first) } else { PANEL };
        unroll::<N>(|c| {
            if (start..count).contains(&(c as u32)) {
                target.write(0, elements(c));
            }
            target = target.offset(self.matrix.l.column);
        });
    }

    /// The word that tells of a tile of the column. It is asked for early: what follows is waited for elsewhere.
    #[device]
    #[inline(always)]
    fn word(&self, row: u32) -> u32 {
        opaque(self.matrix.word(row, self.column))
    }

    /// Says by the tile's word that `count` panels are known, when all threads have written theirs, and are past a
    /// barrier.
    #[device]
    #[inline(always)]
    fn publish(&self, word: u32, count: u32) {
        // The last thread: its warp has no rows, and can wait until all is written. If none did, those who need the
        // tile would wait without end.
        if thread_idx_x() == THREADS - 1 {
            self.progress.atomic(word).store(count, Ordering::Release, Scope::Device);
        }
    }
}

/// Takes off a row's part of a panel the products of the panel before, of which `own` has the row and `square` the
/// rows from that on the diagonal on.
#[device]
#[inline(always)]
fn last_products<T: Float, const V: usize>(own: Shared<T>, square: Shared<T>, row: u32, sums: &mut [T; P]) {
    subtract_with::<T, V>(PANEL, square, place::<T>, ahead(|k| own.read(place::<T>(k) + row)), sums);
}
