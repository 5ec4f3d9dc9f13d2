//! Transposition of tiles of single bytes whose rows start anywhere.
//!
//! The tile comes in as in `skew.rs`, and its windows go out as there. Between, byte by byte, gathering would cost some ten
//! instructions a byte, more than memory leaves time for. So shared memory is turned first: a thread takes four rows of four columns,
//! each row two words that it shifts together by the row's misalignment, transposes them in registers, and behind a barrier puts them
//! back as four *lines*, a column of the tile each. A vector of the output then is five words of a line, shifted together
//! by the window's place: half an instruction a byte for each of the three.
//!
//! # Bank conflicts
//! None but of the few columns at the tile's right end. Turning, a warp reads consecutive words of a row. It stores to lines four apart: the
//! pitch of lines being odd, eight of them lie in different banks, and every 32 lines start one word further. Going out, it takes eight vectors
//! of each of four columns 32 apart: their windows start at the same place, as 32 leading dimensions are a multiple of [`SLACK`].

use super::grid::Grid;
use super::registers::bytes;
use super::skew::{Part, Skew, load};
use super::tile::THREADS;
use gpu_std::bits::byte_permute;
use gpu_std::memory::{Global, GlobalMut, Shared};
use gpu_std::shared;
use gpu_std::thread::{grid_dependency_synchronize, sync_threads, thread_idx_x, trigger_launch_completion};
use gpu_std::{device, kernel, opaque, unroll};

const ROWS: u32 = 128;
/// A sector: parts of sectors are never written.
const SLACK: u32 = 32;
const VECTORS: u32 = 16;
const WARPS: u32 = THREADS / 32;

/// Vectors of a thread on its way in.
const STEPS: usize = ((ROWS + SLACK) * VECTORS / THREADS) as usize;
/// Words of a row, and warps that turn one.
const ROW: u32 = VECTORS * 4;
const HALVES: u32 = ROW / 32;
/// Patches of four rows by four columns that a thread turns.
const PATCHES: usize = ((ROWS + SLACK) / 4 * HALVES / WARPS) as usize;
/// Words from one line to the next: those of the rows, three by which lines are shifted, and so many more that it is odd.
const PITCH: u32 = (ROWS + SLACK) / 4 + 3;

/// The tile of `transpose_skew_b8`.
pub const SKEW_B8: Skew = {
    let tile = Skew::new(1, ROWS, SLACK, VECTORS);
    let lines = tile.columns.next_multiple_of(4);
    assert!(THREADS * STEPS as u32 == (ROWS + SLACK) * VECTORS && PITCH % 2 == 1);
    assert!(PATCHES as u32 * WARPS * 4 == (ROWS + SLACK) * HALVES && lines * PITCH > (ROWS + SLACK) * ROW);
    Skew { shared_bytes: lines * PITCH * 4, ..tile }
};

/// Moves a tile.
#[device]
#[inline(always)]
fn move_tile(part: &Part, tile: Shared<u32>) {
    load::<u8, ROWS, SLACK, VECTORS, STEPS>(part, tile, |row, group| row * VECTORS + group);
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    // The word of line `column` that holds its first four rows.
    let line_at = |column: u32| column * PITCH + column / 32 % 4;
    // The low word of two behind so many bytes.
    let behind = |low: u32, high: u32, bytes: u32| byte_permute(low, high, 0x3210 + 0x1111 * (bytes % 4));

    // ---- turned in shared memory: patch `n` of a warp is half a row's, of quad `n / 2`
    let quad_of = |patch: usize| (patch as u32 * WARPS + warp) / HALVES;
    let word_of = |patch: usize| (patch as u32 * WARPS + warp) % HALVES * 32 + lane;
    let patches: [[u32; 4]; PATCHES] = core::array::from_fn(|patch| {
        let turned = bytes(core::array::from_fn(|i| {
            let row = 4 * quad_of(patch) + i as u32;
            let shift = part.shift::<u8>(row, SLACK);
            // Beyond the tile's columns there may be no word; what comes of it is not stored.
            let at = row * ROW + word_of(patch).min(SKEW_B8.columns / 4) + shift / 4;
            behind(tile.read(at), tile.read((at + 1).min((ROWS + SLACK) * ROW - 1)), shift)
        }));
        // Opaque, or all of this but the reads would be done behind the barrier, with twice as many words in registers.
        turned.map(opaque)
    });
    sync_threads();
    unroll::<PATCHES>(|patch| {
        let column = 4 * word_of(patch);
        if column < SKEW_B8.columns {
            unroll::<4>(|k| {
                tile.write(line_at(column) + k as u32 * PITCH + quad_of(patch), patches[patch][k])
            });
        }
    });
    sync_threads();

    // ---- out: a warp takes eight vectors of each of four columns, 32 apart
    let along = lane % 8 * 16;
    let mut job = warp;
    while job < SKEW_B8.columns.div_ceil(128) * 32 {
        let column = job / 32 * 128 + lane / 8 * 32 + job % 32;
        if column < SKEW_B8.columns && part.column + (column as u64) < part.columns {
            let line = part.target.offset(column as u64 * part.output_ld);
            let early = line.address() as u32 % SLACK;
            let first = SLACK - early + along;
            let row = (part.row + along as u64).wrapping_sub(early as u64);
            let here = line.offset((along as u64).wrapping_sub(early as u64));
            if row < part.rows && row + 16 <= part.rows {
                // Where the window starts with a word, the fifth is not needed, and may be none of the line's.
                let words: [u32; 5] = core::array::from_fn(|word| {
                    let word = (first / 4 + word as u32).min((ROWS + SLACK) / 4 - 1);
                    tile.read(line_at(column) + word)
                });
                let vector = core::array::from_fn(|word| behind(words[word], words[word + 1], first));
                here.cast::<u32>().write_streaming_vec::<4>(0, vector);
            } else {
                for i in 0..16 {
                    if row.wrapping_add(i as u64) < part.rows {
                        here.write(i, tile.cast::<u8>().read(4 * line_at(column) + first + i));
                    }
                }
            }
        }
        job += WARPS;
    }
}

/// Transposes matrices of bytes that lie anywhere.
///
/// `input` has `rows` rows of `columns` elements, `input_ld` apart; `output` has `columns` rows, `output_ld` apart.
/// Launch a block of [`THREADS`] threads for each tile of `grid`, ⌈(rows + slack − 1) / tile⌉ of them along axis 0.
#[kernel(module = transpose_skew_b8, launch_bounds(256, 4), programmatic)]
pub fn transpose_skew_b8(
    input: Global<u8>,
    output: GlobalMut<u8>,
    grid: Grid,
    rows: u64,
    columns: u64,
    input_ld: u64,
    output_ld: u64,
) {
    let tile = shared::dynamic().array::<u32>(SKEW_B8.shared_bytes / 4);
    let part = Part::new(input, output, &grid, (rows, columns), (input_ld, output_ld), &SKEW_B8, 1);
    grid_dependency_synchronize();
    trigger_launch_completion();
    move_tile(&part, tile);
}
