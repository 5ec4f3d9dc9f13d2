//! Tiles of a product of matrices whose sums are in registers.

use core::ops::Range;

use gpu_core::vectors::prefetch;
use gpu_std::float::Float;

use super::lanes::{Across, Block, Has, Lanes, Registers, TURNED};
use super::panel::Step;

/// Elements of the widest registers, at most.
pub(super) const MOST_LANES: usize = 16;

/// How many k of A's tiles are asked for ahead: what the nearest cache has not yet delays the multiply-adds of all
/// elements of its line. 1024³ `f64` took a core 48 ms, and 41 so.
const AHEAD: usize = 16;

/// A tile of C, the factors of its products, and the memory that belongs to it.
pub(super) struct Tile<'a, 'c, T> {
    /// The first element, and how far it is to the next row's, to that of the next [`TURNED`] rows and to the next k's.
    pub(super) a: (&'a [T], [usize; 3]),
    /// A line for each k, and from one to the next.
    pub(super) b: (&'a [T], usize),
    pub(super) sums: &'a mut [T],
    pub(super) totals: &'a mut [T],
    pub(super) factors: (T, T),
    pub(super) columns: Range<usize>,
    pub(super) step: &'a Step,
    /// Whether C comes from far away, and is asked for while there are products to add.
    pub(super) is_far: bool,
    pub(super) c: &'a mut [&'c mut [T]],
}

impl<T: Registers> Tile<'_, '_, T> {
    /// Computes as many rows and columns as it has, of at most `M` and `N` registers.
    #[inline(always)]
    pub(super) fn compute<V: Lanes<T>, const M: usize, const N: usize>(self, has: Has<V>) {
        let (rows, registers) = (self.c.len().div_ceil(TURNED), self.columns.len().div_ceil(V::LEN));
        // What is beyond M and N is left out by the compiler, and before it is compiled.
        match (rows, registers) {
            (1, 1) => self.along::<V, 4, 1>(has),
            (1, 2) => self.along::<V, 4, 2>(has),
            (1, _) if const { N == 3 } => self.along::<V, 4, 3>(has),
            (2, 1) => self.along::<V, 8, 1>(has),
            (2, 2) if const { M == 8 } => self.along::<V, 8, 2>(has),
            (2, _) if const { M == 8 && N == 3 } => self.along::<V, 8, 3>(has),
            size => unreachable!("tiles of {size:?} where they have {M} rows of {N}"),
        }
    }

    /// The sums of `M` rows, each in `N` registers.
    #[inline(always)]
    fn along<V: Lanes<T>, const M: usize, const N: usize>(self, has: Has<V>) {
        let Self { a, b, sums: memory, totals, factors, columns, step, is_far, c } = self;
        if is_far && step.ends && step.is_last {
            // Its lines of C are far from each other, and are brought while products are added.
            for line in c.iter() {
                prefetch(&line[columns.start..], 0, size_of::<V>() * N);
            }
        }
        let mut tile: [[V; N]; M] = sums(has, step, memory, (a, c.len()), b);
        if !end(has, step, &mut tile, memory, totals) {
            return;
        }
        finish_tile(has, factors, &tile, c, columns);
    }
}

/// Keeps sums in memory until their part ends, those of parts until the last one does: then they are whole.
#[inline(always)]
pub(super) fn end<T: Registers, V: Lanes<T>, const M: usize, const N: usize>(
    has: Has<V>,
    step: &Step,
    tile: &mut [[V; N]; M],
    memory: &mut [T],
    totals: &mut [T],
) -> bool {
    if !step.ends {
        write(tile, memory);
        return false;
    }
    // Parts are added in ascending order, the second one to the first.
    if !step.is_first {
        let mut total = *tile;
        read(has, &mut total, totals);
        for i in 0..M {
            for j in 0..N {
                tile[i][j] = total[i][j].plus(tile[i][j]);
            }
        }
    }
    if !step.is_last {
        write(tile, totals);
    }
    step.is_last
}

/// The sums of a step of each of `M` rows of a tile, of which `height` are there, k after k: of the products of an
/// element of A and a line of `N` registers of B. In memory are the sums of the k before these, of the same part.
#[inline(always)]
fn sums<T: Registers, V: Lanes<T>, const M: usize, const N: usize>(
    has: Has<V>,
    step: &Step,
    memory: &[T],
    ((a, [row, four, between]), height): ((&[T], [usize; 3]), usize),
    (b, leading): (&[T], usize),
) -> [[V; N]; M] {
    // In registers meanwhile, element by element: a copy of the whole is a call. No closures here: they would be
    // functions of their own, compiled for the oldest machines.
    let mut sums = [[V::splat(has, T::ZERO); N]; M];
    if !step.begins {
        read(has, &mut sums, memory);
    }
    let depth = step.ks.len();
    if depth > 0 {
        let b = Block::new(b, leading, depth, N * V::LEN);
        let mut starts = [0; M];
        for (i, start) in starts.iter_mut().enumerate() {
            // Rows that are none are the last one.
            let i = i.min(height - 1);
            *start = i / TURNED * four + i % TURNED * row;
        }
        let rows = Across::new(a, starts, between, depth);
        V::add_products(has, b, rows, AHEAD * M, &mut sums);
    }
    sums
}

/// Reads a tile from memory of its own.
#[inline(always)]
pub(super) fn read<T, V: Lanes<T>, const M: usize, const N: usize>(
    has: Has<V>,
    tile: &mut [[V; N]; M],
    memory: &[T],
) {
    let memory = &memory[..M * N * V::LEN];
    for i in 0..M {
        for j in 0..N {
            tile[i][j] = V::load(has, &memory[(i * N + j) * V::LEN..]);
        }
    }
}

/// Writes a tile to memory of its own.
#[inline(always)]
fn write<T, V: Lanes<T>, const M: usize, const N: usize>(tile: &[[V; N]; M], memory: &mut [T]) {
    let memory = &mut memory[..M * N * V::LEN];
    for i in 0..M {
        for j in 0..N {
            tile[i][j].store(&mut memory[(i * N + j) * V::LEN..]);
        }
    }
}

/// [`finish`] of a tile's sums to some columns of the first rows of C, which may be fewer than it has.
#[inline(always)]
pub(super) fn finish_tile<T: Float, V: Lanes<T>, const M: usize, const N: usize>(
    has: Has<V>,
    factors: (T, T),
    tile: &[[V; N]; M],
    c: &mut [&mut [T]],
    columns: Range<usize>,
) {
    if c.len() >= M && columns.len() == N * V::LEN {
        // From registers, without being in memory first.
        let (alpha, beta) = (V::splat(has, factors.0), V::splat(has, factors.1));
        for i in 0..M {
            let c = &mut c[i][columns.clone()];
            if factors.1 == T::ZERO {
                for j in 0..N {
                    scaled(has, alpha, tile[i][j]).store(&mut c[j * V::LEN..]);
                }
            } else {
                for j in 0..N {
                    let old = V::load(has, &c[j * V::LEN..]);
                    added(has, (alpha, beta), tile[i][j], old).store(&mut c[j * V::LEN..]);
                }
            }
        }
        return;
    }
    // A copy, element by element: what is read by a number that is not known before is in memory.
    let mut copy = [[V::splat(has, T::ZERO); N]; M];
    for i in 0..M {
        for j in 0..N {
            copy[i][j] = tile[i][j];
        }
    }
    for (c, sums) in c.iter_mut().zip(&copy) {
        for (c, &sums) in c[columns.clone()].chunks_mut(V::LEN).zip(sums) {
            finish_some(has, factors, sums, c);
        }
    }
}

/// [`finish`] where β is zero.
#[inline(always)]
pub(super) fn scaled<T: Float, V: Lanes<T>>(has: Has<V>, alpha: V, sums: V) -> V {
    alpha.times(sums.plus(V::splat(has, T::ZERO)))
}

/// [`finish`] where it is not.
#[inline(always)]
pub(super) fn added<T: Float, V: Lanes<T>>(has: Has<V>, (alpha, beta): (V, V), sums: V, old: V) -> V {
    sums.plus(V::splat(has, T::ZERO)).mul_add(alpha, beta.times(old))
}

/// [`finish`] of sums that follow each other as their results do.
#[inline(always)]
pub(super) fn finish_run<T: Float, V: Lanes<T>>(has: Has<V>, factors: (T, T), sums: &[T], c: &mut [T]) {
    let whole = c.len() / V::LEN * V::LEN;
    let (sums, rest) = sums.split_at(whole);
    let (c, last) = c.split_at_mut(whole);
    for (c, sums) in c.chunks_exact_mut(V::LEN).zip(sums.chunks_exact(V::LEN)) {
        finish_some(has, factors, V::load(has, sums), c);
    }
    if !last.is_empty() {
        finish_some(has, factors, V::load_some(has, rest), last);
    }
}

/// [`finish`] of a register's elements, or of the first of them where `c` has fewer.
#[inline(always)]
pub(super) fn finish_some<T: Float, V: Lanes<T>>(has: Has<V>, (alpha, beta): (T, T), sums: V, c: &mut [T]) {
    let (of_all, is_zero) = ((V::splat(has, alpha), V::splat(has, beta)), beta == T::ZERO);
    match (c.len() >= V::LEN, is_zero) {
        (true, true) => scaled(has, of_all.0, sums).store(c),
        (true, false) => added(has, of_all, sums, V::load(has, c)).store(c),
        (false, true) => scaled(has, of_all.0, sums).store_some(c),
        (false, false) => added(has, of_all, sums, V::load_some(has, c)).store_some(c),
    }
}
