//! The products of the columns before a tile's, and the registers that hold a tile.

use gpu_std::async_copy::{commit, copy_or_zero, wait};
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::mma::m16n8k4_f64;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, lane_id, warp_shuffle_idx, warp_vote_ballot};
use gpu_std::{device, opaque, rolled, unroll};

use super::matrix::{Matrix, Rows};
use super::{PANEL, PANELS, PITCH, STAGES, THREADS, TILE, panel, place};

/// A type of which warps hold a tile.
pub(super) trait Sums: Float {
    /// A thread's part of a tile.
    type Part;
    /// Whether off the diagonal, too, the next panel's products are taken off before a panel is told of: it needs no loop,
    /// whose registers `f64` lacks. In `f32` the tiles behind would wait for it.
    const AT_ONCE: bool;

    /// Zeros.
    fn zeros() -> Self::Part;

    /// Adds the products of two panels, of the tile's rows and of its columns.
    fn add_products(part: &mut Self::Part, a: Shared<Self>, b: Shared<Self>);

    /// Subtracts them, at least from the elements of rows and of columns from the given ones on.
    fn subtract_products(part: &mut Self::Part, a: Shared<Self>, b: Shared<Self>, from: (u32, u32));

    /// Replaces what the thread has of the columns of panel `number` by what A has there, `a`, less that.
    fn subtract_from(part: &mut Self::Part, number: u32, a: Shared<Self>);

    /// Writes what the thread has of the columns of panel `number`.
    fn put(part: &Self::Part, number: u32, to: Shared<Self>);
}

/// The warp's number, and the lane's. Opaque: it is cheap, and needs no registers meanwhile.
#[inline(always)]
fn warp_and_lane() -> (u32, u32) {
    let thread = opaque(thread_idx_x());
    (thread / 32, thread % 32)
}

/// 8 × 8 elements in vectors of four, of 32 × 64 of a warp: as in `gpu_linalg_kernels::gemm`.
impl Sums for f32 {
    type Part = [[f32; 8]; 8];
    const AT_ONCE: bool = false;

    #[inline(always)]
    fn zeros() -> Self::Part {
        [[0.0; 8]; 8]
    }

    #[inline(always)]
    fn add_products(part: &mut Self::Part, a: Shared<f32>, b: Shared<f32>) {
        let (row, column) = of_f32();
        let (a, b) = (a.offset(row), b.offset(column));
        let (mut now_a, mut now_b) = (read_f32(a, 0, 16), read_f32(b, 0, 32));
        let mut first = 0;
        // In halves: twice as many instructions would be no faster.
        while first < PANEL {
            first = rolled(first);
            let (a, b) = (a.offset(place::<f32>(first)), b.offset(place::<f32>(first)));
            let behind = if first + 8 < PANEL { place::<f32>(8) } else { place::<f32>(7) };
            unroll::<8>(|k| {
                // What comes next is read meanwhile; after the last the last once more.
                let next = if k < 7 { place::<f32>(k as u32 + 1) } else { behind };
                let (next_a, next_b) = (read_f32(a, next, 16), read_f32(b, next, 32));
                unroll::<8>(|i| unroll::<8>(|j| part[i][j] = now_a[i].mul_add(now_b[j], part[i][j])));
                (now_a, now_b) = (next_a, next_b);
            });
            first += 8;
        }
    }

    #[inline(always)]
    fn subtract_products(part: &mut Self::Part, a: Shared<f32>, b: Shared<f32>, from: (u32, u32)) {
        let (row, column) = of_f32();
        // Mutants: what is before those elements is of no account: whether it is left out is a matter of speed.
        if row / 32 * 32 + 32 <= from.0 || column / 64 * 64 + 64 <= from.1 {
            return;
        }
        let (a, b) = (a.offset(row), b.offset(column));
        let mut k = 0;
        while k < PANEL {
            k = rolled(k);
            let (of_a, of_b) = (read_f32(a, place::<f32>(k), 16), read_f32(b, place::<f32>(k), 32));
            unroll::<8>(|i| unroll::<8>(|j| part[i][j] = (-of_a[i]).mul_add(of_b[j], part[i][j])));
            k += 1;
        }
    }

    #[inline(always)]
    fn subtract_from(part: &mut Self::Part, number: u32, a: Shared<f32>) {
        let (row, column) = of_f32();
        unroll::<2>(|half| {
            let column = column + half as u32 * 32;
            if column / PANEL == number {
                unroll::<4>(|j| {
                    let line = a.offset(place::<f32>(column % PANEL) + j as u32 * PITCH + row);
                    unroll::<2>(|i| {
                        let values: [f32; 4] = line.read_vec(i as u32 * 16);
                        unroll::<4>(|v| less(values[v], &mut part[i * 4 + v][half * 4 + j]));
                    });
                });
            }
        });
    }

    #[inline(always)]
    fn put(part: &Self::Part, number: u32, to: Shared<f32>) {
        let (row, column) = of_f32();
        unroll::<2>(|half| {
            let column = column + half as u32 * 32;
            if column / PANEL == number {
                unroll::<4>(|j| {
                    let line = to.offset(place::<f32>(column % PANEL) + j as u32 * PITCH + row);
                    unroll::<2>(|i| {
                        let values: [f32; 4] = core::array::from_fn(|v| part[i * 4 + v][half * 4 + j]);
                        line.write_vec(i as u32 * 16, values);
                    });
                });
            }
        });
    }
}

/// Replaces a sum of products by an element less it: the sum as a product has it, never -0.
#[inline(always)]
fn less<T: Float>(element: T, sum: &mut T) {
    *sum = element + -(*sum + T::ZERO);
}

/// Two vectors of four, `distance` elements apart.
#[inline(always)]
fn read_f32(tile: Shared<f32>, at: u32, distance: u32) -> [f32; 8] {
    let (first, second): ([f32; 4], [f32; 4]) = (tile.read_vec(at), tile.read_vec(at + distance));
    core::array::from_fn(|j| if j < 4 { first[j] } else { second[j - 4] })
}

/// The row and the column of a thread's first element: two rows of lanes and four columns in turn.
#[inline(always)]
fn of_f32() -> (u32, u32) {
    let (warp, lane) = warp_and_lane();
    (warp / 2 * 32 + ((lane >> 4 << 1) | (lane & 1)) * 4, warp % 2 * 64 + (lane >> 1 & 7) * 4)
}

/// Products of 16 × 4 and 4 × 8 on the tensor cores, 64 × 32 elements a warp: as in `gpu_linalg_kernels::gemm`.
impl Sums for f64 {
    type Part = [[[[f64; 4]; 2]; 2]; 4];
    const AT_ONCE: bool = true;

    #[inline(always)]
    fn zeros() -> Self::Part {
        [[[[0.0; 4]; 2]; 2]; 4]
    }

    #[inline(always)]
    fn add_products(part: &mut Self::Part, a: Shared<f64>, b: Shared<f64>) {
        let (a, b) = operands(a, b);
        let (mut now_a, mut now_b) = (read_f64(a, 0), read_f64(b, 0));
        let mut first = 0;
        while first < PANEL {
            first = rolled(first);
            let (a, b) = (a.offset(place::<f64>(first)), b.offset(place::<f64>(first)));
            let behind = if first + 8 < PANEL { 8 } else { 4 };
            unroll::<2>(|group| {
                // What comes next is read meanwhile; after the last the last once more.
                let next = if group < 1 { 4 } else { behind };
                let (next_a, next_b) = (read_f64(a, next), read_f64(b, next));
                multiply(part, &now_a, &now_b);
                (now_a, now_b) = (next_a, next_b);
            });
            first += 8;
        }
    }

    #[inline(always)]
    fn subtract_products(part: &mut Self::Part, a: Shared<f64>, b: Shared<f64>, from: (u32, u32)) {
        let (warp, _) = warp_and_lane();
        // Mutants: what is before those elements is of no account: whether it is left out is a matter of speed.
        if warp / 4 * 64 + 64 <= from.0 || warp % 4 * 32 + 32 <= from.1 {
            return;
        }
        let (a, b) = operands(a, b);
        let mut k = 0;
        while k < PANEL {
            k = rolled(k);
            let of_a: [[f64; 2]; 4] = read_f64(a, k);
            multiply(part, &of_a.map(|pair| pair.map(|value| -value)), &read_f64(b, k));
            k += 4;
        }
    }

    #[inline(always)]
    fn subtract_from(part: &mut Self::Part, number: u32, a: Shared<f64>) {
        let (row, column) = of_f64();
        unroll::<2>(|j| {
            let column = column + j as u32 * 16;
            if column / PANEL == number {
                unroll::<4>(|c| {
                    let line = a.offset(place::<f64>(column % PANEL) + c as u32 * PITCH + row);
                    unroll::<4>(|i| {
                        let [one, two]: [f64; 2] = line.read_vec(i as u32 * 16);
                        let of = &mut part[i][j][c % 2];
                        less(one, &mut of[c / 2]);
                        less(two, &mut of[c / 2 + 2]);
                    });
                });
            }
        });
    }

    #[inline(always)]
    fn put(part: &Self::Part, number: u32, to: Shared<f64>) {
        let (row, column) = of_f64();
        unroll::<2>(|j| {
            let column = column + j as u32 * 16;
            if column / PANEL == number {
                unroll::<4>(|c| {
                    let line = to.offset(place::<f64>(column % PANEL) + c as u32 * PITCH + row);
                    unroll::<4>(|i| {
                        let of = &part[i][j][c % 2];
                        line.write_vec(i as u32 * 16, [of[c / 2], of[c / 2 + 2]]);
                    });
                });
            }
        });
    }
}

/// Where the lane's elements of a panel of rows and of one of columns begin.
#[inline(always)]
fn operands(a: Shared<f64>, b: Shared<f64>) -> (Shared<f64>, Shared<f64>) {
    let (warp, lane) = warp_and_lane();
    let place = lane % 4 * PITCH + lane / 4 * 2;
    (a.offset(place + warp / 4 * 64), b.offset(place + warp % 4 * 32))
}

/// The lane's pairs of four `k`.
#[inline(always)]
fn read_f64<const N: usize>(from: Shared<f64>, k: u32) -> [[f64; 2]; N] {
    core::array::from_fn(|at| from.read_vec(place::<f64>(k) + at as u32 * 16))
}

/// Adds the products of four `k`.
#[inline(always)]
fn multiply(part: &mut [[[[f64; 4]; 2]; 2]; 4], a: &[[f64; 2]; 4], b: &[[f64; 2]; 2]) {
    unroll::<2>(|j| {
        unroll::<2>(|side| {
            unroll::<4>(|i| part[i][j][side] = m16n8k4_f64(a[i], [b[j][side]], part[i][j][side]));
        });
    });
}

/// The row and the column of a thread's first element.
#[inline(always)]
fn of_f64() -> (u32, u32) {
    let (warp, lane) = warp_and_lane();
    (warp / 4 * 64 + lane / 4 * 2, warp % 4 * 32 + lane % 4 * 4)
}

/// Starts to copy the panel that starts at column `first`, of the rows of a row of tiles, which is `tile_row` and
/// at `start`. What is not there becomes
/// zero. Of a tile on the diagonal (`DIAGONAL`; of any other without it) what is above the diagonal may, and is not
/// read beyond the 16 bytes that the diagonal is in.
#[device]
#[inline(always)]
pub(super) fn copy_panel<T: Float, const V: usize, const SKYLINE: bool, const DIAGONAL: bool>(
    matrix: &Matrix<T, SKYLINE>,
    (start, tile_row, first): (u64, u32, u32),
    to: Shared<T>,
) {
    let thread = opaque(thread_idx_x());
    let Matrix { l, shape, .. } = matrix;
    let rows = (shape.size - tile_row * TILE).min(TILE);
    // The rows from the diagonal on: of the panel's column k those from `diagonal + k` on, all rows of other tiles.
    let diagonal = first.wrapping_sub(tile_row * TILE);
    // Mutants: no panel that is copied starts where the tile on the diagonal ends.
    let is_below = |row: u32, k: u32| !DIAGONAL || diagonal >= TILE || row >= diagonal + k;
    let is_whole = matrix.is_whole(tile_row, first);
    if shape.vectors != 0 && is_whole {
        let across = const { TILE / V as u32 };
        let (row, mut k) = (thread % across * V as u32, thread / across);
        let (mut from, mut to) = (matrix.at(start, row, first + k), to.offset(place::<T>(k) + row));
        unroll::<4>(|item| {
            if item < const { (PANEL * TILE / THREADS) as usize / V } {
                let is_there = row < rows && is_below(row + (V as u32 - 1), k);
                copy_or_zero::<T, V>(to, 0, from.as_global(), 0, if is_there { V as u32 } else { 0 });
                k += const { THREADS / (TILE / V as u32) };
                from = from.offset(const { (THREADS / (TILE / V as u32)) as u64 } * l.column);
                to = to.offset(const { place::<T>(THREADS / (TILE / V as u32)) });
            }
        });
        return;
    }
    // Neighbours in memory are neighbouring lanes': rows, or those columns that are a sector, of four rows. An item is
    // the next column then, or 16 rows further.
    const STEP_ROWS: u32 = THREADS / PANEL;
    let (mut row, mut k, row_step, k_step) = if l.row == 1 {
        (thread % TILE, thread / TILE * (PANEL / 2), 0, 1)
    } else {
        let sector = const { 2 * V as u32 };
        let (low, high) = (thread % (4 * sector), thread / (4 * sector));
        let deep = const { PANEL / (2 * V as u32) };
        (high / deep * 4 + low / sector, high % deep * sector + low % sector, STEP_ROWS, 0)
    };
    let mut from = matrix.at(start, row, first + k);
    let step = row_step as u64 * l.row + k_step as u64 * l.column;
    if is_whole {
        // The first row that is below the diagonal in column k, and what is between columns that the gap is between.
        let (mut begin, begin_step) =
            // Mutants: as above.
            if DIAGONAL && diagonal < TILE { (diagonal + k, k_step) } else { (0, 0) };
        let (mut to, to_step, gap) = (
            to.offset(place::<T>(k) + row),
            row_step + k_step * PITCH,
            k_step * const { place::<T>(4) - 4 * PITCH },
        );
        unroll::<8>(|item| {
            let is_there = row < rows && (!DIAGONAL || row >= begin);
            copy_or_zero::<T, 1>(to, 0, from.as_global(), 0, is_there as u32);
            (row, begin, from) = (row + row_step, begin + begin_step, from.offset(step));
            to = to.offset(to_step + if item % 4 == 3 { gap } else { 0 });
        });
        return;
    }
    let mut item = 0;
    while item < PANEL * TILE / THREADS {
        item = rolled(item);
        // Mutants: a row that is not there begins behind all columns.
        let is_there = row < rows && is_below(row, k) && matrix.start(tile_row * TILE + row) <= first + k;
        copy_or_zero::<T, 1>(to, place::<T>(k) + row, from.as_global(), 0, is_there as u32);
        (row, k, from) = (row + row_step, k + k_step, from.offset(step));
        item += 1;
    }
}

/// The items that [`copy_panel`] knows of.
const _: () = assert!(PANEL * TILE / THREADS == 8 && PANEL / 2 == 8);

/// Tiles of a row that a look asks for: a lane of half a warp each.
const ASKED: u32 = 16;

/// One look at how many panels of two rows of tiles, which are at `row` and `column` of `progress`, are known from
/// their first one on, at most `end`; of the first `known` that was seen before. Half a warp asks for a row's tiles,
/// [`ASKED`] at a time.
#[device]
#[inline(always)]
fn look(progress: GlobalMut<u32>, (row, column): (u32, u32), known: u32, end: u32) -> u32 {
    let lane = lane_id();
    let first = known / PANELS;
    // Mutants: the tile behind the last has a word, too, and what it says does not count beyond `end`.
    let asked = (first + lane % 16).min(end / PANELS - 1);
    let at = asked + if lane < 16 { row } else { column };
    let count = progress.atomic(at).load(Ordering::Acquire, Scope::Device);
    // Mutants: a tile that is not taken for whole has all of its panels begun: it takes one look more.
    let votes = warp_vote_ballot(FULL, count >= PANELS);
    // Bit k: both rows have all of their tile of column first + k. The ones from the lowest bit on, without a gap.
    let whole = (!(votes & votes >> 16 & 0xffff)).trailing_zeros();
    let of = |lane: u32| warp_shuffle_idx(FULL, count, lane, 32).0;
    let begun = of(whole.min(15)).min(of(whole.min(15) + 16));
    ((first + whole) * PANELS + behind(whole, begun)).min(end)
}

/// What is known of the tile behind the `whole` ones, where it was asked for; else `begun` is of the last of them.
#[inline(always)]
const fn behind(whole: u32, begun: u32) -> u32 {
    if whole < ASKED { begun } else { 0 }
}

/// Adds to the thread's part of the sums the products of the columns before the tile's. Two of shared memory's `words`
/// tell what is known.
#[device]
#[inline(always)]
pub(super) fn products<T: Sums, const V: usize, const SKYLINE: bool>(
    sums: &mut T::Part,
    matrix: &Matrix<T, SKYLINE>,
    progress: GlobalMut<u32>,
    (row, column): (u32, u32),
    stages: Shared<T>,
    words: Shared<u32>,
) {
    let end = column * PANELS;
    // Panels: multiplied, copied, known; and the word by which the last is told, by turns, since some may not have
    // read the one before.
    let mut at = matrix.first(row).max(matrix.first(column)) / PANEL;
    let (mut copied, mut known, mut turn) = (at, at, 0);
    // `at` grows only where a panel was copied: a turn at the end would repeat without end.
    while at < end {
        at = rolled(at);
        let told = words.offset(turn);
        match copied - at {
            3 => wait::<2>(),
            2 => wait::<1>(),
            _ => wait::<0>(),
        }
        if thread_idx_x() < 32 {
            // Mutants: a look more changes no sum.
            if known < end && known < at + 2 * STAGES {
                // Asked for at every look: these words would need registers meanwhile.
                let places = (matrix.word(opaque(row), 0), matrix.word(opaque(column), 0));
                known = look(progress, places, known, end);
            }
            if lane_id() == 0 {
                told.write(0, known);
            }
        }
        let starts = [matrix.start_of(Rows::Own), matrix.start_of(Rows::Column)];
        // What was copied has arrived, and nobody reads the stage before any longer.
        sync_threads();
        known = told.read(0);
        turn ^= 1;
        let is_there = at < copied;
        while copied < known.min(at + STAGES) {
            copied = rolled(copied);
            let stage = panel(stages, copied % STAGES * 2);
            let first = copied * PANEL;
            copy_panel::<T, V, SKYLINE, false>(matrix, (starts[0], row, first), stage);
            if row != column {
                copy_panel::<T, V, SKYLINE, false>(matrix, (starts[1], column, first), panel(stage, 1));
            }
            commit();
            copied += 1;
        }
        if is_there {
            let a = panel(stages, at % STAGES * 2);
            let b = if row == column { a } else { panel(a, 1) };
            T::add_products(sums, a, b);
            at += 1;
        }
    }
}

/// The stages that [`products`] knows to wait for.
const _: () = assert!(STAGES == 3);

#[cfg(test)]
mod tests {
    use super::*;

    /// Of as many whole tiles as are asked for, the one behind was not: no other's panels count for it.
    #[test]
    fn behind_the_last_that_was_asked_for_nothing_is_known() {
        assert_eq!([0, 3, ASKED - 1].map(|whole| behind(whole, 5)), [5; 3]);
        assert_eq!(behind(ASKED, PANELS), 0);
    }
}
