//! `--model`: predicted times on a device of choice, where the simulator's own say nothing, and beside a GPU's.

use std::error::Error;

use gpu_core::{Device, Kind};
use gpu_model::waves::{Bottleneck, Counts, scale, sequence, simulated};
use gpu_sim::metrics::Architecture;
use serde::Serialize;

use crate::predicted::Subject;
use crate::table::Table;

/// A device that times are predicted for.
#[derive(Clone, Debug)]
pub struct Model {
    device: gpu_model::Device,
    caches: Architecture,
}

/// A predicted time.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// What runs.
    pub variant: String,
    /// Of what size.
    pub size: String,
    /// The device it is predicted for.
    pub model: String,
    /// The time there.
    pub predicted_microseconds: f64,
    /// What it is bound by.
    pub bottleneck: Bottleneck,
    /// The time on the GPU at hand, if there is one.
    pub measured_microseconds: Option<f64>,
}

/// What is predicted.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What runs.
    pub variant: String,
    /// Of what size, in words.
    pub label: String,
    /// The same as a number that the work is proportional to.
    pub size: usize,
    /// The largest size that is simulated itself; counts of larger ones are scaled.
    pub simulated: usize,
    /// Blocks of its one launch where they are known; else those that were simulated grow with the work.
    pub blocks: Option<u64>,
    /// Whether its kernels wait for those before them by themselves: the fast versions' do.
    pub dependent: bool,
    /// Microseconds on the GPU at hand, if there is one.
    pub measured: Option<f64>,
}

/// The device that times are predicted for where nobody says.
const USUAL: &str = "h200";

/// The device that an example runs on, and the one that it predicts times for, if any: that of `--model`; where no
/// device is asked for and there is no GPU, the usual one, as the simulator's own times say nothing of a GPU. Says so
/// on standard error.
///
/// # Errors
/// A name that is none, or a GPU that was asked for and is not there.
pub fn gpu_or_model(
    device: Option<&str>,
    model: Option<&Model>,
) -> Result<(Device, Option<Model>), Box<dyn Error>> {
    if let Some(name) = device {
        return Ok((Device::by_name(name)?, model.cloned()));
    }
    let best = Device::from_env()?;
    if best.kind() == Kind::Cuda || std::env::var_os("GPU_DEVICE").is_some() {
        return Ok((best, model.cloned()));
    }
    let model = model.map_or_else(|| Model::by_name(USUAL), |model| Ok(model.clone()))?;
    eprintln!(
        "No GPU ({}): times are predicted, for an {}. --model chooses another device; --device simulator runs all \
         in the simulator, whose times say nothing of a GPU.",
        best.why(),
        model.device.name
    );
    Ok((Device::simulator(), Some(model)))
}

impl Model {
    /// One of the devices that gpu-model describes and that were measured for its own model.
    ///
    /// # Errors
    /// The names there are, or what the device lacks.
    pub fn by_name(name: &str) -> Result<Self, String> {
        let device = gpu_model::Device::by_name(name).map_err(|error| error.to_string())?;
        device.waves().map_err(|error| error.to_string())?;
        let caches = Architecture::by_name(name).ok_or_else(|| {
            let names = Architecture::ALL.map(|architecture| architecture.name).join(", ");
            format!("the caches of `{name}` are not simulated; there are {names}")
        })?;
        Ok(Self { device, caches })
    }

    /// The time of a subject of that size. Runs are repeated on the same data, so what fits is in the cache.
    ///
    /// # Errors
    /// Those of the simulator and of the model.
    #[inline]
    pub fn subject(
        &self,
        subject: Subject,
        size: usize,
        measured: Option<f64>,
    ) -> Result<Case, Box<dyn Error>> {
        let cached = self.device.memory.l2.is_some_and(|l2| subject.demand(size).bytes[0] <= l2);
        let found = subject.count(size, self.caches)?.predict(&self.device, cached)?.sequence;
        let name = subject.to_string();
        Ok(Case {
            variant: name.split_once('/').map_or(name.as_str(), |(_, variant)| variant).to_owned(),
            size: size.to_string(),
            model: self.device.name.clone(),
            predicted_microseconds: found.time.0 * 1e6,
            bottleneck: found.bottleneck,
            measured_microseconds: measured,
        })
    }

    /// The times of several, each simulated as it is; says on standard error where there is none.
    ///
    /// # Errors
    /// Where they are no JSON.
    pub fn show_all(
        &self,
        json: bool,
        all: impl IntoIterator<Item = Result<Case, Box<dyn Error>>>,
    ) -> Result<(), serde_json::Error> {
        let (mut cases, mut failed) = (Vec::new(), Vec::new());
        for one in all {
            match one {
                Ok(case) => cases.push(case),
                Err(error) => failed.push(error),
            }
        }
        failed.iter().for_each(|error| eprintln!("not predicted: {error}"));
        self.show(json, &cases)
    }

    /// The time of what `run` enqueues on a simulated device for a size.
    ///
    /// # Errors
    /// Those of `run` and of the model; launches that are not the same for two sizes that counts are scaled from.
    #[inline]
    pub fn case(
        &self,
        asked: Asked,
        mut run: impl FnMut(&Device, usize) -> Result<(), Box<dyn Error>>,
    ) -> Result<Case, Box<dyn Error>> {
        let Asked { variant, label, size, simulated: largest, blocks, dependent, measured } = asked;
        let mut count = |size: usize| -> Result<Vec<Counts>, Box<dyn Error>> {
            let device = Device::simulator_with(simulated::config(self.caches));
            run(&device, size)?;
            let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
            let of = |report| Ok(Counts { dependent, ..simulated::counts(report)? });
            reports.iter().map(of).collect()
        };
        let launches = if size <= largest {
            count(size)?
        } else {
            let (small, large) = (count(largest / 2)?, count(largest)?);
            if small.len() != large.len() {
                return Err(
                    format!("{variant}: {} and {largest} differ in their launches", largest / 2).into()
                );
            }
            let scaled = small.iter().zip(&large).map(|(small, large)| {
                // Launches of one block that do no more do not grow.
                let same = large.blocks == 1 && large.lines == small.lines;
                let blocks = blocks.or(same.then_some(1));
                let scaled = scale((small, 1.0), (large, 2.0), 2.0 * size as f64 / largest as f64, blocks);
                scaled.map(|scaled| scaled.counts)
            });
            scaled.collect::<Result<_, _>>()?
        };
        if launches.is_empty() {
            return Err(format!("{variant} of {label}: it launches nothing").into());
        }
        let found = sequence(&self.device, &launches)?;
        Ok(Case {
            variant,
            size: label,
            model: self.device.name.clone(),
            predicted_microseconds: found.time.0 * 1e6,
            bottleneck: found.bottleneck,
            measured_microseconds: measured,
        })
    }

    /// Prints a table of them, or lines of JSON.
    ///
    /// # Errors
    /// Where they are no JSON.
    pub fn show(&self, json: bool, cases: &[Case]) -> Result<(), serde_json::Error> {
        if json {
            return cases
                .iter()
                .try_for_each(|one| serde_json::to_string(one).map(|text| println!("{text}")));
        }
        println!("Predicted on a {}, µs of a launch among many (gpu_model::waves)\n", self.device.name);
        let mut table = Table::new(["variant", "size", "predicted", "bound by", "measured", "off by %"]);
        for one in cases {
            let time = one.predicted_microseconds;
            let measured = one.measured_microseconds;
            table.row([
                one.variant.clone(),
                one.size.clone(),
                format!("{time:.2}"),
                one.bottleneck.to_string(),
                measured.map_or("–".to_owned(), |measured| format!("{measured:.2}")),
                measured
                    .map_or("–".to_owned(), |measured| format!("{:+.0}", 100.0 * (time / measured - 1.0))),
            ]);
        }
        println!("{table}");
        Ok(())
    }
}
