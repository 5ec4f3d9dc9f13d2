//! Scales a photograph with the GPU's texture units, beside plain loads: how long each takes, and how far apart they
//! are.
//!
//! `cargo run --release --example texture_resize` makes `out/raccoon-texture.png`, in gray, half as wide and high.
//! Texture units keep eight bits of a weight, so a linear read differs from the exact one by up to 1/256 of the range
//! of the pixels around it; both ways are compared, pixel by pixel, with that bound. The textbook (*Manejo de la
//! Memoria*) reads texels as they are, the nearest one: that is here too, and equal to the nearest pixel.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_core::{Device, Texture};
use gpu_examples::device::gpu_or_simulator;
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_stencil::resize::{Addressing, Interpolation, resize_into};
use gpu_stencil::texture::{self, Descriptor, FilterMode, ReadMode};
use gpu_stencil::{Image, ImageLayout, ImageMut};
use image::GrayImage;
use serde::Serialize;

/// Scale a photograph through a texture and through plain loads, and compare time and result
#[derive(Parser)]
struct Options {
    /// The photograph: PNG or JPEG
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/images/raccoon.jpg"))]
    input: PathBuf,
    /// The folder that the scaled photograph goes to
    #[arg(long, default_value = "out")]
    output: PathBuf,
    /// Pixels of a row; without it half as many as there are
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    width: Option<u32>,
    /// Rows; without it half as many as there are
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    height: Option<u32>,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it the first GPU, else the simulator
    #[arg(long)]
    device: Option<String>,
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
}

/// One way to read the pixels, texture and plain loads.
#[derive(Serialize)]
struct Line {
    filter: &'static str,
    device: String,
    texture_ms: f64,
    plain_ms: f64,
    /// The largest difference, in steps of 8-bit gray.
    worst: f64,
    /// What it may be.
    bound: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = gpu_or_simulator(options.device.as_deref())?;
    let photo = image::open(&options.input)
        .map_err(|error| format!("{}: {error}", options.input.display()))?
        .into_luma8();
    let side = |given: Option<u32>, of: u32| given.unwrap_or(of.div_ceil(2)) as usize;
    let from = ImageLayout::new(photo.width() as usize, photo.height() as usize, 1)?;
    let to = ImageLayout::new(side(options.width, photo.width()), side(options.height, photo.height()), 1)?;

    let (smooth, line) = linear(&device, photo.as_raw(), from, to)?;
    let lines = [line, nearest(&device, photo.as_raw(), from, to)?];
    let gray = smooth.iter().map(|value| (value * 255.0).round() as u8).collect();
    let scaled = GrayImage::from_raw(to.width() as u32, to.height() as u32, gray).ok_or("as many pixels")?;
    std::fs::create_dir_all(&options.output)?;
    let stem = options.input.file_stem().unwrap_or_default().to_string_lossy();
    let path = options.output.join(format!("{stem}-texture.png"));
    scaled.save(&path)?;

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, [from, to], &lines, &path);
    }
    Ok(())
}

/// Linear reads of normalised integers, beside bilinear interpolation of the same numbers: the texture's values, and
/// the comparison.
fn linear(
    device: &Device,
    pixels: &[u8],
    from: ImageLayout,
    to: ImageLayout,
) -> Result<(Vec<f32>, Line), Box<dyn Error>> {
    let smooth =
        Descriptor { filter: FilterMode::Linear, read: ReadMode::NormalizedFloat, ..Descriptor::default() };
    let numbers: Vec<f32> = pixels.iter().map(|&pixel| f32::from(pixel) / 255.0).collect();
    let (image, mut plain) = (device.upload(&numbers)?, device.zeroed::<f32>(to.span())?);
    let stream = device.stream()?;
    let plain_seconds = timing::seconds(&stream, || {
        let how = Interpolation::Bilinear(Addressing::Clamp);
        resize_into(&stream, Image::new(&image, from)?, how, ImageMut::new(&mut plain, to)?)
    })?;
    let (read, texture_seconds) = through_texture(device, pixels, smooth, from, to)?;
    // Two axes, half a unit of a weight each, and as much as coordinates of f32 are off; the range is that of all
    // pixels.
    let coordinates = from.width().max(from.height()) as f64 * 2f64.powi(-23);
    let bound = 255.0 * (2.0 * (1.0 / 512.0 + coordinates) + 20.0 * 2f64.powi(-24));
    let differences = read.iter().zip(plain.to_vec()?).map(|(a, b)| 255.0 * f64::from((a - b).abs()));
    let line = line("linear", device, [texture_seconds, plain_seconds], differences, bound)?;
    Ok((read, line))
}

/// Reads of whole texels, beside the nearest pixel.
fn nearest(
    device: &Device,
    pixels: &[u8],
    from: ImageLayout,
    to: ImageLayout,
) -> Result<Line, Box<dyn Error>> {
    let (image, mut plain) = (device.upload(pixels)?, device.zeroed::<u8>(to.span())?);
    let stream = device.stream()?;
    let plain_seconds = timing::seconds(&stream, || {
        let how = Interpolation::Nearest;
        resize_into(&stream, Image::new(&image, from)?, how, ImageMut::new(&mut plain, to)?)
    })?;
    let (read, texture_seconds) = through_texture(device, pixels, Descriptor::default(), from, to)?;
    // Where a place is as near to a boundary as coordinates of f32 are exact, either pixel is the nearest.
    let on_boundary = |o: usize, from: usize, to: usize| {
        let beyond = (2 * o + 1) * from % (2 * to);
        beyond.min(2 * to - beyond) as f64 / (2 * to) as f64 <= from as f64 * 2f64.powi(-22)
    };
    let plain = plain.to_vec()?;
    let differences = (0..plain.len()).map(|at| {
        let (row, column) = (at / to.width(), at % to.width());
        let either =
            on_boundary(column, from.width(), to.width()) || on_boundary(row, from.height(), to.height());
        if either { 0.0 } else { f64::from((read[at] - f32::from(plain[at])).abs()) }
    });
    line("point", device, [texture_seconds, plain_seconds], differences, 0.0)
}

/// The texture in its new size, and the seconds that took.
fn through_texture(
    device: &Device,
    pixels: &[u8],
    descriptor: Descriptor,
    from: ImageLayout,
    to: ImageLayout,
) -> Result<(Vec<f32>, f64), Box<dyn Error>> {
    let texture = Texture::new(device, &[from.width(), from.height()], 1, descriptor, pixels)?;
    let stream = device.stream()?;
    let mut output = device.zeroed::<f32>(to.span())?;
    let seconds = timing::seconds(&stream, || {
        texture::resize_into(&stream, &texture, ImageMut::new(&mut output, to)?)
    })?;
    Ok((output.to_vec()?, seconds))
}

fn line(
    filter: &'static str,
    device: &Device,
    [texture, plain]: [f64; 2],
    differences: impl Iterator<Item = f64>,
    bound: f64,
) -> Result<Line, Box<dyn Error>> {
    let worst = differences.fold(0.0, f64::max);
    if worst > bound {
        return Err(format!("{filter}: the two differ by {worst} steps of gray, the bound is {bound}").into());
    }
    Ok(Line { filter, device: device.name(), texture_ms: texture * 1e3, plain_ms: plain * 1e3, worst, bound })
}

fn print(device: &Device, [from, to]: [ImageLayout; 2], lines: &[Line], path: &Path) {
    let [from, to] = [from, to].map(|layout| format!("{} × {}", layout.width(), layout.height()));
    println!("device {device}; {from} to {to} pixels, written to {}\n", path.display());
    let mut table =
        Table::new(["filter", "texture ms", "plain loads ms", "worst difference of 255", "bound"]);
    for line in lines {
        table.row([
            line.filter.to_owned(),
            format!("{:.4}", line.texture_ms),
            format!("{:.4}", line.plain_ms),
            format!("{:.3}", line.worst),
            format!("{:.3}", line.bound),
        ]);
    }
    println!("{table}");
}
