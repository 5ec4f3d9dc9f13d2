//! González García: Mukherjee's model with copies, launches, divergence, a cache and atomics: a whole program on host
//! and device.
//!
//! C. Y. González García, *Modelo de estimación de rendimiento para arquitecturas paralelas heterogéneas*,
//! Universidad Politécnica de Valencia, 2012, chapter 5. Of a thread that goes a straight way, on elements of
//! data_size bytes:
//!
//! ```text
//! C_comp       = comp_insts · issue_cycles
//! N_max        = 128 / data_size        N_min = 32 / data_size        cache_factor = (N_max + N_min) / 2
//! C_gmem       = mem_insts · latency_gmem / cache_factor
//! C_cache      = mem_insts · latency_cache · (cache_factor − 1) / cache_factor
//! C_mem        = C_gmem + C_cache + latency_gmem of each access that no cache serves
//!                + latency_smem of each to shared memory
//! C_max        = max(C_comp, C_mem)     C_sum = C_comp + C_mem
//! ```
//!
//! That is [`CacheRule::Mean`]. The thesis' own tables use another rule, [`CacheRule::Line`]: C_mem = mem_insts ·
//! latency_gmem / N_max, the other accesses free, and N_max = 16 whatever the element is.
//!
//! * **Divergence**: the ways that threads of a warp go are gone one behind the other, and their cycles add up
//!   ([`Flow`]).
//! * **Kernel**: as in [`mukherjee`], C(K) = N_B · N_w · N_t · C / (N_C · D).
//! * **Launch**: 3 µs on Fermi, 4 µs on Tesla, whatever blocks and arguments ([`launch`]).
//! * **Atomics** of a block of N threads on one word: 17·N + 3450 cycles (2.0), 380·N + 3450 (1.3) ([`atomic`]).
//! * **Copies**: bytes over the bandwidth that the bus is used with ([`Bus`](crate::device::Bus)): PCIe 2.0 has 8
//!   GB/s, of which a copy from pageable memory gets 50 %. The tables divide by GiB/s, the worked example multiplies
//!   by GB/s ([`Giga`]).
//! * **Program**: the sum of its copies and kernels, nothing overlaps.
//!
//! ```
//! use gpu_model::literature::gonzalez::{CacheRule, Machine, Path};
//! use gpu_model::literature::mukherjee::Overlap;
//! use gpu_model::units::{Bytes, Cycles};
//! use gpu_model::Device;
//! // Section 5.3: 10 instructions on doubles, 20 accesses.
//! let machine = Machine::new(&Device::by_name("c2070")?, CacheRule::Mean)?;
//! let path = Path { instructions: 10.0, issue: Cycles(48.0), cached: 20.0, data: Bytes(8.0), ..Path::default() };
//! assert_eq!(machine.computation(&path)?, Cycles(480.0));
//! assert_eq!(machine.memory(&path)?, Cycles(1272.0));
//! assert_eq!(machine.path(&path, Overlap::Sum)?, Cycles(1752.0));
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::device::Device;
use crate::error::{Error, Result, not_negative, positive};
use crate::literature::mukherjee::{self, Overlap, Thread};
use crate::units::{Bytes, BytesPerSecond, Cycles, GIB, Seconds};

/// How many accesses a line of the cache serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CacheRule {
    /// The mean of the elements in the largest and in the smallest transaction: one of so many accesses goes to
    /// memory, the others to the cache.
    Mean,
    /// One of so many accesses goes to memory, the others cost nothing.
    Line {
        /// Elements of a line.
        elements: f64,
    },
}

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// latency_gmem.
    pub global: Cycles,
    /// latency_smem.
    pub shared: Cycles,
    /// latency_cache.
    pub cache: Cycles,
    /// The largest transaction.
    pub line: Bytes,
    /// The smallest transaction.
    pub sector: Bytes,
    /// The rule of the cache.
    pub rule: CacheRule,
    /// What spreads threads over lanes.
    pub lanes: mukherjee::Machine,
}

impl Machine {
    /// The device's numbers.
    ///
    /// # Errors
    /// [`NotGiven`](Error::NotGiven), without latencies or the depth of the pipeline.
    pub fn new(device: &Device, rule: CacheRule) -> Result<Self> {
        let latency = device.latency()?;
        Ok(Self {
            global: latency.global,
            shared: latency.shared,
            cache: latency.cache,
            line: device.memory.line,
            sector: device.memory.sector,
            rule,
            lanes: mukherjee::Machine::new(device)?,
        })
    }

    /// cache_factor, or the elements of a line.
    ///
    /// # Errors
    /// A size that is not positive, or larger than a transaction.
    pub fn cache_factor(&self, data: Bytes) -> Result<f64> {
        let data = positive("data", data.0)?;
        match self.rule {
            CacheRule::Line { elements } => positive("elements", elements),
            CacheRule::Mean if data > self.sector.0 => {
                let (field, other) = ("data", "sector");
                Err(Error::Contradiction { field, value: data, other, other_value: self.sector.0 })
            }
            CacheRule::Mean => Ok(f64::midpoint(self.line.0 / data, self.sector.0 / data)),
        }
    }

    /// C_comp.
    ///
    /// # Errors
    /// Negative counts or cycles.
    pub fn computation(&self, path: &Path) -> Result<Cycles> {
        let instructions = not_negative("instructions", path.instructions)?;
        Ok(Cycles(instructions * not_negative("issue", path.issue.0)?))
    }

    /// C_mem.
    ///
    /// # Errors
    /// Negative counts; latencies or a size that are not positive.
    pub fn memory(&self, path: &Path) -> Result<Cycles> {
        let global = positive("global", self.global.0)?;
        let factor = if path.cached > 0.0 { self.cache_factor(path.data)? } else { 1.0 };
        let cached = not_negative("cached", path.cached)?;
        let hits = match self.rule {
            CacheRule::Mean => cached * positive("cache", self.cache.0)? * (factor - 1.0) / factor,
            CacheRule::Line { .. } => 0.0,
        };
        let uncached = not_negative("uncached", path.uncached)? * global;
        let shared = not_negative("shared", path.shared)? * positive("shared latency", self.shared.0)?;
        Ok(Cycles(cached * global / factor + hits + uncached + shared))
    }

    /// C_max or C_sum of a straight way.
    ///
    /// # Errors
    /// Those of [`computation`](Self::computation) and [`memory`](Self::memory).
    pub fn path(&self, path: &Path, overlap: Overlap) -> Result<Cycles> {
        Ok(Thread { computation: self.computation(path)?, memory: self.memory(path)? }.cycles(overlap))
    }

    /// The same of a way that branches.
    ///
    /// # Errors
    /// Those of [`path`](Self::path).
    pub fn flow(&self, flow: &Flow, overlap: Overlap) -> Result<Cycles> {
        match flow {
            Flow::Path(path) => self.path(path, overlap),
            Flow::Sequence(parts) | Flow::Divergent(parts) => {
                parts.iter().map(|part| self.flow(part, overlap)).sum()
            }
            Flow::Uniform(branches) => {
                let mut cycles = branches.iter().map(|branch| self.flow(branch, overlap));
                cycles.try_fold(Cycles(0.0), |most, one| Ok(most.max(one?)))
            }
        }
    }
}

/// A straight way through a kernel, of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Path {
    /// comp_insts.
    pub instructions: f64,
    /// issue_cycles: of one of them.
    pub issue: Cycles,
    /// Accesses to global memory that follow each other in lines.
    pub cached: f64,
    /// Those that no cache serves.
    pub uncached: f64,
    /// Accesses to shared memory.
    pub shared: f64,
    /// data_size: of an element.
    pub data: Bytes,
}

/// A way through a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// A straight one.
    Path(Path),
    /// Parts behind each other.
    Sequence(Vec<Flow>),
    /// Branches of which threads of one warp take different ones: their cycles add up.
    Divergent(Vec<Flow>),
    /// Branches of which all threads of a warp take the same: what the slowest warp takes counts.
    Uniform(Vec<Flow>),
}

/// Cycles of one atomic operation that all of a block's threads do to one word: add, subtract, minimum, maximum,
/// increment, decrement, and, or, exclusive or. Exchange and compare-and-swap behave otherwise.
///
/// # Errors
/// [`NotGiven`](Error::NotGiven); [`OverLimit`](Error::OverLimit) with more threads than a block may have.
pub fn atomic(device: &Device, threads: u32) -> Result<Cycles> {
    let atomics = device.atomics()?;
    let launch = crate::Launch::new(device, 1, threads)?;
    Ok(atomics.base + atomics.per_thread * f64::from(launch.threads()))
}

/// Cycles of a launch.
///
/// # Errors
/// [`NotGiven`](Error::NotGiven).
pub fn launch(device: &Device) -> Result<Cycles> {
    Ok(device.launch()?.overhead * device.clock)
}

/// Between what a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// From the host's pageable memory.
    PageableToDevice,
    /// To the host's pageable memory.
    PageableToHost,
    /// From the host's pinned memory.
    PinnedToDevice,
    /// To the host's pinned memory.
    PinnedToHost,
    /// From the device's memory to itself.
    WithinDevice,
}

/// What the G in GB/s is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giga {
    /// 10^9, as the standards of buses have it.
    Decimal,
    /// 2^30, as the thesis' tables compute.
    Binary,
}

/// What such a copy moves in a second.
///
/// # Errors
/// [`NotGiven`](Error::NotGiven).
pub fn bandwidth(device: &Device, copy: Copy, giga: Giga) -> Result<BytesPerSecond> {
    let bus = device.bus()?;
    let rate = match copy {
        Copy::PageableToDevice => bus.peak * bus.pageable_to_device.0,
        Copy::PageableToHost => bus.peak * bus.pageable_to_host.0,
        Copy::PinnedToDevice => bus.peak * bus.pinned_to_device.0,
        Copy::PinnedToHost => bus.peak * bus.pinned_to_host.0,
        Copy::WithinDevice => {
            let field = "bus.within_device";
            bus.within_device.ok_or_else(|| Error::NotGiven { device: device.name.clone(), field })?
        }
    };
    Ok(match giga {
        Giga::Decimal => rate,
        Giga::Binary => rate / 1e9 * GIB,
    })
}

/// How long a copy takes.
///
/// # Errors
/// [`NotGiven`](Error::NotGiven); a negative number of bytes.
pub fn transfer(device: &Device, copy: Copy, bytes: Bytes, giga: Giga) -> Result<Seconds> {
    not_negative("bytes", bytes.0)?;
    Ok(bytes / bandwidth(device, copy, giga)?)
}

/// A program: its parts follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// T(HD), T(DH) and those within the device.
    pub copies: Vec<Seconds>,
    /// T(K) of each kernel.
    pub kernels: Vec<Seconds>,
    /// What each launch adds; the thesis' examples leave it out.
    pub launch: Seconds,
}

impl Program {
    /// T.
    pub fn time(&self) -> Seconds {
        let copies: Seconds = self.copies.iter().copied().sum();
        let kernels: Seconds = self.kernels.iter().copied().sum();
        copies + kernels + self.launch * self.kernels.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Launch;
    use crate::literature::testing::same;

    fn c2070() -> Device {
        Device::by_name("c2070").expect("it is described")
    }

    fn machine(rule: CacheRule) -> Machine {
        Machine::new(&c2070(), rule).expect("it has all that is needed")
    }

    fn path() -> Path {
        let (issue, data) = (Cycles(48.0), Bytes(8.0));
        Path { instructions: 10.0, issue, cached: 20.0, uncached: 1.0, shared: 5.0, data }
    }

    /// Doubles: 128/8 = 16 and 32/8 = 4, the mean 10. Floats: 32 and 8, the mean 20.
    #[test]
    fn cache_factors() {
        let mean = machine(CacheRule::Mean);
        assert_eq!(mean.cache_factor(Bytes(8.0)), Ok(10.0));
        assert_eq!(mean.cache_factor(Bytes(4.0)), Ok(20.0));
        assert_eq!(machine(CacheRule::Line { elements: 16.0 }).cache_factor(Bytes(4.0)), Ok(16.0));
        assert!(mean.cache_factor(Bytes(64.0)).is_err() && mean.cache_factor(Bytes(0.0)).is_err());
    }

    /// Mean: 20·600/10 + 20·4·9/10 + 600 + 5·4 = 1200 + 72 + 600 + 20 = 1892. Line of 16: 20·600/16 + 600 + 20 =
    /// 1370. With 10·48 = 480 of computation the sums are 2372 and 1850, the maxima 1892 and 1370.
    #[test]
    fn a_straight_way() {
        let mean = machine(CacheRule::Mean);
        assert_eq!(mean.memory(&path()), Ok(Cycles(1892.0)));
        assert_eq!(mean.path(&path(), Overlap::Sum), Ok(Cycles(2372.0)));
        assert_eq!(mean.path(&path(), Overlap::Max), Ok(Cycles(1892.0)));
        let line = machine(CacheRule::Line { elements: 16.0 });
        assert_eq!(line.path(&path(), Overlap::Sum), Ok(Cycles(1850.0)));
        assert_eq!(line.path(&path(), Overlap::Max), Ok(Cycles(1370.0)));
        assert!(mean.path(&Path { uncached: -1.0, ..path() }, Overlap::Sum).is_err());
        assert!(mean.path(&Path { cached: -1.0, ..path() }, Overlap::Sum).is_err());
    }

    /// A is 100, then a warp's threads part over B (30) and C (50), then whole warps take D (70) or E (20): 100 + 30
    /// + 50 + 70 = 250.
    #[test]
    fn divergent_branches_add_up() {
        let of = |cycles: f64| {
            Flow::Path(Path { instructions: cycles, issue: Cycles(1.0), data: Bytes(4.0), ..Path::default() })
        };
        let flow = Flow::Sequence(vec![
            of(100.0),
            Flow::Divergent(vec![of(30.0), of(50.0)]),
            Flow::Uniform(vec![of(70.0), of(20.0)]),
        ]);
        assert_eq!(machine(CacheRule::Mean).flow(&flow, Overlap::Sum), Ok(Cycles(250.0)));
    }

    /// 4 blocks of 4 warps of 32 threads over 32·4 lanes: 4 times 1752 cycles, at 1.15 GHz 6.0939… µs.
    #[test]
    fn a_kernel() {
        let launch = Launch::new(&c2070(), 4, 128).expect("it fits");
        let lanes = machine(CacheRule::Mean).lanes;
        assert_eq!(lanes.kernel(&launch, Cycles(1752.0)), Ok(Cycles(7008.0)));
        same(lanes.time(&launch, Cycles(1752.0)).expect("positive").0, 7008.0 / 1.15e9);
    }

    /// 2.0: 17·192 + 3450 = 6714; 1.3: 380·192 + 3450 = 76 410. Launches: 3 µs at 1.15 GHz are 3450 cycles, 4 µs at
    /// 1.3 GHz 5200.
    #[test]
    fn atomics_and_launches() {
        let c1060 = Device::by_name("c1060").expect("it is described");
        assert_eq!(atomic(&c2070(), 192), Ok(Cycles(6714.0)));
        assert_eq!(atomic(&c1060, 192), Ok(Cycles(76_410.0)));
        assert!(matches!(atomic(&c1060, 1024), Err(Error::OverLimit { limit: 512.0, .. })));
        same(launch(&c2070()).expect("given").0, 3450.0);
        same(launch(&c1060).expect("given").0, 5200.0);
        let v100 = Device::by_name("v100").expect("it is described");
        assert!(matches!(launch(&v100), Err(Error::NotGiven { field: "launch", .. })));
        assert!(matches!(atomic(&v100, 32), Err(Error::NotGiven { field: "atomics", .. })));
    }

    /// 8 GB/s: 50 % are 4, 45 % 3.6, 70 % 5.6, 75 % 6. 4e9 bytes take 1 s, in GiB/s 4e9/(4·2^30) = 0.9313… s.
    #[test]
    fn copies() {
        for (copy, rate) in [
            (Copy::PageableToDevice, 4e9),
            (Copy::PageableToHost, 3.6e9),
            (Copy::PinnedToDevice, 5.6e9),
            (Copy::PinnedToHost, 6e9),
            (Copy::WithinDevice, 80e9),
        ] {
            same(bandwidth(&c2070(), copy, Giga::Decimal).expect("given").0, rate);
        }
        let bytes = Bytes(4e9);
        let time = |giga| transfer(&c2070(), Copy::PageableToDevice, bytes, giga).expect("given").0;
        same(time(Giga::Decimal), 1.0);
        same(time(Giga::Binary), 1e9 / 1_073_741_824.0);
        assert!(transfer(&c2070(), Copy::PinnedToHost, Bytes(-1.0), Giga::Decimal).is_err());
        let laptop = Device::by_name("gt520m").expect("it is described");
        let within = bandwidth(&laptop, Copy::WithinDevice, Giga::Decimal);
        assert!(matches!(within, Err(Error::NotGiven { field: "bus.within_device", .. })));
    }

    /// 2 + 1 of copies, 4 + 5 of kernels, 2 launches of 0.5: 13.
    #[test]
    fn a_program_is_the_sum_of_its_parts() {
        let program = Program {
            copies: vec![Seconds(2.0), Seconds(1.0)],
            kernels: vec![Seconds(4.0), Seconds(5.0)],
            launch: Seconds(0.5),
        };
        assert_eq!(program.time(), Seconds(13.0));
        assert_eq!(Program::default().time(), Seconds(0.0));
    }
}
