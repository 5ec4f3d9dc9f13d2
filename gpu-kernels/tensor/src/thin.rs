//! Products of which a factor has few rows or columns: what takes time is to read the other one, wherever it lies.
//!
//! A block computes 128 × 32 elements of C with 4 warps, 32 × 32 each. Tiles of A and B, 128 bytes deep along `k`, go through a ring
//! of three stages in shared memory, as in `lanes.rs`. There a line begins as far behind a multiple of 16 bytes as it does in
//! memory, so that 16 bytes are copied at once whatever the alignment, but for a line's ends; a fragment's words are
//! put together from elements, at the same places in all steps.

use gpu_std::async_copy::{commit, copy, wait};
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::mma::multiply_add;
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, rolled, shared, unroll, warp};

use crate::lanes::Factors;
use crate::pack::round_tf32;
use crate::place::{Place, Product};
use crate::store::{self, Output};

/// Rows and columns of a block's tile of C.
pub const THIN_TILE: [u32; 2] = [128, 32];
/// Threads of a block.
pub const THIN_THREADS: u32 = 128;
/// How much of `k` a stage holds, in bytes.
const DEPTH_BYTES: u32 = 128;
const STAGES: u32 = 3;
/// Bytes of a stage's two tiles, in the widest of their forms: lines are as much longer as the next one may begin later, and
/// so that fragments' rows begin in different banks.
const STAGE_BYTES: u32 = 128 * (DEPTH_BYTES + 16) + 128 * (THIN_TILE[1] + 16);
/// Dynamic shared memory of a block.
pub const THIN_SHARED_BYTES: u32 = STAGES * STAGE_BYTES;

/// A factor of `EXTENT` rows a tile (of B: columns): where its matrix begins, and how it lies. 16 bytes are `N`
/// elements, four are `PER`.
struct Factor<T: Output, const N: usize, const PER: usize, const EXTENT: u32> {
    matrix: Global<T>,
    leading: u64,
    across: bool,
    /// Rows of A, columns of B: all of them, and the tile's first.
    extent: u32,
    first: u32,
    k: u32,
}

/// Where a lane's elements of a factor's tile are, the same in each stage.
struct Places<const PER: usize> {
    /// Of the elements of a word, in a row and in the eighth from it.
    elements: [[u32; PER]; 2],
    /// To 16 rows on.
    rows: u32,
    /// To the next word along `k`, of the four next words' worth.
    words: u32,
    /// Whether a word's elements are neighbours at a multiple of four bytes.
    whole: bool,
}

impl<T: Output, const N: usize, const PER: usize, const EXTENT: u32> Factor<T, N, PER, EXTENT> {
    const VECTOR: u32 = N as u32;
    const DEPTH: u32 = DEPTH_BYTES / 16 * Self::VECTOR;
    /// From one line of the tile to the next, in elements; across `k` at least 8 words more than the extent, whose
    /// lines would else share banks.
    const ALONG_PITCH: u32 = Self::DEPTH + Self::VECTOR;
    const ACROSS_PITCH: u32 = EXTENT + if N < 8 { 8 } else { Self::VECTOR };

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

    /// Starts copying the tile from `k` on.
    #[device]
    #[inline(always)]
    fn load(&self, target: Shared<T>, k: u32) {
        let thread = thread_idx_x();
        // Vectors of a line that begins at a multiple of 16 bytes; another has one more.
        let (in_line, lines) =
            if self.across { (EXTENT / Self::VECTOR, Self::DEPTH) } else { (DEPTH_BYTES / 16, EXTENT) };
        self.vectors(target, k, [thread / in_line, thread % in_line], THIN_THREADS / in_line, lines);
        if thread < lines && self.shift(thread, k) > 0 {
            self.vectors(target, k, [thread, in_line], lines, lines);
        }
    }

    /// The vectors at this place of each `step`th line. Those lines begin alike: `step` rows are a multiple of 16
    /// bytes, whatever is between lines.
    #[device]
    #[inline(always)]
    fn vectors(&self, target: Shared<T>, k: u32, [line, vector]: [u32; 2], step: u32, lines: u32) {
        let shift = self.shift(line, k);
        let (first_line, line_end, first, length) = if self.across {
            (k, self.k, self.first, self.extent)
        } else {
            (self.first, self.extent, k, self.k)
        };
        let begin = first + vector * Self::VECTOR;
        // Lines of zeros are needed along `k`, and to the end of a fragment.
        let needed = if self.across { u32::MAX } else { self.extent.next_multiple_of(16) };
        let is_whole = begin >= shift && begin - shift + Self::VECTOR <= length;
        let mut source = self.matrix.offset(u64::from(first_line + line) * self.leading);
        let mut target = target.offset(line * self.pitch() + vector * Self::VECTOR);
        let mut line = line;
        while line < lines {
            line = rolled(line);
            if is_whole && first_line + line < line_end {
                copy::<T, N>(target, 0, source, begin - shift);
            } else if first_line + line < needed {
                let length = if first_line + line < line_end { length } else { 0 };
                Self::by_element(target, source, begin, shift, length);
            }
            source = source.offset(u64::from(step) * self.leading);
            target = target.offset(step * self.pitch());
            line += step;
        }
    }

    /// Copies those elements of a vector that are in a line, the others being zero: from `shift` before `begin` on.
    #[device]
    #[inline(always)]
    fn by_element(target: Shared<T>, source: Global<T>, begin: u32, shift: u32, length: u32) {
        let is_there = |at: u32| begin + at >= shift && begin + at - shift < length;
        if const { N == 16 } {
            // Bytes: as little code as can be.
            let mut at = 0;
            while at < Self::VECTOR {
                at = rolled(at);
                target.write(at, if is_there(at) { source.read(begin + at - shift) } else { T::default() });
                at += 1;
            }
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

    /// The places of a lane whose warp's first row is `row`, in tiles whose first `k` is a multiple of a stage from
    /// `k` on.
    #[device]
    #[inline(always)]
    fn places(&self, row: u32, k: u32) -> Places<PER> {
        let lane = warp::lane_id();
        let (row, word) = (row + lane / 4, lane % 4 * PER as u32);
        let mut elements = [[0; PER]; 2];
        unroll::<2>(|half| {
            unroll::<PER>(|at| {
                let (row, k_place) = (row + 8 * half as u32, word + at as u32);
                let (line, place) = if self.across { (k_place, row) } else { (row, k_place) };
                elements[half][at] = line * self.pitch() + self.shift(line, k) + place;
            });
        });
        let bytes = size_of::<T>() as u64;
        let strides = self.matrix.address() | (self.leading * bytes);
        let (rows, words) = if self.across {
            (16, 4 * PER as u32 * self.pitch())
        } else {
            (16 * self.pitch(), 4 * PER as u32)
        };
        Places { elements, rows, words, whole: !self.across && strides.is_multiple_of(4) }
    }
}

impl<const PER: usize> Places<PER> {
    /// Word `word` of a row of fragments, `half` 0 or 1 of its 16 rows.
    #[device]
    #[inline(always)]
    fn read<T: Output>(&self, tile: Shared<T>, rows: u32, half: usize, word: u32) -> u32 {
        let step = rows * self.rows + word * self.words;
        let at = self.elements[half].map(|place| place + step);
        if const { PER == 1 } {
            return round_tf32(tile.cast::<u32>().read(at[0]));
        }
        if self.whole {
            return tile.cast::<u32>().read(at[0] / PER as u32);
        }
        let mut bits = 0;
        unroll::<PER>(|which| {
            let element = if const { PER == 2 } {
                u32::from(tile.cast::<u16>().read(at[which]))
            } else {
                u32::from(tile.cast::<u8>().read(at[which]))
            };
            bits |= element << (which * 32 / PER);
        });
        bits
    }
}

/// Computes a tile of C. Launch a block of [`THIN_THREADS`] threads and [`THIN_SHARED_BYTES`] for each.
#[device]
#[inline(always)]
pub(crate) fn product<T: Output, const N: usize, const PER: usize>(
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<T>,
    product: Product,
    factors: Factors,
    scales: (T::Scale, T::Scale),
) {
    const { assert!(N * size_of::<T>() == 16 && PER * size_of::<T>() == 4) };
    let depth = const { DEPTH_BYTES / 16 * N as u32 };
    let stages = shared::dynamic().array::<T>(THIN_SHARED_BYTES / size_of::<T>() as u32);
    let [tile_rows, tile_columns] = THIN_TILE;
    let (rows, columns) = (product.m.div_ceil(tile_rows), product.n.div_ceil(tile_columns));
    let Place { row, column, matrix: number } = Place::of(block_idx_x(), rows, columns);
    let (row, column) = (row * tile_rows, column * tile_columns);
    let [matrix, first, end] = product.of_part(number);
    let a = Factor::<T, N, PER, { THIN_TILE[0] }> {
        matrix: a.offset(u64::from(matrix) * factors.batch[0]),
        leading: factors.leading[0],
        across: product.across[0] != 0,
        extent: product.m,
        first: row,
        k: end,
    };
    let b = Factor::<T, N, PER, { THIN_TILE[1] }> {
        matrix: b.offset(u64::from(matrix) * factors.batch[1]),
        leading: factors.leading[1],
        across: product.across[1] != 0,
        extent: product.n,
        first: column,
        k: end,
    };
    let stage = |number: u32| {
        let a_tile = stages.offset(number % STAGES * const { STAGE_BYTES / size_of::<T>() as u32 });
        (a_tile, a_tile.offset(const { 128 * (DEPTH_BYTES + 16) / size_of::<T>() as u32 }))
    };
    let warp_row = thread_idx_x() / 32 * 32;
    let places = (a.places(warp_row, first), b.places(0, first));
    // Fragments of the tile that have rows, and columns.
    let of_rows = (product.m - row).saturating_sub(warp_row).min(32).div_ceil(16);
    let of_columns = (product.n - column).min(tile_columns).div_ceil(8);
    let steps = (end - first).div_ceil(depth);
    let mut sums = [0; 32];
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
            multiply(&places, stage(step - (STAGES - 1)), [of_rows, of_columns], &mut sums);
        }
        step += 1;
    }
    wait::<0>();
    sync_threads();
    write(&sums, stages.cast(), c, &product, Place { row, column, matrix: number }, scales);
}

/// Adds the products of a stage to a warp's sums.
#[device]
#[inline(always)]
fn multiply<T: Output, const PER: usize>(
    (of_a, of_b): &(Places<PER>, Places<PER>),
    (a_tile, b_tile): (Shared<T>, Shared<T>),
    [rows, columns]: [u32; 2],
    sums: &mut [u32; 32],
) {
    if rows == 0 {
        return;
    }
    let mut word = 0;
    while word < DEPTH_BYTES / 16 {
        word = rolled(word);
        let mut b = [[0; 2]; 4];
        unroll::<4>(|j| {
            if (j as u32) < columns {
                b[j] = [0, 1].map(|i| of_b.read(b_tile, j as u32 / 2, j % 2, word + i));
            }
        });
        unroll::<2>(|i| {
            if (i as u32) < rows {
                let mut a = [0; 4];
                unroll::<4>(|which| {
                    a[which] = of_a.read(a_tile, i as u32, which % 2, word + which as u32 / 2)
                });
                unroll::<4>(|j| {
                    if (j as u32) < columns {
                        let at = (i * 4 + j) * 4;
                        let new = multiply_add::<T>(a, b[j], [0, 1, 2, 3].map(|which| sums[at + which]));
                        unroll::<4>(|which| sums[at + which] = new[which]);
                    }
                });
            }
        });
        word += 2;
    }
}

/// Writes the block's sums to C, neighbours by neighbouring lanes whichever way it lies, through shared memory, in
/// lines that are padded by a word.
#[device]
#[inline(always)]
fn write<T: Output>(
    sums: &[u32; 32],
    staging: Shared<u32>,
    c: GlobalMut<T>,
    product: &Product,
    Place { row, column, matrix }: Place,
    scales: (T::Scale, T::Scale),
) {
    const PITCH: u32 = THIN_TILE[1] + 1;
    let (thread, lane) = (thread_idx_x(), warp::lane_id());
    let own = (thread / 32 * 32 + lane / 4) * PITCH + lane % 4 * 2;
    unroll::<32>(|at| {
        let (rows, block) = (at / 16 * 16 + at / 2 % 2 * 8, at / 4 % 4);
        staging.write(own + rows as u32 * PITCH + (block * 8 + at % 2) as u32, sums[at]);
    });
    sync_threads();
    let rows = (product.m - row).min(THIN_TILE[0]);
    let columns = (product.n - column).min(THIN_TILE[1]);
    // A power of two of neighbours: all rows, or as many columns as there are, or a few more.
    let is_across = product.c_across != 0;
    let log = if is_across { THIN_TILE[0].trailing_zeros() } else { 32 - (columns - 1).leading_zeros() };
    let lines = if is_across { columns } else { rows };
    let mut index = thread;
    while index >> log < lines {
        index = rolled(index);
        let (line, place) = (index >> log, index & ((1 << log) - 1));
        let (down, right) = if is_across { (place, line) } else { (line, place) };
        if down < rows && right < columns {
            let sum = staging.read(down * PITCH + right);
            let (line, place) =
                if is_across { (column + right, row + down) } else { (row + down, column + right) };
            let start =
                u64::from(matrix) * product.c_batch + u64::from(line) * product.c_leading + u64::from(place);
            store::neighbours::<T, 1>([sum], c, start, product, scales);
        }
        index += THIN_THREADS;
    }
}
