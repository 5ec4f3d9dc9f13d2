//! Transposition of single bytes whose rows start anywhere.
//!
//! As in `skew.rs`, both sides go by 16 aligned bytes, and windows of the output begin with a sector. Gathering byte
//! by byte would cost some ten instructions a byte, more than memory leaves time for. So a tile is turned in shared
//! memory, in place:
//!
//! 1. Rows come to shared memory as they lie (`cp.async`), all at once, a *band* of 16 rows after the other.
//! 2. Bands are turned as they arrive: a thread takes four rows of four columns, each row two words that it shifts
//!    together by the row's misalignment, and transposes them in registers. When all threads have read a few bands,
//!    they put the words back: four words of 16 rows for each column.
//! 3. A vector of the output is five words of a column, shifted together by the window's place.
//!
//! Rows 16 apart are misaligned alike, as are columns 16 apart but for sectors. So a thread works out its places
//! before it begins, and they hold for all.
//!
//! # Requests
//! What limits these tiles is not memory but the L2 cache, which answers a request for each piece of a line (H200,
//! 16381 × 16363, Nsight Compute). Hence windows of several sectors: those of 64 bytes, of a block that went down a
//! strip of the matrix with a ring of rows, were 5.5 million requests to write and 0.782 of the copy's speed; windows
//! of 224 bytes are 3.1 million and 0.867. Blocks that march along rows, whole lines at a time, would ask for the
//! fewest, but with two of them a multiprocessor never got beyond 0.67.
//!
//! Neighbouring windows meet within a line. With plain stores a line waits in the cache for its other part; streaming
//! stores, which give lines up first, have 0.847 of the copy's speed where plain ones have 0.867, and such as are not
//! to stay in the cache 0.844.
//!
//! # Bank conflicts
//! None in tiles that touch no border. Turning, a warp reads consecutive words of a row. Of the words of a band and
//! of four columns, 16 in all, each lies in place [`Band`] ^ what it would be without: so 32 lanes that store the
//! same word of columns four apart meet different banks, and so do 16 lanes that read the same word of a column of 16
//! bands, and 16 more of a column that is four on.

use super::grid::Grid;
use super::registers::bytes;
use super::skew::{Part, Skew};
use super::tile::THREADS;
use gpu_std::async_copy::{commit, copy, wait};
use gpu_std::bits::byte_permute;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel, opaque, rolled, unroll};

/// Rows of the output's windows. 224 are the most that 64 KB hold, which is what Turing has (H200, 16381 × 16363,
/// times of the copy, with streaming stores: 192 rows, four blocks a multiprocessor, 0.839; 224 rows, three blocks,
/// 0.845; 256 rows, three blocks, 0.842).
const ROWS: u32 = 224;
/// A sector: parts of sectors are never written.
const SLACK: u32 = 32;
/// Rows of a band.
const BAND: u32 = 16;
/// Bands of a tile.
const BANDS: usize = ((ROWS + SLACK) / BAND) as usize;
/// Bands that are turned at once, in a thread's registers: four words each.
const GROUP: usize = 4;
const GROUPS: usize = BANDS / GROUP;
const VECTORS: u32 = 16;
const WARPS: u32 = THREADS / 32;

/// Bytes of a row as it is loaded.
const ROW: u32 = VECTORS * 16;
/// Columns of a tile: those that the vectors have whatever the misalignment, and that threads share evenly.
const COLUMNS: u32 = 15 * 16;

/// The tile of `transpose_skew_b8`.
pub const SKEW_B8: Skew = {
    assert!(
        THREADS == VECTORS * BAND
            && WARPS == 8
            && GROUPS * GROUP == BANDS
            // Mutants: there is room to spare, or it does not compile.
            && COLUMNS + 15 <= ROW
            // Mutants: as above.
            && ROWS <= ROW
            // Mutants: as above.
            && GROUPS <= 4
    );
    let shared_bytes = SharedLayout::new().array::<u32>((ROWS + SLACK) * ROW / 4).bytes();
    Skew { rows: ROWS, columns: COLUMNS, slack: SLACK, shared_bytes }
};

/// The low word of two behind so many bytes.
#[inline(always)]
fn behind(low: u32, high: u32, bytes: u32) -> u32 {
    byte_permute(low, high, 0x3210 + 0x1111 * (bytes % 4))
}

/// A thread's vectors on their way in: one of every 16th row.
struct Fill {
    /// Its row of the first band, and the bytes before its vectors in each row.
    row: u32,
    before: u32,
    /// The first vector of its first row.
    from: Global<u8>,
}

impl Fill {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (row, before) = (thread_idx_x() / VECTORS, thread_idx_x() % VECTORS * 16);
        let back = part.shift::<u8>(row, SLACK) as u64;
        let from = part.row((row as u64).wrapping_sub(SLACK as u64)).offset(0u64.wrapping_sub(back));
        Self { row, before, from }
    }

    /// Starts to load the bands of a tile that is wholly in the matrix.
    #[device]
    #[inline(always)]
    fn inside(&self, part: &Part, tile: Shared<u8>) {
        let tile = tile.offset(self.row * ROW + self.before);
        let (mut from, on) = (self.from.offset(self.before as u64), part.input_ld * BAND as u64);
        unroll::<GROUPS>(|group| {
            unroll::<GROUP>(|band| {
                let to = tile.offset((group * GROUP + band) as u32 * (BAND * ROW));
                copy::<u32, 4>(to.cast(), 0, from.cast(), 0);
                from = from.offset(on);
            });
            commit();
        });
    }

    /// Starts to load the bands of a tile that crosses the matrix's border: what is outside is zero.
    #[device]
    #[inline(always)]
    fn border(&self, part: &Part, tile: Shared<u8>) {
        let shift = part.shift::<u8>(self.row, SLACK);
        // Of a row's bytes from its first vector on, those that are the matrix's: the first, and the end.
        let begin = if part.column == 0 { shift } else { 0 };
        let end = (part.columns - part.column).min(ROW as u64) as u32 + shift;
        let last = end / 16 * 16;
        // Mutants: where the first vector is the last too, its bytes are moved twice, by the same threads.
        let has_last = last < ROW && last < end && (last > 0 || begin == 0);
        let mut group = 0;
        while group < GROUPS as u32 {
            group = rolled(group);
            let row = |band: usize| self.row + (group * GROUP as u32 + band as u32) * BAND;
            let is_row =
                |band: usize| part.row.wrapping_add(row(band) as u64).wrapping_sub(SLACK as u64) < part.rows;
            let first = |band: usize| {
                self.from.offset(((group * GROUP as u32 + band as u32) * BAND) as u64 * part.input_ld)
            };
            unroll::<GROUP>(|band| {
                let to = tile.offset(row(band) * ROW + self.before);
                if !is_row(band) || self.before >= end {
                    to.cast::<u32>().write_vec(0, [0; 4]);
                } else if self.before >= begin && self.before + 16 <= end {
                    copy::<u32, 4>(to.cast(), 0, first(band).offset(self.before as u64).cast(), 0);
                }
            });
            // Of the vectors that cross the matrix's border, the first and the last of its rows, 16 threads have a
            // byte each.
            let mut side = 0;
            // Mutants: one more turn does the same as the second.
            while side < 2 {
                side = rolled(side);
                let (vector, crosses) = if side == 0 { (0, begin > 0) } else { (last, has_last) };
                let byte = vector + self.before / 16;
                let is_inside = begin <= byte && byte < end;
                let values: [u8; GROUP] = core::array::from_fn(|band| {
                    if crosses && is_row(band) && is_inside { first(band).read_streaming(byte) } else { 0 }
                });
                unroll::<GROUP>(|band| {
                    if crosses && is_row(band) {
                        tile.write(row(band) * ROW + byte, values[band]);
                    }
                });
                side += 1;
            }
            commit();
            group += 1;
        }
    }
}

/// Where words lie once they are turned, in bytes.
struct Band;

impl Band {
    /// The words of 16 rows, `row` a multiple of 16: the band, and the part of its swizzle.
    #[inline(always)]
    fn rows(row: u32) -> u32 {
        (row * ROW) ^ (row & 0x30) ^ ((row / 16) & 0xc)
    }

    /// The words of column `column`, and the part of their swizzle.
    #[inline(always)]
    fn column(column: u32) -> u32 {
        let quad = column / 4;
        (quad * 64) ^ (column % 4 * 16) ^ (quad / 2 % 16 * 4)
    }
}

/// A thread's words on their way into columns: of four rows of each band.
struct Turn {
    /// The rows' misalignments, and where the words lie of which the thread's own is a part.
    shifts: [u32; 4],
    words: [u32; 4],
    /// Where its four columns' words go, but for the bands' part.
    places: [u32; 4],
}

impl Turn {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
        // A warp has half of a row's words. Behind the last column, threads turn words that nobody needs.
        let (quad, word) = (warp / 2, warp % 2 * 32 + lane);
        let shifts = core::array::from_fn(|i| part.shift::<u8>(4 * quad + i as u32, SLACK));
        let words = core::array::from_fn(|i| {
            (4 * quad + i as u32) * ROW + 4 * (word.min(COLUMNS / 4 - 1) + shifts[i] / 4)
        });
        let places = core::array::from_fn(|k| Band::column(4 * word + k as u32) ^ (4 * quad));
        Self { shifts, words, places }
    }

    /// The words of band `band`, turned.
    #[device]
    #[inline(always)]
    fn read(&self, band: usize, tile: Shared<u8>) -> [u32; 4] {
        bytes(core::array::from_fn(|i| {
            let words = tile.offset(band as u32 * (BAND * ROW)).offset(self.words[i]).cast::<u32>();
            behind(words.read(0), words.read(1), self.shifts[i])
        }))
    }

    /// Puts them back.
    #[device]
    #[inline(always)]
    fn write(&self, band: usize, turned: [u32; 4], tile: Shared<u8>) {
        unroll::<4>(|k| {
            // `Band::rows`, of which one part is another of the places.
            let place = self.places[k ^ (band % 4)] ^ (band / 4 % 4 * 4) as u32;
            tile.offset(band as u32 * (BAND * ROW)).offset(place).cast::<u32>().write(0, turned[k]);
        });
    }

    /// Turns the bands as they arrive.
    #[device]
    #[inline(always)]
    fn all(&self, tile: Shared<u8>) {
        unroll::<GROUPS>(|group| {
            match GROUPS - 1 - group {
                0 => wait::<0>(),
                1 => wait::<1>(),
                2 => wait::<2>(),
                _ => wait::<3>(),
            }
            sync_threads();
            let turned: [[u32; 4]; GROUP] =
                core::array::from_fn(|band| self.read(group * GROUP + band, tile));
            sync_threads();
            unroll::<GROUP>(|band| self.write(group * GROUP + band, turned[band], tile));
        });
        sync_threads();
    }
}

/// A thread's vectors on their way out: of every 16th column.
struct Put {
    /// The first column, where the tile's first row of it lies, and the bytes before its vectors in each window.
    column: u32,
    line: GlobalMut<u8>,
    before: u32,
    /// How many rows behind a band's first its vectors begin.
    behind: u32,
    /// Where a vector's five words lie, but for the bands' part, and whether the last lies in the next band.
    words: [u32; 5],
    ends: u32,
}

impl Put {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
        let column = warp / 4 * 8 + lane / 16 * 4 + warp % 4;
        let line = part.target.offset(column as u64 * part.output_ld);
        let behind = 0u32.wrapping_sub(line.address() as u32) % 16;
        let words = core::array::from_fn(|word| {
            // Mutants: the fifth word counts where a vector begins within a word, and there both are the same.
            let first = if word < 4 { behind / 4 + word as u32 } else { (behind + 15) / 4 };
            Band::column(column) ^ (first % 4 * 4)
        });
        Self { column, line, before: lane % 16 * 16, behind, words, ends: behind.next_multiple_of(16) }
    }

    /// The row of the loaded ones with which the thread's vector of the column whose line is `line` begins, and where
    /// that goes.
    #[inline(always)]
    fn at(&self, line: GlobalMut<u8>) -> (u32, GlobalMut<u8>) {
        let row = SLACK + self.before - line.address() as u32 % SLACK;
        (row, line.offset(row as u64).offset(0u64.wrapping_sub(SLACK as u64)))
    }

    /// The vector from row `row` of the tile on, of the `n`-th column.
    #[device]
    #[inline(always)]
    fn read(&self, n: u32, row: u32, tile: Shared<u8>) -> [u32; 4] {
        let first = row.wrapping_sub(self.behind);
        let column = Band::column(16 * n);
        let bands = [Band::rows(first) ^ column, Band::rows(first + self.ends) ^ column];
        let words: [u32; 5] = core::array::from_fn(|word| {
            // Mutants: the first word is at most the fourth of its 16 rows.
            let ends = word == 4 || word > 0 && self.behind / 4 + word as u32 >= 4;
            let band = if ends { bands[1] } else { bands[0] };
            tile.offset(band ^ self.words[word]).cast::<u32>().read(0)
        });
        core::array::from_fn(|word| behind(words[word], words[word + 1], self.behind))
    }

    /// Writes the windows of a tile that is wholly in the matrix.
    #[device]
    #[inline(always)]
    fn inside(&self, part: &Part, tile: Shared<u8>) {
        // Opaque, so that lines are found by adding.
        let on = part.output_ld * 16;
        let on = (opaque((on >> 32) as u32) as u64) << 32 | opaque(on as u32) as u64;
        let mut line = self.line;
        // A few columns at a time: more would not fit into registers.
        let mut first = 0;
        while first < COLUMNS / 16 {
            first = rolled(first);
            unroll::<5>(|n| {
                let (row, to) = self.at(line);
                if self.before < ROWS {
                    to.cast::<u32>().write_vec(0, self.read(first + n as u32, row, tile));
                }
                line = line.offset(on);
            });
            first += 5;
        }
    }

    /// Writes the windows of a tile that crosses the matrix's border.
    #[device]
    #[inline(always)]
    fn border(&self, part: &Part, tile: Shared<u8>) {
        let mut line = self.line;
        let mut n = 0;
        while n < opaque(COLUMNS / 16) && part.column + ((self.column + 16 * n) as u64) < part.columns {
            let (row, to) = self.at(line);
            // Of the vector's rows, those that are the matrix's: the first, and the end.
            let own = part.row.wrapping_add(row as u64).wrapping_sub(SLACK as u64);
            // Mutants: right behind the last row the end is 0, whatever the first is.
            let begin = if own < part.rows { 0 } else { 0u64.wrapping_sub(own).min(16) as u32 };
            let end = part.rows.wrapping_sub(own).min(16) as u32;
            // Mutants: where begin and end meet, nothing is written.
            if self.before < ROWS && begin < end {
                let vector = self.read(n, row, tile);
                if (begin, end) == (0, 16) {
                    to.cast::<u32>().write_vec(0, vector);
                } else {
                    // A word at a time; words that are done come again at the end, or the compiler would unroll the
                    // loop.
                    let (mut words, mut at) = (vector, 0);
                    // Mutants: in one more turn no row is left.
                    while at < end {
                        at = rolled(at);
                        unroll::<4>(|i| {
                            let row = at + i as u32;
                            if begin <= row && row < end {
                                to.write(row, (words[0] >> (8 * i)) as u8);
                            }
                        });
                        words = [words[1], words[2], words[3], words[0]];
                        at += 4;
                    }
                }
            }
            line = line.offset(part.output_ld * 16);
            n += 1;
        }
    }
}

/// Transposes matrices of bytes that lie anywhere.
///
/// `input` has `rows` rows of `columns` elements, `input_ld` apart; `output` has `columns` rows, `output_ld` apart.
/// Launch a block of [`THREADS`] threads for each tile of `grid`, ⌈(rows + slack − 1) / rows of a tile⌉ of them along
/// axis 0.
#[kernel(images = sm_75_90, launch_bounds(256, 3), programmatic)]
pub fn transpose_skew_b8(
    input: Global<u8>,
    output: GlobalMut<u8>,
    grid: Grid,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let tile = shared::dynamic().array::<u32>((ROWS + SLACK) * ROW / 4).cast::<u8>();
    let part = Part::new(input, output, &grid, (rows, columns), (input_ld, output_ld), &SKEW_B8, 1);
    // Mutants: tiles at an edge go the other way, to the same result.
    let is_inside = part.row >= SLACK as u64
        && part.row + ROWS as u64 <= rows
        && part.column >= 16
        && part.column + ROW as u64 <= columns;
    grid_dependency_synchronize();
    trigger_launch_completion();
    let fill = Fill::new(&part);
    if is_inside {
        fill.inside(&part, tile);
    } else {
        fill.border(&part, tile);
    }
    Turn::new(&part).all(tile);
    let put = Put::new(&part);
    if is_inside {
        put.inside(&part, tile);
    } else {
        put.border(&part, tile);
    }
}
