//! How far off predictions are.

use std::collections::BTreeMap;
use std::error::Error;

use gpu_model::Device;
use gpu_model::literature::counted::Model;
use gpu_model::waves::Counts;
use gpu_model::waves::tuning::rank;
use serde::Serialize;

use super::counter::Counter;
use super::recorded::{Kernel, Role};
use super::{Line, quantile};

/// Pairs of variants whose times differ by less are no matter of winning.
const DIFFERENT: f64 = 1.1;

/// Absolute errors in percent, of what was measured on a device.
#[derive(Serialize)]
pub struct Errors {
    pub device: String,
    pub rows: usize,
    pub median: f64,
    pub ninetieth: f64,
    /// Those of rows that were looked at only when the model was finished.
    pub held_out_rows: usize,
    pub held_out_median: f64,
    pub held_out_ninetieth: f64,
    pub roofline_median: f64,
    pub roofline_ninetieth: f64,
    /// Those of variants that were timed later, which are judged only, too.
    pub later_rows: usize,
    pub later_median: f64,
    pub later_ninetieth: f64,
    /// The same of shapes of programs of their own, family by family: rows, median, 90th percentile.
    pub shapes: BTreeMap<&'static str, (usize, f64, f64)>,
    /// All rows that were held out, by their names, as timed later, or as such shapes, but for those that came last.
    pub judged_rows: usize,
    pub judged_median: f64,
    pub judged_ninetieth: f64,
    /// Those that came last, batches by starts and what a seed drew of factors, updates, systems and sparse matrices;
    /// and all that were held out, these included.
    pub last_rows: usize,
    pub last_median: f64,
    pub last_ninetieth: f64,
    pub all_median: f64,
    pub all_ninetieth: f64,
    /// Median and 90th percentile.
    pub literature: BTreeMap<Model, [f64; 2]>,
    /// Pairs of variants of one family and size that differ by more than 10 %, and those of which the faster is found.
    pub pairs: usize,
    pub right: usize,
    /// The same, family by family.
    pub families: BTreeMap<String, [usize; 2]>,
    /// Sizes of which all variants were measured, and those of which the fastest is the one predicted.
    pub sizes: usize,
    pub fastest: usize,
    /// What is predicted to be the fastest of them.
    pub tuned: Vec<Tuned>,
    /// Rows without a time to compare with: they are predicted only.
    pub not_measured: usize,
    /// Rows with a time of kernels that have changed since, which does not count.
    pub outdated: usize,
    /// The kernel whose counting and prediction took longest, and how long, in seconds.
    pub slowest: String,
    pub slowest_seconds: f64,
}

/// A row of a tuning table.
#[derive(Serialize)]
pub struct Tuned {
    pub family: String,
    pub size: usize,
    /// The variant predicted as the fastest, and how much longer the second is predicted to take, in percent.
    pub predicted: String,
    pub lead: f64,
    /// The one that is.
    pub measured: String,
}

impl Errors {
    /// Those of the predictions for a device.
    ///
    /// # Errors
    /// Those of the simulator and of the model.
    pub fn of(device: &Device, counter: &mut Counter, lines: &[Line]) -> Result<Self, Box<dyn Error>> {
        let all = |role: Role| -> Vec<f64> {
            let lines = lines.iter().filter(|line| line.row.role == role);
            lines.filter_map(|line| line.error).map(f64::abs).collect()
        };
        let [mut ours, mut held_out, mut later] = [Role::Seen, Role::HeldOut, Role::Later].map(all);
        let (mut of_family, mut last) = (BTreeMap::<_, Vec<f64>>::new(), Vec::new());
        let mut judged: Vec<f64> = held_out.iter().chain(&later).copied().collect();
        for line in lines {
            if let (Kernel::Shape(shape), Some(error)) = (line.row.kernel, line.error) {
                of_family.entry(shape.family()).or_default().push(error.abs());
                let of = if shape.is_last() { &mut last } else { &mut judged };
                of.push(error.abs());
            }
        }
        let mut all_held_out = [judged.clone(), last.clone()].concat();
        let of_one = |(family, mut errors): (_, Vec<f64>)| {
            (family, (errors.len(), quantile(&mut errors, 0.5), quantile(&mut errors, 0.9)))
        };
        let shapes = of_family.into_iter().map(of_one).collect();
        let mut roofline: Vec<f64> =
            lines.iter().filter_map(|line| line.roofline_error).map(f64::abs).collect();
        let mut literature = BTreeMap::new();
        for model in Model::ALL {
            let off = |line: &Line| {
                let time = line.literature.get(&model)?;
                Some(100.0 * (time / line.measured_microseconds? - 1.0).abs())
            };
            let mut errors: Vec<f64> = lines.iter().filter_map(off).collect();
            literature.insert(model, [quantile(&mut errors, 0.5), quantile(&mut errors, 0.9)]);
        }
        let families = pairs(lines);
        let sum = |which: usize| families.values().map(|found| found[which]).sum();
        let (pairs, right) = (sum(0), sum(1));
        let tuned = tuned(device, counter, lines)?;
        let slowest =
            lines.iter().max_by(|one, other| one.prediction_seconds.total_cmp(&other.prediction_seconds));
        Ok(Self {
            device: device.name.clone(),
            rows: ours.len(),
            median: quantile(&mut ours, 0.5),
            ninetieth: quantile(&mut ours, 0.9),
            held_out_rows: held_out.len(),
            held_out_median: quantile(&mut held_out, 0.5),
            held_out_ninetieth: quantile(&mut held_out, 0.9),
            roofline_median: quantile(&mut roofline, 0.5),
            roofline_ninetieth: quantile(&mut roofline, 0.9),
            later_rows: later.len(),
            later_median: quantile(&mut later, 0.5),
            later_ninetieth: quantile(&mut later, 0.9),
            shapes,
            judged_rows: judged.len(),
            judged_median: quantile(&mut judged, 0.5),
            judged_ninetieth: quantile(&mut judged, 0.9),
            last_rows: last.len(),
            last_median: quantile(&mut last, 0.5),
            last_ninetieth: quantile(&mut last, 0.9),
            all_median: quantile(&mut all_held_out, 0.5),
            all_ninetieth: quantile(&mut all_held_out, 0.9),
            literature,
            pairs,
            right,
            families,
            sizes: tuned.len(),
            fastest: tuned.iter().filter(|row| row.predicted == row.measured).count(),
            tuned,
            outdated: lines.iter().filter(|line| line.outdated).count(),
            not_measured: lines.iter().filter(|line| line.measured_microseconds.is_none()).count(),
            slowest: slowest.map(|line| line.kernel.clone()).unwrap_or_default(),
            slowest_seconds: slowest.map_or(0.0, |line| line.prediction_seconds),
        })
    }
}

/// The rows of variants on one input, family by family.
fn by_family(lines: &[Line]) -> BTreeMap<String, Vec<&Line>> {
    let mut families = BTreeMap::<_, Vec<&Line>>::new();
    for line in lines.iter().filter(|line| line.row.repeated) {
        if let Kernel::Subject(subject) = line.row.kernel {
            families.entry(subject.family()).or_default().push(line);
        }
    }
    families
}

/// Pairs of variants of one size, on one input, that differ, and those of which the faster one is found.
fn pairs(lines: &[Line]) -> BTreeMap<String, [usize; 2]> {
    let of_family = |lines: Vec<&Line>| {
        let times =
            |line: &&Line| Some((line.size, line.measured_microseconds?, line.predicted_microseconds));
        let variants: Vec<(usize, f64, f64)> = lines.iter().filter_map(times).collect();
        let (mut pairs, mut right) = (0, 0);
        for (index, (size, measured, predicted)) in variants.iter().enumerate() {
            for (_, other, by_model) in variants[index + 1..].iter().filter(|(of, ..)| of == size) {
                let ratio = measured / other;
                if ratio.max(1.0 / ratio) > DIFFERENT {
                    pairs += 1;
                    let predicted = predicted / by_model;
                    right +=
                        usize::from((ratio > 1.0 && predicted > 1.0) || (ratio < 1.0 && predicted < 1.0));
                }
            }
        }
        [pairs, right]
    };
    by_family(lines).into_iter().map(|(family, lines)| (family, of_family(lines))).collect()
}

/// A tuning table of the variants that were measured on one input, with the fastest by that beside it.
fn tuned(device: &Device, counter: &mut Counter, lines: &[Line]) -> Result<Vec<Tuned>, Box<dyn Error>> {
    let l2 = counter.l2();
    let mut all = Vec::new();
    for (family, lines) in by_family(lines) {
        let (mut sizes, mut variants) = (Vec::new(), Vec::new());
        for line in &lines {
            sizes.push(line.size);
            match line.row.kernel {
                Kernel::Subject(subject) if !variants.contains(&subject) => variants.push(subject),
                _ => {}
            }
        }
        // One alone wins nothing.
        if variants.len() < 2 {
            continue;
        }
        sizes.sort_unstable();
        sizes.dedup();
        let table = rank(device, sizes, &variants, |&size, &subject| -> Result<_, Box<dyn Error>> {
            let found = counter.found(Kernel::Subject(subject), size)?;
            let launches = found.counted.launches.iter().cloned();
            let cached = found.is_kept(l2);
            Ok(if cached { launches.map(Counts::cached).collect() } else { launches.collect() })
        })?;
        let time = |line: &Line| line.measured_microseconds.unwrap_or(f64::INFINITY);
        all.extend(table.iter().map(|ranking| {
            let of_size = lines.iter().filter(|line| line.size == ranking.size);
            let measured = of_size.min_by(|one, other| time(one).total_cmp(&time(other)));
            Tuned {
                family: family.clone(),
                size: ranking.size,
                predicted: ranking.best().to_string(),
                lead: 100.0 * ranking.lead(),
                measured: measured.map(|line| line.kernel.clone()).unwrap_or_default(),
            }
        }));
    }
    Ok(all)
}
