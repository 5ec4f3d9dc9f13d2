//! The last columns of a block, where those are too few for a register: registers hold elements of a column there, of
//! more than one tile of rows at a time, so that there are as many chains as keep a core at work.

use core::ops::Range;

use super::lanes::{Block, Has, Lanes, Registers, TURNED};
use super::panel::Step;
use super::tile::{MOST_LANES, end, read};
use crate::reference::finish;

/// Columns, at most.
pub(super) const MOST: usize = 8;
/// Chains that keep a core at work: it begins up to two multiply-adds in a cycle, of four cycles each.
const CHAINS: usize = 8;
/// Cycles from a multiply-add to the next one of the same chain.
const LATENCY: usize = 4;
/// Cycles of the end of a register's results, and of one by itself.
const MASKED: usize = 2;
const ALONE: usize = 3;

/// Registers of a column of `M` rows.
#[inline(always)]
const fn registers<T, V: Lanes<T>, const M: usize>() -> usize {
    M.div_ceil(V::LEN)
}

/// How many of `columns` are computed so, the last ones, of `rows` with sums of `depth` products: those behind the last
/// full register, if that takes less time than one more for each row.
#[inline(always)]
pub(super) fn columns<T, V: Lanes<T>, const M: usize>(columns: usize, rows: usize, depth: usize) -> usize {
    let few = columns % V::LEN;
    let chains = few.next_power_of_two() * registers::<T, V, M>();
    if few == 0 || few > MOST || chains > M {
        return 0;
    }
    // Cycles of a core that begins one multiply-add in a cycle.
    let (tiles, rest) = (rows / M, rows % M);
    let group = (CHAINS / chains).max(1);
    let alone = usize::from(tiles % group == 1) + usize::from(rest > 0);
    let groups = tiles / group + usize::from(tiles % group > 1);
    let down = groups * group * chains + alone * chains.max(LATENCY);
    let along = tiles * M + rest.next_multiple_of(TURNED);
    if depth * down + ALONE * rows * few < depth * along + MASKED * rows { few } else { 0 }
}

/// Last columns of a block, the factors of their products, and the memory that belongs to them.
pub(super) struct Down<'a, 'c, T> {
    /// Tiles of rows behind each other.
    pub(super) a: &'a [T],
    /// For each k as many elements as columns, or up to three more.
    pub(super) b: &'a [T],
    /// Those of the first tile; the next one's are `between` elements behind them.
    pub(super) sums: &'a mut [T],
    pub(super) totals: &'a mut [T],
    pub(super) between: usize,
    pub(super) factors: (T, T),
    pub(super) columns: Range<usize>,
    pub(super) step: &'a Step,
    /// All rows.
    pub(super) c: &'a mut [&'c mut [T]],
}

impl<T: Registers> Down<'_, '_, T> {
    /// Computes them, the rows in tiles of `M`, of which the last one may have fewer.
    #[inline(always)]
    pub(super) fn compute<V: Lanes<T>, const M: usize>(self, has: Has<V>) {
        // What is beyond M is left out before it is compiled.
        match self.columns.len() {
            1 if const { registers::<T, V, M>() == 1 } => self.groups::<V, M, 1, 1, 8>(has),
            2 if const { registers::<T, V, M>() == 1 } => self.groups::<V, M, 2, 1, 4>(has),
            3..=4 if const { registers::<T, V, M>() == 1 } => self.groups::<V, M, 4, 1, 2>(has),
            5..=MOST if const { registers::<T, V, M>() == 1 && MOST <= M } => {
                self.groups::<V, M, 8, 1, 1>(has)
            }
            1 if const { registers::<T, V, M>() == 2 } => self.groups::<V, M, 1, 2, 4>(has),
            2 if const { registers::<T, V, M>() == 2 } => self.groups::<V, M, 2, 2, 2>(has),
            3..=4 if const { registers::<T, V, M>() == 2 && 8 <= M } => self.groups::<V, M, 4, 2, 1>(has),
            columns => unreachable!("{columns} columns of {M} rows"),
        }
    }

    /// The sums of `N` columns, those of a tile in `Q` registers each, of `G` tiles at a time.
    #[inline(always)]
    fn groups<V: Lanes<T>, const M: usize, const N: usize, const Q: usize, const G: usize>(
        mut self,
        has: Has<V>,
    ) {
        let (rows, full) = (self.c.len(), self.c.len() / M);
        let mut tile = 0;
        while tile < full {
            let count = G.min(full - tile);
            if count == 1 {
                self.group::<V, M, N, Q, 1>(has, (tile, 1), M);
            } else {
                self.group::<V, M, N, Q, G>(has, (tile, count), M);
            }
            tile += count;
        }
        if full * M < rows {
            self.group::<V, M, N, Q, 1>(has, (full, 1), (rows - full * M).next_multiple_of(TURNED));
        }
    }

    /// Those of `count` tiles from `first` on, of which each has `height` elements for each k. Others that `G` has
    /// room for are the last one's once more, and nobody's.
    #[inline(always)]
    fn group<V: Lanes<T>, const M: usize, const N: usize, const Q: usize, const G: usize>(
        &mut self,
        has: Has<V>,
        (first, count): (usize, usize),
        height: usize,
    ) {
        let depth = self.step.ks.len();
        let mut sums = [[[V::splat(has, T::ZERO); Q]; N]; G];
        if !self.step.begins {
            for (g, sums) in sums.iter_mut().enumerate().take(count) {
                read(has, sums, &self.sums[(first + g) * self.between..]);
            }
        }
        if depth > 0 {
            // Registers end in what follows their tile.
            let len = (depth - 1) * height + Q * V::LEN;
            let tiles = Block::new(&self.a[first * depth * M..], depth * M, count, len);
            let mut of = [0; G];
            for (g, of) in of.iter_mut().enumerate() {
                *of = g.min(count - 1);
            }
            let tiles = tiles.beside(of);
            let width = self.columns.len().next_multiple_of(TURNED);
            for (k, values) in (0..depth).zip(self.b.chunks_exact(width)) {
                let elements = tiles.some(k * height, Q * V::LEN);
                for j in 0..N {
                    let value = V::splat(has, values[j]);
                    for g in 0..G {
                        for q in 0..Q {
                            let element = V::load(has, &elements[g][q * V::LEN..]);
                            sums[g][j][q] = element.mul_add(value, sums[g][j][q]);
                        }
                    }
                }
            }
        }
        for (g, tile) in sums.iter_mut().enumerate().take(count) {
            self.end::<V, M, N, Q>(has, first + g, tile);
        }
    }

    /// Ends the sums of a tile.
    #[inline(always)]
    fn end<V: Lanes<T>, const M: usize, const N: usize, const Q: usize>(
        &mut self,
        has: Has<V>,
        number: usize,
        tile: &mut [[V; Q]; N],
    ) {
        let memory = self.sums.get_mut(number * self.between..).unwrap_or_default();
        let totals = self.totals.get_mut(number * self.between..).unwrap_or_default();
        if !end(has, self.step, tile, memory, totals) {
            return;
        }
        let (alpha, beta) = self.factors;
        let rows = number * M..self.c.len().min((number + 1) * M);
        let rows = &mut self.c[rows];
        for (column, sums) in self.columns.clone().zip(tile) {
            for (sums, c) in sums.iter().zip(rows.chunks_mut(V::LEN)) {
                let mut few = [T::ZERO; MOST_LANES];
                sums.store(&mut few);
                for (c, &sum) in c.iter_mut().zip(&few) {
                    c[column] = finish(alpha, sum, beta, || c[column]);
                }
            }
        }
    }
}
