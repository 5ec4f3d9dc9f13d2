//! From the command line to the results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use gpu_core::Kind;
use gpu_stencil::iterate::GridElement;
use gpu_stencil::signal::SignalElement;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Args;
use crate::data::Element;
use crate::error::Error;
use crate::first_result::{self, Setup};
use crate::protocol::{self, Work};
use crate::provenance;
use crate::report::{self, Mode, Provenance, Record, Subject, Timing};
use crate::session::{Inputs, Session};
use crate::suite::segments::Parts;
use crate::suite::{
    self, Add, Case, Copy, Correlate, Filtered, Gemm, Gemv, Histogram, Iterate, Op, Reduce, Resize, Scan,
    ScanSegments, Select, Shape, Sobel, Sort, SumUnordered, SumWithCopy, Transpose, Type,
};

/// Processes started for one first result.
const CHILDREN: usize = 5;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The results, in the order of measurement.
    pub records: Vec<Record>,
    /// Cases that the device is too small for, with what it said.
    pub skipped: Vec<(String, Error)>,
    /// Cases that were wrong, or failed.
    pub failed: Vec<(String, Error)>,
}

impl Outcome {
    /// The table of the results, by operation and size.
    pub fn table(&self) -> String {
        let mut records = self.records.clone();
        let rank = |record: &Record| {
            let ops = [
                "context",
                "first_result",
                "copy",
                "sum",
                "sum_with_copy",
                "max",
                "argmax",
                "transpose",
                "permute",
                "in_place",
                "add",
                "gemm",
                "gemv",
                "gemv_transposed",
                "resize_half",
                "resize_double",
                "correlate_5",
                "correlate_32",
                "correlate_256",
                "heat",
                "jacobi",
                "gaussian_5x5",
                "gaussian_11x11",
                "filter_3x3",
                "filter_11x11",
                "sobel_magnitude",
            ];
            ops.iter().position(|op| *op == record.subject.op).unwrap_or(ops.len())
        };
        records.sort_by_key(|record| {
            (rank(record), record.subject.element.clone(), record.subject.n, record.mode)
        });
        report::table(&records)
    }

    /// The figure of all orders of four axes is that of the slowest: which one it is, launched in a row.
    pub fn slowest_order(&self) -> Option<String> {
        let orders = self
            .records
            .iter()
            .filter(|record| record.mode == Mode::Batch && record.subject.op.starts_with("permute_"));
        let slowest = orders.max_by(|a, b| a.ms_median.total_cmp(&b.ms_median))?;
        let fraction = slowest.copy_fraction.unwrap_or(0.0) * 100.0;
        Some(format!("slowest order of four axes: {}, {fraction:.1} % of the copy", slowest.subject.op))
    }
}

/// Measures what `args` selects; `program` is this program, for processes of its own.
///
/// # Errors
/// Where nothing can be measured at all; a case that fails is in the outcome.
pub fn run(args: &Args, program: PathBuf) -> Result<Outcome, Error> {
    let cases = select(args)?;
    let mut session = Session::new(args)?;
    let provenance = provenance::of(&session.device, args.commit.as_deref())?;
    eprintln!("{} ({}), commit {}", provenance.device, session.device.why(), provenance.commit);
    if session.device.kind() != Kind::Cuda {
        eprintln!("No GPU: small sizes, wall-clock times of the host. They say nothing about a GPU.");
    }
    let json = args.json.as_deref().map(Lines::create).transpose()?;
    let mut run = Run { provenance, json, copies: BTreeMap::new(), outcome: Outcome::default() };

    let bar = ProgressBar::new(cases.len() as u64).with_style(style());
    for case in cases {
        bar.set_message(case.name());
        // Draws it now: a case can take seconds.
        bar.tick();
        match run.case(&mut session, args, &program, case) {
            Ok(()) => {}
            Err(error) if error.is_out_of_memory() => run.outcome.skipped.push((case.name(), error)),
            Err(error @ (Error::File { .. } | Error::Json(_))) => return Err(error),
            Err(error) => run.outcome.failed.push((case.name(), error)),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(run.outcome)
}

/// The cases that `args` selects; long ones only if it filters.
///
/// # Errors
/// [`Error::NoCase`] where that is none.
pub fn select(args: &Args) -> Result<Vec<Case>, Error> {
    let mut cases = list(args)?;
    cases.retain(|case| !args.filter.is_empty() || !case.is_long());
    Ok(cases)
}

/// The cases that could be selected.
///
/// # Errors
/// [`Error::NoCase`] where that is none.
pub fn list(args: &Args) -> Result<Vec<Case>, Error> {
    let cases: Vec<Case> =
        suite::cases(args.quick_sizes()).into_iter().filter(|case| args.selects(&case.name())).collect();
    if cases.is_empty() { Err(Error::NoCase(args.filter.clone())) } else { Ok(cases) }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A run under way.
struct Run {
    provenance: Provenance,
    json: Option<Lines>,
    /// Copies measured so far, by their elements.
    copies: BTreeMap<usize, Vec<Timing>>,
    outcome: Outcome,
}

impl Run {
    fn case(&mut self, session: &mut Session, args: &Args, program: &Path, case: Case) -> Result<(), Error> {
        match case.op {
            Op::FirstResult => self.first_result(args, program, case),
            Op::Copy => self.copy(session, case).map(drop),
            Op::Sum
            | Op::SumUnordered
            | Op::Max
            | Op::ArgMax
            | Op::SumWithCopy
            | Op::Segments
            | Op::Columns
            | Op::Scan
            | Op::ScanSegments
            | Op::Sort
            | Op::SortPairs
            | Op::Histogram
            | Op::Select
            | Op::Transpose
            | Op::Add
            | Op::Gemm
            | Op::Gemv
            | Op::GemvTransposed
            | Op::ResizeHalf
            | Op::ResizeDouble
            | Op::Correlate
            | Op::Heat
            | Op::Jacobi
            | Op::Gaussian5
            | Op::Gaussian11
            | Op::Filter3
            | Op::Filter11
            | Op::SobelMagnitude
            | Op::Permute
            | Op::InPlace => {
                let (timings, inputs, bytes) = measure(session, case)?;
                // A copy within the device says nothing of one from the host, nor of products of matrices.
                let copies = match case.op {
                    Op::SumWithCopy | Op::Gemm => Vec::new(),
                    _ => self.copy(session, Case::copy_of(bytes))?,
                };
                for timing in timings {
                    let copy = copies.iter().find(|copy| copy.mode == timing.mode).map(|copy| copy.summary);
                    let record = Record::ours(case.subject(), timing, inputs, bytes, copy, &self.provenance);
                    self.add(record)?;
                }
                Ok(())
            }
        }
    }

    /// The timings of a copy: measured and reported once a run.
    fn copy(&mut self, session: &mut Session, case: Case) -> Result<Vec<Timing>, Error> {
        if let Some(timings) = self.copies.get(&case.elements()) {
            return Ok(timings.clone());
        }
        let (timings, inputs, bytes) = measure(session, case)?;
        for &timing in &timings {
            let itself = Some(timing.summary);
            self.add(Record::ours(case.subject(), timing, inputs, bytes, itself, &self.provenance))?;
        }
        self.copies.insert(case.elements(), timings.clone());
        Ok(timings)
    }

    fn first_result(&mut self, args: &Args, program: &Path, case: Case) -> Result<(), Error> {
        let setup = Setup {
            program: program.to_owned(),
            target: args.device,
            ordinal: args.ordinal,
            len: case.elements(),
            children: if args.quick_sizes() { 1 } else { CHILDREN },
        };
        for mode in [Mode::FreshProcess, Mode::FreshProcessCached] {
            let [context, first] = first_result::measure(&setup, mode)?;
            let of_context = Subject { op: "context".into(), n: 0, ..case.subject() };
            self.add(Record::ours(of_context, context, 1, 0, None, &self.provenance))?;
            self.add(Record::ours(case.subject(), first, 1, 0, None, &self.provenance))?;
        }
        Ok(())
    }

    fn add(&mut self, record: Record) -> Result<(), Error> {
        if let Some(json) = &mut self.json {
            json.write(&record)?;
        }
        self.outcome.records.push(record);
        Ok(())
    }
}

/// Measures one case: its timings, the inputs it took in turn, and the bytes it moves.
fn measure(session: &mut Session, case: Case) -> Result<(Vec<Timing>, usize, u64), Error> {
    if let Shape::Array(typed) = case.shape {
        // These have memory of their own: what other cases used makes room.
        session.release();
        let mut work = suite::permute::work(session, typed)?;
        let timings = protocol::measure(&mut *work, &session.stream, session.clock, &session.effort)?;
        return Ok((timings, work.inputs(), work.bytes()));
    }
    match (case.op, case.element) {
        (Op::SumUnordered, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(SumUnordered::new(session, inputs)?))
            });
        }
        (Op::Sort | Op::SortPairs, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Sort::<i32>::new(session, inputs, case.op == Op::SortPairs)?))
            });
        }
        (Op::ScanSegments, _) => {
            return measure_with(session, case, |session, inputs| {
                let Shape::Segmented(_, lengths) = case.shape else { unreachable!("it has segments") };
                Ok(Box::new(ScanSegments::<f32>::new(session, inputs, lengths)?))
            });
        }
        (Op::Select, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Select::<i32>::new(session, inputs)?))
            });
        }
        // All inputs lie between the bounds.
        (Op::Histogram, Type::F32) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Histogram::<f32>::new(session, inputs, (-0.5, 0.5))?))
            });
        }
        (Op::Histogram, _) => {
            return measure_with(session, case, |session, inputs| {
                Ok(Box::new(Histogram::<u8>::new(session, inputs, (0, 256))?))
            });
        }
        _ => {}
    }
    if matches!(case.op, Op::Add | Op::Gemm | Op::Gemv | Op::GemvTransposed) {
        return match case.element {
            Type::F64 => measure_product::<f64>(session, case),
            _ => measure_product::<f32>(session, case),
        };
    }
    if matches!(case.op, Op::ResizeHalf | Op::ResizeDouble) {
        return match case.element {
            Type::U8 => measure_resize::<u8>(session, case),
            _ => measure_resize::<f32>(session, case),
        };
    }
    if matches!(case.op, Op::Correlate | Op::Heat | Op::Jacobi) {
        return match case.element {
            Type::F64 => measure_with(session, case, |session, inputs| stencil::<f64>(session, inputs, case)),
            _ => measure_with(session, case, |session, inputs| stencil::<f32>(session, inputs, case)),
        };
    }
    if let Some(measured) = measure_filter(session, case) {
        return measured;
    }
    match case.element {
        Type::F32 => measure_of::<f32>(session, case),
        Type::F64 => measure_of::<f64>(session, case),
        Type::I32 => measure_of::<i32>(session, case),
        Type::U8 => measure_of::<u8>(session, case),
        Type::U16 | Type::U128 => unreachable!("{} is an array", case.name()),
    }
}

/// Measures a case of one type of elements only.
fn measure_with<T: Element>(
    session: &mut Session,
    case: Case,
    work: impl for<'a> FnOnce(&'a Session, Inputs<'a, T>) -> Result<Box<dyn Work + 'a>, Error>,
) -> Result<(Vec<Timing>, usize, u64), Error> {
    let layout = session.layout::<T>(case.elements());
    session.prepare::<T>(layout)?;
    let session = &*session;
    let Some(inputs) = session.inputs::<T>(layout) else { unreachable!("they were prepared just now") };
    let mut work = work(session, inputs)?;
    let timings = protocol::measure(&mut *work, &session.stream, session.clock, &session.effort)?;
    Ok((timings, work.inputs(), work.bytes()))
}

/// The timings of a case, the inputs it took in turn, and the bytes it moves.
type Measured = (Vec<Timing>, usize, u64);

/// Measures a filter of an image, if the case is one.
fn measure_filter(session: &mut Session, case: Case) -> Option<Result<Measured, Error>> {
    fn of<T: Element + gpu_stencil::Pixel>(
        session: &mut Session,
        case: Case,
        extents: [usize; 2],
    ) -> Result<Measured, Error> {
        measure_with(session, case, |session, inputs| {
            Ok(Box::new(Filtered::<T>::new(session, inputs, case.op, extents)?))
        })
    }
    let Shape::Matrix { rows, cols } = case.shape else { return None };
    let extents = [rows, cols];
    Some(match (case.op, case.element) {
        (Op::SobelMagnitude, _) => {
            measure_with(session, case, |session, inputs| Ok(Box::new(Sobel::new(session, inputs, extents)?)))
        }
        (Op::Gaussian5 | Op::Gaussian11 | Op::Filter3 | Op::Filter11, element) => match element {
            Type::U8 => of::<u8>(session, case, extents),
            Type::F64 => of::<f64>(session, case, extents),
            _ => of::<f32>(session, case, extents),
        },
        _ => return None,
    })
}

/// Measures a case whose inputs are shared with others.
fn measure_of<T: Element + gpu_reduce::Element + gpu_scan::Element>(
    session: &mut Session,
    case: Case,
) -> Result<(Vec<Timing>, usize, u64), Error> {
    let layout = session.layout::<T>(case.elements());
    session.prepare::<T>(layout)?;
    let session = &*session;
    let Some(inputs) = session.inputs::<T>(layout) else { unreachable!("they were prepared just now") };
    let mut effort = session.effort;
    let mut work: Box<dyn Work> = match (case.op, case.shape) {
        (Op::Transpose, Shape::Matrix { rows, cols }) => {
            Box::new(Transpose::new(session, inputs, rows, cols)?)
        }
        (Op::Segments, Shape::Segmented(_, lengths)) => {
            Box::new(Parts::<T>::segments(session, inputs, lengths)?)
        }
        (Op::Columns, Shape::Matrix { rows, cols }) => {
            Box::new(Parts::<T>::columns(session, inputs, [rows, cols])?)
        }
        (Op::Copy, _) => Box::new(Copy::new(session, inputs)?),
        (Op::SumWithCopy, _) => {
            effort = effort.of_copies();
            Box::new(SumWithCopy::new(session, inputs)?)
        }
        (Op::Scan, _) => Box::new(Scan::<T, <T as gpu_scan::Element>::Sum>::new(session, inputs)?),
        (Op::Max, _) => Box::new(Reduce::<T, <T as gpu_reduce::Element>::Max>::new(session, inputs)?),
        (Op::ArgMax, _) => Box::new(Reduce::<T, T::ArgMax>::new(session, inputs)?),
        _ => Box::new(Reduce::<T, <T as gpu_reduce::Element>::Sum>::new(session, inputs)?),
    };
    let timings = protocol::measure(&mut *work, &session.stream, session.clock, &effort)?;
    Ok((timings, work.inputs(), work.bytes()))
}

/// Measures a product of matrices, or of a matrix and a vector, or a sum of vectors.
fn measure_product<T: Element + gpu_linalg::RealElement>(
    session: &mut Session,
    case: Case,
) -> Result<(Vec<Timing>, usize, u64), Error> {
    let layout = session.layout::<T>(case.elements());
    session.prepare::<T>(layout)?;
    let session = &*session;
    let Some(inputs) = session.inputs::<T>(layout) else { unreachable!("they were prepared just now") };
    let mut work: Box<dyn Work> = match (case.op, case.shape) {
        (Op::Gemm, Shape::Matrix { rows, .. }) => Box::new(Gemm::new(session, inputs, rows)?),
        (op, Shape::Matrix { rows, cols }) => {
            Box::new(Gemv::new(session, inputs, [rows, cols], op == Op::GemvTransposed)?)
        }
        _ => Box::new(Add::new(session, inputs)?),
    };
    let timings = protocol::measure(&mut *work, &session.stream, session.clock, &session.effort)?;
    Ok((timings, work.inputs(), work.bytes()))
}

/// Measures a resize of an image.
fn measure_resize<T: Element + gpu_stencil::resize::Element>(
    session: &mut Session,
    case: Case,
) -> Result<(Vec<Timing>, usize, u64), Error> {
    let Shape::Matrix { rows, cols } = case.shape else { unreachable!("{} is an image", case.name()) };
    let to = if case.op == Op::ResizeHalf { (rows / 2, cols / 2) } else { (2 * rows, 2 * cols) };
    measure_with(session, case, |session, inputs: Inputs<'_, T>| {
        Ok(Box::new(Resize::new(session, inputs, (rows, cols), to)?))
    })
}

/// A correlation, or steps on a plane or in a volume.
fn stencil<'a, T: Element + SignalElement + GridElement>(
    session: &Session,
    inputs: Inputs<'a, T>,
    case: Case,
) -> Result<Box<dyn Work + 'a>, Error> {
    Ok(match case.shape {
        Shape::Filtered(_, taps) => Box::new(Correlate::new(session, inputs, taps)?),
        Shape::Matrix { rows, cols } => Box::new(Iterate::heat(session, inputs, [rows, cols])?),
        Shape::Cube(side) => Box::new(Iterate::jacobi(session, inputs, side)?),
        _ => unreachable!("{} is none of them", case.name()),
    })
}

/// A file of JSON lines. Each is written at once: a run that is cut short leaves what it measured.
struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    fn create(path: &Path) -> Result<Self, Error> {
        let file = File::create(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file })
    }

    fn write(&mut self, record: &Record) -> Result<(), Error> {
        let line = record.to_line()? + "\n";
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|source| Error::File { path: self.path.clone(), source })
    }
}
