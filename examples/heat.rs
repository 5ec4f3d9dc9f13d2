//! A plate with hot spots cools, as an animation.
//!
//! `cargo run --release --example heat` writes `out/heat.gif`; `--output FOLDER` a PNG for each frame. The steps
//! between two frames are one call of `gpu_stencil::iterate`, on the best device there is.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gpu_core::{Device, Scratch};
use gpu_first::{exit_code, plate};
use gpu_stencil::iterate::{Boundary, Grid, Problem, Stencil, iterate_into, iterate_scratch, residual};
use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, Rgba, RgbaImage};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Write the cooling of a plate with hot spots as an animation
#[derive(Parser)]
struct Options {
    /// A file that ends with `.gif`, or a folder for a PNG of each frame
    #[arg(long, default_value = "out/heat.gif")]
    output: PathBuf,
    /// Columns of the plate
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u16).range(1..=8192))]
    width: u16,
    /// Rows of the plate
    #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u16).range(1..=8192))]
    height: u16,
    /// Pictures, the first of the start
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: u32,
    /// Steps from one picture to the next
    #[arg(long, default_value_t = 32)]
    steps: usize,
    /// Diffusivity, in squares of the cells' distance a step: stable up to 0.25
    #[arg(long, default_value_t = 0.24)]
    alpha: f32,
    /// What happens at the plate's edge
    #[arg(long, value_enum, default_value_t = Edge::Insulated)]
    edge: Edge,
    /// Hot spots
    #[arg(long, default_value_t = 12)]
    spots: u32,
    /// Where they are: other numbers, other places
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// `cpu`, `cuda`, `cuda:N` or `simulator`; without it the best there is
    #[arg(long)]
    device: Option<String>,
    /// Print a JSON line for each picture
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Edge {
    /// Kept as cold as it is
    Cold,
    /// Nothing flows through
    Insulated,
    /// It meets the opposite one
    Periodic,
}

/// What is known of a picture.
#[derive(Serialize)]
struct Line {
    frame: u32,
    steps: usize,
    mean: f64,
    largest: f32,
    /// What the next step changes in a cell, at most, and in all cells, as a root of the sum of squares.
    change_max: f32,
    change_l2: f32,
    /// Of the steps before it.
    milliseconds: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.device {
        Some(name) => Device::by_name(name)?,
        None => Device::from_env()?,
    };
    let (rows, columns) = (usize::from(options.height), usize::from(options.width));
    let (grid, heat) = (Grid::plane(rows, columns)?, Stencil::heat(2, options.alpha)?);
    let boundary = match options.edge {
        Edge::Cold => Boundary::Dirichlet,
        Edge::Insulated => Boundary::Neumann,
        Edge::Periodic => Boundary::Periodic,
    };
    let problem = Problem::new(&heat, grid, boundary)?;
    let stream = device.default_stream();
    let mut state = device.upload(&plate::cells(columns, rows, options.spots, options.seed))?;
    let mut next = device.alloc::<f32>(grid.len())?;
    let mut scratch = Scratch::with_size(&stream, iterate_scratch::<f32>(grid, options.steps))?;

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new(options.frames.into())
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} pictures")?);
    let mut film = Film::create(&options.output)?;
    let mut milliseconds = 0.0;
    for frame in 0..options.frames {
        if frame > 0 {
            let start = Instant::now();
            iterate_into(&stream, &problem, &state, options.steps, &mut next, &mut scratch)?;
            stream.synchronize()?;
            milliseconds = start.elapsed().as_secs_f64() * 1e3;
            std::mem::swap(&mut state, &mut next);
        }
        let cells = state.to_vec()?;
        film.add(frame, picture(&cells, options))?;
        if options.json {
            let change = residual(&problem, &state)?;
            let line = Line {
                frame,
                steps: frame as usize * options.steps,
                mean: cells.iter().copied().map(f64::from).sum::<f64>() / cells.len() as f64,
                largest: cells.iter().copied().fold(f32::NEG_INFINITY, f32::max),
                change_max: change.max,
                change_l2: change.l2,
                milliseconds,
            };
            println!("{}", serde_json::to_string(&line)?);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !options.json {
        println!("device {device}: {}", device.why());
        println!(
            "{} pictures of {columns} × {rows} cells, {} steps apart: {}",
            options.frames,
            options.steps,
            options.output.display()
        );
    }
    Ok(())
}

/// The cells as a thermal camera shows them.
fn picture(cells: &[f32], options: &Options) -> RgbaImage {
    RgbaImage::from_fn(options.width.into(), options.height.into(), |x, y| {
        let [red, green, blue] = plate::colour(cells[y as usize * usize::from(options.width) + x as usize]);
        Rgba([red, green, blue, 255])
    })
}

/// Where the pictures go.
enum Film {
    Gif(Box<GifEncoder<BufWriter<File>>>),
    Folder(PathBuf),
}

impl Film {
    fn create(output: &Path) -> Result<Self, Box<dyn Error>> {
        let named = |error: std::io::Error| format!("{}: {error}", output.display());
        if !output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gif")) {
            std::fs::create_dir_all(output).map_err(named)?;
            return Ok(Self::Folder(output.to_owned()));
        }
        if let Some(folder) = output.parent() {
            std::fs::create_dir_all(folder).map_err(named)?;
        }
        let mut gif = GifEncoder::new_with_speed(BufWriter::new(File::create(output).map_err(named)?), 10);
        gif.set_repeat(Repeat::Infinite)?;
        Ok(Self::Gif(Box::new(gif)))
    }

    fn add(&mut self, frame: u32, picture: RgbaImage) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Gif(gif) => {
                gif.encode_frame(Frame::from_parts(picture, 0, 0, Delay::from_numer_denom_ms(60, 1)))?;
            }
            Self::Folder(folder) => picture.save(folder.join(format!("heat-{frame:05}.png")))?,
        }
        Ok(())
    }
}
