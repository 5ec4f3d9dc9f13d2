//! Products of small matrices, which wait for memory once: whole sums of a tile of 32 × 32, without stages.
//!
//! A block reads the factors of [`depth`] products of all its rows and columns at once, and only what is there; then its
//! threads add from shared memory, where `k` is the contiguous axis, so that a thread reads vectors along its sums. What
//! a wide tile gains by stages is lost where there are two or three: they are filled element by element, most with
//! zeros, and each waits for its own.

use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, rolled, unroll};

use super::operand::{Operand, Product, columns};
use super::place::block_place;
use crate::scalar::combine;

/// Threads of a block.
pub const THREADS: u32 = 256;
/// Rows and columns of its tile of C.
pub const TILE: u32 = 32;
/// Products that are read at once, of elements of `bytes` bytes: what fits into a block's shared memory anywhere.
pub const fn depth(bytes: u32) -> u32 {
    if bytes == 4 { 128 } else { 96 }
}

/// Loads of a thread for either factor.
pub(super) const fn loads(bytes: usize) -> usize {
    (TILE * depth(bytes as u32) / THREADS) as usize
}

/// Rows, or columns, from one of a thread to the next: a thread has two of either.
const APART: u32 = 16;
const WARPS: u32 = THREADS / 32;

/// Elements from one row of a factor to the next in shared memory: vectors of neighbours fall into different banks.
const fn pitch(vector: usize) -> u32 {
    depth(16 / vector as u32) + vector as u32
}

/// Bytes of dynamic shared memory of a block.
pub const fn shared_bytes(bytes: u32) -> u32 {
    SharedLayout::new().array::<u8>(2 * TILE * pitch(16 / bytes as usize) * bytes).bytes()
}

/// Reads what a thread copies of a factor's `rows` rows from `from` on and `depth` products: whole sectors by a warp,
/// four rows of a warp's, or vectors of `V` products of a lane's row.
#[device]
#[inline(always)]
fn read<T: Float, const V: usize, const LOADS: usize>(
    from: Global<T>,
    operand: &Operand,
    rows: u32,
    depth: u32,
) -> [T; LOADS] {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    let mut held = [T::ZERO; LOADS];
    // From one place to the next: all their addresses at once would need as many registers as the elements.
    if operand.along_k != 0 {
        let mut from = from.offset(warp as u64 * operand.leading + lane as u64);
        unroll::<4>(|i| {
            if warp + i as u32 * WARPS < rows {
                unroll::<4>(|j| {
                    let is_there = lane + j as u32 * 32 < depth;
                    // Mutants: one load more begins at the most that `depth` can be.
                    if j < LOADS / 4 && is_there {
                        held[j * 4 + i] = from.read_only(j as u32 * 32);
                    }
                });
            }
            from = from.offset(WARPS as u64 * operand.leading);
        });
    } else if lane < rows {
        let mut from = from.offset((warp * V as u32) as u64 * operand.leading + lane as u64);
        unroll::<LOADS>(|at| {
            let k = (warp + (at / V) as u32 * WARPS) * V as u32 + (at % V) as u32;
            if k < depth {
                held[at] = from.read_only(0);
            }
            let next = if (at + 1) % V == 0 { (WARPS - 1) * V as u32 + 1 } else { 1 };
            from = from.offset(next as u64 * operand.leading);
        });
    }
    held
}

/// Puts that into shared memory, a row after the other; zeros where nothing is, as far as vectors are read.
#[device]
#[inline(always)]
fn put<T: Float, const V: usize, const LOADS: usize>(
    held: [T; LOADS],
    operand: &Operand,
    depth: u32,
    to: Shared<T>,
) {
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    if operand.along_k != 0 {
        unroll::<LOADS>(|at| {
            let (row, k) = (warp + (at % 4) as u32 * WARPS, lane + (at / 4) as u32 * 32);
            // Mutants: one more is written where there is room, and nobody reads it.
            if (at / 4) as u32 * 32 < depth {
                to.write(row * pitch(V) + k, held[at]);
            }
        });
    } else {
        unroll::<LOADS>(|vector| {
            let k = (warp + vector as u32 * WARPS) * V as u32;
            // Mutants: what is one more is behind the depth; there is room, and nobody reads it.
            if vector < LOADS / V && k < depth {
                let values: [T; V] = core::array::from_fn(|v| held[(vector * V + v) % LOADS]);
                to.write_vec(lane * pitch(V) + k, values);
            }
        });
    }
}

/// Adds the products of a thread's `R` × `R` elements, in ascending order.
#[device]
#[inline(always)]
fn add<T: Float, const V: usize, const R: usize>(
    a: Shared<T>,
    b: Shared<T>,
    depth: u32,
    sums: &mut [[T; 2]; 2],
) {
    let mut k = 0;
    while k < depth {
        k = rolled(k);
        let of = |factor: Shared<T>, i: usize| -> [T; V] { factor.read_vec(i as u32 * APART * pitch(V) + k) };
        let (mut of_a, mut of_b) = ([[T::ZERO; V]; R], [[T::ZERO; V]; R]);
        unroll::<R>(|i| (of_a[i], of_b[i]) = (of(a, i), of(b, i)));
        unroll::<V>(|v| {
            unroll::<R>(|i| unroll::<R>(|j| sums[i][j] = of_a[i][v].mul_add(of_b[j][v], sums[i][j])));
        });
        k += V as u32;
    }
}

/// Computes a tile of [`TILE`] × [`TILE`] elements of C; `V` elements are 16 bytes. Launch a block of [`THREADS`] threads
/// for each tile, part and product of the batch, with [`shared_bytes`].
#[device]
#[inline(always)]
pub(super) fn small<T: Float, const V: usize, const LOADS: usize>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: &Product,
    (alpha, beta): (T, T),
) {
    let place = block_place::<TILE, TILE>(product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
        return;
    }
    let mut memory = shared::dynamic();
    let (of_a, of_b) = (memory.array::<T>(TILE * pitch(V)), memory.array::<T>(TILE * pitch(V)));
    let start =
        |operand: &Operand, row: u32| row as u64 * if operand.along_k != 0 { operand.leading } else { 1 };
    let step = |operand: &Operand| {
        depth(size_of::<T>() as u32) as u64 * if operand.along_k != 0 { 1 } else { operand.leading }
    };
    let mut a = place.factor(a, &product.a).offset(start(&product.a, place.row));
    let mut b = place.factor(b, &product.b).offset(start(&product.b, place.column));
    let (rows, across) = ((product.m - place.row).min(TILE), (product.n - place.column).min(TILE));
    let (row, column) = (thread_idx_x() / APART, thread_idx_x() % APART);

    let mut sums = [[T::ZERO; 2]; 2];
    let mut left = place.depth(product);
    while left > 0 {
        left = rolled(left);
        let depth = left.min(const { depth(size_of::<T>() as u32) });
        let held_a = read::<T, V, LOADS>(a, &product.a, rows, depth);
        let held_b = read::<T, V, LOADS>(b, &product.b, across, depth);
        // Nobody reads what was there before.
        sync_threads();
        put::<T, V, LOADS>(held_a, &product.a, depth, of_a);
        put::<T, V, LOADS>(held_b, &product.b, depth, of_b);
        sync_threads();
        let (of_a, of_b) = (of_a.offset(row * pitch(V)), of_b.offset(column * pitch(V)));
        // Mutants: to add what is not written takes longer only.
        if rows > APART || across > APART {
            add::<T, V, 2>(of_a, of_b, depth, &mut sums);
            // Mutants: one more row is of zeros, and not written.
        } else if row < rows {
            add::<T, V, 1>(of_a, of_b, depth, &mut sums);
        }
        (a, b) = (a.offset(step(&product.a)), b.offset(step(&product.b)));
        left -= depth;
    }

    let c = place.product(c, product);
    unroll::<2>(|i| {
        let row = place.row + row + i as u32 * APART;
        if row < product.m {
            let (first, end) = columns(product.triangle, row, product.n);
            let c = c.offset(row as u64 * product.c_leading);
            unroll::<2>(|j| {
                let at = place.column + column + j as u32 * APART;
                if (first..end).contains(&at) {
                    c.write(at, combine(alpha, sums[i][j], beta, || c.read(at)));
                }
            });
        }
    });
}
