//! A month of temperatures with gaps: the gaps are filled, then mean, variance and heating degrees taken, with operators that are
//! this project's own (`kernels/`).
//!
//! Everything is checked against a serial computation: filled values and degrees exactly, mean and variance within the
//! error bound of the algorithm.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::Device;
use gpu_reduce::kernels::{Mapped, Sum, THREADS};
use gpu_reduce::{Plan, reduce};
use gpu_scan::{Options, scan};
use operator_kernels::{BASE, HeatingDegrees, LastKnown, Moments};

/// Fill the gaps of a series of temperatures, and take its mean, variance and heating degrees, with operators of one's own.
#[derive(Parser)]
struct Arguments {
    /// How many temperatures
    #[arg(default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    len: u32,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it, what GPU_DEVICE names, else the best there is
    #[arg(long)]
    device: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the program computes.
struct Results {
    filled: Vec<f32>,
    mean: f64,
    variance: f64,
    degrees: f64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let device = match &arguments.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let measured = measurements(arguments.len as usize);
    let results = compute(&device, &measured)?;
    check(&measured, &results)?;
    let missing = measured.iter().filter(|value| value.is_nan()).count();
    let Results { mean, variance, degrees, .. } = results;
    if arguments.json {
        let report = serde_json::json!({
            "device": device.name(), "why": device.why(), "len": measured.len(), "missing": missing,
            "mean": mean, "variance": variance, "heating_degrees": degrees, "checked": true,
        });
        println!("{report:#}");
    } else {
        println!(
            "{} temperatures, {missing} of them missing, on {device} ({})",
            measured.len(),
            device.why()
        );
        println!("mean {mean:.6}, variance {variance:.6}, {degrees} heating degrees: as computed serially");
    }
    Ok(())
}

/// Temperatures in quarters of a degree, from -20 to 43.75, each fifth of them missing; the first is there.
fn measurements(len: usize) -> Vec<f32> {
    let quarters = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 24;
    let value = |i: usize| if i % 5 == 3 { f32::NAN } else { quarters(i) as f32 / 4.0 - 20.0 };
    (0..len).map(value).collect()
}

/// On the device, with the operators of `operator_kernels`.
fn compute(device: &Device, measured: &[f32]) -> Result<Results, Box<dyn Error>> {
    let filled = scan::<LastKnown>(&device.upload(measured)?, Options::inclusive())?;
    let [mean, variance, _] = reduce::<Moments, 3>(filled.view())?;
    let [degrees] = reduce::<Mapped<HeatingDegrees, Sum<f64>>, 1>(filled.view())?;
    Ok(Results { filled: filled.to_vec()?, mean, variance, degrees })
}

/// One element after the other, on the host.
fn check(measured: &[f32], results: &Results) -> Result<(), String> {
    let mut last = f32::NAN;
    for (index, (&measured, &filled)) in measured.iter().zip(&results.filled).enumerate() {
        last = if measured.is_nan() { last } else { measured };
        if filled != last {
            return Err(format!("temperature {index} was filled with {filled}, not {last}"));
        }
    }
    // Sums of quarters and of their squares, in sixteenths, are exact in integers.
    let quarters = || results.filled.iter().map(|&value| (value * 4.0) as i128);
    let (count, sum) = (results.filled.len() as i128, quarters().sum::<i128>());
    let squares = quarters().map(|value| value * value).sum::<i128>();
    let mean = sum as f64 / (4 * count) as f64;
    let variance = (count * squares - sum * sum) as f64 / (16 * count * count) as f64;
    let base = (BASE * 4.0) as i128;
    let degrees = quarters().map(|value| (base - value).max(0)).sum::<i128>() as f64 / 4.0;
    if results.degrees != degrees {
        return Err(format!("{} heating degrees, not {degrees}", results.degrees));
    }
    // An element passes through `depth` updates, of at most ten roundings each. By Chan, Golub and LeVeque (1983, table 1) the
    // relative error of the variance is that many times u·κ, κ being the root of Σx² / Σ(x - mean)²; the mean, a convex
    // combination in every update, is as far off at most, relative to the largest magnitude.
    let plan = Plan::new::<Moments>(results.filled.len());
    let taken = plan.elements_per_block() / u64::from(4 * THREADS) + 4;
    let depth = taken + 2 + 5 + 3 + u64::from(plan.blocks.div_ceil(THREADS)) + 8;
    let unit = f64::EPSILON / 2.0;
    let condition =
        if variance > 0.0 { (squares as f64 / 16.0 / count as f64 / variance).sqrt() } else { 1.0 };
    let of_variance = 10.0 * depth as f64 * unit * condition * variance;
    let of_mean = 10.0 * depth as f64 * unit * 43.75;
    for (what, actual, expected, bound) in
        [("mean", results.mean, mean, of_mean), ("variance", results.variance, variance, of_variance)]
    {
        let error = (actual - expected).abs();
        // Not `error > bound`, which a NaN is not.
        if error.is_nan() || error > bound {
            return Err(format!("the {what} is {actual}, not {expected} ± {bound:e}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths are those of several tiles, with and without a rest.
    #[test]
    fn every_device_gives_the_same_bits() {
        for len in [1, 2, 5, 4096, 6145, 100_003] {
            let measured = measurements(len);
            let on_cpu = compute(&Device::cpu(), &measured).unwrap();
            check(&measured, &on_cpu).unwrap();
            let simulated = compute(&Device::simulator(), &measured).unwrap();
            let bits =
                |results: &Results| [results.mean, results.variance, results.degrees].map(f64::to_bits);
            assert_eq!(bits(&on_cpu), bits(&simulated), "{len}");
            assert_eq!(on_cpu.filled, simulated.filled, "{len}");
        }
    }

    #[test]
    fn a_wrong_result_is_found() {
        let measured = measurements(1000);
        let right = || compute(&Device::cpu(), &measured).unwrap();
        assert!(
            check(&measured, &Results { mean: right().mean + 1e-9, ..right() }).unwrap_err().contains("mean")
        );
        let variance = right().variance * (1.0 + 1e-9);
        assert!(check(&measured, &Results { variance, ..right() }).unwrap_err().contains("variance"));
        let degrees = right().degrees + 0.25;
        assert!(check(&measured, &Results { degrees, ..right() }).unwrap_err().contains("degrees"));
        let mut filled = right().filled;
        filled[3] += 0.25;
        assert!(check(&measured, &Results { filled, ..right() }).unwrap_err().contains("temperature 3"));
    }

    #[test]
    fn the_moments_of_nothing_do_not_exist() {
        let empty = Device::simulator().upload::<f32>(&[]).unwrap();
        let error = reduce::<Moments, 3>(empty.view()).unwrap_err();
        assert!(matches!(error, gpu_reduce::Error::Empty { reduction: "moments" }), "{error}");
    }
}
