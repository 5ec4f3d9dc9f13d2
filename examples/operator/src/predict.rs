//! What this project's own kernel takes on a GPU that is not here: run in the simulator, which counts, and put into the
//! model with the kernel's text.

use std::error::Error;

use gpu_core::Device;
use gpu_model::units::Bytes;
use gpu_model::waves::ptx::{Latency, Text};
use gpu_model::waves::{Prediction, predict, simulated};
use gpu_sim::metrics::Architecture;

use crate::gaps::gap_begins;

/// The text of the kernel, as gpu-builder wrote it.
const TEXT: &str = include_str!("../kernels/ptx/gap_begins.sm_75.ptx");

/// How long `gap_begins` takes for these values on a device that gpu-model knows and has numbers of: time, bottleneck
/// and what no implementation is faster than.
pub fn gaps(name: &str, values: &[f32]) -> Result<Prediction, Box<dyn Error>> {
    let model = gpu_model::Device::by_name(name)?;
    let text = Text::of(TEXT, Latency::of(&model)?);
    let caches = Architecture::by_name(name).ok_or("its caches are not simulated")?;

    let device = Device::simulator_with(simulated::config(caches));
    let begins = gap_begins(&device.upload(values)?)?;
    let reports = device.as_simulator().ok_or("it is a simulator")?.take_reports();
    let [report] = &reports[..] else { return Err("it is one launch".into()) };

    let mut counts = simulated::counts_with(report, &text)?;
    // Each value is read, and each beginning written, by any implementation.
    counts.necessary = Bytes(4.0 * (values.len() + begins.len()) as f64);
    Ok(predict(&model, &counts)?)
}
