//! What the memory that holds a filter is worth: 26 convolutions with it in global, constant and shared memory.
//!
//! `cargo run --release --example convolution_memories` runs a course's 26 tests (`gpu_examples::convolutions`)
//! beside the CPU, with the copies and with what the course measured on a Titan X. `--metrics` shows what the
//! simulator counts: loads, stores, and what of them the caches have. Without a GPU it predicts an H200's times, or
//! with `--model` another device's; `--device simulator` runs all in the simulator, with 1000 times fewer outputs.

use std::error::Error;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gpu_core::Kind;
use gpu_examples::chart::{Curve, curves, paper};
use gpu_examples::convolutions::{
    Configuration, Line, configurations, correlate_once, count, measure, recorded,
};
use gpu_examples::exit_code;
use gpu_examples::model::{Asked, Case, Model, gpu_or_model};
use gpu_examples::table::Table;
use gpu_sim::metrics::Architecture;
use gpu_stencil::signal::variants::{Memory, Sum};
use indicatif::{ProgressBar, ProgressStyle};

/// Time 26 convolutions with the filter in global, constant and shared memory, and the copies around them
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the times of tests 8 to 13 and 21 to 26 over the number of outputs
    #[arg(long, value_name = "FILE.png", conflicts_with = "metrics")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N` or `simulator`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Only these tests, by number
    #[arg(long, value_delimiter = ',')]
    test: Vec<u32>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, conflicts_with = "metrics", value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Few outputs, on a GPU too; the simulator always takes them
    #[arg(long)]
    quick: bool,
    /// Keep sums in registers; without it they grow in the output, as the course's do
    #[arg(long)]
    registers: bool,
    /// Time nothing: print what the simulator counts
    #[arg(long)]
    metrics: bool,
    /// The device whose caches are modelled for --metrics: p100, v100, t4, a100, h100 or h200
    #[arg(long, default_value = "h200", value_parser = architecture)]
    architecture: Architecture,
}

fn architecture(name: &str) -> Result<Architecture, String> {
    let names = Architecture::ALL.map(|architecture| architecture.name).join(", ");
    Architecture::by_name(name).ok_or(format!("there are {names}"))
}

/// Outputs of the most that is simulated for a prediction.
const SIMULATED: usize = 4096;
/// So many times fewer are the outputs for the simulator.
const SMALLER: usize = 1000;

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let all = configurations();
    if let Some(number) = options.test.iter().find(|&&number| all.iter().all(|test| test.test != number)) {
        return Err(format!("there is no test {number}; there are 1 to {}", all.len()).into());
    }
    let chosen: Vec<Configuration> =
        all.into_iter().filter(|test| options.test.is_empty() || options.test.contains(&test.test)).collect();
    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new(chosen.len() as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let sum = if options.registers { Sum::Register } else { Sum::Output };
    if options.metrics { metrics(options, &chosen, sum, &bar) } else { times(options, &chosen, sum, &bar) }
}

fn times(
    options: &Options,
    chosen: &[Configuration],
    sum: Sum,
    bar: &ProgressBar,
) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, chosen, sum, bar, &[])?)?);
    }
    let small = options.quick || device.kind() != Kind::Cuda;
    let record = recorded()?;
    let mut lines = Vec::new();
    for test in chosen {
        bar.set_message(format!("test {}", test.test));
        bar.tick();
        let recorded =
            record.iter().find(|recorded| recorded.test == test.test).ok_or("the record has all tests")?;
        lines.push(measure(&device, if small { test.smaller(SMALLER) } else { *test }, sum, *recorded)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        println!(
            "device {device}; convolutions, milliseconds, all equal to the CPU's; total: with the filter in"
        );
        println!("global memory; 2019: the course's, on a Titan X, of the whole size\n\n{}", table(&lines));
    }
    if let Some(model) = &model {
        let measured: Vec<Configuration> = lines.iter().map(|line| line.configuration).collect();
        model.show(options.json, &predicted(model, &measured, sum, bar, &lines)?)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// What the model says of each test in each memory, beside what was measured.
fn predicted(
    model: &Model,
    chosen: &[Configuration],
    sum: Sum,
    bar: &ProgressBar,
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    bar.reset();
    for test in chosen {
        bar.set_message(format!("test {}", test.test));
        let line = lines.iter().find(|line| line.configuration.test == test.test);
        for memory in Memory::ALL.into_iter().map(Some).chain([None]) {
            let milliseconds = line.map(|line| match memory {
                Some(Memory::Global) => line.global_ms,
                Some(Memory::Constant) => line.constant_ms,
                Some(Memory::Shared) => line.shared_ms,
                None => line.fast_ms,
            });
            let asked = Asked {
                variant: format!("{} {}", memory.map_or("fast", Memory::name), test.element),
                label: format!("{} by {}", test.elements, test.filter),
                size: test.elements,
                simulated: test.elements.min(SIMULATED),
                blocks: None,
                dependent: memory.is_none(),
                measured: milliseconds.map(|time| time * 1e3),
            };
            cases.push(model.case(asked, |device, elements| {
                correlate_once(device, Configuration { elements, ..*test }, memory, sum)
            })?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(cases)
}

fn table(lines: &[Line]) -> Table {
    let mut table = Table::new([
        "test", "type", "outputs", "filter", "cpu", "global", "constant", "shared", "fast", "HtoD", "DtoH",
        "copies", "total", "2019 cpu", "kernel", "copies", "total",
    ]);
    for line in lines {
        let Configuration { test, element, elements, filter } = line.configuration;
        let head = [test.to_string(), element.to_owned(), elements.to_string(), filter.to_string()];
        let times = [
            line.cpu_ms,
            line.global_ms,
            line.constant_ms,
            line.shared_ms,
            line.fast_ms,
            line.htod_ms,
            line.dtoh_ms,
            line.copies_ms,
            line.total_ms,
        ];
        let recorded = &line.recorded;
        let then = [recorded.cpu_ms, recorded.kernel_ms, recorded.copies_ms, recorded.total_ms];
        let times = times.iter().map(|time| format!("{time:.4}"));
        table.row(head.into_iter().chain(times).chain(then.iter().map(|time| format!("{time:.2}"))));
    }
    table
}

/// Times over outputs, of single and of double precision.
fn plot(file: &Path, device: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    type Value = fn(&Line) -> f64;
    let values: [(&str, Value); 6] = [
        ("cpu", |line| line.cpu_ms),
        ("global", |line| line.global_ms),
        ("constant", |line| line.constant_ms),
        ("shared", |line| line.shared_ms),
        ("fast", |line| line.fast_ms),
        ("copies", |line| line.copies_ms),
    ];
    let parts: Vec<Vec<&Line>> = [8..=13, 21..=26]
        .map(|tests| lines.iter().filter(|line| tests.contains(&line.configuration.test)).collect())
        .into_iter()
        .filter(|part: &Vec<&Line>| !part.is_empty())
        .collect();
    if parts.is_empty() {
        return Err("tests 8 to 13 and 21 to 26 are drawn, and none of them was measured".into());
    }
    let root = paper(file, (1000, 600 * parts.len() as u32))?;
    for (area, part) in root.split_evenly((parts.len(), 1)).iter().zip(&parts) {
        let of = |(name, value): (&'static str, Value)| -> Curve<'_> {
            (name, part.iter().map(|line| (line.configuration.elements as f64, value(line))).collect())
        };
        let caption =
            format!("convolutions of {} with 128 elements, {device}", part[0].configuration.element);
        curves(area, caption, "ms", &values.map(of))?;
    }
    root.present()?;
    Ok(())
}

fn metrics(
    options: &Options,
    chosen: &[Configuration],
    sum: Sum,
    bar: &ProgressBar,
) -> Result<(), Box<dyn Error>> {
    let mut counted = Vec::new();
    for test in chosen {
        bar.set_message(format!("test {}", test.test));
        bar.tick();
        for memory in Memory::ALL.into_iter().map(Some).chain([None]) {
            counted.push(count(test.smaller(SMALLER), memory, sum, options.architecture)?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json {
        counted.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
        return Ok(());
    }
    println!(
        "Convolutions, simulated on the model of a {}; transactions are sectors of 32 bytes\n",
        options.architecture.name
    );
    let mut table = Table::new([
        "test",
        "type",
        "outputs",
        "filter",
        "memory",
        "gld trans.",
        "gst trans.",
        "shared ld",
        "L1 hits %",
        "L2 reads",
        "hits %",
        "L2 writes",
        "hits %",
    ]);
    for line in &counted {
        let Configuration { test, element, elements, filter } = line.configuration;
        table.row([
            test.to_string(),
            element.to_owned(),
            elements.to_string(),
            filter.to_string(),
            line.memory.to_owned(),
            line.gld_transactions.to_string(),
            line.gst_transactions.to_string(),
            line.shared_load_transactions.to_string(),
            format!("{:.1}", line.global_hit_rate),
            line.l2_read_transactions.to_string(),
            format!("{:.1}", line.l2_read_hit_rate),
            line.l2_write_transactions.to_string(),
            format!("{:.1}", line.l2_write_hit_rate),
        ]);
    }
    println!("{table}");
    Ok(())
}
