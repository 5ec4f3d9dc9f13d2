//! Sums along lines of a single lane: each is one chain, and as many are side by side as a register has elements.

use super::Along;
use super::along::turned;
use crate::cpu::lanes::{Block, Has, Lanes};
use crate::launch::RealElement;

/// The sums of blocks of as many lines as a register has elements, each of more than `V`, which are 16 bytes. Gives
/// back what is left.
#[inline(always)]
pub(super) fn single<'a, T: RealElement, R: Lanes<T>, const V: usize>(
    has: Has<R>,
    part: Along<'a, T>,
) -> Along<'a, T> {
    let Along { a, layout, x, first, sums, .. } = part;
    let (count, leading) = (layout.columns(), layout.leading_dimension());
    let (blocks, left) = sums.split_at_mut(sums.len() / R::LEN * R::LEN);
    let done = blocks.len();
    if done > 0 {
        let lines = Block::new(&a[layout.index(first, 0)..], leading, done, count);
        for (number, sums) in blocks.chunks_exact_mut(R::LEN).enumerate() {
            let lines = lines.part(number * R::LEN, R::LEN);
            let (mut chain, mut at) = (R::splat(has, T::ZERO), 0);
            while at + V <= count {
                add::<T, R, V>(has, (lines, at), (x, at), &mut chain);
                at += V;
            }
            if at < count {
                add::<T, R, V>(has, (lines, count - V), (x, at), &mut chain);
            }
            chain.store(sums);
        }
    }
    Along { first: first + done, sums: left, ..part }
}

/// Adds the products of `V` columns from `start` on, but for those before `at`.
#[inline(always)]
fn add<T: RealElement, R: Lanes<T>, const V: usize>(
    has: Has<R>,
    (lines, start): (Block<'_, T>, usize),
    (x, at): (&[T], usize),
    chain: &mut R,
) {
    let mut parts = [R::splat(has, T::ZERO); V];
    for (line, part) in parts.iter_mut().enumerate() {
        let mut pieces: [&[T]; 4] = [&[]; 4];
        for (block, piece) in pieces[..R::LEN / V].iter_mut().enumerate() {
            *piece = &lines.rest(block * V + line, start)[..V];
        }
        *part = R::load_pieces(has, pieces);
    }
    let columns = turned(parts);
    for j in 0..V {
        if start + j >= at {
            // The first of as many that are alike.
            *chain = columns[j].mul_add(R::splat(has, x[(start + j) * V]), *chain);
        }
    }
}
