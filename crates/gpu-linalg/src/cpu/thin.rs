//! Products of one row with a row-major matrix, or of a column-major matrix with one column: nothing is packed, as
//! every element is read once. The bits are those of [`reference::gemm`](crate::reference::gemm).

use gpu_core::cores;
use gpu_core::vectors::{Work, run};
use gpu_std::float::Float;

use crate::matrix::{Layout, Order};
use crate::plan::gemm::Split;
use crate::reference::finish;

/// Results whose sums are in the nearest cache while lines are read, at most.
const STRIP: usize = 2048;
/// Lines that are added at once.
const LINES: usize = 4;
/// Products of a matrix of fewer elements are not worth a second thread.
const SERIAL: usize = 40_000;

/// Computes C, of `m` × `n` elements and with the given distance from one row to the next, if it is such a product,
/// and says whether it was.
pub(super) fn product<T: Float>(
    (a, of_a): (&[T], Layout),
    (b, of_b): (&[T], Layout),
    [m, n, depth]: [usize; 3],
    split: Split,
    (alpha, beta): (T, T),
    (c, leading): (&mut [T], usize),
) -> bool {
    let (lines, layout, factors): (_, _, Vec<T>) = if m == 1 && of_b.order() == Order::RowMajor {
        (b, of_b, (0..depth).map(|k| a[of_a.index(0, k)]).collect())
    } else if n == 1 && of_a.order() == Order::ColumnMajor {
        (a, of_a, (0..depth).map(|k| b[of_b.index(k, 0)]).collect())
    } else {
        return false;
    };
    let (lines, step) = ((lines, layout.leading_dimension()), if m == 1 { 1 } else { leading });
    let results = m.max(n);
    let mut sums = vec![T::ZERO; results];
    let threads = if results * depth < SERIAL { 1 } else { cores::count() };
    let strip = results.div_ceil(threads).next_multiple_of(64).min(STRIP);
    let part = |first: usize, sums: &mut [T]| run(Strip { lines, factors: &factors, split, first, sums });
    if threads == 1 {
        sums.chunks_mut(strip).enumerate().for_each(|(number, sums)| part(number * strip, sums));
    } else {
        cores::chunks(&mut sums, strip, 1, |number, sums| part(number * strip, sums));
    }
    for (c, sum) in c.iter_mut().step_by(step).zip(sums) {
        *c = finish(alpha, sum, beta, || *c);
    }
    true
}

/// Some results.
struct Strip<'a, T> {
    /// And from one to the next.
    lines: (&'a [T], usize),
    factors: &'a [T],
    split: Split,
    first: usize,
    sums: &'a mut [T],
}

impl<T: Float> Work for Strip<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { lines: (lines, leading), factors, split, first, sums } = self;
        let line = |k: usize| &lines[k * leading + first..][..sums.len()];
        let mut chains = vec![T::ZERO; sums.len()];
        let mut totals = vec![T::ZERO; sums.len()];
        for part in split.ranges(factors.len()) {
            chains.fill(T::ZERO);
            let whole = part.len() / LINES * LINES + part.start;
            for k in (part.start..whole).step_by(LINES) {
                let lines: [&[T]; LINES] = core::array::from_fn(|j| line(k + j));
                let factors: [T; LINES] = core::array::from_fn(|j| factors[k + j]);
                for (at, chain) in chains.iter_mut().enumerate() {
                    for j in 0..LINES {
                        *chain = factors[j].mul_add(lines[j][at], *chain);
                    }
                }
            }
            for (k, &factor) in (whole..part.end).zip(&factors[whole..part.end]) {
                chains.iter_mut().zip(line(k)).for_each(|(chain, &a)| *chain = factor.mul_add(a, *chain));
            }
            totals.iter_mut().zip(&chains).for_each(|(total, &part)| *total = *total + part);
        }
        sums.copy_from_slice(&totals);
    }
}
