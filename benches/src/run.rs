//! From the command line to the results.

pub(crate) mod measure;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use gpu_core::Kind;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Args;
use crate::error::Error;
use crate::first_result::{self, Setup};
use crate::provenance;
use crate::report::{self, Mode, Provenance, Record, Subject, Timing};
use crate::session::Session;
use crate::suite::{self, Case, Op};

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
    /// The table of the results: operations in the order in which they were first measured, each by size.
    pub fn table(&self) -> String {
        let first = |record: &Record| {
            self.records
                .iter()
                .position(|other| other.subject.op == record.subject.op)
                .expect("it is one of them")
        };
        let mut records = self.records.clone();
        records.sort_by_cached_key(|record| {
            (first(record), record.subject.element.clone(), record.subject.n, record.mode)
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

/// Times one case in a session, without the copy that results are set beside.
///
/// # Errors
/// Those of the device; a result that is wrong; [`Error::NoCase`] for a first result, which is a process of its own.
pub fn time(session: &mut Session, case: Case) -> Result<Vec<Timing>, Error> {
    if case.op == Op::FirstResult {
        return Err(Error::NoCase(vec![case.name()]));
    }
    measure::case(session, case).map(|(timings, ..)| timings)
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
            | Op::ReduceByKey
            | Op::Columns
            | Op::Scan
            | Op::ScanSegments
            | Op::ScanRows
            | Op::ScanColumns
            | Op::Sort
            | Op::SortPairs
            | Op::Histogram
            | Op::Select
            | Op::Partition
            | Op::Unique
            | Op::RunLengthEncode
            | Op::Transpose
            | Op::Add
            | Op::Dot
            | Op::Nrm2
            | Op::Asum
            | Op::Axpy
            | Op::Scale
            | Op::Ger
            | Op::Symv
            | Op::Trmv
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
            | Op::Gaussian5Rgb
            | Op::Filter3Rgb
            | Op::SobelMagnitude
            | Op::Permute
            | Op::InPlace => {
                let (timings, inputs, bytes) = measure::case(session, case)?;
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
        let (timings, inputs, bytes) = measure::case(session, case)?;
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::suite::{Shape, Type};

    #[test]
    fn a_case_is_timed_alone_and_a_process_is_none() {
        let args = Args::try_parse_from(["bench-gpu", "--device", "cpu"]).expect("valid");
        let mut session = Session::new(&args).expect("the CPU is there");
        let case = |op| Case { op, element: Type::F64, shape: Shape::Vector(1 << 10) };
        let timings = time(&mut session, case(Op::Sum)).expect("it is right");
        let batch = timings.iter().find(|timing| timing.mode == Mode::Batch).expect("launches in a row");
        assert!(batch.summary.median > 0.0, "{batch:?}");
        assert!(matches!(time(&mut session, case(Op::FirstResult)), Err(Error::NoCase(_))));
    }
}
