//! Products with sums of a few products: it is writing C that takes time, so that each row is written once, along its
//! line, and nothing is copied but what is not in lines. The bits are those of
//! [`reference::gemm`](crate::reference::gemm).

use gpu_core::cores::Threads;

use super::aligned::Aligned;
use super::gemm::WORTH;
use super::lanes::{Beside, Has, Lanes, Registers};
use super::launch::{ByRegisters, by_registers};
use super::tile::{MOST_LANES, added, finish_some, scaled};
use crate::matrix::{Layout, Order};

/// Products of a sum, at most.
pub(super) const MOST: usize = 8;
/// Rows that are written at a time: 4096 × 4096 × 8 `f32` took a core 7 ms with two, and 4.7 with four.
const HEIGHT: usize = 4;
/// Bytes of the lines that are read for some rows after others: the second-level cache holds them, and the shorter rows
/// of what the nearest one holds are written more slowly, 5 to 15 %.
const NEAR: usize = 65_536;

/// Computes C, of `m` × `n` elements and with the given distance from one row to the next, if its sums are so short,
/// and says whether they were.
pub(super) fn product<T: Registers>(
    a: (&[T], Layout),
    (b, of_b): (&[T], Layout),
    [m, n, depth]: [usize; 3],
    factors: (T, T),
    (c, row): (&mut [T], usize),
) -> bool {
    if depth == 0 || depth > MOST {
        return false;
    }
    let lines = lines(b, of_b, [n, depth]);
    let threads = Threads::worth(m * n * depth * size_of::<T>(), WORTH);
    let tasks = if threads.count() == 1 { 1 } else { 2 * threads.count() };
    let rows = m.div_ceil(tasks).next_multiple_of(HEIGHT);
    threads.chunks(c, rows * row, |number, c| {
        by_registers(Rows { a, first: number * rows, lines: &lines, columns: n, depth, factors, c, row });
    });
    true
}

/// A line of `n` elements for each of `depth` k, behind each other: lines of a matrix whose distance is a power of two
/// share the places of a cache, and 4096 × 4096 × 8 `f32` took 6.6 ms instead of 4.7.
fn lines<T: Registers>(b: &[T], layout: Layout, [n, depth]: [usize; 2]) -> Aligned<T> {
    let step = n.next_multiple_of(MOST_LANES);
    let mut lines = Aligned::new(T::ZERO, depth * step);
    for (k, line) in lines.chunks_exact_mut(step).enumerate() {
        let line = &mut line[..n];
        let from = &b[layout.index(k, 0)..];
        if layout.order() == Order::RowMajor {
            line.copy_from_slice(&from[..n]);
        } else {
            let column = from.iter().step_by(layout.leading_dimension());
            line.iter_mut().zip(column).for_each(|(to, &element)| *to = element);
        }
    }
    lines
}

/// Some rows of C.
struct Rows<'a, 'c, T> {
    a: (&'a [T], Layout),
    /// The first of A's rows.
    first: usize,
    /// Of B, behind each other.
    lines: &'a [T],
    columns: usize,
    depth: usize,
    factors: (T, T),
    c: &'c mut [T],
    row: usize,
}

impl<T: Registers> ByRegisters<T> for Rows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, (wide, _, _): (Has<W>, Has<H>, Has<L>)) {
        match self.depth {
            1 => self.tiles::<W, 1>(wide),
            2 => self.tiles::<W, 2>(wide),
            3 => self.tiles::<W, 3>(wide),
            4 => self.tiles::<W, 4>(wide),
            5 => self.tiles::<W, 5>(wide),
            6 => self.tiles::<W, 6>(wide),
            7 => self.tiles::<W, 7>(wide),
            MOST => self.tiles::<W, MOST>(wide),
            depth => unreachable!("sums of {depth} products"),
        }
    }
}

impl<T: Registers> Rows<'_, '_, T> {
    /// Sums of `K` products.
    #[inline(always)]
    fn tiles<V: Lanes<T>, const K: usize>(self, has: Has<V>) {
        let Self { a, first, lines, columns, depth: _, factors, c, row } = self;
        let width = NEAR / (K * size_of::<T>()) / V::LEN * V::LEN;
        for start in (0..columns).step_by(width) {
            let len = width.min(columns - start);
            let mut some: [&[T]; K] = [&[]; K];
            // Whole registers, as there is room behind each line.
            let padded = len.next_multiple_of(V::LEN);
            for k in 0..K {
                some[k] = &lines[k * columns.next_multiple_of(MOST_LANES) + start..][..padded];
            }
            let lines = Beside::new(some, padded);
            let mut at = first;
            for c in c.chunks_mut(HEIGHT * row) {
                let rows = c.chunks_mut(row).map(|c| &mut c[start..start + len]);
                let height = rows.len();
                let mut tile: [&mut [T]; HEIGHT] = core::array::from_fn(|_| <&mut [T]>::default());
                tile.iter_mut().zip(rows).for_each(|(to, c)| *to = c);
                if height == HEIGHT {
                    Tile { a, first: at, lines, factors }.compute::<V, HEIGHT>(has, tile);
                } else {
                    for (number, c) in tile.into_iter().take(height).enumerate() {
                        Tile { a, first: at + number, lines, factors }.compute::<V, 1>(has, [c]);
                    }
                }
                at += height;
            }
        }
    }
}

/// Some rows of some columns of C, but for these themselves.
struct Tile<'a, T, const K: usize> {
    a: (&'a [T], Layout),
    first: usize,
    lines: Beside<'a, T, K>,
    factors: (T, T),
}

impl<T: Registers, const K: usize> Tile<'_, T, K> {
    /// Computes them.
    #[inline(always)]
    fn compute<V: Lanes<T>, const M: usize>(self, has: Has<V>, mut c: [&mut [T]; M]) {
        let Self { a: (a, layout), first, lines, factors } = self;
        let mut elements = [[V::splat(has, T::ZERO); K]; M];
        for i in 0..M {
            for k in 0..K {
                elements[i][k] = V::splat(has, a[layout.index(first + i, k)]);
            }
        }
        let (len, whole) = (c[0].len(), c[0].len() / V::LEN * V::LEN);
        // Asked once: beside so few products it would be a third of the time.
        if factors.1 == T::ZERO {
            whole_registers::<T, V, K, M, true>(has, lines, &elements, factors, &mut c, whole);
        } else {
            whole_registers::<T, V, K, M, false>(has, lines, &elements, factors, &mut c, whole);
        }
        if whole < len {
            let line = line_of(has, lines, whole);
            for i in 0..M {
                finish_some(has, factors, sum(has, &line, &elements[i]), &mut c[i][whole..]);
            }
        }
    }
}

/// The first `len` results, which are whole registers, where β is zero or not.
#[inline(always)]
fn whole_registers<T: Registers, V: Lanes<T>, const K: usize, const M: usize, const IS_ZERO: bool>(
    has: Has<V>,
    lines: Beside<'_, T, K>,
    elements: &[[V; K]; M],
    factors: (T, T),
    c: &mut [&mut [T]; M],
    len: usize,
) {
    let of_all = (V::splat(has, factors.0), V::splat(has, factors.1));
    for at in (0..len).step_by(V::LEN) {
        let line = line_of(has, lines, at);
        for i in 0..M {
            let (sums, c) = (sum(has, &line, &elements[i]), &mut c[i][at..at + V::LEN]);
            if IS_ZERO {
                scaled(has, of_all.0, sums).store(c);
            } else {
                added(has, of_all, sums, V::load(has, c)).store(c);
            }
        }
    }
}

/// A register of each line.
#[inline(always)]
fn line_of<T: Registers, V: Lanes<T>, const K: usize>(
    has: Has<V>,
    lines: Beside<'_, T, K>,
    at: usize,
) -> [V; K] {
    let some = lines.some(at, V::LEN);
    let mut line = [V::splat(has, T::ZERO); K];
    for k in 0..K {
        line[k] = V::load(has, some[k]);
    }
    line
}

/// The sums of products of a register of each line and an element.
#[inline(always)]
fn sum<T: Registers, V: Lanes<T>, const K: usize>(has: Has<V>, line: &[V; K], elements: &[V; K]) -> V {
    let mut sums = V::splat(has, T::ZERO);
    for k in 0..K {
        sums = line[k].mul_add(elements[k], sums);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::case;
    use crate::cpu::launch::tests::in_registers;

    /// See [`case::check`].
    fn check<T: Registers + PartialEq>(shape: [usize; 3], beta: f64, of: fn(f64) -> T) -> usize {
        case::check(shape, beta, of, |a, b, factors, c| product(a, b, shape, factors, c))
    }

    /// Around the ends of registers, of rows that are written at a time and of what is near.
    fn check_registers<T: Registers + PartialEq>(of: fn(f64) -> T) {
        for widest in [16, 32, usize::MAX] {
            in_registers(widest, || {
                for depth in 1..=MOST {
                    for [m, n] in [[1, 1], [17, 33], [20, 16], [23, 39], [70, 17]] {
                        for beta in [-1.5, 0.0] {
                            assert_eq!(check([m, n, depth], beta, of), case::LAYOUTS);
                        }
                    }
                }
                assert_eq!(check([5, 4500, 7], 0.0, of), case::LAYOUTS);
                assert_eq!(check([700, 300, 5], -1.5, of), case::LAYOUTS);
            });
        }
    }

    #[test]
    fn all_registers_give_the_references_bits() {
        check_registers::<f32>(|value| value as f32);
        check_registers::<f64>(|value| value / 3.0);
    }

    #[test]
    fn without_products_or_with_more_it_is_another() {
        for depth in [0, MOST + 1] {
            assert_eq!(check::<f32>([20, 20, depth], 0.0, |value| value as f32), 0);
        }
    }
}
