//! Measures a device: what its data sheet leaves out. Feature `calibrate`.
//!
//! [`measure`] launches the kernels of `gpu-kernels/calibrate` and gives a [`Row`] for each number; [`describe`] makes a
//! description of the rows, as [`Device::from_toml`](crate::Device::from_toml) reads it. Example `calibrate` does both
//! and draws the rows.
//!
//! | measure | what, over what | in the thesis |
//! |---|---|---|
//! | `copy` | copies between host and device, from pageable and pinned memory, and within the device, over sizes | tables 5.1 to 5.4 |
//! | `launch`, `launch_alone` | an empty kernel among many, and alone from the call to its end, over blocks and arguments | table 5.5 |
//! | `branches` | a chain of additions in branches that threads of a warp take apart, over warps and branches | table 5.6 |
//! | `divergent`, `merged` | listings 5.2 and 5.3 | section 5.2.3 |
//! | `sum` | ones added in a register, in global memory, atomically, over their number | table B.19 |
//! | `latency` | an access that waits for the one before, over levels of memory | |
//! | `shared`, `shared_many` | an access to shared memory, of one warp and of 32, over strides | |
//! | `barrier` | a barrier, over warps | |
//! | `read`, `stream` | what is moved in a second, over levels | |
//! | `gather`, `scatter` | loads and stores of lines, over strides | |
//! | `issue`, `issue_many` | an instruction that waits for the one before; how many start in a cycle | |
//! | `block` | one more block of an empty kernel, over its threads | |
//! | `wave` | a wave of blocks whose threads copy a word each, over their threads | |
//!
//! Medians throughout. A GPU takes some seconds. On the CPU or in the simulator it runs a thousandth of the work, to see
//! that kernels do what they should; those numbers say nothing of a GPU.

mod atomics;
mod copies;
mod describe;
mod divergence;
mod fit;
mod latency;
mod launch;
mod launches;
mod listing;
mod throughput;
mod timing;

use gpu_core::{Device, Kind};

pub use describe::{bus_peak, describe};
pub use fit::{Line, line};
pub use listing::{Listing, listings};

use describe::Rows;
use timing::Bench;

use crate::units::Seconds;

/// One number that was measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// What: see the table above.
    pub measure: String,
    /// Of what: `pinned_to_device`, `shared`, `f64`.
    pub of: String,
    /// Over what: bytes, threads, a stride; 0 where there is nothing.
    pub over: f64,
    /// A second number of that kind: blocks, branches; 0 where there is nothing.
    pub by: f64,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

impl Row {
    fn new(measure: &str, of: &str, [over, by]: [f64; 2], value: f64, unit: &str) -> Self {
        Self { measure: measure.to_owned(), of: of.to_owned(), over, by, value, unit: unit.to_owned() }
    }
}

/// A step of [`measure`].
type Step = fn(&mut Bench<'_>, &mut Vec<Row>) -> gpu_core::Result<()>;

/// What is measured, in order.
const STEPS: [(&str, Step); 13] = [
    ("launches", launches::launches),
    ("blocks", launches::blocks),
    ("waves of blocks", launches::waves),
    ("latencies", latency::memory),
    ("shared memory", latency::shared_memory),
    ("barriers", latency::barriers),
    ("instructions", throughput::instructions),
    ("bandwidth of caches", throughput::caches),
    ("bandwidth of memory", throughput::streams),
    ("lines", throughput::lines),
    ("divergence", divergence::divergence),
    ("sums", atomics::sums),
    ("copies", copies::copies),
];

/// How many steps [`measure`] tells of.
pub const fn steps() -> usize {
    STEPS.len()
}

/// What the driver says of the device that a description needs; nothing without a driver.
fn properties(device: &Device) -> gpu_core::Result<Vec<Row>> {
    if device.kind() != Kind::Cuda {
        return Ok(Vec::new());
    }
    let known = device.properties()?;
    let capability = f64::from(known.capability.major) * 10.0 + f64::from(known.capability.minor);
    let rows = [
        ("capability", capability, "tenths"),
        ("multiprocessors", known.multiprocessors.into(), ""),
        ("warp", known.warp_size.into(), "threads"),
        ("clock", f64::from(known.clock_khz) * 1e3, "Hz"),
        ("memory_size", known.total_memory as f64, "B"),
        ("memory_bandwidth", known.peak_bandwidth(), "B/s"),
        ("memory_clock", f64::from(known.memory_clock_khz) * 1e3, "Hz"),
        ("l2", known.l2_cache.into(), "B"),
        ("threads_per_block", known.max_threads_per_block.into(), ""),
        ("threads", known.max_threads_per_multiprocessor.into(), ""),
        ("blocks", known.max_blocks_per_multiprocessor.into(), ""),
        ("registers", known.registers_per_multiprocessor.into(), ""),
        ("shared", known.shared_per_multiprocessor.into(), "B"),
    ];
    Ok(rows.map(|(of, value, unit)| Row::new("property", of, [0.0, 0.0], value, unit)).to_vec())
}

/// Measures `device`; `next` is told what comes next.
///
/// # Errors
/// Those of the device.
///
/// ```
/// // The simulator runs a thousandth of it; its numbers say nothing of a GPU.
/// let rows = gpu_model::calibrate::measure(&gpu_core::Device::simulator(), |_| {})?;
/// assert!(rows.iter().any(|row| row.measure == "latency" && row.of == "l2"));
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn measure(device: &Device, mut next: impl FnMut(&str)) -> gpu_core::Result<Vec<Row>> {
    let mut bench = Bench::new(device, device.kind() != Kind::Cuda)?;
    let mut rows = properties(device)?;
    for (name, step) in STEPS {
        next(name);
        step(&mut bench, &mut rows)?;
    }
    Ok(rows)
}

/// What launching takes on a host and its device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launching {
    /// [`Calibration::launch`](crate::device::Calibration::launch).
    pub plain: Seconds,
    /// [`Calibration::launch_dependent`](crate::device::Calibration::launch_dependent).
    pub dependent: Seconds,
}

/// What launching takes on `device`. It is the host's more than the device's, and differs by a factor of two between
/// hosts: whoever times short kernels can note it with their times.
///
/// # Errors
/// Those of the device.
///
/// ```
/// let found = gpu_model::calibrate::launching(&gpu_core::Device::simulator())?;
/// assert!(found.plain.0 > 0.0 && found.dependent.0 > 0.0);
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub fn launching(device: &Device) -> gpu_core::Result<Launching> {
    let mut rows = Vec::new();
    launches::launches(&mut Bench::new(device, device.kind() != Kind::Cuda)?, &mut rows)?;
    let rows = Rows(&rows);
    let of = |of: &str| Seconds(rows.value("launch", of).expect("both were measured") * 1e-6);
    Ok(Launching { plain: of("plain"), dependent: of("dependent") })
}
