//! The product of doubles by tiles, on the tensor cores of 9.0, where all matrices may be accessed by 16 bytes.
//!
//! As `tensor.rs`, but for how factors come to shared memory: always by 16 bytes, and as they lie, so
//! that of a factor contiguous along `k` that is the fast axis there, too; each order of the factors is a kernel of
//! its own. Copies are then a straight line of instructions, which the assembler puts between the operations of the
//! tensor cores. All at once behind the barrier, and element by element where they transposed, they cost an eighth of
//! the time.
//!
//! A block is four warps, and a multiprocessor has two of them: while one waits at its barrier, the other multiplies.

use gpu_std::async_copy::{commit, copy_or_zero, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, rolled, unroll};

use super::eights::{GROUP, Sums, multiply, store};
use super::operand::{Operand, Product};
use super::place::block_place;
use super::tensor::{DEPTH, warp_place};
use super::tiled::Tile;
use crate::scalar::Hidden;

/// Stages in shared memory: one that is worked on, one on its way or there, and one that is being asked for.
const STAGES: u32 = 3;
/// The tile of a block: four warps of 64 × 32 elements of C, side by side.
pub const TILE: Tile = Tile { rows: 64, columns: 128, depth: DEPTH, threads: 128, stages: STAGES, bytes: 8 };

/// Elements from one row of a tile of A that is contiguous along `k` to the next: what four lanes read of each of four
/// rows, two apart, then falls into different banks.
const A_LINE: u32 = DEPTH + 2;
/// The same of B, of which rows follow each other.
const B_LINE: u32 = DEPTH + 4;

/// Elements of a tile of so many rows in a stage; `line` is from one row to the next where it is contiguous along `k`.
const fn tile_len(rows: u32, along_k: bool, line: u32) -> u32 {
    if along_k { rows * line } else { DEPTH * Tile::pitch(rows) }
}

/// Bytes of dynamic shared memory of a block: those of factors contiguous along `k`, which need the most.
pub const fn shared_bytes() -> u32 {
    let elements = STAGES * (tile_len(TILE.rows, true, A_LINE) + tile_len(TILE.columns, true, B_LINE));
    SharedLayout::new().array::<f64>(elements).bytes()
}

/// The operand of such a kernel, of which a tile has `rows` rows; as [`Operand::new`] otherwise.
pub const fn operand(rows: u32, leading: u64, batch: u64, along_k: bool) -> Operand {
    let (step, advance) = if along_k {
        (TILE.threads / (DEPTH / 2), DEPTH as u64)
    } else {
        (TILE.threads / (rows / 2), DEPTH as u64 * leading)
    };
    Operand {
        step: step as u64 * leading,
        advance,
        vectors: 1,
        ..Operand::new(TILE, rows, leading, batch, along_k, true)
    }
}

/// A factor's tiles of `ROWS` rows, and a thread's part in copying them.
struct Factor<const ROWS: u32, const THREADS: u32, const ALONG_K: bool, const LINE: u32> {
    /// The thread's first element of the next tile.
    source: Global<f64>,
    /// Rows of the matrix from the thread's first one on.
    rows: u32,
}

impl<const ROWS: u32, const THREADS: u32, const ALONG_K: bool, const LINE: u32>
    Factor<ROWS, THREADS, ALONG_K, LINE>
{
    /// Threads that copy what is contiguous of a tile.
    const ACROSS: u32 = if ALONG_K { DEPTH } else { ROWS } / 2;
    /// Lines of a tile, rows or `k`, from one that a thread copies of to its next.
    const STEP: u32 = THREADS / Self::ACROSS;
    /// Lines that a thread copies of.
    const ITEMS: u32 = if ALONG_K { ROWS } else { DEPTH } / Self::STEP;
    /// Elements of a tile in a stage.
    const LEN: u32 = tile_len(ROWS, ALONG_K, LINE);

    /// For the tiles of the rows from `first` on, of a matrix of `rows` rows that starts at `matrix`.
    #[device]
    #[inline(always)]
    fn new(matrix: Global<f64>, operand: &Operand, first: u32, rows: u32) -> Self {
        const {
            assert!(THREADS.is_multiple_of(Self::ACROSS));
            assert!(if ALONG_K { ROWS } else { DEPTH }.is_multiple_of(Self::STEP));
        }
        let (row, k) = Self::place();
        let (line, along) = if ALONG_K { (first + row, k) } else { (k, first + row) };
        let source = matrix.offset(line as u64 * operand.leading + along as u64);
        Self { source, rows: rows.saturating_sub(first + row) }
    }

    /// The row and the `k` of the thread's first element of a tile.
    #[device]
    #[inline(always)]
    fn place() -> (u32, u32) {
        let thread = opaque(thread_idx_x());
        let (line, along) = (thread / Self::ACROSS, thread % Self::ACROSS * 2);
        if ALONG_K { (line, along) } else { (along, line) }
    }

    /// Where a row's `k` is in a tile.
    #[inline(always)]
    const fn at(row: u32, k: u32) -> u32 {
        if ALONG_K { row * LINE + k } else { k * Tile::pitch(ROWS) + row }
    }

    /// Starts to copy the next tile to `tile`; `left` is how much of `k` there is from it on. What is beyond it or
    /// beyond the last row becomes zero.
    #[device]
    #[inline(always)]
    fn copy(&mut self, operand: &Operand, tile: Shared<f64>, left: u32) {
        let (row, k) = Self::place();
        let (mut source, target) = (self.source, tile.offset(Self::at(row, k)));
        unroll::<16>(|item| {
            if item < const { Self::ITEMS as usize } {
                let line = item as u32 * Self::STEP;
                let (is_there, at) = if ALONG_K {
                    (line < self.rows && k < left, Self::at(line, 0))
                } else {
                    (self.rows != 0 && k + line < left, Self::at(0, line))
                };
                copy_or_zero::<f64, 2>(target, at, source, 0, if is_there { 2 } else { 0 });
                source = source.offset(operand.step);
            }
        });
        self.source = self.source.offset(operand.advance);
    }
}

impl<const ROWS: u32, const THREADS: u32, const ALONG_K: bool> Factor<ROWS, THREADS, ALONG_K, A_LINE> {
    /// Where what the lane reads of a tile starts, whose warp's rows start at `row`.
    #[device]
    #[inline(always)]
    fn first(row: u32) -> u32 {
        let lane = thread_idx_x() % 32;
        Self::at(row + lane / 4 * 2, lane % 4)
    }

    /// A lane's elements of the `number`-th matrix of A of the group of `k` that starts at `k`: of a row and the next
    /// one, and the same four of `k` further. What is constant goes into the index, which the instruction adds.
    #[device]
    #[inline(always)]
    fn of_a(tile: Shared<f64>, k: u32, number: usize) -> [f64; 4] {
        let pair = |k| -> [f64; 2] {
            let at = Self::at(number as u32 * 16, k);
            if ALONG_K { [tile.read(at), tile.read(at + A_LINE)] } else { tile.read_vec(at) }
        };
        let ([one, two], [three, four]) = (pair(k), pair(k + 4));
        [one, two, three, four]
    }
}

impl<const ROWS: u32, const THREADS: u32, const ALONG_K: bool> Factor<ROWS, THREADS, ALONG_K, B_LINE> {
    /// Where what the lane reads of a tile starts, whose warp's columns start at `column`.
    #[device]
    #[inline(always)]
    fn first(column: u32) -> u32 {
        let lane = thread_idx_x() % 32;
        Self::at(column + lane / 4, lane % 4)
    }

    /// A lane's elements of the `number`-th matrix of B of the group of `k` that starts at `k`.
    #[device]
    #[inline(always)]
    fn of_b(tile: Shared<f64>, k: u32, number: usize) -> [f64; 2] {
        [k, k + 4].map(|k| tile.read(Self::at(number as u32 * 8, k)))
    }
}

/// Computes a tile of `BM` × `BN` elements of C with [`Tile::threads`] threads, whose warps have `16 TM` × `16 TN`
/// elements each. Launch [`Tile::count`] blocks for each product of the batch, with [`shared_bytes`].
#[device]
#[inline(always)]
pub(super) fn aligned<
    const BM: u32,
    const BN: u32,
    const THREADS: u32,
    const TM: usize,
    const TN: usize,
    const A: bool,
    const B: bool,
>(
    a: Global<f64>,
    b: Global<f64>,
    c: GlobalMut<f64>,
    product: Product,
    alpha: f64,
    beta: f64,
) {
    const { assert!(BM * BN == THREADS / 32 * 256 * (TM * TN) as u32, "the warps' parts make up the tile") };
    let (a_len, b_len) =
        const { (Factor::<BM, THREADS, A, A_LINE>::LEN, Factor::<BN, THREADS, B, B_LINE>::LEN) };
    let stage_len = a_len + b_len;
    let stages = shared::dynamic().array::<f64>(STAGES * stage_len);

    let place = block_place::<BM, BN>(&product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
        return;
    }
    let (a, b) = (place.factor(a, &product.a), place.factor(b, &product.b));
    let depth = place.depth(&product);
    let mut copy_a = Factor::<BM, THREADS, A, A_LINE>::new(a, &product.a, place.row, product.m);
    let mut copy_b = Factor::<BN, THREADS, B, B_LINE>::new(b, &product.b, place.column, product.n);
    let following = |stage: u32| if stage == (STAGES - 1) * stage_len { 0 } else { stage + stage_len };
    // All but one of the stages; without any `k` they are zeros.
    let mut fill = 0;
    while fill < (STAGES - 1) * stage_len {
        fill = rolled(fill);
        let left = depth.saturating_sub(fill / stage_len * DEPTH);
        copy_a.copy(&product.a, stages.offset(fill), left);
        copy_b.copy(&product.b, stages.offset(fill + a_len), left);
        commit();
        fill += stage_len;
    }

    let (row, column) = warp_place::<BN, TM, TN>();
    let a_first = Factor::<BM, THREADS, A, A_LINE>::first(row);
    let b_first = a_len + Factor::<BN, THREADS, B, B_LINE>::first(column);
    let of_a = |stage, k, i| Factor::<BM, THREADS, A, A_LINE>::of_a(stages.offset(stage + a_first), k, i);
    let of_b = |stage, k, j| Factor::<BN, THREADS, B, B_LINE>::of_b(stages.offset(stage + b_first), k, j);
    let mut sums: Sums<TM, TN> = [[[[0.0; 4]; 2]; TN]; TM];
    let (mut a, mut b) = ([[0.0; 4]; TM], [[[0.0; 2]; 2]; TN]);
    wait::<{ STAGES - 2 }>();
    sync_threads();
    unroll::<TM>(|i| a[i] = of_a(0, 0, i).map(Hidden::hidden));
    unroll::<TN>(|j| unroll::<2>(|side| b[j][side] = of_b(0, 0, 2 * j + side).map(Hidden::hidden)));
    let mut read = 0;
    let mut k = 0;
    // Mutants: one stage more is of zeros.
    while k < depth {
        // Behind the last barrier nobody reads the stage before this one any longer: it is filled again.
        let left = depth.saturating_sub(k + (STAGES - 1) * DEPTH);
        copy_a.copy(&product.a, stages.offset(fill), left);
        copy_b.copy(&product.b, stages.offset(fill + a_len), left);
        commit();
        multiply(&mut sums, (&mut a, &mut b), |i| of_a(read, GROUP, i), |j| of_b(read, GROUP, j));
        // The next stage has arrived, for all threads.
        wait::<{ STAGES - 2 }>();
        sync_threads();
        (read, fill) = (following(read), read);
        multiply(&mut sums, (&mut a, &mut b), |i| of_a(read, 0, i), |j| of_b(read, 0, j));
        k += DEPTH;
    }
    let lane = opaque(thread_idx_x()) % 32;
    // Rows `group` and `group + 8` of an operation's are neighbours in the tile, columns are as they are.
    store::<BM, BN, TM, TN, 8>(&mut sums, (lane / 4 * 2, lane % 4 * 2), c, &product, alpha, beta);
}
