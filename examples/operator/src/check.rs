//! The same, one element after the other, on the host.

use gpu_reduce::Plan;
use gpu_reduce::kernels::{GROUP, THREADS, slab};
use operator_kernels::{BASE, Moments};

use crate::compute::{OfTemperatures, Results};
use crate::series::{HOURS, Series};

/// Filled values, heating degrees and stations have to be exact, means and variances within the error bound of the
/// algorithm.
pub fn check(series: &Series, results: &Results) -> Result<(), String> {
    let (measured, filled) = (&series.measured, &results.filled);
    are_filled("temperature", 1, measured, filled, |_| false)?;
    let begins_gap = |hour: usize| measured[hour].is_nan() && (hour == 0 || !measured[hour - 1].is_nan());
    let gaps = (0..measured.len()).filter(|&hour| begins_gap(hour)).map(|hour| hour as u32);
    if !gaps.eq(results.gaps.iter().copied()) {
        return Err("gaps begin elsewhere".into());
    }
    are_moments("all hours", filled, depth(filled.len()), &results.moments)?;
    are_degrees("all hours", filled, results.degrees)?;

    same_number("weeks", series.weeks.len() - 1, results.weeks.len())?;
    for (number, (week, degrees)) in series.weeks.windows(2).zip(&results.weeks).enumerate() {
        are_degrees(&format!("week {number}"), &filled[week[0] as usize..week[1] as usize], *degrees)?;
    }

    let stretches: Vec<&[u16]> = series.stations.chunk_by(|a, b| a == b).collect();
    same_number("stretches", stretches.len(), results.stretches.len())?;
    if !stretches.iter().map(|stretch| stretch[0]).eq(results.stations.iter().copied()) {
        return Err(format!("the stretches' stations are {:?}", results.stations));
    }
    let mut rest = &filled[..];
    for (number, (stretch, moments)) in stretches.iter().zip(&results.stretches).enumerate() {
        let (own, others) = rest.split_at(stretch.len());
        are_moments(&format!("stretch {number}"), own, depth(own.len()), moments)?;
        rest = others;
    }
    let is_first = |hour: usize| series.stations[hour] != series.stations[hour - 1];
    are_filled("temperature of a stretch", 1, measured, &results.within_stretches, is_first)?;

    let days = filled.as_chunks::<HOURS>().0;
    same_number("days", days.len(), results.days.len())?;
    for (number, (day, moments)) in days.iter().zip(&results.days).enumerate() {
        are_moments(&format!("day {number}"), day, depth(HOURS), moments)?;
    }
    same_number("hours of the day", if days.is_empty() { 0 } else { HOURS }, results.hours.len())?;
    for (hour, moments) in results.hours.iter().enumerate() {
        let of_hour: Vec<f32> = days.iter().map(|day| day[hour]).collect();
        are_moments(&format!("hour {hour}"), &of_hour, depth_of_column(of_hour.len()), moments)?;
    }
    let of_days = &measured[..days.len() * HOURS];
    are_filled("temperature of an hour", HOURS, of_days, &results.within_hours, |_| false)
}

fn same_number(what: &str, expected: usize, actual: usize) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("{actual} {what}, not {expected}")) }
}

/// Whether gaps have the value so many hours before, but where something else begins.
fn are_filled(
    what: &str,
    distance: usize,
    measured: &[f32],
    filled: &[f32],
    is_first: impl Fn(usize) -> bool,
) -> Result<(), String> {
    same_number("filled values", measured.len(), filled.len())?;
    let mut expected = measured.to_vec();
    for (hour, &filled) in filled.iter().enumerate() {
        if expected[hour].is_nan() && hour >= distance && !is_first(hour) {
            expected[hour] = expected[hour - distance];
        }
        // No value is one that is not there.
        if filled != expected[hour] && !(filled.is_nan() && expected[hour].is_nan()) {
            return Err(format!("{what} {hour} was filled with {filled}, not {}", expected[hour]));
        }
    }
    Ok(())
}

/// Sums of quarters are exact in integers.
fn are_degrees(what: &str, filled: &[f32], actual: f64) -> Result<(), String> {
    let base = (BASE * 4.0) as i128;
    let quarters = filled.iter().map(|&value| (base - (value * 4.0) as i128).max(0));
    let expected = quarters.sum::<i128>() as f64 / 4.0;
    if actual == expected { Ok(()) } else { Err(format!("{what}: {actual} heating degrees, not {expected}")) }
}

/// An element passes through `depth` updates, of at most ten roundings each. By Chan, Golub and LeVeque (1983, table
/// 1) the relative error of the variance is that many times u·κ, κ being the root of Σx² / Σ(x - mean)²; the mean, a
/// convex combination in every update, is as far off at most, relative to the largest magnitude.
fn are_moments(what: &str, filled: &[f32], depth: u64, actual: &OfTemperatures) -> Result<(), String> {
    // Sums of quarters and of their squares, in sixteenths, are exact in integers.
    let quarters = || filled.iter().map(|&value| (value * 4.0) as i128);
    let (count, sum) = (filled.len() as i128, quarters().sum::<i128>());
    let squares = quarters().map(|value| value * value).sum::<i128>();
    let mean = sum as f64 / (4 * count) as f64;
    let variance = (count * squares - sum * sum) as f64 / (16 * count * count) as f64;
    let unit = f64::EPSILON / 2.0;
    let condition =
        if variance > 0.0 { (squares as f64 / 16.0 / count as f64 / variance).sqrt() } else { 1.0 };
    let of_variance = 10.0 * depth as f64 * unit * condition * variance;
    let of_mean = 10.0 * depth as f64 * unit * 43.75;
    let expected =
        [("mean", mean, of_mean), ("variance", variance, of_variance), ("count", count as f64, 0.0)];
    for ((name, expected, bound), actual) in expected.into_iter().zip(actual) {
        let error = (actual - expected).abs();
        // Not `error > bound`, which a NaN is not.
        if error.is_nan() || error > bound {
            return Err(format!("{what}: the {name} is {actual}, not {expected} ± {bound:e}"));
        }
    }
    Ok(())
}

/// The updates that an element passes through, at most, in so many elements reduced as a whole or as a segment.
fn depth(len: usize) -> u64 {
    let plan = Plan::new::<Moments>(len);
    let taken = plan.elements_per_block() / u64::from(4 * THREADS) + 4;
    taken + 2 + 5 + 3 + u64::from(plan.blocks.div_ceil(THREADS)) + 8
}

/// The same for a column of so many rows: those of a slab, and groups of slabs, groups of groups, ….
fn depth_of_column(rows: usize) -> u64 {
    let slab = u64::from(slab(rows as u64));
    let (mut depth, mut partials) = (slab, (rows as u64).div_ceil(slab));
    while partials > 1 {
        depth += u64::from(GROUP);
        partials = partials.div_ceil(u64::from(GROUP));
    }
    depth
}
