//! Correlations with the filter in global, constant and shared memory, timed with their copies and counted by the
//! simulator.

use std::error::Error;
use std::time::Instant;

use gpu_core::{Device, Kind};
use gpu_sim::metrics::{Architecture, Metrics};
use gpu_sim::{BlockOrder, Config, Record};
use gpu_stencil::signal::variants::{Memory, Staged, Sum, VariantElement};
use gpu_stencil::signal::{Mode, correlate_into};
use serde::{Deserialize, Serialize};

use crate::timing;

/// A test of the literature: how many outputs of which type, and how long a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// Its number there.
    pub test: u32,
    /// `f32` or `f64`.
    pub element: &'static str,
    /// Outputs.
    pub elements: usize,
    /// Elements of the filter.
    pub filter: usize,
}

/// The 26 tests of C. Gimenez, *Computación de Alto Rendimiento en GPU* (2019), table 5: longer filters (1 to 7),
/// longer signals (8 to 13), and the same again in double precision.
pub fn configurations() -> Vec<Configuration> {
    let filters = [32, 64, 100, 128, 160, 200, 256].map(|filter| (1_280_000, filter));
    let signals =
        [320_000, 640_000, 1_280_000, 1_920_000, 2_560_000, 3_200_000].map(|elements| (elements, 128));
    let sizes: Vec<(usize, usize)> = filters.into_iter().chain(signals).collect();
    let of = |element: &'static str| sizes.iter().map(move |size| (element, size));
    let all = of("f32").chain(of("f64")).zip(1..);
    all.map(|((element, &(elements, filter)), test)| Configuration { test, element, elements, filter })
        .collect()
}

impl Configuration {
    /// The same with so many times fewer outputs, for the simulator.
    #[must_use]
    pub fn smaller(self, by: usize) -> Self {
        Self { elements: self.elements.div_ceil(by), ..self }
    }
}

/// What the course measured on a GeForce GTX Titan X (tables 9 and 10), in milliseconds; the filter in global memory.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[allow(missing_docs)]
pub struct Recorded {
    pub test: u32,
    pub cpu_ms: f64,
    pub kernel_ms: f64,
    pub htod_ms: f64,
    pub dtoh_ms: f64,
    pub copies_ms: f64,
    pub total_ms: f64,
}

/// All of the course's measurements, in the order of the tests.
///
/// # Errors
/// Where the record is not what it should be.
#[inline]
pub fn recorded() -> Result<Vec<Recorded>, serde_json::Error> {
    serde_json::from_str(include_str!("../records/convolution_memories.json"))
}

/// Times of a test, in milliseconds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Line {
    #[serde(flatten)]
    pub configuration: Configuration,
    pub device: String,
    /// Of gpu-stencil's own correlation, on all cores.
    pub cpu_ms: f64,
    /// Of the kernels with the filter in each memory.
    pub global_ms: f64,
    pub constant_ms: f64,
    pub shared_ms: f64,
    /// Of gpu-stencil's own correlation, on the device.
    pub fast_ms: f64,
    /// Signal and filter to the device.
    pub htod_ms: f64,
    /// The result back.
    pub dtoh_ms: f64,
    pub copies_ms: f64,
    /// With the filter in global memory.
    pub total_ms: f64,
    /// What the course measured.
    pub recorded: Recorded,
}

/// A type that the tests come in.
pub trait TestElement: VariantElement {
    /// The value of a small integer.
    fn of(value: i32) -> Self;
}

impl TestElement for f32 {
    fn of(value: i32) -> Self {
        value as f32
    }
}

impl TestElement for f64 {
    fn of(value: i32) -> Self {
        f64::from(value)
    }
}

/// Signal and filter: thirds, so that rounding shows.
#[inline]
fn operands<T: TestElement>(configuration: &Configuration) -> (Vec<T>, Vec<T>) {
    let values = |len: usize, factor: u32| {
        let value = |index: usize| T::of(((index as u32).wrapping_mul(factor) >> 22) as i32 - 512) / T::of(3);
        (0..len).map(value).collect()
    };
    let signal = configuration.elements + configuration.filter - 1;
    (values(signal, 2_654_435_761), values(configuration.filter, 2_246_822_519))
}

#[inline]
fn check<T: TestElement>(what: &str, actual: &[T], expected: &[T]) -> Result<(), Box<dyn Error>> {
    match (0..expected.len()).find(|&at| actual[at] != expected[at]) {
        Some(at) => Err(format!("{what}: output {at} is {:?}, not {:?}", actual[at], expected[at]).into()),
        None => Ok(()),
    }
}

/// Times a test on `device`, and checks each kernel's result against the CPU's.
///
/// # Errors
/// Those of the device, and a wrong result.
#[inline]
pub fn measure(
    device: &Device,
    configuration: Configuration,
    sum: Sum,
    recorded: Recorded,
) -> Result<Line, Box<dyn Error>> {
    if configuration.element == "f64" {
        measure_as::<f64>(device, configuration, sum, recorded)
    } else {
        measure_as::<f32>(device, configuration, sum, recorded)
    }
}

fn measure_as<T: TestElement>(
    device: &Device,
    configuration: Configuration,
    sum: Sum,
    recorded: Recorded,
) -> Result<Line, Box<dyn Error>> {
    let (signal, filter) = operands::<T>(&configuration);
    let runs = if device.kind() == Kind::Cuda { 9 } else { 1 };
    let mut expected = vec![T::of(0); configuration.elements];
    let host = Device::cpu().default_stream();
    let cpu =
        timing::seconds(&host, || correlate_into(&host, &signal, &filter, Mode::Valid, &mut expected[..]))?;

    let stream = device.stream()?;
    let (mut x, mut f) = (device.alloc::<T>(signal.len())?, device.alloc::<T>(filter.len())?);
    let mut output = device.alloc::<T>(configuration.elements)?;
    let mut result = vec![T::of(0); configuration.elements];
    // The first copy of a process is not like the others.
    x.copy_from(&signal)?;
    let htod = timing::median(runs, || {
        let start = Instant::now();
        x.copy_from(&signal)?;
        f.copy_from(&filter)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let mut kernels = [0.0; 3];
    for (memory, time) in Memory::ALL.into_iter().zip(&mut kernels) {
        let staged = Staged::new(memory, &filter, &mut f)?;
        *time = timing::seconds(&stream, || staged.correlate_into(&stream, sum, &x, &mut output))?;
        output.copy_to(&mut result)?;
        check(memory.name(), &result, &expected)?;
    }
    let fast = timing::seconds(&stream, || correlate_into(&stream, &x, &f, Mode::Valid, &mut output))?;
    let dtoh = timing::median(runs, || {
        let start = Instant::now();
        output.copy_to(&mut result)?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    check("fast", &result, &expected)?;

    let [global_ms, constant_ms, shared_ms] = kernels.map(|seconds| seconds * 1e3);
    let (htod_ms, dtoh_ms) = (htod * 1e3, dtoh * 1e3);
    Ok(Line {
        configuration,
        device: device.name(),
        cpu_ms: cpu * 1e3,
        global_ms,
        constant_ms,
        shared_ms,
        fast_ms: fast * 1e3,
        htod_ms,
        dtoh_ms,
        copies_ms: htod_ms + dtoh_ms,
        total_ms: htod_ms + dtoh_ms + global_ms,
        recorded,
    })
}

/// What the simulator counts of a kernel: nvprof's names.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Counted {
    #[serde(flatten)]
    pub configuration: Configuration,
    /// `global`, `constant`, `shared`, or `fast`.
    pub memory: &'static str,
    pub gld_transactions: u64,
    pub gst_transactions: u64,
    pub shared_load_transactions: u64,
    pub global_hit_rate: f64,
    pub l2_read_transactions: u64,
    pub l2_write_transactions: u64,
    pub l2_read_hit_rate: f64,
    pub l2_write_hit_rate: f64,
}

/// Runs a test in the simulator, on the model of `architecture`, with the filter in `memory`; with none, gpu-stencil's
/// own.
///
/// # Errors
/// A fault of the simulator, or a wrong result.
#[inline]
pub fn count(
    configuration: Configuration,
    memory: Option<Memory>,
    sum: Sum,
    architecture: Architecture,
) -> Result<Counted, Box<dyn Error>> {
    let metrics = if configuration.element == "f64" {
        metrics::<f64>(configuration, memory, sum, architecture)
    } else {
        metrics::<f32>(configuration, memory, sum, architecture)
    }?;
    let caches = metrics.caches.ok_or("caches were asked for")?;
    Ok(Counted {
        configuration,
        memory: memory.map_or("fast", Memory::name),
        gld_transactions: metrics.gld_transactions,
        gst_transactions: metrics.gst_transactions,
        shared_load_transactions: metrics.shared_load_transactions,
        global_hit_rate: caches.global_hit_rate,
        l2_read_transactions: caches.l2_read_transactions,
        l2_write_transactions: caches.l2_write_transactions,
        l2_read_hit_rate: caches.l2_read_hit_rate,
        l2_write_hit_rate: caches.l2_write_hit_rate,
    })
}

/// Runs a test on a device once, with the filter in `memory`; with none, gpu-stencil's own. The result is checked.
///
/// # Errors
/// Those of the device, or a wrong result.
#[inline]
pub fn correlate_once(
    device: &Device,
    configuration: Configuration,
    memory: Option<Memory>,
    sum: Sum,
) -> Result<(), Box<dyn Error>> {
    if configuration.element == "f64" {
        once::<f64>(device, configuration, memory, sum)
    } else {
        once::<f32>(device, configuration, memory, sum)
    }
}

fn once<T: TestElement>(
    device: &Device,
    configuration: Configuration,
    memory: Option<Memory>,
    sum: Sum,
) -> Result<(), Box<dyn Error>> {
    let (signal, filter) = operands::<T>(&configuration);
    let mut expected = vec![T::of(0); configuration.elements];
    correlate_into(&Device::cpu().default_stream(), &signal, &filter, Mode::Valid, &mut expected[..])?;
    let (x, mut f) = (device.upload(&signal)?, device.upload(&filter)?);
    let mut output = device.alloc::<T>(configuration.elements)?;
    let stream = device.default_stream();
    match memory {
        Some(memory) => {
            Staged::new(memory, &filter, &mut f)?.correlate_into(&stream, sum, &x, &mut output)?
        }
        None => correlate_into(&stream, &x, &f, Mode::Valid, &mut output)?,
    }
    check(memory.map_or("fast", Memory::name), &output.to_vec()?, &expected)
}

fn metrics<T: TestElement>(
    configuration: Configuration,
    memory: Option<Memory>,
    sum: Sum,
    architecture: Architecture,
) -> Result<Metrics, Box<dyn Error>> {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        caches: Some(architecture),
        // As hardware tends to, so that what blocks share in the caches is close in time.
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    once::<T>(&device, configuration, memory, sum)?;
    let reports = device.as_simulator().ok_or("the simulator is a simulator")?.take_reports();
    Ok(Metrics::of_all(&reports))
}
