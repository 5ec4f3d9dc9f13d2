//! What the programs have in common that time one thing at many shapes: arguments, clock, and the lines of their results.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use gpu_core::{Device, Kind, Stream};
use gpu_linalg::plan::gemm::Kernel;
use serde::Serialize;

use crate::error::Error;
use crate::provenance;
use crate::report::{OURS, Provenance};

/// Their arguments.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Only shapes with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,

    /// Compare results with what they should be
    #[arg(long)]
    pub check: bool,

    /// Write one JSON object a line to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// The commit to note in the results [default: the one that is checked out]
    #[arg(long)]
    pub commit: Option<String>,
}

/// Which of the kernels that a plan chooses between are timed beside its choice.
#[derive(Clone, Debug, clap::Args)]
pub struct Kernels {
    /// Each kernel that the plan chooses between, one after the other, beside the choice; or only these
    #[arg(long, value_name = "NAMES", value_delimiter = ',', num_args = 0.., value_parser = kernel)]
    kernels: Option<Vec<Kernel>>,
}

fn kernel(name: &str) -> Result<Kernel, String> {
    let all = || [4, 8].into_iter().flat_map(|bytes| Kernel::of(bytes, None));
    all().copied().find(|kernel| kernel.name() == name).ok_or_else(|| {
        let mut names: Vec<&str> = all().map(|kernel| kernel.name()).collect();
        names.sort_unstable();
        names.dedup();
        format!("there are {}", names.join(", "))
    })
}

impl Kernels {
    /// Those of `all` that are to be timed; none if nobody asked for any.
    pub fn of(&self, all: impl Iterator<Item = Kernel>) -> impl Iterator<Item = Kernel> {
        let asked = |kernel: &Kernel| {
            self.kernels.as_ref().is_some_and(|named| named.is_empty() || named.contains(kernel))
        };
        all.filter(asked)
    }
}

impl Options {
    /// Whether a shape of this name is to be measured.
    pub fn selects(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|text| name.contains(text.as_str()))
    }
}

/// Where results go.
#[derive(Debug)]
pub struct Results {
    suite: &'static str,
    provenance: Provenance,
    file: Option<File>,
}

/// A line of them: what was measured is `subject`'s to say.
#[derive(Serialize)]
struct Line<'a, S> {
    suite: &'a str,
    peer: &'a str,
    #[serde(flatten)]
    subject: &'a S,
    ms_median: f64,
    #[serde(flatten)]
    provenance: &'a Provenance,
}

impl Results {
    /// Those of the programs of `suite` on a device; the file that [`Options::json`] names is created.
    ///
    /// # Errors
    /// Those of the driver and of the file system.
    pub fn new(suite: &'static str, device: &Device, options: &Options) -> Result<Self, Error> {
        let provenance = provenance::of(device, options.commit.as_deref())?;
        let file = options.json.as_ref().map(File::create).transpose()?;
        Ok(Self { suite, provenance, file })
    }

    /// Writes a result. `subject` is an object of JSON: what the line says of what was measured.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&mut self, subject: &impl Serialize, ms_median: f64) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = Line { suite: self.suite, peer: OURS, subject, ms_median, provenance: &self.provenance };
        serde_json::to_writer(&mut *file, &line).map_err(std::io::Error::from)?;
        writeln!(file)?;
        Ok(())
    }
}

/// What a program that ended so returns; an error is printed.
pub fn exit(result: Result<(), Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The median milliseconds of a launch, of nine batches of some 10 ms each, or of three where a launch takes longer than that:
/// between two events, on a CPU by the clock. (`batch_median` of ../peers/sweep.cuh.)
///
/// # Errors
/// Those of the launch and of the device.
pub fn batch_median<E>(stream: &Stream, launch: impl FnMut() -> Result<(), E>) -> Result<f64, Error>
where
    Error: From<E>,
{
    median_of(stream, 10.0, 9, launch)
}

/// The same of five batches of some 2 ms each, of many kernels one after the other: which is the fastest, not by how
/// many percent.
///
/// # Errors
/// Those of the launch and of the device.
pub fn brief_median<E>(stream: &Stream, launch: impl FnMut() -> Result<(), E>) -> Result<f64, Error>
where
    Error: From<E>,
{
    median_of(stream, 2.0, 5, launch)
}

/// The median milliseconds of a launch, of so many batches of some `ms` each; of three where a launch takes longer. A
/// simulated device has no time: what it launches once is what it reports then, and nothing from before.
fn median_of<E>(
    stream: &Stream,
    ms: f64,
    batches: usize,
    mut launch: impl FnMut() -> Result<(), E>,
) -> Result<f64, Error>
where
    Error: From<E>,
{
    if let Some(simulator) = stream.device().as_simulator() {
        stream.synchronize()?;
        drop((simulator.take_reports(), simulator.take_fills()));
        launch()?;
        stream.synchronize()?;
        return Ok(f64::NAN);
    }
    let mut batch = |launches: u32| -> Result<f64, Error> {
        let ms = if stream.device().kind() == Kind::Cpu {
            let start = Instant::now();
            (0..launches).try_for_each(|_| launch())?;
            start.elapsed().as_secs_f64() * 1e3
        } else {
            let before = stream.record()?;
            (0..launches).try_for_each(|_| launch())?;
            let after = stream.record()?;
            f64::from(after.elapsed_ms(&before)?)
        };
        Ok(ms / f64::from(launches))
    };
    batch(1)?;
    let once = batch(2)?;
    let launches = (ms / once.max(1e-4)).clamp(1.0, 20_000.0) as u32;
    let count = if once > ms { 3 } else { batches };
    Ok(median((0..count).map(|_| batch(launches)).collect::<Result<_, _>>()?))
}

/// The median milliseconds of `rounds` launches, each between two events, after one that does not count.
/// (`launch_median` of ../peers/sweep.cuh.)
///
/// # Errors
/// Those of the launch and of the device.
pub fn launch_median<E>(
    stream: &Stream,
    rounds: usize,
    mut launch: impl FnMut() -> Result<(), E>,
) -> Result<f64, Error>
where
    Error: From<E>,
{
    launch()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let before = stream.record()?;
        launch()?;
        let after = stream.record()?;
        times.push(f64::from(after.elapsed_ms(&before)?));
    }
    Ok(median(times))
}

/// The median milliseconds of `rounds` calls by the clock.
///
/// # Errors
/// Those of the call.
pub fn wall_median(rounds: usize, mut call: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

/// The middle one of some times, the upper one of two; NaN of none.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The shapes of a file's lines, or with `-` of standard input's.
///
/// # Errors
/// Those of reading; of a line that is no shape.
pub fn read_shapes<S: FromStr<Err = Error>>(file: &Path) -> Result<Vec<S>, Error> {
    let text =
        if file == Path::new("-") { io::read_to_string(io::stdin())? } else { fs::read_to_string(file)? };
    text.lines().map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_measured_and_where() {
        let path = std::env::temp_dir().join(format!("sweep-{}.jsonl", std::process::id()));
        let options =
            Options { filter: None, check: false, json: Some(path.clone()), commit: Some("feedbeef".into()) };
        let mut results = Results::new("things", &Device::cpu(), &options).expect("a file can be written");
        results.write(&serde_json::json!({"shape": "2 3"}), 0.5).expect("likewise");
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(path).expect("it is there");
        let line: serde_json::Value = serde_json::from_str(text.trim_end()).expect("one line of JSON");
        let expected = [("suite", "things"), ("peer", "ours"), ("shape", "2 3"), ("commit", "feedbeef")];
        for (key, value) in expected {
            assert_eq!(line[key], value);
        }
        assert_eq!(line["ms_median"], 0.5);
    }

    #[test]
    fn a_filter_is_a_part_of_the_name() {
        let mut options = Options { filter: None, check: false, json: None, commit: None };
        assert!(options.selects("gemm f32 1 2 3"));
        options.filter = Some("f64".into());
        assert!(options.selects("gemm f64 1 2 3") && !options.selects("gemm f32 1 2 3"));
    }

    #[test]
    fn medians_are_of_what_was_launched() {
        let stream = Device::cpu().stream().expect("the CPU has streams");
        let (mut launches, mut longest) = (0, 0.0_f64);
        let ms = batch_median(&stream, || -> Result<(), Error> {
            let start = std::time::Instant::now();
            launches += 1;
            std::thread::sleep(std::time::Duration::from_millis(4));
            longest = longest.max(start.elapsed().as_secs_f64() * 1e3);
            Ok(())
        });
        // One and two launches come before the batches, of which each has at least one. On a machine so busy that a
        // launch took more than 10 ms there may be three of them.
        let least = 3 + if longest > 10.0 { 3 } else { 9 };
        assert!(
            ms.expect("nothing fails") >= 4.0 && launches >= least,
            "{launches}, {longest:.1} ms at most"
        );
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(wall_median(3, || Ok(())).expect("nothing fails") >= 0.0);
    }
}
