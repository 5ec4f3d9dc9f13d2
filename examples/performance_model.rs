//! How well gpu_model::waves predicts what was measured, beside the roofline and the literature's models.
//!
//! `cargo run --release -p gpu-benches --example performance_model` takes what was timed on an H200 (benches/results):
//! textbook variants, and every case of the benchmarks; with `--device h100` on an H100. It counts each in the
//! simulator (examples/src/predicted.rs, performance_model/cases.rs; performance_model/shapes.rs of families that have
//! programs of their own), predicts its time, and prints how far off that
//! is; what was not measured there it predicts too, and says so; what cannot be predicted, with why, on standard error.
//! The model's numbers are from kernels of their own (example `calibrate`).
//!
//! With `--measure` it times what is asked for on the GPU at hand and sets the predictions beside that;
//! `--only-measure` prints the times alone, with `--json` as lines that benches/results takes, and with what launching
//! takes on the host: there it is predicted for that. Without a GPU both are errors. `--launches` says what each launch
//! takes. Copies are no kernels of ours, so they are not predicted; an order of axes that leaves all where they are is
//! one. `--coverage` says of each kernel of the workspace by which row it is predicted, or why by none; for kernels
//! that no program times there are calls of public functions (performance_model/calls.rs), which are predicted only.
//!
//! Of variants of one size it says how often the faster one of two is found, and which is predicted to be the fastest;
//! so it does of the kernels that `gemm` chooses between, at shapes of which an H100 has timed them all
//! (performance_model/tiles.rs).
//!
//! Its formulas were found with the transpositions, the sums of `f64` and half of the benchmarks' other cases in view,
//! of the H200; the sums of other types and the other half were held out (`recorded::is_held_out`, a rule that was
//! fixed before any of them was predicted), and are judged apart. So are variants timed later, by `--measure`. Of them
//! and of the H100 no row was looked at for these formulas; but how filters among the variants are counted was changed
//! with their times in view, and that loops wait in each turn with all rows. No number of the model is fitted to any
//! row. Families of programs of their own came last: their errors are a table of their own, and what was changed with
//! them in view stands in gpu-model's README. Batches by starts, and what a seed drew of factors, updates, systems and
//! sparse matrices, came after them and are judged apart. They and variants were timed again and again on one input, so
//! what fits into the second-level cache was there; the others on inputs in turn, which were not. What is predicted is
//! what their programs time, with what a call takes on its host by shapes in the same results that no row is of
//! (performance_model/timing.rs).

#[path = "performance_model/ahead.rs"]
mod ahead;
#[path = "performance_model/analyses.rs"]
mod analyses;
#[path = "performance_model/batched.rs"]
mod batched;
#[path = "performance_model/calls.rs"]
mod calls;
#[path = "performance_model/cases.rs"]
mod cases;
#[path = "performance_model/changed.rs"]
mod changed;
#[path = "performance_model/conversions.rs"]
mod conversions;
#[path = "performance_model/counter.rs"]
mod counter;
#[path = "performance_model/coverage.rs"]
mod coverage;
#[path = "performance_model/errors.rs"]
mod errors;
#[path = "performance_model/factor.rs"]
mod factor;
#[path = "performance_model/facts.rs"]
mod facts;
#[path = "performance_model/gathers.rs"]
mod gathers;
#[path = "performance_model/level3.rs"]
mod level3;
#[path = "performance_model/levels.rs"]
mod levels;
#[path = "performance_model/measure.rs"]
mod measure;
#[path = "performance_model/operations.rs"]
mod operations;
#[path = "performance_model/parts.rs"]
mod parts;
#[path = "performance_model/plot.rs"]
mod plot;
#[path = "performance_model/product.rs"]
mod product;
#[path = "performance_model/recorded.rs"]
mod recorded;
#[path = "performance_model/registers.rs"]
mod registers;
#[path = "performance_model/renewals.rs"]
mod renewals;
#[path = "performance_model/report.rs"]
mod report;
#[path = "performance_model/scaling.rs"]
mod scaling;
#[path = "performance_model/shapes.rs"]
mod shapes;
#[path = "performance_model/skyline.rs"]
mod skyline;
#[path = "performance_model/solvers.rs"]
mod solvers;
#[path = "performance_model/sorting.rs"]
mod sorting;
#[path = "performance_model/sources.rs"]
mod sources;
#[path = "performance_model/sparse.rs"]
mod sparse;
#[path = "performance_model/steps.rs"]
mod steps;
#[path = "performance_model/systems.rs"]
mod systems;
#[path = "performance_model/tensor.rs"]
mod tensor;
#[cfg(test)]
#[path = "performance_model/tests.rs"]
mod tests;
#[path = "performance_model/tiles.rs"]
mod tiles;
#[path = "performance_model/timing.rs"]
mod timing;
#[path = "performance_model/transpositions.rs"]
mod transpositions;
#[path = "performance_model/waiting.rs"]
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use cases::Counting;
use clap::Parser;
use clap::builder::PossibleValuesParser;
use counter::Counter;
use errors::Errors;
use gpu_examples::exit_code;
use gpu_examples::predicted::Predicted;
use gpu_model::Device;
use gpu_model::calibrate::Launching;
use gpu_model::literature::counted::Model;
use gpu_model::literature::roofline::Roofline;
use gpu_model::waves::Bottleneck;
use gpu_sim::metrics::Architecture;
use measure::Gpu;
use parts::Part;
use recorded::{Kernel, Measured, Role, SOURCES, Source, kernels, rows};
use serde::Serialize;
use tiles::Tiles;
use timing::{Beside, Timing};

/// Predicted against measured times, by this workspace's model, the roofline and the literature's
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of tables: of each device one for each row, then one of the errors
    #[arg(long)]
    json: bool,
    /// Draw predicted over measured times
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// The devices to predict for, whose measured times are in benches/results; the first of them if not given, with
    /// `--measure` the GPU at hand
    #[arg(long, value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(SOURCES.each_ref().map(|source| source.device)))]
    device: Vec<String>,
    /// Time what is asked for on the GPU at hand, in place of the times in benches/results: variants at the sizes of
    /// their tables, on one input again and again; the benchmarks' cases as bench-gpu does, on inputs in turn. Where
    /// there is no GPU that is an error. Calls that no program times are left out
    #[arg(long, conflicts_with = "measured")]
    measure: bool,
    /// Print what was timed and stop, without predicting anything: with `--json` lines for benches/results
    #[arg(long, requires = "measure")]
    only_measure: bool,
    /// The commit to note with what is timed, where the one found is not right
    #[arg(long, value_name = "HASH", requires = "measure")]
    commit: Option<String>,
    /// Only the table of kernels of `gemm`, of a device on which they were measured, as an H100; without this it comes
    /// last where no `--kernel` is given
    #[arg(long, conflicts_with_all = ["measure", "measured", "kernel", "plot", "variants"])]
    tiles: bool,
    /// Leave out the benchmarks' cases
    #[arg(long)]
    variants: bool,
    /// Leave out the shapes that have programs of their own: selections, sorts of segments, products on the tensor
    /// cores, batches by starts, factors, bands, updates, triangular systems, sparse matrices
    #[arg(long)]
    no_shapes: bool,
    /// Leave out the calls that no program times, of which the times are predicted only
    #[arg(long)]
    no_calls: bool,
    /// Only the first of so many kernels each, or of shapes of the table of `gemm`: less to simulate
    #[arg(long, value_name = "N", default_value = "1")]
    every: NonZeroUsize,
    /// Leave out what was not measured on a device
    #[arg(long)]
    measured: bool,
    /// Say of each kernel of the workspace by which row it is predicted, or why it is not, and stop
    #[arg(long, conflicts_with_all = ["measure", "measured", "kernel", "plot", "variants", "tiles"])]
    coverage: bool,
    /// Say of each launch what it takes and why
    #[arg(long)]
    launches: bool,
    /// Only these kernels: `transpose`, `sum`, names like `transpose/naive_32`, or cases of the benchmarks, `scan`,
    /// `scan/f32` or `scan/f32/2^20`
    #[arg(long, value_delimiter = ',')]
    kernel: Vec<String>,
}

#[derive(Serialize)]
struct Line {
    device: String,
    kernel: String,
    size: usize,
    /// None where it was not measured.
    measured_microseconds: Option<f64>,
    /// On one input again and again; else on inputs in turn.
    repeated: bool,
    /// How it was timed.
    timing: Timing,
    /// What a call of its program took there that has next to nothing to do, where that was measured beside it.
    call_microseconds: Option<f64>,
    predicted_microseconds: f64,
    /// Predicted less measured, of measured, in percent.
    error: Option<f64>,
    bottleneck: Bottleneck,
    launches: usize,
    /// The kernels that it launches.
    kernels: BTreeSet<String>,
    /// By what part the time differs where counts are scaled from a smaller simulation, in percent.
    scaling_error: f64,
    /// How long counting and predicting took; counts for another device that serve this one are not counted again.
    prediction_seconds: f64,
    /// What counting took of all processors together, where the system says.
    prediction_cpu_seconds: Option<f64>,
    roofline_microseconds: f64,
    roofline_error: Option<f64>,
    /// In microseconds, model by model.
    literature: BTreeMap<Model, f64>,
    cached: bool,
    /// It was measured of kernels that have changed since (`performance_model/changed.rs`): that does not count.
    outdated: bool,
    /// Judged only: not looked at while formulas were sought.
    held_out: bool,
    /// Launch by launch, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<Part>>,
    #[serde(skip)]
    row: Measured,
}

fn main() -> ExitCode {
    let mut to = Output { lines: &mut std::io::stdout(), notes: &mut std::io::stderr() };
    exit_code(run(&Options::parse(), &mut Vec::new(), &mut to))
}

/// Where results are written, and where what else there is to say.
struct Output<'a> {
    lines: &'a mut dyn Write,
    notes: &'a mut dyn Write,
}

/// Does what is asked for, with what was counted already.
fn run(options: &Options, counters: &mut Vec<Counter>, to: &mut Output<'_>) -> Result<(), Box<dyn Error>> {
    if options.coverage {
        return coverage::print(to.lines, options.json);
    }
    let mut kernels = kernels(&options.kernel)?;
    kernels.retain(|kernel| !options.variants || matches!(kernel, Kernel::Subject(_)));
    kernels.retain(|kernel| !options.no_shapes || !matches!(kernel, Kernel::Shape(_)));
    // Nothing is known of them that predictions could be set beside.
    let without = options.no_calls || options.measured || options.kernel.is_empty() && options.measure;
    kernels.retain(|kernel| !without || !matches!(kernel, Kernel::Call(_)));
    // Cases that are measured only where they are asked for.
    let is_long = |kernel: &Kernel| matches!(kernel, Kernel::Case(case) if case.is_long());
    kernels.retain(|kernel| !(options.measure && options.kernel.is_empty() && is_long(kernel)));
    kernels = kernels.into_iter().step_by(options.every.get()).collect();
    let mut gpu = if options.measure { Some(Gpu::open(options.commit.as_deref())?) } else { None };
    let timed = gpu.as_mut().map(|gpu| gpu.measure(&kernels)).transpose()?;
    if let (Some(gpu), Some(timed), true) = (&gpu, &timed, options.only_measure) {
        return Ok(gpu.print(to.lines, options.json, timed)?);
    }
    let mut drawn = Vec::new();
    for source in sources(&options.device, gpu.as_ref())? {
        let device = Device::by_name(source.device)?;
        let counter = counter(counters, source, &device)?;
        if options.tiles {
            tiles(options, &device, counter, source, to.lines)?;
            continue;
        }
        let (mut lines, mut failed) = (Vec::new(), Vec::new());
        let mut rows = match &timed {
            Some(timed) => timed.clone(),
            None => rows(&kernels, source.measured()?),
        };
        rows.retain(|row| row.microseconds.is_some() || !options.measured);
        if rows.is_empty() {
            return Err(format!("no measured row of {} is of these kernels", device.name).into());
        }
        let beside = Beside::of(source, &device, counter)?;
        for row in rows {
            match line(row, &device, &beside, counter, options.launches) {
                Ok(line) => lines.push(line),
                Err(error) => failed.push(format!("{}: {error}", row.kernel.name())),
            }
        }
        for error in &failed {
            writeln!(to.notes, "not predicted: {error}")?;
        }
        let outdated = lines.iter().filter(|line| line.outdated).count();
        lines.retain(|line| line.measured_microseconds.is_some() || !options.measured);
        let mut errors = Errors::of(&device, counter, &lines)?;
        errors.outdated = outdated;
        if options.json {
            for line in &lines {
                writeln!(to.lines, "{}", serde_json::to_string(line)?)?;
            }
            writeln!(to.lines, "{}", serde_json::to_string(&errors)?)?;
        } else {
            if options.launches {
                parts::print(to.lines, &lines)?;
            }
            report::print(to.lines, &lines, &errors)?;
        }
        drawn.extend(lines);
        if options.kernel.is_empty() && !options.measure && source.tiles.is_some() {
            tiles(options, &device, counter, source, to.lines)?;
        }
    }
    if let Some(file) = &options.plot {
        plot::plot(file, &drawn).map_err(|error| format!("{}: {error}", file.display()))?;
        writeln!(to.notes, "drawn: {}", file.display())?;
    }
    Ok(())
}

/// The devices that were asked for: where one is at hand, that is the only one whose times can be set beside it.
fn sources(asked: &[String], gpu: Option<&Gpu>) -> Result<Vec<&'static Source>, String> {
    if let Some(gpu) = gpu {
        let source = gpu.source()?;
        return match asked.iter().find(|name| *name != source.device) {
            Some(other) => Err(format!("this is an {}, whose times say nothing of an {other}", gpu.name())),
            None => Ok(vec![source]),
        };
    }
    let is_asked = |source: &&Source| asked.iter().any(|name| name == source.device);
    Ok(if asked.is_empty() { vec![&SOURCES[0]] } else { SOURCES.iter().filter(is_asked).collect() })
}

/// Prints the table of kernels of `gemm`.
fn tiles(
    options: &Options,
    device: &Device,
    counter: &Counter,
    source: &Source,
    to: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let results = source.tiles.ok_or_else(|| format!("on an {} no kernels were measured", device.name))?;
    let table = Tiles::of(device, counter.counting(), results, options.every.get())?;
    if options.json {
        writeln!(to, "{}", serde_json::to_string(&table)?)?;
    } else {
        table.print(to)?;
    }
    Ok(())
}

/// The one whose counts are right for a device, a new one where there is none.
fn counter<'a>(
    counters: &'a mut Vec<Counter>,
    source: &Source,
    device: &Device,
) -> Result<&'a mut Counter, Box<dyn Error>> {
    let caches = Architecture::by_name(source.device).ok_or("its caches are not simulated")?;
    let known = counters.iter().position(|one| one.counting().serves(device, caches));
    let place = known.unwrap_or(counters.len());
    if known.is_none() {
        counters.push(Counter::new(Counting::new(device, caches)?));
    }
    Ok(&mut counters[place])
}

fn line(
    row: Measured,
    device: &Device,
    beside: &Beside,
    counter: &mut Counter,
    launches: bool,
) -> Result<Line, Box<dyn Error>> {
    let Measured { kernel, size, repeated, role, launching, call, .. } = row;
    let device = &of_host(device, launching);
    let found = counter.found(kernel, size)?;
    // What was measured of other kernels than those that are counted is no time of theirs.
    let launched = found.counted.launches.iter().map(|launch| launch.kernel.as_str());
    let outdated = changed::is_outdated(launched, row.moment);
    let microseconds = row.microseconds.filter(|_| !outdated);
    let start = Instant::now();
    let cached = repeated && found.is_kept(counter.l2());
    let Predicted { sequence, error: scaling } = found.counted.predict(device, cached)?;
    let seconds = found.seconds + start.elapsed().as_secs_f64();
    let mut literature = BTreeMap::new();
    for model in Model::ALL {
        // One that has no time for a launch, as for one that reads nothing, has none for the case.
        let times = found.counted.launches.iter().map(|launch| Ok(model.time(device, launch)?.0 * 1e6));
        if let Ok(time) = times.sum::<Result<f64, gpu_model::Error>>() {
            literature.insert(model, time);
        }
    }
    let roofline = Roofline::single(device).bound(&found.demand)?.time.0 * 1e6;
    let (timing, reads) = match kernel {
        Kernel::Shape(shape) => (shape.timing(), shape.reads(&found.counted.launches)),
        _ => (Timing::Among, Vec::new()),
    };
    let predicted = beside.measured(timing, &sequence, call, &reads).0 * 1e6;
    let off = |time: f64| microseconds.map(|measured| 100.0 * (time / measured - 1.0));
    Ok(Line {
        device: device.name.clone(),
        kernel: kernel.name(),
        size,
        measured_microseconds: microseconds,
        repeated,
        timing,
        call_microseconds: call.map(|call| call.0 * 1e6),
        predicted_microseconds: predicted,
        error: off(predicted),
        bottleneck: sequence.bottleneck,
        launches: found.counted.launches.len(),
        kernels: found.counted.launches.iter().map(|launch| launch.kernel.clone()).collect(),
        scaling_error: 100.0 * scaling,
        prediction_seconds: seconds,
        prediction_cpu_seconds: found.cpu_seconds,
        roofline_microseconds: roofline,
        roofline_error: off(roofline),
        literature,
        cached,
        outdated,
        held_out: role != Role::Seen,
        parts: launches.then(|| {
            let all = found.counted.launches.iter().zip(&sequence.launches);
            all.map(|(counts, found)| Part::of(counts, found)).collect()
        }),
        row,
    })
}

/// The device on a host where launching takes that, if it is known.
fn of_host(device: &Device, launching: Option<Launching>) -> Device {
    let mut device = device.clone();
    if let (Some(waves), Some(found)) = (&mut device.waves, launching) {
        (waves.launch, waves.launch_dependent) = (found.plain, found.dependent);
    }
    device
}

/// The least value that this part of all is not above.
fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (part * values.len() as f64).ceil() as usize;
    values.get(place.max(1) - 1).copied().unwrap_or(f64::NAN)
}
