//! The tile of A of a product of tf32, in registers on its way to the tensor cores.
//!
//! They cut what is beyond 10 bits of mantissa; to the nearest it is rounded here, where A is read as it lies and not
//! from a copy. So a factor that is read once, because the other one is small, is not copied before.
//!
//! The copy engine takes lines that are multiples of 16 bytes apart, and copies boxes from multiples of 16 bytes on. Of
//! other lines each fourth one is so far apart: lines are of four classes then, each with a map of its own, and come one
//! after the other. Where a class begins between two multiples of 16 bytes its map begins at the lower one: all its
//! elements are `shift` further, in boxes that are four elements longer than the tile.

use gpu_std::barrier::Barrier;
use gpu_std::half::bf16;
use gpu_std::memory::Shared;
use gpu_std::mma::{self, load_matrices};
use gpu_std::parameter::Parameter;
use gpu_std::tensor_map::TensorMap;
use gpu_std::thread::thread_idx_x;
use gpu_std::wgmma::{multiply_add_rows, round_tf32};
use gpu_std::{device, opaque, rolled, unroll, warp};

use crate::warps::ROWS;

/// Classes of lines.
pub const CLASSES: u32 = 4;

/// Lines of a box across `k`: 32 rows of the tile, and elements along `k`.
const LINES: u32 = 32;
const BOX: u32 = LINES * 32;
/// Elements that lines of classes have in the tile, along `k` and across.
const ALONG_PITCH: u32 = 32 + 4;
const ACROSS_PITCH: u32 = ROWS + 4;

/// How lines of A are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Parameter)]
#[repr(C)]
pub struct Classes {
    /// One, or [`CLASSES`].
    pub count: u32,
    /// Elements from the start of a class's map to its lines' first ones.
    pub shifts: [u32; CLASSES as usize],
}

impl Classes {
    /// Without an index, which registers do not have.
    #[inline(always)]
    fn shift(self, class: u32) -> u32 {
        let [first, second, third, fourth] = self.shifts;
        let (low, high) = if class & 1 == 0 { (first, third) } else { (second, fourth) };
        if class & 2 == 0 { low } else { high }
    }
}

/// Elements along and lines of the boxes that are copied of A in classes, without an exchange of pieces.
pub const fn class_box(across: bool) -> [u32; 2] {
    if across { [ACROSS_PITCH, LINES / CLASSES] } else { [ALONG_PITCH, ROWS / CLASSES] }
}

/// Bytes of a tile of A in classes.
pub(crate) const fn class_bytes(across: bool) -> u32 {
    let [elements, lines] = class_box(across);
    elements * lines * CLASSES * 4
}

/// Starts the copies of the classes of a tile of A, of rows `first` and on, from `k` on.
#[device]
#[inline(always)]
pub(crate) fn load_classes(
    maps: [&TensorMap; CLASSES as usize],
    target: Shared<f32>,
    barrier: Barrier,
    [k, first, matrix]: [u32; 3],
    across: bool,
) {
    let (place, bytes) = if across {
        ([first, k / CLASSES, matrix], const { class_bytes(true) })
    } else {
        ([k, first / CLASSES, matrix], const { class_bytes(false) })
    };
    unroll::<{ CLASSES as usize }>(|class| {
        maps[class].load(target.offset(class as u32 * (bytes / CLASSES / 4)), barrier, place);
    });
}

/// Adds the product of a warpgroup's 64 rows of a tile of A and of one of B to its sums. A's lines are along `k`, or
/// `ACROSS`, in boxes of 32 rows; or `IN_CLASSES`, which only the narrower tile has room for. B's are along `k`, and
/// rounded.
#[device]
#[inline(always)]
pub(crate) fn multiply<const ACROSS: bool, const IN_CLASSES: bool, const SUMS: usize>(
    sums: &mut [u32; SUMS],
    a: Shared<f32>,
    b: Shared<f32>,
    classes: Classes,
) {
    if const { SUMS == 128 } {
        let words = read::<ACROSS, false, 16>(a, 0, classes).map(round_tf32);
        multiply_add_rows::<f32, false, 16, SUMS>(sums, words, 0, b);
    } else {
        // There are no registers for more than four words and the next four, which come meanwhile; nor for the
        // instruction that rounds, which ptxas then spills for. Four steps in a row would be slow to compile.
        let mut next = read::<ACROSS, IN_CLASSES, 4>(a, 0, classes);
        let mut step = 0;
        while step < 4 {
            step = rolled(step);
            let words = next.map(mma::round_tf32);
            // Behind the last step come the first words again, which nobody uses.
            next = read::<ACROSS, IN_CLASSES, 4>(a, (step + 1) % 4 * 4, classes);
            multiply_add_rows::<f32, false, 4, SUMS>(sums, words, 4 * step, b);
            step += 1;
        }
    }
    // One lane then says that the tile may be written again: for all, which have read it.
    warp::sync_warp(warp::FULL);
}

/// The thread's words of A's tile from word `first` on, as [`multiply_add_rows`] takes them.
#[device]
#[inline(always)]
fn read<const ACROSS: bool, const IN_CLASSES: bool, const WORDS: usize>(
    tile: Shared<f32>,
    first: u32,
    classes: Classes,
) -> [u32; WORDS] {
    // What is known of it would be computed before all stages, for registers of its own.
    let thread = opaque(thread_idx_x());
    let (warp, lane) = (thread / 32, thread % 32);
    let mut words = [0; WORDS];
    if const { IN_CLASSES } {
        // From the place of the first word: to the eighth row from it, to the fourth element along `k`, to the next step.
        let (place, rows, elements, step) = if const { ACROSS } {
            let line = lane % 4 * const { LINES / CLASSES };
            let place = line * ACROSS_PITCH + classes.shift(lane % 4) + 16 * warp + lane / 4;
            (place, 8, ACROSS_PITCH, 2 * ACROSS_PITCH)
        } else {
            let class = lane / 4 % 4;
            let line = class * const { ROWS / CLASSES } + 4 * warp + lane / 16;
            (line * ALONG_PITCH + classes.shift(class) + lane % 4, 2 * ALONG_PITCH, 4, 8)
        };
        let tile = tile.cast::<u32>().offset(first / 4 * step);
        unroll::<WORDS>(|at| {
            let at_word = at as u32;
            words[at] = tile.read(place + at_word % 2 * rows + at_word / 2 % 2 * elements);
        });
    } else if const { ACROSS } {
        let tile = tile.cast::<u32>().offset(warp / 2 * BOX);
        let (row, k) = (warp % 2 * 16 + lane / 4, lane % 4);
        unroll::<WORDS>(|at| {
            let word = first + at as u32;
            let (row, k) = (row + 8 * (word % 2), k + 4 * (word / 2 % 2));
            // The pieces of 16 bytes of line k have changed places.
            words[at] = tile.read(32 * (8 * (word / 4) + k) + ((row / 4) ^ k) * 4 + row % 4);
        });
    } else {
        // In units of two bytes: a line has 64, a piece of 16 bytes 8.
        let tile = tile.cast::<bf16>();
        let line = (16 * warp + lane % 16) * 64;
        let piece = (lane / 16) ^ (lane % 8);
        unroll::<WORDS>(|at| {
            if at % 4 == 0 {
                let step = first / 4 + at as u32 / 4;
                let read = load_matrices::<bf16, false>(tile, line + (piece ^ (2 * step)) * 8);
                unroll::<4>(|which| words[(at + which) % WORDS] = read[which]);
            }
        });
    }
    words
}
