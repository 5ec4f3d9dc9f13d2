//! How a block writes the results of its tile.

use gpu_std::float::Float;
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::warp::{FULL, lane_id, sync_warp};
use gpu_std::{device, opaque, rolled, unroll};

use super::operand::{Product, columns};
use super::place::block_place;
use super::tiled::{LANE_COLUMNS, LANE_ROWS, is_short, lane_place, thread_place, warp_place};
use crate::scalar::combine;

/// Elements of shared memory that [`store`] wants for so many threads of `columns` columns.
pub(super) const fn held_len(threads: u32, columns: usize, vector: usize) -> u32 {
    threads / 32 * LANE_ROWS * vector as u32 * row_pitch(LANE_COLUMNS as usize * columns)
}

/// Writes a thread's results, by way of `held` ([`held_len`]) where C's rows are not aligned; with `WHOLE`, those of a
/// whole tile without loops, which pays where a thread has many. The sums are used up.
#[device]
#[inline(always)]
pub(super) fn store<
    T: Float,
    const BM: u32,
    const BN: u32,
    const TM: usize,
    const TN: usize,
    const V: usize,
    const WHOLE: bool,
>(
    sums: &mut [[T; TN]; TM],
    held: Shared<T>,
    c: GlobalMut<T>,
    product: &Product,
    (alpha, beta): (T, T),
) {
    // Places are computed again: to keep them would take registers from the loop.
    let place = block_place::<BM, BN>(product);
    let c = place.product(c, product);
    if product.c_vectors == 0 {
        let pitch = const { row_pitch(LANE_COLUMNS as usize * TN) };
        let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
        let (lane_row, lane_column) = lane_place::<V>();
        let rows = const { LANE_ROWS * V as u32 };
        // Behind the barrier nobody reads the stages any longer.
        sync_threads();
        let held = held.offset(opaque(thread_idx_x()) / 32 * (rows * pitch));
        let mut row = place.row + warp_row;
        let mut part = 0;
        while part < const { (TM / V) as u32 } {
            part = rolled(part);
            unroll::<V>(|i| {
                unroll::<8>(|vector| {
                    if vector * V < TN {
                        let at =
                            (lane_row + i as u32) * pitch + lane_column + (vector * V) as u32 * LANE_COLUMNS;
                        held.write_vec::<V>(at, core::array::from_fn(|j| sums[i][vector * V + j]));
                    }
                });
            });
            write_rows::<T, { LANE_COLUMNS as usize }, TN>(
                held,
                rows,
                c,
                product,
                (row, place.column + warp_column),
                alpha,
                beta,
            );
            unroll::<TM>(|i| {
                if i + V < TM {
                    sums[i] = sums[i + V];
                }
            });
            row += rows;
            part += 1;
        }
        return;
    }
    let (row, column) = thread_place::<BN, TM, TN, V>();
    let (row, column) = (place.row + row, place.column + column);
    if const { is_short::<T, TM, TN>(64) } {
        unroll::<TM>(|i| {
            let row = row + (i / V) as u32 * (LANE_ROWS * V as u32) + (i % V) as u32;
            if row < product.m {
                let c = c.offset(row as u64 * product.c_leading + column as u64);
                let range = columns(product.triangle, row, product.n);
                unroll::<8>(|vector| {
                    if vector * V < TN {
                        let distance = vector as u32 * LANE_COLUMNS * V as u32;
                        let sums = core::array::from_fn(|j| sums[i][vector * V + j]);
                        write::<T, V>(
                            c.offset(distance as u64),
                            sums,
                            beyond(range, column + distance),
                            alpha,
                            beta,
                        );
                    }
                });
            }
        });
        return;
    }
    if WHOLE && product.is_whole(&place, [BM, BN], beta) {
        unroll::<TM>(|i| {
            let row = row + (i / V) as u32 * (LANE_ROWS * V as u32) + (i % V) as u32;
            let line = c.offset(row as u64 * product.c_leading + column as u64);
            unroll::<8>(|vector| {
                if vector * V < TN {
                    let sums = core::array::from_fn(|j| {
                        combine(alpha, sums[i][vector * V + j], T::ZERO, || T::ZERO)
                    });
                    line.write_vec::<V>(vector as u32 * LANE_COLUMNS * V as u32, sums);
                }
            });
        });
        return;
    }
    // A loop over rows and one over vectors, that shift the sums forwards: unrolled they were longer than all the rest.
    let mut i = 0;
    while i < TM as u32 {
        i = rolled(i);
        let row = row + i / V as u32 * (LANE_ROWS * V as u32) + i % V as u32;
        let mut c = c.offset(row as u64 * product.c_leading + column as u64);
        let range = columns(product.triangle, row, product.n);
        let mut range = if row < product.m { beyond(range, column) } else { (0, 0) };
        let mut vector = 0;
        while vector < (TN / V) as u32 {
            vector = rolled(vector);
            write::<T, V>(c, core::array::from_fn(|j| sums[0][j]), range, alpha, beta);
            c = c.offset((LANE_COLUMNS * V as u32) as u64);
            range = beyond(range, LANE_COLUMNS * V as u32);
            unroll::<TN>(|j| {
                if j + V < TN {
                    sums[0][j] = sums[0][j + V];
                }
            });
            vector += 1;
        }
        unroll::<TM>(|i| {
            if i + 1 < TM {
                sums[i] = sums[i + 1];
            }
        });
        i += 1;
    }
}

/// What of a range is beyond a place, counted from there.
#[device]
#[inline(always)]
pub(super) fn beyond((first, end): (u32, u32), place: u32) -> (u32, u32) {
    (first.saturating_sub(place), end.saturating_sub(place))
}

/// Writes the results that belong to `sums`, those from the first one of C to the one behind its last, where its rows
/// are aligned to 16 bytes.
#[device]
#[inline(always)]
pub(super) fn write<T: Float, const V: usize>(
    c: GlobalMut<T>,
    sums: [T; V],
    (first, end): (u32, u32),
    alpha: T,
    beta: T,
) {
    // Mutants: element by element it is the same.
    if first == 0 && end >= V as u32 {
        let mut old = [T::ZERO; V];
        if beta != T::ZERO {
            old = c.read_vec::<V>(0);
        }
        c.write_vec::<V>(0, core::array::from_fn(|j| combine(alpha, sums[j], beta, || old[j])));
    } else {
        let mut sums = sums;
        let mut at = 0;
        while at < end.min(V as u32) {
            at = rolled(at);
            if at >= first {
                c.write(at, combine(alpha, sums[0], beta, || c.read(at)));
            }
            // The first one goes to the end: were there nothing new, the compiler would unroll the loop.
            let front = sums[0];
            unroll::<V>(|j| sums[j] = if j + 1 < V { sums[j + 1] } else { front });
            at += 1;
        }
    }
}

/// Elements from one row to the next of what [`write_rows`] writes: what eight lanes write there together falls into
/// different banks.
pub(super) const fn row_pitch(columns: usize) -> u32 {
    columns as u32 + 4
}

/// Writes `rows` rows of `A` times `B` results, a multiple of 32, that the lanes of a warp have just put into `held`,
/// each [`row_pitch`] from the last; those that are C's, from `row` and `column` on. Where C's rows are not aligned to
/// 16 bytes, a lane would write a vector element by element, and a warp a fourth of each sector at a time; so
/// neighbouring lanes write neighbours.
#[device]
#[inline(always)]
pub(super) fn write_rows<T: Float, const A: usize, const B: usize>(
    held: Shared<T>,
    rows: u32,
    c: GlobalMut<T>,
    product: &Product,
    (row, column): (u32, u32),
    alpha: T,
    beta: T,
) {
    // Mutants: no tile has as many columns, and one of more would not compile.
    const { assert!((A * B).is_multiple_of(32) && A * B <= 128) };
    sync_warp(FULL);
    let lane = lane_id();
    let rows = rows.min(product.m.saturating_sub(row));
    let mut c = c.offset(row as u64 * product.c_leading + (column + lane) as u64);
    let mut from = lane;
    let mut at = 0;
    while at < rows {
        at = rolled(at);
        let mut old = [T::ZERO; 4];
        let (first, end) = beyond(columns(product.triangle, row + at, product.n), column + lane);
        let inside = |j: usize| 32 * (j as u32) < end && 32 * j as u32 >= first;
        unroll::<4>(|j| {
            // Mutants: of one more the old value is read in vain.
            if j < A * B / 32 && beta != T::ZERO && inside(j) {
                old[j] = c.read(32 * j as u32);
            }
        });
        unroll::<4>(|j| {
            if j < A * B / 32 && inside(j) {
                c.write(32 * j as u32, combine(alpha, held.read(from + 32 * j as u32), beta, || old[j]));
            }
        });
        c = c.offset(product.c_leading);
        from += row_pitch(A * B);
        at += 1;
    }
    // The next ones may be put there.
    sync_warp(FULL);
}
