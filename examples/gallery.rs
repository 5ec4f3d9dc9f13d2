//! The picture at the top of README.md: a photograph, its transposition, its blur, and a plate that cools.
//!
//! `cargo run --release --example gallery` writes `out/gallery.png`, on the best device there is, after a look
//! whether the CPU reference gives the same picture. With `--output examples/images/gallery.jpg` it is the one that
//! is shown.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gpu_core::{Buffer, Device};
use gpu_examples::chart::{FONT, font};
use gpu_examples::{exit_code, plate};
use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate};
use gpu_stencil::resize::{Addressing, Interpolation, resize_into};
use gpu_stencil::{Border, Image, ImageLayout, ImageMut, gaussian_into};
use image::codecs::jpeg::JpegEncoder;
use image::{RgbImage, imageops};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

/// Show a photograph beside its transposition, its blur, and a plate that cools
#[derive(Parser)]
struct Options {
    /// The photograph: PNG or JPEG
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/images/raccoon.jpg"))]
    input: PathBuf,
    /// Where the picture goes: a PNG, or a JPEG where the name ends so
    #[arg(long, default_value = "out/gallery.png")]
    output: PathBuf,
    /// Rows of pixels of each part
    #[arg(long, default_value_t = 396, value_parser = clap::value_parser!(u16).range(32..=4096))]
    height: u16,
    /// Standard deviation of the blur, in the photograph's pixels
    #[arg(long, default_value_t = 7.0)]
    sigma: f64,
    /// Steps that the plate has cooled for in the lower one of its pictures
    #[arg(long, default_value_t = 150)]
    steps: usize,
    /// `cpu`, `simulator`, `cuda` or `cuda:N`; without it, what GPU_DEVICE names, else the best there is
    #[arg(long)]
    device: Option<String>,
    /// Print one JSON object instead of words
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(Serialize)]
struct Report<'a> {
    device: String,
    why: &'a str,
    output: &'a Path,
    width: u32,
    height: u32,
    /// Of everything on the device, with its copies there and back.
    milliseconds: f64,
    checked: bool,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let photo = image::open(&options.input)
        .map_err(|error| format!("{}: {error}", options.input.display()))?
        .to_rgb8();
    let start = Instant::now();
    let parts = parts(&device, &photo, options)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if parts != self::parts(&Device::cpu(), &photo, options)? {
        return Err(format!("the picture of {device} is not that of the CPU").into());
    }
    let picture = beside_each_other(&parts)?;
    save(&picture, &options.output)?;

    let report = Report {
        device: device.to_string(),
        why: device.why(),
        output: &options.output,
        width: picture.width(),
        height: picture.height(),
        milliseconds,
        checked: true,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    println!("device    {} ({})", report.device, report.why);
    println!("output    {}, {} × {}", report.output.display(), report.width, report.height);
    println!("\nmade in {milliseconds:.1} ms, with the bits of the CPU reference");
    Ok(())
}

/// A picture and what stands below it.
type Part = (RgbImage, &'static str);

/// The parts of the picture, all computed on `device`.
fn parts(device: &Device, photo: &RgbImage, options: &Options) -> Result<Vec<Part>, Box<dyn Error>> {
    let rows = usize::from(options.height);
    let photo = Pixels::upload(device, photo)?;
    let (before, after) = plates(device, rows, options.steps)?;
    Ok(vec![
        (photo.shrunk_to(rows)?, "a photograph"),
        (photo.transposed()?.shrunk_to(rows)?, "transposed"),
        (photo.blurred(options.sigma)?.shrunk_to(rows)?, "blurred"),
        (above(&before, &after, options.height.into()), "a plate cools"),
    ])
}

/// A picture on a device, red, green and blue of a pixel beside each other.
struct Pixels {
    buffer: Buffer<u8>,
    layout: ImageLayout,
}

impl Pixels {
    fn upload(device: &Device, picture: &RgbImage) -> Result<Self, Box<dyn Error>> {
        let layout = ImageLayout::new(picture.width() as usize, picture.height() as usize, 3)?;
        Ok(Self { buffer: device.upload(picture.as_raw())?, layout })
    }

    /// What a function of two images makes of it.
    fn map<E: Error + 'static>(
        &self,
        (width, height): (usize, usize),
        enqueue: impl FnOnce(Image<'_, u8>, ImageMut<'_, u8>) -> Result<(), E>,
    ) -> Result<Self, Box<dyn Error>> {
        let layout = ImageLayout::new(width, height, 3)?;
        let mut buffer = self.buffer.device().alloc(layout.span())?;
        enqueue(Image::new(&self.buffer, self.layout)?, ImageMut::new(&mut buffer, layout)?)?;
        Ok(Self { buffer, layout })
    }

    fn transposed(&self) -> Result<Self, Box<dyn Error>> {
        let (width, height) = (self.layout.width(), self.layout.height());
        let buffer = gpu_transpose::permute(&self.buffer, &[height, width, 3], &[1, 0, 2])?;
        Ok(Self { buffer, layout: ImageLayout::new(height, width, 3)? })
    }

    fn blurred(&self, sigma: f64) -> Result<Self, Box<dyn Error>> {
        let stream = self.buffer.device().default_stream();
        self.map((self.layout.width(), self.layout.height()), |input, output| {
            gaussian_into(&stream, input, sigma, 4.0, Border::Reflect, output)
        })
    }

    /// With so many rows. Halved while that can be: a pixel is the mean of four then, and none is left out.
    fn shrunk_to(&self, rows: usize) -> Result<RgbImage, Box<dyn Error>> {
        let stream = self.buffer.device().default_stream();
        let resized = |from: &Self, size| {
            from.map(size, |input, output| {
                resize_into(&stream, input, Interpolation::Bilinear(Addressing::Clamp), output)
            })
        };
        let size = |layout: ImageLayout| (layout.width(), layout.height());
        let mut last = resized(self, size(self.layout))?;
        while last.layout.height() >= 2 * rows && last.layout.width() > 1 {
            let (width, height) = size(last.layout);
            last = resized(&last, (width / 2, height / 2))?;
        }
        let (width, height) = size(last.layout);
        let last = resized(&last, ((width * rows / height).max(1), rows))?;
        let (width, height) = (last.layout.width() as u32, last.layout.height() as u32);
        Ok(RgbImage::from_raw(width, height, last.buffer.to_vec()?).expect("three bytes a pixel"))
    }
}

/// A plate with hot spots, and what it is after so many steps: both fit above each other.
fn plates(device: &Device, rows: usize, steps: usize) -> Result<(RgbImage, RgbImage), Box<dyn Error>> {
    let rows = (rows - GAP as usize) / 2;
    let columns = rows * 4 / 3;
    let (grid, heat) = (Grid::plane(rows, columns)?, Stencil::heat(2, 0.24)?);
    let problem = Problem::new(&heat, grid, Boundary::Neumann)?;
    let start = plate::cells(columns, rows, 12, 1);
    let input = device.upload(&start)?;
    let output = iterate(&problem, &input, steps)?;
    let shown = |cells: &[f32]| {
        RgbImage::from_fn(columns as u32, rows as u32, |x, y| {
            image::Rgb(plate::colour(cells[y as usize * columns + x as usize]))
        })
    };
    Ok((shown(&start), shown(&output.to_vec()?)))
}

/// Pixels between two pictures.
const GAP: u32 = 12;
/// Pixels below them, for words of this size.
const BELOW: u32 = 40;
const WORDS: u32 = 24;

/// One picture above another, together `height` pixels high.
fn above(upper: &RgbImage, lower: &RgbImage, height: u32) -> RgbImage {
    let mut both = RgbImage::from_pixel(upper.width(), height, image::Rgb([255; 3]));
    imageops::replace(&mut both, upper, 0, 0);
    imageops::replace(&mut both, lower, 0, i64::from(height - lower.height()));
    both
}

/// All in a row, on white, with words below.
fn beside_each_other(parts: &[Part]) -> Result<RgbImage, Box<dyn Error>> {
    let width = parts.iter().map(|(part, _)| part.width() + GAP).sum::<u32>() - GAP;
    let height = parts.iter().map(|(part, _)| part.height()).max().unwrap_or(0);
    let mut picture = RgbImage::from_pixel(width, height + BELOW, image::Rgb([255; 3]));
    let (mut left, mut words) = (0, Vec::new());
    for (part, text) in parts {
        imageops::replace(&mut picture, part, i64::from(left), 0);
        words.push((*text, left + part.width() / 2));
        left += part.width() + GAP;
    }
    font()?;
    let size = picture.dimensions();
    let paper = BitMapBackend::with_buffer(&mut picture, size).into_drawing_area();
    let style = (FONT, WORDS).into_font().color(&RGBColor(60, 66, 74));
    let style = style.pos(Pos::new(HPos::Center, VPos::Bottom));
    for (text, middle) in words {
        paper.draw(&Text::new(text, (middle as i32, (height + BELOW - 4) as i32), style.clone()))?;
    }
    paper.present()?;
    drop(paper);
    Ok(picture)
}

fn save(picture: &RgbImage, file: &Path) -> Result<(), Box<dyn Error>> {
    let named = |error: &dyn Error| format!("{}: {error}", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| named(&error))?;
    }
    let is_jpeg =
        |extension: &std::ffi::OsStr| ["jpg", "jpeg"].iter().any(|jpeg| extension.eq_ignore_ascii_case(jpeg));
    if !file.extension().is_some_and(is_jpeg) {
        return Ok(picture.save(file).map_err(|error| named(&error))?);
    }
    let writer = BufWriter::new(File::create(file).map_err(|error| named(&error))?);
    Ok(JpegEncoder::new_with_quality(writer, 88).encode_image(picture).map_err(|error| named(&error))?)
}
