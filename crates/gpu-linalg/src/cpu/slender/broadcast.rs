//! Sums of many results side by side in registers: each element of a line is in products with as many of the shorter
//! factor's.

use super::{Factors, Strip, Sums};
use crate::cpu::lanes::{Across, Block, Has, Lanes, Registers};

/// [`Sums`] of `M` lines at a time with `N` registers each: those side by side follow each other.
pub(super) struct Broadcast<const N: usize, const M: usize>;

impl<T: Registers, V: Lanes<T>, const N: usize, const M: usize> Sums<T, V> for Broadcast<N, M> {
    const WIDTH: Option<usize> = Some(N * V::LEN);

    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        if of.is_across {
            blocks::<T, V, N, M, true>(has, of, first, strip);
        } else {
            blocks::<T, V, N, M, false>(has, of, first, strip);
        }
    }
}

/// The sums of all lines of a strip, of a factor that is `ACROSS` or not.
#[inline(always)]
fn blocks<T: Registers, V: Lanes<T>, const N: usize, const M: usize, const ACROSS: bool>(
    has: Has<V>,
    of: &Factors<'_, T>,
    first: usize,
    strip: &mut Strip<'_, T>,
) {
    let len = strip.len;
    if len < M {
        for at in 0..len {
            lines::<T, V, N, 1, ACROSS>(has, of, (first, at), strip);
        }
        return;
    }
    let mut at = 0;
    while at < len {
        // Of the last ones some once more.
        let from = at.min(len - M);
        lines::<T, V, N, M, ACROSS>(has, of, (first, from), strip);
        at = from + M;
    }
}

/// The sums of `M` lines, those at `at` and behind it in a strip that begins with the line `first`.
#[inline(always)]
fn lines<T: Registers, V: Lanes<T>, const N: usize, const M: usize, const ACROSS: bool>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, at): (usize, usize),
    Strip { few, sums, .. }: &mut Strip<'_, T>,
) {
    let mut starts = [0; M];
    for (i, start) in starts.iter_mut().enumerate() {
        *start = (first + at + i) * if const { ACROSS } { 1 } else { of.leading };
    }
    let part = of.split.piece.min(of.depth);
    let mut total = [[V::splat(has, T::ZERO); N]; M];
    let mut start = 0;
    while start < of.depth {
        let part = part.min(of.depth - start);
        let few = &few[start * N * V::LEN..][..part * N * V::LEN];
        let chains = if const { ACROSS || N > 2 } {
            let (from, step) = if const { ACROSS } { (start * of.leading, of.leading) } else { (start, 1) };
            let rows = Across::new(&of.long[from..], starts, step, part);
            let few = Block::new(few, N * V::LEN, part, N * V::LEN);
            let mut chains = [[V::splat(has, T::ZERO); N]; M];
            V::add_products(has, few, rows, 0, &mut chains);
            chains
        } else {
            let lines = Block::new(&of.long[starts[0] + start..], of.leading, M, part);
            chains::<T, V, N, M>(has, lines, few)
        };
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

/// The chains of `M` lines that are not across, in as few registers: of sums of a few products [`Lanes::add_products`]
/// takes up to a third longer, as it has an address for each line.
#[inline(always)]
fn chains<T: Registers, V: Lanes<T>, const N: usize, const M: usize>(
    has: Has<V>,
    lines: Block<'_, T>,
    few: &[T],
) -> [[V; N]; M] {
    let mut chains = [[V::splat(has, T::ZERO); N]; M];
    for (k, few) in few.chunks_exact(N * V::LEN).enumerate() {
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
