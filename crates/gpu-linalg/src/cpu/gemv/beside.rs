//! Sums along lines so short that registers hold several side by side.

use super::along::{folded, halved, some_lines, turned};
use crate::cpu::lanes::{Beside, Block, Has, Lanes, Registers};

/// The sums of lines, of which `G` registers hold an element of each lane of `V`.
#[inline(always)]
pub(super) fn short_lines<T: Registers, R: Lanes<T>, const V: usize, const G: usize>(
    has: Has<R>,
    lines: Block<'_, T>,
    x: &[T],
    sums: &mut [T],
) {
    let (many, few) = sums.as_chunks_mut::<V>();
    let mut done = 0;
    // Two at a time: x is read once for both.
    let (pairs, last) = many.as_chunks_mut::<2>();
    for sums in pairs {
        let pair = [some_lines(lines, done, V), some_lines(lines, done + V, V)];
        *sums = blocks::<T, R, V, G, 2>(has, pair, x);
        done += 2 * V;
    }
    for sums in last {
        [*sums] = blocks::<T, R, V, G, 1>(has, [some_lines(lines, done, V)], x);
        done += V;
    }
    if !few.is_empty() {
        let [sums] = blocks::<T, R, V, G, 1>(has, [some_lines(lines, done, few.len())], x);
        few.copy_from_slice(&sums[..few.len()]);
    }
}

/// The sums of `B` times `V` lines.
#[inline(always)]
fn blocks<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const B: usize>(
    has: Has<R>,
    lines: [[&[T]; V]; B],
    x: &[T],
) -> [[T; V]; B] {
    let (len, part) = (lines[0][0].len(), G * R::LEN);
    let mut of = [Beside::new(lines[0], len); B];
    for block in 1..B {
        of[block] = Beside::new(lines[block], len);
    }
    let (mut sums, mut at, mut rounds) = ([[R::splat(has, T::ZERO); G]; B], 0, x.chunks_exact(V * part));
    while at + part <= len {
        let Some(x) = rounds.next() else { break };
        add::<T, R, V, G, B, true>(has, &of, (at, part), x, &mut sums);
        at += part;
    }
    if at < len
        && let Some(x) = rounds.next()
    {
        add::<T, R, V, G, B, false>(has, &of, (at, len - at), x, &mut sums);
    }
    let mut all = [[T::ZERO; V]; B];
    for block in 0..B {
        all[block] = folded(halved(sums[block]));
    }
    all
}

/// Adds `count` elements of all lines, which may be less than a `WHOLE` round, to their chains.
#[inline(always)]
fn add<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const B: usize, const WHOLE: bool>(
    has: Has<R>,
    of: &[Beside<'_, T, V>; B],
    (at, count): (usize, usize),
    x: &[T],
    sums: &mut [[R; G]; B],
) {
    for block in 0..B {
        let lines = of[block].some(at, count);
        for group in 0..G {
            let from = group * R::LEN;
            let mut parts = [R::splat(has, T::ZERO); V];
            for line in 0..V {
                parts[line] = if const { WHOLE } {
                    R::load(has, &lines[line][from..])
                } else {
                    R::load_some(has, &lines[line][from.min(count)..])
                };
            }
            let columns = turned(parts);
            for j in 0..V {
                let factor = R::load(has, &x[(group * V + j) * R::LEN..]);
                sums[block][group] = columns[j].mul_add(factor, sums[block][group]);
            }
        }
    }
}
