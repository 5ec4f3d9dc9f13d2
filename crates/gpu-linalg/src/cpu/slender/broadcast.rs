//! Sums of many results side by side in registers: each element of a line is in products with as many of the shorter
//! factor's.

use super::{Factors, Strip, Sums};
use crate::cpu::lanes::{Block, Has, Lanes, Registers};

/// [`Sums`] of `M` lines at a time with `N` registers each: those side by side follow each other.
pub(super) struct Broadcast<const N: usize, const M: usize>;

impl<T: Registers, V: Lanes<T>, const N: usize, const M: usize> Sums<T, V> for Broadcast<N, M> {
    const WIDTH: Option<usize> = Some(N * V::LEN);

    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        let len = strip.len;
        if len < M {
            for at in 0..len {
                lines::<T, V, N, 1>(has, of, (first, at), strip);
            }
            return;
        }
        let mut at = 0;
        while at < len {
            // Of the last ones some once more.
            let from = at.min(len - M);
            lines::<T, V, N, M>(has, of, (first, from), strip);
            at = from + M;
        }
    }
}

/// The sums of `M` lines, those at `at` and behind it in a strip that begins with the line `first`.
#[inline(always)]
fn lines<T: Registers, V: Lanes<T>, const N: usize, const M: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, at): (usize, usize),
    Strip { few, sums, .. }: &mut Strip<'_, T>,
) {
    let lines = &of.long[(first + at) * of.leading..];
    let part = of.split.piece.min(of.depth);
    let mut total = [[V::splat(has, T::ZERO); N]; M];
    let mut start = 0;
    while start < of.depth {
        let part = part.min(of.depth - start);
        let block = Block::new(&lines[start..], of.leading, M, part);
        let chains = chains::<T, V, N, M>(has, block, &few[start * N * V::LEN..]);
        // Parts are added in ascending order, the second one to the first.
        for i in 0..M {
            for j in 0..N {
                total[i][j] = if start == 0 { chains[i][j] } else { total[i][j].plus(chains[i][j]) };
            }
        }
        start += part;
    }
    let sums = &mut sums[at * of.count..][..(M - 1) * of.count + N * V::LEN];
    for i in 0..M {
        for j in 0..N {
            // What is behind the last of them is written over by the next line's.
            total[i][j].store(&mut sums[i * of.count + j * V::LEN..]);
        }
    }
}

/// The chains of `M` lines.
#[inline(always)]
fn chains<T: Registers, V: Lanes<T>, const N: usize, const M: usize>(
    has: Has<V>,
    lines: Block<'_, T>,
    few: &[T],
) -> [[V; N]; M] {
    let mut chains = [[V::splat(has, T::ZERO); N]; M];
    for (k, few) in (0..lines.len()).zip(few.chunks_exact(N * V::LEN)) {
        let mut side = [V::splat(has, T::ZERO); N];
        for j in 0..N {
            side[j] = V::load(has, &few[j * V::LEN..]);
        }
        for (i, chains) in chains.iter_mut().enumerate() {
            let element = V::splat(has, lines.at(i, k));
            for j in 0..N {
                chains[j] = side[j].mul_add(element, chains[j]);
            }
        }
    }
    chains
}
