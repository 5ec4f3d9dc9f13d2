//! Sums in tiles of registers across lines, one for each k, that are near enough to be read in pieces.

use super::{Factors, Strip, Sums, padded};
use crate::cpu::lanes::{Block, Has, Lanes, Registers};
use crate::cpu::tile::finish_tile;

/// Registers of a result of those side by side, at most: of four results as many as there are for sums, of 32 registers
/// of 64 bytes, or 16 of others.
const fn along<V>() -> usize {
    if size_of::<V>() == 64 { 4 } else { 3 }
}

/// [`Sums`] of each of the few in the strip's room, or, ended, in lines of C.
pub(super) struct Tiles;

impl<T: Registers, V: Lanes<T>> Sums<T, V> for Tiles {
    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        let mut at = 0;
        while at < strip.len {
            at += V::LEN
                * match (strip.len - at).div_ceil(V::LEN) {
                    1 => side::<T, V, 1>(has, of, (first, at), strip),
                    2 => side::<T, V, 2>(has, of, (first, at), strip),
                    4.. if const { along::<V>() == 4 } => side::<T, V, 4>(has, of, (first, at), strip),
                    _ => side::<T, V, 3>(has, of, (first, at), strip),
                };
        }
    }
}

/// Those of all side by side in `N` registers of each, from `at` on, so that what is read of lines is near for all but
/// the first of them; says how many registers those are.
#[inline(always)]
fn side<T: Registers, V: Lanes<T>, const N: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, at): (usize, usize),
    strip: &mut Strip<'_, T>,
) -> usize {
    let width = padded(of.count);
    let mut side = 0;
    while side < width {
        let place = (first, side, at);
        side += match width - side {
            1 => tile::<T, V, 1, N>(has, of, place, strip),
            2 => tile::<T, V, 2, N>(has, of, place, strip),
            _ => tile::<T, V, 4, N>(has, of, place, strip),
        };
    }
    N
}

/// Those of a tile of `G` × `N` registers, of which the last may be filled in part; says how many are side by side.
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
        finish_tile(has, of.factors, &total, &mut lines[side..], *done + at..*done + at + width);
        return G;
    }
    for i in 0..G {
        for j in 0..N {
            total[i][j].store(&mut sums[(side + i) * *room + at + j * V::LEN..]);
        }
    }
    G
}

/// The chains of lines as long as `N` registers, or, if those are not `WHOLE`, up to one less.
#[inline(always)]
fn chains<T: Registers, V: Lanes<T>, const G: usize, const N: usize, const WHOLE: bool>(
    has: Has<V>,
    lines: Block<'_, T>,
    few: Block<'_, T>,
) -> [[V; N]; G] {
    let mut chains = [[V::splat(has, T::ZERO); N]; G];
    if WHOLE {
        V::add_products(has, lines, few.across(), 0, &mut chains);
        return chains;
    }
    for k in 0..lines.lines() {
        let (line, few) = (lines.rest(k, 0), few.some::<G>(k, 0));
        let mut elements = [V::splat(has, T::ZERO); N];
        for j in 0..N {
            let line = &line[j * V::LEN..];
            elements[j] = if j + 1 < N { V::load(has, line) } else { V::load_some(has, line) };
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
