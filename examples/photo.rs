//! Transposes a photograph and takes the mean of each colour channel, on the best device there is.
//!
//! `cargo run --release --example photo` uses a CUDA device if a driver answers and the CPU otherwise, and says which
//! and why. Everything is checked against the CPU reference, bit for bit.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_core::Device;
use gpu_first::table::Table;
use gpu_transpose::{Layout, Matrix};
use image::RgbImage;
use serde::Serialize;

/// Transpose a photograph, take the mean of each colour channel, and check both against the CPU.
#[derive(Parser)]
struct Options {
    /// The photograph: PNG or JPEG
    #[arg(default_value_os_t = gpu_first::raccoon())]
    input: PathBuf,
    /// Where the transposed photograph goes
    #[arg(long, default_value = "out/photo-transposed.png")]
    output: PathBuf,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it, what GPU_DEVICE names, else the best there is
    #[arg(long)]
    device: Option<String>,
    /// Print one JSON object instead of the tables
    #[arg(long)]
    json: bool,
}

/// A channel's results, and milliseconds on the device and with the CPU reference.
#[derive(Serialize)]
struct Channel {
    channel: &'static str,
    mean: f32,
    upload_ms: f64,
    transpose_ms: f64,
    sum_ms: f64,
    download_ms: f64,
    cpu_transpose_ms: f64,
    cpu_sum_ms: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    device: String,
    why: &'a str,
    input: &'a Path,
    width: u32,
    height: u32,
    output: &'a Path,
    channels: Vec<Channel>,
    checked: bool,
}

fn main() -> ExitCode {
    gpu_first::exit_code(run(Options::parse()))
}

fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let photo = image::open(&options.input)
        .map_err(|error| format!("{}: {error}", options.input.display()))?
        .to_rgb8();
    let (width, height) = photo.dimensions();

    warm_up(&device)?;
    let mut transposed = RgbImage::new(height, width);
    let mut channels = Vec::new();
    for (index, name) in ["red", "green", "blue"].into_iter().enumerate() {
        let plane: Vec<f32> = photo.pixels().map(|pixel| pixel[index] as f32).collect();
        let (channel, turned) = process(&device, name, &plane, width as usize, height as usize)?;
        for (pixel, value) in transposed.pixels_mut().zip(&turned) {
            pixel[index] = *value as u8;
        }
        channels.push(channel);
    }
    if let Some(folder) = options.output.parent() {
        std::fs::create_dir_all(folder)?;
    }
    transposed.save(&options.output)?;

    let report = Report {
        device: device.to_string(),
        why: device.why(),
        input: &options.input,
        width,
        height,
        output: &options.output,
        channels,
        checked: true,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// Runs both primitives once, so that compiling kernels and starting threads are not in the times.
fn warm_up(device: &Device) -> Result<(), Box<dyn Error>> {
    let input = device.upload(&[1.0, 2.0])?;
    gpu_reduce::sum(&input)?;
    gpu_transpose::transpose(Matrix::new(&input, Layout::row_major(1, 2)?)?)?;
    Ok(device.synchronize()?)
}

/// One channel: upload, transpose, sum, download, and the same on the CPU.
fn process(
    device: &Device,
    name: &'static str,
    plane: &[f32],
    width: usize,
    height: usize,
) -> Result<(Channel, Vec<f32>), Box<dyn Error>> {
    let matrix = Layout::row_major(height, width)?;
    let (input, upload_ms) = timed(|| device.upload(plane))?;
    let (output, transpose_ms) = timed(|| -> Result<_, gpu_transpose::Error> {
        let output = gpu_transpose::transpose(Matrix::new(&input, matrix)?)?;
        device.synchronize()?;
        Ok(output)
    })?;
    let (sum, sum_ms) = timed(|| gpu_reduce::sum(&input))?;
    let (turned, download_ms) = timed(|| output.to_vec())?;

    let mut expected = vec![0.0; plane.len()];
    let cpu = Instant::now();
    gpu_transpose::reference::transpose(plane, matrix, &mut expected, Layout::row_major(width, height)?);
    let cpu_transpose_ms = milliseconds(cpu);
    let cpu = Instant::now();
    let expected_sum = gpu_reduce::reference::sum(plane);
    let cpu_sum_ms = milliseconds(cpu);
    if turned != expected {
        return Err(format!("{name}: the transposed channel differs from the CPU's").into());
    }
    if sum.to_bits() != expected_sum.to_bits() {
        return Err(format!("{name}: the sum is {sum}, the CPU's {expected_sum}").into());
    }
    let mean = sum / plane.len() as f32;
    Ok((
        Channel {
            channel: name,
            mean,
            upload_ms,
            transpose_ms,
            sum_ms,
            download_ms,
            cpu_transpose_ms,
            cpu_sum_ms,
        },
        turned,
    ))
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, milliseconds(start)))
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn print(report: &Report<'_>) {
    println!("device    {} ({})", report.device, report.why);
    println!("input     {}, {} × {}", report.input.display(), report.width, report.height);
    println!("output    {}", report.output.display());
    println!("\nmilliseconds on the device, and of the CPU reference:\n");
    let mut table =
        Table::new(["channel", "mean", "upload", "transpose", "sum", "download", "CPU transpose", "CPU sum"]);
    for c in &report.channels {
        let times = [c.upload_ms, c.transpose_ms, c.sum_ms, c.download_ms, c.cpu_transpose_ms, c.cpu_sum_ms];
        let cells = [c.channel.to_string(), format!("{:.3}", c.mean)];
        table.row(cells.into_iter().chain(times.map(|time| format!("{time:.3}"))));
    }
    print!("{table}");
    println!("\nevery pixel and every sum has the bits of the CPU reference");
}
