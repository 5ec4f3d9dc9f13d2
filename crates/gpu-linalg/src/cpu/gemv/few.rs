//! Sums across lines of a few rows, which one register holds, or a few.

use super::Across;
use super::along::{lanes, order_lanes};
use super::columns::Columns;
use super::sweep::Sweep;
use super::warps::{MOST_SUMS, Warps};
use crate::cpu::aligned::Aligned;
use crate::cpu::lanes::{Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Rows that are few, at most: more are in strips.
pub(super) const MOST: usize = 64;
/// Groups of a warp where one row's elements follow each other.
const GROUPS: usize = 32;

/// [`Across`] of rows that are few. `V` elements are 16 bytes.
pub(super) struct Few<'a, T: RealElement, const V: usize>(pub(super) Across<'a, T>);

impl<T: RealElement, const V: usize> ByRegisters<T> for Few<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(mut self, (wide, _, _): (Has<W>, Has<H>, Has<L>)) {
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
        } else if rows <= V {
            Sweep::<T, V, 1>::run(wide, self.0);
        } else if const { W::LEN >= 2 * V } && rows <= 2 * V {
            Sweep::<T, V, 2>::run(wide, self.0);
        } else if const { W::LEN >= 4 * V } && rows <= 4 * V {
            Sweep::<T, V, 4>::run(wide, self.0);
        } else {
            let mut at = 0;
            while at < rows {
                at += match (rows - at).div_ceil(W::LEN) {
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
        let mut ordered = Aligned::new(T::ZERO, x.len().div_ceil(round) * part);
        sums[0] = T::ZERO;
        for first in (0..round.min(x.len())).step_by(part) {
            order_lanes::<T, R, V, G>(has, x, (first, round), &mut ordered);
            let warp = lanes::<T, R, V, G, V, false>(has, (lines, 1, false), &ordered, (first, round));
            sums[0] = sums[0] + warp[0];
        }
    }

    /// The sums of all warps of the rows at `at` and behind it; says for how many there is room in the `N` registers of
    /// a group.
    #[inline(always)]
    fn warps<R: Lanes<T>, const N: usize>(&mut self, has: Has<R>, at: usize) -> usize {
        let Across { layout, columns, groups, of_warp, .. } = &self.0;
        let (room, count) = (N * R::LEN, columns.len());
        let of = Columns::new(&self.0, layout.leading_dimension(), at, room);
        let lines = Warps::<T, N, V> { columns: of, step: groups * V };
        let mut total = [T::ZERO; MOST_SUMS];
        for first in (0..(*groups).min(count.div_ceil(V))).step_by(*of_warp) {
            let warp = lines.warp::<R>(has, (first, *of_warp));
            for row in 0..room {
                total[row] = total[row] + warp[row];
            }
        }
        self.0.sums[at..].iter_mut().zip(&total[..room]).for_each(|(to, &sum)| *to = sum);
        room
    }
}
