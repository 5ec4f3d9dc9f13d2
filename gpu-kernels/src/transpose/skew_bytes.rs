//! Transposition of single bytes whose rows start anywhere.
//!
//! As in `skew.rs`, both sides go by 16 aligned bytes, and windows of the output begin with a sector. For bytes a window's slack of up to 31
//! rows is much of a tile that shared memory has room for, and gathering byte by byte would cost some ten instructions a byte, more than
//! memory leaves time for. So a block goes down a strip of the matrix, step by step, and keeps what the next windows begin with:
//!
//! 1. Rows come to shared memory as they lie (`cp.async`), two steps ahead, so that memory always has something to do.
//! 2. They are turned: a thread takes four rows of four columns, each row two words that it shifts together by the row's
//!    misalignment, transposes them in registers, and stores four words of four *lines*. A line is a column's last rows, of two steps:
//!    a ring of 32 words.
//! 3. A vector of the output is five words of a line, shifted together by the window's place.
//!
//! Rows 16 apart are misaligned alike, as are windows of columns 32 apart. So a thread works out its places before the first step, and they
//! hold for all.
//!
//! # Bank conflicts
//! None but of the few columns at the strip's right end. Turning, a warp reads consecutive words of a row. Word `w` of a line lies in place
//! `w ^ swizzle(column)`: 32 lanes that store the same word of lines four apart meet different banks, and so do 32 that read four words, four
//! apart, of eight lines 32 apart.

use super::grid::Grid;
use super::registers::bytes;
use super::skew::{Part, Skew};
use super::tile::THREADS;
use gpu_std::async_copy::{commit, copy, wait};
use gpu_std::bits::byte_permute;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel, opaque, unroll};

/// Rows of a step.
const ROWS: u32 = 64;
/// Steps of a block: the more of them, the fewer rows are loaded twice; the fewer, the better blocks fill the GPU.
const STEPS: u32 = 3;
/// A sector: parts of sectors are never written.
const SLACK: u32 = 32;
const VECTORS: u32 = 16;
const WARPS: u32 = THREADS / 32;

/// Words of a row as it was loaded.
const ROW: u32 = VECTORS * 4;
/// Columns of a strip: of the vectors' bytes, as many as are there whatever the misalignment.
const COLUMNS: u32 = VECTORS * 16 - 15;
/// Words of a line: those of two steps.
const RING: u32 = 2 * ROWS / 4;
/// Words of all lines.
const LINES: u32 = COLUMNS.next_multiple_of(4) * RING;

/// Which word of the line of column `column` lies in place 0.
#[inline(always)]
const fn swizzle(column: u32) -> u32 {
    let quad = column / 4;
    (quad / 8 % 4 + quad % 8 * 4) ^ (quad / 32 * 16)
}

/// The strip of `transpose_skew_b8`.
pub const SKEW_B8: Skew = {
    assert!(ROWS * VECTORS == 4 * THREADS && ROWS / 4 * 2 == 4 * WARPS && ROW == 64 && RING == 32);
    let shared_bytes = SharedLayout::new().array::<u32>(2 * ROWS * ROW + LINES).bytes();
    Skew { rows: STEPS * ROWS, columns: COLUMNS, slack: SLACK, shared_bytes }
};

/// The low word of two behind so many bytes.
#[inline(always)]
fn behind(low: u32, high: u32, bytes: u32) -> u32 {
    byte_permute(low, high, 0x3210 + 0x1111 * (bytes % 4))
}

/// A thread's vectors on their way in: one of every 16th row.
struct Fill {
    /// Its first row of a step, and its vector's number in a row.
    row: u32,
    group: u32,
    /// Of a row's bytes from its first vector on, those that are the matrix's: the first, and the end.
    begin: u32,
    end: u32,
    /// The first vector of row 0.
    from: Global<u8>,
}

impl Fill {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (row, group) = (thread_idx_x() / VECTORS, thread_idx_x() % VECTORS);
        let shift = part.shift::<u8>(row, 0);
        let begin = if part.column == 0 { shift } else { 0 };
        let end = (part.columns - part.column).min(16 * VECTORS as u64) as u32 + shift;
        Self { row, group, begin, end, from: part.row(0).offset(0u64.wrapping_sub(shift as u64)) }
    }

    /// Starts to load the rows of step `step`, of which there is one before the block's own: of that the windows need the last rows.
    #[device]
    #[inline(always)]
    fn step(&self, part: &Part, step: u32, rows: Shared<u32>) {
        let rows = rows.offset((step % 2 * ROWS + self.row) * ROW);
        let on = ((step * ROWS) as u64).wrapping_sub(ROWS as u64);
        let first = part.row.wrapping_add(on);
        let from = self.from.offset(on.wrapping_add(self.row as u64).wrapping_mul(part.input_ld));
        let is_inside = first < part.rows && first + ROWS as u64 <= part.rows;
        let is_row =
            |k: usize| is_inside || first.wrapping_add((self.row + 16 * k as u32) as u64) < part.rows;
        let line = |k: usize| from.offset(16 * k as u64 * part.input_ld);
        let at = 16 * self.group;
        unroll::<4>(|k| {
            let to = rows.offset(16 * k as u32 * ROW + at / 4);
            if is_row(k) && at >= self.begin && at + 16 <= self.end {
                if step > 0 || 16 * k as u32 >= ROWS - SLACK {
                    copy::<u32, 4>(to, 0, line(k).offset(at as u64).cast(), 0);
                }
            } else if !is_row(k) || at >= self.end {
                // What is outside goes no further, but is read.
                to.write_vec(0, [0; 4]);
            }
        });
        // Of the vectors that cross the matrix's border, the first and the last of its rows, 16 threads have a byte each.
        if part.column == 0 || part.column + 16 * VECTORS as u64 > part.columns {
            let last = self.end / 16 * 16;
            let mut side = 0;
            while side < opaque(2) {
                let (vector, crosses) = if side == 0 {
                    (0, self.begin > 0)
                } else {
                    (last, last < 16 * VECTORS && last < self.end && (last > 0 || self.begin == 0))
                };
                let byte = vector + self.group;
                let is_inside = self.begin <= byte && byte < self.end;
                let values: [u8; 4] = core::array::from_fn(|k| {
                    if crosses && is_row(k) && is_inside { line(k).read_streaming(byte) } else { 0 }
                });
                unroll::<4>(|k| {
                    if crosses && is_row(k) {
                        rows.offset(16 * k as u32 * ROW).cast::<u8>().write(byte, values[k]);
                    }
                });
                side += 1;
            }
        }
    }
}

/// A thread's words on their way into the lines: of every fourth quad of a step's rows.
struct Turn {
    /// Of its first quad's rows, the misalignments, and where the words lie of which its own is a part: the second may be beyond the row,
    /// where none of the strip's columns is.
    shifts: [u32; 4],
    words: [[u32; 2]; 4],
    /// Its first column, and the first quad's place in that line.
    column: u32,
    place: u32,
}

impl Turn {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
        // A warp has half of a row's words.
        let (quad, word) = (warp / 2, warp % 2 * 32 + lane);
        let shifts = core::array::from_fn(|i| part.shift::<u8>(4 * quad + i as u32, 0));
        let words = core::array::from_fn(|i| {
            let row = (4 * quad + i as u32) * ROW;
            [0, 1].map(|on| row + (word + shifts[i] / 4 + on).min(ROW - 1))
        });
        Self { shifts, words, column: 4 * word, place: 4 * word * RING + (swizzle(4 * word) ^ quad) }
    }

    /// Turns the rows of step `step`.
    #[device]
    #[inline(always)]
    fn step(&self, step: u32, rows: Shared<u32>, lines: Shared<u32>) {
        let rows = rows.offset(step % 2 * (ROWS * ROW));
        let place = self.place ^ (step % 2 * (ROWS / 4));
        unroll::<4>(|n| {
            if step > 0 || 16 * n as u32 >= ROWS - SLACK {
                let rows = rows.offset(16 * n as u32 * ROW);
                let turned = bytes(core::array::from_fn(|i| {
                    let [low, high] = self.words[i].map(|word| rows.read(word));
                    behind(low, high, self.shifts[i])
                }));
                if self.column < COLUMNS {
                    let line = lines.offset(place ^ (4 * n as u32));
                    unroll::<4>(|k| line.write(k as u32 * RING, turned[k]));
                }
            }
        });
    }
}

/// A thread's vectors on their way out: of four columns.
struct Put {
    /// The first column; the others are [`WARPS`] apart.
    column: u32,
    /// How far in the columns' windows the vectors lie, in bytes.
    along: u32,
    /// Of each column the row of the lines where its vector begins, for step 0.
    firsts: [u32; 4],
    /// Where the vectors of step 0 go.
    to: [GlobalMut<u8>; 4],
}

impl Put {
    #[device]
    #[inline(always)]
    fn new(part: &Part) -> Self {
        let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
        let (column, along) = (lane / 4 * 32 + warp, lane % 4 * 16);
        let vectors: [(u32, GlobalMut<u8>); 4] =
            core::array::from_fn(|n| Self::vector(part, column + n as u32 * WARPS, along));
        Self { column, along, firsts: vectors.map(|(first, _)| first), to: vectors.map(|(_, to)| to) }
    }

    /// Where a vector of step 0 begins: the row of the lines, and the output.
    #[device]
    #[inline(always)]
    fn vector(part: &Part, column: u32, along: u32) -> (u32, GlobalMut<u8>) {
        let line = part.target.offset(column as u64 * part.output_ld);
        let early = line.address() as u32 % SLACK;
        (ROWS - early + along, line.offset((along as u64).wrapping_sub(early as u64)))
    }

    /// The vector of four words of the line of column `column` from row `first` on.
    #[device]
    #[inline(always)]
    fn read(column: u32, first: u32, lines: Shared<u32>) -> [u32; 4] {
        let line = column * RING + swizzle(column);
        // The last byte's word: the fifth, or the fourth once more where the vector starts with a word.
        let words: [u32; 5] = core::array::from_fn(|word| {
            let word = if word < 4 { first / 4 + word as u32 } else { (first + 15) / 4 };
            lines.read(line ^ (word % RING))
        });
        core::array::from_fn(|word| behind(words[word], words[word + 1], first))
    }

    /// Writes the windows of step `step` of the block's own.
    #[device]
    #[inline(always)]
    fn step(&self, part: &Part, step: u32, lines: Shared<u32>) {
        let on = step * ROWS;
        let own = part.row + on as u64;
        let is_there = |column: u32| column < COLUMNS && part.column + (column as u64) < part.columns;
        if own >= SLACK as u64 && own + ROWS as u64 <= part.rows {
            unroll::<4>(|n| {
                let column = self.column + n as u32 * WARPS;
                if is_there(column) {
                    let vector = Self::read(column, self.firsts[n] + on, lines);
                    self.to[n].offset(on as u64).cast::<u32>().write_streaming_vec::<4>(0, vector);
                }
            });
        } else {
            // The first and the last step of a column of strips: vectors may cross the matrix's border.
            let mut column = self.column;
            while column < opaque(self.column + 4 * WARPS) {
                let (first, to) = Self::vector(part, column, self.along);
                let row = (own + first as u64).wrapping_sub(ROWS as u64);
                let (begin, end) =
                    (0u64.wrapping_sub(row).min(16) as u32, part.rows.wrapping_sub(row).min(16) as u32);
                let begin = if row < part.rows { 0 } else { begin };
                if is_there(column) && begin < end {
                    let (vector, to) = (Self::read(column, first + on, lines), to.offset(on as u64));
                    if (begin, end) == (0, 16) {
                        to.cast::<u32>().write_streaming_vec::<4>(0, vector);
                    } else {
                        unroll::<16>(|i| {
                            if begin <= i as u32 && (i as u32) < end {
                                to.write(i as u32, (vector[i / 4] >> (8 * (i % 4))) as u8);
                            }
                        });
                    }
                }
                column += WARPS;
            }
        }
    }
}

/// Transposes matrices of bytes that lie anywhere.
///
/// `input` has `rows` rows of `columns` elements, `input_ld` apart; `output` has `columns` rows, `output_ld` apart.
/// Launch a block of [`THREADS`] threads for each strip of `grid`, ⌈(rows + slack − 1) / rows of a strip⌉ of them along axis 0.
#[kernel(module = transpose_skew_b8, launch_bounds(256, 3), programmatic)]
pub fn transpose_skew_b8(
    input: Global<u8>,
    output: GlobalMut<u8>,
    grid: Grid,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let memory = shared::dynamic().array::<u32>(2 * ROWS * ROW + LINES);
    let lines = memory.offset(2 * ROWS * ROW);
    let part = Part::new(input, output, &grid, (rows, columns), (input_ld, output_ld), &SKEW_B8, 1);
    // Windows of rows of the matrix: the last may begin so many rows behind its end.
    let steps =
        ((rows + SLACK as u64 - 1).saturating_sub(part.row).div_ceil(ROWS as u64)).min(STEPS as u64) as u32;
    grid_dependency_synchronize();
    trigger_launch_completion();
    let (fill, turn, put) = (Fill::new(&part), Turn::new(&part), Put::new(&part));
    // Each step is loaded while the two before it are turned and written. That before the block's own has no windows.
    let mut step = 0;
    while step <= steps + 2 {
        if step >= 2 {
            wait::<1>();
            sync_threads();
            turn.step(step - 2, memory, lines);
            sync_threads();
        }
        if step <= steps {
            fill.step(&part, step, memory);
        }
        commit();
        if step >= 3 {
            put.step(&part, step - 3, lines);
        }
        step += 1;
    }
}
