//! Products of which one extent of C is a few elements: each element of the longer factor is in few products, so it is
//! read where it lies and not copied before. The bits are those of [`reference::gemm`](crate::reference::gemm).
//!
//! Where a k's elements of the longer factor follow each other, registers hold those, in [`tiles`] or [`strips`]; where
//! a result's do, or results of one row of C are many, they hold the shorter factor's elements of one k
//! ([`broadcast`]), or the longer one's, sorted on the way ([`turned`]).

mod broadcast;
mod strips;
mod tiles;
mod turned;

use broadcast::Broadcast;
use gpu_core::cores::Threads;
use strips::Strips;
use tiles::Tiles;
use turned::Turned;

use super::aligned::Aligned;
use super::gemm::WORTH;
use super::lanes::{Has, Lanes, Registers, TURNED};
use super::launch::{ByRegisters, by_registers};
use super::shallow;
use super::tile::{MOST_LANES, finish_run};
use crate::matrix::{Layout, Order};
use crate::plan::gemm::Split;

/// Results side by side that are few, at most.
const MOST: usize = 16;
/// Bytes of sums that stay in the nearest cache beside what is read.
const SUMS: usize = 16_384;
/// Bytes of lines that stay there to be read again, and elements of a strip nevertheless.
const NEAR_LINES: usize = 24_576;
const LEAST_ROOM: usize = 64;
/// The same of strips that read each line in so long a piece that the next ones come in time.
const STRIP_SUMS: usize = 65_536;
/// Bytes of the longer factor that is read in pieces, at most: what the second-level cache does not hold is better read
/// once in its order.
const NEAR: usize = 1 << 20;
/// Lines that strips are for even where they are near: more are added in more than one pass over the sums, if they are
/// not [`strips::LINES`].
const FEW_LINES: usize = 4;
/// Products of a sum, at most, of which rows of a single register take a core less than tiles of four results, if the
/// longer factor is across: 3590 × 7 × 3 `f32` 12 µs, not 17, but 864 × 6 × 80 24, not 17.
const SHORT: usize = 32;
/// Products of a sum, at most, of which long rows of C are written sooner elsewhere than rows of a few are turned here:
/// 9 × 2522 × 2 `f32` in 6 µs, not 39, and 9 × 369 × 20 in 4.9, not 6.8, but 8 × 2460 × 50 in 48, not 42.
const SHORT_TURNED: usize = 24;
/// Bytes of a register's part that holds elements of one line.
const SIXTEEN: usize = 16;

/// How registers are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Tiles,
    Strips,
    Turned,
    Broadcast,
}

/// The factors of a product, and what comes of it.
#[derive(Clone, Copy, Debug)]
struct Factors<'a, T> {
    way: Way,
    /// A line for each k if it is across, or else for each result, and from one to the next.
    long: &'a [T],
    is_across: bool,
    leading: usize,
    /// A row for each of `count` results side by side, of `depth` elements.
    few: (&'a [T], Layout),
    count: usize,
    depth: usize,
    split: Split,
    factors: (T, T),
}

/// Where results go.
enum Results<'c, T> {
    /// Rows of C as long as the longer extent.
    Wide(Vec<&'c mut [T]>),
    /// Rows of a few elements, and from one to the next.
    Tall(&'c mut [T], usize),
}

/// What `count` results side by side are computed as: three of four take no longer than two and one.
fn padded(count: usize) -> usize {
    if count % 4 == 3 { count + 1 } else { count }
}

/// Memory of a strip of results.
struct Strip<'c, T> {
    /// Results along the longer extent, and those that there is room for.
    len: usize,
    room: usize,
    /// The shorter factor's elements, k after k.
    few: Aligned<T>,
    /// Of the part of k that is at work, and of those before it.
    chains: Aligned<T>,
    sums: Aligned<T>,
    /// Sums as C has them, where they were not.
    turned: Aligned<T>,
    /// Lines of C that are written at once, and how much of them is.
    lines: Vec<&'c mut [T]>,
    done: usize,
}

/// Computes C, of `m` × `n` elements and with the given distance from one row to the next, if it is such a product,
/// and says whether it was.
pub(super) fn product<T: Registers>(
    (a, of_a): (&[T], Layout),
    (b, of_b): (&[T], Layout),
    [m, n, depth]: [usize; 3],
    split: Split,
    factors: (T, T),
    (c, row): (&mut [T], usize),
) -> bool {
    let (count, len) = (m.min(n), m.max(n));
    if count > MOST || depth == 0 {
        return false;
    }
    let (long, few) =
        if m < n { ((b, of_b.transposed()), (a, of_a)) } else { ((a, of_a), (b, of_b.transposed())) };
    let is_across = long.1.order() == Order::ColumnMajor;
    let Some(way) = way::<T>([m, n, depth], is_across) else { return false };
    let leading = long.1.leading_dimension();
    let of = Factors { way, long: long.0, is_across, leading, few, count, depth, split, factors };
    let threads = Threads::worth(m * n * depth * size_of::<T>(), WORTH);
    // What is one thread's is one task. Each copies the shorter factor, so that they are small for many threads only.
    let least = if way == Way::Broadcast && threads.count() > 4 { MOST_LANES } else { 4 * MOST_LANES };
    let task =
        if threads.count() == 1 { len } else { len.div_ceil(2 * threads.count()).next_multiple_of(least) };
    let part = |number: usize, results: Results<'_, T>| {
        let first = number * task;
        Part { of, first, len: task.min(len - first), results }.compute();
    };
    if m < n {
        let mut tasks: Vec<Vec<&mut [T]>> = (0..len).step_by(task).map(|_| Vec::with_capacity(m)).collect();
        for line in c.chunks_mut(row) {
            tasks.iter_mut().zip(line[..n].chunks_mut(task)).for_each(|(task, part)| task.push(part));
        }
        threads.elements(&mut tasks, |number, lines| part(number, Results::Wide(core::mem::take(lines))));
    } else {
        threads.chunks(c, task * row, |number, rows| part(number, Results::Tall(rows, row)));
    }
    true
}

/// How a product of a longer factor that is across or not comes soonest, if it does here.
fn way<T: Registers>([m, n, depth]: [usize; 3], is_across: bool) -> Option<Way> {
    let (count, is_wide) = (m.min(n), m < n);
    let is_near = m.max(n) * depth * size_of::<T>() <= NEAR;
    let lanes = by_registers::<T, _>(Widest);
    // Rows of C as long as the few: an element at a time of what is across comes sooner than registers of results that
    // have to be turned; not if half of a register of 64 bytes is for nothing.
    let is_by_rows = !is_wide
        && (depth <= SHORT || is_near && count > lanes)
        && (count > lanes / 2 || lanes * size_of::<T>() < 64);
    let way = if count * size_of::<T>() > SIXTEEN && (is_by_rows || !is_across) {
        Way::Broadcast
    } else if !is_across {
        Way::Turned
    } else if is_near && depth > FEW_LINES {
        Way::Tiles
    } else {
        Way::Strips
    };
    let (is_possible, short) = match way {
        Way::Broadcast => (count <= 3 * lanes, SHORT_TURNED),
        Way::Turned => (is_near, shallow::MOST),
        Way::Tiles | Way::Strips => (true, FEW_LINES + 1),
    };
    // Long rows of C are written once by `shallow` or by panels, sooner than sums are turned or added line after line.
    (is_possible && !(is_wide && depth <= short)).then_some(way)
}

/// Some results along the longer extent.
struct Part<'a, 'c, T> {
    of: Factors<'a, T>,
    first: usize,
    len: usize,
    results: Results<'c, T>,
}

/// The elements of a widest register.
struct Widest;

impl<T: Registers> ByRegisters<T> for Widest {
    type Output = usize;

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, _: (Has<W>, Has<H>, Has<L>)) -> usize {
        W::LEN
    }
}

/// A way to the sums of a strip, for each k of which the shorter factor has `WIDTH` elements, or as many as
/// [`padded`] says.
trait Sums<T, V> {
    const WIDTH: Option<usize> = None;

    /// The sums of the results from `first` on. Mark it `#[inline(always)]`.
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>);
}

// Each is compiled by itself: all in one function take the compiler ten times as long.
macro_rules! ways {
    ($($Way:ident = |$part:ident, $wide:ident, $half:ident, $least:ident| $run:expr;)*) => { $(
        struct $Way<'a, 'c, T>(Part<'a, 'c, T>);

        impl<T: Registers> ByRegisters<T> for $Way<'_, '_, T> {
            type Output = ();

            #[inline(always)]
            fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, ($wide, $half, $least): (Has<W>, Has<H>, Has<L>)) {
                let $part = self.0;
                $run
            }
        }
    )* };
}
ways! {
    InTiles = |part, wide, _half, _least| part.run::<W, Tiles>(wide);
    InStrips = |part, wide, _half, _least| part.run::<W, Strips>(wide);
    // A core does as much in two registers of 32 bytes as in one of 64, and sorts them sooner.
    ByTurning = |part, wide, half, least| {
        if part.len < 2 * L::LEN {
            part.run::<L, Turned>(least)
        } else if const { size_of::<W>() > 2 * SIXTEEN } {
            part.run::<H, Turned>(half)
        } else {
            part.run::<W, Turned>(wide)
        }
    };
    // Of more elements than 16 bytes, up to MOST and to two widest registers: twelve chains keep a core at work where
    // eight have to end on time, and 165 × 10 × 961 `f32` took 76 µs so, and 122 in three narrow ones of four rows.
    ByBroadcasts = |part, wide, half, _least| match part.of.count {
        count if const { H::LEN > L::LEN } && count <= H::LEN => part.run::<H, Broadcast<1, 8>>(half),
        count if const { W::LEN > L::LEN } && count <= W::LEN => part.run::<W, Broadcast<1, 8>>(wide),
        count if const { W::LEN < MOST } && count <= 2 * W::LEN => part.run::<W, Broadcast<2, 6>>(wide),
        count if const { 2 * W::LEN < MOST } && count <= 3 * W::LEN => part.run::<W, Broadcast<3, 4>>(wide),
        count => unreachable!("{count} results side by side"),
    };
}

impl<T: Registers> Part<'_, '_, T> {
    /// Computes it.
    fn compute(self) {
        match self.of.way {
            Way::Tiles => by_registers(InTiles(self)),
            Way::Strips => by_registers(InStrips(self)),
            Way::Turned => by_registers(ByTurning(self)),
            Way::Broadcast => by_registers(ByBroadcasts(self)),
        }
    }

    /// Computes it, strip after strip.
    #[inline(always)]
    fn run<V: Lanes<T>, S: Sums<T, V>>(mut self, has: Has<V>) {
        let width = S::WIDTH.unwrap_or(padded(self.of.count));
        let lines = match &mut self.results {
            Results::Wide(lines) if self.of.way == Way::Tiles => core::mem::take(lines),
            _ => Vec::new(),
        };
        let mut strip = Strip::new(&self.of, self.len, width, lines);
        for first in (0..self.len).step_by(strip.room) {
            (strip.len, strip.done) = (strip.room.min(self.len - first), first);
            S::strip(has, &self.of, self.first + first, &mut strip);
            if strip.lines.is_empty() {
                self.write(has, first, &mut strip);
            }
        }
    }

    /// Ends the results of a strip, the first of which is the part's at `first`.
    #[inline(always)]
    fn write<V: Lanes<T>>(&mut self, has: Has<V>, first: usize, strip: &mut Strip<'_, T>) {
        let (count, factors) = (self.of.count, self.of.factors);
        let is_wide = matches!(self.results, Results::Wide(_));
        let is_other = is_wide == (self.of.way == Way::Broadcast);
        if is_other {
            strip.turn(count, is_wide);
        }
        let sums = if is_other { &strip.turned } else { &strip.sums };
        match &mut self.results {
            Results::Wide(lines) => {
                for (line, sums) in lines.iter_mut().zip(sums.chunks(strip.room)) {
                    finish_run(has, factors, &sums[..strip.len], &mut line[first..][..strip.len]);
                }
            }
            Results::Tall(rows, row) if *row == count => {
                let len = strip.len * count;
                finish_run(has, factors, &sums[..len], &mut rows[first * count..][..len]);
            }
            Results::Tall(rows, row) => {
                let rows = rows[first * *row..].chunks_mut(*row).take(strip.len);
                for (row, sums) in rows.zip(sums.chunks(count)) {
                    finish_run(has, factors, sums, &mut row[..count]);
                }
            }
        }
    }
}

impl<'c, T: Registers> Strip<'c, T> {
    /// For `len` results along the longer extent, in pieces; for each k the shorter factor has `width` elements.
    #[inline(always)]
    fn new(of: &Factors<'_, T>, len: usize, width: usize, lines: Vec<&'c mut [T]>) -> Self {
        let bytes = if of.way == Way::Strips && of.depth > strips::LINES { STRIP_SUMS } else { SUMS };
        let mut each = bytes / size_of::<T>() / of.count.next_power_of_two();
        if of.way == Way::Tiles {
            // Its lines are read for some of the few after others.
            each = each.min((NEAR_LINES / size_of::<T>() / of.depth).max(LEAST_ROOM));
        }
        let room = len.min(each).next_multiple_of(MOST_LANES);
        let (short, layout) = of.few;
        let leading = layout.leading_dimension();
        // Blocks end behind the last k's.
        let mut few = Aligned::new(T::ZERO, of.depth * width + TURNED);
        if layout.order() == Order::RowMajor {
            turn(&mut few, width, (short, leading), [of.count, of.depth]);
        } else if leading == width {
            let len = (of.depth - 1) * leading + of.count;
            few[..len].copy_from_slice(&short[..len]);
        } else {
            for (few, short) in few.chunks_exact_mut(width).zip(short.chunks(leading)) {
                few.iter_mut().zip(&short[..of.count]).for_each(|(few, &short)| *few = short);
            }
        }
        // Registers end in what is behind the last results, blocks of lines in lines that are none.
        let len = if lines.is_empty() { room * of.count.next_multiple_of(TURNED) + MOST_LANES } else { 0 };
        let has_parts = of.split.piece < of.depth;
        let chains = if has_parts { Aligned::new(T::ZERO, len) } else { Aligned::default() };
        let (sums, turned) = (Aligned::new(T::ZERO, len), Aligned::default());
        Self { len: 0, room, few, chains, sums, turned, lines, done: 0 }
    }

    /// Sorts sums by the other extent: those of `count` results side by side come to be `room` apart, or the other way
    /// round.
    #[inline(always)]
    fn turn(&mut self, count: usize, is_apart: bool) {
        self.turned.grow(T::ZERO, self.sums.len());
        if is_apart {
            turn(&mut self.turned, self.room, (&self.sums, count), [self.len, count]);
        } else {
            turn(&mut self.turned, count, (&self.sums, self.room), [count, self.len]);
        }
    }
}

/// Writes `count` lines of `depth` elements, `leading` apart, k after k: for each of these there are `width` places,
/// and a block's behind the last.
#[inline(always)]
fn turn<T: Registers>(
    to: &mut [T],
    width: usize,
    (lines, leading): (&[T], usize),
    [count, depth]: [usize; 2],
) {
    // What a block has beyond `count` is written over by the next k's first elements: so from the last on.
    for side in (0..count).step_by(TURNED).rev() {
        let line = |at: usize| &lines[(side + at).min(count - 1) * leading..][..depth];
        let some = [line(0), line(1), line(2), line(3)];
        if depth < TURNED {
            for k in 0..depth {
                for (at, line) in some.iter().enumerate().take(count - side) {
                    to[k * width + side + at] = line[k];
                }
            }
            continue;
        }
        let mut k = 0;
        while k < depth {
            // Of the last ones some once more.
            let from = k.min(depth - TURNED);
            let part = |line: usize| some[line][from..].first_chunk().expect("blocks are whole");
            T::turn([part(0), part(1), part(2), part(3)], &mut to[from * width + side..], width);
            k = from + TURNED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::case;
    use crate::cpu::launch::tests::in_registers;
    use crate::matrix::BatchLayout;

    /// See [`case::check`].
    fn check<T: Registers + PartialEq>(shape: [usize; 3], beta: f64, of: fn(f64) -> T) -> usize {
        let [m, n, depth] = shape;
        let c = Layout::row_major(m, n).expect("it is small");
        let split =
            Split::of_part(size_of::<T>(), depth, BatchLayout { matrix: c, count: 1, stride: 0 }, false);
        case::check(shape, beta, of, |a, b, factors, c| product(a, b, shape, split, factors, c))
    }

    /// Around the ends of registers, of blocks of lines and of strips; sums in parts, too.
    fn check_registers<T: Registers + PartialEq>(of: fn(f64) -> T) {
        for widest in [16, 32, usize::MAX] {
            in_registers(widest, || {
                let mut taken = 0;
                for few in [1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17] {
                    for long in [1, 3, 8, 15, 33, 50, 70] {
                        for depth in [1, 7, 9, 30, 33, 50] {
                            taken += check([few, long, depth], -1.5, of) + check([long, few, depth], 0.0, of);
                        }
                    }
                }
                for few in [1, 2, 4, 5, 12, 16] {
                    for [long, depth] in [[40, 3000], [2100, 20], [700, 9], [17, 700], [1100, 600]] {
                        taken += check([few, long, depth], 0.0, of) + check([long, few, depth], -1.5, of);
                    }
                }
                assert!(taken > 4_000, "{taken} products");
            });
        }
    }

    #[test]
    fn all_registers_give_the_references_bits() {
        check_registers::<f32>(|value| value as f32);
        check_registers::<f64>(|value| value / 3.0);
    }

    #[test]
    fn without_products_or_with_two_long_extents_it_is_another() {
        assert_eq!(check::<f32>([5, 40, 0], 0.0, |value| value as f32), 0);
        assert_eq!(check::<f32>([MOST + 1, 40, 30], 0.0, |value| value as f32), 0);
    }
}
