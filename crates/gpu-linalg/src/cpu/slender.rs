//! Products of a panel of few rows or few columns: each element of the longer factor is in few products, so it is read
//! where it lies and not copied before. The bits are those of the [panels](super::panel).

use super::lanes::{Has, Lanes, Registers};
use super::panel::Panel;
use super::tile::finish_some;
use crate::matrix::Order;
use crate::reference::finish;

/// Rows or columns that are few, at most.
const MOST: usize = 12;
/// Bytes of the longer factor, at most: what a second-level cache does not hold is better read once in its order.
const BYTES: usize = 1 << 20;
/// Bytes of a register's part that holds elements of one line.
const CHUNK: usize = 16;
/// Elements of a [`CHUNK`], and chunks of a register, at most.
const MOST_PLACES: usize = 4;

/// The factors of a panel, the longer one first.
struct Factors<'a, T> {
    /// From a result's element to the next one, and from one k to the next.
    long: &'a [T],
    steps: [usize; 2],
    /// Results side by side.
    len: usize,
    /// For each k as many elements as registers are multiplied by.
    few: &'a [T],
}

/// Computes a panel in registers of the longer extent, if it is so slender, and says whether it was.
#[inline(always)]
pub(super) fn compute<T: Registers, V: Lanes<T>>(
    panel: &Panel<'_, T>,
    has: Has<V>,
    few: &mut Vec<T>,
    c: &mut [&mut [T]],
) -> bool {
    let (rows, columns) = (panel.rows.len(), panel.columns);
    let (count, len) = (rows.min(columns), rows.max(columns));
    if count > MOST || panel.depth == 0 || len * panel.depth * size_of::<T>() > BYTES {
        return false;
    }
    // Few registers' worth of sums, whose number is a constant.
    match count {
        1 => of_count::<T, V, 1, 4, 4>(panel, has, few, c),
        2 => of_count::<T, V, 2, 4, 2>(panel, has, few, c),
        3..=4 => of_count::<T, V, 4, 4, 2>(panel, has, few, c),
        5..=8 => of_count::<T, V, 8, 2, 1>(panel, has, few, c),
        _ => of_count::<T, V, 12, 2, 1>(panel, has, few, c),
    }
    true
}

/// [`compute`] with `Q` sums for each of the longer extent, in `N` registers of 64 bytes or `H` of fewer.
#[inline(always)]
fn of_count<T: Registers, V: Lanes<T>, const Q: usize, const N: usize, const H: usize>(
    panel: &Panel<'_, T>,
    has: Has<V>,
    few: &mut Vec<T>,
    c: &mut [&mut [T]],
) {
    if size_of::<V>() == 64 {
        blocks::<T, V, Q, N>(panel, has, few, c);
    } else {
        blocks::<T, V, Q, H>(panel, has, few, c);
    }
}

/// [`compute`] in blocks of `N` registers of the longer extent.
#[inline(always)]
fn blocks<T: Registers, V: Lanes<T>, const Q: usize, const N: usize>(
    panel: &Panel<'_, T>,
    has: Has<V>,
    few: &mut Vec<T>,
    c: &mut [&mut [T]],
) {
    let ((a, of_a), (b, of_b)) = (panel.a, panel.b);
    let (rows, columns) = (panel.rows.len(), panel.columns);
    let are_rows_few = rows < columns;
    few.clear();
    few.resize(panel.depth * Q, T::ZERO);
    let count = rows.min(columns);
    // What is behind the rows or columns that there are is zero.
    for (k, few) in few.chunks_exact_mut(Q).enumerate() {
        for (at, few) in few[..count].iter_mut().enumerate() {
            *few = if are_rows_few { a[of_a.index(panel.rows.start + at, k)] } else { b[of_b.index(k, at)] };
        }
    }
    let (long, layout) =
        if are_rows_few { (b, of_b.transposed()) } else { (&a[of_a.index(panel.rows.start, 0)..], of_a) };
    let leading = layout.leading_dimension();
    let is_along = layout.order() == Order::RowMajor;
    let steps = if is_along { [leading, 1] } else { [1, leading] };
    let of = Factors { long, steps, len: rows.max(columns), few };
    for first in (0..of.len).step_by(N * V::LEN) {
        let mut sums = [[V::splat(has, T::ZERO); N]; Q];
        for part in panel.split.ranges(panel.depth) {
            let tile = if is_along {
                of.along::<V, Q, N>(has, first, part.clone())
            } else {
                of.across::<V, Q, N>(has, first, part.clone())
            };
            // Parts are added in ascending order, the second one to the first.
            for i in 0..Q {
                for j in 0..N {
                    sums[i][j] = if part.start == 0 { tile[i][j] } else { sums[i][j].plus(tile[i][j]) };
                }
            }
            if part.end == panel.depth {
                break;
            }
        }
        let last = of.len.min(first + N * V::LEN);
        if are_rows_few {
            for (c, sums) in c.iter_mut().zip(&sums) {
                for (c, &sums) in c[first..last].chunks_mut(V::LEN).zip(sums) {
                    finish_some(has, panel.factors, sums, c);
                }
            }
        } else {
            write_down(&sums, panel.factors, count, &mut c[first..last]);
        }
    }
}

/// Ends the first `count` columns of some rows.
#[inline(always)]
fn write_down<T: Registers, V: Lanes<T>, const Q: usize, const N: usize>(
    sums: &[[V; N]; Q],
    (alpha, beta): (T, T),
    count: usize,
    c: &mut [&mut [T]],
) {
    let mut memory = [[[T::ZERO; super::tile::MOST_LANES]; N]; Q];
    for i in 0..Q {
        for j in 0..N {
            sums[i][j].store(&mut memory[i][j]);
        }
    }
    for (at, c) in c.iter_mut().enumerate() {
        let (register, lane) = (at / V::LEN, at % V::LEN);
        for (c, sums) in c[..count].iter_mut().zip(&memory) {
            *c = finish(alpha, sums[register][lane], beta, || *c);
        }
    }
}

impl<T: Registers> Factors<'_, T> {
    /// The sums of a part, where the results' elements follow each other.
    #[inline(always)]
    fn across<V: Lanes<T>, const Q: usize, const N: usize>(
        &self,
        has: Has<V>,
        first: usize,
        ks: core::ops::Range<usize>,
    ) -> [[V; N]; Q] {
        let mut sums = [[V::splat(has, T::ZERO); N]; Q];
        let len = (self.len - first).min(N * V::LEN);
        for k in ks {
            let line = &self.long[first + k * self.steps[1]..][..len];
            let mut elements = [V::splat(has, T::ZERO); N];
            for (j, elements) in elements.iter_mut().enumerate() {
                *elements = if len == N * V::LEN {
                    V::load(has, &line[j * V::LEN..])
                } else {
                    V::load_some(has, line.get(j * V::LEN..).unwrap_or(&[]))
                };
            }
            self.add(has, k, &elements, &mut sums);
        }
        sums
    }

    /// The sums of a part, where the elements of each line of k follow each other: of those of a [`CHUNK`] of many lines
    /// the first ones come into one register, the second ones into the next.
    #[inline(always)]
    fn along<V: Lanes<T>, const Q: usize, const N: usize>(
        &self,
        has: Has<V>,
        first: usize,
        ks: core::ops::Range<usize>,
    ) -> [[V; N]; Q] {
        let mut sums = [[V::splat(has, T::ZERO); N]; Q];
        let places = CHUNK / size_of::<T>();
        // Where the lines begin that are in a register's chunks. Behind the last one it is that again.
        let mut starts = [[[0; MOST_PLACES]; MOST_PLACES]; N];
        for (j, starts) in starts.iter_mut().enumerate() {
            for place in 0..places {
                for chunk in 0..V::LEN / places {
                    let line = first + j * V::LEN + chunk * places + place;
                    starts[place][chunk] = line.min(self.len - 1) * self.steps[0];
                }
            }
        }
        let whole = ks.start + ks.len() / places * places;
        for k in (ks.start..whole).step_by(places) {
            let long = &self.long[k..];
            let mut elements = [[V::splat(has, T::ZERO); N]; MOST_PLACES];
            for j in 0..N {
                let mut chunks = [V::splat(has, T::ZERO); MOST_PLACES];
                for place in 0..places {
                    chunks[place] = V::chunks(has, long, &starts[j][place]);
                }
                if places == 2 {
                    (elements[0][j], elements[1][j]) = chunks[0].halves(chunks[1]);
                } else {
                    let ((a, b), (c, d)) = (chunks[0].halves(chunks[1]), chunks[2].halves(chunks[3]));
                    (elements[0][j], elements[2][j]) = a.halves(c);
                    (elements[1][j], elements[3][j]) = b.halves(d);
                }
            }
            for place in 0..places {
                self.add(has, k + place, &elements[place], &mut sums);
            }
        }
        for k in whole..ks.end {
            let mut elements = [V::splat(has, T::ZERO); N];
            for (j, elements) in elements.iter_mut().enumerate() {
                let mut few = [T::ZERO; super::tile::MOST_LANES];
                for (lane, few) in few[..V::LEN].iter_mut().enumerate() {
                    *few = self.long[starts[j][lane % places][lane / places] + k];
                }
                *elements = V::load(has, &few);
            }
            self.add(has, k, &elements, &mut sums);
        }
        sums
    }

    /// Adds the products with the few elements of one k.
    #[inline(always)]
    fn add<V: Lanes<T>, const Q: usize, const N: usize>(
        &self,
        has: Has<V>,
        k: usize,
        elements: &[V; N],
        sums: &mut [[V; N]; Q],
    ) {
        let few = &self.few[k * Q..][..Q];
        for i in 0..Q {
            let factor = V::splat(has, few[i]);
            for j in 0..N {
                sums[i][j] = elements[j].mul_add(factor, sums[i][j]);
            }
        }
    }
}
