//! Triangular systems `L · X = alpha · B` in one launch, X taking B's place: blocks of threads wait for each other's rows.
//!
//! A block of threads solves for [`BLOCK`] rows of [`WIDE`] or [`NARROW`] right-hand sides. Blocks take their rows by a ticket,
//! so that those they wait for are of blocks that run; a word for each says that its rows are solved (Hogg, *A fast dense
//! triangular solve in CUDA*, SIAM J. Sci. Comput. 35, 2013). Only squares of [`SQUARE`] rows on the diagonal are inverted, before there is
//! anything to wait for.
//!
//! # Order of operations
//! Of an element of X, in the wide form, one chain over ascending columns `k` before its block: from `s = alpha · b`,
//! `s = fma(-L_ik, x_k, s)`. In the narrow form four chains from zero, of every fourth column, and then `alpha · b + ((s_0 + s_1) + (s_2 + s_3))`,
//! where there are rows before its block. In both the chain goes on over the columns of the block's earlier squares. Then
//! `x_i = Σ E_im s_m`, one chain from zero over ascending rows `m ≤ i` of the square,
//! of which E is the inverse (`invert.rs`).

use gpu_collective::Accumulator;
use gpu_collective::grid::tickets;
use gpu_collective::warp::all_reduce_pairwise;
use gpu_std::atomic::{Ordering, Scope};
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::parameter::Parameter;
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, keep_rolled, opaque, unroll};

use super::THREADS;
use super::invert::invert;

/// Rows that a block of threads solves for.
pub const BLOCK: u32 = 64;
/// Rows of the squares on the diagonal that are inverted.
pub const SQUARE: u32 = 16;
/// Right-hand sides of a block of threads, of the wide form.
pub const WIDE: u32 = 32;
/// The same, of the narrow form.
pub const NARROW: u32 = 4;

/// From one column of L to the next in shared memory: rows of four threads beside each other are in banks of their own.
const PITCH: u32 = BLOCK + 4;
/// From one square to the next before they are inverted.
pub(super) const APART: u32 = SQUARE * SQUARE + SQUARE;
/// Elements of a tile of L that a thread brings.
const BROUGHT: usize = (BLOCK * BLOCK / THREADS) as usize;
/// Rows of B between those of a thread's right-hand sides in the wide form.
pub(super) const SIDE: u32 = BLOCK / SQUARE;

/// What is solved, but for addresses. Distances count elements modulo 2^64: they are negative where rows are solved from the last to the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Solve {
    /// Where L's first element lies.
    pub l_start: u64,
    /// From one row of L to the next.
    pub l_row: u64,
    /// From one column of L to the next.
    pub l_column: u64,
    /// From one L of the batch to the next.
    pub l_batch: u64,
    /// Where B's first element lies.
    pub b_start: u64,
    /// From one row of B to the next.
    pub b_row: u64,
    /// From one right-hand side to the next.
    pub b_column: u64,
    /// From one B to the next.
    pub b_batch: u64,
    /// The same of the copy of X.
    pub x_start: u64,
    /// From one of its rows to the next.
    pub x_row: u64,
    /// From one of its columns to the next.
    pub x_column: u64,
    /// From one copy to the next.
    pub x_batch: u64,
    /// Rows of L.
    pub size: u32,
    /// Right-hand sides.
    pub columns: u32,
    /// Matrices.
    pub count: u32,
    /// The first row's index on the diagonal, for `info`.
    pub first: u32,
    /// Whether the indices of the rows that follow descend: 1 or 0.
    pub backward: u32,
    /// Whether the diagonal is taken to be one, and not read: 1 or 0.
    pub unit: u32,
    /// Whether X is also written to the copy: 1 or 0.
    pub copied: u32,
    /// Whether `info` holds what was found before: 1 or 0.
    pub further: u32,
}

impl Solve {
    /// Blocks of threads one after the other.
    pub const fn blocks(&self) -> u32 {
        self.size.div_ceil(BLOCK)
    }

    /// Blocks of a launch of the form that takes so many right-hand sides together.
    pub const fn grid(&self, sides: u32) -> u128 {
        self.blocks() as u128 * self.columns.div_ceil(sides) as u128 * self.count as u128
    }

    /// Words that are zero before a launch: the ticket, and one for each block. None where no block waits.
    pub const fn words(&self, sides: u32) -> u128 {
        if self.blocks() > 1 { 1 + self.grid(sides) } else { 0 }
    }
}

/// From one row of known elements to the next in shared memory.
const fn pitch(sides: u32) -> u32 {
    if sides == NARROW { NARROW } else { sides + 2 }
}

/// Bytes of dynamic shared memory of a block.
pub const fn solve_shared_bytes<T: Float>(sides: u32) -> u32 {
    SharedLayout::new()
        .array::<T>(BLOCK * PITCH)
        .array::<T>(BLOCK * pitch(sides))
        .array::<T>(SQUARE * sides)
        .array::<T>(BLOCK * SQUARE)
        .array::<u32>(2)
        .bytes()
}

/// A place so many steps on.
#[inline(always)]
pub(super) fn steps(number: u32, step: u64) -> u64 {
    (number as u64).wrapping_mul(step)
}

/// What a thread brings of a rectangle of some lines: elements at constant distances, those of lanes beside each other being contiguous.
#[derive(Clone, Copy)]
struct Brought {
    /// The first one's row and column.
    place: (u32, u32),
    /// From one to the next.
    next: (u32, u32),
    /// The first one's place in memory, and from one to the next.
    at: u64,
    step: u64,
}

impl Brought {
    /// Of `columns` columns and [`BLOCK`] rows that are so many elements apart. What is found here changes with `turn` as far as the compiler
    /// knows, or it would keep all of a loop's places in registers.
    #[device]
    #[inline(always)]
    fn new(columns: u32, row: u64, column: u64, turn: u32) -> Self {
        let thread = thread_idx_x() + (opaque(turn).wrapping_sub(turn));
        // Contiguous in one direction or the other.
        // Mutants: who brings which element is a matter of speed.
        let across = column.wrapping_add(1) <= 2;
        let (low, high) =
            if across { (thread % columns, thread / columns) } else { (thread % BLOCK, thread / BLOCK) };
        let place = if across { (high, low) } else { (low, high) };
        let next = if across { (THREADS / columns, 0) } else { (0, THREADS / BLOCK) };
        let at = steps(place.0, row).wrapping_add(steps(place.1, column));
        Self { place, next, at, step: steps(next.0, row).wrapping_add(steps(next.1, column)) }
    }

    #[device]
    #[inline(always)]
    fn row(&self, e: usize) -> u32 {
        self.place.0 + e as u32 * self.next.0
    }

    #[device]
    #[inline(always)]
    fn column(&self, e: usize) -> u32 {
        self.place.1 + e as u32 * self.next.1
    }
}

/// Solves for rows of [`BLOCK`] of `C` right-hand sides: launch [`Solve::grid`] blocks of [`THREADS`] threads, with [`solve_shared_bytes`].
/// `words` are [`Solve::words`], all zero. Where an element of the diagonal is zero, `info` of its matrix becomes the least index
/// of one, and all bits otherwise. `E` is the number of right-hand sides of a thread that brings B, `V` that of elements in 16 bytes.
#[device]
#[inline(always)]
pub(super) fn solve<T: Float + Accumulator, const C: usize, const E: usize, const V: usize>(
    l: Global<T>,
    b: GlobalMut<T>,
    x: GlobalMut<T>,
    words: GlobalMut<u32>,
    info: GlobalMut<u32>,
    alpha: T,
    shape: &Solve,
) {
    let (thread, sides, is_narrow) = (thread_idx_x(), C as u32, C as u32 == NARROW);
    let pitch = pitch(sides);
    let mut memory = shared::dynamic();
    let tile = memory.array::<T>(BLOCK * PITCH);
    let known = memory.array::<T>(BLOCK * pitch);
    let right = memory.array::<T>(SQUARE * sides);
    let inverses = memory.array::<T>(BLOCK * SQUARE);
    let room = memory.array::<u32>(2);

    // ---- whose turn it is
    let (blocks, groups) = (shape.blocks(), shape.columns.div_ceil(sides).max(1));
    let mut turn = block_idx_x();
    if thread == 0 {
        if blocks > 1 {
            room.write(0, tickets::draw(words));
        }
        room.write(1, u32::MAX);
    }
    sync_threads();
    if blocks > 1 {
        turn = room.read(0);
    }
    let systems = (groups * shape.count).max(1);
    let (block, system) = (turn / systems, turn % systems);
    let (number, group) = (system / groups, system % groups);
    let first = block * BLOCK;
    let rows = (shape.size - first).min(BLOCK);
    let columns = (shape.columns - group * sides).min(sides);
    let l = l.offset(shape.l_start).offset(number as u64 * shape.l_batch).offset(steps(first, shape.l_row));
    let b = b
        .offset(shape.b_start)
        .offset(number as u64 * shape.b_batch)
        .offset(steps(group * sides, shape.b_column));
    let words = words.offset(1 + system as u64 * blocks as u64);

    // Of the wide form a thread has four rows of two right-hand sides. Of the narrow one it has a fourth of the
    // products of a row with all four, and in the end one of them.
    let (row, column) = if is_narrow {
        (thread / NARROW, thread % NARROW)
    } else {
        (thread % SQUARE * SIDE, thread / SQUARE * 2)
    };
    let mut own = [T::ZERO; 8];
    let mut sums = [T::ZERO; C];
    let mut ahead = [T::ZERO; BROUGHT];

    // ---- what the rows before take off
    let mut before = 0;
    loop {
        keep_rolled();
        // The tile of L that is next, while the one before it is multiplied; of that on the diagonal what is below it.
        let from = Brought::new(BLOCK, shape.l_row, shape.l_column, before);
        let mut at = l.offset(steps(before * BLOCK, shape.l_column)).offset(from.at);
        unroll::<BROUGHT>(|e| {
            let start = if before == block { from.column(e) + 1 } else { 0 };
            let counts = from.row(e).wrapping_sub(start) < rows.saturating_sub(start);
            ahead[e] = at.read_only_below(!counts as u32, 1, T::ZERO);
            at = at.offset(from.step);
        });
        // B itself, or X of the rows before.
        let of = if before == 0 { block } else { before - 1 };
        if before > 0 {
            if thread == 0 {
                let word = words.atomic(of);
                let mut said = word.load(Ordering::Acquire, Scope::Device);
                while said == 0 {
                    keep_rolled();
                    said = word.load(Ordering::Acquire, Scope::Device);
                }
                room.write(0, said);
            }
            sync_threads();
        }
        let from = Brought::new(sides, shape.b_row, shape.b_column, before);
        let mut at = b.offset(steps(of * BLOCK, shape.b_row)).offset(from.at);
        unroll::<E>(|e| {
            let mut value = T::ZERO;
            if from.row(e) < shape.size - of * BLOCK && from.column(e) < columns {
                value = at.read(0);
            }
            known.write(from.row(e) * pitch + from.column(e), value);
            at = at.offset(from.step);
        });
        if before == 0 {
            let diagonal = l.offset(steps(first, shape.l_column));
            invert::<T, V>(diagonal, (first, rows), tile, inverses, room.offset(1), shape);
            unroll::<8>(|at| {
                if !is_narrow {
                    own[at] = alpha * known.read((row + at as u32 / 2) * pitch + column + at as u32 % 2);
                } else if at == 0 {
                    own[0] = alpha * known.read(row * pitch + column);
                }
            });
        } else {
            sync_threads();
            if is_narrow {
                unroll::<{ (BLOCK / 4) as usize }>(|step| {
                    let k = step as u32 * 4 + column;
                    let factor = -tile.read(k * PITCH + row);
                    unroll::<C>(|group| {
                        if group < C / V {
                            let some = known.read_vec::<V>(k * pitch + (group * V) as u32);
                            unroll::<V>(|v| {
                                sums[group * V + v] = factor.mul_add(some[v], sums[group * V + v]);
                            });
                        }
                    });
                });
            } else {
                let mut k = 0;
                while k < BLOCK {
                    keep_rolled();
                    unroll::<4>(|step| {
                        take_off::<T, V>(&mut own, tile, known, (k + step as u32, pitch), (row, column));
                    });
                    k += 4;
                }
            }
        }
        sync_threads();
        let to = Brought::new(BLOCK, shape.l_row, shape.l_column, before);
        let (at, step) = (to.place.1 * PITCH + to.place.0, to.next.1 * PITCH + to.next.0);
        unroll::<BROUGHT>(|e| tile.write(at + e as u32 * step, ahead[e]));
        if before == block {
            break;
        }
        before += 1;
    }
    // Mutants: the first block's sums are zero; of what is added to them the sign of a zero gets lost anyway.
    if is_narrow && block > 0 {
        unroll::<C>(|side| {
            let sum = all_reduce_pairwise(sums[side], NARROW, |first, second| first + second);
            if column == side as u32 {
                own[0] = own[0] + sum;
            }
        });
    }

    // ---- square after square of the block's own rows
    let mut square = 0;
    loop {
        keep_rolled();
        let top = square * SQUARE;
        if row / SQUARE == square {
            unroll::<8>(|at| {
                if !is_narrow {
                    right.write((row - top + at as u32 / 2) * sides + column + at as u32 % 2, own[at]);
                } else if at == 0 {
                    right.write((row - top) * sides + column, own[0]);
                }
            });
        }
        sync_threads();
        // Two elements of X a thread, or one of a few.
        let (i, side) = if is_narrow {
            (thread / NARROW, thread % NARROW)
        } else {
            (thread % SQUARE, thread / SQUARE * 2)
        };
        if i < SQUARE {
            let mut solved = [T::ZERO; 2];
            unroll::<{ SQUARE as usize }>(|m| {
                // All is asked for at once: what does not count is left out at the end.
                let factor = inverses.read((top + m as u32) * SQUARE + i);
                unroll::<2>(|c| {
                    if c == 0 || !is_narrow {
                        let known = right.read(m as u32 * sides + side + c as u32);
                        let sum = factor.mul_add(known, solved[c]);
                        if m as u32 <= i {
                            solved[c] = sum;
                        }
                    }
                });
            });
            unroll::<2>(|c| {
                if c == 0 || !is_narrow {
                    known.write((top + i) * pitch + side + c as u32, solved[c]);
                }
            });
        }
        sync_threads();
        square += 1;
        if square * SQUARE >= rows {
            break;
        }
        if row >= square * SQUARE {
            unroll::<{ SQUARE as usize }>(|step| {
                let k = top + step as u32;
                if is_narrow {
                    let factor = -tile.read(k * PITCH + row);
                    own[0] = factor.mul_add(known.read(k * pitch + column), own[0]);
                } else {
                    take_off::<T, V>(&mut own, tile, known, (k, pitch), (row, column));
                }
            });
        }
    }

    // ---- X, and that it is there
    let x = x
        .offset(shape.x_start)
        .offset(number as u64 * shape.x_batch)
        .offset(steps(group * sides, shape.x_column));
    let from = Brought::new(sides, shape.b_row, shape.b_column, before);
    let mut at = b.offset(steps(first, shape.b_row)).offset(from.at);
    unroll::<E>(|e| {
        let (row, column) = (from.row(e), from.column(e));
        if row < rows && column < columns {
            let value = known.read(row * pitch + column);
            at.write(0, value);
            if shape.copied != 0 {
                let at = steps(first + row, shape.x_row).wrapping_add(steps(column, shape.x_column));
                x.offset(at).write(0, value);
            }
        }
        at = at.offset(from.step);
    });
    sync_threads();
    if thread == 0 {
        // One more than the least index, so that zero says nothing.
        let mut said = room.read(1);
        if said != u32::MAX {
            said += 1;
        }
        if block > 0 {
            said = said.min(room.read(0));
        }
        if block + 1 < blocks {
            words.atomic(block).store(said, Ordering::Release, Scope::Device);
        } else if group == 0 {
            let mut least = if said == u32::MAX { said } else { said - 1 };
            if shape.further != 0 {
                least = least.min(info.read(number));
            }
            info.write(number, least);
        }
    }
}

/// Takes the products of column `k` off a thread's elements of the wide form.
#[device]
#[inline(always)]
fn take_off<T: Float, const V: usize>(
    own: &mut [T; 8],
    tile: Shared<T>,
    known: Shared<T>,
    (k, pitch): (u32, u32),
    (row, column): (u32, u32),
) {
    let some = known.read_vec::<2>(k * pitch + column);
    unroll::<{ SIDE as usize }>(|group| {
        if group < SIDE as usize / V {
            let factors = tile.read_vec::<V>(k * PITCH + row + (group * V) as u32);
            unroll::<V>(|v| {
                let at = 2 * (group * V + v);
                own[at] = (-factors[v]).mul_add(some[0], own[at]);
                own[at + 1] = (-factors[v]).mul_add(some[1], own[at + 1]);
            });
        }
    });
}
