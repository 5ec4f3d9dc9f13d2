//! Sums in strips along lines, one for each k: of some lines at a time, each element is read once for some results.

use super::{Factors, Strip, Sums, padded};
use crate::cpu::lanes::{Has, Lanes, Registers};

/// Lines that are added at once.
pub(super) const LINES: usize = 8;

/// Some lines of a strip and their factors.
struct Lined<'a, T, const J: usize> {
    lines: [&'a [T]; J],
    /// For each line as many as there are results side by side.
    few: &'a [T],
    /// Whether these are a part's first ones.
    is_first: bool,
}

/// [`Sums`] of each of the few in the strip's room.
pub(super) struct Strips;

impl<T: Registers, V: Lanes<T>> Sums<T, V> for Strips {
    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        let Strip { len, room, few, chains, sums, .. } = strip;
        let width = padded(of.count);
        for part in of.split.ranges(of.depth) {
            let is_alone = part.start == 0;
            let to = if is_alone { &mut *sums } else { &mut *chains };
            let mut k = part.start;
            while k < part.end {
                let (few, is_first) = (&few[k * width..], k == part.start);
                let line = |j: usize| &of.long[(k + j) * of.leading + first..][..*len];
                let at = (width, *room);
                k += if k + LINES <= part.end {
                    let lines = [line(0), line(1), line(2), line(3), line(4), line(5), line(6), line(7)];
                    add(has, Lined { lines, few, is_first }, at, to);
                    LINES
                } else if k + 4 <= part.end {
                    add(has, Lined { lines: [line(0), line(1), line(2), line(3)], few, is_first }, at, to);
                    4
                } else if k + 2 <= part.end {
                    add(has, Lined { lines: [line(0), line(1)], few, is_first }, at, to);
                    2
                } else {
                    add(has, Lined { lines: [line(0)], few, is_first }, at, to);
                    1
                };
            }
            // Parts are added in ascending order, the second one to the first.
            if !is_alone && !part.is_empty() {
                let len = len.next_multiple_of(V::LEN);
                for (sums, chains) in
                    sums.chunks_exact_mut(*room).zip(chains.chunks_exact(*room)).take(of.count)
                {
                    for at in (0..len).step_by(V::LEN) {
                        V::load(has, &sums[at..]).plus(V::load(has, &chains[at..])).store(&mut sums[at..]);
                    }
                }
            }
            if part.end == of.depth {
                break;
            }
        }
    }
}

/// Adds lines to the sums of `count` results side by side, `room` elements from one to the next.
#[inline(always)]
fn add<T: Registers, V: Lanes<T>, const J: usize>(
    has: Has<V>,
    lined: Lined<'_, T, J>,
    (count, room): (usize, usize),
    sums: &mut [T],
) {
    let mut side = 0;
    while side < count {
        let sums = &mut sums[side * room..];
        side += match count - side {
            1 => add_side::<T, V, J, 1>(has, &lined, (count, side), (sums, room)),
            2 => add_side::<T, V, J, 2>(has, &lined, (count, side), (sums, room)),
            _ => add_side::<T, V, J, 4>(has, &lined, (count, side), (sums, room)),
        };
    }
}

/// The same of `G` of them from `side` on; says how many those are.
#[inline(always)]
fn add_side<T: Registers, V: Lanes<T>, const J: usize, const G: usize>(
    has: Has<V>,
    &Lined { lines, few, is_first }: &Lined<'_, T, J>,
    (count, side): (usize, usize),
    (sums, room): (&mut [T], usize),
) -> usize {
    let mut factors = [[T::ZERO; J]; G];
    for j in 0..J {
        for i in 0..G {
            factors[i][j] = few[j * count + side + i];
        }
    }
    let len = lines[0].len();
    for at in (0..len).step_by(V::LEN) {
        let mut elements = [V::splat(has, T::ZERO); J];
        let is_whole = at + V::LEN <= len;
        for j in 0..J {
            let line = &lines[j][at..];
            elements[j] = if is_whole { V::load(has, line) } else { V::load_some(has, line) };
        }
        for i in 0..G {
            let sum = &mut sums[i * room + at..][..V::LEN];
            let mut chain = if is_first { V::splat(has, T::ZERO) } else { V::load(has, sum) };
            for j in 0..J {
                chain = elements[j].mul_add(V::splat(has, factors[i][j]), chain);
            }
            chain.store(sum);
        }
    }
    G
}
