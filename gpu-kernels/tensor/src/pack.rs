//! Factors copied into aligned lines, so that the copy engine takes them; of `f32`, rounded to tf32, and of bytes with
//! lines along `k`.
//!
//! A block copies 64 lines of 32 words of 32 bits, each word by one thread: its elements are read one by one, from any
//! address, by neighbouring lanes. What is transposed goes through shared memory, whose lines are padded by a word so that
//! neither lines nor columns meet in a bank.

use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::mma::round_tf32;
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, rolled, shared, unroll};

/// Threads of a block that copies.
pub const PACK_THREADS: u32 = 256;
/// Lines of a copy that a block writes.
pub const PACK_LINES: u32 = 64;
/// Words of a line that a block writes.
pub const PACK_WORDS: u32 = 32;

/// Dynamic shared memory of a block that may transpose.
pub const PACK_SHARED_BYTES: u32 = PACK_LINES * (PACK_WORDS + 1) * 4;

/// What is copied, of A and of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Packing {
    /// Elements from one line of the factor to the next.
    pub leading: [u64; 2],
    /// Elements from one matrix of the batch to the next.
    pub batch: [u64; 2],
    /// Words from one line of the copy to the next.
    pub packed_leading: [u64; 2],
    /// Words from one copied matrix to the next.
    pub packed_batch: [u64; 2],
    /// Where the copy begins, in words.
    pub packed_first: [u64; 2],
    /// Lines of the copy.
    pub lines: [u32; 2],
    /// Elements of a line of the copy.
    pub contiguous: [u32; 2],
    /// Whether lines of the copy lie across lines of the factor: 1 or 0. Only of 8 and of 32 bits.
    pub across: [u32; 2],
    /// Blocks that copy A.
    pub of_a: u32,
}

/// One factor's part of [`Packing`].
struct Copy<T: Element> {
    source: Global<T>,
    leading: u64,
    target: GlobalMut<u32>,
    target_leading: u64,
    lines: u32,
    contiguous: u32,
    across: bool,
    /// The block's first line and word.
    line: u32,
    word: u32,
}

impl<T: Element> Copy<T> {
    #[device]
    #[inline(always)]
    fn of_block(a: Global<T>, b: Global<T>, packed: GlobalMut<u32>, of: &Packing, per_word: u32) -> Self {
        let is_b = block_idx_x() >= of.of_a;
        // Registers have no index.
        let wide = |pair: [u64; 2]| if is_b { pair[1] } else { pair[0] };
        let narrow = |pair: [u32; 2]| if is_b { pair[1] } else { pair[0] };
        let block = block_idx_x() - if is_b { of.of_a } else { 0 };
        let (lines, contiguous) = (narrow(of.lines), narrow(of.contiguous));
        let (rows, columns) =
            (lines.div_ceil(PACK_LINES).max(1), contiguous.div_ceil(PACK_WORDS * per_word).max(1));
        let (line, column) = (block / columns, block % columns);
        let (matrix, row) = (u64::from(line / rows), line % rows);
        Self {
            source: (if is_b { b } else { a }).offset(matrix * wide(of.batch)),
            leading: wide(of.leading),
            target: packed.offset(wide(of.packed_first) + matrix * wide(of.packed_batch)),
            target_leading: wide(of.packed_leading),
            lines,
            contiguous,
            across: narrow(of.across) != 0,
            line: row * PACK_LINES,
            word: column * PACK_WORDS,
        }
    }
}

/// Copies elements of 16 bits as they lie.
#[device]
#[inline(always)]
pub(crate) fn halves(a: Global<u16>, b: Global<u16>, packed: GlobalMut<u32>, packing: &Packing) {
    let copy = Copy::of_block(a, b, packed, packing, 2);
    let word = copy.word + thread_idx_x() % 32;
    let first = copy.line + thread_idx_x() / 32;
    let mut words = [0; 8];
    // All are on their way before the first is there.
    unroll::<8>(|number| {
        let line = first + 8 * number as u32;
        if line < copy.lines && 2 * word < copy.contiguous {
            let source = copy.source.offset(u64::from(line) * copy.leading + 2 * u64::from(word));
            let low = u32::from(source.read(0));
            let high = if 2 * word + 1 < copy.contiguous { u32::from(source.read(1)) } else { 0 };
            words[number] = low | high << 16;
        }
    });
    unroll::<8>(|number| {
        let line = first + 8 * number as u32;
        if line < copy.lines && 2 * word < copy.contiguous {
            copy.target
                .offset(u64::from(line) * copy.target_leading + u64::from(word))
                .write(0, words[number]);
        }
    });
}

/// Copies elements of 32 bits, rounded to tf32, and transposed where lines of the copy lie across the factor's.
#[device]
#[inline(always)]
pub(crate) fn tf32(a: Global<u32>, b: Global<u32>, packed: GlobalMut<u32>, packing: &Packing) {
    let copy = Copy::of_block(a, b, packed, packing, 1);
    let thread = thread_idx_x();
    let (line, word) = (copy.line + thread / 32, copy.word + thread % 32);
    let mut words = [0; 8];
    if copy.across {
        let tile = shared::dynamic().array::<u32>(PACK_LINES * (PACK_WORDS + 1));
        // 64 neighbours of each of 32 lines of the factor.
        let (place, first) = (thread % PACK_LINES, thread / PACK_LINES);
        unroll::<8>(|number| {
            let (line, word) = (copy.line + place, copy.word + first + 4 * number as u32);
            if line < copy.lines && word < copy.contiguous {
                words[number] = copy.source.offset(u64::from(word) * copy.leading + u64::from(line)).read(0);
            }
        });
        // Rounded here and not below: what ends both branches alike would become one load from either memory.
        unroll::<8>(|number| {
            tile.write(place * (PACK_WORDS + 1) + first + 4 * number as u32, round_tf32(words[number]));
        });
        sync_threads();
        unroll::<8>(|number| {
            words[number] = tile.read((thread / 32 + 8 * number as u32) * (PACK_WORDS + 1) + thread % 32);
        });
    } else {
        unroll::<8>(|number| {
            let line = line + 8 * number as u32;
            if line < copy.lines && word < copy.contiguous {
                words[number] = copy.source.offset(u64::from(line) * copy.leading + u64::from(word)).read(0);
            }
        });
        unroll::<8>(|number| words[number] = round_tf32(words[number]));
    }
    unroll::<8>(|number| {
        let line = line + 8 * number as u32;
        if line < copy.lines && word < copy.contiguous {
            copy.target
                .offset(u64::from(line) * copy.target_leading + u64::from(word))
                .write(0, words[number]);
        }
    });
}

/// Copies bytes into lines along `k`, transposed where those lie across the factor's. What is left of a line's last word
/// is zero.
#[device]
#[inline(always)]
pub(crate) fn bytes(a: Global<u8>, b: Global<u8>, packed: GlobalMut<u32>, packing: &Packing) {
    /// Words that are on their way at a time.
    const TOGETHER: usize = 4;
    let copy = Copy::of_block(a, b, packed, packing, 4);
    let length = copy.contiguous.div_ceil(4);
    let tile = shared::dynamic().array::<u32>(PACK_LINES * (PACK_WORDS + 1));
    let thread = thread_idx_x();
    // In the factor, from a line's byte to its next, and from line to line; neighbouring lanes have neighbouring bytes.
    let (step, between) = if copy.across { (copy.leading, 1) } else { (1, copy.leading) };
    let (line, word) =
        if copy.across { (thread % PACK_LINES, thread / PACK_LINES) } else { (thread / 32, thread % 32) };
    let (down, right) = if copy.across { (0, PACK_THREADS / PACK_LINES) } else { (PACK_THREADS / 32, 0) };
    let mut number = 0;
    while number < PACK_LINES * PACK_WORDS / PACK_THREADS {
        number = rolled(number);
        let mut words = [[0; 4]; TOGETHER];
        unroll::<TOGETHER>(|at| {
            let number = number + at as u32;
            let (line, word) = (copy.line + line + number * down, copy.word + word + number * right);
            let left = if line < copy.lines { copy.contiguous.saturating_sub(4 * word) } else { 0 };
            let source = copy.source.offset(u64::from(line) * between + u64::from(4 * word) * step);
            unroll::<4>(|byte| {
                if (byte as u32) < left {
                    words[at][byte] = source.offset(byte as u64 * step).read(0);
                }
            });
        });
        unroll::<TOGETHER>(|at| {
            let number = number + at as u32;
            let (line, word) = (line + number * down, word + number * right);
            tile.write(line * (PACK_WORDS + 1) + word, u32::from_le_bytes(words[at]));
        });
        number += TOGETHER as u32;
    }
    sync_threads();
    let (line, word) = (thread / 32, thread % 32);
    let mut number = 0;
    while number < PACK_LINES {
        number = rolled(number);
        let line = line + number;
        if copy.line + line < copy.lines && copy.word + word < length {
            let place = u64::from(copy.line + line) * copy.target_leading + u64::from(copy.word + word);
            copy.target.offset(place).write(0, tile.read(line * (PACK_WORDS + 1) + word));
        }
        number += PACK_THREADS / 32;
    }
}
