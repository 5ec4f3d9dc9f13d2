//! Sums in tiles of registers across lines, one for each k, that are near enough to be read in pieces.

use super::{Factors, Strip, Sums, padded};
use crate::cpu::lanes::{Has, Lanes, Registers};

/// Registers of a result of those side by side, at most.
const ALONG: usize = 4;

/// [`Sums`] of each of the few in the strip's room.
pub(super) struct Tiles;

impl<T: Registers, V: Lanes<T>> Sums<T, V> for Tiles {
    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<T>) {
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
    strip: &mut Strip<T>,
) -> usize {
    let mut at = 0;
    while at < strip.len {
        let place = (first, side, at);
        at += V::LEN
            * match (strip.len - at).div_ceil(V::LEN) {
                1 => tile::<T, V, G, 1>(has, of, place, strip),
                2..ALONG => tile::<T, V, G, 2>(has, of, place, strip),
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
    Strip { len, room, few, sums, .. }: &mut Strip<T>,
) -> usize {
    let width = (*len - at).min(N * V::LEN);
    let mut total = [[V::splat(has, T::ZERO); N]; G];
    for part in of.split.ranges(of.depth) {
        let mut chains = [[V::splat(has, T::ZERO); N]; G];
        let lines = of.long[part.start * of.leading..].chunks(of.leading).take(part.len());
        for (line, few) in lines.zip(few[part.start * padded(of.count)..].chunks(padded(of.count))) {
            let line = &line[first + at..][..width];
            let mut elements = [V::splat(has, T::ZERO); N];
            for j in 0..N {
                elements[j] = if width == N * V::LEN || j + 1 < N {
                    V::load(has, &line[j * V::LEN..])
                } else {
                    V::load_some(has, &line[j * V::LEN..])
                };
            }
            let few = &few[side..][..G];
            for i in 0..G {
                let factor = V::splat(has, few[i]);
                for j in 0..N {
                    chains[i][j] = elements[j].mul_add(factor, chains[i][j]);
                }
            }
        }
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
    for i in 0..G {
        for j in 0..N {
            total[i][j].store(&mut sums[(side + i) * *room + at + j * V::LEN..]);
        }
    }
    N
}
