//! The product of doubles by the largest tiles, on the tensor cores of 9.0, whose factors the copy engine brings.
//!
//! As [`aligned`](super::aligned), but for how factors come to shared memory: the copy engine brings a tile as it lies,
//! with its pieces of 16 bytes exchanged against bank conflicts ([`Swizzle::Bytes128`]), so no thread has a part in it,
//! and nothing is asked about edges; each order of the factors is a kernel of its own. The tile is twice as high,
//! so that a factor is read a quarter less often: in a loop of launches of 8192³, where an H200 takes its clock back,
//! 54.4 TFLOP/s came of these tiles and 51.9 of those of 64 rows.
//!
//! A block is eight warps, and a multiprocessor has one. There is no barrier for all of them: a warp waits until a
//! stage is full, and says when it has read it. Who starts the copies changes from stage to stage: by one warp alone
//! they took as much from its operations as the other warps then waited (4 % at 4096³), and a warp of its own would
//! take registers from the sums.
//!
//! [`Swizzle::Bytes128`]: gpu_std::tensor_map::Swizzle::Bytes128

use gpu_std::barrier::{Barrier, fence_init};
use gpu_std::memory::{GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::{sync_threads, thread_idx_x};
use gpu_std::{device, opaque, rolled, unroll, warp};

use super::eights::{GROUP, Sums, multiply, store};
use super::operand::Product;
use super::place::{Place, block_place};
use super::tensor::{DEPTH, warp_place};
use super::tiled::Tile;
use crate::scalar::Hidden;

/// Stages in shared memory, which has no room for more: one that is worked on, the others on their way or there.
const STAGES: u32 = 6;
/// The tile of a block: two rows of four warps, of 64 × 32 elements of C each.
pub const TILE: Tile = Tile { rows: 128, columns: 128, depth: DEPTH, threads: 256, stages: STAGES, bytes: 8 };
/// Elements of a line of a box in shared memory, 128 bytes: as many as a stage holds of `k`, so that a square of them
/// is a box of a factor that is contiguous along its rows.
const LINE: u32 = DEPTH;
const _: () = assert!(LINE * TILE.bytes == 128);
/// Elements of the tile of B behind that of A, and of a stage.
const B_FIRST: u32 = TILE.rows * DEPTH;
const STAGE: u32 = (TILE.rows + TILE.columns) * DEPTH;

/// Bytes of dynamic shared memory of a block: the stages, and for each of them two barriers, full and empty.
pub const fn shared_bytes() -> u32 {
    SharedLayout::new().array::<f64>(STAGES * STAGE).array::<u64>(2 * STAGES).bytes()
}

/// Elements along a factor's lines and lines of the boxes of a tile of so many rows, which is contiguous along `k` or
/// has several boxes, each [`TILE`]'s depth along its rows.
pub const fn boxes(rows: u32, along_k: bool) -> [u32; 2] {
    [LINE, if along_k { rows } else { DEPTH }]
}

/// A factor's tiles of `ROWS` rows in a stage.
struct Factor<const ROWS: u32, const ALONG_K: bool>;

impl<const ROWS: u32, const ALONG_K: bool> Factor<ROWS, ALONG_K> {
    /// Starts the copy of rows `first` and on of matrix `number`, from `k` on. What is outside of it becomes zero. The
    /// copy engine counts in words of four bytes.
    #[device]
    #[inline(always)]
    fn load(map: &TensorMap, tile: Shared<f64>, full: Barrier, [first, k, number]: [u32; 3]) {
        const { assert!(ROWS == 8 * LINE) };
        if ALONG_K {
            map.load(tile, full, [2 * k, first, number]);
        } else {
            unroll::<8>(|part| {
                let row = part as u32 * LINE;
                map.load(tile.offset(row * DEPTH), full, [2 * (first + row), k, number]);
            });
        }
    }

    /// Which of 16 rows of a tile are rows `group` and `group + 8` of a matrix of A, the second one being the next:
    /// what eight lanes read together of four `k`, or sixteen of four rows, then falls into different banks.
    #[inline(always)]
    const fn row(group: u32) -> u32 {
        if ALONG_K { 2 * group } else { 2 * (group % 2 * 4 + group / 2) }
    }

    /// Which of 16 columns of a tile is column `group` of the first of two matrices of B; that of the second is one or
    /// four further. So are the four that a lane has of C: two and two neighbours.
    #[inline(always)]
    const fn column(group: u32) -> u32 {
        if ALONG_K { 2 * group } else { group % 2 + group / 2 % 2 * 8 + group / 4 * 2 }
    }

    /// Where a row's `k` is in a tile.
    #[inline(always)]
    const fn at(row: u32, k: u32) -> u32 {
        let (line, place, rest) =
            if ALONG_K { (row, k, 0) } else { (k, row % LINE, row / LINE * LINE * DEPTH) };
        rest + line * LINE + ((place / 2) ^ (line % 8)) * 2 + place % 2
    }

    /// Where the element is that is `further` rows and `k` beyond that at `first`, one at an even row and one of the
    /// first four `k`: a place, of which only `first` is the lane's own, and a distance from it, which the
    /// instruction adds.
    /// `k` is a multiple of four, and both are constants.
    #[inline(always)]
    fn from(first: u32, further: u32, k: u32) -> (u32, u32) {
        if ALONG_K {
            // Lines are rows: of the next one pieces are exchanged by one more.
            (first ^ (k | (further % 8 * 2)), further * LINE)
        } else {
            // Lines are `k`: four more of them exchange pieces by four; further rows are further pieces.
            (first ^ ((k % 8 * 2) | (further % LINE)), k * LINE + further / LINE * LINE * DEPTH)
        }
    }
}

/// A lane's elements of the `number`-th matrix of A of the group of `k` that starts at `k`: of a row and the next
/// one, and the same four of `k` further. `first` is where its first one is in shared memory.
#[device]
#[inline(always)]
fn of_a<const ROWS: u32, const ALONG_K: bool>(
    stages: Shared<f64>,
    first: u32,
    k: u32,
    number: usize,
) -> [f64; 4] {
    let row = number as u32 * 16;
    let read = |further, k| {
        let (place, further) = Factor::<ROWS, ALONG_K>::from(first, further, k);
        stages.offset(place).read(further)
    };
    let pair = |k| -> [f64; 2] {
        if ALONG_K {
            [read(row, k), read(row + 1, k)]
        } else {
            let (place, further) = Factor::<ROWS, ALONG_K>::from(first, row, k);
            stages.offset(place).read_vec(further)
        }
    };
    let ([one, two], [three, four]) = (pair(k), pair(k + 4));
    [one, two, three, four]
}

/// A lane's elements of the `number`-th matrix of B of the group of `k` that starts at `k`, two side by side.
#[device]
#[inline(always)]
fn of_b<const ROWS: u32, const ALONG_K: bool>(
    stages: Shared<f64>,
    first: u32,
    k: u32,
    number: usize,
) -> [f64; 2] {
    let (pair, side) = (number as u32 / 2 * 16, number as u32 % 2);
    let further = pair + if ALONG_K { side } else { 4 * side };
    [k, k + 4].map(|k| {
        let (place, further) = Factor::<ROWS, ALONG_K>::from(first, further, k);
        stages.offset(place).read(further)
    })
}

/// Where a block's stages are, and which of them a warp reads and the next copies fill.
#[derive(Clone, Copy)]
struct Ring {
    barriers: Shared<u64>,
    stage: u32,
    /// The parity of the stage's present round.
    round: u32,
}

impl Ring {
    #[device]
    #[inline(always)]
    fn full(&self) -> Barrier {
        Barrier::at(self.barriers, self.stage)
    }

    #[device]
    #[inline(always)]
    fn empty(&self) -> Barrier {
        Barrier::at(self.barriers, STAGES + self.stage)
    }

    #[device]
    #[inline(always)]
    fn next(&mut self) {
        self.stage += 1;
        if self.stage == STAGES {
            self.stage = 0;
            self.round ^= 1;
        }
    }
}

/// Computes a tile of `BM` × `BN` elements of C, which is [`TILE`]'s, with [`Tile::threads`] threads, whose warps have
/// `16 TM` × `16 TN` elements each. Sums are not empty. Launch [`Tile::count`] blocks for each product of the batch,
/// with [`shared_bytes`], and maps of the factors whose boxes are [`boxes`], in words of four bytes.
#[device]
#[inline(always)]
pub(super) fn bulk<
    const BM: u32,
    const BN: u32,
    const THREADS: u32,
    const TM: usize,
    const TN: usize,
    const A: bool,
    const B: bool,
>(
    (a_map, b_map): (&TensorMap, &TensorMap),
    c: GlobalMut<f64>,
    product: Product,
    alpha: f64,
    beta: f64,
) {
    const { assert!(BM * BN == THREADS / 32 * 256 * (TM * TN) as u32, "the warps' parts make up the tile") };
    const { assert!((BM + BN) * DEPTH == STAGE && BM * DEPTH == B_FIRST) };
    let mut shared = shared::dynamic();
    let stages = shared.array::<f64>(const { STAGES * STAGE });
    let barriers = shared.array::<u64>(const { 2 * STAGES });

    let place = block_place::<BM, BN>(&product);
    // Mutants: a tile right behind the last column has nothing to read, and nothing to write.
    if place.column >= product.n {
        return;
    }
    let Place { row, column, .. } = place;
    let (a_number, b_number) = (place.matrix(&product.a), place.matrix(&product.b));
    let (start, depth) = (place.first(&product), place.depth(&product));
    let mut reading = Ring { barriers, stage: 0, round: 0 };
    // In the first round nobody has used a stage: the phase before the first counts as complete.
    let mut filling = Ring { barriers, stage: 0, round: 1 };
    let own = opaque(thread_idx_x()) / 32;
    let load = |filling: Ring, k: u32| {
        let (full, tile) = (filling.full(), stages.offset(filling.stage * STAGE));
        full.arrive_expect(STAGE * TILE.bytes);
        Factor::<BM, A>::load(a_map, tile, full, [row, start + k, a_number]);
        Factor::<BN, B>::load(b_map, tile.offset(B_FIRST), full, [column, start + k, b_number]);
    };
    if thread_idx_x() == 0 {
        a_map.prefetch();
        b_map.prefetch();
        let mut stage = 0;
        while stage < STAGES {
            Barrier::at(barriers, stage).init(1);
            Barrier::at(barriers, STAGES + stage).init(THREADS / 32);
            stage += 1;
        }
        fence_init();
    }
    sync_threads();
    let mut fill = 0;
    while fill < depth.min(const { (STAGES - 1) * DEPTH }) {
        fill = rolled(fill);
        if own == filling.stage && warp::elect(warp::FULL) {
            load(filling, fill);
        }
        filling.next();
        fill += DEPTH;
    }

    let (warp_row, warp_column) = warp_place::<BN, TM, TN>();
    let (group, four) = (thread_idx_x() % 32 / 4, thread_idx_x() % 4);
    let a_first = Factor::<BM, A>::at(warp_row + Factor::<BM, A>::row(group), four);
    let b_first = B_FIRST + Factor::<BN, B>::at(warp_column + Factor::<BN, B>::column(group), four);
    let of_a = |ring: Ring, k, i| of_a::<BM, A>(stages, ring.stage * STAGE + a_first, k, i);
    let of_b = |ring: Ring, k, j| of_b::<BN, B>(stages, ring.stage * STAGE + b_first, k, j);
    let mut sums: Sums<TM, TN> = [[[[0.0; 4]; 2]; TN]; TM];
    let (mut a, mut b) = ([[0.0; 4]; TM], [[[0.0; 2]; 2]; TN]);
    reading.full().wait(0);
    unroll::<TM>(|i| a[i] = of_a(reading, 0, i).map(Hidden::hidden));
    unroll::<TN>(|j| unroll::<2>(|side| b[j][side] = of_b(reading, 0, 2 * j + side).map(Hidden::hidden)));
    let mut k = 0;
    while k < depth {
        multiply(&mut sums, (&mut a, &mut b), |i| of_a(reading, GROUP, i), |j| of_b(reading, GROUP, j));
        // The stage before this one is filled again once all warps have read it, which they have by now if they are
        // less than half a stage behind.
        let later = k + (STAGES - 1) * DEPTH;
        // Mutants: a stage more is of zeros, and there five stages before the block ends.
        if later < depth {
            if own == filling.stage && warp::elect(warp::FULL) {
                filling.empty().wait(filling.round);
                load(filling, later);
            }
            filling.next();
        }
        let read = reading;
        // Behind the last stage there is none, and this one is read once more, for nothing.
        if k + DEPTH < depth {
            reading.next();
        }
        warp::sync_warp(warp::FULL);
        reading.full().wait(reading.round);
        if thread_idx_x().is_multiple_of(32) {
            read.empty().arrive();
        }
        multiply(&mut sums, (&mut a, &mut b), |i| of_a(reading, 0, i), |j| of_b(reading, 0, j));
        k += DEPTH;
    }
    let lane = opaque(thread_idx_x()) % 32;
    let first = (Factor::<BM, A>::row(lane / 4), Factor::<BN, B>::column(lane % 4 * 2));
    if B {
        store::<BM, BN, TM, TN, 2>(&mut sums, first, c, &product, alpha, beta);
    } else {
        store::<BM, BN, TM, TN, 4>(&mut sums, first, c, &product, alpha, beta);
    }
}
