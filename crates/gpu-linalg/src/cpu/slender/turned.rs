//! Sums of few results side by side, along lines that are one result's each: of 16 bytes of many lines the first
//! elements come into one register, the second ones into the next.

use super::{Factors, Strip, Sums, padded};
use crate::cpu::lanes::{Block, Has, Lanes, Registers};
use crate::cpu::tile::MOST_LANES;

/// Elements of 16 bytes, at most.
const MOST_PLACES: usize = 4;

/// [`Sums`] of each of the few in the strip's room.
pub(super) struct Turned;

impl<T: Registers, V: Lanes<T>> Sums<T, V> for Turned {
    #[inline(always)]
    fn strip(has: Has<V>, of: &Factors<'_, T>, first: usize, strip: &mut Strip<'_, T>) {
        // A chain takes a new product every fourth cycle: so eight are at work where there are so many.
        match padded(of.count) {
            1 if const { size_of::<T>() == 4 } => self::strip::<T, V, 4, 1, 4>(has, of, first, strip),
            2 if const { size_of::<T>() == 4 } => self::strip::<T, V, 4, 2, 3>(has, of, first, strip),
            _ if const { size_of::<T>() == 4 } => self::strip::<T, V, 4, 4, 2>(has, of, first, strip),
            1 => self::strip::<T, V, 2, 1, 4>(has, of, first, strip),
            _ => self::strip::<T, V, 2, 2, 4>(has, of, first, strip),
        }
    }
}

/// The sums of the results from `first` on, in `N` registers at a time: those of each of `Q` in the strip's room.
/// `P` elements are 16 bytes.
#[inline(always)]
fn strip<T: Registers, V: Lanes<T>, const P: usize, const Q: usize, const N: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    first: usize,
    strip: &mut Strip<'_, T>,
) {
    let len = strip.len;
    if len < V::LEN {
        // Beside others that are zero: a sum alone takes as long as a register's.
        let mut whole = vec![T::ZERO; V::LEN * of.depth];
        let some = of.long[first * of.leading..].chunks(of.leading).take(len);
        for (to, line) in whole.chunks_exact_mut(of.depth).zip(some) {
            to.copy_from_slice(&line[..of.depth]);
        }
        let of = Factors { long: &whole, leading: of.depth, ..*of };
        lines::<T, V, P, Q, 1>(has, &of, (0, 0), strip);
        return;
    }
    // Where the last ones are fewer than a tile's, some are computed once more.
    let mut at = 0;
    while len >= N * V::LEN && at + V::LEN < len {
        let from = at.min(len - N * V::LEN);
        lines::<T, V, P, Q, N>(has, of, (first, from), strip);
        at = from + N * V::LEN;
    }
    while at < len {
        let from = at.min(len - V::LEN);
        lines::<T, V, P, Q, 1>(has, of, (first, from), strip);
        at = from + V::LEN;
    }
}

/// The sums of the lines of `N` registers, those at `at` and behind it in a strip that begins with the line `first`.
#[inline(always)]
fn lines<T: Registers, V: Lanes<T>, const P: usize, const Q: usize, const N: usize>(
    has: Has<V>,
    of: &Factors<'_, T>,
    (first, at): (usize, usize),
    Strip { few, sums, room, .. }: &mut Strip<'_, T>,
) {
    let lines = &of.long[(first + at) * of.leading..];
    let part = of.split.piece.min(of.depth);
    let mut total = [[V::splat(has, T::ZERO); Q]; N];
    let mut start = 0;
    while start < of.depth {
        let part = part.min(of.depth - start);
        let block = Block::new(&lines[start..], of.leading, N * V::LEN, part);
        let chains = chains::<T, V, P, Q, N>(has, block, &few[start * Q..]);
        // Parts are added in ascending order, the second one to the first.
        for j in 0..N {
            for i in 0..Q {
                total[j][i] = if start == 0 { chains[j][i] } else { total[j][i].plus(chains[j][i]) };
            }
        }
        start += part;
    }
    for j in 0..N {
        for i in 0..Q {
            total[j][i].store(&mut sums[i * *room + at + j * V::LEN..]);
        }
    }
}

/// The chains of the lines of `N` registers.
#[inline(always)]
fn chains<T: Registers, V: Lanes<T>, const P: usize, const Q: usize, const N: usize>(
    has: Has<V>,
    lines: Block<'_, T>,
    few: &[T],
) -> [[V; Q]; N] {
    const { assert!(N <= 4, "registers' names") };
    let mut chains = [[V::splat(has, T::ZERO); Q]; N];
    for (piece, few) in (0..lines.len() / P).zip(few.chunks_exact(P * Q)) {
        // One by one: a loop of so much is not unrolled, and sums are in memory then.
        add::<T, V, P, Q>(has, (&lines, 0, piece * P), few, &mut chains[0]);
        if N > 1 {
            add::<T, V, P, Q>(has, (&lines, 1, piece * P), few, &mut chains[1 % N]);
        }
        if N > 2 {
            add::<T, V, P, Q>(has, (&lines, 2, piece * P), few, &mut chains[2 % N]);
        }
        if N > 3 {
            add::<T, V, P, Q>(has, (&lines, 3, piece * P), few, &mut chains[3 % N]);
        }
    }
    for k in lines.len() / P * P..lines.len() {
        for (j, chains) in chains.iter_mut().enumerate() {
            let mut elements = [T::ZERO; MOST_LANES];
            for (lane, element) in elements[..V::LEN].iter_mut().enumerate() {
                *element = lines.at(j * V::LEN + lane, k);
            }
            let elements = V::load(has, &elements);
            for i in 0..Q {
                chains[i] = elements.mul_add(V::splat(has, few[k * Q + i]), chains[i]);
            }
        }
    }
    chains
}

/// Adds the products of 16 bytes, from `k` on, of each line of a register.
#[inline(always)]
fn add<T: Registers, V: Lanes<T>, const P: usize, const Q: usize>(
    has: Has<V>,
    (lines, register, k): (&Block<'_, T>, usize, usize),
    few: &[T],
    chains: &mut [V; Q],
) {
    let mut pieces = [V::splat(has, T::ZERO); MOST_PLACES];
    for (place, pieces) in pieces[..P].iter_mut().enumerate() {
        let mut of_place: [&[T]; MOST_PLACES] = [&[]; MOST_PLACES];
        for (piece, line) in of_place[..V::LEN / P].iter_mut().enumerate() {
            *line = lines.some::<P>(register * V::LEN + piece * P + place, k);
        }
        *pieces = V::load_pieces(has, of_place);
    }
    let elements = sorted::<T, V, P>(pieces);
    for place in 0..P {
        for i in 0..Q {
            chains[i] = elements[place].mul_add(V::splat(has, few[place * Q + i]), chains[i]);
        }
    }
}

/// Of every 16 bytes of as many registers as those have elements the first ones, then the second ones, and so on.
#[inline(always)]
fn sorted<T: Registers, V: Lanes<T>, const P: usize>([a, b, c, d]: [V; MOST_PLACES]) -> [V; MOST_PLACES] {
    let ((even, odd), (evens, odds)) = (a.halves(b), c.halves(d));
    if P == 2 {
        return [even, odd, evens, odds];
    }
    let ((first, third), (second, fourth)) = (even.halves(evens), odd.halves(odds));
    [first, second, third, fourth]
}
