//! Products of a panel of few rows or few columns: each element of the longer factor is in few products, so it is read
//! where it lies and not copied before. The bits are those of the [panels](super::panel).

use super::lanes::{Has, Lanes, Places, Registers, TURNED};
use super::panel::Panel;
use super::tile::{MOST_LANES, finish_some};
use crate::matrix::Order;
use crate::reference::finish;

/// Rows or columns that are few, at most.
const MOST: usize = 12;
/// Bytes of the longer factor, at most: what a second-level cache does not hold is better read once in its order.
const BYTES: usize = 1 << 20;
/// Bytes of a register's part that holds elements of one line.
const CHUNK: usize = 16;
/// Elements of a [`CHUNK`], at most.
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
        1 => of_count::<T, V, 1, 2, 2>(panel, has, few, c),
        2 => of_count::<T, V, 2, 2, 2>(panel, has, few, c),
        3..=4 => of_count::<T, V, 4, 2, 2>(panel, has, few, c),
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
    let (short, layout, first) =
        if are_rows_few { (a, of_a, panel.rows.start) } else { (b, of_b.transposed(), 0) };
    let leading = layout.leading_dimension();
    let [across, along] = if layout.order() == Order::RowMajor { [leading, 1] } else { [1, leading] };
    // What is behind the rows or columns that there are is zero.
    for at in 0..count {
        let short = &short[(first + at) * across..];
        for (k, few) in few.chunks_exact_mut(Q).enumerate() {
            few[at] = short[k * along];
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
    let none = [T::ZERO; TURNED];
    let mut columns = [[[T::ZERO; MOST_LANES]; N]; MOST];
    for i in 0..Q {
        for j in 0..N {
            sums[i][j].store(&mut columns[i][j]);
        }
    }
    for (block, c) in c.chunks_mut(TURNED).enumerate() {
        let (register, lane) = (block * TURNED / V::LEN, block * TURNED % V::LEN);
        // Some rows, which end in zeros.
        let mut rows = [[T::ZERO; MOST]; TURNED];
        for first in (0..Q).step_by(TURNED) {
            let mut lines = [&none; TURNED];
            for (line, column) in lines.iter_mut().zip(&columns[first..]) {
                *line = column[register][lane..].first_chunk().expect("whole blocks");
            }
            T::turn(lines, &mut rows.as_flattened_mut()[first..], MOST);
        }
        for (c, sums) in c.iter_mut().zip(&rows) {
            for (c, &sum) in c[..count].iter_mut().zip(sums) {
                *c = finish(alpha, sum, beta, || *c);
            }
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
            let few = &self.few[k * Q..][..Q];
            for i in 0..Q {
                let factor = V::splat(has, few[i]);
                for j in 0..N {
                    sums[i][j] = elements[j].mul_add(factor, sums[i][j]);
                }
            }
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
        let mut lines = [[Places::default(); MOST_PLACES]; N];
        for (j, lines) in lines.iter_mut().enumerate() {
            for (place, lines) in lines[..places].iter_mut().enumerate() {
                // Behind the last line it is that again.
                let line = |chunk: usize| (first + j * V::LEN + chunk * places + place).min(self.len - 1);
                *lines = Places::new([0, 1, 2, 3].map(|chunk| line(chunk) * self.steps[0]));
            }
        }
        let last = lines[N - 1][places - 1].last();
        let mut k = ks.start;
        while k < ks.end {
            let long = &self.long[k..];
            let count = (ks.end - k).min(places);
            let is_inside = last + places <= long.len();
            for j in 0..N {
                let mut elements = [V::splat(has, T::ZERO); MOST_PLACES];
                if is_inside {
                    // What is behind the end of a part is in no product.
                    for place in 0..places {
                        elements[place] = V::chunks(has, long, &lines[j][place]);
                    }
                } else {
                    for place in 0..places {
                        let mut few = [T::ZERO; MOST_LANES];
                        for (few, &start) in few.chunks_exact_mut(places).zip(lines[j][place].all()) {
                            few[..count].copy_from_slice(&long[start..][..count]);
                        }
                        elements[place] = V::load(has, &few);
                    }
                }
                let elements = sorted(elements, places);
                for place in 0..places {
                    if place < count {
                        let few = &self.few[(k + place) * Q..][..Q];
                        for i in 0..Q {
                            let factor = V::splat(has, few[i]);
                            sums[i][j] = elements[place].mul_add(factor, sums[i][j]);
                        }
                    }
                }
            }
            k += places;
        }
        sums
    }
}

/// Of every [`CHUNK`] of as many registers as it has elements the first ones, then the second ones, and so on.
#[inline(always)]
fn sorted<T: Registers, V: Lanes<T>>(chunks: [V; MOST_PLACES], places: usize) -> [V; MOST_PLACES] {
    let [a, b, c, d] = chunks;
    let ((even, odd), (evens, odds)) = (a.halves(b), c.halves(d));
    if places == 2 {
        return [even, odd, evens, odds];
    }
    let ((first, third), (second, fourth)) = (even.halves(evens), odd.halves(odds));
    [first, second, third, fourth]
}
