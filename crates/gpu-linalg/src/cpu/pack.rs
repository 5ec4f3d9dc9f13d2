//! Copies of blocks of matrices in the order in which tiles of registers read them: both factors of a product
//! (Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, ACM TOMS 34(3), 2008, section 4).

use core::ops::Range;

use gpu_core::vectors::prefetch;

use super::aligned::Aligned;
use super::lanes::{Registers, TURNED};
use super::panel::MOST_DEPTH;
use super::tile::MOST_LANES;
use crate::matrix::{Layout, Order};

/// Copies the columns of a block of a matrix to tiles of `n` columns, side by side and k after k, of which the last one
/// may have fewer, a multiple of `least`; what is beyond the last column is zero.
#[inline(always)]
pub(super) fn pack<T: Registers>(
    packed: &mut Aligned<T>,
    [n, least]: [usize; 2],
    matrix: (&[T], Layout),
    ks: Range<usize>,
    columns: Range<usize>,
) {
    // Tiles are read by registers, the last one beyond its end.
    let len = columns.len().next_multiple_of(n) * ks.len() + MOST_LANES;
    packed.grow(T::ZERO, len);
    let (whole, rest) = packed.split_at_mut(columns.len() / n * n * ks.len());
    let last = columns.end - columns.len() % n..columns.end;
    if whole.is_empty() {
        // Neither tiles nor their lines have a length then.
    } else if matrix.1.order() == Order::RowMajor {
        let (ks, columns) = (ks.clone(), columns.start..last.start);
        // The sizes of all tiles there are: what copies any number of elements took up to a tenth of the time of a
        // product.
        match n {
            4 => lines::<T, 4>(whole, matrix, ks, columns),
            8 => lines::<T, 8>(whole, matrix, ks, columns),
            12 => lines::<T, 12>(whole, matrix, ks, columns),
            24 => lines::<T, 24>(whole, matrix, ks, columns),
            48 => lines::<T, 48>(whole, matrix, ks, columns),
            n => unreachable!("tiles of {n} columns"),
        }
    } else {
        for (tile, packed) in whole.chunks_exact_mut(ks.len() * n).enumerate() {
            let first = columns.start + tile * n;
            turned(packed, n, matrix, ks.clone(), first..first + n);
        }
    }
    if !last.is_empty() {
        let n = last.len().next_multiple_of(least);
        part(rest, n, matrix, ks, last);
    }
}

/// One tile that is not full.
#[inline(always)]
fn part<T: Registers>(
    packed: &mut [T],
    n: usize,
    matrix: (&[T], Layout),
    ks: Range<usize>,
    columns: Range<usize>,
) {
    if matrix.1.order() == Order::ColumnMajor {
        return turned(packed, n, matrix, ks, columns);
    }
    for (k, packed) in ks.zip(packed.chunks_exact_mut(n)) {
        let line = &matrix.0[matrix.1.index(k, columns.start)..][..columns.len()];
        packed[..line.len()].copy_from_slice(line);
        packed[line.len()..].fill(T::ZERO);
    }
}

/// Full tiles of a row-major matrix, line after line: so that memory is read in its order. Of tiles of four columns
/// [`TURNED`] lines at a time, which are whole lines of a cache in each.
#[inline(always)]
fn lines<T: Registers, const N: usize>(
    packed: &mut [T],
    (matrix, layout): (&[T], Layout),
    ks: Range<usize>,
    columns: Range<usize>,
) {
    let depth = ks.len();
    let packed = packed.as_chunks_mut::<N>().0;
    let whole = if const { N == TURNED } { depth / TURNED * TURNED } else { 0 };
    for first in (0..whole).step_by(TURNED) {
        let mut of: [&[[T; N]]; TURNED] = [&[]; TURNED];
        for (line, of) in of.iter_mut().enumerate() {
            *of =
                matrix[layout.index(ks.start + first + line, columns.start)..][..columns.len()].as_chunks().0;
        }
        let [a, b, c, d] = of;
        for ((((a, b), c), d), tile) in a.iter().zip(b).zip(c).zip(d).zip(packed.chunks_exact_mut(depth)) {
            if let Some([to_a, to_b, to_c, to_d]) = tile[first..].first_chunk_mut::<TURNED>() {
                (*to_a, *to_b, *to_c, *to_d) = (*a, *b, *c, *d);
            }
        }
    }
    for number in whole..depth {
        let line = &matrix[layout.index(ks.start + number, columns.start)..][..columns.len()];
        for (line, tile) in line.as_chunks().0.iter().zip(packed.chunks_exact_mut(depth)) {
            tile[number] = *line;
        }
    }
}

/// A tile of a column-major matrix, which is turned.
#[inline(always)]
fn turned<T: Registers>(
    packed: &mut [T],
    n: usize,
    (matrix, layout): (&[T], Layout),
    ks: Range<usize>,
    columns: Range<usize>,
) {
    // Made only where a column is not there: of a few k it is more than what is packed.
    let zeros;
    let none: &[T] = if columns.len() < n {
        zeros = [T::ZERO; MOST_DEPTH];
        &zeros
    } else {
        &[]
    };
    let whole = ks.len() / TURNED * TURNED;
    assert!(n.is_multiple_of(TURNED), "tiles are whole blocks");
    // As far as those that are turned after these.
    let ahead = (TURNED * layout.leading_dimension() * size_of::<T>()) as isize;
    for first in (0..n).step_by(TURNED) {
        // No closure, which would be called, nor chunks, which would be counted for each block anew.
        let mut lines: [&[T]; TURNED] = [&[]; TURNED];
        for (line, to) in lines.iter_mut().enumerate() {
            let column = columns.start + first + line;
            *to = if column < columns.end {
                &matrix[layout.index(ks.start, column)..][..ks.len()]
            } else {
                &none[..ks.len()]
            };
        }
        let mut k = 0;
        while k < whole {
            let [a, b, c, d] = lines;
            let (a, b, c, d) = (&a[k..], &b[k..], &c[k..], &d[k..]);
            if let (Some(a), Some(b), Some(c), Some(d)) =
                (a.first_chunk(), b.first_chunk(), c.first_chunk(), d.first_chunk())
            {
                if (k * size_of::<T>()).is_multiple_of(64) {
                    prefetch(a, ahead, 1);
                    prefetch(b, ahead, 1);
                    prefetch(c, ahead, 1);
                    prefetch(d, ahead, 1);
                }
                T::turn([a, b, c, d], &mut packed[k * n + first..], n);
            }
            k += TURNED;
        }
        for k in whole..ks.len() {
            for line in 0..TURNED {
                packed[k * n + first + line] = lines[line][k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = MOST_DEPTH;

    /// The packed copy of a matrix whose elements are their row and column, element by element.
    fn check([n, least]: [usize; 2], ks: Range<usize>, columns: Range<usize>, order: Order) {
        let layout = Layout::new(order, ROWS, 70).expect("it is small");
        let layout = layout.with_leading_dimension(layout.leading_dimension() + 3).expect("it is small");
        let mut matrix = vec![f64::NAN; layout.span()];
        for row in 0..ROWS {
            for column in 0..70 {
                matrix[layout.index(row, column)] = (row * 100 + column) as f64;
            }
        }
        // What was there before does not show.
        let mut packed = Aligned::new(f64::NAN, 7);
        pack(&mut packed, [n, least], (&matrix, layout), ks.clone(), columns.clone());
        let mut values = packed.iter();
        let whole = columns.end - columns.len() % n; // of the last tile, if it has fewer
        for first in columns.clone().step_by(n) {
            let width = if first == whole { (columns.end - first).next_multiple_of(least) } else { n };
            for k in ks.clone() {
                for column in first..first + width {
                    let expected = if column < columns.end { (k * 100 + column) as f64 } else { 0.0 };
                    assert_eq!(
                        values.next().copied(),
                        Some(expected),
                        "{order:?}, {ks:?}, {columns:?}: {k}, {column}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_element_has_its_place() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for ks in [0..1, 3..11, 1..40, 5..5, 0..MOST_DEPTH] {
                for columns in [0..70, 3..3, 2..14, 1..18, 5..12, 0..33, 9..55] {
                    for n in [[4, 4], [8, 4], [12, 4], [12, 12], [24, 8], [48, 16]] {
                        check(n, ks.clone(), columns.clone(), order);
                    }
                }
            }
        }
    }
}
