//! Hong and Kim: how many warps wait for memory at a time, and how many compute meanwhile.
//!
//! S. Hong, H. Kim, *An analytical model for a GPU architecture with memory-level and thread-level parallelism
//! awareness*, ISCA 2009. With N warps on a multiprocessor, cycles of one warp:
//!
//! ```text
//! Mem_L_Coal   = Mem_LD
//! Mem_L_Uncoal = Mem_LD + (Num_Uncoal_per_mw − 1) · Departure_del_uncoal
//! Mem_L        = Mem_L_Uncoal · Weight_uncoal + Mem_L_Coal · Weight_coal
//! Departure_delay = Departure_del_uncoal · Num_Uncoal_per_mw · Weight_uncoal + Departure_del_coal · Weight_coal
//! Mem_cycles   = Mem_L · Num_Mem_insts
//!
//! BW_per_warp  = Freq · Load_bytes_per_warp / Mem_L
//! MWP          = min(Mem_L / Departure_delay, Mem_Bandwidth / (BW_per_warp · Num_ActiveSM), N)
//! CWP          = min((Mem_cycles + Comp_cycles) / Comp_cycles, N)
//!
//! 1. MWP = CWP = N           Exec = (Mem_cycles + Comp_cycles + Comp_cycles / Num_Mem_insts · (MWP − 1)) · Num_Rep
//! 2. CWP ≥ MWP, or Comp_cycles > Mem_cycles
//!                            Exec = (Mem_cycles · N / MWP + Comp_cycles / Num_Mem_insts · (MWP − 1)) · Num_Rep
//! 3. MWP > CWP               Exec = (Mem_L + Comp_cycles · N) · Num_Rep
//!
//! Synch_cost   = Departure_delay · (MWP − 1) · Num_synch_insts · Num_Active_blocks_per_SM · Num_Rep
//! ```
//!
//! The cases are tried in this order. Memory dominates in 2, computation in 3. Neither caches nor divergence are in the
//! model.
//!
//! ```
//! use gpu_model::literature::hong_kim::{Case, Kernel, Machine, Residency, estimate};
//! use gpu_model::units::{Bytes, Cycles};
//! use gpu_model::{Device, Launch};
//! let c2070 = Device::by_name("c2070")?;
//! let machine = Machine::new(&c2070, Cycles(500.0))?;
//! // Each thread reads two doubles and writes one, after one addition of 48 cycles.
//! let kernel = Kernel {
//!     computation: Cycles(48.0),
//!     coalesced: 3.0,
//!     load_bytes: Bytes(256.0),
//!     ..Kernel::default()
//! };
//! let launch = Launch::new(&c2070, 1 << 15, 128)?;
//! let estimate = estimate(&machine, &kernel, &Residency::spread(&c2070, &launch))?;
//! assert_eq!(estimate.case, Case::Memory);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::device::{Device, Launch};
use crate::error::{Error, Result, not_negative, positive};
use crate::units::{Bytes, BytesPerSecond, Cycles, Hertz};

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Mem_LD: of one access to memory.
    pub latency: Cycles,
    /// Departure_del_coal: from one coalesced access of a multiprocessor to its next.
    pub departure_coalesced: Cycles,
    /// Departure_del_uncoal: from one transaction of an access that is not coalesced to its next.
    pub departure_uncoalesced: Cycles,
    /// Mem_Bandwidth.
    pub bandwidth: BytesPerSecond,
    /// Freq: what turns bytes in a latency into a bandwidth.
    pub clock: Hertz,
}

impl Machine {
    /// The device's bandwidth and clock, with this latency and the departure delays that the paper measured on a GTX
    /// 280, 4 and 40 cycles.
    ///
    /// # Errors
    /// The latency is not positive.
    pub fn new(device: &Device, latency: Cycles) -> Result<Self> {
        Ok(Self {
            latency: Cycles(positive("latency", latency.0)?),
            departure_coalesced: Cycles(4.0),
            departure_uncoalesced: Cycles(40.0),
            bandwidth: device.memory.bandwidth,
            clock: device.clock,
        })
    }
}

/// What one warp does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Comp_cycles: of all its instructions.
    pub computation: Cycles,
    /// Accesses to memory that are coalesced.
    pub coalesced: f64,
    /// Accesses to memory that are not.
    pub uncoalesced: f64,
    /// Num_Uncoal_per_mw: transactions of an access that is not coalesced.
    pub transactions: f64,
    /// Load_bytes_per_warp: what one access moves.
    pub load_bytes: Bytes,
    /// Num_synch_insts: barriers.
    pub barriers: f64,
}

/// Which warps are where at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residency {
    /// N: warps on a multiprocessor.
    pub warps: f64,
    /// Num_Active_blocks_per_SM.
    pub blocks: f64,
    /// Num_ActiveSM: multiprocessors with blocks.
    pub multiprocessors: f64,
    /// Num_Rep: how often all of them are filled.
    pub repetitions: f64,
}

impl Residency {
    /// Blocks spread over all multiprocessors, as the paper has it and hardware does.
    pub fn spread(device: &Device, launch: &Launch) -> Self {
        let most = Self::most(device, launch);
        let multiprocessors = f64::from(device.multiprocessors).min(launch.blocks() as f64);
        let blocks = (launch.blocks() as f64 / multiprocessors).ceil().min(most);
        let warps = blocks * f64::from(launch.warps());
        let repetitions = (launch.blocks() as f64 / (blocks * multiprocessors)).ceil();
        Self { warps, blocks, multiprocessors, repetitions }
    }

    /// Blocks put on one multiprocessor until it is full, then on the next, and a last repetition that is not full
    /// costs its part: what the thesis' tables do, which its text does not say.
    pub fn filled(device: &Device, launch: &Launch) -> Self {
        let count = launch.blocks() as f64;
        let [all, most] = [device.multiprocessors, device.limits.blocks].map(f64::from);
        let blocks = count.min(most);
        let warps = (blocks * f64::from(launch.warps())).min(f64::from(device.limits.warps));
        let multiprocessors = (count / most).ceil().min(all);
        Self { warps, blocks, multiprocessors, repetitions: (count / (most * all)).max(1.0) }
    }

    /// Blocks that fit on a multiprocessor.
    fn most(device: &Device, launch: &Launch) -> f64 {
        f64::from((device.limits.warps / launch.warps()).min(device.limits.blocks))
    }
}

/// Which formula applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// MWP = CWP = N: there are too few warps to fill either.
    FewWarps,
    /// Memory takes longer.
    Memory,
    /// Computation takes longer.
    Computation,
}

/// All that the formulas give on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mem_L.
    pub latency: Cycles,
    /// Departure_delay.
    pub departure: Cycles,
    /// Mem_cycles.
    pub memory: Cycles,
    /// Comp_cycles.
    pub computation: Cycles,
    /// Num_Mem_insts.
    pub accesses: f64,
    /// Mem_L / Departure_delay.
    pub mwp_without_bandwidth: f64,
    /// What the bandwidth allows.
    pub mwp_peak_bandwidth: f64,
    /// Warps that wait for memory at a time.
    pub mwp: f64,
    /// CWP before N limits it.
    pub cwp_full: f64,
    /// Warps that compute while one waits, and that one.
    pub cwp: f64,
    /// What [`cycles`](Self::cycles) takes.
    pub case: Case,
    /// Num_synch_insts.
    pub barriers: f64,
    /// Where the warps are.
    pub residency: Residency,
}

/// Applies the formulas.
///
/// # Errors
/// A parameter that has to be positive and is not; a kernel that has no accesses to memory, or none with the
/// transactions that it claims.
pub fn estimate(machine: &Machine, kernel: &Kernel, residency: &Residency) -> Result<Estimate> {
    for (field, value) in [
        ("latency", machine.latency.0),
        ("departure_coalesced", machine.departure_coalesced.0),
        ("departure_uncoalesced", machine.departure_uncoalesced.0),
        ("bandwidth", machine.bandwidth.0),
        ("clock", machine.clock.0),
        ("computation", kernel.computation.0),
        ("load_bytes", kernel.load_bytes.0),
        ("warps", residency.warps),
        ("blocks", residency.blocks),
        ("multiprocessors", residency.multiprocessors),
        ("repetitions", residency.repetitions),
    ] {
        positive(field, value)?;
    }
    let coalesced = not_negative("coalesced", kernel.coalesced)?;
    let uncoalesced = not_negative("uncoalesced", kernel.uncoalesced)?;
    let transactions = not_negative("transactions", kernel.transactions)?;
    if uncoalesced > 0.0 && transactions < 1.0 {
        let (field, other) = ("transactions", "uncoalesced");
        return Err(Error::Contradiction { field, value: transactions, other, other_value: uncoalesced });
    }
    let accesses = positive("accesses", coalesced + uncoalesced)?;
    let [weight, rest] = [coalesced, uncoalesced].map(|some| some / accesses);

    let apart = machine.latency + machine.departure_uncoalesced * (transactions - 1.0).max(0.0);
    let latency = apart * rest + machine.latency * weight;
    let departure =
        machine.departure_uncoalesced * (transactions * rest) + machine.departure_coalesced * weight;
    let memory = latency * accesses;
    let computation = kernel.computation;

    let per_warp = machine.clock.0 * kernel.load_bytes.0 / latency.0;
    let mwp_without_bandwidth = latency / departure;
    let mwp_peak_bandwidth = machine.bandwidth.0 / (per_warp * residency.multiprocessors);
    let mwp = mwp_without_bandwidth.min(mwp_peak_bandwidth).min(residency.warps);
    let cwp_full = (memory + computation) / computation;
    let cwp = cwp_full.min(residency.warps);
    let case = if mwp == residency.warps && cwp == residency.warps {
        Case::FewWarps
    } else if cwp >= mwp || computation > memory {
        Case::Memory
    } else {
        Case::Computation
    };
    Ok(Estimate {
        latency,
        departure,
        memory,
        computation,
        accesses,
        mwp_without_bandwidth,
        mwp_peak_bandwidth,
        mwp,
        cwp_full,
        cwp,
        case,
        barriers: not_negative("barriers", kernel.barriers)?,
        residency: *residency,
    })
}

impl Estimate {
    /// Exec_cycles_app, by the case that applies.
    pub fn cycles(&self) -> Cycles {
        self.cycles_in(self.case)
    }

    /// Exec_cycles_app by the formula of a case, whether it applies or not.
    pub fn cycles_in(&self, case: Case) -> Cycles {
        let behind = self.computation / self.accesses * (self.mwp - 1.0);
        let once = match case {
            Case::FewWarps => self.memory + self.computation + behind,
            Case::Memory => self.memory * (self.residency.warps / self.mwp) + behind,
            Case::Computation => self.latency + self.computation * self.residency.warps,
        };
        once * self.residency.repetitions
    }

    /// Synch_cost, which is added to [`cycles`](Self::cycles).
    pub fn synchronisation(&self) -> Cycles {
        let Residency { blocks, repetitions, .. } = self.residency;
        self.departure * ((self.mwp - 1.0) * self.barriers * blocks * repetitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::testing::same;

    const MACHINE: Machine = Machine {
        latency: Cycles(400.0),
        departure_coalesced: Cycles(4.0),
        departure_uncoalesced: Cycles(10.0),
        bandwidth: BytesPerSecond(100e9),
        clock: Hertz(1e9),
    };
    const RESIDENCY: Residency =
        Residency { warps: 16.0, blocks: 4.0, multiprocessors: 10.0, repetitions: 3.0 };

    fn of(computation: f64, coalesced: f64, uncoalesced: f64, bytes: f64) -> Kernel {
        let (computation, load_bytes) = (Cycles(computation), Bytes(bytes));
        Kernel { computation, coalesced, uncoalesced, transactions: 32.0, load_bytes, barriers: 2.0 }
    }

    /// Half of 4 accesses coalesced: Mem_L_Uncoal = 400 + 31·10 = 710, Mem_L = (710 + 400)/2 = 555, the delay (10·32
    /// + 4)/2 = 162, Mem_cycles = 4·555 = 2220.
    #[test]
    fn latencies_are_weighted() {
        let estimate = estimate(&MACHINE, &of(100.0, 2.0, 2.0, 128.0), &RESIDENCY).expect("positive");
        same(estimate.latency.0, 555.0);
        same(estimate.departure.0, 162.0);
        same(estimate.memory.0, 2220.0);
        // 555/162 = 3.4259… warps are under way before the next delay.
        same(estimate.mwp, 555.0 / 162.0);
    }

    /// Case 2. 4 coalesced accesses of 128 bytes: a warp gets 1e9·128/400 = 0.32 GB/s, 10 multiprocessors share 100
    /// GB/s: MWP = 100/3.2 = 31.25, limited by Mem_L/delay = 400/4 = 100 and N = 16: 16. Comp = 200, Mem = 1600, CWP
    /// = 1800/200 = 9. 9 < 16: with Mem > Comp that is case 3: (400 + 200·16)·3 = 10 800. With 512 bytes MWP =
    /// 7.8125, CWP = 9 is larger: (1600·16/7.8125 + 200/4·6.8125)·3 = (3276.8 + 340.625)·3 = 10 852.275.
    #[test]
    fn computation_or_memory_dominates() {
        let computes = estimate(&MACHINE, &of(200.0, 4.0, 0.0, 128.0), &RESIDENCY).expect("positive");
        same(computes.mwp_peak_bandwidth, 31.25);
        same(computes.mwp_without_bandwidth, 100.0);
        assert_eq!((computes.mwp, computes.cwp, computes.case), (16.0, 9.0, Case::Computation));
        same(computes.cycles().0, 10_800.0);
        let waits = estimate(&MACHINE, &of(200.0, 4.0, 0.0, 512.0), &RESIDENCY).expect("positive");
        assert_eq!((waits.mwp, waits.case), (7.8125, Case::Memory));
        same(waits.cycles().0, 10_852.275);
    }

    /// Comp 2000 > Mem 1600: case 2 although CWP = 3600/2000 = 1.8 < MWP = 16: (1600·16/16 + 2000/4·15)·3 = 27 300.
    #[test]
    fn more_computation_than_memory_is_the_second_case() {
        let estimate = estimate(&MACHINE, &of(2000.0, 4.0, 0.0, 128.0), &RESIDENCY).expect("positive");
        assert_eq!(estimate.case, Case::Memory);
        same(estimate.cycles().0, 27_300.0);
    }

    /// N = 4: MWP = CWP = 4 with Comp = 100, Mem = 1600: (1600 + 100 + 100/4·3)·3 = 5325. Two barriers in each of 4
    /// blocks: 4·3·2·4·3 = 288.
    #[test]
    fn few_warps_and_barriers() {
        let few = Residency { warps: 4.0, ..RESIDENCY };
        let estimate = estimate(&MACHINE, &of(100.0, 4.0, 0.0, 128.0), &few).expect("positive");
        assert_eq!((estimate.mwp, estimate.cwp, estimate.case), (4.0, 4.0, Case::FewWarps));
        same(estimate.cycles().0, 5325.0);
        same(estimate.synchronisation().0, 288.0);
    }

    /// 100 blocks of 6 warps on 14 multiprocessors that hold 48 warps and 8 blocks: 8 blocks each; spread that is one
    /// repetition, filled 100/112. 20 blocks: spread over 14 in twos; filled, 8 on each of ⌈20/8⌉ = 3.
    #[test]
    fn residency() {
        let c2070 = Device::by_name("c2070").expect("it is described");
        let launch = |blocks| Launch::new(&c2070, blocks, 192).expect("it fits");
        let spread = Residency::spread(&c2070, &launch(100));
        let all = Residency { warps: 48.0, blocks: 8.0, multiprocessors: 14.0, repetitions: 1.0 };
        assert_eq!(spread, all);
        assert_eq!(Residency::spread(&c2070, &launch(113)).repetitions, 2.0);
        let spread = Residency::spread(&c2070, &launch(20));
        assert_eq!(spread, Residency { warps: 12.0, blocks: 2.0, ..all });
        let filled = Residency::filled(&c2070, &launch(20));
        assert_eq!(filled, Residency { multiprocessors: 3.0, ..all });
        assert_eq!(Residency::filled(&c2070, &launch(168)).repetitions, 1.5);
    }

    #[test]
    fn bad_parameters() {
        let kernel = of(100.0, 4.0, 0.0, 128.0);
        let bad = [
            estimate(&Machine { latency: Cycles(0.0), ..MACHINE }, &kernel, &RESIDENCY),
            estimate(&MACHINE, &of(0.0, 4.0, 0.0, 128.0), &RESIDENCY),
            estimate(&MACHINE, &of(100.0, 0.0, 0.0, 128.0), &RESIDENCY),
            estimate(&MACHINE, &of(100.0, -4.0, 8.0, 128.0), &RESIDENCY),
            estimate(&MACHINE, &kernel, &Residency { warps: f64::NAN, ..RESIDENCY }),
            estimate(&MACHINE, &Kernel { uncoalesced: 1.0, transactions: 0.0, ..kernel }, &RESIDENCY),
        ];
        assert!(bad.iter().all(Result::is_err), "{bad:?}");
    }
}
