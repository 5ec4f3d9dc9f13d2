//! The walk that the fast kernels share: a warp takes a strip of columns and goes down its rows.
//!
//! ```text
//! global memory                      shared memory, a warp's own                     registers, a lane's own
//!
//!  · · · · · · · ·   cp.async    ┌───────┬──────────────────┬───────┐  16-byte loads   V outputs' windows of the row
//!  · · · row y · ·  ──────────►  │ halo  │ 32 · V elements  │ halo  │ ───────────────► and the sums of all outputs that
//!  · · · · · · · ·               └───────┴──────────────────┴───────┘                  it belongs to
//!                                DEPTH such rows, all but one on their way
//! ```
//!
//! Each element is loaded once a strip, and each row read once from shared memory; what an output needs of the rows
//! above it is in the sums already. The border is nobody's business but the copy's: rows outside are other rows, or
//! the constant, and at the left and right edge of the image the warp fills in what lies outside, element by element.
//! Rows that start at multiples of 4 bytes but not of 16 are copied by words, as asynchronously; others element by
//! element, which waits for memory.
//!
//! Warps wait for nobody but their own lanes. So that memory is never idle, `DEPTH - 1` rows of each are on their
//! way: of an H200's multiprocessor, 28 warps with 3 rows of 512 bytes are 42 KiB, where 32 KiB hide the latency.
//! Seven rows were no faster.

use gpu_std::async_copy::{commit, copy, wait};
use gpu_std::float::Float;
use gpu_std::memory::{Global, Shared};
use gpu_std::shared::{self, SharedLayout};
use gpu_std::thread::{block_idx_x, thread_idx_x};
use gpu_std::warp::sync_warp;
use gpu_std::{device, opaque, rolled, unroll};

use super::geometry::{Geometry, Place, WARPS};
use super::pixel::Pixel;
use crate::border;

/// Rows of a warp in shared memory: a power of two.
pub const DEPTH: u32 = 4;
/// Room for a lane's window of a row: what is not used costs nothing.
pub(super) const WINDOW: usize = 64;

/// Outputs of a lane in a row: 16 bytes, of bytes 8 where filters of more than 7 rows leave no registers for the sums
/// of 16.
pub const fn lane<T>(taps: u32) -> u32 {
    if size_of::<T>() == 1 && taps > 7 { 8 } else { vector::<T>() }
}

/// Elements of 16 bytes.
pub const fn vector<T>() -> u32 {
    16 / size_of::<T>() as u32
}

/// Elements of the halo at each end of a strip, for windows that reach `reach` elements to each side: whole sectors
/// of 32 bytes. Copies that start in the middle of one take each sector twice from the second-level cache, once for
/// either half of it.
const fn halo<T>(reach: u32) -> u32 {
    reach.next_multiple_of(2 * vector::<T>())
}

/// Elements of a row in shared memory.
const fn segment<T>(v: u32, reach: u32) -> u32 {
    32 * v + 2 * halo::<T>(reach)
}

/// Bytes of dynamic shared memory of a block, for windows of `taps` pixels of `channels` elements.
pub const fn shared_bytes<T>(taps: u32, channels: u32) -> u32 {
    let elements = WARPS * DEPTH * segment::<T>(lane::<T>(taps), taps / 2 * channels);
    SharedLayout::new().array::<u8>(elements * size_of::<T>() as u32).bytes()
}

/// A lane's part of a row of the input.
pub(super) struct Window<S: Float> {
    values: [S; WINDOW],
    first: usize,
}

impl<S: Float> Window<S> {
    /// What stands `elements` elements right of the start of the window of the lane's first output.
    #[inline(always)]
    pub(super) fn at(&self, elements: usize) -> S {
        self.values[self.first + elements]
    }
}

/// Walks down the rows of the strip of the thread's warp. `row` gets each row's window, for outputs of `V` elements
/// with `K` taps that are `C` elements apart, with its number, 0 being the first that the first output depends on.
///
/// Launch [`Geometry::across`] × [`Geometry::down`] blocks an image, with [`shared_bytes`]; a strip has `32 · V`
/// columns.
#[device]
#[inline(always)]
pub(super) fn march<T: Pixel, const V: usize, const K: usize, const C: usize>(
    input: Global<T>,
    geometry: &Geometry,
    outside: T,
    mut row: impl FnMut(Place, u32, u32, &Window<T::Sum>),
) {
    const { assert!(V as u32 == lane::<T>(K as u32), "what the hosts plan with") };
    let reach = const { (K / 2 * C) as u32 };
    let margin = const { halo::<T>((K / 2 * C) as u32) };
    let segment = const { segment::<T>(V as u32, (K / 2 * C) as u32) };
    let (warp, lane) = (thread_idx_x() / 32, thread_idx_x() % 32);
    let place = geometry.place(block_idx_x());
    let column = (place.across * WARPS + warp) * (32 * V as u32);
    // Mutants: a strip that begins where the rows end reads what is inside, as an edge, and writes nothing.
    if column >= geometry.output_row {
        return;
    }

    let slots = shared::dynamic().array::<T>(WARPS * DEPTH * segment).offset(warp * (DEPTH * segment));
    // Where in its row the segment starts: its lanes' windows start `left` pixels before their columns.
    let start = column as i32 + reach as i32 - geometry.left * C as i32 - margin as i32;
    let filler = Filler::<C> { start, lane, segment };
    let first = place.row as i32 - geometry.top;
    let total = place.rows + (K as u32 - 1);
    // Whether all rows lie inside the image, and whole vectors: most strips. Then a row costs no more than its copies.
    // Mutants: a strip that just fits may go the other way, to the same result.
    let is_plain = geometry.input_aligned == 16
        && start >= 0
        && start as u32 + segment <= geometry.width * C as u32
        && first >= 0
        && first as u32 + total <= geometry.height;
    // The lane's first vector of the next row, possibly outside the image: nothing is read there.
    let mut from = input.offset(
        (place.image as u64 * geometry.input_stride)
            .wrapping_add_signed(start as i64 + (lane * vector::<T>()) as i64)
            .wrapping_add((first as i64 as u64).wrapping_mul(geometry.input_pitch)),
    );
    // One loop for all: the first rounds only start copies, the last ones start none.
    let mut step = 0;
    while step < total + (DEPTH - 1) {
        let started = step >= DEPTH - 1;
        if started {
            // This lane's part of the row has arrived, and behind the barrier everybody's; and nobody reads the row
            // before any longer, whose place the next copies take.
            wait::<{ DEPTH - 2 }>();
            sync_warp(u32::MAX);
        }
        if step < total {
            let slot = slots.offset(step % DEPTH * segment);
            if is_plain {
                filler.copy(slot, from);
            } else {
                filler.fill(geometry, outside, slot, first + step as i32, from);
            }
            from = from.offset(geometry.input_pitch);
        }
        commit();
        step += 1;
        if !started {
            continue;
        }

        let number = step - DEPTH;
        let slot = slots.offset(number % DEPTH * segment + lane * V as u32);
        let from = const { (halo::<T>((K / 2 * C) as u32) as usize - K / 2 * C) / V * V };
        let end = margin as usize + V + reach as usize;
        let mut values = [T::Sum::ZERO; WINDOW];
        unroll::<32>(|chunk| {
            let at = from + chunk * V;
            if at < end {
                T::load::<V>(slot, at as u32, geometry.flip, |j, value| values[chunk * V + j] = value);
            }
        });
        row(
            place,
            number,
            column + lane * V as u32,
            &Window { values, first: (margin - reach) as usize - from },
        );
    }
}

/// How far from the near end of an axis of `length` elements lies what stands for a place outside, `distance`
/// elements beyond that end: the first times `distance`, and the second.
pub const fn inward(mode: u32, length: u32) -> [i32; 2] {
    match mode {
        border::REFLECT => [1, -1],
        border::MIRROR => [1, 0],
        border::WRAP => [-1, length as i32],
        _ => [0, 0],
    }
}

/// [`border::source`] of a place that is no farther outside than the input has elements, or any of the input where it is; for `MIRROR`,
/// one less. It takes no division; [`inward`] is what the host worked out.
#[inline(always)]
fn near(index: i32, length: i32, mode: u32, [factor, offset]: [i32; 2]) -> i32 {
    let last = length - 1;
    if index as u32 <= last as u32 {
        return index;
    }
    if mode > border::WRAP {
        return -1;
    }
    // Mutants: place 0 is inside.
    let left = index < 0;
    let distance = if left { -index } else { index - last };
    let inward = factor * distance + offset;
    let place = if left { inward } else { last - inward };
    place.max(0).min(last)
}

/// The elements of a segment, first and end, that are copied asynchronously: those inside the image, as far as they
/// are whole vectors of as many bytes as everything is aligned to.
#[device]
#[inline(always)]
fn vectors<T>(geometry: &Geometry, start: i32, segment: u32, channels: u32) -> (u32, u32) {
    if geometry.input_aligned == 0 {
        return (0, 0);
    }
    // Elements but for the last few: a vector holds a power of two of them, or less than one.
    let part = (geometry.input_aligned / size_of::<T>() as u32).max(1) - 1;
    let begin = ((-start).max(0) as u32).min(segment);
    let inside = ((geometry.width * channels) as i32 - start).max(0) as u32;
    let end = inside.min(segment) & !part;
    (begin, end.max(begin))
}

/// What a lane needs to bring rows into shared memory.
struct Filler<const C: usize> {
    start: i32,
    lane: u32,
    segment: u32,
}

impl<const C: usize> Filler<C> {
    /// Starts to copy this lane's vectors of a row to `slot`: the first of them is at `from`.
    #[device]
    #[inline(always)]
    fn copy<T: Pixel>(&self, slot: Shared<T>, from: Global<T>) {
        let at = self.lane * vector::<T>();
        unroll::<2>(|part| {
            let on = part as u32 * 32 * vector::<T>();
            if at + on < self.segment {
                copy::<u32, 4>(slot.offset(at + on).cast(), 0, from.offset(on as u64).cast(), 0);
            }
        });
    }

    /// Starts to copy row `row` of the input, wherever that is, to `slot`; `from` is where the lane's first vector of
    /// it would lie.
    #[device]
    #[inline(always)]
    fn fill<T: Pixel>(&self, geometry: &Geometry, outside: T, slot: Shared<T>, row: i32, from: Global<T>) {
        let y = near(row, geometry.height as i32, geometry.mode, [geometry.inward, geometry.inward_y]);
        // Opaque, so that all that follows is done here rather than once: most strips never ask and have no registers
        // for it.
        let (start, lane) = (opaque(self.start as u32) as i32, opaque(self.lane));
        let (mut begin, mut end) = vectors::<T>(geometry, start, self.segment, C as u32);
        // Mutants: the first row may go element by element, to the same values.
        if y < 0 {
            (begin, end) = (0, 0);
        }
        // Where the segment would start in the row that stands for this one.
        let moved = ((y - row) as i64 as u64).wrapping_mul(geometry.input_pitch);
        let line = from.offset(moved.wrapping_sub((lane * vector::<T>()) as u64));
        // Vectors, or words where rows start at no vectors: nothing waits for them either.
        let words = geometry.input_aligned / 4;
        let in_words = |elements: u32| elements * size_of::<T>() as u32 / 4;
        let (to, source) = (slot.cast::<u32>(), line.cast::<u32>());
        let mut word = lane * words;
        while word < in_words(end) {
            word = rolled(word);
            if word >= in_words(begin) {
                if words == 4 {
                    copy::<u32, 4>(to, word, source, word);
                } else {
                    copy::<u32, 1>(to, word, source, word);
                }
            }
            word += 32 * words;
        }
        // The rest, element by element: at the image's edges, or everything where nothing is aligned or the row is
        // outside.
        let rest = self.segment - (end - begin);
        let line = line.offset((start as i64 as u64).wrapping_neg());
        let mut number = lane;
        while number < rest {
            number = rolled(number);
            let at = if number < begin { number } else { number - begin + end };
            let place = start + at as i32;
            // Segments start less than 64 pixels before the row.
            let pixel = (place + 64 * C as i32) / C as i32 - 64;
            let x = near(pixel, geometry.width as i32, geometry.mode, [geometry.inward, geometry.inward_x]);
            let channel = place - pixel * C as i32;
            let is_outside = x < 0 || y < 0;
            let value = if is_outside { outside } else { line.read_only((x * C as i32 + channel) as u32) };
            slot.write(at, value);
            number += 32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_places_have_the_sources_of_all_and_far_ones_are_inside() {
        for mode in [border::REFLECT, border::MIRROR, border::NEAREST, border::WRAP, border::CONSTANT] {
            for length in 1..9 {
                let reach = if mode == border::MIRROR { length - 1 } else { length };
                for index in -reach..length + reach {
                    let expected = border::source(index, length, mode);
                    let place = near(index, length, mode, inward(mode, length as u32));
                    assert_eq!(place, expected, "mode {mode}, place {index} of {length}");
                }
                if mode != border::CONSTANT {
                    let inward = inward(mode, length as u32);
                    assert!((-99..99).all(|index| (0..length).contains(&near(index, length, mode, inward))));
                }
            }
        }
    }
}
