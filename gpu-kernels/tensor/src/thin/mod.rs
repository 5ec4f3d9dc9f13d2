//! Products of which a factor has few rows or columns: what takes time is to read the other one, wherever it lies.
//!
//! A block computes 128 × 32 elements of C with 8 warps, 16 × 32 each. Tiles of A and B, 128 bytes deep along `k`,
//! go through a ring of three stages in shared memory, as in `lanes.rs`. There a line of A begins as far behind a
//! multiple of 16 bytes as it does in memory, so that 16 bytes are copied at once whatever the alignment, but for a
//! line's ends; a fragment's words are put together from elements, at the same places in all steps. The few elements of
//! B come one by one and lie along `k`: as asynchronous copies, of 32 bits, or through registers.

use gpu_std::async_copy::{commit, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::{multiply_add, round_tf32};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, opaque, rolled, shared, unroll, warp};

use crate::epilogue::Epilogue;
use crate::lanes::Factors;
use crate::output::Output;
use crate::place::{Place, Product};
use crate::store;

mod few;
mod large;

use few::Elements;
use large::Copies;

/// Rows and columns of a block's tile of C.
pub const THIN_TILE: [u32; 2] = [128, 32];
/// Threads of a block.
pub const THIN_THREADS: u32 = 256;
/// How much of `k` a stage holds, in bytes.
const DEPTH_BYTES: u32 = 128;
const STAGES: u32 = 3;
/// Bytes of a stage's two tiles, in the wider of their forms: lines are as much longer as the next one may begin
/// later, and so that fragments' rows begin in different banks.
const A_BYTES: u32 = THIN_TILE[0] * (DEPTH_BYTES + 16);
const B_BYTES: u32 = THIN_TILE[1] * (DEPTH_BYTES + 16);
/// Dynamic shared memory of a block.
pub const THIN_SHARED_BYTES: u32 = STAGES * (A_BYTES + B_BYTES);

/// A factor: where its matrix begins, and how it lies.
struct Factor<T: Output> {
    matrix: Global<T>,
    leading: u64,
    across: bool,
    /// Whether nothing is between lines.
    dense: bool,
    /// Rows of A, columns of B: all of them, and the tile's first.
    extent: u32,
    first: u32,
    k: u32,
}

impl<T: Output> Factor<T> {
    /// Elements of a word, of 16 bytes, and of a stage along `k`.
    const PER: u32 = 4 / size_of::<T>() as u32;
    const VECTOR: u32 = 4 * Self::PER;
    const DEPTH: u32 = DEPTH_BYTES / 4 * Self::PER;
    /// From one line of A's tile to the next, in elements; across `k` by eight words or a vector more than there are,
    /// since lines would else share banks.
    const ALONG_PITCH: u32 = Self::DEPTH + Self::VECTOR;
    const ACROSS_PITCH: u32 = THIN_TILE[0] + if Self::PER == 1 { 8 } else { Self::VECTOR };

    #[inline(always)]
    fn pitch(&self) -> u32 {
        if self.across { Self::ACROSS_PITCH } else { Self::ALONG_PITCH }
    }

    /// How many elements behind a multiple of 16 bytes a line of the tile begins, whose first `k` is `k`.
    #[device]
    #[inline(always)]
    fn shift(&self, line: u32, k: u32) -> u32 {
        let (line, place) = if self.across { (k + line, self.first) } else { (self.first + line, k) };
        let start = self.matrix.offset(u64::from(line) * self.leading + u64::from(place)).address();
        (start / size_of::<T>() as u64) as u32 % Self::VECTOR
    }
}

/// Eights of columns that a tile has.
const G: usize = THIN_TILE[1] as usize / 8;
/// Sums of a thread.
const SUMS: usize = 4 * G;

/// Where a lane's elements of A's tile are, the same in each stage.
struct Places<const PER: usize> {
    /// Of the elements of a word, in a row and in the eighth from it.
    elements: [[u32; PER]; 2],
    /// To the next four words along `k`.
    words: u32,
}

impl<const PER: usize> Places<PER> {
    /// Of rows from `row` of the tile on, in stages whose first `k` is a multiple of a stage from `k` on.
    #[device]
    #[inline(always)]
    fn of<T: Output>(a: &Factor<T>, row: u32, k: u32) -> Self {
        let lane = warp::lane_id();
        let (row, word) = (row + lane / 4, lane % 4 * PER as u32);
        let mut elements = [[0; PER]; 2];
        unroll::<2>(|half| {
            unroll::<PER>(|at| {
                let (row, k_place) = (row + 8 * half as u32, word + at as u32);
                let (line, place) = if a.across { (k_place, row) } else { (row, k_place) };
                elements[half][at] = line * a.pitch() + a.shift(line, k) + place;
            });
        });
        Self { elements, words: 4 * PER as u32 * if a.across { a.pitch() } else { 1 } }
    }

    /// The words of a fragment of 16 rows, `word` words along `k`. `WHOLE` ones are neighbours at multiples of four
    /// bytes.
    #[device]
    #[inline(always)]
    fn read<T: Output, const WHOLE: bool>(&self, tile: Shared<T>, word: u32, words: u32) -> [u32; 4] {
        let mut fragment = [0; 4];
        unroll::<4>(|which| {
            let step = (word + which as u32 / 2) * words;
            let at = self.elements[which % 2].map(|place| place + step);
            if const { PER == 1 } {
                fragment[which] = round_tf32(tile.cast::<u32>().read(at[0]));
            } else if const { WHOLE } {
                fragment[which] = tile.cast::<u32>().read(at[0] / PER as u32);
            } else {
                unroll::<PER>(|element| {
                    let bits = if const { PER == 2 } {
                        u32::from(tile.cast::<u16>().read(at[element]))
                    } else {
                        u32::from(tile.cast::<u8>().read(at[element]))
                    };
                    fragment[which] |= bits << (element * 32 / PER);
                });
            }
        });
        fragment
    }

    /// Adds the products of a stage to a warp's sums, of the first `BLOCKS` blocks of eight columns.
    #[device]
    #[inline(always)]
    fn multiply<T: Output, const WHOLE: bool, const BLOCKS: usize>(
        &self,
        (a_tile, b_tile): (Shared<T>, Shared<T>),
        sums: &mut [u32; SUMS],
    ) {
        let pitch = const { DEPTH_BYTES / 4 + 4 };
        let lane = warp::lane_id();
        let b_tile = b_tile.cast::<u32>().offset(lane / 4 * pitch + lane % 4);
        // What is known of it would be computed before all stages, for registers of its own.
        let words = opaque(self.words);
        unroll::<{ (DEPTH_BYTES / 32) as usize }>(|step| {
            let word = 2 * step as u32;
            let a = self.read::<T, WHOLE>(a_tile, word, words);
            unroll::<BLOCKS>(|block| {
                let at = block as u32 * 8 * pitch + word * 4;
                let b = [b_tile.read(at), b_tile.read(at + 4)];
                let new = multiply_add::<T>(a, b, [0, 1, 2, 3].map(|which| sums[block * 4 + which]));
                unroll::<4>(|which| sums[block * 4 + which] = new[which]);
            });
        });
    }
}

/// Computes a tile of C. Launch a block of [`THIN_THREADS`] threads and [`THIN_SHARED_BYTES`] for each.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub(crate) fn product<T: Output, F: Epilogue<T::Scale>, const N: usize, const PER: usize, const E: usize>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: Product,
    factors: Factors,
    alpha: T::Scale,
    beta: T::Scale,
    epilogue: F,
) {
    const { assert!(N as u32 == Factor::<T>::VECTOR && PER as u32 == Factor::<T>::PER) };
    const { assert!(E as u32 * THIN_THREADS == 8 * G as u32 * Factor::<T>::DEPTH) };
    let depth = const { Factor::<T>::DEPTH };
    let stages = shared::dynamic().array::<T>(THIN_SHARED_BYTES / size_of::<T>() as u32);
    let [tile_rows, tile_columns] = THIN_TILE;
    let (rows, columns) = (product.m.div_ceil(tile_rows), product.n.div_ceil(tile_columns));
    let Place { row, column, matrix: number } = Place::of(block_idx_x(), rows, columns);
    let (row, column) = (row * tile_rows, column * tile_columns);
    let [matrix, first, end] = product.of_part(number);
    let of = |at: usize, matrices: Global<T>, extent, first| Factor::<T> {
        matrix: matrices.offset(u64::from(matrix) * factors.batch[at]),
        leading: factors.leading[at],
        across: product.across[at] != 0,
        dense: factors.leading[at] == u64::from(if product.across[at] != 0 { extent } else { product.k }),
        extent,
        first,
        k: end,
    };
    let (a, b) = (of(0, a, product.m, row), of(1, b, product.n, column));
    let stage = |number: u32| {
        let elements = const { (A_BYTES + B_BYTES) / size_of::<T>() as u32 };
        let a_tile = stages.offset(number % STAGES * elements);
        (a_tile, a_tile.offset(const { A_BYTES / size_of::<T>() as u32 }))
    };
    let thread = thread_idx_x();
    // Vectors of a line that begins at a multiple of 16 bytes; another has one more.
    let (in_line, lines) =
        if a.across { (tile_rows / const { N as u32 }, depth) } else { (DEPTH_BYTES / 16, tile_rows) };
    let mut copies = Copies::of(&a, first, thread / in_line, thread % in_line, THIN_THREADS / in_line);
    let mut ends = Copies::of(&a, first, thread % lines, in_line, lines);
    // Mutants: every line has room for a vector more, which nobody reads.
    let has_ends = thread < lines && ends.shift > 0;
    let elements = Elements::<E>::of(b.across);
    let warp_row = thread / 32 * 16;
    let places = Places::<PER>::of(&a, warp_row, first);
    let strides = a.matrix.address() | (a.leading * size_of::<T>() as u64);
    let is_whole = !a.across && strides.is_multiple_of(4);
    let columns = (product.n - column).min(tile_columns).next_multiple_of(8);
    // Rows that fragments have.
    let rows = product.m.next_multiple_of(16);
    let steps = (end - first).div_ceil(depth);
    let mut sums = [0; SUMS];
    let mut of_b = [T::default(); E];
    // Of few columns only some of the fragments are computed.
    // Mutants: of the others the sums are not written.
    let of_fragments = if columns > 8 { tile_columns } else { 8 };
    let mut step = 0;
    // Copies are two stages ahead, in one place of the code: they are most of it.
    while step < steps + (STAGES - 1) {
        step = rolled(step);
        if step >= STAGES - 1 {
            // The stage to be multiplied has arrived, and behind the barrier nobody reads the one before any longer.
            wait::<{ STAGES - 2 }>();
            if const { PER == 1 } {
                elements.round(stage(step - (STAGES - 1)).1, of_fragments);
            }
            sync_threads();
        }
        if const { PER != 1 } && step > 0 && step <= steps {
            elements.write(b.across, stage(step - 1).1, of_b, of_fragments);
        }
        // Mutants: what is copied of a stage behind the last nobody reads.
        if step < steps {
            let (tile, k) = (stage(step).0, first + step * depth);
            // Zeros of rows that are not there stay.
            // Mutants: that they are needed is not asked where all of a stage is inside; else they are written again.
            let rows = if step < STAGES { rows } else { 0 };
            let vector = const { N as u32 };
            // Mutants: a stage that is not taken for an inner one has its ends looked at in vain.
            let is_inner = step >= STAGES && k >= vector && k + depth + vector <= end;
            copies.start::<T, N, 4>(&a, tile, k, rows, is_inner);
            if has_ends {
                ends.start::<T, N, 1>(&a, tile, k, rows, is_inner);
            }
            if const { PER == 1 } {
                elements.copy(&b, stage(step).1, k, of_fragments);
            } else {
                of_b = elements.read(&b, k);
            }
        }
        commit();
        if step >= STAGES - 1 && row + warp_row < product.m {
            let stage = stage(step - (STAGES - 1));
            match (is_whole || const { PER == 1 }, columns > 8) {
                (true, true) => places.multiply::<T, true, G>(stage, &mut sums),
                (true, false) => places.multiply::<T, true, 1>(stage, &mut sums),
                (false, true) => places.multiply::<T, false, G>(stage, &mut sums),
                (false, false) => places.multiply::<T, false, 1>(stage, &mut sums),
            }
        }
        step += 1;
    }
    // Mutants: the groups that may be on their way are those of the last steps, without copies.
    wait::<0>();
    sync_threads();
    write(&sums, stages.cast(), c, &product, Place { row, column, matrix: number }, (alpha, beta), epilogue);
}

/// Writes the block's sums to C, neighbours by neighbouring lanes whichever way it lies, through shared memory, in
/// lines that are padded by a word.
#[device]
#[inline(always)]
fn write<T: Output, E: Epilogue<T::Scale>>(
    sums: &[u32; SUMS],
    staging: Shared<u32>,
    c: GlobalMut<T>,
    product: &Product,
    Place { row, column, matrix }: Place,
    scales: (T::Scale, T::Scale),
    epilogue: E,
) {
    const PITCH: u32 = THIN_TILE[1] + 1;
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let own = (thread / 32 * 16 + lane / 4) * PITCH + lane % 4 * 2;
    unroll::<SUMS>(|at| {
        staging.write(own + (at / 2 % 2 * 8) as u32 * PITCH + (at / 4 * 8 + at % 2) as u32, sums[at]);
    });
    sync_threads();
    let rows = (product.m - row).min(THIN_TILE[0]);
    let columns = (product.n - column).min(THIN_TILE[1]);
    // A power of two of neighbours: all rows, or as many columns as there are, or a few more.
    let is_across = product.c_across != 0;
    // Mutants: of more neighbours those behind the last column write nothing.
    let log = if is_across { THIN_TILE[0].trailing_zeros() } else { 32 - (columns - 1).leading_zeros() };
    let lines = if is_across { columns } else { rows };
    let mut index = thread;
    // Mutants: in one more turn nothing is inside.
    while index >> log < lines {
        index = rolled(index);
        let (line, place) = (index >> log, index & ((1 << log) - 1));
        let (down, right) = if is_across { (place, line) } else { (line, place) };
        if down < rows && right < columns {
            let (row, column) =
                if is_across { (column + right, row + down) } else { (row + down, column + right) };
            let place = Place { row, column, matrix };
            store::element(staging.read(down * PITCH + right), place, c, product, scales, epilogue);
        }
        index += THIN_THREADS;
    }
}
