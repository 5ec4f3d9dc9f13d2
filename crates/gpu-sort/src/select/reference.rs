//! The CPU's selections.

use gpu_core::cores;

/// Items that a core takes at once.
const PART: usize = 1 << 16;

/// Writes the items that are kept to `selected` and the others to `rejected`, each in their order; returns how many
/// are kept.
///
/// Two passes: the parts' counts say where each part writes.
pub(super) fn select<T: Copy + Send + Sync>(
    items: &[T],
    keeps: impl Fn(usize) -> bool + Sync,
    mut selected: &mut [T],
    rejected: Option<&mut [T]>,
) -> usize {
    let part = |number: usize| number * PART..((number + 1) * PART).min(items.len());
    let parts = items.len().div_ceil(PART);
    let counts: Vec<usize> =
        cores::collect(parts, |number| part(number).filter(|index| keeps(*index)).count());
    let is_partition = rejected.is_some();
    let mut rejected = rejected.unwrap_or_default();
    let mut outputs = Vec::with_capacity(parts);
    for (number, count) in counts.iter().enumerate() {
        let (kept, rest) = std::mem::take(&mut selected).split_at_mut(*count);
        selected = rest;
        let others = if is_partition { part(number).len() - count } else { 0 };
        let (left, rest) = std::mem::take(&mut rejected).split_at_mut(others);
        rejected = rest;
        outputs.push((kept, left));
    }
    cores::elements(&mut outputs, |number, (kept, left)| {
        let (mut kept, mut left) = (kept.iter_mut(), left.iter_mut());
        for index in part(number) {
            let place = if keeps(index) { kept.next() } else { left.next() };
            // The others have no place where only the kept ones are wanted.
            if let Some(place) = place {
                *place = items[index];
            }
        }
    });
    counts.iter().sum()
}
