//! The steps of ordering a triangle's rows, each by itself, one row after the other.

use gpu_sparse_kernels::order::{CLASSES, class};

use crate::api::Side;

/// The group of each row, `7 (level - 1) + class`, and how many rows each group has.
///
/// ```
/// use gpu_sparse::{Side, reference::count_rows};
/// let (groups, counts) = count_rows(&[0, 1, 3, 4], &[0, 0, 1, 2], &[1, 2, 1], 2, Side::Lower);
/// assert_eq!(groups, [6, 7, 6]);
/// assert_eq!((counts[6], counts[7]), (2, 1));
/// ```
pub fn count_rows(
    offsets: &[u32],
    indices: &[u32],
    levels: &[u32],
    level_count: u32,
    side: Side,
) -> (Vec<u32>, Vec<u32>) {
    let mut counts = vec![0; (CLASSES * level_count) as usize];
    let mut groups = Vec::with_capacity(levels.len());
    for (row, &level) in levels.iter().enumerate() {
        let (start, end) = (offsets[row], offsets[row + 1]);
        let place = if side == Side::Upper { start } else { end.wrapping_sub(1) };
        let stored = start < end && indices[place as usize] == row as u32;
        let group = CLASSES * (level - 1) + class(end - start - u32::from(stored));
        counts[group as usize] += 1;
        groups.push(group);
    }
    (groups, counts)
}

/// The sums of all counts before each, and of all.
///
/// ```
/// assert_eq!(gpu_sparse::reference::starts_of(&[2, 0, 3]), [0, 2, 2, 5]);
/// ```
pub fn starts_of(counts: &[u32]) -> Vec<u32> {
    super::solve::sums(counts)
}

/// The rows in the order of their groups, ascending in each.
///
/// ```
/// assert_eq!(gpu_sparse::reference::place_rows(&[1, 0, 1], &[0, 1, 3]), [1, 0, 2]);
/// ```
pub fn place_rows(groups: &[u32], starts: &[u32]) -> Vec<u32> {
    let (mut next, mut rows) = (starts.to_vec(), vec![0; groups.len()]);
    for (row, &group) in groups.iter().enumerate() {
        let place = &mut next[group as usize];
        rows[*place as usize] = row as u32;
        *place += 1;
    }
    rows
}
