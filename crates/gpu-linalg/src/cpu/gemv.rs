//! Products of a matrix and a vector, with the chains of the order of operations side by side in vectors.
//!
//! Along the lines a lane's chain takes 16 bytes in turn: lines are read in whole rounds of all lanes, and the vector
//! is put in the order of rounds before. Across the lines the results are side by side, and each group's sums are kept
//! for a strip of them that a near cache holds. The bits are those of [`reference::gemv`](crate::reference::gemv).

use gpu_core::cores;
use gpu_core::vectors::{Work, prefetch, run};
use gpu_linalg_kernels::gemv::ACROSS_THREADS;
use gpu_std::float::Float;

use crate::error::Error;
use crate::launch::Element;
use crate::matrix::Layout;
use crate::plan::gemv::Plan;
use crate::reference::finish;

/// Products of a matrix of fewer bytes are not worth a second thread: to wake it takes some 15 µs, in which one reads
/// so much from its cache.
const SERIAL: usize = 1_500_000;
/// Elements of the groups' sums of a strip, at most: half of a second-level cache. With 8192 strips are so narrow that
/// of each page of A little is read at a time: 4096² `f32` took 3.9 ms on two cores.
const STRIP_SUMS: usize = 65_536;
/// Results between requests for the next lines.
const BETWEEN: usize = 64;

/// [`crate::gemv`] of slices, as [`reference::gemv`](crate::reference::gemv).
///
/// # Errors
/// Those of [`Plan::new`].
pub fn gemv<T: Element>(
    alpha: T::Sum,
    a: &[T],
    layout: Layout,
    x: &[T],
    beta: T::Sum,
    y: &mut [T],
) -> Result<(), Error> {
    if layout.rows() == 0 {
        return Ok(());
    }
    let plan = Plan::new::<T>(layout, 0, 0, alpha != T::Sum::ZERO)?;
    match size_of::<T>() {
        2 => by_vector::<T, 8>(&plan, alpha, a, layout, x, beta, y),
        4 => by_vector::<T, 4>(&plan, alpha, a, layout, x, beta, y),
        _ => by_vector::<T, 2>(&plan, alpha, a, layout, x, beta, y),
    }
    Ok(())
}

/// [`gemv`] of elements of which `V` are 16 bytes.
fn by_vector<T: Element, const V: usize>(
    plan: &Plan,
    alpha: T::Sum,
    a: &[T],
    layout: Layout,
    x: &[T],
    beta: T::Sum,
    y: &mut [T],
) {
    let rows = layout.rows();
    let [length, piece, pieces, width] =
        [plan.shape.length, plan.shape.piece, plan.shape.pieces, plan.shape.width].map(|size| size as usize);
    // Of each piece the sums of all rows.
    let mut sums = vec![T::Sum::ZERO; rows * pieces];
    let is_serial = rows * length * size_of::<T>() < SERIAL;
    let threads = if is_serial { 1 } else { cores::count() };
    if plan.along {
        let x = rounds::<T, V>(&x[..length], width);
        let task = sums.len().div_ceil(4 * threads).next_multiple_of(2);
        let part = |first, sums: &mut [T::Sum]| {
            let all = Along::<T, V> { a, layout, x: &x, length, piece, width, first, sums };
            run(all);
        };
        if is_serial {
            part(0, &mut sums);
        } else {
            cores::chunks(&mut sums, task, 1, |number, sums| part(number * task, sums));
        }
    } else {
        let chains = ACROSS_THREADS as usize / width;
        let strip = rows.div_ceil(2 * threads).next_multiple_of(64).min((STRIP_SUMS / chains).max(64));
        let part = |number: usize, first: usize, sums: &mut [T::Sum]| {
            let columns = number * piece..((number + 1) * piece).min(length);
            run(Across::<T, V> { a, layout, x, columns, chains, width, first, sums });
        };
        if is_serial {
            for (number, sums) in sums.chunks_mut(rows).enumerate() {
                sums.chunks_mut(strip).enumerate().for_each(|(at, sums)| part(number, at * strip, sums));
            }
        } else {
            cores::chunks(&mut sums, rows, 1, |number, sums| {
                cores::chunks(sums, strip, 1, |at, sums| part(number, at * strip, sums));
            });
        }
    }
    for (row, y) in y.iter_mut().enumerate() {
        let pieces = sums[row..].iter().step_by(rows).copied();
        let sum = pieces.reduce(|sum, piece| sum + piece).unwrap_or(T::Sum::ZERO);
        *y = T::narrow(finish(alpha, sum, beta, || y.widen()));
    }
}

/// `x` in rounds of `V` elements for each of `width` lanes: of each round the lanes' first elements, then their second
/// ones. The last round is filled up with zeros.
fn rounds<T: Element, const V: usize>(x: &[T], width: usize) -> Vec<T::Sum> {
    let mut all = vec![T::Sum::ZERO; x.len().next_multiple_of(width * V)];
    run(Rounds::<T, V> { x, width, all: &mut all });
    all
}

/// [`rounds`], into memory of zeros.
struct Rounds<'a, T: Element, const V: usize> {
    x: &'a [T],
    width: usize,
    all: &'a mut [T::Sum],
}

impl<T: Element, const V: usize> Work for Rounds<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.width {
            1 => self.lanes::<1, 1>(),
            2 => self.lanes::<2, 2>(),
            4 => self.lanes::<4, 4>(),
            8 => self.lanes::<8, 8>(),
            16 => self.lanes::<16, 16>(),
            _ => self.lanes::<32, 16>(),
        }
    }
}

impl<T: Element, const V: usize> Rounds<'_, T, V> {
    /// With `W` lanes, `N` in a vector.
    #[inline(always)]
    fn lanes<const W: usize, const N: usize>(self) {
        let (x, rest) = self.x.as_chunks::<V>();
        let (x, last) = x.as_chunks::<W>();
        let (all, _) = self.all.as_chunks_mut::<W>();
        let (all, _) = all.as_chunks_mut::<V>();
        for (x, all) in x.iter().zip(&mut *all) {
            for number in 0..W / N {
                let columns = columns::<T, V, N>(x.as_flattened(), number);
                for j in 0..V {
                    all[j][number * N..][..N].copy_from_slice(&columns[j]);
                }
            }
        }
        if let Some(all) = all.get_mut(x.len()) {
            for (lane, x) in last.iter().map(|x| &x[..]).chain([rest]).enumerate() {
                for (x, all) in x.iter().zip(&mut *all) {
                    all[lane] = x.widen();
                }
            }
        }
    }
}

/// Some of the sums along lines, those of all rows for each piece.
struct Along<'a, T: Element, const V: usize> {
    a: &'a [T],
    layout: Layout,
    /// In [`rounds`].
    x: &'a [T::Sum],
    length: usize,
    piece: usize,
    width: usize,
    /// The number of the first sum.
    first: usize,
    sums: &'a mut [T::Sum],
}

impl<T: Element, const V: usize> Work for Along<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // So many lanes are sorted at once, and so many lines are read at a time that there are chains enough for the
        // multipliers. One line where it has enough of its own: memory gives two lines no sooner.
        match self.width {
            1 => self.lanes::<1, 1, 4>(),
            2 => self.lanes::<2, 2, 4>(),
            4 => self.lanes::<4, 4, 4>(),
            8 => self.lanes::<8, 8, 2>(),
            16 => self.lanes::<16, 16, 2>(),
            _ if V <= 4 => self.lanes::<32, 16, 1>(),
            _ => self.lanes::<32, 16, 2>(),
        }
    }
}

impl<T: Element, const V: usize> Along<'_, T, V> {
    /// With `W` lanes, `N` in a vector, of `L` lines at a time.
    #[inline(always)]
    fn lanes<const W: usize, const N: usize, const L: usize>(self) {
        let rows = self.layout.rows();
        let mut at = 0;
        while at < self.sums.len() {
            let (piece, row) = ((self.first + at) / rows, (self.first + at) % rows);
            let columns = piece * self.piece..((piece + 1) * self.piece).min(self.length);
            // Pieces are whole rounds, but for the last.
            let x = &self.x[columns.start..columns.end.next_multiple_of(W * V).min(self.x.len())];
            let line = |row| &self.a[self.layout.index(row, columns.start)..][..columns.len()];
            if columns.is_empty() {
                self.sums[at] = T::Sum::ZERO;
                at += 1;
            } else if row + L <= rows && at + L <= self.sums.len() {
                let of = core::array::from_fn(|number| line(row + number));
                self.sums[at..at + L].copy_from_slice(&lines::<T, V, W, N, L>(of, x));
                at += L;
            } else {
                [self.sums[at]] = lines::<T, V, W, N, 1>([line(row)], x);
                at += 1;
            }
        }
    }
}

/// The sums of `L` lines: their lanes' chains, added at halved distances.
#[inline(always)]
fn lines<T: Element, const V: usize, const W: usize, const N: usize, const L: usize>(
    lines: [&[T]; L],
    x: &[T::Sum],
) -> [T::Sum; L] {
    let mut sums = [[T::Sum::ZERO; W]; L];
    let (x, _) = x.as_chunks::<W>();
    let (x, _) = x.as_chunks::<V>();
    let rounds = lines.map(|line| line.as_chunks::<V>().0.as_chunks::<W>().0);
    let whole = rounds[0].len();
    // What is left, filled up with zeros: they change no sum but in the sign of a zero, which does not last.
    let mut last = [[[T::default(); V]; W]; L];
    for line in 0..L {
        let rest = &lines[line][whole * W * V..];
        last[line].as_flattened_mut()[..rest.len()].copy_from_slice(rest);
    }
    for (number, x) in x.iter().enumerate() {
        for line in 0..L {
            let round = rounds[line].get(number).unwrap_or(&last[line]);
            prefetch(round, PREFETCH, size_of::<T>() * W * V);
            add::<T, V, W, N>(&mut sums[line], round, x);
        }
    }
    sums.map(|mut lanes| {
        let mut distance = W / 2;
        while distance > 0 {
            (0..distance).for_each(|lane| lanes[lane] = lanes[lane] + lanes[lane + distance]);
            distance /= 2;
        }
        lanes[0]
    })
}

/// Bytes that are asked for ahead: a core read 4096² `f32` from memory at 37 GB/s, with 4096 or 8192 bytes at 34, with
/// none at 20.
const PREFETCH: isize = 6144;

/// Adds a round's products to the lanes' chains.
#[inline(always)]
fn add<T: Element, const V: usize, const W: usize, const N: usize>(
    sums: &mut [T::Sum; W],
    round: &[[T; V]; W],
    x: &[[T::Sum; W]; V],
) {
    if V > 4 {
        // Three stages are more than what the compiler makes of this.
        for j in 0..V {
            for lane in 0..W {
                sums[lane] = round[lane][j].widen().mul_add(x[j][lane], sums[lane]);
            }
        }
        return;
    }
    let elements = round.as_flattened();
    for number in 0..W / N {
        let columns = columns::<T, V, N>(elements, number);
        for j in 0..V {
            for lane in 0..N {
                let sum = &mut sums[number * N + lane];
                *sum = columns[j][lane].mul_add(x[j][number * N + lane], *sum);
            }
        }
    }
}

/// The elements of some `N` of a round's lanes, of which each has `V` in a row: the first ones of all, then the second
/// ones.
#[inline(always)]
fn columns<T: Element, const V: usize, const N: usize>(round: &[T], number: usize) -> [[T::Sum; N]; V] {
    let mut columns = [[T::Sum::ZERO; N]; V];
    if V > 4 {
        // Three stages are more than what the compiler makes of this.
        for j in 0..V {
            for lane in 0..N {
                columns[j][lane] = round[(number * N + lane) * V + j].widen();
            }
        }
        return columns;
    }
    for vector in 0..V {
        for lane in 0..N {
            columns[vector][lane] = round[(number * V + vector) * N + lane].widen();
        }
    }
    // Of V elements a lane, in V vectors, every stage puts the even ones before the odd ones: after the last one
    // element of each lane is a vector.
    if N > 1 && V >= 2 {
        columns = sorted(&columns);
    }
    if N > 1 && V >= 4 {
        columns = sorted(&columns);
    }
    columns
}

/// The even elements of each pair of vectors, then the odd ones.
#[inline(always)]
fn sorted<S: Float, const V: usize, const N: usize>(vectors: &[[S; N]; V]) -> [[S; N]; V] {
    let mut sorted = [[S::ZERO; N]; V];
    for pair in 0..V / 2 {
        (sorted[pair], sorted[V / 2 + pair]) = halves(&vectors[2 * pair], &vectors[2 * pair + 1]);
    }
    sorted
}

/// The even elements of both, and the odd ones.
#[inline(always)]
fn halves<S: Float, const N: usize>(a: &[S; N], b: &[S; N]) -> ([S; N], [S; N]) {
    let (mut even, mut odd) = ([S::ZERO; N], [S::ZERO; N]);
    for i in 0..N / 2 {
        (even[i], even[N / 2 + i]) = (a[2 * i], b[2 * i]);
        (odd[i], odd[N / 2 + i]) = (a[2 * i + 1], b[2 * i + 1]);
    }
    (even, odd)
}

/// The sums across the lines, of a strip of results and a piece.
struct Across<'a, T: Element, const V: usize> {
    a: &'a [T],
    layout: Layout,
    x: &'a [T],
    columns: core::ops::Range<usize>,
    /// Groups of lanes, each with a chain.
    chains: usize,
    width: usize,
    /// The first result.
    first: usize,
    sums: &'a mut [T::Sum],
}

impl<T: Element, const V: usize> Work for Across<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { a, layout, x, columns, chains, width, first, sums } = self;
        let len = sums.len();
        // Groups that have no line have sums of zero, which change none but in the sign of a zero, which does not last.
        let groups_with_lines = chains.min(columns.len().div_ceil(V));
        let mut groups = vec![T::Sum::ZERO; groups_with_lines * len];
        let line = |column: usize| &a[layout.index(first, column)..][..len];
        let whole = columns.len() / V;
        for vector in 0..whole {
            let column = columns.start + vector * V;
            let lines: [&[T]; V] = core::array::from_fn(|j| line(column + j));
            let x: [T::Sum; V] = core::array::from_fn(|j| x[column + j].widen());
            let sums = &mut groups[vector % chains * len..][..len];
            add_lines(lines, &x, sums, V * layout.leading_dimension());
        }
        for column in columns.start + whole * V..columns.end {
            let x = x[column].widen();
            let sums = &mut groups[whole % chains * len..][..len];
            for (sum, a) in sums.iter_mut().zip(line(column)) {
                *sum = a.widen().mul_add(x, *sum);
            }
        }
        // Groups of a warp are added at halved distances, then warps in their order.
        for (number, warp) in groups.chunks_mut(32 / width * len).enumerate() {
            let mut distance = 32 / width / 2 * len;
            while distance > 0 {
                let (near, far) = warp.split_at_mut(distance.min(warp.len()));
                near.iter_mut().zip(far).for_each(|(near, &mut far)| *near = *near + far);
                distance = distance / len / 2 * len;
            }
            let of_warp = sums.iter_mut().zip(&*warp);
            of_warp.for_each(|(sum, &warp)| *sum = if number == 0 { warp } else { *sum + warp });
        }
    }
}

/// Adds the products of `V` lines to the chains of a group. The lines `ahead` elements behind these are asked for
/// meanwhile: each is in pages of its own, where no processor looks ahead.
#[inline(always)]
fn add_lines<T: Element, const V: usize>(
    lines: [&[T]; V],
    x: &[T::Sum; V],
    sums: &mut [T::Sum],
    ahead: usize,
) {
    let whole: [&[[T; BETWEEN]]; V] = core::array::from_fn(|j| lines[j].as_chunks().0);
    let (blocks, rest) = sums.as_chunks_mut::<BETWEEN>();
    let first = blocks.len() * BETWEEN;
    for (number, sums) in blocks.iter_mut().enumerate() {
        let mut chains = *sums;
        for j in 0..V {
            let line = &whole[j][number];
            prefetch(line, (ahead * size_of::<T>()) as isize, size_of_val(line));
            for at in 0..BETWEEN {
                chains[at] = line[at].widen().mul_add(x[j], chains[at]);
            }
        }
        *sums = chains;
    }
    for (at, sum) in rest.iter_mut().enumerate() {
        for j in 0..V {
            *sum = lines[j][first + at].widen().mul_add(x[j], *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use gpu_std::half::{bf16, f16};

    fn check<T: Element + PartialEq + core::fmt::Debug>(of: fn(f32) -> T, factors: [T::Sum; 2]) {
        let shapes = [
            (1, 1),
            (1, 4096),
            (4096, 1),
            (7, 9),
            (3, 5000),
            (5000, 3),
            (33, 130),
            (130, 33),
            (257, 1031),
            (600, 700),
            (1, 200_000),
            (17, 70_000),
            (70_000, 5),
        ];
        for (rows, columns) in shapes {
            for gap in [0, 3] {
                for order in [Layout::row_major(rows, columns), Layout::column_major(rows, columns)] {
                    let layout = order.expect("it is small");
                    let layout =
                        layout.with_leading_dimension(layout.leading_dimension() + gap).expect("it is small");
                    let value = |at: usize| {
                        let hash = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        of(((hash >> 40) as f32 - 8e6) * 2f32.powi((hash >> 20 & 7) as i32 - 22))
                    };
                    let a: Vec<T> = (0..layout.span()).map(value).collect();
                    let x: Vec<T> = (0..columns).map(|at| value(at + 77)).collect();
                    let old: Vec<T> = (0..rows).map(|at| value(at + 777)).collect();
                    for alpha in [factors[0], T::Sum::ZERO] {
                        let (mut expected, mut actual) = (old.clone(), old.clone());
                        reference::gemv(alpha, &a, layout, &x, factors[1], &mut expected).expect("it fits");
                        gemv(alpha, &a, layout, &x, factors[1], &mut actual).expect("it fits");
                        assert!(actual == expected, "{layout:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_bits_are_the_references() {
        check::<f32>(|value| value, [0.5, -1.5]);
        check::<f64>(|value| f64::from(value) / 3.0, [0.5, -1.5]);
        check::<f16>(f16::from_f32, [0.5, -1.5]);
        check::<bf16>(bf16::from_f32, [0.5, -1.5]);
    }
}
