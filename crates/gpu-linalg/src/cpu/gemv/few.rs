//! Sums across lines of a few rows, which one register holds, or a few.

use super::along::{lanes, order_lanes};
use super::{Across, WAITING, group_at};
use crate::cpu::lanes::{Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Rows that are few, at most: more are in strips.
pub(super) const MOST: usize = 16;

/// [`Across`] of all rows, which are few. `V` elements are 16 bytes.
pub(super) struct Few<'a, T: RealElement, const V: usize>(pub(super) Across<'a, T>);

impl<T: RealElement, const V: usize> ByRegisters<T> for Few<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, (wide, half, least): (Has<W>, Has<H>, Has<L>)) {
        let Across { ref layout, of_warp, .. } = self.0;
        let rows = layout.rows();
        if rows == 1 && layout.leading_dimension() == 1 {
            // One row has so few vectors that a warp has 32 groups.
            match of_warp / W::LEN {
                2 => self.line::<W, 2>(wide),
                4 => self.line::<W, 4>(wide),
                8 => self.line::<W, 8>(wide),
                16 => self.line::<W, 16>(wide),
                registers => unreachable!("{of_warp} groups for one row are {registers} registers"),
            }
        } else if rows <= L::LEN {
            self.warps::<L, 1>(least);
        } else if rows <= H::LEN {
            self.warps::<H, 1>(half);
        } else {
            match rows.div_ceil(W::LEN) {
                1 => self.warps::<W, 1>(wide),
                2 => self.warps::<W, 2>(wide),
                3..=4 => self.warps::<W, 4>(wide),
                _ => self.warps::<W, 8>(wide),
            }
        }
    }
}

impl<T: RealElement, const V: usize> Few<'_, T, V> {
    /// One row whose elements follow each other: what is a group of lanes across is a lane along, and each warp takes
    /// some of the lanes of every round.
    #[inline(always)]
    fn line<R: Lanes<T>, const G: usize>(self, has: Has<R>) {
        let Across { a, x, columns, groups, sums, .. } = self.0;
        let mut lines: [&[T]; V] = [&[]; V];
        lines[0] = &a[columns.clone()];
        let x = &x[columns];
        let (part, round) = (G * V * R::LEN, groups * V);
        let mut ordered = vec![T::ZERO; x.len().div_ceil(round) * part];
        sums[0] = T::ZERO;
        for first in (0..round.min(x.len())).step_by(part) {
            order_lanes::<T, R, V, G>(has, x, (first, round), &mut ordered);
            let warp = lanes::<T, R, V, G>(has, (lines, 1), &ordered, (first, round));
            sums[0] = sums[0] + warp[0];
        }
    }

    /// The sums of all warps, in `N` registers.
    #[inline(always)]
    fn warps<R: Lanes<T>, const N: usize>(self, has: Has<R>) {
        let Across { columns, groups, of_warp, .. } = &self.0;
        let mut total = [R::splat(has, T::ZERO); N];
        for first in (0..(*groups).min(columns.len().div_ceil(V))).step_by(*of_warp) {
            let warp = self.warp::<R, N>(has, first);
            for part in 0..N {
                total[part] = total[part].plus(warp[part]);
            }
        }
        let mut all = [T::ZERO; 2 * MOST];
        for part in 0..N {
            total[part].store(&mut all[part * R::LEN..]);
        }
        let sums = self.0.sums;
        sums.copy_from_slice(&all[..sums.len()]);
    }

    /// The sums of the groups of a warp from `first` on: the first one's and that of the one half as many behind it,
    /// and so on.
    #[inline(always)]
    fn warp<R: Lanes<T>, const N: usize>(&self, has: Has<R>, first: usize) -> [R; N] {
        let bits = self.0.of_warp.ilog2();
        // The sums of the left ones of two halves, by how many groups these are: 1, 2, 4 and so on.
        let mut left = [[R::splat(has, T::ZERO); N]; WAITING];
        // A warp has two groups at least, as few rows have few vectors.
        for pair in 0..self.0.of_warp / 2 {
            let group = first + group_at(2 * pair, self.0.of_warp);
            let mut node = self.chain::<R, N>(has, group);
            let right = self.chain::<R, N>(has, group + self.0.of_warp / 2);
            for part in 0..N {
                node[part] = node[part].plus(right[part]);
            }
            let mut level = 1;
            while pair >> (level - 1) & 1 == 1 {
                for part in 0..N {
                    node[part] = left[level][part].plus(node[part]);
                }
                level += 1;
            }
            left[level] = node;
        }
        left[bits as usize]
    }

    /// The chain of a group, of zero where it has no line.
    #[inline(always)]
    fn chain<R: Lanes<T>, const N: usize>(&self, has: Has<R>, group: usize) -> [R; N] {
        let Across { a, layout, x, columns, groups, .. } = &self.0;
        let leading = layout.leading_dimension();
        let mut sums = [R::splat(has, T::ZERO); N];
        let mut column = columns.start + group * V;
        while column < columns.end {
            let count = (columns.end - column).min(V);
            let lines = &a[column * leading..];
            let is_whole = count == V && lines.len() >= (V - 1) * leading + N * R::LEN;
            if is_whole {
                let x = &x[column..][..V];
                for j in 0..V {
                    // What a register has behind the line's elements are others, whose sums are not looked at.
                    let line = &lines[j * leading..][..N * R::LEN];
                    let factor = R::splat(has, x[j]);
                    for part in 0..N {
                        sums[part] = R::load(has, &line[part * R::LEN..]).mul_add(factor, sums[part]);
                    }
                }
            } else {
                for j in 0..count {
                    let line = &lines[j * leading..][..layout.rows()];
                    let factor = R::splat(has, x[column + j]);
                    for part in 0..N {
                        let some = R::load_some(has, &line[(part * R::LEN).min(line.len())..]);
                        sums[part] = some.mul_add(factor, sums[part]);
                    }
                }
            }
            column += groups * V;
        }
        sums
    }
}
