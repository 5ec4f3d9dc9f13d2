//! How long each transposition takes, beside what the simulator says of its memory accesses.
//!
//! `cargo run --release --example transpose_variants` times the textbook variants and the fast version on the GPU, as
//! a table and, with `--plot FILE.png`, as a chart. Without a GPU it predicts an H200's times, or with
//! `--model` another device's; `--device simulator` runs all in the simulator, on a small matrix.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_core::{Buffer, Device, Kind};
use gpu_examples::chart::{FONT, paper};
use gpu_examples::model::{Case, Model, gpu_or_model};
use gpu_examples::predicted::Subject;
use gpu_examples::table::Table;
use gpu_examples::transpositions::{Counted, Transposition, count};
use gpu_examples::{exit_code, timing};
use gpu_sim::metrics::Architecture;
use gpu_transpose::{Layout, reference};
use plotters::prelude::*;
use serde::Serialize;

/// Time all transpositions on the device at hand, beside their simulated memory metrics
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the bandwidths as a bar chart
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N`, `simulator` or `cpu`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Rows and columns, one or more; 1024, 4096 and 16384 on a GPU, 256 elsewhere if not given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65_536))]
    size: Vec<u32>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Only this one: `naive`, `shared_padded_32`, `fast`, …
    #[arg(long, value_parser = Transposition::by_name)]
    variant: Option<Transposition>,
    /// Launch each once, without warming up or timing: for profilers
    #[arg(long)]
    once: bool,
}

/// Rows and columns of the matrix that is simulated. It is made of whole tiles, as any larger power of two, and what is
/// counted of one tile is that of all.
const SIMULATED: usize = 256;

/// One measurement.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    block: u32,
    size: usize,
    device: String,
    microseconds: f64,
    /// Bytes read and written once each, of that time, in 10⁹ a second.
    gigabytes_per_second: f64,
    gld_efficiency: f64,
    gst_efficiency: f64,
    shared_efficiency: f64,
    #[serde(skip)]
    label: String,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let model = model.filter(|_| !options.once);
    let sizes: Vec<usize> = match (options.size.as_slice(), device.kind()) {
        ([], Kind::Cuda) => vec![1024, 4096, 16_384],
        ([], _) if model.is_some() => vec![1024, 4096, 16_384],
        ([], _) => vec![256],
        (sizes, _) => sizes.iter().map(|&size| size as usize).collect(),
    };
    let chosen = options.variant.map_or_else(Transposition::all, |one| vec![one]);
    if options.once {
        for size in sizes {
            let mut work = Work::new(&device, size)?;
            chosen.iter().try_for_each(|&one| work.check(one))?;
        }
        return Ok(());
    }

    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, &chosen, &sizes, &[])?)?);
    }

    let counted: Vec<Counted> =
        chosen.iter().map(|&one| count(one, SIMULATED, Architecture::H200)).collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for &size in &sizes {
        let mut work = Work::new(&device, size)?;
        for one in &counted {
            work.check(one.transposition)?;
            let seconds = work.time(one.transposition)?;
            lines.push(Line {
                variant: one.transposition.name(),
                block: one.transposition.block(),
                size,
                device: device.name(),
                microseconds: seconds * 1e6,
                gigabytes_per_second: 8.0 * (size * size) as f64 / seconds / 1e9,
                gld_efficiency: one.metrics.gld_efficiency,
                gst_efficiency: one.metrics.gst_efficiency,
                shared_efficiency: one.metrics.shared_efficiency,
                label: one.transposition.to_string(),
            });
        }
    }
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &sizes, &lines);
    }
    if let Some(model) = &model {
        model.show(options.json, &predicted(model, &chosen, &sizes, &lines)?)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &sizes, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// What the model says of each, beside what was measured.
fn predicted(
    model: &Model,
    chosen: &[Transposition],
    sizes: &[usize],
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for &size in sizes {
        for &one in chosen {
            let measured = lines.iter().find(|line| line.label == one.to_string() && line.size == size);
            let measured = measured.map(|line| line.microseconds);
            cases.push(model.subject(Subject::Transpose(one), size, measured)?);
        }
    }
    Ok(cases)
}

/// A matrix and its transposed form on a device.
struct Work {
    device: Device,
    matrix: Layout,
    input: Buffer<f32>,
    output: Buffer<f32>,
    expected: Vec<f32>,
}

impl Work {
    fn new(device: &Device, size: usize) -> Result<Self, Box<dyn Error>> {
        let matrix = Layout::row_major(size, size)?;
        // Every element of its own, as bits: floats would repeat beyond 2^24.
        let values: Vec<f32> = (0..matrix.span()).map(|index| f32::from_bits(index as u32)).collect();
        let mut expected = vec![0.0; values.len()];
        // A square: its transposed form lies as it does.
        reference::transpose(&values, matrix, &mut expected, matrix);
        let input = device.upload(&values)?;
        let output = device.zeroed(values.len())?;
        Ok(Self { device: device.clone(), matrix, input, output, expected })
    }

    /// Runs it once and compares the result with the CPU's.
    fn check(&mut self, transposition: Transposition) -> Result<(), Box<dyn Error>> {
        let stream = self.device.default_stream();
        stream.memset(&mut self.output, 0)?;
        transposition.enqueue(&stream, &self.input, self.matrix, &mut self.output)?;
        let bits = |value: &f32| value.to_bits();
        if self.output.to_vec()?.iter().map(bits).ne(self.expected.iter().map(bits)) {
            return Err(format!("{transposition}: the result differs from the CPU's").into());
        }
        Ok(())
    }

    /// The median time in seconds.
    fn time(&mut self, transposition: Transposition) -> Result<f64, Box<dyn Error>> {
        let stream = self.device.stream()?;
        timing::seconds(&stream, || {
            transposition.enqueue(&stream, &self.input, self.matrix, &mut self.output)
        })
    }
}

fn print(device: &Device, sizes: &[usize], lines: &[Line]) {
    println!("device {device}; efficiencies in percent, simulated\n");
    for &size in sizes {
        println!("{size} × {size}, 4-byte elements");
        let mut table = Table::new([
            "variant",
            "µs",
            "GB/s",
            "of the fastest",
            "gld_efficiency",
            "gst_efficiency",
            "shared_efficiency",
        ]);
        let of_size = || lines.iter().filter(|line| line.size == size);
        let best = of_size().map(|line| line.gigabytes_per_second).fold(0.0, f64::max);
        for line in of_size() {
            table.row([
                line.label.clone(),
                format!("{:.2}", line.microseconds),
                format!("{:.1}", line.gigabytes_per_second),
                format!("{:.2}", line.gigabytes_per_second / best),
                format!("{:.2}", line.gld_efficiency),
                format!("{:.2}", line.gst_efficiency),
                format!("{:.2}", line.shared_efficiency),
            ]);
        }
        println!("{table}");
    }
}

/// A chart for each size: a bar for each variant, as long as its bandwidth.
fn plot(file: &Path, device: &str, sizes: &[usize], lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let bars = lines.len() / sizes.len();
    let height = sizes.len() as u32 * (bars as u32 * 26 + 110);
    let root = paper(file, (1000, height))?;
    for (area, &size) in root.split_evenly((sizes.len(), 1)).iter().zip(sizes) {
        let shown: Vec<&Line> = lines.iter().filter(|line| line.size == size).collect();
        let longest = shown.iter().map(|line| line.gigabytes_per_second).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(format!("Transposition of {size} × {size} floats, {device}"), (FONT, 20))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(170)
            .build_cartesian_2d(0.0..longest * 1.1, (0..bars - 1).into_segmented())?;
        // The first variant stands at the top.
        let name = |row: usize| shown[bars - 1 - row.min(bars - 1)].label.clone();
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_desc("GB/s")
            .label_style((FONT, 15))
            .y_labels(bars)
            .y_label_formatter(&|place| match place {
                SegmentValue::CenterOf(row) => name(*row),
                _ => String::new(),
            })
            .draw()?;
        chart.draw_series((0..bars).map(|row| {
            let length = shown[bars - 1 - row].gigabytes_per_second;
            let corners = [(0.0, SegmentValue::Exact(row)), (length, SegmentValue::Exact(row + 1))];
            let mut bar = Rectangle::new(corners, RGBColor(70, 120, 180).filled());
            bar.set_margin(3, 3, 0, 0);
            bar
        }))?;
    }
    root.present()?;
    Ok(())
}
