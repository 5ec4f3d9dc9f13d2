//! Devices: their numbers with units, read from TOML descriptions.
//!
//! What a data sheet says is there for each device. What somebody has to measure or to assume (latencies, cost of an
//! instruction, of a launch, of the bus, of atomics) is there where a source gives it; a model that needs it fails with
//! [`Error::NotGiven`] elsewhere.
//!
//! ```
//! use gpu_model::{Device, Error};
//! let c2070 = Device::by_name("c2070")?;
//! assert_eq!((c2070.multiprocessors, c2070.lanes), (14, 32));
//! assert_eq!(c2070.clock.0, 1.15e9);
//! assert!(matches!(Device::by_name("c2080"), Err(Error::UnknownDevice { .. })));
//! # Ok::<(), Error>(())
//! ```

mod read;

use crate::error::{Error, Result, positive};
use crate::units::{Bytes, BytesPerSecond, Cycles, FlopPerSecond, Fraction, Hertz, Seconds};

/// A device's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// What its maker calls it: `Tesla C2070`.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Where the numbers are from.
    pub source: String,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// 32-bit floating-point lanes of a multiprocessor ("cores").
    pub lanes: u32,
    /// 64-bit floating-point lanes of a multiprocessor.
    pub double_lanes: u32,
    /// Threads of a warp.
    pub warp: u32,
    /// Frequency of the lanes.
    pub clock: Hertz,
    /// Its memory.
    pub memory: Memory,
    /// What a launch may ask for, and what is resident at a time.
    pub limits: Limits,
    /// What accesses take.
    pub latency: Option<Latency>,
    /// What instructions take.
    pub issue: Option<Issue>,
    /// Copies between host and device.
    pub bus: Option<Bus>,
    /// What a launch takes.
    pub launch: Option<LaunchCost>,
    /// What atomic additions take.
    pub atomics: Option<Atomics>,
    /// What its tensor cores do.
    pub tensor: Option<Tensor>,
    /// What [`waves`](crate::waves) needs beyond the data sheet.
    pub waves: Option<Calibration>,
}

/// A device's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// How much there is.
    pub size: Bytes,
    /// What can be moved to and from it in a second, by the data sheet.
    pub bandwidth: BytesPerSecond,
    /// Its frequency, before doubling for both edges.
    pub clock: Hertz,
    /// A line of the first-level cache: the largest transaction.
    pub line: Bytes,
    /// A sector: the smallest transaction.
    pub sector: Bytes,
    /// The second-level cache, where there is one for global memory.
    pub l2: Option<Bytes>,
}

/// What a launch may ask for, and what is resident at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Threads of a block.
    pub threads_per_block: u32,
    /// Warps resident on a multiprocessor.
    pub warps: u32,
    /// Blocks resident on a multiprocessor.
    pub blocks: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Shared memory of a multiprocessor, at most.
    pub shared: Bytes,
}

/// From a request to its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// Global memory.
    pub global: Cycles,
    /// Shared memory.
    pub shared: Cycles,
    /// The first-level cache.
    pub cache: Cycles,
    /// Where the numbers are from.
    pub source: String,
}

/// What instructions take.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// A 32-bit floating-point instruction.
    pub single: Cycles,
    /// A 64-bit floating-point instruction.
    pub double: Cycles,
    /// Instructions in flight in each lane's pipeline.
    pub pipeline_depth: u32,
    /// Where the numbers are from.
    pub source: String,
}

/// The bus between host and device.
#[derive(Clone, Debug, PartialEq)]
pub struct Bus {
    /// What it moves in each direction in a second, by its standard.
    pub peak: BytesPerSecond,
    /// How much of that a copy to the device gets from pageable memory.
    pub pageable_to_device: Fraction,
    /// How much of that a copy to the host gets into pageable memory.
    pub pageable_to_host: Fraction,
    /// How much of that a copy to the device gets from pinned memory.
    pub pinned_to_device: Fraction,
    /// How much of that a copy to the host gets into pinned memory.
    pub pinned_to_host: Fraction,
    /// A copy from the device's memory to itself: bytes of the result in a second.
    pub within_device: Option<BytesPerSecond>,
    /// Where the numbers are from.
    pub source: String,
}

/// What a launch takes.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchCost {
    /// From the call to the kernel's end, of a kernel that does nothing.
    pub overhead: Seconds,
    /// Where the number is from.
    pub source: String,
}

/// What an addition takes that all threads of a block do to one word: `base + per_thread · threads`.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomics {
    /// What there is without threads.
    pub base: Cycles,
    /// What each thread adds.
    pub per_thread: Cycles,
    /// Where the numbers are from.
    pub source: String,
}

/// What tensor cores do.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Operations a second on elements of 16 bits, dense; of 32 bits they do half as many, of 8 bits twice.
    pub peak: FlopPerSecond,
    /// How much of that they do for warpgroups (`wgmma`) in long products.
    pub warpgroups: Fraction,
    /// How much of the peak they do for warps (`mma`).
    pub warps: Fraction,
    /// Where the numbers are from.
    pub source: String,
}

/// What [`waves`](crate::waves) needs beyond the data sheet, as `calibrate` measures it.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// From one launch to the next among many, of a kernel that does nothing.
    pub launch: Seconds,
    /// The same where the kernel waits for the one before by itself (programmatic dependent launch).
    pub launch_dependent: Seconds,
    /// What a launch among many takes beside its blocks.
    pub gap: Seconds,
    /// The same of one that waits for the one before by itself.
    pub gap_dependent: Seconds,
    /// Blocks that start in a second, on the whole device.
    pub blocks: Hertz,
    /// The same of a kernel that waits for the one before by itself.
    pub blocks_dependent: Hertz,
    /// From the end of a block to the first instruction of the one in its place, without warps.
    pub turnover: Cycles,
    /// What each warp adds to that.
    pub turnover_warp: Cycles,
    /// How much of the memory's bandwidth reading gets.
    pub read: Fraction,
    /// How much of it writing gets.
    pub write: Fraction,
    /// How much of it both get together, as many bytes read as written.
    pub copy: Fraction,
    /// Lines that the second-level cache takes from stores in a second, whole or in part.
    pub stores: Hertz,
    /// What a multiprocessor takes to hand over one of them.
    pub store: Cycles,
    /// What the second-level cache gives to all multiprocessors in a cycle.
    pub l2: Bytes,
    /// What it gives to one of them.
    pub l2_unit: Bytes,
    /// From a request to the memory's answer, with nothing else under way.
    pub memory_latency: Cycles,
    /// The same where all places for threads are taken, and all ask at a time.
    pub memory_loaded: Cycles,
    /// From a request to the second-level cache's answer, with nothing else under way.
    pub l2_latency: Cycles,
    /// The same where all places for threads are taken, and all ask at a time.
    pub l2_loaded: Cycles,
    /// From a request to shared memory's answer.
    pub shared_latency: Cycles,
    /// From a shuffle to the next instruction, which reads its result.
    pub shuffle: Cycles,
    /// A barrier without warps.
    pub barrier: Cycles,
    /// What each warp adds to that.
    pub barrier_warp: Cycles,
    /// Where the numbers are from.
    pub source: String,
}

/// The descriptions in this crate, oldest device first.
const DESCRIPTIONS: [(&str, &str); 10] = [
    ("c1060", include_str!("../../devices/c1060.toml")),
    ("c2070", include_str!("../../devices/c2070.toml")),
    ("c2075", include_str!("../../devices/c2075.toml")),
    ("gt520m", include_str!("../../devices/gt520m.toml")),
    ("gtx560ti", include_str!("../../devices/gtx560ti.toml")),
    ("titanx", include_str!("../../devices/titanx.toml")),
    ("p100", include_str!("../../devices/p100.toml")),
    ("v100", include_str!("../../devices/v100.toml")),
    ("h100", include_str!("../../devices/h100.toml")),
    ("h200", include_str!("../../devices/h200.toml")),
];

impl Device {
    /// The short names of the devices that this crate describes, oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DESCRIPTIONS.iter().map(|(name, _)| *name)
    }

    /// The one called `name`, one of [`names`](Self::names).
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] with the names that there are.
    pub fn by_name(name: &str) -> Result<Self> {
        Self::from_toml(Self::description(name)?)
    }

    /// The description of the one called `name`: what a description of another device can start from.
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] with the names that there are.
    pub fn description(name: &str) -> Result<&'static str> {
        let found = DESCRIPTIONS.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| Error::UnknownDevice {
            asked: name.to_owned(),
            known: Self::names().collect::<Vec<_>>().join(", "),
        })
    }

    /// Reads a description; [`description`](Self::description) shows what one has.
    ///
    /// # Errors
    /// No TOML; a field that is missing or unknown; a value with a wrong unit, or that is not positive; values that
    /// contradict each other. All name the line.
    pub fn from_toml(text: &str) -> Result<Self> {
        read::device(text)
    }

    /// What [`latency`](Self::latency) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn latency(&self) -> Result<&Latency> {
        self.given("latency", self.latency.as_ref())
    }

    /// What [`issue`](Self::issue) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn issue(&self) -> Result<&Issue> {
        self.given("issue", self.issue.as_ref())
    }

    /// What [`bus`](Self::bus) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn bus(&self) -> Result<&Bus> {
        self.given("bus", self.bus.as_ref())
    }

    /// What [`launch`](Self::launch) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn launch(&self) -> Result<&LaunchCost> {
        self.given("launch", self.launch.as_ref())
    }

    /// What [`atomics`](Self::atomics) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn atomics(&self) -> Result<&Atomics> {
        self.given("atomics", self.atomics.as_ref())
    }

    /// What [`tensor`](Self::tensor) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn tensor(&self) -> Result<&Tensor> {
        self.given("tensor", self.tensor.as_ref())
    }

    /// What [`waves`](Self::waves) has.
    ///
    /// # Errors
    /// [`Error::NotGiven`].
    pub fn waves(&self) -> Result<&Calibration> {
        self.given("waves", self.waves.as_ref())
    }

    fn given<'a, T>(&self, field: &'static str, value: Option<&'a T>) -> Result<&'a T> {
        value.ok_or_else(|| Error::NotGiven { device: self.name.clone(), field })
    }

    /// 32-bit floating-point operations a second at most: a fused multiply-add in every lane and cycle.
    pub fn peak_single(&self) -> FlopPerSecond {
        self.peak(self.lanes)
    }

    /// 64-bit floating-point operations a second at most.
    pub fn peak_double(&self) -> FlopPerSecond {
        self.peak(self.double_lanes)
    }

    fn peak(&self, lanes: u32) -> FlopPerSecond {
        FlopPerSecond(2.0 * f64::from(self.multiprocessors) * f64::from(lanes) * self.clock.0)
    }
}

/// The shape of a launch, which its device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    blocks: u64,
    threads: u32,
    warps: u32,
}

impl Launch {
    /// `blocks` of `threads` each, if the device takes blocks of that size.
    ///
    /// # Errors
    /// No blocks, no threads, or more threads than a block may have on the device.
    ///
    /// ```
    /// use gpu_model::{Device, Launch};
    /// let c1060 = Device::by_name("c1060")?;
    /// assert_eq!(Launch::new(&c1060, 4, 500)?.warps(), 16);
    /// let error = Launch::new(&c1060, 4, 640).unwrap_err();
    /// assert_eq!(error.to_string(), "`threads` is 640, but Tesla C1060 takes at most 512");
    /// # Ok::<(), gpu_model::Error>(())
    /// ```
    pub fn new(device: &Device, blocks: u64, threads: u32) -> Result<Self> {
        positive("blocks", blocks as f64)?;
        positive("threads", f64::from(threads))?;
        positive("warp", f64::from(device.warp))?;
        let limit = device.limits.threads_per_block;
        if threads > limit {
            let (device, limit) = (device.name.clone(), f64::from(limit));
            return Err(Error::OverLimit { field: "threads", asked: f64::from(threads), device, limit });
        }
        Ok(Self { blocks, threads, warps: threads.div_ceil(device.warp) })
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Warps of a block, the last one perhaps not full.
    pub fn warps(&self) -> u32 {
        self.warps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_within_limits() {
        let c2070 = Device::by_name("c2070").expect("it is described");
        let launch = Launch::new(&c2070, 3, 100).expect("it fits");
        // 100 threads are three warps of 32 and one of 4.
        assert_eq!((launch.blocks(), launch.threads(), launch.warps()), (3, 100, 4));
        assert_eq!(Launch::new(&c2070, 0, 100), Err(Error::NotPositive { field: "blocks", value: 0.0 }));
        assert_eq!(Launch::new(&c2070, 3, 0), Err(Error::NotPositive { field: "threads", value: 0.0 }));
        assert!(matches!(Launch::new(&c2070, 3, 1025), Err(Error::OverLimit { limit: 1024.0, .. })));
        let without = Device { warp: 0, ..c2070 };
        assert_eq!(Launch::new(&without, 3, 100), Err(Error::NotPositive { field: "warp", value: 0.0 }));
    }
}
