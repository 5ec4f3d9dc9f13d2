//! Factors copied into aligned lines, so that the copy engine takes them.
//!
//! A block copies 64 lines of 32 words of 32 bits, each word by one thread: its elements are read one by one, from any
//! address, by neighbouring lanes.

use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::parameter::Parameter;
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::{device, unroll};

/// Threads of a block that copies.
pub const PACK_THREADS: u32 = 256;
/// Lines of a copy that a block writes.
pub const PACK_LINES: u32 = 64;
/// Words of a line that a block writes.
pub const PACK_WORDS: u32 = 32;

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
