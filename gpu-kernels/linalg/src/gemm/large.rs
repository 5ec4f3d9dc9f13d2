//! The product by the largest tiles of `f32`: those of `tiled.rs`, but for what the assembler makes of the loop.
//!
//! Copies are a straight line of instructions: a thread copies as many elements of each tile, of every 16th row,
//! whichever axis is contiguous and whether there are so many rows (what is not there becomes zero). A factor
//! contiguous along its rows is copied by 16 bytes where its alignment allows, in a kernel of its own. Of a path for
//! each way in which a factor may lie the loop had 34 KB, and its instructions had to be waited for a tenth of the
//! time.
//!
//! Two operations that follow each other have a factor in common, which the register file then reads once. A block is
//! four warps, and a multiprocessor has two of them: while one waits at its barrier, the other multiplies.

use gpu_std::async_copy::{commit, copy_or_zero, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, rolled, unroll};

use super::operand::{Operand, Product};
use super::place::block_place;
use super::store::{held_len, store};
use super::tiled::{LANE_COLUMNS, LANE_ROWS, Tile, fragment, multiply, thread_place};
use crate::scalar::Hidden;

/// Rows of a tile, and columns.
const SIDE: u32 = 128;
/// How much of `k` a stage holds.
const DEPTH: u32 = 8;
/// Stages in shared memory: one that is worked on, the others on their way.
const STAGES: u32 = 4;
/// Threads of a block.
const THREADS: u32 = 128;
/// The tile of a block.
pub const TILE: Tile =
    Tile { rows: SIDE, columns: SIDE, depth: DEPTH, threads: THREADS, stages: STAGES, bytes: 4 };

/// Rows from an element that a thread copies to its next.
const STEP: u32 = THREADS / DEPTH;
/// How much of `k` is from a vector that a thread copies to its next.
const VECTOR_STEP: u32 = THREADS / (SIDE / 4);
/// Elements of shared memory from one `k` to the next.
const PITCH: u32 = Tile::pitch(SIDE);
/// Elements of a stage.
const STAGE: u32 = 2 * DEPTH * PITCH;
/// Rows and columns of C that a thread has.
const ROWS: usize = 8;
const COLUMNS: usize = 16;

/// The operand of such a kernel, by vectors of 16 bytes or by elements; as [`Operand::new`] otherwise.
pub const fn operand(leading: u64, batch: u64, along_k: bool, vectors: bool) -> Operand {
    let step = match (along_k, vectors) {
        (true, _) => STEP as u64 * leading,
        (false, true) => VECTOR_STEP as u64 * leading,
        (false, false) => STEP as u64,
    };
    Operand {
        step,
        advance: DEPTH as u64 * if along_k { 1 } else { leading },
        vectors: vectors as u32,
        ..Operand::new(TILE, SIDE, leading, batch, along_k, vectors)
    }
}

/// A thread's part in copying a factor's tiles, `V` elements at once, 1 or 4.
struct Factor<const V: u32> {
    /// The thread's first element of the next tile.
    source: Global<f32>,
    /// Where it goes.
    target: u32,
    /// Its `k`.
    k: u32,
    /// Copies of a tile that are rows of the matrix.
    inside: u32,
}

impl<const V: u32> Factor<V> {
    /// Copies of a thread of a tile.
    const ITEMS: u32 = SIDE * DEPTH / THREADS / V;

    /// For the tiles of the rows from `first` on, of a matrix of `rows` rows that starts at `matrix`.
    #[device]
    #[inline(always)]
    fn new(matrix: Global<f32>, operand: &Operand, first: u32, rows: u32) -> Self {
        let thread = opaque(thread_idx_x());
        let along_k = operand.along_k != 0;
        let (row, k) = match (along_k, V) {
            // Lanes along the contiguous axis, and what they store falls into different banks.
            (true, _) => (thread / DEPTH, thread % DEPTH),
            (false, 1) => (thread % STEP, thread / 32 + thread / STEP % 2 * (DEPTH / 2)),
            (false, _) => (thread % (SIDE / V) * V, thread / (SIDE / V)),
        };
        let (line, along) = if along_k { (first + row, k) } else { (k, first + row) };
        let left = rows.saturating_sub(first + row);
        Self {
            source: matrix.offset(line as u64 * operand.leading + along as u64),
            target: k * PITCH + row,
            k,
            inside: if V == 1 { left.div_ceil(STEP) } else { left },
        }
    }

    /// Starts the copies of one of so many pieces of the next tile, to `tile`; `left` is how much of `k` there is from
    /// it on.
    #[device]
    #[inline(always)]
    fn copy(&mut self, operand: &Operand, tile: Shared<f32>, left: u32, (piece, pieces): (usize, usize)) {
        let tile = tile.offset(self.target);
        let inside = if self.k < left { self.inside } else { 0 };
        unroll::<8>(|item| {
            if item < const { Self::ITEMS as usize }
                && item * pieces / const { Self::ITEMS as usize } == piece
            {
                let item = item as u32;
                if V == 1 {
                    copy_or_zero::<f32, 1>(
                        tile,
                        item * STEP,
                        self.source,
                        0,
                        if item < inside { 1 } else { 0 },
                    );
                } else {
                    let is_there = self.inside != 0 && self.k + item * VECTOR_STEP < left;
                    let at = item * VECTOR_STEP * PITCH;
                    copy_or_zero::<f32, 4>(tile, at, self.source, 0, if is_there { 4 } else { 0 });
                }
                self.source = self.source.offset(operand.step);
            }
        });
        if piece + 1 == pieces {
            let back = u64::from(Self::ITEMS) * operand.step;
            self.source = self.source.offset(operand.advance.wrapping_sub(back));
        }
    }
}

/// Starts the copies of one of so many pieces of both factors' next tiles to a stage.
#[device]
#[inline(always)]
fn copy<const A: u32, const B: u32>(
    (a, b): &mut (Factor<A>, Factor<B>),
    product: &Product,
    stage: Shared<f32>,
    left: u32,
    piece: (usize, usize),
) {
    a.copy(&product.a, stage, left, piece);
    b.copy(&product.b, stage.offset(DEPTH * PITCH), left, piece);
}

/// Computes a tile of C; A is copied by `A` elements at once, B by `B`. Launch [`Tile::count`] blocks for each product
/// of the batch, with operands of [`operand()`].
#[device]
#[inline(always)]
pub(super) fn large<const A: u32, const B: u32>(
    a: Global<f32>,
    b: Global<f32>,
    c: GlobalMut<f32>,
    product: Product,
    alpha: f32,
    beta: f32,
) {
    // Mutants: there is more, or it does not compile.
    const { assert!(held_len(THREADS, COLUMNS, 4) <= STAGES * STAGE) };
    let stages = shared::dynamic().array::<f32>(STAGES * STAGE);
    let place = block_place::<SIDE, SIDE>(&product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
        return;
    }
    let (a, b) = (place.factor(a, &product.a), place.factor(b, &product.b));
    let depth = place.depth(&product);
    let mut factors = (
        Factor::<A>::new(a, &product.a, place.row, product.m),
        Factor::<B>::new(b, &product.b, place.column, product.n),
    );
    let following = |stage: u32| if stage == (STAGES - 1) * STAGE { 0 } else { stage + STAGE };
    // All but one of the stages; without any `k` they are zeros.
    let mut fill = 0;
    while fill < (STAGES - 1) * STAGE {
        fill = rolled(fill);
        let left = depth.saturating_sub(fill / STAGE * DEPTH);
        copy(&mut factors, &product, stages.offset(fill), left, (0, 1));
        commit();
        fill += STAGE;
    }

    let (row, column) = thread_place::<SIDE, ROWS, COLUMNS, 4>();
    let read = |stage: u32, k: u32| {
        let (a, b) = (stages.offset(stage + row), stages.offset(stage + DEPTH * PITCH + column));
        let a: [f32; ROWS] = fragment::<f32, ROWS, 4>(a, k * PITCH, LANE_ROWS * 4);
        let b: [f32; COLUMNS] = fragment::<f32, COLUMNS, 4>(b, k * PITCH, LANE_COLUMNS * 4);
        (a, b)
    };
    let mut sums = [[0.0; COLUMNS]; ROWS];
    wait::<{ STAGES - 2 }>();
    sync_threads();
    let (a, b) = read(0, 0);
    let (mut a, mut b) = (a.map(Hidden::hidden), b.map(Hidden::hidden));
    let mut stage = 0;
    let mut k = 0;
    // Mutants: one stage more is of zeros.
    while k < depth {
        // Behind the last barrier nobody reads the stage before this one any longer: it is filled again, with elements
        // at once and with vectors in halves, three steps apart: what the assembler makes of it is the fastest so.
        let left = depth.saturating_sub(k + (STAGES - 1) * DEPTH);
        if B == 1 {
            // Not in the closure: with so many copies it would not be inlined.
            let (next_a, next_b) = read(stage, 1);
            copy(&mut factors, &product, stages.offset(fill), left, (0, 1));
            multiply(&mut sums, a, b);
            (a, b) = (next_a, next_b);
        }
        unroll::<8>(|at| {
            if at + 1 < const { DEPTH as usize } && (B != 1 || at > 0) {
                let (next_a, next_b) = read(stage, at as u32 + 1);
                // Mutants: there is no third half.
                if B != 1 && at % 3 == 0 && at < 6 {
                    copy(&mut factors, &product, stages.offset(fill), left, (at / 3, 2));
                }
                multiply(&mut sums, a, b);
                (a, b) = (next_a, next_b);
            }
        });
        commit();
        // The next stage has arrived, for all threads.
        wait::<{ STAGES - 2 }>();
        sync_threads();
        (fill, stage) = (stage, following(stage));
        let (next_a, next_b) = read(stage, 0);
        multiply(&mut sums, a, b);
        (a, b) = (next_a, next_b);
        k += DEPTH;
    }
    // The last copies, of zeros, are not to arrive in what is written there now.
    wait::<0>();
    // Where factors are copied by 16 bytes the loop before, of other registers then, takes 4 % longer than this spares.
    if const { A == 1 && B == 1 } {
        store::<f32, SIDE, SIDE, ROWS, COLUMNS, 4, true>(&mut sums, stages, c, &product, (alpha, beta));
    } else {
        store::<f32, SIDE, SIDE, ROWS, COLUMNS, 4, false>(&mut sums, stages, c, &product, (alpha, beta));
    }
}
