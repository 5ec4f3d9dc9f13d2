//! How long the textbook's Gaussian filter takes with pixels and weights in each kind of memory, and where its Sobel
//! filter diverges.
//!
//! `cargo run --release --example blur_variants` times the four variants with masks of 5 × 5 and 11 × 11, beside what
//! a report measured on a Tesla P100 (*Accesos y tipos de memoria en GPU*, of an image whose size it does not say)
//! and what the simulator counts of their accesses. Then it runs another report's Sobel filter (*Computación paralela
//! en GPU*, table 6) in the simulator, with its image of 750 × 499 and its blocks of 16 × 16, for the branches that
//! diverge. Without a GPU it predicts an H200's times, or with `--model` another device's; `--device simulator`
//! runs all of it in the simulator, with a small image.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_core::{Buffer, Device, Kind};
use gpu_examples::chart::{FONT, paper};
use gpu_examples::model::{Case, Model, gpu_or_model};
use gpu_examples::predicted::Subject;
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_sim::metrics::Metrics;
use gpu_sim::{BlockOrder, Config, Record};
use gpu_stencil::variants::{BlurVariant, Gradient, Mask, blur, sobel};
use plotters::prelude::*;
use serde::{Deserialize, Serialize};

/// Time the Gaussian filter's variants on the device at hand, beside their simulated metrics, and count a Sobel
/// filter's branches
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of tables
    #[arg(long)]
    json: bool,
    /// Draw the times as a bar chart
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N` or `simulator`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Rows and columns; 4096 on a GPU, 128 in the simulator if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    size: Option<u32>,
    /// Predict times on this device, `h200` or `h100`, beside a GPU's; where there is no GPU and none is asked for, in
    /// place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Only this variant: `global`, `shared`, `read_only`, `constant`
    #[arg(long, value_parser = variant)]
    variant: Option<BlurVariant>,
}

fn variant(name: &str) -> Result<BlurVariant, String> {
    let names = || BlurVariant::ALL.map(BlurVariant::name).join(", ");
    BlurVariant::by_name(name).ok_or_else(|| format!("there are {}", names()))
}

/// The reports' radii, and the standard deviation of both masks: the reports do not say theirs, and it costs no time.
const RADII: [u32; 2] = [2, 5];
const SIGMA: f64 = 1.5;
/// Rows and columns of the image whose blur is simulated: whole blocks, and borders on all sides.
const SIMULATED: usize = 96;
/// Rows and columns of the image of the Sobel filter.
const SOBEL: [usize; 2] = [499, 750];

/// What the reports measured.
#[derive(Deserialize)]
struct Records {
    blur: Vec<BlurRecord>,
    sobel: Vec<SobelRecord>,
}

#[derive(Deserialize)]
struct BlurRecord {
    variant: String,
    radius: u32,
    microseconds: f64,
}

#[derive(Deserialize)]
struct SobelRecord {
    kernel: String,
    branch_efficiency: f64,
    divergent_branch: u64,
}

/// One blur.
#[derive(Serialize)]
struct Line {
    variant: &'static str,
    radius: u32,
    size: usize,
    device: String,
    microseconds: f64,
    /// One read and one write of the image, of that time, in 10⁹ bytes a second.
    gigabytes_per_second: f64,
    /// On the report's Tesla P100, of its image.
    report_microseconds: Option<f64>,
    gld_transactions: u64,
    gld_efficiency: f64,
    shared_load_transactions: u64,
    shared_efficiency: f64,
    branch_efficiency: f64,
    simulated_size: usize,
}

/// One of the Sobel filter's launches.
#[derive(Serialize)]
struct Launch {
    sobel: &'static str,
    branch_efficiency: f64,
    divergent_branch: u64,
    report_branch_efficiency: Option<f64>,
    report_divergent_branch: Option<u64>,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let records: Records = serde_json::from_str(include_str!("records/stencil.json"))?;
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let large = device.kind() == Kind::Cuda || model.is_some();
    let size = options.size.map_or(if large { 4096 } else { 128 }, |size| size as usize);
    let chosen = options.variant.map_or_else(|| BlurVariant::ALL.to_vec(), |one| vec![one]);
    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, &chosen, size, &[])?)?);
    }
    let mut lines = Vec::new();
    for radius in RADII {
        let (mut work, mut counted) =
            (Work::new(&device, size, radius)?, Work::new(&simulator(), SIMULATED, radius)?);
        for &variant in &chosen {
            let (result, expected) = (work.run(variant)?, work.run(BlurVariant::Global)?);
            if result.iter().map(|value| value.to_bits()).ne(expected.iter().map(|value| value.to_bits())) {
                return Err(format!("{}: the result is not that of `global`", variant.name()).into());
            }
            let seconds = work.time(variant)?;
            let metrics = counted.count(variant)?;
            let mut of_report = records.blur.iter();
            let of_report = of_report.find(|line| line.variant == variant.name() && line.radius == radius);
            lines.push(Line {
                variant: variant.name(),
                radius,
                size,
                device: device.name(),
                microseconds: seconds * 1e6,
                gigabytes_per_second: 8.0 * (size * size) as f64 / seconds / 1e9,
                report_microseconds: of_report.map(|line| line.microseconds),
                gld_transactions: metrics.gld_transactions,
                gld_efficiency: metrics.gld_efficiency,
                shared_load_transactions: metrics.shared_load_transactions,
                shared_efficiency: metrics.shared_efficiency,
                branch_efficiency: metrics.branch_efficiency,
                simulated_size: SIMULATED,
            });
        }
    }
    let launches = branches(&records.sobel)?;
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
        launches.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, size, &lines, &launches);
    }
    if let Some(model) = &model {
        model.show(options.json, &predicted(model, &chosen, size, &lines)?)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), size, &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// What the model says of each, beside what was measured.
fn predicted(
    model: &Model,
    chosen: &[BlurVariant],
    size: usize,
    lines: &[Line],
) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for radius in RADII {
        for &one in chosen {
            let measured = lines.iter().find(|line| line.variant == one.name() && line.radius == radius);
            let measured = measured.map(|line| line.microseconds);
            cases.push(model.subject(Subject::Blur(one, radius), size, measured)?);
        }
    }
    Ok(cases)
}

/// A simulator that counts everything, with blocks in the order that hardware tends to.
fn simulator() -> Device {
    Device::simulator_with(Config {
        record: Record::Full,
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    })
}

/// An image that looks like noise.
fn image(len: usize) -> Vec<f32> {
    (0..len as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as f32).collect()
}

/// An image, its blurred form and a mask on a device.
struct Work {
    device: Device,
    size: usize,
    mask: Mask,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl Work {
    fn new(device: &Device, size: usize, radius: u32) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            device: device.clone(),
            size,
            mask: Mask::gaussian(device, radius, SIGMA)?,
            input: device.upload(&image(size * size))?,
            output: device.zeroed(size * size)?,
        })
    }

    /// What a variant makes of it, of memory that holds something else.
    fn run(&mut self, variant: BlurVariant) -> Result<Vec<f32>, Box<dyn Error>> {
        let stream = self.device.default_stream();
        stream.memset(&mut self.output, 0xff)?;
        blur(variant, &stream, &self.input, &self.mask, &mut self.output, [self.size; 2])?;
        Ok(self.output.to_vec()?)
    }

    /// The median time in seconds.
    fn time(&mut self, variant: BlurVariant) -> Result<f64, Box<dyn Error>> {
        let stream = self.device.stream()?;
        timing::seconds(&stream, || {
            blur(variant, &stream, &self.input, &self.mask, &mut self.output, [self.size; 2])
        })
    }

    /// What the simulator, where this has to be, counts of a variant.
    fn count(&mut self, variant: BlurVariant) -> Result<Metrics, Box<dyn Error>> {
        let simulator = self.device.as_simulator().ok_or("only the simulator counts")?;
        simulator.take_reports();
        let stream = self.device.default_stream();
        blur(variant, &stream, &self.input, &self.mask, &mut self.output, [self.size; 2])?;
        Ok(Metrics::of_all(&simulator.take_reports()))
    }
}

/// The branches of the three launches of the Sobel filter, as the simulator counts them.
fn branches(records: &[SobelRecord]) -> Result<Vec<Launch>, Box<dyn Error>> {
    let device = simulator();
    let len = SOBEL[0] * SOBEL[1];
    let input = device.upload(&image(len))?;
    let (mut gx, mut gy, mut magnitude) = (device.alloc(len)?, device.alloc(len)?, device.alloc(len)?);
    let gradient = Gradient { gx: gx.view_mut(), gy: gy.view_mut(), magnitude: magnitude.view_mut() };
    sobel(&device.default_stream(), &input, gradient, SOBEL)?;
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    let names = [("gx", "filter"), ("gy", "filter"), ("magnitude", "magnitude")];
    if reports.len() != names.len() {
        return Err(format!("{} launches, not {}", reports.len(), names.len()).into());
    }
    let launches = names.into_iter().zip(&reports).map(|((name, kernel), report)| {
        let metrics = Metrics::new(report);
        let of_report = records.iter().find(|record| record.kernel == kernel);
        Launch {
            sobel: name,
            branch_efficiency: metrics.branch_efficiency,
            divergent_branch: metrics.divergent_branch,
            report_branch_efficiency: of_report.map(|record| record.branch_efficiency),
            report_divergent_branch: of_report.map(|record| record.divergent_branch),
        }
    });
    Ok(launches.collect())
}

fn print(device: &Device, size: usize, lines: &[Line], launches: &[Launch]) {
    println!(
        "device {device}; {size} × {size} pixels, all results equal; metrics simulated at {SIMULATED} × {SIMULATED}\n"
    );
    let mut table = Table::new([
        "variant",
        "mask",
        "µs",
        "GB/s",
        "report's µs",
        "gld_transactions",
        "gld_efficiency",
        "shared loads",
        "shared_efficiency",
        "branch_efficiency",
    ]);
    for line in lines {
        let side = 2 * line.radius + 1;
        table.row([
            line.variant.to_owned(),
            format!("{side} × {side}"),
            format!("{:.2}", line.microseconds),
            format!("{:.1}", line.gigabytes_per_second),
            line.report_microseconds.map_or("–".to_owned(), |time| format!("{time:.2}")),
            line.gld_transactions.to_string(),
            format!("{:.2}", line.gld_efficiency),
            line.shared_load_transactions.to_string(),
            format!("{:.2}", line.shared_efficiency),
            format!("{:.2}", line.branch_efficiency),
        ]);
    }
    println!("{table}");
    println!("Sobel in three launches, {} × {} pixels, blocks of 16 × 16, simulated\n", SOBEL[1], SOBEL[0]);
    let mut table = Table::new(["launch", "branch_efficiency", "report's", "divergent branches", "report's"]);
    for line in launches {
        table.row([
            line.sobel.to_owned(),
            format!("{:.2}", line.branch_efficiency),
            line.report_branch_efficiency.map_or("–".to_owned(), |of| format!("{of:.2}")),
            line.divergent_branch.to_string(),
            line.report_divergent_branch.map_or("–".to_owned(), |of| of.to_string()),
        ]);
    }
    println!("{table}");
    println!(
        "The simulator counts the branches of the source. All three launches have the same guard around everything, which divides\n\
         the 543 warps with pixels both of the border and inside. The report's filter kernel shows none of them: its compiler\n\
         must have made the guard a predicate, and what is left, the choice of the filter, is the same for a whole warp. Its\n\
         magnitude has ten times as many as the guard can give, so most are not the guard's: what else could branch in that\n\
         kernel are `powf(x, 2)` and the square root, on arguments that differ from pixel to pixel. Ours squares by a product;\n\
         its square root's slow path is in no source, and not counted."
    );
}

/// A bar for each variant and mask, as long as its time.
fn plot(file: &Path, device: &str, size: usize, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let root = paper(file, (1000, lines.len() as u32 * 26 + 110))?;
    let longest = lines.iter().map(|line| line.microseconds).fold(f64::MIN_POSITIVE, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{size} × {size} pixels on {device}"), (FONT, 20))
        .margin(12)
        .margin_left(220)
        .margin_right(90)
        .x_label_area_size(40)
        .build_cartesian_2d(0.0..longest, 0.0..lines.len() as f64)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().x_desc("µs").label_style((FONT, 15)).draw()?;
    for (index, line) in lines.iter().enumerate() {
        let top = (lines.len() - index) as f64;
        let colour = Palette99::pick(RADII.iter().position(|&radius| radius == line.radius).unwrap_or(0));
        let bar = Rectangle::new([(0.0, top - 0.85), (line.microseconds, top - 0.15)], colour.filled());
        chart.draw_series([bar])?;
        let (x, y) = chart.backend_coord(&(0.0, top - 0.25));
        let side = 2 * line.radius + 1;
        root.draw(&Text::new(format!("{} {side} × {side}", line.variant), (x - 200, y), (FONT, 16)))?;
        let (x, y) = chart.backend_coord(&(line.microseconds, top - 0.25));
        root.draw(&Text::new(format!("{:.1}", line.microseconds), (x + 6, y), (FONT, 16)))?;
    }
    root.present()?;
    Ok(())
}
