//! Hourly temperatures with gaps: the gaps are filled, then mean, variance and heating degrees taken, of all, of each
//! week, of each station's stretches, of days and of hours of the day, with operators that are this project's own, and
//! where gaps begin, with a kernel of its own (`kernels/`). `--predict h200` says what that kernel takes on a GPU that
//! is not here, and what it is bound by (`predict.rs`).
//!
//! Everything is checked against a serial computation (`check.rs`).

mod check;
mod compute;
mod gaps;
mod predict;
mod series;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::Device;

use check::check;
use compute::{OfTemperatures, compute};
use series::Series;

/// Fill the gaps of a series of hourly temperatures, and take its mean, variance and heating degrees, of all of it
/// and of parts, with operators of one's own.
#[derive(Parser)]
struct Arguments {
    /// How many temperatures
    #[arg(default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    len: u32,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it, what GPU_DEVICE names, else the best there is
    #[arg(long)]
    device: Option<String>,
    /// Say how long the project's own kernel takes for these temperatures on this device, `h200` or `h100`, and stop
    #[arg(long, value_name = "DEVICE", conflicts_with = "device")]
    predict: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
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
    if let Some(name) = &arguments.predict {
        return predicted(name, arguments);
    }
    let device = match &arguments.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let series = Series::new(arguments.len as usize);
    let results = compute(&device, &series)?;
    check(&series, &results)?;
    let missing = |values: &[f32]| values.iter().filter(|value| value.is_nan()).count();
    let (len, gaps) = (series.measured.len(), missing(&series.measured));
    let left = [missing(&results.within_stretches), missing(&results.within_hours)];
    let [mean, variance, _] = results.moments;
    let coldest_week = results.weeks.iter().copied().fold(0.0, f64::max);
    let rows = [
        ("stretches of one station", "reduce_by_key", range(&results.stretches)),
        ("days, the matrix's rows", "reduce_axis", range(&results.days)),
        ("hours, its columns", "reduce_axis", range(&results.hours)),
    ];
    if arguments.json {
        let report = serde_json::json!({
            "device": device.name(), "why": device.why(), "len": len, "missing": gaps, "gaps": results.gaps.len(),
            "mean": mean, "variance": variance, "heating_degrees": results.degrees,
            "weeks": results.weeks.len(), "heating_degrees_of_the_coldest_week": coldest_week,
            "missing_within_stretches": left[0], "missing_within_hours": left[1],
            "means": rows.map(|(of, _, (count, low, high))| {
                serde_json::json!({ "of": of, "count": count, "lowest": low, "highest": high })
            }),
            "checked": true,
        });
        println!("{report:#}");
        return Ok(());
    }
    println!("{len} temperatures, {gaps} of them missing, on {device} ({})", device.why());
    println!("{} gaps (a kernel composed of collectives)", results.gaps.len());
    println!("mean {mean:.6}, variance {variance:.6}, {} heating degrees", results.degrees);
    println!("{} weeks, of {coldest_week} heating degrees at most (reduce_segments)", results.weeks.len());
    println!(
        "{} are missing still where a station's own values alone fill its gaps (scan_segments),",
        left[0]
    );
    println!("{} where only those of the same hour of the day do (scan_axis)", left[1]);
    println!("\n{:<26} {:<14} {:>9} {:>12} {:>12}", "means of", "by", "number", "lowest", "highest");
    for (of, by, (count, low, high)) in rows {
        println!("{of:<26} {by:<14} {count:>9} {low:>12.6} {high:>12.6}");
    }
    println!("\nAll as computed serially.");
    Ok(())
}

/// Says what gap_begins takes on a device.
fn predicted(name: &str, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let series = Series::new(arguments.len as usize);
    let found = predict::gaps(name, &series.measured)?;
    let [time, bound] = [found.time, found.bound.time].map(|time| time.0 * 1e6);
    let (bottleneck, advice) = (found.bottleneck.to_string(), found.bottleneck.advice());
    if arguments.json {
        let report = serde_json::json!({
            "kernel": "gap_begins", "device": name, "len": arguments.len, "microseconds": time,
            "bottleneck": bottleneck, "advice": advice, "bound_microseconds": bound,
        });
        println!("{report:#}");
        return Ok(());
    }
    println!("gap_begins of {} temperatures on {name}: {time:.2} µs, by {bottleneck}: {advice}", arguments.len);
    println!("No implementation is faster than {bound:.2} µs.");
    Ok(())
}

/// How many there are, and the lowest and the highest of their means; 0 of none.
fn range(moments: &[OfTemperatures]) -> (usize, f64, f64) {
    let means = || moments.iter().map(|[mean, ..]| *mean);
    let (low, high) = (means().reduce(f64::min), means().reduce(f64::max));
    (moments.len(), low.unwrap_or(0.0), high.unwrap_or(0.0))
}
