//! The panels of a tile, one after the other: factored, on the diagonal, or solved with those there.

use gpu_std::async_copy::{commit, wait};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, lane_id, sync_warp};
use gpu_std::{device, keep_rolled, opaque, rolled, unroll};

use super::products::{Sums, copy_panel};
use super::{PANEL, PITCH, Shape, TILE, panel, place};
use crate::block::{Elements, below, diagonal_block};
use crate::pivot::Root;
use crate::step::last_products;

const P: usize = PANEL as usize;

/// Subtracts the sums of products from what A has there; what is not there, or above the diagonal, is zero.
#[device]
#[inline(always)]
pub(super) fn subtract<T: Sums>(
    sums: &mut T::Part,
    l: &Elements<T>,
    shape: &Shape,
    (tile_row, tile_column): (u32, u32),
) {
    T::each(sums, |elements, rows, columns| {
        let is_there = |row: u32, column: u32| row < shape.size && column <= row;
        let columns = columns.map(|column| tile_column * TILE + column);
        let mut i = 0;
        for of_row in elements {
            // Places of one row at a time: those of all would not fit into the registers.
            let row = opaque(tile_row * TILE + rows[i]);
            let mut old = [T::ZERO; 8];
            unroll::<2>(|half| {
                let mut from = l.at(row, columns[half]);
                unroll::<4>(|j| {
                    if is_there(row, columns[half] + j as u32) {
                        old[4 * half + j] = from.read(0);
                    }
                    from = from.offset(l.column);
                });
            });
            let mut j = 0;
            for element in of_row {
                // The sum as a product has it: never -0.
                let new = old[j] + -(*element + T::ZERO);
                *element = if is_there(row, columns[j / 4] + j as u32 % 4) { new } else { T::ZERO };
                j += 1;
            }
            i += 1;
        }
    });
}

/// A tile whose panels become known.
pub(super) struct Panels<T: Float> {
    pub(super) l: Elements<T>,
    pub(super) progress: GlobalMut<u32>,
    pub(super) shape: Shape,
    pub(super) row: u32,
    pub(super) column: u32,
    /// Room for six panels.
    pub(super) room: Shared<T>,
    /// That for the reciprocals of the roots of a square on the diagonal.
    pub(super) of_square: Shared<T>,
    /// Those of the matrix.
    pub(super) reciprocals: GlobalMut<T>,
}

impl<T: Sums + Root + WarpShuffleValue> Panels<T> {
    /// The element where the panel that starts at column `first` of the tile begins in a row of it.
    #[device]
    #[inline(always)]
    fn line(&self, row: u32, first: u32) -> GlobalMut<T> {
        self.l.at(self.row * TILE + row, self.column * TILE + first)
    }

    /// Says that `count` panels are known, when all threads have written theirs, and are past a barrier.
    #[device]
    #[inline(always)]
    fn publish(&self, count: u32) {
        if thread_idx_x() == 0 {
            let word = self.progress.atomic(place(self.row, self.column));
            word.store(count, Ordering::Release, Scope::Device);
        }
    }

    /// Writes a row's part of a panel to the matrix, and to shared memory.
    #[device]
    #[inline(always)]
    fn write(&self, row: u32, first: u32, own: Shared<T>, sums: &[T; P]) {
        let is_there = self.row * TILE + row < self.shape.size;
        let mut target = self.line(row, first);
        unroll::<P>(|c| {
            own.write(c as u32 * PITCH + row, sums[c]);
            if is_there {
                target.write(0, sums[c]);
            }
            target = target.offset(self.l.column);
        });
    }

    /// Replaces a tile on the diagonal by its factor.
    ///
    /// A panel's square is the first warp's, while the others take off the products of the panel before from all behind this one; then
    /// a thread has a row below, and takes off the products of its part from the next panel.
    #[device]
    #[inline(always)]
    pub(super) fn factor<const V: usize>(&self, sums: &mut T::Part, info: GlobalMut<u32>) {
        let thread = thread_idx_x();
        let columns = (self.shape.size - self.column * TILE).min(TILE);
        T::put(sums, 0, self.room);
        sync_threads();
        let mut number = 0;
        while number * PANEL < columns {
            number = rolled(number);
            let first = number * PANEL;
            let own = panel(self.room, number % 3);
            let next = panel(self.room, (number + 1) % 3);
            let square = own.offset(first);
            if number > 0 {
                let before = panel(self.room, (number + 2) % 3);
                T::subtract_products(sums, before, before, (first + PANEL, first + PANEL));
            }
            T::put(sums, number + 1, next);
            if thread < 32 {
                self.square::<V>(square, first, (columns - first).min(PANEL), info);
            }
            sync_threads();

            // ---- the rows below
            let mut of_row = [T::ZERO; P];
            let is_below = thread >= first + PANEL && thread < columns;
            if is_below {
                unroll::<P>(|c| of_row[c] = own.read(c as u32 * PITCH + thread));
                below::<T, V>(square, PITCH, self.of_square, &mut of_row);
                self.write(thread, first, own, &of_row);
            }
            sync_threads();
            self.publish(number + 1);
            if is_below {
                let mut of_next = [T::ZERO; P];
                unroll::<P>(|c| of_next[c] = next.read(c as u32 * PITCH + thread));
                last_products::<T, V>(square.offset(PANEL), PITCH, &of_row, &mut of_next);
                unroll::<P>(|c| next.write(c as u32 * PITCH + thread, of_next[c]));
            }
            sync_threads();
            number += 1;
        }
    }

    /// Factors the square on the diagonal of the panel that starts at column `first` of the tile, by a warp.
    #[device]
    #[inline(always)]
    fn square<const V: usize>(&self, square: Shared<T>, first: u32, width: u32, info: GlobalMut<u32>) {
        let lane = lane_id();
        let mut sums = [T::ZERO; P];
        if lane < PANEL {
            unroll::<P>(|c| sums[c] = square.read(c as u32 * PITCH + lane));
        }
        let order = diagonal_block::<T, V>(square, PITCH, self.of_square, 0, width, &mut sums);
        let before = self.column * TILE + first;
        // Whoever factored the squares before has said so before their panels became known.
        if order != 0 && lane == 0 && info.read(0) == 0 {
            info.write(0, before + order);
        }
        sync_warp(FULL);
        if lane < width {
            self.reciprocals.write(before + lane, self.of_square.read(lane));
            let mut target = self.line(first + lane, first);
            unroll::<P>(|c| {
                if c as u32 <= lane {
                    target.write(0, sums[c]);
                }
                target = target.offset(self.l.column);
            });
        }
    }

    /// Solves for a tile below the diagonal: a panel's rows, a thread each, when that of the tile on the diagonal is known.
    #[device]
    #[inline(always)]
    pub(super) fn solve<const V: usize>(&self, sums: &mut T::Part) {
        let thread = thread_idx_x();
        let known = place(self.column, self.column);
        let mut number = 0;
        while number * PANEL < TILE {
            number = rolled(number);
            let first = number * PANEL;
            let (own, other) = (panel(self.room, number % 2), panel(self.room, 2 + number % 2));
            if number > 0 {
                let (own, other) = (panel(self.room, 1 - number % 2), panel(self.room, 3 - number % 2));
                T::subtract_products(sums, own, other, (0, first));
            }
            T::put(sums, number, own);
            self.wait_for(known, number);
            let at = (self.column, self.column * TILE + first);
            copy_panel::<T, V>(&self.l, &self.shape, at, first, other);
            if thread < PANEL {
                let of = self.reciprocals.read(self.column * TILE + first + thread);
                self.of_square.write(thread, of);
            }
            commit();
            wait::<0>();
            sync_threads();
            if thread < TILE {
                let mut of_row = [T::ZERO; P];
                unroll::<P>(|c| of_row[c] = own.read(c as u32 * PITCH + thread));
                below::<T, V>(other.offset(first), PITCH, self.of_square, &mut of_row);
                self.write(thread, first, own, &of_row);
            }
            sync_threads();
            self.publish(number + 1);
            number += 1;
        }
    }

    /// Waits until more than `count` panels of a tile are known, for the warp.
    #[device]
    #[inline(always)]
    fn wait_for(&self, word: u32, count: u32) {
        if lane_id() == 0 {
            while self.progress.atomic(word).load(Ordering::Acquire, Scope::Device) <= count {
                keep_rolled();
            }
        }
        sync_warp(FULL);
    }
}
