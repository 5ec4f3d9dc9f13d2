//! Sums across lines of a few rows, which are turned into lines of their own: what a group of lanes is across is a lane
//! along.

use super::Across;
use super::along::{lanes, order_lanes, turned};
use crate::cpu::lanes::{Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Rows that are few, at most: more fill registers by themselves.
pub(super) const MOST: usize = 16;

/// [`Across`] of all rows, which are few. `V` elements are 16 bytes.
pub(super) struct Few<'a, T: RealElement, const V: usize>(pub(super) Across<'a, T>);

impl<T: RealElement, const V: usize> ByRegisters<T> for Few<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, (wide, half, least): (Has<W>, Has<H>, Has<L>)) {
        let Across { a, layout, ref columns, of_warp, .. } = self.0;
        let turned;
        let lines = if layout.rows() == 1 && layout.leading_dimension() == 1 {
            &a[columns.clone()]
        } else {
            turned = self.turned(least);
            &turned
        };
        match (of_warp / W::LEN, of_warp / H::LEN) {
            (1, _) => self.warps::<W, 1>(wide, lines),
            (2, _) => self.warps::<W, 2>(wide, lines),
            (4, _) => self.warps::<W, 4>(wide, lines),
            (8, _) => self.warps::<W, 8>(wide, lines),
            (16, _) => self.warps::<W, 16>(wide, lines),
            (_, 1) => self.warps::<H, 1>(half, lines),
            lanes => unreachable!("{of_warp} groups for {} rows are {lanes:?} registers", layout.rows()),
        }
    }
}

impl<T: RealElement, const V: usize> Few<'_, T, V> {
    /// The rows of the piece, one behind the other, each filled up to whole 16 bytes.
    #[inline(always)]
    fn turned<L: Lanes<T>>(&self, has: Has<L>) -> Vec<T> {
        let Across { a, layout, columns, .. } = &self.0;
        let (rows, len) = (layout.rows(), columns.len());
        let step = len.next_multiple_of(V);
        let mut all = vec![T::ZERO; rows * step];
        for first in (0..rows).step_by(V) {
            let count = (rows - first).min(V);
            for at in (0..len).step_by(V) {
                let mut parts = [L::splat(has, T::ZERO); V];
                for place in 0..V.min(len - at) {
                    let line = &a[layout.index(first, columns.start + at + place)..];
                    parts[place] =
                        if count == V { L::load(has, line) } else { L::load_some(has, &line[..count]) };
                }
                let parts = turned(parts);
                for row in 0..count {
                    parts[row].store(&mut all[(first + row) * step + at..]);
                }
            }
        }
        all
    }

    /// The sums of all warps: those of a line of which each takes some lanes of every round.
    #[inline(always)]
    fn warps<R: Lanes<T>, const G: usize>(self, has: Has<R>, turned: &[T]) {
        let Across { x, columns, groups, sums, .. } = self.0;
        let x = &x[columns.clone()];
        let (len, rows) = (columns.len(), sums.len());
        let (part, round) = (G * V * R::LEN, groups * V);
        let step = turned.len() / rows;
        let mut ordered = vec![T::ZERO; len.div_ceil(round) * part];
        for first in (0..round.min(len)).step_by(part) {
            order_lanes::<T, R, V, G>(has, x, (first, round), &mut ordered);
            for row in (0..rows).step_by(V) {
                let count = (rows - row).min(V);
                let mut lines: [&[T]; V] = [&[]; V];
                for (line, row) in lines[..count].iter_mut().zip(row..) {
                    *line = &turned[row * step..][..len];
                }
                let block = lanes::<T, R, V, G>(has, (lines, count), &ordered, (first, round));
                for (sum, &warp) in sums[row..row + count].iter_mut().zip(&block) {
                    *sum = if first == 0 { warp } else { *sum + warp };
                }
            }
        }
    }
}
