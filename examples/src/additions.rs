//! Sums of vectors and of matrices with the grid and the block set by hand, their copies, and the CPU's loop beside
//! them.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gpu_core::{Buffer, Device, Kind, Pinned, Stream};
use gpu_linalg::variants::add;
use gpu_std::launch::LaunchConfig;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::chart::{Curve, curves, paper};
use crate::device::gpu_or_simulator;
use crate::table::Table;
use crate::timing;

/// A test of the literature: what is added, how often, and by which threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// Its number there.
    pub test: u32,
    /// Rows; one of a vector.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// How often the sum is computed between the copies.
    pub repeats: u32,
    /// Blocks in x and y.
    pub grid: [u32; 2],
    /// Threads of a block in x and y.
    pub block: [u32; 2],
}

const fn vector(test: u32, columns: usize, repeats: u32, grid: u32, block: u32) -> Configuration {
    Configuration { test, rows: 1, columns, repeats, grid: [grid, 1], block: [block, 1] }
}

const fn square(test: u32, side: usize, grid: [u32; 2], block: [u32; 2]) -> Configuration {
    Configuration { test, rows: side, columns: side, repeats: 1, grid, block }
}

/// Sums of vectors: more elements (1 to 6), more repetitions of few (7 to 9) and of many (10 to 12), larger blocks (13
/// to 21). Course on GPU computing, Universidad Nacional del Comahue, table 2.
pub const VECTORS: [Configuration; 21] = [
    vector(1, 100, 1, 1, 256),
    vector(2, 1_000, 1, 4, 256),
    vector(3, 10_000, 1, 40, 256),
    vector(4, 100_000, 1, 391, 256),
    vector(5, 1_000_000, 1, 3907, 256),
    vector(6, 10_000_000, 1, 39063, 256),
    vector(7, 100, 100, 1, 256),
    vector(8, 100, 200, 1, 256),
    vector(9, 100, 300, 1, 256),
    vector(10, 10_000_000, 100, 39063, 256),
    vector(11, 10_000_000, 200, 39063, 256),
    vector(12, 10_000_000, 300, 39063, 256),
    vector(13, 10_000_000, 300, 19532, 512),
    vector(14, 10_000_000, 300, 13021, 768),
    vector(15, 10_000_000, 300, 9766, 1024),
    vector(16, 1_000, 1, 1, 1024),
    vector(17, 10_000, 1, 10, 1024),
    vector(18, 100_000, 1, 98, 1024),
    vector(19, 1_000_000, 1, 977, 1024),
    vector(20, 10_000_000, 100, 9766, 1024),
    vector(21, 10_000_000, 200, 9766, 1024),
];

/// Sums of matrices: more elements (1 to 6), a grid of rows far too wide beside one of squares (7, 8), blocks that are
/// no whole warps and grids much too large (9 to 12). Table 3 of the same.
pub const MATRICES: [Configuration; 12] = [
    square(1, 100, [4, 4], [32, 32]),
    square(2, 500, [16, 16], [32, 32]),
    square(3, 1_000, [32, 32], [32, 32]),
    square(4, 2_500, [79, 79], [32, 32]),
    square(5, 5_000, [157, 157], [32, 32]),
    square(6, 10_000, [313, 313], [32, 32]),
    square(7, 5_000, [157, 5_000], [1024, 1]),
    square(8, 5_000, [157, 157], [32, 32]),
    square(9, 5_000, [500, 5_000], [1000, 1]),
    square(10, 5_000, [314, 314], [16, 16]),
    square(11, 5_000, [1_000, 1_000], [5, 50]),
    square(12, 5_000, [10_000, 10_000], [5, 5]),
];

impl Configuration {
    /// The same with extents and grid divided by `by`, rounded up, and three repetitions at most: for the simulator.
    #[must_use]
    pub fn smaller(self, by: u32) -> Self {
        let extent = |extent: usize| extent.div_ceil(by as usize);
        Self {
            rows: extent(self.rows),
            columns: extent(self.columns),
            repeats: self.repeats.min(3),
            grid: self.grid.map(|blocks| blocks.div_ceil(by)),
            ..self
        }
    }

    /// Elements of the result.
    pub fn elements(&self) -> usize {
        self.rows * self.columns
    }

    /// Threads of the launch.
    pub fn threads(&self) -> u64 {
        self.grid.iter().chain(&self.block).map(|&extent| u64::from(extent)).product()
    }

    /// Grid and block.
    pub fn launch(&self) -> LaunchConfig {
        let [x, y] = self.grid;
        let [block_x, block_y] = self.block;
        LaunchConfig { grid: [x, y, 1], block: [block_x, block_y, 1], shared_bytes: 0 }
    }
}

/// Runs of which the median is reported, on a GPU.
const RUNS: usize = 5;

/// What all of these programs take.
#[derive(clap::Args)]
pub struct Common {
    /// Print JSON lines instead of a table
    #[arg(long)]
    pub json: bool,
    /// Draw the times of tests 1 to 6 over the number of elements
    #[arg(long, value_name = "FILE.png")]
    pub plot: Option<PathBuf>,
    /// `cuda`, `cuda:N` or `simulator`; without it the first GPU, else the simulator
    #[arg(long)]
    pub device: Option<String>,
    /// Only these tests, by number
    #[arg(long, value_delimiter = ',')]
    pub test: Vec<u32>,
    /// Small sizes and few repetitions, on a GPU too; the simulator always takes them
    #[arg(long)]
    pub quick: bool,
}

/// One measurement, in milliseconds; the CPU's and the kernel's of all repetitions.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Line {
    #[serde(flatten)]
    pub configuration: Configuration,
    pub threads: u64,
    pub device: String,
    pub cpu_ms: f64,
    pub kernel_ms: f64,
    pub pageable: Copies,
    pub pinned: Copies,
}

/// What copies take, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Copies {
    /// Both operands to the device.
    pub htod_ms: f64,
    /// The result back.
    pub dtoh_ms: f64,
    /// Both.
    pub copies_ms: f64,
    /// With the kernels.
    pub total_ms: f64,
}

impl Copies {
    fn new(htod_ms: f64, dtoh_ms: f64, kernel_ms: f64) -> Self {
        let copies_ms = htod_ms + dtoh_ms;
        Self { htod_ms, dtoh_ms, copies_ms, total_ms: copies_ms + kernel_ms }
    }
}

/// Measures `tests`, or those of them that are asked for, and prints a table or lines. Where nothing is said of the
/// size, the simulator gets them [`smaller`](Configuration::smaller) `by` so much.
///
/// # Errors
/// Those of the device, a wrong sum, a test that is not there.
#[inline]
pub fn run(options: &Common, title: &str, tests: &[Configuration], by: u32) -> Result<(), Box<dyn Error>> {
    let device = gpu_or_simulator(options.device.as_deref())?;
    if let Some(number) = options.test.iter().find(|&&number| tests.iter().all(|test| test.test != number)) {
        return Err(format!("there is no test {number}; there are 1 to {}", tests.len()).into());
    }
    let chosen = |test: &&Configuration| options.test.is_empty() || options.test.contains(&test.test);
    let small = options.quick || device.kind() != Kind::Cuda;
    let size = |test: &Configuration| if small { test.smaller(by) } else { *test };
    let chosen: Vec<Configuration> = tests.iter().filter(chosen).map(size).collect();

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new(chosen.len() as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for configuration in chosen {
        bar.set_message(format!("test {}", configuration.test));
        bar.tick();
        lines.push(measure(&device, configuration)?);
        bar.inc(1);
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        println!("device {device}; {title}, milliseconds, all equal to the CPU's\n");
        println!("{}", table(&lines));
    }
    if let Some(file) = &options.plot {
        plot(file, &format!("{title}, {}", device.name()), &lines)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

#[inline]
fn table(lines: &[Line]) -> Table {
    let mut table = Table::new([
        "test",
        "rows",
        "columns",
        "times",
        "grid",
        "block",
        "cpu",
        "kernel",
        "HtoD",
        "DtoH",
        "copies",
        "total",
        "pinned HtoD",
        "DtoH",
        "copies",
        "total",
    ]);
    for line in lines {
        let Configuration { test, rows, columns, repeats, grid, block, .. } = line.configuration;
        let head = [test.to_string(), rows.to_string(), columns.to_string(), repeats.to_string()];
        let shapes = [grid, block].map(|[x, y]| format!("{x}×{y}"));
        let of = |copies: Copies| [copies.htod_ms, copies.dtoh_ms, copies.copies_ms, copies.total_ms];
        let times = [line.cpu_ms, line.kernel_ms].into_iter().chain(of(line.pageable)).chain(of(line.pinned));
        let times = times.map(|time| format!("{time:.4}"));
        table.row(head.into_iter().chain(shapes).chain(times));
    }
    table
}

/// Times over elements, of the first six tests.
#[inline]
fn plot(file: &Path, caption: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    type Value = fn(&Line) -> f64;
    let values: [(&str, Value); 4] = [
        ("cpu", |line| line.cpu_ms),
        ("kernel", |line| line.kernel_ms),
        ("with copies", |line| line.pageable.total_ms),
        ("… pinned", |line| line.pinned.total_ms),
    ];
    let shown: Vec<&Line> = lines.iter().filter(|line| line.configuration.test <= 6).collect();
    if shown.is_empty() {
        return Err("tests 1 to 6 are drawn, and none of them was measured".into());
    }
    let point = |line: &Line, value: Value| (line.configuration.elements() as f64, value(line));
    let of = |(name, value): (&'static str, Value)| -> Curve<'_> {
        (name, shown.iter().map(|line| point(line, value)).collect())
    };
    let root = paper(file, (1000, 600))?;
    curves(&root, caption.to_owned(), "ms", &values.map(of))?;
    root.present()?;
    Ok(())
}

/// The operands and the result, on the device and in the host's memory of one kind.
struct Operands<H> {
    device: [Buffer<f32>; 3],
    host: [H; 3],
}

#[inline]
fn measure(device: &Device, configuration: Configuration) -> Result<Line, Box<dyn Error>> {
    let elements = configuration.elements();
    let value = |index: usize, factor: u32| (index as u32).wrapping_mul(factor) as f32;
    let x: Vec<f32> = (0..elements).map(|index| value(index, 2_654_435_761)).collect();
    let y: Vec<f32> = (0..elements).map(|index| value(index, 2_246_822_519)).collect();
    let stream = device.stream()?;
    let runs = if device.kind() == Kind::Cuda { RUNS } else { 1 };

    let mut expected = vec![0.0; elements];
    let cpu = timing::median(runs, || {
        let start = Instant::now();
        for _ in 0..configuration.repeats {
            let (x, y) = (black_box(&x), black_box(&y));
            expected.iter_mut().zip(x).zip(y).for_each(|((sum, x), y)| *sum = x + y);
            black_box(&mut expected);
        }
        Ok(start.elapsed().as_secs_f64())
    })?;

    let buffers = || -> Result<[Buffer<f32>; 3], gpu_core::Error> {
        Ok([device.alloc(elements)?, device.alloc(elements)?, device.zeroed(elements)?])
    };
    let mut pageable = Operands { device: buffers()?, host: [x, y, vec![0.0; elements]] };
    let mut kernel = Vec::new();
    let (mut up, mut down) = (Vec::new(), Vec::new());
    // The first run compiles the kernel.
    for run in 0..=runs {
        let start = Instant::now();
        copy_in(&mut pageable)?;
        let copied = start.elapsed().as_secs_f64();
        let computed = compute(&stream, &configuration, &mut pageable.device)?;
        let start = Instant::now();
        pageable.device[2].copy_to(&mut pageable.host[2])?;
        let result = start.elapsed().as_secs_f64();
        if run > 0 || runs == 1 {
            kernel.push(computed);
            up.push(copied);
            down.push(result);
        }
    }
    check(&configuration, &pageable.host[2], &expected)?;

    let mut pinned: [Pinned<f32>; 3] =
        [device.pinned(elements)?, device.pinned(elements)?, device.pinned(elements)?];
    pinned[0].copy_from_slice(&pageable.host[0]);
    pinned[1].copy_from_slice(&pageable.host[1]);
    let mut pinned = Operands { device: buffers()?, host: pinned };
    let (mut pinned_up, mut pinned_down) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let Operands { device: [x, y, z], host: [x_host, y_host, z_host] } = pinned;
        let start = Instant::now();
        let first = stream.upload(x_host, x).map_err(gpu_core::Error::from)?;
        let second = stream.upload(y_host, y).map_err(gpu_core::Error::from)?;
        let ((x_host, x), (y_host, y)) = (first.wait()?, second.wait()?);
        pinned_up.push(start.elapsed().as_secs_f64());
        let mut buffers = [x, y, z];
        compute(&stream, &configuration, &mut buffers)?;
        let [x, y, z] = buffers;
        let start = Instant::now();
        let (z_host, z) = stream.download(z, z_host).map_err(gpu_core::Error::from)?.wait()?;
        pinned_down.push(start.elapsed().as_secs_f64());
        pinned = Operands { device: [x, y, z], host: [x_host, y_host, z_host] };
    }
    check(&configuration, &pinned.host[2], &expected)?;

    let milliseconds = |mut seconds: Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2] * 1e3
    };
    let kernel_ms = milliseconds(kernel);
    Ok(Line {
        configuration,
        threads: configuration.threads(),
        device: device.name(),
        cpu_ms: cpu * 1e3,
        kernel_ms,
        pageable: Copies::new(milliseconds(up), milliseconds(down), kernel_ms),
        pinned: Copies::new(milliseconds(pinned_up), milliseconds(pinned_down), kernel_ms),
    })
}

#[inline]
fn copy_in(operands: &mut Operands<Vec<f32>>) -> Result<(), gpu_core::Error> {
    operands.device[0].copy_from(&operands.host[0])?;
    operands.device[1].copy_from(&operands.host[1])
}

/// Adds as often as the test says; seconds of all repetitions.
#[inline]
fn compute(
    stream: &Stream,
    configuration: &Configuration,
    [x, y, z]: &mut [Buffer<f32>; 3],
) -> Result<f64, Box<dyn Error>> {
    let shape = [configuration.rows, configuration.columns];
    let clock = Instant::now();
    let start = stream.record()?;
    for _ in 0..configuration.repeats {
        add(stream, configuration.launch(), &*x, &*y, &mut *z, shape)?;
    }
    let end = stream.record()?;
    stream.synchronize()?;
    if stream.device().kind() == Kind::Cuda {
        return Ok(f64::from(end.elapsed_ms(&start)?) / 1e3);
    }
    Ok(clock.elapsed().as_secs_f64())
}

#[inline]
fn check(configuration: &Configuration, actual: &[f32], expected: &[f32]) -> Result<(), Box<dyn Error>> {
    let wrong =
        actual.iter().zip(expected).position(|(actual, expected)| actual.to_bits() != expected.to_bits());
    match wrong {
        Some(at) => {
            Err(format!("test {}: sum {at} is {}, not {}", configuration.test, actual[at], expected[at])
                .into())
        }
        None => Ok(()),
    }
}
