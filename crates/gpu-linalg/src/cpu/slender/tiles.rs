//! Sums in tiles of registers across lines, one for each k, that are near enough to be read in pieces.

use super::{Factors, Strip, Sums, padded};
use crate::cpu::lanes::{Block, Has, Lanes, Registers};
use crate::cpu::tile::finish_some;

/// Registers of a result of those side by side, at most.
const ALONG: usize = 4;

/// [`Sums`] of each of the few in the strip's room, or, ended, in lines of C.
pub(super) struct Tiles;

impl<T: Registers, V: Lanes<T>> Sums<T, V> for Tiles {
    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        let width = padded(of.count);
        let mut side = 0;
        while side < width {
            side += match width - side {
                1 => along::<T, V, 1>(has, of, (first, side), strip),
                2 => along::<T, V, 2>(has, of, (first, side), strip),
                _ => along::<T, V, 4>(has, of, (first, side), strip),
            };
        }
    }
}

/// Those of `G` side by side, from `side` on; says how many those are.
#[inline(always)]
fn along<T: Registers, V: Lanes<T>, const G: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, side): (usize, usize),
    strip: &mut Strip<'_, T>,
) -> usize {
    let mut at = 0;
    while at < strip.len {
        let place = (first, side, at);
        at += V::LEN
            * match (strip.len - at).div_ceil(V::LEN) {
                1 => tile::<T, V, G, 1>(has, of, place, strip),
                2 => tile::<T, V, G, 2>(has, of, place, strip),
                3 => tile::<T, V, G, 3>(has, of, place, strip),
                _ => tile::<T, V, G, ALONG>(has, of, place, strip),
            };
    }
    G
}

/// Those of a tile of `G` × `N` registers, of which the last may be filled in part; says how many those along are.
#[inline(always)]
fn tile<T: Registers, V: Lanes<T>, const G: usize, const N: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, side, at): (usize, usize, usize),
    Strip { len, room, few, sums, lines, done, .. }: &mut Strip<'_, T>,
) -> usize {
    let width = (*len - at).min(N * V::LEN);
    let mut total = [[V::splat(has, T::ZERO); N]; G];
    for part in of.split.ranges(of.depth) {
        let long = &of.long[part.start * of.leading + first + at..];
        let few = Block::new(&few[part.start * padded(of.count) + side..], padded(of.count), part.len(), G);
        let chains = if width == N * V::LEN {
            let lines = Block::new(long, of.leading, part.len(), N * V::LEN);
            chains::<T, V, G, N, true>(has, lines, few)
        } else {
            let lines = Block::new(long, of.leading, part.len(), width);
            chains::<T, V, G, N, false>(has, lines, few)
        };
        // Parts are added in ascending order, the second one to the first.
        for i in 0..G {
            for j in 0..N {
                total[i][j] = if part.start == 0 { chains[i][j] } else { total[i][j].plus(chains[i][j]) };
            }
        }
        if part.end == of.depth {
            break;
        }
    }
    if !lines.is_empty() {
        let along = *done + at..*done + at + width;
        for (line, total) in lines[side..].iter_mut().zip(&total) {
            for (c, &total) in line[along.clone()].chunks_mut(V::LEN).zip(total) {
                finish_some(has, of.factors, total, c);
            }
        }
        return N;
    }
    for i in 0..G {
        for j in 0..N {
            total[i][j].store(&mut sums[(side + i) * *room + at + j * V::LEN..]);
        }
    }
    N
}

/// The chains of lines as long as `N` registers, or, if those are not `WHOLE`, up to one less.
#[inline(always)]
fn chains<T: Registers, V: Lanes<T>, const G: usize, const N: usize, const WHOLE: bool>(
    has: Has<V>,
    lines: Block<'_, T>,
    few: Block<'_, T>,
) -> [[V; N]; G] {
    let mut chains = [[V::splat(has, T::ZERO); N]; G];
    for k in 0..lines.lines() {
        let (line, few) = (lines.rest(k, 0), few.some::<G>(k, 0));
        let mut elements = [V::splat(has, T::ZERO); N];
        for j in 0..N {
            let line = &line[j * V::LEN..];
            elements[j] = if WHOLE || j + 1 < N { V::load(has, line) } else { V::load_some(has, line) };
        }
        for i in 0..G {
            let factor = V::splat(has, few[i]);
            for j in 0..N {
                chains[i][j] = elements[j].mul_add(factor, chains[i][j]);
            }
        }
    }
    chains
}
