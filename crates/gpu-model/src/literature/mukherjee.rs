//! Mukherjee, Kothapalli et al.: a kernel takes what its threads take, one behind the other in each lane.
//!
//! K. Kothapalli, R. Mukherjee, M. S. Rehman, S. Patidar, P. J. Narayanan, K. Srinathan, *A performance prediction
//! model for the CUDA GPGPU platform*, HiPC 2009. A kernel is a superstep of BSP, a program the sum of its kernels.
//! Of a thread:
//!
//! ```text
//! N_comp    cycles of its instructions
//! N_memory  (500 + t) / t for each access to global memory that is coalesced over t threads,
//!           4·t for each access to shared memory that t threads make to one bank
//! SUM       C(T) = N_comp + N_memory            nothing overlaps: the upper bound
//! MAX       C(T) = max(N_comp, N_memory)        all that can overlap does: the lower bound
//! ```
//!
//! and of a kernel of N_B blocks of N_w warps of N_t threads on lanes N_C with a pipeline of D stages at R cycles a
//! second
//!
//! ```text
//! C(K) = N_B · N_w · N_t · C(T) / (N_C · D)        T(K) = C(K) / R
//! ```
//!
//! N_B is what one multiprocessor gets of blocks; the tables of González García's thesis take all blocks of the grid,
//! and 500 cycles for each access whether coalesced or not ([`UNCOALESCED`]). With a cache whose line holds n
//! elements, one access in n costs the latency and the others nothing: [`cached`], an addition of the thesis (section
//! 5.2.4).
//!
//! ```
//! use gpu_model::literature::mukherjee::{Machine, Overlap, Thread, UNCOALESCED};
//! use gpu_model::units::Cycles;
//! use gpu_model::{Device, Launch};
//! let c2070 = Device::by_name("c2070")?;
//! let launch = Launch::new(&c2070, 32, 128)?;
//! let thread = Thread { computation: Cycles(48.0), memory: UNCOALESCED * 3.0 };
//! let cycles = Machine::new(&c2070)?.kernel(&launch, thread.cycles(Overlap::Sum))?;
//! assert_eq!(cycles.0, 32.0 * 1548.0);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::device::{Device, Launch};
use crate::error::{Result, not_negative, positive};
use crate::units::{Cycles, Hertz, Seconds};

/// Of an access to global memory, the mean of 400 to 600 cycles.
pub const LATENCY: Cycles = Cycles(500.0);

/// An access to global memory that only one thread makes, but for the cycle of (500 + 1)/1 that the tables leave out.
pub const UNCOALESCED: Cycles = LATENCY;

/// What a thread's cycles become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// SUM: nothing overlaps.
    Sum,
    /// MAX: all that can overlap does.
    Max,
}

/// Cycles of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thread {
    /// N_comp.
    pub computation: Cycles,
    /// N_memory.
    pub memory: Cycles,
}

impl Thread {
    /// C(T).
    pub fn cycles(&self, overlap: Overlap) -> Cycles {
        match overlap {
            Overlap::Sum => self.computation + self.memory,
            Overlap::Max => self.computation.max(self.memory),
        }
    }
}

/// An access to global memory that is coalesced over so many threads: (latency + t)/t.
///
/// # Errors
/// One of them is not positive.
pub fn global_access(latency: Cycles, threads: f64) -> Result<Cycles> {
    let (latency, threads) = (positive("latency", latency.0)?, positive("threads", threads)?);
    Ok(Cycles((latency + threads) / threads))
}

/// An access to shared memory that so many threads make to one bank: latency·t.
///
/// # Errors
/// One of them is not positive.
pub fn shared_access(latency: Cycles, threads: f64) -> Result<Cycles> {
    Ok(Cycles(positive("latency", latency.0)? * positive("threads", threads)?))
}

/// Accesses of which one in `line` (elements of a cache line) costs what it would without a cache, the others nothing:
/// `memory / line`. The thesis calls it the lower bound.
///
/// # Errors
/// `memory` is negative, or `line` not positive.
pub fn cached(memory: Cycles, line: f64) -> Result<Cycles> {
    Ok(Cycles(not_negative("memory", memory.0)? / positive("line", line)?))
}

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// N_t: threads of a warp.
    pub warp: f64,
    /// N_C: lanes of a multiprocessor.
    pub lanes: f64,
    /// D: stages of a lane's pipeline.
    pub depth: f64,
    /// R.
    pub clock: Hertz,
}

impl Machine {
    /// The device's numbers.
    ///
    /// # Errors
    /// [`NotGiven`](crate::Error::NotGiven), without the depth of the pipeline.
    pub fn new(device: &Device) -> Result<Self> {
        let depth = f64::from(device.issue()?.pipeline_depth);
        let (warp, lanes) = (f64::from(device.warp), f64::from(device.lanes));
        Ok(Self { warp, lanes, depth, clock: device.clock })
    }

    /// C(K). Warps of a block are counted whole.
    ///
    /// # Errors
    /// Negative cycles; parameters that are not positive.
    pub fn kernel(&self, launch: &Launch, thread: Cycles) -> Result<Cycles> {
        let warp = positive("warp", self.warp)?;
        let parallel = positive("lanes", self.lanes)? * positive("depth", self.depth)?;
        let blocks = launch.blocks() as f64;
        let warps = (f64::from(launch.threads()) / warp).ceil();
        Ok(Cycles(blocks * warps * warp * not_negative("thread", thread.0)? / parallel))
    }

    /// T(K).
    ///
    /// # Errors
    /// Those of [`kernel`](Self::kernel), and a clock that is not positive.
    pub fn time(&self, launch: &Launch, thread: Cycles) -> Result<Seconds> {
        positive("clock", self.clock.0)?;
        Ok(self.kernel(launch, thread)? / self.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::testing::same;

    const MACHINE: Machine = Machine { warp: 32.0, lanes: 8.0, depth: 4.0, clock: Hertz(1.3e9) };

    /// 48 + 1500 = 1548, max 1500.
    #[test]
    fn sum_and_max() {
        let thread = Thread { computation: Cycles(48.0), memory: Cycles(1500.0) };
        assert_eq!(thread.cycles(Overlap::Sum), Cycles(1548.0));
        assert_eq!(thread.cycles(Overlap::Max), Cycles(1500.0));
    }

    /// (500 + 32)/32 = 16.625; 4·8 = 32; 1500/16 = 93.75.
    #[test]
    fn accesses() {
        assert_eq!(global_access(LATENCY, 32.0), Ok(Cycles(16.625)));
        assert_eq!(global_access(LATENCY, 1.0), Ok(Cycles(501.0)));
        assert_eq!(shared_access(Cycles(4.0), 8.0), Ok(Cycles(32.0)));
        assert_eq!(cached(Cycles(1500.0), 16.0), Ok(Cycles(93.75)));
        assert!(global_access(LATENCY, 0.0).is_err() && cached(LATENCY, -1.0).is_err());
        assert!(shared_access(Cycles(-4.0), 1.0).is_err());
    }

    /// 10 blocks of ⌈100/32⌉ = 4 warps of 32 threads of 260 cycles, 8·4 at a time: 10·4·32·260/32 = 10 400 cycles; at
    /// 1.3 GHz 8 µs.
    #[test]
    fn a_kernel() {
        let launch =
            Launch::new(&Device::by_name("c1060").expect("it is described"), 10, 100).expect("it fits");
        assert_eq!(MACHINE.kernel(&launch, Cycles(260.0)), Ok(Cycles(10_400.0)));
        same(MACHINE.time(&launch, Cycles(260.0)).expect("positive").0, 8e-6);
        assert!(MACHINE.kernel(&launch, Cycles(-1.0)).is_err());
        assert!(Machine { lanes: 0.0, ..MACHINE }.kernel(&launch, Cycles(1.0)).is_err());
        assert!(Machine { clock: Hertz(-1.0), ..MACHINE }.time(&launch, Cycles(1.0)).is_err());
    }
}
