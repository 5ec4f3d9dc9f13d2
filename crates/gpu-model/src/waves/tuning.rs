//! Which of several variants is fastest, predicted: a tuning table without a device.

use super::{Counts, Sequence, sequence};
use crate::device::Device;
use crate::error::{Error, Result};

/// Variants of one size, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking<S, V> {
    /// The size.
    pub size: S,
    /// Each variant with what is predicted of its launches, the fastest first; those of the same time in the order in
    /// which they were given.
    pub variants: Vec<(V, Sequence)>,
}

impl<S, V> Ranking<S, V> {
    /// The fastest.
    pub fn best(&self) -> &V {
        &self.variants[0].0
    }

    /// How much longer the second takes, as a part of the fastest's time; infinite where there is no second. What is
    /// less than the model's error (see [`waves`](super)) decides nothing.
    pub fn lead(&self) -> f64 {
        let time = |(_, found): &(V, Sequence)| found.time.0;
        self.variants.get(1).map_or(f64::INFINITY, |second| time(second) / time(&self.variants[0]) - 1.0)
    }
}

/// The variants of each size, the fastest first. `count` gives the launches of a variant of a size, as the simulator
/// counts them or by hand.
///
/// # Errors
/// Those of `count` and of [`predict`](super::predict); no variant.
///
/// ```
/// use gpu_model::waves::tuning::rank;
/// use gpu_model::waves::{Counts, Waits};
/// use gpu_model::{Device, Error, units::Bytes};
/// // A copy of n floats, one a thread, by blocks of 64 or of 512 threads.
/// let count = |&len: &u64, &threads: &u32| -> Result<_, Error> {
///     let (bytes, lines) = (Bytes(4.0 * len as f64), len as f64 / 32.0);
///     let mut counts = Counts::empty("copy", len.div_ceil(threads.into()), threads);
///     (counts.lines, counts.lines_written, counts.l2_read) = (2.0 * lines, lines, bytes);
///     (counts.memory_read, counts.memory_written, counts.waits.memory) = (bytes, bytes, 1.0);
///     Ok(vec![counts])
/// };
/// let table = rank(&Device::by_name("h200")?, [1 << 10, 1 << 24], &[64, 512], count)?;
/// // Of few elements the launch is all; of many, small blocks do not start fast enough.
/// assert!(table[0].lead() < 0.01);
/// assert_eq!((table[1].best(), table[1].lead() > 0.5), (&512, true));
/// # Ok::<(), Error>(())
/// ```
pub fn rank<S, V: Clone, E: From<Error>>(
    device: &Device,
    sizes: impl IntoIterator<Item = S>,
    variants: &[V],
    mut count: impl FnMut(&S, &V) -> core::result::Result<Vec<Counts>, E>,
) -> core::result::Result<Vec<Ranking<S, V>>, E> {
    let some = |found: usize| -> Result<()> {
        if found > 0 { Ok(()) } else { Err(Error::NotPositive { field: "variants", value: 0.0 }) }
    };
    some(variants.len())?;
    let mut table = Vec::new();
    for size in sizes {
        let mut ranked = Vec::new();
        for variant in variants {
            ranked.push((variant.clone(), sequence(device, &count(&size, variant)?)?));
        }
        ranked.sort_by(|one, other| one.1.time.0.total_cmp(&other.1.time.0));
        table.push(Ranking { size, variants: ranked });
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_comes_first() {
        let h200 = Device::by_name("h200").expect("it is described");
        let count = |&size: &u64, &lines: &f64| -> Result<Vec<Counts>> {
            Ok(vec![Counts { lines: lines * size as f64, ..Counts::empty("lines", size, 256) }])
        };
        let table = rank(&h200, [1, 1000], &[1e6, 10.0, 1e5], count).expect("they fit");
        let order: Vec<f64> = table[1].variants.iter().map(|(variant, _)| *variant).collect();
        assert_eq!(order, [10.0, 1e5, 1e6]);
        assert_eq!((table[1].size, table[1].best()), (1000, &10.0));
        let times: Vec<f64> = table[1].variants.iter().map(|(_, found)| found.time.0).collect();
        assert_eq!(table[1].lead(), times[1] / times[0] - 1.0);
        let alone = rank(&h200, [1], &[1.0], count).expect("it fits");
        assert_eq!(alone[0].lead(), f64::INFINITY);
    }

    #[test]
    fn what_cannot_be_ranked() {
        let h200 = Device::by_name("h200").expect("it is described");
        let none: [u32; 0] = [];
        let error = rank(&h200, [1], &none, |_, _| Ok::<_, Error>(Vec::new())).unwrap_err();
        assert_eq!(error, Error::NotPositive { field: "variants", value: 0.0 });
        assert!(rank(&h200, [1], &[1], |_, _| Err::<Vec<Counts>, _>(error.clone())).is_err());
    }
}
