//! Sums across columns of so few rows that a register holds a group's, or those of several groups.
//!
//! Columns are read in their order, and the chains of all groups are in memory, as much as the first-level cache holds:
//! to keep a few groups' in registers and read their columns, which are far from each other, took a core up to twice as
//! long.

use gpu_core::vectors::prefetch;

use super::Across;
use super::along::MOST_LANES;
use super::columns::Columns;
use crate::cpu::aligned::Aligned;
use crate::cpu::lanes::{Block, Has, Lanes};
use crate::launch::RealElement;

/// Bytes of columns and of factors that are asked for ahead.
const AHEAD: isize = 1024;

/// The columns of a piece, of elements of which `V` are 16 bytes; a group's sums are `C` of these.
pub(super) struct Sweep<'a, T, const V: usize, const C: usize>(Columns<'a, T>);

impl<'a, T: RealElement, const V: usize, const C: usize> Sweep<'a, T, V, C> {
    /// Computes all sums.
    #[inline(always)]
    pub(super) fn run<R: Lanes<T>>(has: Has<R>, part: Across<'a, T>) {
        // Where columns are is part of the instructions for those that are the shortest to read.
        match part.layout.leading_dimension() {
            2 if const { C == 1 } => Self::with(has, part, 2),
            3 if const { C * V == 4 } => Self::with(has, part, 3),
            leading => Self::with(has, part, leading),
        }
    }

    #[inline(always)]
    fn with<R: Lanes<T>>(has: Has<R>, part: Across<'a, T>, leading: usize) {
        let sweep = Self(Columns::new(&part, leading, 0, C * V));
        let total = sweep.total(has, part.groups, part.of_warp);
        part.sums.iter_mut().zip(total).for_each(|(to, sum)| *to = sum);
    }

    /// The sums of all groups: of a warp those are added whose distance is half of it, and so on; then warps in their
    /// order.
    #[inline(always)]
    fn total<R: Lanes<T>>(&self, has: Has<R>, groups: usize, of_warp: usize) -> [T; MOST_LANES] {
        let (beside, columns) = (R::LEN / (C * V), R::LEN / C);
        let some = groups.min(self.0.x.len().div_ceil(V)).next_multiple_of(of_warp);
        let mut chains = Aligned::new(T::ZERO, some / beside * R::LEN);
        for (number, x) in self.0.x.chunks(groups * V).enumerate() {
            let first = number * groups * V;
            // Registers of which all columns are there.
            let whole = (self.0.count.saturating_sub(first) / columns).min(x.len() / columns);
            let (of_whole, of_rest) = chains.split_at_mut(whole * R::LEN);
            if let Some(lines) = self.0.whole
                && whole > 0
            {
                let lines = lines.part(first, whole * columns);
                let all = of_whole.chunks_exact_mut(R::LEN).zip(x.chunks_exact(columns));
                for (at, (chain, x)) in all.enumerate() {
                    let lines = lines.part(at * columns, columns);
                    prefetch(lines.rest(0, 0), AHEAD, V * size_of::<R>());
                    prefetch(x, AHEAD, 1);
                    add::<T, R, V, C>(has, lines, x, R::load(has, chain)).store(chain);
                }
            }
            let starts = (first + whole * columns..first + x.len()).step_by(columns);
            for (start, chain) in starts.zip(of_rest.chunks_exact_mut(R::LEN)) {
                self.rest(has, start, R::load(has, chain)).store(chain);
            }
        }
        let mut total = [T::ZERO; MOST_LANES];
        for chains in chains.chunks_exact_mut(of_warp / beside * R::LEN) {
            let mut distance = chains.len() / 2;
            while distance >= R::LEN {
                let (near, far) = chains.split_at_mut(distance);
                for (near, far) in near.chunks_exact_mut(R::LEN).zip(far.chunks_exact(R::LEN)) {
                    R::load(has, near).plus(R::load(has, far)).store(near);
                }
                distance /= 2;
            }
            let (warp, _) = chains.split_at_mut(R::LEN);
            while distance >= C * V {
                for at in 0..distance {
                    warp[at] = warp[at] + warp[at + distance];
                }
                distance /= 2;
            }
            for row in 0..C * V {
                total[row] = total[row] + warp[row];
            }
        }
        total
    }

    /// Adds what there is of the columns of a register.
    #[inline(always)]
    fn rest<R: Lanes<T>>(&self, has: Has<R>, start: usize, mut chain: R) -> R {
        for j in 0..V {
            let (mut line, mut factors) = ([T::ZERO; MOST_LANES], [T::ZERO; MOST_LANES]);
            for group in 0..R::LEN / (C * V) {
                let column = start + group * V + j;
                if column < self.0.x.len() {
                    let at = group * C * V;
                    for row in 0..self.0.len {
                        line[at + row] = self.0.a[column * self.0.leading + row];
                        factors[at + row] = self.0.x[column];
                    }
                }
            }
            chain = R::load(has, &line).mul_add(R::load(has, &factors), chain);
        }
        chain
    }
}

/// Adds the columns of the vectors of all groups of a register.
#[inline(always)]
fn add<T: RealElement, R: Lanes<T>, const V: usize, const C: usize>(
    has: Has<R>,
    lines: Block<'_, T>,
    x: &[T],
    mut chain: R,
) -> R {
    // Once for all lines.
    assert!(lines.len() >= C * V, "registers hold what is read of a line");
    if const { C * V == R::LEN } {
        for (j, &factor) in x[..V].iter().enumerate() {
            chain = R::load(has, lines.rest(j, 0)).mul_add(R::splat(has, factor), chain);
        }
        return chain;
    }
    let mut pieces = [x; 4];
    for (at, piece) in pieces[..R::LEN / V].iter_mut().enumerate() {
        *piece = &x[at / C * V..];
    }
    let factors = R::load_pieces(has, pieces);
    for j in 0..V {
        for (at, piece) in pieces[..R::LEN / V].iter_mut().enumerate() {
            *piece = lines.rest(at / C * V + j, at % C * V);
        }
        chain = R::load_pieces(has, pieces).mul_add(factors.every(j), chain);
    }
    chain
}
