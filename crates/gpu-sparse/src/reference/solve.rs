//! Triangles: levels, ordered rows, systems. Rows come in the order in which they can be solved, one after the other.

use gpu_sparse_kernels::order::{CLASSES, class, lanes};
use gpu_sparse_kernels::{Scalar, THREADS};
use rayon::prelude::*;

use crate::api::{Diagonal, Side};
use crate::plan::solve::Profile;

/// The entries of a row beside the diagonal, from the far side towards it.
fn beside<'a>(
    offsets: &[u32],
    indices: &'a [u32],
    row: usize,
    side: Side,
) -> impl Iterator<Item = usize> + use<'a> {
    let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
    let entries = (0..end - start).map(move |k| if side == Side::Upper { end - 1 - k } else { start + k });
    entries.filter(move |&entry| indices[entry] as usize != row)
}

/// The rows in the order in which they can be solved.
fn in_order(rows: usize, side: Side) -> impl Iterator<Item = usize> {
    (0..rows).map(move |number| if side == Side::Upper { rows - 1 - number } else { number })
}

/// The levels of a triangle's rows, from 1 on.
///
/// ```
/// use gpu_sparse::{Side, reference::levels};
/// assert_eq!(levels(&[0, 1, 3, 4], &[0, 0, 1, 2], Side::Lower), [1, 2, 1]);
/// ```
pub fn levels(offsets: &[u32], indices: &[u32], side: Side) -> Vec<u32> {
    let mut levels = vec![0; offsets.len() - 1];
    for row in in_order(levels.len(), side) {
        let highest = beside(offsets, indices, row, side).map(|entry| levels[indices[entry] as usize]).max();
        levels[row] = 1 + highest.unwrap_or(0);
    }
    levels
}

/// What the choice of a solver rests on, but for the number of levels, which is 0.
///
/// ```
/// use gpu_sparse::{Side, reference::profile};
/// let profile = profile(&[0, 1, 3, 4], &[0, 0, 1, 2], Side::Lower);
/// assert_eq!((profile.rows, profile.longest, profile.near), (3, 1, 1));
/// ```
pub fn profile(offsets: &[u32], indices: &[u32], side: Side) -> Profile {
    let rows = offsets.len() - 1;
    let number = |row: usize| if side == Side::Upper { rows - 1 - row } else { row };
    let block = |row: usize| number(row) / THREADS as usize;
    let farthest = |row: usize| {
        let first = beside(offsets, indices, row, side).next();
        first.map_or(0, |entry| row.abs_diff(indices[entry] as usize) as u32)
    };
    let stride = if rows > 0 { farthest(number(rows - 1)) } else { 0 };
    // Lines of a grid begin without the row before.
    let is_linked = (stride as usize) < rows && {
        let nearest = beside(offsets, indices, number(stride as usize), side).last();
        nearest.is_some_and(|entry| number(indices[entry] as usize) + 1 == stride as usize)
    };
    let of_row = |row: usize| {
        let entries: Vec<usize> = beside(offsets, indices, row, side).collect();
        let is_near = entries.last().is_some_and(|&entry| block(indices[entry] as usize) == block(row));
        let is_aligned = !is_linked && !entries.is_empty() && farthest(row) == stride;
        let len = entries.len() as u32;
        (len, [u32::from(is_near), u32::from(is_aligned), offsets[row + 1] - offsets[row] - len])
    };
    let add = |a: (u32, [u32; 3]), b: (u32, [u32; 3])| {
        (a.0.max(b.0), std::array::from_fn(|number| a.1[number] + b.1[number]))
    };
    let (longest, [near, aligned, stored]) =
        (0..rows).into_par_iter().map(of_row).reduce(Default::default, add);
    Profile { rows: rows as u32, levels: 0, longest, near, stride, aligned, stored }
}

/// Rows that are ordered by level and size class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowGroups {
    /// The rows.
    pub rows: Vec<u32>,
    /// Where each level's classes start, 7 a level, and where the last ends.
    pub starts: Vec<u32>,
    /// The warps before those of each, and all of them.
    pub warps: Vec<u32>,
}

/// The rows of a triangle ordered by their levels, of which there are so many, and inside a level by size class.
///
/// ```
/// use gpu_sparse::{Side, reference::order_rows};
/// let groups = order_rows(&[0, 1, 3, 4], &[0, 0, 1, 2], &[1, 2, 1], 2, Side::Lower);
/// assert_eq!(groups.rows, [0, 2, 1]);
/// assert_eq!((groups.starts[7], groups.warps[14]), (2, 2));
/// ```
pub fn order_rows(offsets: &[u32], indices: &[u32], levels: &[u32], count: u32, side: Side) -> RowGroups {
    let groups: Vec<u32> = levels
        .par_iter()
        .enumerate()
        .map(|(row, &level)| {
            CLASSES * (level - 1) + class(beside(offsets, indices, row, side).count() as u32)
        })
        .collect();
    let mut counts = vec![0; (CLASSES * count) as usize];
    groups.iter().for_each(|&group| counts[group as usize] += 1);
    let starts = sums(&counts);
    let warps: Vec<u32> = (0..)
        .zip(&counts)
        .map(|(group, count): (u32, &u32)| count.div_ceil(32 / lanes(group % CLASSES)))
        .collect();
    let (mut next, mut rows) = (starts.clone(), vec![0; groups.len()]);
    for (row, &group) in groups.iter().enumerate() {
        rows[next[group as usize] as usize] = row as u32;
        next[group as usize] += 1;
    }
    RowGroups { rows, starts, warps: sums(&warps) }
}

/// The sums of all before each, and of all.
pub(super) fn sums(counts: &[u32]) -> Vec<u32> {
    let mut sum = 0;
    let mut sums: Vec<u32> = Vec::with_capacity(counts.len() + 1);
    sums.push(0);
    sums.extend(counts.iter().map(|count| {
        sum += count;
        sum
    }));
    sums
}

/// The solution of `A · x = alpha · b`, A a triangle in these slices.
///
/// # Panics
/// Where they are none.
///
/// ```
/// use gpu_sparse::{Diagonal, Side, reference::solve};
/// let mut x = [f32::NAN; 2];
/// solve(&[0, 1, 3], &[0, 0, 1], &[2.0, 1.0, 4.0], Side::Lower, Diagonal::Stored, 1.0, &[2.0, 9.0], &mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
#[expect(clippy::too_many_arguments, reason = "those of the system")]
pub fn solve<T: Scalar>(
    offsets: &[u32],
    indices: &[u32],
    values: &[T],
    side: Side,
    diagonal: Diagonal,
    alpha: T,
    b: &[T],
    x: &mut [T],
) {
    for row in in_order(x.len(), side) {
        let mut sum = T::ZERO;
        for entry in beside(offsets, indices, row, side) {
            sum = values[entry].mul_add(x[indices[entry] as usize], sum);
        }
        let end = if side == Side::Upper { offsets[row] } else { offsets[row + 1].wrapping_sub(1) };
        let inverse = if diagonal == Diagonal::Unit { T::ONE } else { T::ONE / values[end as usize] };
        x[row] = (alpha * b[row] - sum) * inverse;
    }
}
