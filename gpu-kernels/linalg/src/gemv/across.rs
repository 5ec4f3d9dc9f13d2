//! Sums across the lines: a lane has a vector of results, and groups of lanes take the lines in turn.

use gpu_collective::warp::all_reduce_across;
use gpu_std::float::Float;
use gpu_std::memory::{Global, GlobalMut};
use gpu_std::thread::{block_idx_x, sync_threads, thread_idx_x};
use gpu_std::{device, shared, unroll};

use super::{ACROSS_THREADS, ACROSS_UNROLL, ACROSS_WARPS, Shape, deliver, vector};
use crate::scalar::Scalar;

/// Results of a block of which `width` lanes share a line.
pub const fn results_per_block<T>(width: u32) -> u32 {
    width * vector::<T>()
}

/// Lines that a block whose groups are of `width` lanes has in flight.
pub const fn lines_per_round(width: u32) -> u32 {
    ACROSS_THREADS / width * ACROSS_UNROLL
}

/// Computes a piece of the sums of [`results_per_block`] results. Launch as many blocks as those need, for each
/// piece, with [`shared_bytes`](super::shared_bytes).
#[device]
#[inline(always)]
pub(super) fn across<T: Scalar, const V: usize>(
    a: Global<T>,
    x: Global<T>,
    y: GlobalMut<T>,
    partials: GlobalMut<T::Sum>,
    shape: &Shape,
    factors: (T::Sum, T::Sum),
) {
    // Widths are powers of two, and shifts are cheaper than divisions.
    let shift = shape.width.trailing_zeros();
    let per_block = (V as u32) << shift;
    let blocks = shape.results.div_ceil(per_block);
    let piece = block_idx_x() / blocks;
    let first = (block_idx_x() - piece * blocks) * per_block;
    let lane = thread_idx_x() & (shape.width - 1);
    let index = first + lane * V as u32;

    let start = piece * shape.piece;
    let left = shape.results.saturating_sub(index);
    // A lane beyond the last result has nothing to do.
    // Mutants: what it computes is not written.
    let end = if left > 0 { shape.length.min(start + shape.piece) } else { 0 };
    let part = Part {
        lines: a.offset(start as u64 * shape.leading),
        x: x.offset(start as u64),
        leading: shape.leading,
        length: end.saturating_sub(start),
        index,
        left,
        group: thread_idx_x() >> shift,
        groups: ACROSS_THREADS >> shift,
    };
    let vectors = shape.vectors != 0 && shape.x_vectors != 0;
    // Mutants: element by element they are the same.
    let sums: [T::Sum; V] = if vectors && left >= V as u32 { part.vectors() } else { part.elements() };

    let sums = all_reduce_across(sums, shape.width, |first, second| first + second);
    // Of each warp its sums, of each lane's vector element after element.
    let memory = shared::dynamic().array::<T::Sum>(ACROSS_THREADS * V as u32);
    // Mutants: one lane more has the same sums as the first.
    if thread_idx_x() % 32 < shape.width {
        let warp = thread_idx_x() / 32;
        unroll::<V>(|j| memory.write((((warp * V as u32) + j as u32) << shift) + lane, sums[j]));
    }
    sync_threads();
    let at = thread_idx_x();
    let index = first + lane * V as u32 + (at >> shift);
    if at < per_block && index < shape.results {
        let mut sum = memory.read(at);
        unroll::<{ ACROSS_WARPS as usize }>(|warp| {
            if warp > 0 {
                sum = sum + memory.read(warp as u32 * per_block + at);
            }
        });
        deliver::<T>(shape, piece, index, sum, factors, y, partials);
    }
}

/// What a group has of a piece: of the lines, taken `V` at a time, those whose turn it is.
struct Part<T: Scalar> {
    lines: Global<T>,
    x: Global<T>,
    leading: u64,
    length: u32,
    /// The lane's first result, and how many there are from there on.
    index: u32,
    left: u32,
    group: u32,
    groups: u32,
}

impl<T: Scalar> Part<T> {
    /// The lane's sums, of lines and factors that are read as vectors.
    #[device]
    #[inline(always)]
    fn vectors<const V: usize>(&self) -> [T::Sum; V] {
        let mut sums = [T::Sum::ZERO; V];
        let mut done = 0;
        // Mutants: the last lines may as well come with the rest, in the same order.
        while (done + ACROSS_UNROLL) * self.groups <= self.length {
            let first = self.line::<V>(done);
            let (lines, x) = (self.lines.offset(first as u64 * self.leading), self.x.offset(first as u64));
            // Of the lines that a thread has in flight each `V` share a vector of factors.
            let x: [[T; V]; ACROSS_UNROLL as usize] = core::array::from_fn(|step| {
                if step < ACROSS_UNROLL as usize / V {
                    x.read_only_vec(step as u32 * self.groups * V as u32)
                } else {
                    [T::default(); V]
                }
            });
            let a: [[T; V]; ACROSS_UNROLL as usize] = core::array::from_fn(|step| {
                lines.offset(self.step::<V>(step) as u64 * self.leading).read_streaming_vec(self.index)
            });
            unroll::<{ ACROSS_UNROLL as usize }>(|step| add(&mut sums, a[step], x[step / V][step % V]));
            done += ACROSS_UNROLL;
        }
        self.rest(&mut sums, done, |line| {
            self.lines.offset(line as u64 * self.leading).read_streaming_vec(self.index)
        });
        sums
    }

    /// The same, of single elements. What is beyond the last result counts as zero, and is not read.
    #[device]
    #[inline(always)]
    fn elements<const V: usize>(&self) -> [T::Sum; V] {
        let mut sums = [T::Sum::ZERO; V];
        self.rest(&mut sums, 0, |line| {
            let start = self.lines.offset(line as u64 * self.leading + self.index as u64);
            core::array::from_fn(|j| {
                if (j as u32) < self.left { start.read_only(j as u32) } else { T::default() }
            })
        });
        sums
    }

    /// Which line, from the piece's start, is the group's line number `number`.
    #[device]
    #[inline(always)]
    fn line<const V: usize>(&self, number: u32) -> u32 {
        (number / V as u32 * self.groups + self.group) * V as u32 + number % V as u32
    }

    /// How far from a line of the group the one is that comes `step` later. Those between lie in one run of `V`
    /// lines, or the first is the first of its run.
    #[device]
    #[inline(always)]
    fn step<const V: usize>(&self, step: usize) -> u32 {
        (step / V) as u32 * self.groups * V as u32 + (step % V) as u32
    }

    /// Adds the group's lines from number `done` on, a multiple of `V`. With more in flight registers would not
    /// suffice: in doubles for what they are read as vectors, in halves for what they are read one by one.
    #[device]
    #[inline(always)]
    fn rest<const V: usize>(&self, sums: &mut [T::Sum; V], mut done: u32, read: impl Fn(u32) -> [T; V]) {
        // Mutants: how many are in flight is a matter of speed.
        let count = const { if V > 4 { 2 } else { 4 } };
        // Mutants: in one more turn no line is there.
        while self.line::<V>(done) < self.length {
            let first = self.line::<V>(done);
            let lines: [([T; V], T); 4] = core::array::from_fn(|step| {
                let line = first + self.step::<V>(step);
                // Mutants: one more is read in vain.
                let is_taken = step < count;
                if is_taken && line < self.length {
                    (read(line), self.x.read_only(line))
                } else {
                    ([T::default(); V], T::default())
                }
            });
            unroll::<4>(|step| {
                // Mutants: what is not there is zero; only the sign of a sum that has underflowed to -0 would change.
                if step < count && first + self.step::<V>(step) < self.length {
                    add(sums, lines[step].0, lines[step].1);
                }
            });
            done += count as u32;
        }
    }
}

/// `sums` with the products of a line's vector and its factor.
#[inline(always)]
fn add<T: Scalar, const V: usize>(sums: &mut [T::Sum; V], a: [T; V], x: T) {
    let x = x.widen();
    unroll::<V>(|j| sums[j] = a[j].widen().mul_add(x, sums[j]));
}
