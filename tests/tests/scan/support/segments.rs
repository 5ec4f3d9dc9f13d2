//! Segments for the tests of their scans, and the oracle.

use super::scan::{Sample, random};

/// Segments of about `mean` elements.
pub fn starts_of(seed: u64, len: usize, mean: u64) -> Vec<bool> {
    (0..len).map(|i| random(seed, i).is_multiple_of(mean)).collect()
}

/// The oracle: a loop.
pub fn serial<T: Sample>(
    values: &[T],
    starts: &[bool],
    mode: (bool, bool),
    initial: T,
    combine: impl Fn(T::Oracle, T::Oracle) -> T::Oracle,
) -> Vec<T> {
    let step = |before, value: T| combine(before, value.oracle());
    serial_wide(values, starts, mode, initial.oracle(), step).into_iter().map(T::round).collect()
}

/// The same where results have another type than elements.
pub fn serial_wide<T: Copy, A: Copy>(
    values: &[T],
    starts: &[bool],
    (exclusive, reverse): (bool, bool),
    initial: A,
    step: impl Fn(A, T) -> A,
) -> Vec<A> {
    let len = values.len();
    let mut results = vec![initial; len];
    let mut running = initial;
    for place in 0..len {
        let at = if reverse { len - 1 - place } else { place };
        let begins = if reverse { at + 1 == len || starts[at + 1] } else { at == 0 || starts[at] };
        let before = if begins { initial } else { running };
        running = step(before, values[at]);
        results[at] = if exclusive { before } else { running };
    }
    results
}
