//! Sums across lines: the results are side by side, in strips whose sums a near cache holds.

use gpu_core::vectors::Work;
use gpu_linalg_kernels::Scalar;
use gpu_std::float::Float;

use super::{Across, WAITING, group_at};
use crate::cpu::lanes::{Has, Lanes};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Bytes of a strip's sums, at most: of those a warp of 32 groups has six at a time, which the second-level cache
/// holds. In narrower ones memory is read in shorter stretches: 4096² `f32` took a core 2.6 ms, and 3.0 with 4096
/// bytes.
const STRIP_BYTES: usize = 16_384;
/// Results whose chains are in registers while lines are read.
const BLOCK: usize = 64;
/// Registers of those by name.
const SIDE: usize = 2;
/// The same of those that are left.
const SMALL: usize = 8;
/// Lines that are read at a time, at most: the sums they are added to are read and written once for them. With 16
/// lines of `f32` a core took 99 µs for 1023 × 1025 instead of 83.
const LINES: usize = 8;
/// Groups whose chains are computed together, at most: warps of one group each.
const TOGETHER: usize = gpu_linalg_kernels::gemv::ACROSS_WARPS as usize;

/// The lines of a whole vector of columns, and their factors.
type Vector<'a, T, const V: usize> = ([&'a [T]; V], [<T as Scalar>::Sum; V]);

/// How lines are added to chains.
pub(super) trait Adds<T: Scalar>: Copy {
    /// Adds the products of `N` lines to the chains of a group, or begins those with them.
    fn add<const N: usize>(self, begins: bool, lines: &[&[T]; N], factors: &[T::Sum; N], sums: &mut [T::Sum]);
}

/// In the compiler's vectors.
#[derive(Clone, Copy)]
struct InVectors;

/// In registers by name.
#[derive(Clone, Copy)]
struct InRegisters<R>(Has<R>);

/// [`Across`], of elements of which `V` are 16 bytes.
pub(super) struct Strips<'a, T: Scalar, const V: usize>(pub(super) Across<'a, T>);

impl<T: Scalar, const V: usize> Work for Strips<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.with(InVectors);
    }
}

impl<T: RealElement, const V: usize> ByRegisters<T> for Strips<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, (wide, _, _): (Has<W>, Has<H>, Has<L>)) {
        self.with(InRegisters(wide));
    }
}

impl<T: Scalar, const V: usize> Strips<'_, T, V> {
    #[inline(always)]
    fn with(self, adds: impl Adds<T>) {
        let Across { a, layout, x, columns, groups, of_warp, first, sums } = self.0;
        let most = STRIP_BYTES / size_of::<T::Sum>();
        let vectors = columns.len().div_ceil(V);
        let all = groups.min(vectors);
        // All groups, or of each size of halves one that waits.
        let strips = if of_warp == 1 { all } else { of_warp.ilog2() as usize + 1 };
        let mut memory = vec![T::Sum::ZERO; strips * most.min(sums.len())];
        for (number, sums) in sums.chunks_mut(most).enumerate() {
            let first = first + number * most;
            let strip = Strip::<T, _, V> {
                a,
                layout,
                x,
                columns: columns.clone(),
                groups,
                first,
                len: sums.len(),
                adds,
            };
            // Groups that have no line have sums of zero, which change none but in the sign of a zero, which does not
            // last.
            for warp in (0..all).step_by(if of_warp == 1 { all } else { of_warp }) {
                let sum = strip.warp((warp, of_warp, all), &mut memory);
                if warp == 0 {
                    sums.copy_from_slice(sum);
                } else {
                    sums.iter_mut().zip(sum).for_each(|(sum, &warp)| *sum = *sum + warp);
                }
            }
            if of_warp == 1 {
                for group in memory.chunks_exact(sums.len()).take(all).skip(1) {
                    sums.iter_mut().zip(group).for_each(|(sum, &group)| *sum = *sum + group);
                }
            }
        }
    }
}

/// Some rows.
struct Strip<'a, T: Scalar, A, const V: usize> {
    a: &'a [T],
    layout: crate::matrix::Layout,
    x: &'a [T],
    columns: core::ops::Range<usize>,
    groups: usize,
    /// The first row, and how many.
    first: usize,
    len: usize,
    adds: A,
}

impl<T: Scalar, A: Adds<T>, const V: usize> Strip<'_, T, A, V> {
    /// The sums of the groups from `first` on of a warp of `count` ones, of `all` that have lines: the first one's and
    /// that of the one half as many behind it, and so on. A group's chain is begun where what it is added to is there.
    /// Where a warp is one group, the chains of `all` are computed, and follow each other in `memory`.
    #[inline(always)]
    fn warp<'m>(&self, (first, count, all): (usize, usize, usize), memory: &'m mut [T::Sum]) -> &'m [T::Sum] {
        // Which of the memory's strips are in nobody's hands, and which hold the sum of the left one of two halves, by
        // how many groups these are: 1, 2, 4 and so on.
        let mut free: [usize; WAITING] = core::array::from_fn(|strip| strip);
        let mut frees = (memory.len() / self.len).min(free.len());
        let mut left = [None; WAITING];
        let bits = count.ilog2();
        let group = |leaf: usize| first + group_at(leaf, count);
        let mut leaf = 0;
        while leaf < count {
            let mut level = 0;
            let mut node = None;
            let some: [usize; LINES] = core::array::from_fn(|number| group(leaf + number));
            // Groups that are added in registers.
            let leaves = LINES / V;
            let are_whole = |groups: &[usize]| groups.iter().all(|&group| self.is_one_vector(group));
            if leaves > 1
                && count.is_multiple_of(leaves)
                && leaf.is_multiple_of(leaves)
                && are_whole(&some[..leaves])
            {
                frees -= 1;
                let strip = free[frees];
                let sums = &mut memory[strip * self.len..][..self.len];
                match some {
                    [a, b, ..] if leaves == 2 => self.leaves([a, b], sums),
                    [a, b, c, d, ..] => self.leaves([a, b, c, d], sums),
                }
                node = Some(strip);
                leaf += leaves - 1;
                level = leaves.ilog2();
            } else if some[0] < all {
                let (strip, groups) = if count == 1 {
                    (0, 0..all)
                } else {
                    frees -= 1;
                    (free[frees], some[0]..some[0] + 1)
                };
                // The only call: all of it is inlined.
                self.chains(groups, &mut memory[strip * self.len..]);
                node = Some(strip);
            }
            while leaf >> level & 1 == 1 {
                // The right one of two.
                node = match (left[level as usize].take(), node) {
                    (Some(left), Some(right)) => {
                        add(memory, self.len, left, right);
                        free[frees] = right;
                        frees += 1;
                        Some(left)
                    }
                    (left, right) => left.or(right),
                };
                level += 1;
            }
            left[level as usize] = node;
            leaf += 1;
        }
        let root = left[bits as usize].expect("the first group has lines");
        &memory[root * self.len..][..self.len]
    }

    /// Whether the group's chain has `V` lines.
    #[inline(always)]
    fn is_one_vector(&self, group: usize) -> bool {
        let whole = self.columns.len() / V;
        let whole_are_all = self.columns.len().is_multiple_of(V);
        group < whole && (group + self.groups > whole || whole_are_all && group + self.groups == whole)
    }

    /// The sum of some groups of `V` lines each, in their order.
    #[inline(always)]
    fn leaves<const N: usize>(&self, groups: [usize; N], sums: &mut [T::Sum]) {
        let mut of = [([&[][..]; V], [T::Sum::ZERO; V]); N];
        for leaf in 0..N {
            of[leaf] = self.lines(groups[leaf]);
        }
        in_blocks(&of, sums);
    }

    /// The lines of a whole vector of columns, and their factors.
    #[inline(always)]
    fn lines(&self, vector: usize) -> Vector<'_, T, V> {
        let mut lines: [&[T]; V] = [&[]; V];
        let mut factors = [T::Sum::ZERO; V];
        for j in 0..V {
            lines[j] = self.line(vector * V + j);
            factors[j] = self.x[self.columns.start + vector * V + j].widen();
        }
        (lines, factors)
    }

    /// The strip's elements of a column of the piece.
    #[inline(always)]
    fn line(&self, column: usize) -> &[T] {
        &self.a[self.layout.index(self.first, self.columns.start + column)..][..self.len]
    }

    /// The chains of some groups, some vectors of each in turn: so lines are read in the order of memory, but for few.
    #[inline(always)]
    fn chains(&self, groups: core::ops::Range<usize>, memory: &mut [T::Sum]) {
        let whole = self.columns.len() / V;
        let mut vectors = [0; TOGETHER];
        let vectors = &mut vectors[..groups.len()];
        vectors.iter_mut().zip(groups).for_each(|(vector, group)| *vector = group);
        while vectors[0] < whole {
            for (vector, sums) in vectors.iter_mut().zip(memory.chunks_exact_mut(self.len)) {
                if *vector < whole {
                    *vector = self.some(*vector, sums);
                }
            }
        }
        for (&vector, sums) in vectors.iter().zip(memory.chunks_exact_mut(self.len)) {
            self.last(vector, sums);
        }
    }

    /// Adds a whole vector to its group's chain, and those that follow in it of which there are [`LINES`]; says which
    /// one is the next.
    #[inline(always)]
    fn some(&self, vector: usize, sums: &mut [T::Sum]) -> usize {
        let (some, begins) = (LINES / V, vector < self.groups);
        let many = vector + (some - 1) * self.groups < self.columns.len() / V;
        let count = if many { some } else { 1 };
        let mut lines: [&[T]; LINES] = [&[]; LINES];
        let mut factors = [T::Sum::ZERO; LINES];
        for number in 0..count {
            let (of, x) = self.lines(vector + number * self.groups);
            lines[number * V..][..V].copy_from_slice(&of);
            factors[number * V..][..V].copy_from_slice(&x);
        }
        if const { LINES / V == 1 } || many {
            self.adds.add::<LINES>(begins, &lines, &factors, sums);
        } else {
            let lines: &[_; V] = lines.first_chunk().expect("vectors are no longer");
            self.adds.add::<V>(begins, lines, factors.first_chunk().expect("as long"), sums);
        }
        vector + count * self.groups
    }

    /// Adds the lines that are less than a vector, if these are the group's.
    #[inline(always)]
    fn last(&self, vector: usize, sums: &mut [T::Sum]) {
        let whole = self.columns.len() / V;
        if vector != whole {
            return;
        }
        let mut begins = vector < self.groups;
        let mut column = whole * V;
        if const { V > 4 } && self.columns.len() - column >= 4 {
            self.last_lines::<4>(&mut begins, column, sums);
            column += 4;
        }
        match self.columns.len() - column {
            1 => self.last_lines::<1>(&mut begins, column, sums),
            2 if const { V > 2 } => self.last_lines::<2>(&mut begins, column, sums),
            3 if const { V > 2 } => self.last_lines::<3>(&mut begins, column, sums),
            _ => {}
        }
    }

    /// Adds `N` lines that begin with a column to a chain, or begins it with them.
    #[inline(always)]
    fn last_lines<const N: usize>(&self, begins: &mut bool, column: usize, sums: &mut [T::Sum]) {
        let mut lines: [&[T]; N] = [&[]; N];
        let mut factors = [T::Sum::ZERO; N];
        for j in 0..N {
            lines[j] = self.line(column + j);
            factors[j] = self.x[self.columns.start + column + j].widen();
        }
        self.adds.add::<N>(*begins, &lines, &factors, sums);
        *begins = false;
    }
}

/// Adds the strip `right` of some of `len` elements to `left`.
#[inline(always)]
fn add<S: Float>(memory: &mut [S], len: usize, left: usize, right: usize) {
    let [left, right] = memory
        .get_disjoint_mut([left, right].map(|strip| strip * len..(strip + 1) * len))
        .expect("no strip is added to itself");
    left.iter_mut().zip(right).for_each(|(left, &mut right)| *left = *left + right);
}

impl<T: Scalar> Adds<T> for InVectors {
    #[inline(always)]
    fn add<const N: usize>(
        self,
        begins: bool,
        lines: &[&[T]; N],
        factors: &[T::Sum; N],
        sums: &mut [T::Sum],
    ) {
        let (blocks, rest) = sums.as_chunks_mut::<BLOCK>();
        let mut first = 0;
        for sums in blocks {
            // The zeros are in no memory.
            *sums = if begins {
                with_lines(&[T::Sum::ZERO; BLOCK], lines, factors, first)
            } else {
                with_lines(sums, lines, factors, first)
            };
            first += BLOCK;
        }
        if begins {
            rest.fill(T::Sum::ZERO);
        }
        let (blocks, rest) = rest.as_chunks_mut::<SMALL>();
        for sums in blocks {
            *sums = with_lines(sums, lines, factors, first);
            first += SMALL;
        }
        for sum in rest {
            [*sum] = with_lines(&[*sum], lines, factors, first);
            first += 1;
        }
    }
}

impl<T: RealElement, R: Lanes<T>> Adds<T> for InRegisters<R> {
    #[inline(always)]
    fn add<const N: usize>(self, begins: bool, lines: &[&[T]; N], factors: &[T; N], sums: &mut [T]) {
        let Self(has) = self;
        let mut first = 0;
        while first + SIDE * R::LEN <= sums.len() {
            add_some::<T, R, N, SIDE>(has, begins, lines, factors, &mut sums[first..], first);
            first += SIDE * R::LEN;
        }
        while first + R::LEN <= sums.len() {
            add_some::<T, R, N, 1>(has, begins, lines, factors, &mut sums[first..], first);
            first += R::LEN;
        }
        for (at, sum) in sums.iter_mut().enumerate().skip(first) {
            let mut chain = if begins { T::ZERO } else { *sum };
            for j in 0..N {
                chain = lines[j][at].mul_add(factors[j], chain);
            }
            *sum = chain;
        }
    }
}

/// The same of the elements of `S` registers, which begin at `first` of the lines.
#[inline(always)]
fn add_some<T: RealElement, R: Lanes<T>, const N: usize, const S: usize>(
    has: Has<R>,
    begins: bool,
    lines: &[&[T]; N],
    factors: &[T; N],
    sums: &mut [T],
    first: usize,
) {
    let mut chains = [R::splat(has, T::ZERO); S];
    if !begins {
        for at in 0..S {
            chains[at] = R::load(has, &sums[at * R::LEN..]);
        }
    }
    for j in 0..N {
        let line = &lines[j][first..][..S * R::LEN];
        let factor = R::splat(has, factors[j]);
        for at in 0..S {
            chains[at] = R::load(has, &line[at * R::LEN..]).mul_add(factor, chains[at]);
        }
    }
    for at in 0..S {
        chains[at].store(&mut sums[at * R::LEN..]);
    }
}

/// The chains of some results with the products of `N` lines, whose elements begin at `first`.
#[inline(always)]
fn with_lines<T: Scalar, const N: usize, const B: usize>(
    sums: &[T::Sum; B],
    lines: &[&[T]; N],
    factors: &[T::Sum; N],
    first: usize,
) -> [T::Sum; B] {
    let mut chains = *sums;
    for j in 0..N {
        let line: &[T; B] = lines[j][first..].first_chunk().expect("as long as the sums");
        for at in 0..B {
            chains[at] = line[at].widen().mul_add(factors[j], chains[at]);
        }
    }
    chains
}

/// The sums of all results of groups of `V` lines.
#[inline(always)]
fn in_blocks<T: Scalar, const V: usize, const N: usize>(of: &[Vector<'_, T, V>; N], sums: &mut [T::Sum]) {
    let len = sums.len();
    let mut first = 0;
    // What is less than a block is done with what is before it, once more.
    while first < len && len >= BLOCK {
        first = first.min(len - BLOCK);
        let block: &mut [_; BLOCK] = sums[first..].first_chunk_mut().expect("it ends with them");
        *block = sum_of_leaves::<T, V, N, BLOCK>(of, first);
        first += BLOCK;
    }
    while first < len && len >= SMALL {
        first = first.min(len - SMALL);
        let block: &mut [_; SMALL] = sums[first..].first_chunk_mut().expect("it ends with them");
        *block = sum_of_leaves::<T, V, N, SMALL>(of, first);
        first += SMALL;
    }
    for (at, sum) in sums.iter_mut().enumerate().skip(first) {
        [*sum] = sum_of_leaves::<T, V, N, 1>(of, at);
    }
}

/// The sums of some results of groups of `V` lines, whose elements begin at `first`.
#[inline(always)]
fn sum_of_leaves<T: Scalar, const V: usize, const N: usize, const B: usize>(
    of: &[Vector<'_, T, V>; N],
    first: usize,
) -> [T::Sum; B] {
    let mut sums = [[T::Sum::ZERO; B]; N];
    for leaf in 0..N {
        let mut node = with_lines(&[T::Sum::ZERO; B], &of[leaf].0, &of[leaf].1, first);
        // The right one of two halves of 1, 2, 4 leaves is added to the left one, which is where it begins.
        let mut size = 1;
        while leaf & size != 0 {
            for at in 0..B {
                node[at] = sums[(leaf & !(size - 1)) - size][at] + node[at];
            }
            size *= 2;
        }
        sums[leaf & !(size - 1)] = node;
    }
    sums[0]
}
