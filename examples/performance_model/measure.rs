//! Times on the GPU at hand: of variants on one input again and again, of the benchmarks' cases as they time them.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use clap::Parser;
use gpu_benches::cli::Args;
use gpu_benches::report::Mode;
use gpu_benches::session::Session;
use gpu_benches::{provenance, run};
use gpu_examples::table::Table;
use gpu_examples::timing;
use gpu_model::calibrate;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::recorded::{Kernel, Measured, SOURCES, Source};

/// A time, as a line of a file of results: `recorded` reads it.
#[derive(Serialize)]
pub struct Timed {
    device: String,
    kernel: String,
    size: usize,
    measured_microseconds: f64,
    /// On one input again and again; else on inputs in turn, which the cache does not hold.
    repeated: bool,
    /// What launching took there, without waiting for the one before and with that.
    launch_microseconds: Option<[f64; 2]>,
    driver: String,
    commit: String,
    date: String,
}

/// The GPU at hand.
pub struct Gpu {
    session: Session,
    provenance: gpu_benches::report::Provenance,
}

impl Gpu {
    /// The first one.
    ///
    /// # Errors
    /// Where there is none.
    pub fn open(commit: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let session = Session::new(&Args::try_parse_from(["bench-gpu"])?).map_err(|error| match error {
            gpu_benches::Error::NoGpu(why) => format!("--measure: there is no GPU to measure on: {why}"),
            other => other.to_string(),
        })?;
        let provenance = provenance::of(&session.device, commit)?;
        Ok(Self { session, provenance })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.provenance.device
    }

    /// The device that it is of those that are predicted for.
    ///
    /// # Errors
    /// Where it is none of them.
    pub fn source(&self) -> Result<&'static Source, String> {
        let name = self.name().to_lowercase();
        let found = SOURCES.iter().find(|source| name.contains(source.device));
        found.ok_or_else(|| format!("this is an {}, for which nothing is predicted", self.name()))
    }

    /// The times of these kernels, variants at all sizes of their tables. Says on standard error what was left out, as
    /// the device's memory does not hold it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn measure(&mut self, kernels: &[Kernel]) -> Result<Vec<Measured>, Box<dyn Error>> {
        let mut wanted = Vec::new();
        for &kernel in kernels {
            match kernel {
                Kernel::Subject(subject) => wanted.extend(subject.sizes().iter().map(|&size| (kernel, size))),
                Kernel::Case(case) => wanted.push((kernel, case.elements())),
                Kernel::Shape(shape) => wanted.push((kernel, shape.size())),
                Kernel::Call(_) => eprintln!("not measured: {}: no program times it", kernel.name()),
            }
        }
        // Nothing is drawn where standard error is not a terminal.
        let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {pos}/{len} {msg}")?;
        let bar = ProgressBar::new(wanted.len() as u64).with_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut all = Vec::new();
        let launching = calibrate::launching(&self.session.device)?;
        for (kernel, size) in wanted {
            bar.set_message(format!("{}, {size}", kernel.name()));
            if let Some(microseconds) = self.time(kernel, size)? {
                all.push(Measured {
                    launching: Some(launching),
                    ..Measured::now(kernel, size, microseconds)
                });
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(all)
    }

    /// The median microseconds of a launch among many; none where memory does not hold it.
    fn time(&mut self, kernel: Kernel, size: usize) -> Result<Option<f64>, Box<dyn Error>> {
        let failed = |error: Box<dyn Error>| format!("{} of {size}: {error}", kernel.name());
        match kernel {
            Kernel::Subject(subject) => {
                // The cases' inputs make room.
                self.session.release();
                let mut ready = subject.ready(&self.session.device, size).map_err(failed)?;
                let stream = ready.stream.clone();
                let seconds = timing::seconds(&stream, || ready.enqueue()).map_err(failed)?;
                Ok(Some(seconds * 1e6))
            }
            Kernel::Case(case) => match run::time(&mut self.session, case) {
                Ok(timings) => {
                    let batch = timings.iter().find(|timing| timing.mode == Mode::Batch);
                    Ok(batch.map(|timing| timing.summary.median * 1e3))
                }
                Err(error) if error.is_out_of_memory() => {
                    eprintln!("not measured: {}: {error}", kernel.name());
                    Ok(None)
                }
                Err(error) => Err(failed(error.into()).into()),
            },
            Kernel::Shape(shape) => {
                self.session.release();
                Ok(Some(shape.measure(&self.session.device).map_err(failed)? * 1e3))
            }
            Kernel::Call(_) => Ok(None),
        }
    }

    /// The line of a time.
    pub fn line(&self, row: &Measured) -> Option<Timed> {
        let provenance = self.provenance.clone();
        Some(Timed {
            device: provenance.device,
            kernel: row.kernel.name(),
            size: row.size,
            measured_microseconds: row.microseconds?,
            repeated: row.repeated,
            launch_microseconds: row
                .launching
                .map(|found| [found.plain, found.dependent].map(|time| time.0 * 1e6)),
            driver: provenance.driver,
            commit: provenance.commit,
            date: provenance.date,
        })
    }

    /// Prints the times alone: lines of JSON, or a table.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn print(&self, to: &mut dyn Write, json: bool, rows: &[Measured]) -> io::Result<()> {
        let lines = rows.iter().filter_map(|row| self.line(row));
        if json {
            for line in lines {
                writeln!(to, "{}", serde_json::to_string(&line)?)?;
            }
            return Ok(());
        }
        writeln!(to, "Measured on an {}, µs of a launch among many:\n", self.name())?;
        let mut table = Table::new(["kernel", "size", "µs", "input"]);
        for line in lines {
            let input = if line.repeated { "the same" } else { "in turn" };
            let time = format!("{:.2}", line.measured_microseconds);
            table.row([line.kernel, line.size.to_string(), time, input.to_owned()]);
        }
        writeln!(to, "{table}")?;
        Ok(())
    }
}
