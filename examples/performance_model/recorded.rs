//! What was measured, device by device: of the textbook's transpositions, of the benchmarks' cases the newest result of
//! each in benches/results, and of variants what `--measure` has timed since.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::OnceLock;

use gpu_benches::report::{Mode, OURS, Record};
use gpu_benches::suite::{Case, Op, Shape, Type, cases};
use gpu_examples::predicted::Subject;
use gpu_model::calibrate::Launching;
use gpu_model::units::Seconds;
use serde::Deserialize;

use super::calls::{self, Call};
use super::changed::moment;
use super::quantile;
use super::shapes::{self, Shape as Shaped, Time};
pub use super::sources::SOURCES;

/// A device's results.
pub struct Source {
    /// What gpu-model and the simulator call it.
    pub device: &'static str,
    /// The textbook's transpositions.
    pub variants: &'static [&'static str],
    /// The fast transposition and the fast sums, with the present kernels.
    pub fast: &'static [&'static str],
    /// The benchmarks' cases, of inputs in turn: those of inputs in the cache (`warm`) and of programs with shapes of
    /// their own are not among them.
    pub cases: &'static [&'static str],
    /// What `--measure` printed: of these, what the others do not have.
    pub measured: &'static [&'static str],
    /// What `calibrate` measured.
    pub calibration: &'static [&'static str],
    /// The shapes of programs of their own.
    pub shapes: &'static [&'static str],
    /// Of each kernel of `gemm`, at many shapes.
    pub tiles: Option<&'static str>,
    /// What was measured, once it was read.
    pub known: OnceLock<Vec<Measured>>,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// A kernel whose launches are known without simulating them.
    Subject(Subject),
    /// A case of the benchmarks.
    Case(Case),
    /// A shape of a program of its own.
    Shape(Shaped),
    /// A public function that no program times.
    Call(&'static Call),
}

impl Kernel {
    /// As `--kernel` takes it.
    pub fn name(self) -> String {
        match self {
            Self::Subject(subject) => subject.to_string(),
            Self::Case(case) => case.name(),
            Self::Shape(shape) => shape.name(),
            Self::Call(call) => call.name.clone(),
        }
    }

    /// Whether it is `name`, or of its kind: `transpose`, `transpose/fast`, `scan/f32` or `scan/f32/2^20`.
    fn is_called(self, name: &str) -> bool {
        self.name().strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// What its rows in the files before `--measure` were to the model.
    fn role(self) -> Role {
        let held_out = match self {
            Self::Subject(subject) => matches!(subject, Subject::SumOf(_)),
            Self::Case(case) => is_held_out(case),
            Self::Shape(_) => return Role::Shape,
            Self::Call(_) => return Role::Later,
        };
        if held_out { Role::HeldOut } else { Role::Seen }
    }
}

/// What a row was to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In view while formulas were sought.
    Seen,
    /// Held out then, by its name.
    HeldOut,
    /// Of what there was no time then: judged only, like what was held out.
    Later,
    /// Of a program of its own, which was predicted last of all.
    Shape,
}

/// A kernel and what it took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// What ran.
    pub kernel: Kernel,
    /// Of what size.
    pub size: usize,
    /// A launch among many, the median; none where that was not measured.
    pub microseconds: Option<f64>,
    /// All on one input.
    pub repeated: bool,
    /// What it was to the model.
    pub role: Role,
    /// When it was measured ([`moment`]).
    pub moment: u64,
    /// What launching took there, if that was noted: it is the host's, and hosts differ.
    pub launching: Option<Launching>,
    /// What a call of its program takes there that has next to nothing to do, if that was measured beside it.
    pub call: Option<Seconds>,
}

impl Measured {
    fn new(kernel: Kernel, size: usize, (microseconds, moment): (f64, u64), repeated: bool) -> Self {
        let (microseconds, role) = (Some(microseconds), kernel.role());
        Self { kernel, size, microseconds, repeated, role, moment, launching: None, call: None }
    }

    /// What `--measure` has just timed: variants on one input.
    pub fn now(kernel: Kernel, size: usize, microseconds: f64) -> Self {
        let repeated = matches!(kernel, Kernel::Subject(_));
        Self { microseconds: Some(microseconds), repeated, size, ..Self::none(kernel) }
    }

    /// What was not measured, of its usual size.
    fn none(kernel: Kernel) -> Self {
        let size = match kernel {
            Kernel::Subject(subject) => subject.usual_size(),
            Kernel::Case(case) => case.elements(),
            Kernel::Shape(shape) => shape.size(),
            Kernel::Call(call) => call.size,
        };
        let of_later = Self::new(kernel, size, (0.0, u64::MAX), false);
        Self { microseconds: None, role: Role::Later, ..of_later }
    }
}

/// A line that `--measure` printed; the last one is of the errors, and not all have a time.
#[derive(Deserialize)]
struct TimedRow {
    kernel: Option<String>,
    size: Option<usize>,
    measured_microseconds: Option<f64>,
    repeated: Option<bool>,
    launch_microseconds: Option<[f64; 2]>,
    date: Option<String>,
}

#[derive(Deserialize)]
struct VariantRow {
    variant: String,
    block: u32,
    size: usize,
    microseconds: f64,
}

fn lines(texts: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    texts.iter().flat_map(|text| text.lines())
}

/// Our launches among many in such files.
fn records(texts: &'static [&'static str]) -> Result<Vec<Record>, serde_json::Error> {
    let all = lines(texts).map(serde_json::from_str).collect::<Result<Vec<Record>, _>>()?;
    Ok(all.into_iter().filter(|record| record.peer == OURS && record.mode == Mode::Batch).collect())
}

impl Source {
    /// What was measured.
    ///
    /// # Errors
    /// Where a line is no result, or of a kernel that there is none of.
    pub fn measured(&self) -> Result<Vec<Measured>, Box<dyn Error>> {
        if let Some(known) = self.known.get() {
            return Ok(known.clone());
        }
        let all = self.read()?;
        Ok(self.known.get_or_init(|| all).clone())
    }

    fn read(&self) -> Result<Vec<Measured>, Box<dyn Error>> {
        let one = |name: &str| Subject::by_name(name).map(|found| Kernel::Subject(found[0]));
        let mut all = Vec::new();
        for line in lines(self.variants) {
            let VariantRow { variant, block, size, microseconds } = serde_json::from_str(line)?;
            let name = if variant == "fast" { variant } else { format!("{variant}_{block}") };
            // Before all that has a date.
            all.push(Measured::new(one(&format!("transpose/{name}"))?, size, (microseconds, 0), true));
        }
        let mut fast = BTreeMap::<(&str, u64), (Vec<f64>, u64)>::new();
        for record in records(self.fast)? {
            let subject = record.subject;
            let key = match (subject.op.as_str(), subject.element.as_str(), subject.rows, subject.cols) {
                ("transpose", "f32", Some(rows), Some(columns)) if rows == columns => {
                    ("transpose/fast", rows)
                }
                ("sum", "f64", ..) => ("sum/fast", subject.n),
                ("sum", "f32", ..) => ("sum_of/f32", subject.n),
                ("sum", "i32", ..) => ("sum_of/i32", subject.n),
                ("sum", "u8", ..) => ("sum_of/u8", subject.n),
                _ => continue,
            };
            let (times, last) = fast.entry(key).or_default();
            times.push(record.ms_median * 1e3);
            *last = moment(&record.provenance.date).max(*last);
        }
        for ((name, size), (mut times, last)) in fast {
            let time = (quantile(&mut times, 0.5), last);
            all.push(Measured::new(one(name)?, usize::try_from(size)?, time, false));
        }
        let products = shapes::products(self.shapes)?;
        for (case, time) in self.newest()?.into_iter().filter(|(case, _)| !is_subject(*case)) {
            // A product that was timed later by the program for products' shapes, on one input.
            let later = products.iter().find(|(name, (_, then))| *name == case.name() && *then > time.1);
            let (time, repeated) = later.map_or((time, false), |(_, later)| (*later, true));
            all.push(Measured::new(Kernel::Case(case), case.elements(), time, repeated));
        }
        all.extend(shapes::newest(self.shapes)?.into_iter().map(|(shape, time, call)| Measured {
            call,
            ..Measured::new(Kernel::Shape(shape), shape.size(), time, true)
        }));
        for row in timed(self.measured)? {
            let known =
                |one: &Measured| (one.kernel, one.size, one.repeated) == (row.kernel, row.size, row.repeated);
            if !all.iter().any(known) {
                all.push(row);
            }
        }
        Ok(all)
    }

    /// The microseconds of every case of which there is a result, and when it was measured, in the order of the cases.
    fn newest(&self) -> Result<Vec<(Case, Time)>, serde_json::Error> {
        type Newest = (String, Vec<f64>);
        let mut newest: BTreeMap<String, Newest> = BTreeMap::new();
        for record in records(self.cases)? {
            let date = record.provenance.date;
            let entry = newest.entry(key(&record.subject)).or_default();
            match date.cmp(&entry.0) {
                Ordering::Less => {}
                Ordering::Equal => entry.1.push(record.ms_median * 1e3),
                Ordering::Greater => *entry = (date, vec![record.ms_median * 1e3]),
            }
        }
        let found = cases_of_ours().filter_map(|case| {
            let (date, times) = newest.get_mut(&key(&case.subject()))?;
            times.sort_by(f64::total_cmp);
            Some((case, (times[times.len() / 2], moment(date))))
        });
        Ok(found.collect())
    }
}

/// The cases without copies, which are the driver's and no kernel of ours, sums with a copy, which are of the bus, and
/// first results of processes. An order of axes that leaves them as they are is such a copy too: it launches nothing.
fn cases_of_ours() -> impl Iterator<Item = Case> {
    let is_copy = |case: &Case| match case.shape {
        Shape::Array(typed) => typed.axes == [0, 1, 2, 3],
        _ => matches!(case.op, Op::Copy | Op::SumWithCopy | Op::FirstResult),
    };
    cases(false).into_iter().filter(move |case| !is_copy(case))
}

/// The rows of what `--measure` printed.
///
/// # Errors
/// Where a line is no JSON, or of a kernel that there is none of.
fn timed(texts: &[&str]) -> Result<Vec<Measured>, Box<dyn Error>> {
    let all = kernels(&[])?;
    let mut rows = Vec::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let row: TimedRow = serde_json::from_str(line)?;
        let (Some(name), Some(size), Some(microseconds), Some(repeated)) =
            (row.kernel, row.size, row.measured_microseconds, row.repeated)
        else {
            continue;
        };
        let kernel = all.iter().copied().find(|kernel| kernel.name() == name);
        let kernel = kernel.ok_or_else(|| format!("there is no `{name}`, which was measured"))?;
        let timed = (microseconds, moment(&row.date.unwrap_or_default()));
        let launching = row.launch_microseconds.map(|found| found.map(|time| Seconds(time * 1e-6)));
        let launching = launching.map(|[plain, dependent]| Launching { plain, dependent });
        let row = Measured::new(kernel, size, timed, repeated);
        rows.push(Measured { role: Role::Later, launching, ..row });
    }
    Ok(rows)
}

fn key(subject: &gpu_benches::report::Subject) -> String {
    format!("{subject:?}")
}

/// Whether a case is among those whose launches are known.
fn is_subject(case: Case) -> bool {
    let subject = case.subject();
    match case.op {
        Op::Transpose => subject.rows == subject.cols,
        Op::Sum => matches!(case.element, Type::F32 | Type::F64 | Type::I32 | Type::U8),
        _ => false,
    }
}

/// What goes by these names, everything where there are none, each once.
///
/// # Errors
/// A name that nothing goes by.
pub fn kernels(names: &[String]) -> Result<Vec<Kernel>, String> {
    let subjects = Subject::all().into_iter().map(Kernel::Subject);
    let cases = cases_of_ours().filter(|case| !is_subject(*case)).map(Kernel::Case);
    let shapes = Shaped::all().into_iter().map(Kernel::Shape);
    let calls = calls::all().iter().map(Kernel::Call);
    let all: Vec<Kernel> = subjects.chain(cases).chain(shapes).chain(calls).collect();
    let mut chosen = vec![names.is_empty(); all.len()];
    for name in names {
        let mut found = false;
        for (kernel, chosen) in all.iter().zip(&mut chosen) {
            let is_called = kernel.is_called(name);
            (found, *chosen) = (found || is_called, *chosen || is_called);
        }
        if !found {
            let error = Subject::by_name(name).err().unwrap_or_default();
            return Err(format!("{error}; and the benchmarks' cases, as `scan` or `scan/f32/2^20`"));
        }
    }
    Ok(all.into_iter().zip(chosen).filter_map(|(kernel, chosen)| chosen.then_some(kernel)).collect())
}

/// The rows of these kernels, and those of which there is none without a time.
pub fn rows(kernels: &[Kernel], measured: Vec<Measured>) -> Vec<Measured> {
    let without = kernels.iter().filter(|&&kernel| measured.iter().all(|row| row.kernel != kernel));
    let without: Vec<Measured> = without.map(|&kernel| Measured::none(kernel)).collect();
    let of_them = measured.into_iter().filter(|row| kernels.contains(&row.kernel));
    of_them.chain(without).collect()
}

/// Whether a case is judged only, and never looked at while the model's formulas are sought: those whose name has an
/// odd hash (FNV-1a, 32 bits). The rule was fixed before any case was predicted.
fn is_held_out(case: Case) -> bool {
    let fnv = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    case.name().bytes().fold(0x811c_9dc5, fnv) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_case_was_measured_and_about_half_is_held_out() {
        for source in &SOURCES {
            let all = source.newest().expect("results are results");
            for op in
                ["max", "argmax", "scan", "segments", "sort", "select", "histogram", "unique", "gemm", "heat"]
            {
                assert!(all.iter().any(|(case, _)| case.op.name() == op), "{op} on {}", source.device);
            }
            assert!(all.iter().all(|(_, (time, _))| *time > 0.0));
            let held_out = all.iter().filter(|(case, _)| is_held_out(*case)).count();
            assert!(3 * held_out > all.len() && 3 * held_out < 2 * all.len(), "{held_out} of {}", all.len());
        }
    }

    #[test]
    fn the_newest_result_counts() {
        let [h200, _] = &SOURCES;
        let (all, records) = (h200.newest().expect("results"), records(h200.cases).expect("results"));
        for name in ["gemm/f32/4096x4096", "scan/f32/2^28", "max/f64/2^20"] {
            let (case, (time, _)) =
                all.iter().find(|(case, _)| case.name() == name).expect("it was measured");
            let subject = case.subject();
            let of_case: Vec<&Record> = records.iter().filter(|one| one.subject == subject).collect();
            let last = of_case.iter().map(|one| &one.provenance.date).max().expect("it was measured");
            let mut newest = of_case.iter().filter(|one| one.provenance.date == *last);
            assert!(newest.any(|one| one.ms_median * 1e3 == *time), "{name}: {of_case:?}");
        }
    }

    /// Of cases and variants only steps of `f64` on a plane were not measured; the transposition was, of four sizes.
    #[test]
    fn rows_are_those_of_the_names_with_a_time_or_without() {
        let measured = SOURCES[0].measured().expect("results are results");
        let of = |name: &str| rows(&kernels(&[name.to_owned()]).expect("it is there"), measured.clone());
        let all = rows(&kernels(&[]).expect("all are there"), measured.clone());
        let is_without = |row: &&Measured| {
            row.microseconds.is_none() && !matches!(row.kernel, Kernel::Shape(_) | Kernel::Call(_))
        };
        let without: Vec<String> = all.iter().filter(is_without).map(|row| row.kernel.name()).collect();
        assert_eq!(without, ["heat/f64/16384x16384"]);
        let [heat] = &of("heat/f64")[..] else { panic!("there is one") };
        assert!(heat.microseconds.is_none() && heat.size == 16_384 * 16_384, "{heat:?}");
        for (name, sizes) in [("transpose/naive_32", 4), ("blur/constant_2", 2)] {
            let of = of(name);
            assert!(of.len() == sizes && of.iter().all(|row| row.microseconds.is_some()), "{of:?}");
        }
        assert_eq!(of("max/f32/2^20").len(), 1);
        assert!(kernels(&["nothing".to_owned()]).unwrap_err().contains("transpose/naive_32"));
    }

    /// Of what `--measure` printed the rows count that have a time, once, and are judged only.
    #[test]
    fn what_was_timed_later_is_added() {
        let text = r#"{"kernel":"scan/look_back","size":64,"measured_microseconds":2.5,"repeated":true,"date":"y"}
{"kernel":"scan/look_back","size":64,"measured_microseconds":null,"repeated":true}
{"kernel":"scan/look_back","size":32,"measured_microseconds":2,"repeated":true,"launch_microseconds":[4,3]}
{"device":"x","rows":1}"#;
        let [row, other] = timed(&[text]).expect("they are lines")[..] else { panic!("two have a time") };
        assert_eq!(row.launching, None);
        let found = other.launching.expect("it was noted");
        assert!((found.plain.0 - 4e-6).abs() < 1e-12 && (found.dependent.0 - 3e-6).abs() < 1e-12);
        assert_eq!(
            (row.kernel.name().as_str(), row.size, row.microseconds),
            ("scan/look_back", 64, Some(2.5))
        );
        assert_eq!((row.repeated, row.role), (true, Role::Later));
        let error = timed(&[r#"{"kernel":"scan/none","size":1,"measured_microseconds":1,"repeated":true}"#]);
        assert!(error.expect_err("there is none").to_string().contains("scan/none"));
        for source in &SOURCES {
            let all = source.measured().expect("results are results");
            for (index, row) in all.iter().enumerate() {
                let is_same = |one: &&Measured| {
                    (one.kernel, one.size, one.repeated) == (row.kernel, row.size, row.repeated)
                };
                assert!(!all[..index].iter().any(|one| is_same(&one)), "{row:?} on {}", source.device);
            }
        }
    }

    /// An order of axes that leaves them as they are is a copy by the driver, and no kernel of ours.
    #[test]
    fn copies_are_no_kernels() {
        let all = kernels(&[]).expect("everything is there");
        let permutations: Vec<String> =
            all.iter().map(|one| one.name()).filter(|name| name.starts_with("permute/")).collect();
        assert!(permutations.len() > 20 && permutations.iter().all(|name| !name.ends_with("/0123")));
    }
}
