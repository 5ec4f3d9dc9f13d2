//! Filters a photograph, or all photographs of a folder, and says how long it took on the CPU, on the device, and to
//! copy.
//!
//! `cargo run --release --example image_filter -- gaussian --sigma 3` writes `out/raccoon-gaussian.png`; the other
//! filters are `mean`, `sharpen`, `sobel` and `resize`. With `--report` it takes the photograph as a report on image
//! filters had its own, gray and of 750 × 499 pixels (*Computación paralela en GPU*, sections 7 and 8), for the same
//! table of times. Results are compared with the CPU's, bit by bit.

use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gpu_core::{Device, Element, Stream};
use gpu_first::table::Table;
use gpu_first::{exit_code, timing};
use gpu_stencil::resize::{Addressing, Interpolation, resize_into};
use gpu_stencil::{
    Border, Gradients, Image, ImageLayout, ImageMut, box_mean_into, gaussian_into, sharpen_into, sobel_into,
};
use image::{ColorType, DynamicImage};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Filter photographs, on the best device there is, and compare time and result with the CPU's
#[derive(Parser)]
struct Options {
    /// A photograph, or a folder of them: PNG or JPEG
    #[arg(long, global = true, default_value_os_t = gpu_first::raccoon())]
    input: PathBuf,
    /// The folder that the filtered photographs go to
    #[arg(long, global = true, default_value = "out")]
    output: PathBuf,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it, what GPU_DEVICE names, else the best there is
    #[arg(long, global = true)]
    device: Option<String>,
    /// Filter in gray what is 750 × 499 pixels, as a report's image was
    #[arg(long, global = true)]
    report: bool,
    /// What filters, but for `resize`, see outside the photograph
    #[arg(long, global = true, value_enum, default_value_t = Edge::Reflect)]
    border: Edge,
    /// Print JSON lines instead of a table
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    filter: Filter,
}

/// Width and height of the report's image.
const REPORT: (usize, usize) = (750, 499);

#[derive(Subcommand)]
enum Filter {
    /// The mean of the pixels around
    Mean {
        /// Pixels of a side of the square that the mean is taken of
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=63))]
        size: u8,
    },
    /// Each pixel five times, less its four neighbours
    Sharpen,
    /// Blurred by a Gaussian
    Gaussian {
        /// Its standard deviation, in pixels
        #[arg(long, default_value_t = 2.0)]
        sigma: f64,
        /// Standard deviations from the middle to where it is cut off
        #[arg(long, default_value_t = 4.0)]
        truncate: f64,
    },
    /// The magnitude of the gradients, of each channel
    Sobel,
    /// Another size
    Resize(Resize),
}

/// What filters see outside a photograph.
#[derive(Clone, Copy, ValueEnum)]
enum Edge {
    Reflect,
    Mirror,
    Nearest,
    Wrap,
    /// Black.
    Constant,
}

impl Edge {
    fn border(self) -> Border<u8> {
        match self {
            Self::Reflect => Border::Reflect,
            Self::Mirror => Border::Mirror,
            Self::Nearest => Border::Nearest,
            Self::Wrap => Border::Wrap,
            Self::Constant => Border::Constant(0),
        }
    }
}

#[derive(Args)]
struct Resize {
    /// Pixels of a row; without it half as many as there are
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    width: Option<u32>,
    /// Rows; without it half as many as there are
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    height: Option<u32>,
    /// How a pixel comes of those around its place
    #[arg(long, value_enum, default_value_t = Way::Bilinear)]
    interpolation: Way,
    /// What is outside the photograph
    #[arg(long, value_enum, default_value_t = Outside::Clamp)]
    outside: Outside,
}

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Nearest,
    Bilinear,
}

#[derive(Clone, Copy, ValueEnum)]
enum Outside {
    Clamp,
    Wrap,
    Mirror,
    /// Black.
    Border,
}

impl Filter {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str {
        match self {
            Self::Mean { .. } => "mean",
            Self::Sharpen => "sharpen",
            Self::Gaussian { .. } => "gaussian",
            Self::Sobel => "sobel",
            Self::Resize(_) => "resize",
        }
    }

    /// Width and height of what becomes of an image.
    fn size(&self, (width, height): (usize, usize)) -> (usize, usize) {
        let or_half = |given: Option<u32>, side: usize| given.map_or(side.div_ceil(2), |side| side as usize);
        match self {
            Self::Resize(to) => (or_half(to.width, width), or_half(to.height, height)),
            _ => (width, height),
        }
    }

    /// Enqueues it, wherever stream and images are; not [`Filter::Sobel`], whose results are no bytes.
    fn enqueue(
        &self,
        stream: &Stream,
        input: Image<'_, u8>,
        border: Border<u8>,
        output: ImageMut<'_, u8>,
    ) -> Result<(), gpu_stencil::Error> {
        match self {
            Self::Mean { size } => {
                box_mean_into(stream, input, usize::from(*size), usize::from(*size), border, output)
            }
            Self::Sharpen => sharpen_into(stream, input, border, output),
            Self::Gaussian { sigma, truncate } => {
                gaussian_into(stream, input, *sigma, *truncate, border, output)
            }
            Self::Resize(to) => resize_into(stream, input, to.interpolation(), output),
            Self::Sobel => unreachable!("it has results of its own type"),
        }
    }
}

/// What a filter gives for an element of a photograph.
trait Shown: Element + PartialEq + Display {
    /// As it is shown.
    fn shown(self) -> u8;
}

impl Shown for u8 {
    fn shown(self) -> u8 {
        self
    }
}

/// Magnitudes of gradients: above 255 white.
impl Shown for i16 {
    fn shown(self) -> u8 {
        self.clamp(0, 255) as u8
    }
}

impl Resize {
    fn interpolation(&self) -> Interpolation<u8> {
        let outside = match self.outside {
            Outside::Clamp => Addressing::Clamp,
            Outside::Wrap => Addressing::Wrap,
            Outside::Mirror => Addressing::Mirror,
            Outside::Border => Addressing::Border(0),
        };
        match self.interpolation {
            Way::Nearest => Interpolation::Nearest,
            Way::Bilinear => Interpolation::Bilinear(outside),
        }
    }
}

/// One photograph's times, in milliseconds.
#[derive(Serialize)]
struct Line<'a> {
    filter: &'static str,
    input: &'a Path,
    output: PathBuf,
    device: String,
    width: usize,
    height: usize,
    channels: usize,
    cpu_ms: f64,
    kernel_ms: f64,
    htod_ms: f64,
    dtoh_ms: f64,
    total_ms: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let files = photographs(&options.input)?;
    std::fs::create_dir_all(&options.output)?;
    let bar = if files.len() > 1 { ProgressBar::new(files.len() as u64) } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for file in &files {
        bar.set_message(file.display().to_string());
        bar.tick();
        lines.push(process(options, &device, file).map_err(|error| format!("{}: {error}", file.display()))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &lines);
    }
    Ok(())
}

/// The photograph itself, or those in the folder, by name.
fn photographs(path: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in path.read_dir()? {
        let file = entry?.path();
        let extension = file.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        if matches!(extension.as_deref(), Some("png" | "jpg" | "jpeg")) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() { Err(format!("{}: no PNG or JPEG", path.display()).into()) } else { Ok(files) }
}

/// Pixels of a photograph, and how they lie.
struct Photograph {
    layout: ImageLayout,
    pixels: Vec<u8>,
}

impl Photograph {
    fn open(file: &Path, as_report: bool) -> Result<Self, Box<dyn Error>> {
        let photo = image::open(file)?;
        let (width, height) = (photo.width() as usize, photo.height() as usize);
        if !as_report {
            let channels = if photo.color().has_alpha() { 4 } else { 3 };
            let pixels = match photo {
                photo if channels == 4 => photo.into_rgba8().into_raw(),
                photo => photo.into_rgb8().into_raw(),
            };
            return Ok(Self { layout: ImageLayout::new(width, height, channels)?, pixels });
        }
        let gray = DynamicImage::into_luma8(photo).into_raw();
        let (from, to) = (ImageLayout::new(width, height, 1)?, ImageLayout::new(REPORT.0, REPORT.1, 1)?);
        let mut pixels = vec![0; to.span()];
        let (input, output) = (Image::new(&gray[..], from)?, ImageMut::new(&mut pixels[..], to)?);
        let smooth = Interpolation::Bilinear(Addressing::Clamp);
        resize_into(&Device::cpu().default_stream(), input, smooth, output)?;
        Ok(Self { layout: to, pixels })
    }

    fn save(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        let colour = match self.layout.channels() {
            1 => ColorType::L8,
            3 => ColorType::Rgb8,
            _ => ColorType::Rgba8,
        };
        let (width, height) = (self.layout.width() as u32, self.layout.height() as u32);
        Ok(image::save_buffer(file, &self.pixels, width, height, colour)?)
    }
}

fn process<'a>(options: &Options, device: &Device, file: &'a Path) -> Result<Line<'a>, Box<dyn Error>> {
    let (filter, border) = (&options.filter, options.border.border());
    if let Filter::Sobel = filter {
        return process_by(options, device, file, |stream, input, output: ImageMut<'_, i16>| {
            sobel_into(stream, input, border, Gradients { magnitude: Some(output), ..Gradients::default() })
        });
    }
    process_by(options, device, file, |stream, input, output: ImageMut<'_, u8>| {
        filter.enqueue(stream, input, border, output)
    })
}

/// Filters with `enqueue` on the CPU and on the device, and writes what came out if both are the same.
fn process_by<'a, T: Shown>(
    options: &Options,
    device: &Device,
    file: &'a Path,
    enqueue: impl Fn(&Stream, Image<'_, u8>, ImageMut<'_, T>) -> Result<(), gpu_stencil::Error>,
) -> Result<Line<'a>, Box<dyn Error>> {
    let photo = Photograph::open(file, options.report)?;
    let (from, filter) = (photo.layout, &options.filter);
    let (width, height) = filter.size((from.width(), from.height()));
    let to = ImageLayout::new(width, height, from.channels())?;

    let cpu = Device::cpu();
    let mut expected = vec![T::default(); to.span()];
    let cpu_seconds = timing::seconds(&cpu.default_stream(), || {
        let output = ImageMut::new(&mut expected[..], to)?;
        enqueue(&cpu.default_stream(), Image::new(&photo.pixels[..], from)?, output)
    })?;

    let stream = device.stream()?;
    let (mut input, mut output) = (device.alloc(from.span())?, device.alloc(to.span())?);
    let (_, htod_ms) = timed(|| input.copy_from(&photo.pixels))?;
    let kernel_seconds = timing::seconds(&stream, || {
        enqueue(&stream, Image::new(&input, from)?, ImageMut::new(&mut output, to)?)
    })?;
    let (results, dtoh_ms) = timed(|| output.to_vec())?;
    if let Some(at) = (0..expected.len()).find(|&at| results[at] != expected[at]) {
        return Err(format!("element {at} is {}, on the CPU {}", results[at], expected[at]).into());
    }
    let pixels = results.into_iter().map(Shown::shown).collect();

    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let path = options.output.join(format!("{stem}-{}.png", filter.name()));
    Photograph { layout: to, pixels }.save(&path)?;
    let kernel_ms = kernel_seconds * 1e3;
    Ok(Line {
        filter: filter.name(),
        input: file,
        output: path,
        device: device.name(),
        width: from.width(),
        height: from.height(),
        channels: from.channels(),
        cpu_ms: cpu_seconds * 1e3,
        kernel_ms,
        htod_ms,
        dtoh_ms,
        total_ms: htod_ms + kernel_ms + dtoh_ms,
    })
}

/// What `work` gives, and the milliseconds it took.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

fn print(device: &Device, lines: &[Line<'_>]) {
    println!("device {device} ({}); milliseconds, all results equal to the CPU's\n", device.why());
    let mut table =
        Table::new(["filter", "pixels", "channels", "cpu", "kernel", "HtoD", "DtoH", "total", "written"]);
    for line in lines {
        let time = |time: f64| format!("{time:.4}");
        table.row([
            line.filter.to_owned(),
            format!("{} × {}", line.width, line.height),
            line.channels.to_string(),
            time(line.cpu_ms),
            time(line.kernel_ms),
            time(line.htod_ms),
            time(line.dtoh_ms),
            time(line.total_ms),
            line.output.display().to_string(),
        ]);
    }
    println!("{table}");
}
