//! Counts of a launch from several smaller ones, where what it does is a polynomial of its size: factorisations, whose
//! work grows with the third power of their rows.

use super::counts::{Counts, Scaled, Waits};
use crate::error::{Error, Result, positive};

/// The counts of a launch of `size`, of so many `blocks`, from those of smaller ones, ascending by size.
///
/// Each amount and each wait follows the polynomial through all of them, and is no less than that of the largest one;
/// what the caches let through is the part of the sectors that it was there. `smaller` follows the polynomial through
/// all but the first, `error` is by what part the two differ in the amount where they differ most.
///
/// That is exact where loops are nested as in factorisations and sizes are multiples of their tiles. What depends on
/// how full caches are is not.
///
/// `last` and `chain` grow as the waits do.
///
/// # Errors
/// Fewer than two launches; sizes that are not positive and ascending; launches of different kernels.
///
/// ```
/// use gpu_model::waves::{Counts, extrapolate};
/// // n³ + 5 n of something.
/// let counts = |n: f64| Counts { sectors_read: n * n * n + 5.0 * n, ..Counts::empty("factor", 1, 256) };
/// let all = [1.0, 2.0, 3.0, 4.0].map(|n| (counts(n), n));
/// let found = extrapolate(&all, 10.0, 1)?;
/// assert!((found.counts.sectors_read - 1050.0).abs() < 1e-6);
/// # Ok::<(), gpu_model::Error>(())
/// ```
pub fn extrapolate(smaller: &[(Counts, f64)], size: f64, blocks: u64) -> Result<Scaled> {
    let [(first, _), rest @ ..] = smaller else {
        return Err(Error::NotPositive { field: "launches", value: 0.0 });
    };
    positive("launches beside the first", rest.len() as f64)?;
    for pair in smaller.windows(2) {
        let ((one, of_one), (other, of_other)) = (&pair[0], &pair[1]);
        positive("size", *of_one)?;
        positive("growth of the size", of_other - of_one)?;
        if one.kernel != other.kernel {
            return Err(Error::OtherKernel { one: first.kernel.clone(), other: other.kernel.clone() });
        }
    }
    let (mut counts, mut before) = (through(smaller, size), through(rest, size));
    let (mut error, mut worst) = (0.0, "");
    for ((field, value), (_, other)) in counts.amounts().into_iter().zip(before.amounts()) {
        let off = if *value > 0.0 { (*value - *other).abs() / *value } else { 0.0 };
        if off > error {
            (error, worst) = (off, field);
        }
    }
    (counts.blocks, before.blocks) = (blocks, blocks);
    Ok(Scaled { counts, smaller: before, error, worst })
}

/// The polynomial through these, at `size`.
fn through(launches: &[(Counts, f64)], size: f64) -> Counts {
    // Lagrange's weights.
    let weight = |at: f64| -> f64 {
        let others = launches.iter().filter(|(_, other)| *other != at);
        others.map(|(_, other)| (size - other) / (at - other)).product()
    };
    let weighted = launches.iter().map(|(counts, at)| (counts.clone(), weight(*at)));
    combined(&weighted.collect::<Vec<_>>())
}

/// The sum of launches of one kernel, each as often as its weight says, which may be negative: what a launch does that
/// has as many parts of each kind as that makes. No amount is less than the last one's; grid and blocks are its, and
/// what the caches let through is the part of the sectors that it was there. No launches do nothing.
///
/// ```
/// use gpu_model::waves::{Counts, combined};
/// let counts = |lines| Counts { lines, ..Counts::empty("factor", 1, 256) };
/// // One of 3 and 5 more is 8; twice the second less the first, 13.
/// assert_eq!(combined(&[(counts(3.0), -1.0), (counts(8.0), 2.0)]).lines, 13.0);
/// ```
#[must_use]
pub fn combined(launches: &[(Counts, f64)]) -> Counts {
    let Some((largest, _)) = launches.last() else { return Counts::empty("", 1, 1) };
    let mut found = largest.clone();
    let mut values = vec![0.0; found.amounts().len()];
    let mut steps = vec![0.0; found.path_mut().len()];
    for (counts, weight) in launches {
        let mut counts = counts.clone();
        values.iter_mut().zip(counts.amounts()).for_each(|(sum, (_, value))| *sum += weight * *value);
        steps.iter_mut().zip(counts.path_mut()).for_each(|(sum, value)| *sum += weight * *value);
    }
    found.amounts().into_iter().zip(values).for_each(|((_, value), sum)| *value = value.max(sum));
    found.path_mut().into_iter().zip(steps).for_each(|(value, sum)| *value = value.max(sum));
    // Where a load finds what it asks for, and in which turn, are the parts that they were: only all loads together are
    // a polynomial.
    let far = |waits: &Waits| waits.memory + waits.l2;
    if far(&largest.waits) > 0.0 {
        let all: f64 = launches.iter().map(|(counts, weight)| weight * far(&counts.waits)).sum();
        let more = (all / far(&largest.waits)).max(1.0);
        let Waits { memory, l2, turns, .. } = largest.waits;
        (found.waits.memory, found.waits.l2, found.waits.turns) = (memory * more, l2 * more, turns * more);
    }
    if largest.sectors_read > 0.0 {
        found.l2_read = largest.l2_read * (found.sectors_read / largest.sectors_read);
    }
    // Where bounds were met, no part is more than the whole.
    found.lines_written = found.lines_written.min(found.lines);
    found.wavefronts_without_conflicts = found.wavefronts_without_conflicts.min(found.wavefronts);
    found.waits.turns = found.waits.turns.min(found.waits.memory + found.waits.l2);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(n: f64) -> Counts {
        Counts {
            lines: n * n * n,
            lines_written: n * n,
            waits: Waits { shared: 3.0 * n + 1.0, memory: 2.0, ..Waits::default() },
            chain: n,
            ..Counts::empty("factor", 1, 256)
        }
    }

    #[test]
    fn nested_loops_grow_as_they_do() {
        let all = [2.0, 4.0, 6.0, 8.0].map(|n| (counts(n), n));
        let found = extrapolate(&all, 100.0, 7).expect("they grow");
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * other;
        assert!(near(found.counts.lines, 1e6) && near(found.counts.lines_written, 1e4));
        assert!(near(found.counts.waits.shared, 301.0) && near(found.counts.waits.memory, 2.0));
        assert!(near(found.counts.chain, 100.0));
        assert_eq!((found.counts.blocks, found.worst), (7, "lines"));
        // A parabola through three is too low by what the third power leaves over.
        assert!(found.smaller.lines < found.counts.lines && found.error > 0.5);
    }

    /// 10, 20 and 30 loads, of which memory has half, all and two thirds: of 100 two thirds.
    #[test]
    fn loads_grow_together() {
        let counts = |n: f64, memory: f64| Counts {
            waits: Waits { memory, l2: 10.0 * n - memory, turns: 3.0 * n, ..Waits::default() },
            ..counts(n)
        };
        let all = [(1.0, 5.0), (2.0, 20.0), (3.0, 20.0)].map(|(n, memory)| (counts(n, memory), n));
        let waits = extrapolate(&all, 10.0, 1).expect("they grow").counts.waits;
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(waits.memory, 200.0 / 3.0) && near(waits.l2, 100.0 / 3.0) && near(waits.turns, 30.0));
    }

    #[test]
    fn what_does_not_grow_is_refused() {
        let one = (counts(2.0), 2.0);
        assert!(extrapolate(&[], 3.0, 1).is_err());
        assert!(extrapolate(std::slice::from_ref(&one), 3.0, 1).is_err());
        assert!(extrapolate(&[one.clone(), one.clone()], 3.0, 1).is_err());
        let other = (Counts::empty("other", 1, 256), 4.0);
        assert!(matches!(extrapolate(&[one, other], 8.0, 1), Err(Error::OtherKernel { .. })));
    }
}
