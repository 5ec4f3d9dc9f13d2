//! What each step of a product of matrices is worth: from a thread an element to the tensor cores.
//!
//! `cargo run --release --example gemm_ladder` multiplies square matrices of 256 to 8192 rows with the textbook's
//! kernels (a thread an element, tiles in shared memory, 8 × 8 elements a thread in registers) and `gemm`, of `f32`;
//! then `bf16` on the tensor cores, with sums in `f32`, one thing after the other: fragments in registers (`mma`), the
//! next tiles on their way meanwhile (`cp.async`), tiles in shared memory (`wgmma`), the copy engine (TMA), a warp of
//! its own for that, a persistent grid with larger tiles, clusters of two blocks that share what they bring; beside
//! them tiles for thin factors, and factors copied into aligned memory first; and `gemm_tensor`. TFLOP/s as a table
//! and, with `--plot FILE.png`, as a chart against n. Without a GPU it predicts an H200's times of the textbook's
//! steps, or with `--model` another device's; those of the others are in example `performance_model`, as they take the
//! kernels' text, too.
//! `--device simulator` runs all in the simulator, on small matrices. On the CPU there are no kernels: only
//! `gemm` and `gemm_tensor` run.
//!
//! Elements are small integers, so that every result is exact, whatever the order of its sum: each is checked.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gpu_core::{Buffer, Device, Kind, Scratch, Stream};
use gpu_examples::chart::{Curve, curves_over, paper};
use gpu_examples::model::{Case as Predicted, Model, gpu_or_model};
use gpu_examples::predicted::Subject;
use gpu_examples::table::Table;
use gpu_examples::{exit_code, timing};
use gpu_linalg::variants::{self, GemmVariant, TensorStep, TensorVariant};
use gpu_linalg::{Layout, Matrix, MatrixMut, bf16, gemm, gemm_tensor};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Time all steps of a product of matrices on the device at hand
#[derive(Parser)]
struct Options {
    /// Print JSON lines instead of a table
    #[arg(long)]
    json: bool,
    /// Draw TFLOP/s against n as a chart
    #[arg(long, value_name = "FILE.png")]
    plot: Option<PathBuf>,
    /// `cuda`, `cuda:N`, `cpu` or `simulator`; without it the first GPU, else none: times are predicted
    #[arg(long)]
    device: Option<String>,
    /// Predict times of the textbook's steps on this device, `h200` or `h100`, beside a GPU's; where there is no GPU
    /// and none is asked for, in place of times: on an H200 if not given
    #[arg(long, value_name = "DEVICE", value_parser = Model::by_name)]
    model: Option<Model>,
    /// Rows and columns, one or more; 256 to 8192 on a GPU, to 4096 where times are predicted, to 1024 on the CPU, 64
    /// and 136 in the simulator if not given
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1 << 14))]
    size: Vec<u32>,
    /// Only these steps, by the names in the table
    #[arg(long, value_delimiter = ',', value_parser = Step::by_name)]
    only: Vec<Step>,
}

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Textbook(GemmVariant),
    Fast,
    First(TensorStep),
    Tensor(TensorVariant),
    FastTensor,
}

impl Step {
    const ALL: [Self; 14] = [
        Self::Textbook(GemmVariant::Naive),
        Self::Textbook(GemmVariant::Shared),
        Self::Textbook(GemmVariant::Registers),
        Self::Fast,
        Self::First(TensorStep::Fragments),
        Self::Tensor(TensorVariant::Lanes),
        Self::First(TensorStep::Tiles),
        Self::First(TensorStep::Boxes),
        Self::Tensor(TensorVariant::Narrow),
        Self::Tensor(TensorVariant::Wide),
        Self::Tensor(TensorVariant::Cluster),
        Self::Tensor(TensorVariant::Thin),
        Self::Tensor(TensorVariant::Packed),
        Self::FastTensor,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Textbook(GemmVariant::Naive) => "naive",
            Self::Textbook(GemmVariant::Shared) => "shared",
            Self::Textbook(_) => "registers",
            Self::Fast => "gemm",
            Self::First(TensorStep::Fragments) => "mma",
            Self::Tensor(TensorVariant::Lanes) => "cp.async",
            Self::First(TensorStep::Tiles) => "wgmma",
            Self::First(_) => "TMA",
            Self::Tensor(TensorVariant::Narrow) => "producer warp",
            Self::Tensor(TensorVariant::Wide) => "persistent",
            Self::Tensor(TensorVariant::Cluster) => "clusters",
            Self::Tensor(TensorVariant::Thin) => "thin tiles",
            Self::Tensor(_) => "copied first",
            Self::FastTensor => "gemm_tensor",
        }
    }

    fn by_name(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|step| step.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|step| step.name()).collect();
            format!("there is no `{name}`; there are {}", names.join(", "))
        })
    }

    fn is_tensor(self) -> bool {
        matches!(self, Self::First(_) | Self::Tensor(_) | Self::FastTensor)
    }
}

/// One measurement.
#[derive(Serialize)]
struct Line {
    step: &'static str,
    /// Of the factors; sums and results are `f32`.
    #[serde(rename = "type")]
    element: &'static str,
    n: usize,
    device: String,
    ms: f64,
    teraflops: f64,
}

fn main() -> ExitCode {
    exit_code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let (device, model) = gpu_or_model(options.device.as_deref(), options.model.as_ref())?;
    let sizes = match (&options.size[..], device.kind()) {
        ([], Kind::Cuda) => vec![256, 512, 1024, 2048, 4096, 8192],
        ([], _) if model.is_some() => vec![256, 512, 1024, 2048, 4096],
        ([], Kind::Cpu) => vec![256, 512, 1024],
        ([], _) => vec![64, 136],
        (given, _) => given.to_vec(),
    };
    let has_kernels = device.kind() != Kind::Cpu;
    let is_wanted = |step: &Step| {
        (options.only.is_empty() || options.only.contains(step))
            && (has_kernels || matches!(step, Step::Fast | Step::FastTensor))
    };
    let steps: Vec<Step> = Step::ALL.into_iter().filter(is_wanted).collect();
    if !has_kernels {
        eprintln!("The CPU runs no kernels: only gemm and gemm_tensor, whose results are its own.");
    }

    if let Some(model) = model.as_ref().filter(|_| device.kind() != Kind::Cuda) {
        return Ok(model.show(options.json, &predicted(model, &steps, &sizes, &[])?)?);
    }

    // Nothing is drawn where standard error is not a terminal.
    let bar = ProgressBar::new((sizes.len() * steps.len()) as u64)
        .with_style(ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?);
    let mut lines = Vec::new();
    for &n in &sizes {
        let case = Case::new(&device, n as usize)?;
        for &step in &steps {
            bar.set_message(format!("{}, n = {n}", step.name()));
            bar.tick();
            match case.measure(step) {
                Ok(line) => lines.push(line),
                // Each of them on devices that have what it takes, and of factors that it takes.
                Err(error) => match error.downcast_ref::<gpu_linalg::Error>() {
                    Some(gpu_linalg::Error::NoTensorCores { .. } | gpu_linalg::Error::Unaligned { .. }) => {
                        eprintln!("{}, n = {n}, is left out: {error}", step.name());
                    }
                    _ => return Err(error),
                },
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();

    if options.json {
        lines.iter().try_for_each(|line| serde_json::to_string(line).map(|text| println!("{text}")))?;
    } else {
        print(&device, &lines);
    }
    if let Some(model) = &model {
        model.show(options.json, &predicted(model, &steps, &sizes, &lines)?)?;
    }
    if let Some(file) = &options.plot {
        plot(file, &device.name(), &lines).map_err(|error| format!("{}: {error}", file.display()))?;
        eprintln!("drawn: {}", file.display());
    }
    Ok(())
}

/// What the model says of the textbook's steps, beside what was measured. Those of the plan and of the tensor cores
/// need more than the simulator's counts.
fn predicted(
    model: &Model,
    steps: &[Step],
    sizes: &[u32],
    lines: &[Line],
) -> Result<Vec<Predicted>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for &n in sizes {
        for step in steps {
            if let Step::Textbook(variant) = *step {
                let is_it = |line: &&Line| line.step == step.name() && line.n == n as usize;
                let measured = lines.iter().find(is_it).map(|line| line.ms * 1e3);
                cases.push(model.subject(Subject::Product(variant), n as usize, measured)?);
            }
        }
    }
    let others: Vec<&str> =
        steps.iter().filter(|step| !matches!(step, Step::Textbook(_))).map(|step| step.name()).collect();
    if !others.is_empty() {
        eprintln!(
            "not predicted here, but by example performance_model of gpu-benches: {}",
            others.join(", ")
        );
    }
    Ok(cases)
}

/// Factors of one size, in both types.
struct Case<'a> {
    device: &'a Device,
    n: usize,
    layout: Layout,
    wide: [Buffer<f32>; 2],
    narrow: [Buffer<bf16>; 2],
}

/// Element `at` of a factor: -2 to 2.
fn element(factor: usize, at: usize) -> f32 {
    ((at as u32 + 977 * factor as u32).wrapping_mul(2_654_435_761) >> 16) as f32 % 5.0 - 2.0
}

/// Elements of C that are checked, at most.
const CHECKED: usize = 4096;

impl<'a> Case<'a> {
    fn new(device: &'a Device, n: usize) -> Result<Self, Box<dyn Error>> {
        let of = |factor| (0..n * n).map(|at| element(factor, at)).collect::<Vec<_>>();
        let [a, b] = [of(0), of(1)];
        let halves = |values: &[f32]| values.iter().map(|&value| bf16::from_f32(value)).collect::<Vec<_>>();
        Ok(Self {
            device,
            n,
            layout: Layout::row_major(n, n)?,
            wide: [device.upload(&a)?, device.upload(&b)?],
            narrow: [device.upload(&halves(&a))?, device.upload(&halves(&b))?],
        })
    }

    fn measure(&self, step: Step) -> Result<Line, Box<dyn Error>> {
        let &Self { device, n, layout, .. } = self;
        let stream = device.stream()?;
        let mut c = device.upload(&vec![f32::NAN; n * n])?;
        let mut scratch = Scratch::new(&stream);
        let mut enqueue =
            |stream: &Stream| self.enqueue(step, stream, MatrixMut::new(&mut c, layout)?, &mut scratch);
        enqueue(&stream)?;
        let seconds = timing::seconds(&stream, || enqueue(&stream))?;
        self.check(step, &c.to_vec()?)?;
        Ok(Line {
            step: step.name(),
            element: if step.is_tensor() { "bf16" } else { "f32" },
            n,
            device: device.name(),
            ms: seconds * 1e3,
            teraflops: 2.0 * (n as f64).powi(3) / seconds / 1e12,
        })
    }

    /// The factors as matrices of `bf16`.
    fn halves(&self) -> Result<[Matrix<'_, bf16>; 2], gpu_linalg::Error> {
        let [a, b] = &self.narrow;
        Ok([Matrix::new(a, self.layout)?, Matrix::new(b, self.layout)?])
    }

    fn enqueue(
        &self,
        step: Step,
        stream: &Stream,
        c: MatrixMut<'_, f32>,
        scratch: &mut Scratch,
    ) -> Result<(), gpu_linalg::Error> {
        let [wide_a, wide_b] = &self.wide;
        let [a, b] = self.halves()?;
        match step {
            Step::Textbook(variant) => {
                variants::gemm(variant, stream, wide_a, wide_b, c.into_data(), [self.n; 3])
            }
            Step::Fast => {
                let (a, b) = (Matrix::new(wide_a, self.layout)?, Matrix::new(wide_b, self.layout)?);
                gemm(stream, 1.0, a, b, 0.0, c, scratch)
            }
            Step::First(step) => variants::gemm_step(
                step,
                stream,
                &self.narrow[0],
                &self.narrow[1],
                c.into_data(),
                [self.n; 3],
            ),
            Step::Tensor(variant) => variants::gemm_tensor(stream, variant, 1.0, a, b, 0.0, c, scratch),
            Step::FastTensor => gemm_tensor(stream, 1.0, a, b, 0.0, c, scratch),
        }
    }

    /// Compares elements of C, all of them or evenly spread, with sums of integers.
    fn check(&self, step: Step, c: &[f32]) -> Result<(), Box<dyn Error>> {
        let n = self.n;
        for at in (0..n * n).step_by((n * n / CHECKED).max(1) | 1) {
            let (row, column) = (at / n, at % n);
            let products = (0..n).map(|k| element(0, row * n + k) as i64 * element(1, k * n + column) as i64);
            let expected = products.sum::<i64>() as f32;
            if c[at] != expected {
                let name = step.name();
                return Err(format!("{name}: row {row}, column {column} is {}, not {expected}", c[at]).into());
            }
        }
        Ok(())
    }
}

fn print(device: &Device, lines: &[Line]) {
    println!("device {device}; all results exact\n");
    let mut table = Table::new(["step", "type", "n", "ms", "TFLOP/s"]);
    for line in lines {
        table.row([
            line.step.to_owned(),
            line.element.to_owned(),
            line.n.to_string(),
            format!("{:.4}", line.ms),
            format!("{:.5}", line.teraflops),
        ]);
    }
    println!("{table}");
}

fn plot(file: &Path, device: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    if lines.is_empty() {
        return Err("nothing was measured".into());
    }
    let of = |step: Step| -> Curve<'static> {
        let own = lines.iter().filter(|line| line.step == step.name());
        (step.name(), own.map(|line| (line.n as f64, line.teraflops)).collect())
    };
    let all: Vec<Curve<'_>> =
        Step::ALL.into_iter().map(of).filter(|(_, points)| !points.is_empty()).collect();
    let root = paper(file, (1000, 700))?;
    curves_over(&root, format!("Products of n × n matrices, {device}"), ["n", "TFLOP/s"], &all)?;
    root.present()?;
    Ok(())
}
