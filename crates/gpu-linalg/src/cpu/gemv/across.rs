//! Sums across lines: the results are side by side, in strips whose sums a near cache holds.

use gpu_core::vectors::{Work, prefetch_l2};
use gpu_linalg_kernels::Scalar;
use gpu_std::float::Float;

use super::along::{AHEAD, asks, is_far};
use super::cells::{Cells, InRegisters, InVectors};
use super::{Across, group_at};
use crate::cpu::aligned::Aligned;
use crate::cpu::lanes::{Beside, Block, Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Bytes of a strip's sums, at most: of those there are seven at a time, if warps have 32 groups, which the
/// second-level cache holds. In narrower ones memory is read in shorter stretches: 4096² `f32` took a core 2.6 ms, and
/// 3.0 with 4096 bytes.
const STRIP_BYTES: usize = 16_384;
/// Results whose chains are in the compiler's vectors while lines are read.
const BLOCK: usize = 64;
/// Results that strips have room for are a multiple of this.
const ROOM: usize = 16;
/// Lines that are read at a time, at most: the sums they are added to are read and written once for them. With 16
/// lines of `f32` a core took 99 µs for 1023 × 1025 instead of 83.
const LINES: usize = 8;
/// Groups of a warp, at most.
const MOST_GROUPS: usize = 32;
/// Groups whose chains are computed together, at most: warps of one group each.
const TOGETHER: usize = gpu_linalg_kernels::gemv::ACROSS_WARPS as usize;

/// Some lines and their factors.
type Lines<'a, T, const L: usize> = (Beside<'a, T, L>, [<T as Scalar>::Sum; L]);

/// [`Across`], of elements of which `V` are 16 bytes.
pub(super) struct Strips<'a, T: Scalar, const V: usize>(pub(super) Across<'a, T>);

impl<T: Scalar, const V: usize> Work for Strips<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.with(InVectors::<BLOCK>, false);
    }
}

impl<T: RealElement, const V: usize> ByRegisters<T> for Strips<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, (wide, _, _): (Has<W>, Has<H>, Has<L>)) {
        let asks = const { asks::<W>() } && is_far(self.0.a);
        // Of each line 128 bytes at a time.
        if const { size_of::<W>() == 64 } {
            self.with(InRegisters::<W, 2>(wide), asks);
        } else {
            self.with(InRegisters::<W, 4>(wide), asks);
        }
    }
}

impl<T: Scalar, const V: usize> Strips<'_, T, V> {
    #[inline(always)]
    fn with<C: Cells<T>>(self, cells: C, asks: bool) {
        let Across { a, layout, x, columns, groups, of_warp, first, sums } = self.0;
        let most = STRIP_BYTES / size_of::<T::Sum>();
        let room = most.min(sums.len()).next_multiple_of(ROOM);
        let all = groups.min(columns.len().div_ceil(V));
        let strips = if of_warp == 1 { all } else { all.min(of_warp.ilog2() as usize + 2) };
        let mut memory = Aligned::new(T::Sum::ZERO, strips * room);
        for (number, sums) in sums.chunks_mut(most).enumerate() {
            let first = first + number * most;
            let (count, len) = (columns.len(), sums.len());
            let lines =
                Block::new(&a[layout.index(first, columns.start)..], layout.leading_dimension(), count, len);
            let (rounds, behind) = (count / V / groups, count / V % groups);
            let x = &x[columns.clone()];
            // What is ahead in a line is another thread's, where there is less of it.
            let asks = asks && len * size_of::<T>() >= 4 * AHEAD as usize;
            let strip =
                Strip::<T, C, V> { lines, asks, x, groups, of_warp, rounds, behind, len, room, cells };
            if of_warp == 1 {
                strip.chains(&mut memory);
                let (sums, groups) = memory.split_at_mut(room);
                for group in groups.chunks_exact(room) {
                    sums.iter_mut().zip(group).for_each(|(sum, &group)| *sum = *sum + group);
                }
            } else {
                strip.tree(all, &mut memory);
            }
            sums.copy_from_slice(&memory[..len]);
        }
    }
}

/// Some rows.
struct Strip<'a, T: Scalar, C, const V: usize> {
    /// The piece's columns, whether they are asked for ahead, and their factors.
    lines: Block<'a, T>,
    asks: bool,
    x: &'a [T],
    groups: usize,
    of_warp: usize,
    /// Whole vectors of each group, and the groups that have one more.
    rounds: usize,
    behind: usize,
    /// How many rows.
    len: usize,
    /// From one strip to the next.
    room: usize,
    cells: C,
}

/// Groups of a warp whose chains are added in registers.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Their first one, of the warp's.
    group: usize,
    /// How many: this one, then the one half a warp behind it, then those a quarter behind both.
    together: usize,
    /// Sums of other nodes that wait for theirs.
    added: usize,
}

impl<T: Scalar, C: Cells<T>, const V: usize> Strip<'_, T, C, V> {
    /// The sum of all groups that have lines, the first strip of `memory`.
    ///
    /// Of a warp those are added whose distance is half of it, and so on; the sums of left ones of two wait for the
    /// right ones in strips behind each other, the last one's first to be added, and before them the sum of the warps
    /// before. Groups that have no line have sums of zero, which change none but in the sign of a zero, which does not
    /// last.
    #[inline(always)]
    fn tree(&self, all: usize, memory: &mut [T::Sum]) {
        // The nodes of warps whose groups have so many vectors: most warps are as the one before. To find them again
        // took a core as long as to add them.
        let (mut nodes, mut count, mut like) = ([Node::default(); MOST_GROUPS], 0, None);
        let mut waiting = 0;
        for first in (0..all).step_by(self.of_warp) {
            let vectors = self.alike(first);
            if vectors.is_none() || vectors != like {
                count = self.nodes(first, all, &mut nodes);
                like = vectors;
            }
            for (number, &Node { group, together, added }) in nodes[..count].iter().enumerate() {
                // The warps before wait for the warp's last sum.
                let added = added + usize::from(first > 0 && number + 1 == count);
                waiting -= added;
                let (group, half) = (first + group, self.of_warp / 2);
                let strips = &mut memory[waiting * self.room..];
                match together {
                    4 if const { V == 2 } => {
                        let of = [group, group + half, group + half / 2, group + half + half / 2];
                        self.add_groups::<2, 4>(of, added, strips);
                    }
                    2 if const { V == 2 } && self.vectors(group) == 2 => {
                        self.add_groups::<4, 2>([group, group + half], added, strips);
                    }
                    2 if const { V < 8 } => self.add_groups::<V, 2>([group, group + half], added, strips),
                    _ if self.vectors(group) * V == LINES && !self.has_rest(group) => {
                        self.add_groups::<LINES, 1>([group], added, strips);
                    }
                    _ => self.add_group(group, added, strips),
                }
                waiting += 1;
            }
        }
    }

    /// Whole vectors of each group of the warp that begins with `first`, if all have as many and nothing else.
    #[inline(always)]
    fn alike(&self, first: usize) -> Option<usize> {
        let behind = first + self.of_warp;
        let is_cut = first < self.behind && self.behind < behind;
        let is_last = (first..behind).contains(&self.behind) && self.has_rest(self.behind);
        if is_cut || is_last { None } else { Some(self.vectors(first)) }
    }

    /// Finds the nodes of the warp that begins with `first`; says how many.
    #[inline(always)]
    fn nodes(&self, first: usize, all: usize, nodes: &mut [Node; MOST_GROUPS]) -> usize {
        let (count, bits) = (self.of_warp, self.of_warp.ilog2());
        let group = |leaf| first + group_at(leaf, count);
        let (mut number, mut leaf) = (0, 0);
        while leaf < count {
            let together = self.together((leaf, count), group);
            let (mut level, mut added) = (together.ilog2(), 0);
            while level < bits {
                if leaf >> level & 1 == 1 {
                    added += 1;
                } else if group((leaf >> level | 1) << level) < all {
                    break;
                }
                level += 1;
            }
            if group(leaf) < all {
                nodes[number] = Node { group: group_at(leaf, count), together, added };
                number += 1;
            }
            leaf += together;
        }
        number
    }

    /// Whole vectors of a group.
    #[inline(always)]
    fn vectors(&self, group: usize) -> usize {
        self.rounds + usize::from(group < self.behind)
    }

    /// Whether the lines that are less than a vector are the group's.
    #[inline(always)]
    fn has_rest(&self, group: usize) -> bool {
        group == self.behind && !self.x.len().is_multiple_of(V)
    }

    /// How many groups from a leaf on are as long as each other, and have no more lines than are read at a time.
    #[inline(always)]
    fn together(&self, (leaf, count): (usize, usize), group: impl Fn(usize) -> usize) -> usize {
        let vectors = self.vectors(group(leaf));
        let is_alike = |leaf| self.vectors(group(leaf)) == vectors && !self.has_rest(group(leaf));
        let mut together = if const { V == 2 } && vectors == 1 {
            4
        } else if vectors > 0 && 2 * vectors * V <= LINES {
            2
        } else {
            1
        };
        while together > 1
            && !(leaf % together == 0 && count % together == 0 && (leaf..leaf + together).all(is_alike))
        {
            together /= 2;
        }
        together
    }

    /// The sum of some groups of `L` lines each, in their order, and of what waits for it.
    #[inline(always)]
    fn add_groups<const L: usize, const N: usize>(
        &self,
        groups: [usize; N],
        added: usize,
        strips: &mut [T::Sum],
    ) {
        let mut of = [self.lines::<L>(groups[0]); N];
        for leaf in 1..N {
            of[leaf] = self.lines(groups[leaf]);
        }
        self.pass(true, &of, added, strips);
    }

    /// The chain of a group, and of what waits for it.
    #[inline(always)]
    fn add_group(&self, group: usize, added: usize, strips: &mut [T::Sum]) {
        let (mut vector, mut begins) = (group, true);
        let has_rest = self.has_rest(group);
        let mut left = self.vectors(group);
        while left > 0 {
            let some = left.min(LINES / V);
            let is_last = some == left && !has_rest;
            let chain = added * self.room;
            let (strips, added) = if is_last { (&mut *strips, added) } else { (&mut strips[chain..], 0) };
            match some * V {
                8 => self.pass(begins, &[self.lines::<8>(vector)], added, strips),
                6 if const { V == 2 } => self.pass(begins, &[self.lines::<6>(vector)], added, strips),
                4 if const { V <= 4 } => self.pass(begins, &[self.lines::<4>(vector)], added, strips),
                _ => self.pass(begins, &[self.lines::<V>(vector)], added, strips),
            }
            vector += some * self.groups;
            left -= some;
            begins = false;
        }
        if has_rest {
            self.last(begins, added, strips);
        }
    }

    /// `L` lines of a group, from a vector on.
    #[inline(always)]
    fn lines<const L: usize>(&self, vector: usize) -> Lines<'_, T, L> {
        let (mut columns, mut factors) = ([0; L], [T::Sum::ZERO; L]);
        for j in 0..L {
            columns[j] = (vector + j / V * self.groups) * V + j % V;
            factors[j] = self.x[columns[j]].widen();
        }
        (self.lines.beside(columns), factors)
    }

    /// The chains of all groups, some vectors of each in turn: so lines are read in the order of memory, but for few.
    #[inline(always)]
    fn chains(&self, memory: &mut [T::Sum]) {
        let whole = self.x.len() / V;
        let mut vectors: [usize; TOGETHER] = core::array::from_fn(|group| group);
        while vectors[0] < whole {
            for (vector, sums) in vectors.iter_mut().zip(memory.chunks_exact_mut(self.room)) {
                if *vector < whole {
                    let begins = *vector < self.groups;
                    let some = (LINES / V).min((whole - *vector).div_ceil(self.groups));
                    let count = if some == LINES / V { some } else { 1 };
                    if const { LINES / V == 1 } || count > 1 {
                        self.pass(begins, &[self.lines::<LINES>(*vector)], 0, sums);
                    } else {
                        self.pass(begins, &[self.lines::<V>(*vector)], 0, sums);
                    }
                    *vector += count * self.groups;
                }
            }
        }
        for (&vector, sums) in vectors.iter().zip(memory.chunks_exact_mut(self.room)) {
            if vector == whole && !self.x.len().is_multiple_of(V) {
                self.last(vector < self.groups, 0, sums);
            }
        }
    }

    /// Adds the lines that are less than a vector.
    #[inline(always)]
    fn last(&self, mut begins: bool, added: usize, strips: &mut [T::Sum]) {
        let mut column = self.x.len() / V * V;
        if const { V > 4 } && self.x.len() - column >= 4 {
            let is_last = self.x.len() - column == 4;
            let chain = added * self.room;
            let (strips, added) = if is_last { (&mut *strips, added) } else { (&mut strips[chain..], 0) };
            self.last_lines::<4>(begins, column, added, strips);
            begins = false;
            column += 4;
        }
        match self.x.len() - column {
            1 => self.last_lines::<1>(begins, column, added, strips),
            2 if const { V > 2 } => self.last_lines::<2>(begins, column, added, strips),
            3 if const { V > 2 } => self.last_lines::<3>(begins, column, added, strips),
            _ => {}
        }
    }

    /// Adds `N` lines that begin with a column to a chain, or begins it with them.
    #[inline(always)]
    fn last_lines<const N: usize>(&self, begins: bool, column: usize, added: usize, strips: &mut [T::Sum]) {
        let (mut columns, mut factors) = ([0; N], [T::Sum::ZERO; N]);
        for j in 0..N {
            columns[j] = column + j;
            factors[j] = self.x[column + j].widen();
        }
        self.pass(begins, &[(self.lines.beside(columns), factors)], added, strips);
    }

    /// The sum of `N` groups' lines and of `added` strips, which comes into the first of these. If a chain goes on, it
    /// is that of a single group, and behind them.
    #[inline(always)]
    fn pass<const L: usize, const N: usize>(
        &self,
        begins: bool,
        of: &[Lines<'_, T, L>; N],
        added: usize,
        strips: &mut [T::Sum],
    ) {
        let (sums, behind) = strips.split_at_mut(self.room);
        let others = Others { begins, added, behind, room: self.room, asks: self.asks };
        let mut at = 0;
        let (many, few) = sums.split_at_mut(self.len / C::LEN * C::LEN);
        for sums in many.chunks_exact_mut(C::LEN) {
            some::<_, _, L, N>(self.cells, of, &others, (at, C::LEN), sums);
            at += C::LEN;
        }
        let cells = self.cells.rest();
        for sums in few.chunks_exact_mut(C::Rest::LEN) {
            if at >= self.len {
                break;
            }
            some::<_, _, L, N>(cells, of, &others, (at, C::Rest::LEN.min(self.len - at)), sums);
            at += C::Rest::LEN;
        }
    }
}

/// What [`Strip::pass`] adds to besides the first strip.
struct Others<'a, S> {
    begins: bool,
    added: usize,
    /// The strips behind the first one, `room` apart.
    behind: &'a [S],
    room: usize,
    /// Whether lines are asked for ahead.
    asks: bool,
}

/// [`Strip::pass`] of `count` results from `at` on, which are the first of `sums`.
#[inline(always)]
fn some<T: Scalar, C: Cells<T>, const L: usize, const N: usize>(
    cells: C,
    of: &[Lines<'_, T, L>; N],
    others: &Others<'_, T::Sum>,
    (at, count): (usize, usize),
    sums: &mut [T::Sum],
) {
    let &Others { begins, added, behind, room, asks } = others;
    // Of each 1, 2, 4 groups the sum, which is where they begin.
    let mut nodes = [cells.zero(); N];
    for leaf in 0..N {
        let mut node = if begins {
            cells.zero()
        } else if added == 0 {
            cells.read(sums)
        } else {
            cells.read(&behind[(added - 1) * room + at..])
        };
        let (lines, factors) = (of[leaf].0.some(at, count), &of[leaf].1);
        if asks {
            for line in lines {
                prefetch_l2(line, AHEAD, C::LEN * size_of::<T>());
            }
        }
        for j in 0..L {
            cells.add(lines[j], factors[j], &mut node);
        }
        let mut size = 1;
        while leaf & size != 0 {
            cells.plus(&nodes[(leaf & !(size - 1)) - size], &mut node);
            size *= 2;
        }
        nodes[leaf & !(size - 1)] = node;
    }
    let node = &mut nodes[0];
    if added > 0 {
        for strip in (1..added).rev() {
            cells.plus(&cells.read(&behind[(strip - 1) * room + at..]), node);
        }
        cells.plus(&cells.read(sums), node);
    }
    cells.write(*node, sums);
}
