//! Sums across lines of a few rows, which one register holds, or a few.

use super::along::{lanes, order_lanes};
use super::{Across, WAITING, group_at};
use crate::cpu::lanes::{Block, Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Rows that are few, at most: more are in strips.
pub(super) const MOST: usize = 64;
/// Groups of a warp where one row's elements follow each other.
const GROUPS: usize = 32;
/// Elements of as many registers as hold sums, at most.
const MOST_SUMS: usize = 128;

/// Groups whose chains are side by side, where those are long.
const TOGETHER: usize = 4;
/// Vectors of a long chain: of fewer four groups take no less time than one after the other.
const LONG: usize = 4;

/// [`Across`] of rows that are few. `V` elements are 16 bytes.
pub(super) struct Few<'a, T: RealElement, const V: usize>(pub(super) Across<'a, T>);

impl<T: RealElement, const V: usize> ByRegisters<T> for Few<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(mut self, (wide, half, least): (Has<W>, Has<H>, Has<L>)) {
        let Across { ref layout, of_warp, .. } = self.0;
        let rows = self.0.sums.len();
        if rows == 1 && layout.leading_dimension() == 1 {
            // One row has so few vectors that a warp has 32 groups.
            assert_eq!(of_warp, GROUPS, "groups of a warp for one row");
            if const { GROUPS / W::LEN == 2 } {
                self.line::<W, 2>(wide);
            } else if const { GROUPS / W::LEN == 4 } {
                self.line::<W, 4>(wide);
            } else if const { GROUPS / W::LEN == 8 } {
                self.line::<W, 8>(wide);
            } else if const { GROUPS / W::LEN == 16 } {
                self.line::<W, 16>(wide);
            } else {
                unreachable!("registers of {} elements", W::LEN);
            }
        } else if rows <= L::LEN {
            self.warps::<L, 1>(least, 0);
        } else if const { H::LEN > L::LEN } && rows <= H::LEN {
            self.warps::<H, 1>(half, 0);
        } else {
            let mut at = 0;
            while at < rows {
                at += W::LEN
                    * match (rows - at).div_ceil(W::LEN) {
                        1 => self.warps::<W, 1>(wide, at),
                        2 => self.warps::<W, 2>(wide, at),
                        5.. if const { 4 * W::LEN < MOST } => self.warps::<W, 8>(wide, at),
                        _ => self.warps::<W, 4>(wide, at),
                    };
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
            let warp = lanes::<T, R, V, G, V>(has, (lines, 1), &ordered, (first, round));
            sums[0] = sums[0] + warp[0];
        }
    }

    /// The sums of all warps, in `N` registers, of the rows at `at` and behind it; says how many registers those are.
    #[inline(always)]
    fn warps<R: Lanes<T>, const N: usize>(&mut self, has: Has<R>, at: usize) -> usize {
        let Across { columns, groups, of_warp, .. } = &self.0;
        let mut total = [R::splat(has, T::ZERO); N];
        let are_long = *of_warp >= TOGETHER && columns.len() >= LONG * groups * V;
        for first in (0..(*groups).min(columns.len().div_ceil(V))).step_by(*of_warp) {
            let warp = if N == 1 && are_long {
                [self.warp_of_chains(has, (first, at)); N]
            } else {
                self.warp::<R, N>(has, (first, at))
            };
            for part in 0..N {
                total[part] = total[part].plus(warp[part]);
            }
        }
        let mut all = [T::ZERO; MOST_SUMS];
        for part in 0..N {
            total[part].store(&mut all[part * R::LEN..]);
        }
        self.0.sums[at..].iter_mut().zip(&all[..N * R::LEN]).for_each(|(to, &sum)| *to = sum);
        N
    }

    /// The sums of the groups of a warp from `first` on: the first one's and that of the one half as many behind it,
    /// and so on.
    #[inline(always)]
    fn warp<R: Lanes<T>, const N: usize>(&self, has: Has<R>, (first, at): (usize, usize)) -> [R; N] {
        let bits = self.0.of_warp.ilog2();
        // The sums of the left ones of two halves, by how many groups these are: 1, 2, 4 and so on.
        let mut left = [[R::splat(has, T::ZERO); N]; WAITING];
        // A warp has two groups at least, as few rows have few vectors.
        for pair in 0..self.0.of_warp / 2 {
            let group = first + group_at(2 * pair, self.0.of_warp);
            let mut node = self.chain::<R, N>(has, (group, at));
            let right = self.chain::<R, N>(has, (group + self.0.of_warp / 2, at));
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

    /// [`Self::warp`] in a register, of chains that are long.
    #[inline(always)]
    fn warp_of_chains<R: Lanes<T>>(&self, has: Has<R>, (first, at): (usize, usize)) -> R {
        let of_warp = self.0.of_warp;
        let mut left = [R::splat(has, T::ZERO); WAITING];
        for some in 0..of_warp / TOGETHER {
            let group = |leaf| first + group_at(TOGETHER * some + leaf, of_warp);
            let [a, b, c, d] = self.chains(has, ([group(0), group(1), group(2), group(3)], at));
            let mut node = a.plus(b).plus(c.plus(d));
            let (mut level, mut place) = (TOGETHER.ilog2() as usize, some);
            while place & 1 == 1 {
                node = left[level].plus(node);
                (level, place) = (level + 1, place / 2);
            }
            left[level] = node;
        }
        left[of_warp.ilog2() as usize]
    }

    /// The chains of some groups: side by side, as each product waits for the one before.
    #[inline(always)]
    fn chains<R: Lanes<T>>(&self, has: Has<R>, (of, at): ([usize; TOGETHER], usize)) -> [R; TOGETHER] {
        let Across { a, layout, x, columns, groups, sums, first, .. } = &self.0;
        let (leading, step, len) = (layout.leading_dimension(), groups * V, (sums.len() - at).min(R::LEN));
        let mut chains = [R::splat(has, T::ZERO); TOGETHER];
        // What a register has behind the line's elements are others, whose sums are not looked at.
        let span = (V - 1) * leading + R::LEN;
        let last = columns.start + of.iter().max().expect("there are some") * V;
        let from = last * leading + first + at;
        // Vectors that all of them have whole, each with memory behind it.
        let many =
            |all: usize, least: usize, step: usize| if all < least { 0 } else { (all - least) / step + 1 };
        let rounds = many(columns.end, last + V, step).min(many(a.len(), from + span, step * leading));
        if rounds > 0 {
            let mut lines = [Block::new(a, 0, 1, 0); TOGETHER];
            let mut factors = [Block::new(x, 0, 1, 0); TOGETHER];
            for i in 0..TOGETHER {
                let column = columns.start + of[i] * V;
                lines[i] = Block::new(&a[column * leading + first + at..], step * leading, rounds, span);
                factors[i] = Block::new(&x[column..], step, rounds, V);
            }
            for round in 0..rounds {
                for i in 0..TOGETHER {
                    for j in 0..V {
                        let factor = R::splat(has, factors[i].at(round, j));
                        let line = R::load(has, lines[i].rest(round, j * leading));
                        chains[i] = line.mul_add(factor, chains[i]);
                    }
                }
            }
        }
        for i in 0..TOGETHER {
            for start in (columns.start + of[i] * V + rounds * step..columns.end).step_by(step) {
                for column in start..(start + V).min(columns.end) {
                    let line = R::load_some(has, &a[column * leading + first + at..][..len]);
                    chains[i] = line.mul_add(R::splat(has, x[column]), chains[i]);
                }
            }
        }
        chains
    }

    /// The chain of a group, of zero where it has no line.
    #[inline(always)]
    fn chain<R: Lanes<T>, const N: usize>(&self, has: Has<R>, (group, at): (usize, usize)) -> [R; N] {
        let Across { a, layout, x, columns, groups, sums, first, .. } = &self.0;
        let (leading, len) = (layout.leading_dimension(), (sums.len() - at).min(N * R::LEN));
        let mut sums = [R::splat(has, T::ZERO); N];
        let mut column = columns.start + group * V;
        while column < columns.end {
            let count = (columns.end - column).min(V);
            let lines = &a[column * leading + first + at..];
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
                    let line = &lines[j * leading..][..len];
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
