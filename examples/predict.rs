//! How long a kernel would take on a GPU that is not here, what it is bound by, and what to change.
//!
//! `cargo run --release --example predict` runs the transpositions in the simulator and puts what it counts of them
//! into gpu_model::waves. `--kernel sum,blur/shared_5` does it for others, `--size` for other sizes, `--device` and
//! `--description` for other devices. A kernel of your own is a function, which no command line takes:
//! `examples/operator` has one in a crate of its own, and in `src/predict.rs` the 20 lines that predict it
//! (`--predict h200`); the documentation of `gpu_model::waves::simulated` has the least program, which launches it in
//! the simulator and makes two calls, `simulated::counts` of the simulator's report, and `predict`.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_examples::exit_code;
use gpu_examples::predicted::{Predicted, Subject};
use gpu_examples::table::Table;
use gpu_model::Device;
use gpu_model::literature::roofline::{LowerBound, Roofline};
use gpu_model::waves::{Bottleneck, Sequence};
use gpu_sim::metrics::Architecture;
use serde::Serialize;

/// Time, bottleneck and lower bound of kernels on a device, predicted from what the simulator counts of them
#[derive(Parser)]
#[command(after_help = OWN)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Which: `transpose`, `sum`, `scan`, `gemv`, `product` or `blur` for all of a kind, or names like
    /// `transpose/naive_32`
    #[arg(long, value_delimiter = ',', default_value = "transpose")]
    kernel: Vec<String>,
    /// Rows and columns, rows of a matrix that is multiplied with a vector, or elements of a sum or scan; the largest
    /// of the tables if not given: 4096 of transpositions and filters, 2048 of products, 20000 rows, 16777216 elements
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    size: Option<u64>,
    /// A device that gpu-model describes and that was measured for this model: h200 or h100
    #[arg(long, default_value = "h200", conflicts_with = "description")]
    device: String,
    /// A description of another device; Device::description in gpu-model gives one to start from
    #[arg(long, value_name = "FILE.toml", requires = "caches")]
    description: Option<PathBuf>,
    /// The device whose caches are simulated: p100, v100, t4, a100, h100 or h200; that of `--device` if not given
    #[arg(long)]
    caches: Option<String>,
    /// All data is in the second-level cache already, as after a launch on the same data
    #[arg(long)]
    cached: bool,
}

const OWN: &str = "\
A kernel of your own is predicted by a program of your own, with crates gpu-sim and gpu-model (feature simulator):
launch it with Simulator::new(simulated::config(Architecture::H200)), then
    predict(&Device::by_name(\"h200\")?, &simulated::counts(&report)?)?
examples/operator has a kernel of its own and predicts it so (src/predict.rs, --predict h200).
The documentation of gpu_model::waves::simulated has such a program, and how a sample of a large grid's blocks is counted.";

#[derive(Serialize)]
struct Line {
    kernel: String,
    size: usize,
    device: String,
    microseconds: f64,
    bottleneck: Bottleneck,
    advice: &'static str,
    bound_microseconds: f64,
    bound_by: String,
    launches: usize,
    /// Of the longest launch.
    occupancy: f64,
    waves: u64,
    last_wave: f64,
    latency_microseconds: f64,
    /// What each level takes, over all launches.
    levels: Vec<Level>,
    /// The size that was simulated, and by how many percent the time differs if counts are scaled from a smaller one.
    simulated_size: usize,
    scaling_error: f64,
}

#[derive(Serialize)]
struct Level {
    level: Bottleneck,
    microseconds: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.description {
        Some(file) => {
            let text =
                std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            Device::from_toml(&text).map_err(|error| format!("{}: {error}", file.display()))?
        }
        None => Device::by_name(&options.device)?,
    };
    let caches = options.caches.as_ref().unwrap_or(&options.device);
    let caches = Architecture::by_name(caches).ok_or_else(|| {
        let names = Architecture::ALL.map(|architecture| architecture.name).join(", ");
        format!("the caches of `{caches}` are not simulated; there are {names}: --caches chooses one")
    })?;
    // A device that was not measured is told before anything is simulated.
    device.waves()?;
    let mut subjects = Vec::new();
    for name in &options.kernel {
        subjects.extend(Subject::by_name(name)?);
    }
    let lines = subjects.into_iter().map(|subject| line(subject, options, &device, caches));
    let lines = lines.collect::<Result<Vec<Line>, _>>()?;
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
        return Ok(());
    }
    print(&device, &lines);
    Ok(())
}

fn line(
    subject: Subject,
    options: &Options,
    device: &Device,
    caches: Architecture,
) -> Result<Line, Box<dyn Error>> {
    let size = options.size.map_or(Ok(subject.usual_size()), usize::try_from)?;
    let counted = subject.count(size, caches)?;
    let Predicted { sequence, error } = counted.predict(device, options.cached)?;
    let Sequence { launches, time, bottleneck } = sequence;
    let longest = launches.iter().max_by(|one, other| one.time.0.total_cmp(&other.time.0));
    let longest = longest.ok_or("nothing is launched")?;
    let LowerBound { time: bound, limit } = Roofline::single(device).bound(&subject.demand(size))?;
    let mut levels: Vec<Level> = Vec::new();
    for (level, time) in launches.iter().flat_map(|launch| &launch.levels) {
        match levels.iter_mut().find(|one| one.level == *level) {
            Some(one) => one.microseconds += time.0 * 1e6,
            None => levels.push(Level { level: *level, microseconds: time.0 * 1e6 }),
        }
    }
    Ok(Line {
        kernel: subject.to_string(),
        size,
        device: device.name.clone(),
        microseconds: time.0 * 1e6,
        bottleneck,
        advice: bottleneck.advice(),
        bound_microseconds: bound.0 * 1e6,
        bound_by: limit.to_string(),
        launches: launches.len(),
        occupancy: longest.occupancy,
        waves: longest.waves,
        last_wave: longest.last_wave,
        latency_microseconds: longest.latency.0 * 1e6,
        levels,
        simulated_size: counted.simulated,
        scaling_error: 100.0 * error,
    })
}

fn print(device: &Device, lines: &[Line]) {
    println!("Predicted on a {}, a launch among many:\n", device.name);
    let mut table = Table::new([
        "kernel",
        "size",
        "µs",
        "bottleneck",
        "bound µs",
        "of the bound",
        "launches",
        "occupancy %",
        "waves",
        "last wave %",
        "scaled ± %",
    ]);
    for line in lines {
        table.row([
            line.kernel.clone(),
            line.size.to_string(),
            format!("{:.2}", line.microseconds),
            line.bottleneck.to_string(),
            format!("{:.2}", line.bound_microseconds),
            format!("{:.2}", line.microseconds / line.bound_microseconds),
            line.launches.to_string(),
            format!("{:.0}", 100.0 * line.occupancy),
            line.waves.to_string(),
            format!("{:.0}", 100.0 * line.last_wave),
            format!("{:.2}", line.scaling_error),
        ]);
    }
    println!("{table}");
    let bottlenecks: BTreeSet<String> =
        lines.iter().map(|line| format!("{}: {}", line.bottleneck, line.advice)).collect();
    println!("What to change, by bottleneck:\n");
    bottlenecks.iter().for_each(|one| println!("- {one}"));
    println!(
        "\nScaled ±: by how much the time differs if counts are scaled from a smaller simulation. The bound is what \n\
         any implementation has to read, write and compute, at the data sheet's peaks."
    );
}
