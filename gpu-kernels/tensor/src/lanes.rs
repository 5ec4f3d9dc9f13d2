//! Products on capability 8.0 and later, and of matrices that the copy engine does not take: by warps that each
//! multiply fragments in registers (`mma`).
//!
//! A block computes 128 × 128 elements of C with 8 warps, 64 × 32 each. Tiles of A and B, 64 bytes deep along `k`,
//! go through a ring of three stages in shared memory: 16 bytes at once by asynchronous copies where alignment and
//! the matrix's edge allow, else element by element. A tile lies there as its matrix does in memory, and
//! [`load_matrices`] turns what is contiguous across `k`, of 16-bit elements; words of 32 bits are read one by one then.
//! Its lines are padded, so that those that are read together begin in different banks.

use gpu_std::async_copy::{commit, copy, copy_or_zero, wait};
use gpu_std::half::bf16;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::{load_matrices, multiply_add, round_tf32};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, rolled, shared, unroll, warp};

use crate::epilogue::Epilogue;
use crate::output::Output;
use crate::place::{Place, Product};
use crate::store::{self, Target};

/// Rows, and columns, of a block's tile.
pub const TILE: u32 = 128;
/// Threads of a block.
pub const LANES_THREADS: u32 = 256;
/// How much of `k` a stage holds, in bytes.
const DEPTH_BYTES: u32 = 64;
const STAGES: u32 = 3;
/// Blocks of eight columns that a warp has, and writes together.
const BLOCKS: usize = 4;
/// Bytes of a stage's tile, in the wider of its two forms.
const TILE_BYTES: u32 = TILE * (DEPTH_BYTES + 16);
/// Dynamic shared memory of a block.
pub const LANES_SHARED_BYTES: u32 = STAGES * 2 * TILE_BYTES;

/// How A and B lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Factors {
    /// Elements from one line to the next, of A and of B.
    pub leading: [u64; 2],
    /// Elements from one matrix of the batch to the next.
    pub batch: [u64; 2],
    /// Whether 16 bytes may be copied at once, 1 or 0.
    pub vectors: [u32; 2],
    /// Whether `f32` are not rounded to tf32 yet, 1 or 0.
    pub rounds: [u32; 2],
    /// Blocks of each product, where a table says where its matrices start; zero: the matrices have strides.
    pub listed: u32,
    /// Which word of the table's entries is A's, 0 or 1; the other one is B's.
    pub listed_a: u32,
}

impl Factors {
    /// Where the matrices of the block's product begin, if a table says so: for each product an entry of three words,
    /// the first elements of its factors and of its C, counted from those of the arguments; C's in its own type, which
    /// is that of the factors or, if it is not `narrow`, of the sums.
    #[device]
    #[inline(always)]
    pub(crate) fn listed<T: Output>(
        &self,
        (a, b, c): (Global<T>, Global<T>, GlobalMut<T>),
        starts: Global<u64>,
        narrow: u32,
    ) -> (Global<T>, Global<T>, GlobalMut<T>) {
        if self.listed == 0 {
            return (a, b, c);
        }
        let entry = 3 * (block_idx_x() / self.listed);
        let start = |word: u32| starts.read_only(entry + word);
        let of_sum = const { (size_of::<u32>() / size_of::<T>()) as u64 };
        let elements = if narrow != 0 { 1 } else { of_sum };
        (a.offset(start(self.listed_a)), b.offset(start(1 - self.listed_a)), c.offset(start(2) * elements))
    }
}

/// A factor: where its matrix begins, and how it lies. 16 bytes are `N` elements.
struct Factor<T: Output, const N: usize> {
    matrix: Global<T>,
    leading: u64,
    across: bool,
    vectors: bool,
    rounds: bool,
    /// Rows of A, columns of B: all of them, and the tile's first.
    extent: u32,
    first: u32,
    k: u32,
}

impl<T: Output, const N: usize> Factor<T, N> {
    const VECTOR: u32 = N as u32;
    const DEPTH: u32 = DEPTH_BYTES / 16 * Self::VECTOR;
    /// From one line of the tile to the next, across `k` and along it.
    const ACROSS_PITCH: u32 = TILE + 8;
    const ALONG_PITCH: u32 = Self::DEPTH + Self::VECTOR;

    /// Whether it is contiguous across `k`.
    #[inline(always)]
    fn is_across(&self) -> bool {
        T::ACROSS[0] && self.across
    }

    /// Starts copying the tile from `k` on.
    #[device]
    #[inline(always)]
    fn load(&self, target: Shared<T>, k: u32) {
        let thread = thread_idx_x();
        unroll::<{ (TILE * DEPTH_BYTES / 16 / LANES_THREADS) as usize }>(|number| {
            let vector = thread + number as u32 * LANES_THREADS;
            // The line, and where in it.
            let across = self.is_across();
            let in_line = if across { TILE / Self::VECTOR } else { DEPTH_BYTES / 16 };
            let (line, place) = (vector / in_line, vector % in_line * Self::VECTOR);
            let pitch = if across { Self::ACROSS_PITCH } else { Self::ALONG_PITCH };
            let (first_line, lines) = if across { (k, self.k) } else { (self.first, self.extent) };
            let (first_place, places) = if across { (self.first, self.extent) } else { (k, self.k) };
            let target = target.offset(line * pitch + place);
            let (line, place) = (first_line + line, first_place + place);
            let is_line = line < lines;
            // Mutants: right behind the last place none is left.
            let left = if is_line && place < places { places - place } else { 0 };
            let source = self.matrix.offset(u64::from(line) * self.leading + u64::from(place));
            // Mutants: an element at a time it is the same.
            if self.vectors && left >= Self::VECTOR {
                copy::<T, N>(target, 0, source, 0);
            } else {
                by_element::<T, N>(target, source, 0, 0, left);
            }
        });
    }

    /// The four matrices of 8 × 16 bytes that are 16 rows of 32 bytes from `row` of the tile and `k` of the stage
    /// on, in units of two bytes: their rows first (`BY_ROWS`, as A has them), or along `k` first (as two of B).
    #[device]
    #[inline(always)]
    fn fragments<const BY_ROWS: bool>(&self, tile: Shared<T>, row: u32, k: u32) -> [u32; 4] {
        let lane = warp::lane_id();
        let (line, first, second) = (lane % 8, lane / 8 % 2 * 8, lane / 16 * 8);
        let (row_step, k_step) = if const { BY_ROWS } { (first, second) } else { (second, first) };
        let mut words = if const { N == 4 } && self.is_across() {
            let tile = tile.cast::<u32>();
            let place = (k / 2 + lane % 4) * Self::ACROSS_PITCH + row + lane / 4;
            [0, 1, 2, 3].map(|which| {
                let (first, second) = (which % 2, which / 2);
                let (row_step, k_step) = if const { BY_ROWS } { (first, second) } else { (second, first) };
                tile.read(place + k_step * 4 * Self::ACROSS_PITCH + row_step * 8)
            })
        } else if self.is_across() {
            let place = (k + k_step + line) * Self::ACROSS_PITCH + row + row_step;
            load_matrices::<bf16, true>(tile.cast(), place)
        } else {
            let place = (row + row_step + line) * (DEPTH_BYTES / 2 + 8) + k + k_step;
            load_matrices::<bf16, false>(tile.cast(), place)
        };
        if const { N == 4 } && self.rounds {
            unroll::<4>(|which| words[which] = round_tf32(words[which]));
        }
        words
    }
}

/// Copies those elements of a vector that are in a line, the others being zero: from `shift` before `begin` on.
#[device]
#[inline(always)]
pub(crate) fn by_element<T: Output, const N: usize>(
    target: Shared<T>,
    source: Global<T>,
    begin: u32,
    shift: u32,
    length: u32,
) {
    let is_there = |at: u32| begin + at >= shift && begin + at - shift < length;
    if const { N == 16 } {
        // Bytes: as little code as can be.
        let mut at = 0;
        while at < N as u32 {
            at = rolled(at);
            target.write(at, if is_there(at) { source.read(begin + at - shift) } else { T::default() });
            at += 1;
        }
    } else if const { N == 4 } {
        unroll::<N>(|at| {
            let at = at as u32;
            let (is_there, index) = (is_there(at), (begin + at).wrapping_sub(shift));
            let index = if is_there { index } else { 0 };
            copy_or_zero::<u32, 1>(target.cast(), at, source.cast(), index, u32::from(is_there));
        });
    } else {
        // All are on their way before the first is there.
        let mut values = [T::default(); N];
        unroll::<N>(|at| {
            if is_there(at as u32) {
                values[at] = source.read(begin + at as u32 - shift);
            }
        });
        target.write_vec(0, values);
    }
}

/// Computes a tile of C. Launch a block of [`LANES_THREADS`] threads and [`LANES_SHARED_BYTES`] for each.
#[device]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn product<T: Output, E: Epilogue<T::Scale>, const N: usize>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: Product,
    factors: Factors,
    alpha: T::Scale,
    beta: T::Scale,
    epilogue: E,
) {
    const { assert!(N * size_of::<T>() == 16) };
    let depth = const { Factor::<T, N>::DEPTH };
    let elements = const { TILE_BYTES / size_of::<T>() as u32 };
    let stages = shared::dynamic().array::<T>(STAGES * 2 * elements);
    let (rows, columns) = (product.m.div_ceil(TILE), product.n.div_ceil(TILE));
    let Place { row, column, matrix: number } = Place::of(block_idx_x(), rows, columns);
    let (row, column) = (row * TILE, column * TILE);
    let [matrix, first, end] = product.of_part(number);
    let a = Factor::<T, N> {
        matrix: a.offset(u64::from(matrix) * factors.batch[0]),
        leading: factors.leading[0],
        across: product.across[0] != 0,
        vectors: factors.vectors[0] != 0,
        rounds: factors.rounds[0] != 0,
        extent: product.m,
        first: row,
        k: end,
    };
    let b = Factor::<T, N> {
        matrix: b.offset(u64::from(matrix) * factors.batch[1]),
        leading: factors.leading[1],
        across: product.across[1] != 0,
        vectors: factors.vectors[1] != 0,
        rounds: factors.rounds[1] != 0,
        extent: product.n,
        first: column,
        k: end,
    };
    let stage = |number: u32| {
        let a_tile = stages.offset(number % STAGES * 2 * elements);
        (a_tile, a_tile.offset(elements))
    };
    let steps = (end - first).div_ceil(depth);
    let warp = thread_idx_x() / 32;
    let (warp_row, warp_column) = (warp / 4 * 64, warp % 4 * 32);
    let mut sums = [0; 64];
    let mut step = 0;
    // Copies are two stages ahead, in one place of the code: they are most of it.
    while step < steps + (STAGES - 1) {
        step = rolled(step);
        if step >= STAGES - 1 {
            // The stage to be multiplied has arrived, and behind the barrier nobody reads the one before any longer.
            wait::<{ STAGES - 2 }>();
            sync_threads();
        }
        if step < steps {
            let (a_tile, b_tile) = stage(step);
            a.load(a_tile, first + step * depth);
            b.load(b_tile, first + step * depth);
        }
        commit();
        if step >= STAGES - 1 {
            multiply(&a, &b, stage(step - (STAGES - 1)), [warp_row, warp_column], &mut sums);
        }
        step += 1;
    }

    // Behind the barrier nobody reads the stages any longer; nothing is copied any more.
    sync_threads();
    let place = Place { row: row + warp_row, column: column + warp_column, matrix: number };
    let staging = stages.cast().offset(warp * const { store::staging(BLOCKS) });
    Target { c, product: &product, alpha, beta, staging }.write::<E, BLOCKS, { BLOCKS / 2 }, 8, 64>(
        &sums,
        place,
        epilogue,
        |strip| [16 * strip, 0],
    );
}

/// Adds the products of a stage to a warp's sums.
#[device]
#[inline(always)]
fn multiply<T: Output, const N: usize>(
    a: &Factor<T, N>,
    b: &Factor<T, N>,
    tiles: (Shared<T>, Shared<T>),
    warp: [u32; 2],
    sums: &mut [u32; 64],
) {
    if const { N == 4 } {
        // What rounds is too long to be there twice.
        let mut k = 0;
        while k < 32 {
            k = rolled(k);
            multiply_half(a, b, tiles, warp, k, sums);
            k += 16;
        }
    } else {
        multiply_half(a, b, tiles, warp, 0, sums);
        multiply_half(a, b, tiles, warp, 16, sums);
    }
}

/// The same of half of it, from `k` on, in units of two bytes.
#[device]
#[inline(always)]
fn multiply_half<T: Output, const N: usize>(
    a: &Factor<T, N>,
    b: &Factor<T, N>,
    (a_tile, b_tile): (Shared<T>, Shared<T>),
    [warp_row, warp_column]: [u32; 2],
    k: u32,
    sums: &mut [u32; 64],
) {
    let mut of_b = [[0; 4]; 2];
    unroll::<2>(|j| of_b[j] = b.fragments::<false>(b_tile, warp_column + j as u32 * 16, k));
    unroll::<4>(|i| {
        let of_a = a.fragments::<true>(a_tile, warp_row + i as u32 * 16, k);
        unroll::<4>(|j| {
            let pair = [of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]];
            let at = i * 16 + j * 4;
            let old = [sums[at], sums[at + 1], sums[at + 2], sums[at + 3]];
            let new = multiply_add::<T>(of_a, pair, old);
            unroll::<4>(|which| sums[at + which] = new[which]);
        });
    });
}
