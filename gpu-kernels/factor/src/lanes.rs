//! Small matrices: a lane for each row, which it holds in registers.
//!
//! # Order of operations
//! Of every element one chain of fused multiply-adds in ascending order of columns, from the element: `a - l₀ m₀ - l₁
//! m₁ …`. The pivot then becomes its root, what is below is multiplied by the [reciprocal](crate::Root).

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::warp::{FULL, WarpReductionOp, WarpShuffleValue, sync_warp, warp_reduce, warp_shuffle_idx};
use gpu_std::{device, rolled, unroll};

use crate::batch::Batch;
use crate::pivot::{Root, reciprocal, root};

/// Threads of a block.
pub const LANES_THREADS: u32 = 128;
/// Columns that the code is written out for.
const HALF: usize = 16;
/// The most rows.
pub const LANES_MOST: u32 = 32;

/// Bytes of dynamic shared memory of a block: two columns of each matrix.
pub const fn lanes_shared_bytes<T: Float>() -> u32 {
    SharedLayout::new().array::<T>(2 * LANES_THREADS).bytes()
}

/// Factors matrices of at most `N` rows. Launch a block of [`LANES_THREADS`] threads for every `LANES_THREADS / N` of
/// them, with [`lanes_shared_bytes`].
#[device]
#[inline(always)]
pub(crate) fn lanes<T: Root + WarpShuffleValue, const N: usize, const V: usize>(
    from: Global<T>,
    to: GlobalMut<T>,
    info: GlobalMut<u32>,
    table: Global<u64>,
    batch: &Batch,
) {
    let (part, lane) = (thread_idx_x() / N as u32, thread_idx_x() % N as u32);
    let place = batch.place(table, block_idx_x() * (LANES_THREADS / N as u32) + part);
    let exists = lane < place.size;

    // Rows that are not there are those of the identity.
    let row = from.offset(place.first + if exists { lane as u64 * place.row } else { 0 });
    let mut a = [T::ZERO; N];
    unroll::<N>(|k| {
        if exists && k as u32 <= lane {
            a[k] = row.offset(k as u64 * place.column).read(0);
        } else if k as u32 == lane {
            a[k] = T::ONE;
        }
    });

    // The lanes of a warp stay together, those of smaller matrices too.
    let steps = if N == 32 { place.size } else { warp_reduce(FULL, place.size, WarpReductionOp::Max) };
    let columns = shared::dynamic().array::<T>(2 * LANES_THREADS).offset(2 * N as u32 * part);
    let mut failed = 0;
    // The lane's own pivot: its root, for which nobody waits, is found at the end.
    let mut square = T::ONE;
    // 16 columns, and then once more the same code: that of 32 would take the driver twice as long to compile.
    let mut first = 0;
    while first < const { N as u32 } {
        first = rolled(first);
        unroll::<N>(|j| {
            let at = first + j as u32;
            if j < HALF && at < steps {
                let pivot = warp_shuffle_idx(FULL, a[j], at, N as u32).0;
                if !pivot.is_positive() && failed == 0 {
                    failed = at + 1;
                }
                let reciprocal = reciprocal(pivot);
                if lane == at {
                    square = a[j];
                }
                let l = a[j] * reciprocal;
                a[j] = l;
                // Two columns by turns: who writes one again has seen everybody past the sync after its reads.
                let column = columns.offset((j % 2 * N) as u32);
                column.write(lane, l);
                sync_warp(FULL);
                let column = column.offset(first);
                let mut update = |group: usize| {
                    let factors = column.read_vec::<V>((group * V) as u32);
                    unroll::<V>(|v| {
                        let k = group * V + v;
                        if k > j {
                            a[k] = (-l).mul_add(factors[v], a[k]);
                        }
                    });
                };
                unroll::<N>(|group| {
                    // Mutants: of each column of a group it is asked above whether it comes later.
                    if group < N.min(HALF) / V && (group + 1) * V > j + 1 {
                        update(group);
                    }
                });
                // Mutants: of a half there are no groups behind it.
                if N > HALF && first == 0 {
                    unroll::<N>(|group| {
                        if group >= HALF / V && group < N / V {
                            update(group);
                        }
                    });
                }
            }
        });
        // Mutants: to turn a half by a half changes nothing.
        if N > HALF {
            a = core::array::from_fn(|k| a[(k + HALF) % N]);
        }
        first += HALF as u32;
    }

    if exists {
        let root = root(square);
        let row = to.offset(place.to_first + lane as u64 * place.to_row);
        unroll::<N>(|k| {
            if k as u32 <= lane {
                row.offset(k as u64 * place.to_column).write(0, if k as u32 == lane { root } else { a[k] });
            }
        });
        if lane == 0 {
            info.write(place.number, failed);
        }
    }
}
