//! The sums of a warp across the columns of a few rows, which stay in registers.

use super::columns::Columns;
use super::{WAITING, group_at};
use crate::cpu::lanes::{Block, Has, Lanes};
use crate::launch::RealElement;

/// Elements of as many registers as hold sums, at most.
pub(super) const MOST_SUMS: usize = 128;
/// Registers whose chains are side by side, as each product waits for the one before.
const TOGETHER: usize = 4;

/// The columns of a piece. `V` elements are 16 bytes, and a group's sums `N` registers.
pub(super) struct Warps<'a, T, const N: usize, const V: usize> {
    pub(super) columns: Columns<'a, T>,
    /// From one of a group's vectors to the next.
    pub(super) step: usize,
}

impl<T: RealElement, const N: usize, const V: usize> Warps<'_, T, N, V> {
    /// The sums of the groups of a warp from `first` on: the first one's and that of the one half as many behind it,
    /// and so on.
    #[inline(always)]
    pub(super) fn warp<R: Lanes<T>>(&self, has: Has<R>, (first, of_warp): (usize, usize)) -> [T; MOST_SUMS] {
        let mut all = [T::ZERO; MOST_SUMS];
        // Of matrices of more than 128 MiB a warp may have a single group.
        let sums = if const { N == 1 } && of_warp >= TOGETHER {
            self.registers::<R, TOGETHER>(has, (first, of_warp))
        } else if const { N > 1 } && of_warp >= TOGETHER / 2 {
            self.registers::<R, { TOGETHER / 2 }>(has, (first, of_warp))
        } else {
            self.registers::<R, 1>(has, (first, of_warp))
        };
        for part in 0..N {
            sums[part].store(&mut all[part * R::LEN..]);
        }
        all
    }

    /// [`Self::warp`], `G` groups side by side.
    #[inline(always)]
    fn registers<R: Lanes<T>, const G: usize>(
        &self,
        has: Has<R>,
        (first, of_warp): (usize, usize),
    ) -> [R; N] {
        // The sums of the left ones of two halves, by how many these are: 1, 2, 4 and so on.
        let mut left = [[R::splat(has, T::ZERO); N]; WAITING];
        for some in 0..of_warp / G {
            let mut groups = [first + group_at(G * some, of_warp); G];
            let (mut size, mut distance) = (1, of_warp / 2);
            while size < G {
                // The bits of places, from the last to the first, are those of groups from the first to the last.
                for (leaf, group) in groups.iter_mut().enumerate() {
                    if leaf & size != 0 {
                        *group += distance;
                    }
                }
                (size, distance) = (2 * size, distance / 2);
            }
            let mut nodes = self.chains::<R, G>(has, groups);
            size = G;
            while size > 1 {
                size /= 2;
                for node in 0..size {
                    let [left, right] = [nodes[2 * node], nodes[2 * node + 1]];
                    for part in 0..N {
                        nodes[node][part] = left[part].plus(right[part]);
                    }
                }
            }
            let (mut level, mut place) = (G.ilog2() as usize, some);
            while place & 1 == 1 {
                for part in 0..N {
                    nodes[0][part] = left[level][part].plus(nodes[0][part]);
                }
                (level, place) = (level + 1, place / 2);
            }
            left[level] = nodes[0];
        }
        left[of_warp.ilog2() as usize]
    }

    /// The chains of some groups; of zero where a group has no column.
    #[inline(always)]
    fn chains<R: Lanes<T>, const G: usize>(&self, has: Has<R>, groups: [usize; G]) -> [[R; N]; G] {
        let mut chains = [[R::splat(has, T::ZERO); N]; G];
        let (mut last, mut done) = (0, 0);
        for group in groups {
            last = group.max(last);
        }
        if let Some(whole) = self.columns.whole {
            while (last + 1) * V + done <= self.columns.count {
                for i in 0..G {
                    self.add::<R>(has, &whole, groups[i] * V + done, &mut chains[i]);
                }
                done += self.step;
            }
        }
        for i in 0..G {
            // No `step_by`, which divides.
            let mut start = groups[i] * V + done;
            while start < self.columns.x.len() {
                self.rest(has, start, &mut chains[i]);
                start += self.step;
            }
        }
        chains
    }

    /// Adds the columns of a group's vector.
    #[inline(always)]
    fn add<R: Lanes<T>>(&self, has: Has<R>, whole: &Block<'_, T>, column: usize, chain: &mut [R; N]) {
        let lines = whole.part(column, V);
        // Once for all lines.
        assert!(lines.len() >= N * R::LEN, "registers hold what is read of a line");
        for (j, &factor) in self.columns.x[column..][..V].iter().enumerate() {
            let (line, factor) = (lines.rest(j, 0), R::splat(has, factor));
            for part in 0..N {
                chain[part] = R::load(has, &line[part * R::LEN..]).mul_add(factor, chain[part]);
            }
        }
    }

    /// Adds what there is of the columns of a vector.
    #[inline(always)]
    fn rest<R: Lanes<T>>(&self, has: Has<R>, start: usize, chain: &mut [R; N]) {
        for column in start..(start + V).min(self.columns.x.len()) {
            let line = &self.columns.a[column * self.columns.leading..][..self.columns.len];
            let factor = R::splat(has, self.columns.x[column]);
            for part in 0..N {
                let some = R::load_some(has, &line[(part * R::LEN).min(line.len())..]);
                chain[part] = some.mul_add(factor, chain[part]);
            }
        }
    }
}
