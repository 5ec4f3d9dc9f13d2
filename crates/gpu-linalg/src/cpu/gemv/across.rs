//! Sums across lines: the results are side by side, in strips whose sums a first-level cache holds.

use gpu_core::vectors::{Work, prefetch};
use gpu_linalg_kernels::Scalar;
use gpu_std::float::Float;

use super::Across;

/// Bytes of a strip's sums, at most: of those a warp of 32 groups has six at a time.
const STRIP_BYTES: usize = 4096;
/// Results between requests for the next lines.
const BETWEEN: usize = 64;
/// Strips whose sums wait for those they are added to, at most: a warp has 32 groups.
const WAITING: usize = 6;

/// [`Across`], of elements of which `V` are 16 bytes.
pub(super) struct Strips<'a, T: Scalar, const V: usize>(pub(super) Across<'a, T>);

impl<T: Scalar, const V: usize> Work for Strips<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Across { a, layout, x, columns, groups, of_warp, first, sums } = self.0;
        let most = STRIP_BYTES / size_of::<T::Sum>();
        let mut memory = vec![T::Sum::ZERO; (WAITING + 1) * most.min(sums.len())];
        for (number, sums) in sums.chunks_mut(most).enumerate() {
            let first = first + number * most;
            let vectors = columns.len().div_ceil(V);
            let strip =
                Strip::<T, V> { a, layout, x, columns: columns.clone(), groups, first, len: sums.len() };
            sums.fill(T::Sum::ZERO);
            // Groups that have no line have sums of zero, which change none but in the sign of a zero, which does not
            // last.
            for warp in (0..groups.min(vectors)).step_by(of_warp) {
                let of_warp = (warp, of_warp, groups.min(vectors));
                let sum = strip.warp(of_warp, &mut memory);
                sums.iter_mut().zip(sum).for_each(|(sum, &warp)| *sum = *sum + warp);
            }
        }
    }
}

/// Some rows.
struct Strip<'a, T: Scalar, const V: usize> {
    a: &'a [T],
    layout: crate::matrix::Layout,
    x: &'a [T],
    columns: core::ops::Range<usize>,
    groups: usize,
    /// The first row, and how many.
    first: usize,
    len: usize,
}

impl<T: Scalar, const V: usize> Strip<'_, T, V> {
    /// The sums of the groups from `first` on of a warp of `count` ones, of `all` that have lines: the first one's and
    /// that of the one half as many behind it, and so on. A group's chain is begun where what it is added to is there.
    #[inline(always)]
    fn warp<'m>(&self, (first, count, all): (usize, usize, usize), memory: &'m mut [T::Sum]) -> &'m [T::Sum] {
        // Which of the memory's strips are in nobody's hands, and which hold the sum of the left one of two halves, by how
        // many groups these are: 1, 2, 4 and so on.
        let mut free: [usize; WAITING + 1] = core::array::from_fn(|strip| strip);
        let mut frees = free.len();
        let mut left = [None; WAITING];
        let bits = count.ilog2();
        // Groups in the order of their bits from the last to the first: both of two that are added follow each other.
        let group =
            |leaf: usize| first + if bits == 0 { 0 } else { leaf.reverse_bits() >> (usize::BITS - bits) };
        for leaf in 0..count {
            let mut node = None;
            if group(leaf) < all {
                frees -= 1;
                let strip = free[frees];
                // The next one's first lines are asked for meanwhile.
                let next = if leaf + 1 < count { group(leaf + 1) } else { first + count };
                self.chain(group(leaf), next, &mut memory[strip * self.len..][..self.len]);
                node = Some(strip);
            }
            let mut level = 0;
            while leaf >> level & 1 == 1 {
                // The right one of two.
                node = match (left[level].take(), node) {
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
            left[level] = node;
        }
        let root = left[bits as usize].expect("the first group has lines");
        &memory[root * self.len..][..self.len]
    }

    /// The chain of a group.
    #[inline(always)]
    fn chain(&self, group: usize, next: usize, sums: &mut [T::Sum]) {
        let Self { a, layout, x, columns, groups, first, len } = self;
        let line = |column: usize| &a[layout.index(*first, columns.start + column)..][..*len];
        let whole = columns.len() / V;
        let mut vector = group;
        let mut begins = true;
        while vector < whole {
            let column = vector * V;
            let mut lines: [&[T]; V] = [&[]; V];
            let mut factors = [T::Sum::ZERO; V];
            for j in 0..V {
                lines[j] = line(column + j);
                factors[j] = x[columns.start + column + j].widen();
            }
            let follows = if vector + groups < whole { vector + groups } else { next };
            let ahead = (follows as isize - vector as isize) * (V * layout.leading_dimension()) as isize;
            if begins {
                add_lines::<T, V, true>(lines, &factors, sums, ahead);
            } else {
                add_lines::<T, V, false>(lines, &factors, sums, ahead);
            }
            begins = false;
            vector += groups;
        }
        if begins {
            sums.fill(T::Sum::ZERO);
        }
        if vector == whole {
            for column in whole * V..columns.len() {
                let x = x[columns.start + column].widen();
                for (sum, a) in sums.iter_mut().zip(line(column)) {
                    *sum = a.widen().mul_add(x, *sum);
                }
            }
        }
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

/// Adds the products of `V` lines to the chains of a group, which may begin with them. The lines `ahead` elements
/// behind these are asked for meanwhile: each is in pages of its own, where no processor looks ahead.
#[inline(always)]
fn add_lines<T: Scalar, const V: usize, const BEGINS: bool>(
    lines: [&[T]; V],
    x: &[T::Sum; V],
    sums: &mut [T::Sum],
    ahead: isize,
) {
    let (blocks, rest) = sums.as_chunks_mut::<BETWEEN>();
    let first = blocks.len() * BETWEEN;
    for (number, sums) in blocks.iter_mut().enumerate() {
        let mut chains = if BEGINS { [T::Sum::ZERO; BETWEEN] } else { *sums };
        for j in 0..V {
            let line: &[T; BETWEEN] =
                lines[j][number * BETWEEN..].first_chunk().expect("as long as the sums");
            prefetch(line, ahead * size_of::<T>() as isize, size_of_val(line));
            for at in 0..BETWEEN {
                chains[at] = line[at].widen().mul_add(x[j], chains[at]);
            }
        }
        *sums = chains;
    }
    for (at, sum) in rest.iter_mut().enumerate() {
        let mut chain = if BEGINS { T::Sum::ZERO } else { *sum };
        for j in 0..V {
            chain = lines[j][first + at].widen().mul_add(x[j], chain);
        }
        *sum = chain;
    }
}
