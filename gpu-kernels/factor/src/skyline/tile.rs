//! A tile in the registers of a block's threads.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, WarpShuffleValue, sync_warp};
use gpu_std::{device, opaque, rolled, unroll};

use super::load::{STAGE_ROW_BYTES, start_of};
use super::{PITCH, Shape, TILE};
use crate::block::{PANEL, below, diagonal_block};
use crate::pivot::Root;

/// Rows, and columns, of a thread.
const EACH: usize = 4;
/// From one of a thread's rows, or columns, to the next: in the middle of a factorisation all threads still have some.
const APART: u32 = TILE / EACH as u32;
/// A thread has one column of every panel.
const _: () = assert!(APART == PANEL);

/// The first of a thread's rows and columns: a warp has four times eight of them.
struct Place {
    row: u32,
    column: u32,
}

impl Place {
    #[device]
    #[inline(always)]
    fn new() -> Self {
        // Opaque: it is cheap to compute again, and registers are few.
        let thread = opaque(thread_idx_x());
        let (warp, lane) = (thread / 32, thread % 32);
        Self { row: warp / 2 * 4 + lane / 8, column: warp % 2 * 8 + lane % 8 }
    }

    /// The thread's rows.
    #[inline(always)]
    fn rows(&self, i: usize) -> u32 {
        self.row + i as u32 * APART
    }

    /// The thread's columns.
    #[inline(always)]
    fn columns(&self, j: usize) -> u32 {
        self.column + j as u32 * APART
    }
}

/// A thread's elements of a tile.
pub(super) struct Tile<T: Float> {
    elements: [[T; EACH]; EACH],
}

impl<T: Float> Tile<T> {
    /// Calls `each` for the thread's elements that are there, of a row after the other: the element, and where it lies.
    #[device]
    #[inline(always)]
    fn visit(
        &mut self,
        tables: Global<u32>,
        shape: &Shape,
        (tile_row, tile_column): (u32, u32),
        mut each: impl FnMut(&mut T, u64),
    ) {
        let place = Place::new();
        let mut row = tile_row * TILE + place.row;
        let mut i = 0;
        while i < EACH as u32 {
            i = rolled(i);
            let start = start_of(tables, shape, row);
            unroll::<EACH>(|j| {
                let column = tile_column * TILE + place.columns(j);
                if column <= row && column >= start {
                    each(&mut self.elements[0][j], shape.index(row, column));
                }
            });
            // The first row goes to the end: so a loop has constant indices.
            let first = self.elements[0];
            unroll::<EACH>(|i| self.elements[i] = if i + 1 < EACH { self.elements[i + 1] } else { first });
            row += APART;
            i += 1;
        }
    }

    /// A's elements; zero where there are none.
    #[device]
    #[inline(always)]
    pub(super) fn load(a: GlobalMut<T>, tables: Global<u32>, shape: &Shape, row: u32, column: u32) -> Self {
        let mut tile = Self { elements: [[T::ZERO; EACH]; EACH] };
        tile.visit(tables, shape, (row, column), |element, at| *element = a.offset(at).read(0));
        tile
    }

    /// Writes what is the matrix's, and not above the diagonal.
    #[device]
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        a: GlobalMut<T>,
        tables: Global<u32>,
        shape: &Shape,
        row: u32,
        column: u32,
    ) {
        self.visit(tables, shape, (row, column), |element, at| a.offset(at).write(0, *element));
    }

    /// Subtracts the products of the stages' columns.
    #[device]
    #[inline(always)]
    pub(super) fn subtract<const V: usize>(&mut self, left: Shared<T>, upper: Shared<T>) {
        let place = Place::new();
        let pitch = STAGE_ROW_BYTES / size_of::<T>() as u32;
        let (left, upper) = (left.offset(place.row * pitch), upper.offset(place.column * pitch));
        // Eight vectors of 16 bytes are a stage's row.
        let mut at = 0;
        while at < 8 * V as u32 {
            at = rolled(at);
            unroll::<2>(|group| {
                let at = at + (group * V) as u32;
                let (mut of_left, mut of_upper) = ([[T::ZERO; V]; EACH], [[T::ZERO; V]; EACH]);
                unroll::<EACH>(|i| of_left[i] = left.read_vec(at + i as u32 * APART * pitch));
                unroll::<EACH>(|j| of_upper[j] = upper.read_vec(at + j as u32 * APART * pitch));
                unroll::<V>(|k| {
                    unroll::<EACH>(|i| {
                        unroll::<EACH>(|j| {
                            self.elements[i][j] =
                                (-of_left[i][k]).mul_add(of_upper[j][k], self.elements[i][j]);
                        });
                    });
                });
            });
            at += 2 * V as u32;
        }
    }

    /// Replaces a tile of the diagonal by its factor, of which there are `width` columns, and returns the order of the first
    /// minor that is not positive, or zero, to the first warp. `room` is for a panel of [`PANEL`] columns of the tile, `reciprocals` for theirs of the roots.
    ///
    /// A warp factors the panel's rows on the diagonal, in registers; then a thread has a row below each, and then all have their part of
    /// what is behind the panel.
    #[device]
    #[inline(always)]
    pub(super) fn factor<const V: usize>(
        &mut self,
        room: Shared<T>,
        reciprocals: Shared<T>,
        width: u32,
    ) -> u32
    where
        T: Root + WarpShuffleValue,
    {
        const P: usize = PANEL as usize;
        let place = Place::new();
        let thread = opaque(thread_idx_x());
        let mut failed = 0;
        let mut j = 0;
        while j < EACH as u32 {
            j = rolled(j);
            let first = j * PANEL;
            if first < width {
                let own = room.offset(place.column * TILE);
                unroll::<EACH>(|i| own.write(place.rows(i), self.elements[i][0]));
                sync_threads();
                let diagonal = room.offset(first);
                if thread < 32 {
                    let mut sums = [T::ZERO; P];
                    if thread < PANEL {
                        unroll::<P>(|c| sums[c] = diagonal.read(c as u32 * TILE + thread));
                    }
                    let columns = (width - first).min(PANEL);
                    let order = diagonal_block::<T, V>(diagonal, TILE, reciprocals, 0, columns, &mut sums);
                    if order != 0 && failed == 0 {
                        failed = first + order;
                    }
                    // The roots themselves, when all lanes have read what the last ones left there.
                    sync_warp(FULL);
                    let mut root = T::ZERO;
                    unroll::<P>(|c| root = if thread == c as u32 { sums[c] } else { root });
                    if thread < PANEL {
                        diagonal.write(thread * (TILE + 1), root);
                    }
                }
                sync_threads();
                let row = thread;
                if row < width && row >= first + PANEL {
                    let mut sums = [T::ZERO; P];
                    unroll::<P>(|c| sums[c] = room.read(c as u32 * TILE + row));
                    below::<T, V>(diagonal, TILE, reciprocals, &mut sums);
                    unroll::<P>(|c| room.write(c as u32 * TILE + row, sums[c]));
                }
                sync_threads();
                unroll::<EACH>(|i| self.elements[i][0] = own.read(place.rows(i)));
                let mut k = 0;
                while k < PANEL {
                    k = rolled(k);
                    let column = room.offset(k * TILE);
                    let mut left = [T::ZERO; EACH];
                    unroll::<EACH>(|i| left[i] = column.read(place.rows(i)));
                    unroll::<EACH>(|other| {
                        if other > 0 && other as u32 + j < EACH as u32 {
                            let factor = column.read(place.columns(other) + first);
                            unroll::<EACH>(|i| {
                                self.elements[i][other] = (-left[i]).mul_add(factor, self.elements[i][other]);
                            });
                        }
                    });
                    k += 1;
                }
                // The next panel takes this one's room.
                sync_threads();
            }
            self.next_column();
            j += 1;
        }
        failed
    }

    /// Solves `X · Lᵀ = B`, B being the tile, with the transposed factor and the inverses of its diagonal.
    #[device]
    #[inline(always)]
    pub(super) fn solve(&mut self, columns: Shared<T>, factor: Shared<T>, inverses: Shared<T>) {
        let place = Place::new();
        self.each_column(|tile, j, owner| {
            let at = j * APART + owner;
            let held = columns.offset(at % 2 * TILE);
            if place.column == owner {
                let inverse = inverses.read(at);
                unroll::<EACH>(|i| {
                    tile.elements[i][0] = (tile.elements[i][0] + T::ZERO) * inverse;
                    held.write(place.rows(i), tile.elements[i][0]);
                });
            }
            sync_threads();
            let mut solved = [T::ZERO; EACH];
            unroll::<EACH>(|i| solved[i] = held.read(place.rows(i)));
            tile.eliminate(&place, j, owner, solved, |column| factor.read(at * PITCH + column));
        });
    }

    /// Calls `each` for every column, from the first to the last: which of a thread's it is, and whose. It is the first of
    /// the thread's elements then, those behind it follow: a loop with constant indices, a fourth of the code of four.
    #[device]
    #[inline(always)]
    fn each_column(&mut self, mut each: impl FnMut(&mut Self, u32, u32)) {
        let mut j = 0;
        while j < EACH as u32 {
            j = rolled(j);
            let mut owner = 0;
            while owner < APART {
                owner = rolled(owner);
                each(self, j, owner);
                owner += 1;
            }
            self.next_column();
            j += 1;
        }
    }

    /// The first of a thread's columns becomes the last.
    #[inline(always)]
    fn next_column(&mut self) {
        unroll::<EACH>(|i| {
            let first = self.elements[i][0];
            unroll::<EACH>(|k| {
                self.elements[i][k] = if k + 1 < EACH { self.elements[i][k + 1] } else { first };
            });
        });
    }

    /// Subtracts the products of a column's elements, `scaled`, and of what `across` gives for the columns behind it.
    #[device]
    #[inline(always)]
    fn eliminate(&mut self, place: &Place, j: u32, owner: u32, scaled: [T; EACH], across: impl Fn(u32) -> T) {
        unroll::<EACH>(|other| {
            if other as u32 + j < EACH as u32 && (other > 0 || place.column > owner) {
                let factor = across(place.columns(other) + j * APART);
                unroll::<EACH>(|i| {
                    self.elements[i][other] = (-scaled[i]).mul_add(factor, self.elements[i][other]);
                });
            }
        });
    }
}
