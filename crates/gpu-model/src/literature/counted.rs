//! The literature's models of a kernel that was counted: what each takes for what our own is fed with.
//!
//! Their parameters are of a warp or a thread, and by hand. Here, of the whole launch's [`Counts`]:
//!
//! - *Accesses.* A line of which two sectors or more are used is a coalesced access of a warp; of others 32 are one access
//!   that is not coalesced.
//! - *Instructions.* All that are counted, spread evenly over the warps. One takes the lanes warp / lanes cycles in the
//!   models of warps, and `issue.single` in those of threads.
//! - *Latency.* The device's for global memory, not the papers'; departures are Hong and Kim's.
//! - *Elements* are of 4 bytes.
//!
//! Launches cost nothing but in [`gonzalez`]. Blocks are those of one multiprocessor in [`mukherjee`], as its paper has it,
//! and all of the grid in [`gonzalez`], as the thesis has it. None knows what caches keep; Mukherjee's with
//! cache assumes that each thread uses all elements of a line, so that of its accesses one for each line costs what one
//! without neighbours does, and the others nothing.
//!
//! Baghsorkhi's model ([`baghsorkhi`](crate::literature::baghsorkhi)) is not among them: it is of a graph, and counts
//! have none. They do not say which instructions come between a read and the use of its value, what part of the warps goes each way of a
//! branch, nor how many instructions of a warp do not wait for each other, and the model consists of these three. Nor
//! does the thesis say how CYC_mem follows from the bytes, or a kernel's time from that of its average warp: with formulas
//! of our own for both it would be another model than the one that was published.

use crate::device::{Device, Launch};
use crate::error::Result;
use crate::literature::mukherjee::{Overlap, Thread, cached, global_access, shared_access};
use crate::literature::{gonzalez, hong_kim, mukherjee, nugteren};
use crate::units::{Bytes, Cycles, Seconds};
use crate::waves::Counts;

/// A model of the literature that can be fed with counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Hong and Kim, with synchronisation.
    HongKim,
    /// Mukherjee and Kothapalli, SUM.
    MukherjeeSum,
    /// The same, MAX.
    MukherjeeMax,
    /// Mukherjee and Kothapalli with the thesis' cache, SUM.
    MukherjeeSumCached,
    /// The same, MAX.
    MukherjeeMaxCached,
    /// Nugteren.
    Nugteren,
    /// González García, SUM, with the mean of the cache's transactions.
    Gonzalez,
}

/// Transactions of an access that is not coalesced.
const APART: f64 = 32.0;
/// Bytes of an element.
const ELEMENT: Bytes = Bytes(4.0);

/// Accesses of one warp.
struct Accesses {
    coalesced: f64,
    uncoalesced: f64,
}

impl Accesses {
    fn of(lines: f64, sectors: f64, warps: f64) -> Self {
        if sectors >= 2.0 * lines {
            Self { coalesced: lines / warps, uncoalesced: 0.0 }
        } else {
            Self { coalesced: 0.0, uncoalesced: lines / APART / warps }
        }
    }

    fn all(&self) -> f64 {
        self.coalesced + self.uncoalesced
    }
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::HongKim,
        Self::MukherjeeSum,
        Self::MukherjeeMax,
        Self::MukherjeeSumCached,
        Self::MukherjeeMaxCached,
        Self::Nugteren,
        Self::Gonzalez,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::HongKim => "Hong and Kim",
            Self::MukherjeeSum => "Mukherjee SUM",
            Self::MukherjeeMax => "Mukherjee MAX",
            Self::MukherjeeSumCached => "Mukherjee SUM, cache",
            Self::MukherjeeMaxCached => "Mukherjee MAX, cache",
            Self::Nugteren => "Nugteren",
            Self::Gonzalez => "González",
        }
    }

    /// How long a launch takes on a device.
    ///
    /// # Errors
    /// [`NotGiven`](crate::Error::NotGiven) where the device has no `latency` or `issue`; a launch that it does not take,
    /// or in which nothing is issued or accessed.
    ///
    /// ```
    /// use gpu_model::literature::counted::Model;
    /// use gpu_model::waves::Counts;
    /// use gpu_model::Device;
    /// // A copy of 2^20 floats, a thread each.
    /// let mut counts = Counts::empty("copy", 4096, 256);
    /// (counts.lines, counts.lines_written) = (65_536.0, 32_768.0);
    /// (counts.sectors_read, counts.sectors_written) = (131_072.0, 131_072.0);
    /// counts.instructions.memory = 65_536.0;
    /// let time = Model::MukherjeeSum.time(&Device::by_name("h200")?, &counts)?;
    /// assert!(time.0 > 0.0);
    /// # Ok::<(), gpu_model::Error>(())
    /// ```
    pub fn time(self, device: &Device, counts: &Counts) -> Result<Seconds> {
        let launch = Launch::new(device, counts.blocks, counts.threads)?;
        let warps = launch.blocks() as f64 * f64::from(launch.warps());
        let loads = Accesses::of(counts.lines - counts.lines_written, counts.sectors_read, warps);
        let stores = Accesses::of(counts.lines_written, counts.sectors_written, warps);
        let (latency, issue) = (device.latency()?, device.issue()?);
        let instructions = counts.instructions.all() / warps;
        let [coalesced, uncoalesced] =
            [loads.coalesced + stores.coalesced, loads.uncoalesced + stores.uncoalesced];
        match self {
            Self::HongKim => {
                let machine = hong_kim::Machine::new(device, latency.global)?;
                let kernel = hong_kim::Kernel {
                    computation: Cycles(instructions * f64::from(device.warp) / f64::from(device.lanes)),
                    coalesced,
                    uncoalesced,
                    transactions: APART,
                    load_bytes: ELEMENT * f64::from(device.warp),
                    barriers: counts.waits.shared,
                };
                let residency = hong_kim::Residency::spread(device, &launch);
                let found = hong_kim::estimate(&machine, &kernel, &residency)?;
                Ok((found.cycles() + found.synchronisation()) / device.clock)
            }
            Self::MukherjeeSum | Self::MukherjeeMax | Self::MukherjeeSumCached | Self::MukherjeeMaxCached => {
                let apart = global_access(latency.global, 1.0)?;
                let global = if matches!(self, Self::MukherjeeSum | Self::MukherjeeMax) {
                    let together = global_access(latency.global, f64::from(device.warp))?;
                    together * coalesced + apart * uncoalesced
                } else {
                    cached(apart * (coalesced + uncoalesced), device.memory.line / ELEMENT)?
                };
                let banks = counts.wavefronts / counts.wavefronts_without_conflicts.max(1.0);
                let shared =
                    if banks > 0.0 { shared_access(Cycles(4.0), banks.max(1.0))? } else { Cycles(0.0) };
                let thread = Thread {
                    computation: issue.single * instructions,
                    memory: global + shared * (counts.wavefronts_without_conflicts / warps),
                };
                let sum = matches!(self, Self::MukherjeeSum | Self::MukherjeeSumCached);
                let overlap = if sum { Overlap::Sum } else { Overlap::Max };
                // N_B is what one multiprocessor gets.
                let share = launch.blocks().div_ceil(u64::from(device.multiprocessors).max(1));
                let launch = Launch::new(device, share, launch.threads())?;
                mukherjee::Machine::new(device)?.time(&launch, thread.cycles(overlap))
            }
            Self::Nugteren => {
                let machine = nugteren::Machine::new(device, latency.global);
                let departures = hong_kim::Machine::new(device, latency.global)?;
                let rate = if uncoalesced > coalesced {
                    departures.departure_uncoalesced * APART
                } else {
                    departures.departure_coalesced
                };
                let kernel = nugteren::Kernel {
                    computation: instructions,
                    loads: loads.all(),
                    stores: stores.all(),
                    data: ELEMENT,
                    rate,
                };
                let registers = counts.registers.unwrap_or(0);
                let resources = nugteren::Resources { registers, shared: counts.shared };
                let residency = nugteren::occupancy(device, &launch, &resources)?;
                let captions = nugteren::Captions::Printed;
                Ok(nugteren::estimate(&machine, &kernel, &residency, captions)?.time(&machine))
            }
            Self::Gonzalez => {
                let machine = gonzalez::Machine::new(device, gonzalez::CacheRule::Mean)?;
                let path = gonzalez::Path {
                    instructions,
                    issue: issue.single,
                    cached: coalesced,
                    uncached: uncoalesced,
                    shared: counts.wavefronts / warps,
                    data: ELEMENT,
                };
                let time = machine.lanes.time(&launch, machine.path(&path, Overlap::Sum)?)?;
                Ok(time + device.launch()?.overhead)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::literature::testing::same;

    /// 4096 blocks of 8 warps, each of which reads a line and writes a line, by two instructions.
    fn copy() -> Counts {
        let mut counts = Counts::empty("copy", 4096, 256);
        (counts.lines, counts.lines_written) = (65_536.0, 32_768.0);
        (counts.sectors_read, counts.sectors_written) = (131_072.0, 131_072.0);
        counts.instructions.memory = 65_536.0;
        counts
    }

    /// Two coalesced accesses of (L + 32)/32 cycles and two instructions; of 4096 blocks one of 132 multiprocessors gets 32,
    /// 8192 threads, over 128 lanes of D stages.
    #[test]
    fn mukherjee_by_hand() {
        let h200 = Device::by_name("h200").expect("it is described");
        let (latency, issue) = (h200.latency().unwrap(), h200.issue().unwrap());
        let memory = 2.0 * (latency.global.0 + 32.0) / 32.0;
        let threads = 8192.0 / (128.0 * f64::from(issue.pipeline_depth));
        let time = |cycles: f64| threads * cycles / h200.clock.0;
        let computation = 2.0 * issue.single.0;
        let found = Model::MukherjeeSum.time(&h200, &copy()).expect("it fits");
        same(found.0, time(memory + computation));
        let found = Model::MukherjeeMax.time(&h200, &copy()).expect("it fits");
        same(found.0, time(memory.max(computation)));
        // Of the 32 floats of a line one costs L + 1.
        let memory = 2.0 * (latency.global.0 + 1.0) / 32.0;
        let found = Model::MukherjeeSumCached.time(&h200, &copy()).expect("it fits");
        same(found.0, time(memory + computation));
        let found = Model::MukherjeeMaxCached.time(&h200, &copy()).expect("it fits");
        same(found.0, time(memory.max(computation)));
    }

    /// A cache whose lines are used whole costs the same wherever lanes access; otherwise lines of which one sector is
    /// used cost more.
    #[test]
    fn accesses_apart_take_longer() {
        let h200 = Device::by_name("h200").expect("it is described");
        let mut apart = copy();
        (apart.lines, apart.lines_written) = (32.0 * 65_536.0, 32.0 * 32_768.0);
        (apart.sectors_read, apart.sectors_written) = (32.0 * 32_768.0, 32.0 * 32_768.0);
        for model in Model::ALL {
            let [together, apart] = [copy(), apart.clone()].map(|counts| model.time(&h200, &counts).unwrap());
            match model {
                Model::MukherjeeSumCached | Model::MukherjeeMaxCached => same(apart.0, together.0),
                _ => assert!(apart > together, "{}: {apart:?}, {together:?}", model.name()),
            }
        }
    }

    #[test]
    fn a_device_without_latencies() {
        let v100 = Device::by_name("v100").expect("it is described");
        let error = Model::HongKim.time(&v100, &copy()).unwrap_err();
        assert_eq!(error, Error::NotGiven { device: "Tesla V100 PCIe 16GB".to_owned(), field: "latency" });
    }
}
