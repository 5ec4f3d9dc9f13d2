//! Nugteren: a core model under the limits of bandwidth, rate of requests and residency.
//!
//! C. Nugteren, *GPU model*, technical report, Eindhoven University of Technology, 2010. Cycles of one warp, then of a
//! multiprocessor, then of the kernel.
//!
//! **Null model** ([`occupancy`]): blocks on a multiprocessor are what is least of those that the launch gives it,
//! those that the hardware takes, and those for which there are threads, shared memory and registers.
//!
//! ```text
//! warps_per_block = threads_per_block / warp_size        warps_per_sm = blocks_per_sm · warps_per_block
//! ```
//!
//! **Memory model**: memory_instr = loads + stores; mem_rate, the delay from one request to the next, is one number
//! where accesses are coalesced and another where they are not.
//!
//! **Core model**:
//!
//! ```text
//! comp_cycles   = computation_instr · warp_size / processors
//! mem_cycles    = memory_instr · (mem_latency + mem_rate)
//! cycles_per_sm = mem_factor · mem_cycles + comp_factor · comp_cycles
//! sm_executions = ⌈blocks / (multiprocessors · blocks_per_sm)⌉
//! cycles        = cycles_per_sm · sm_executions          time = cycles / clock
//! ```
//!
//! **Roofline model**:
//!
//! ```text
//! bytes_per_warp  = data_size · warp_size · min(1, memory_instr)
//! bw_per_sm       = bytes_per_warp · clock / (mem_latency + mem_rate)
//! bw_limit        = bandwidth / (bw_per_sm · multiprocessors)
//! fire_rate_limit = (mem_latency + mem_rate) / mem_rate
//! sim_mem_limit   = min(bw_limit, fire_rate_limit, warps_per_sm)
//!
//! memory bound       mem_factor = warps_per_sm / sim_mem_limit    comp_factor = warps_per_sm − sim_mem_limit
//! computation bound  mem_factor = 1                               comp_factor = warps_per_sm
//! ```
//!
//! González García's thesis prints the two pairs of factors the other way round ([`Captions::Printed`]); its tables
//! follow what is above ([`Captions::Tabled`]), and so does the sense of them: what is bound by memory pays its
//! latency once for every sim_mem_limit warps. Which bound applies it does not say; here it is the one that gives
//! more cycles, so that more accesses or instructions never take less.
//!
//! **Extensions model**:
//!
//! ```text
//! overhead    = overhead_base + overhead_block · blocks + overhead_arg · max(0, arguments − 5)      added to cycles
//! comp_cycles = computation_instr · max(warp_size / processors, pipeline_latency / warps_per_sm)
//! ```
//!
//! ```
//! use gpu_model::literature::nugteren::{Captions, Kernel, Machine, Residency, estimate};
//! use gpu_model::units::{Bytes, Cycles};
//! use gpu_model::Device;
//! let machine = Machine::new(&Device::by_name("c2070")?, Cycles(500.0));
//! let kernel = Kernel { computation: 1.0, loads: 2.0, stores: 1.0, data: Bytes(8.0), rate: Cycles(300.0) };
//! let full = Residency { blocks: 2048.0, blocks_per_sm: 8.0, warps_per_block: 4.0 };
//! let estimate = estimate(&machine, &kernel, &full, Captions::Tabled)?;
//! assert_eq!(estimate.simultaneous, 800.0 / 300.0);
//! assert_eq!(estimate.executions, 19.0);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::device::{Device, Launch};
use crate::error::{Error, Result, not_negative, positive};
use crate::units::{Bytes, BytesPerSecond, Cycles, Hertz, Seconds};

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Threads of a warp.
    pub warp: f64,
    /// Lanes of a multiprocessor.
    pub lanes: f64,
    /// Multiprocessors.
    pub multiprocessors: f64,
    /// mem_latency.
    pub latency: Cycles,
    /// Bandwidth of its memory.
    pub bandwidth: BytesPerSecond,
    /// Clock.
    pub clock: Hertz,
    /// pipeline_latency of an instruction; 0 leaves that extension out.
    pub pipeline_latency: Cycles,
}

impl Machine {
    /// The device's numbers with this latency and no latency of the pipeline.
    pub fn new(device: &Device, latency: Cycles) -> Self {
        Self {
            warp: f64::from(device.warp),
            lanes: f64::from(device.lanes),
            multiprocessors: f64::from(device.multiprocessors),
            latency,
            bandwidth: device.memory.bandwidth,
            clock: device.clock,
            pipeline_latency: Cycles(0.0),
        }
    }
}

/// What one warp does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    /// computation_instr.
    pub computation: f64,
    /// Reads of global memory.
    pub loads: f64,
    /// Writes of global memory.
    pub stores: f64,
    /// data_size: of an element.
    pub data: Bytes,
    /// mem_rate: from one request to the next; it depends on how they are coalesced.
    pub rate: Cycles,
}

/// Blocks and warps on a multiprocessor; fractions where a launch does not fill them all alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residency {
    /// Blocks of the grid.
    pub blocks: f64,
    /// Blocks on a multiprocessor.
    pub blocks_per_sm: f64,
    /// Warps of a block.
    pub warps_per_block: f64,
}

/// What a block takes of a multiprocessor, besides threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Shared memory of a block.
    pub shared: Bytes,
}

/// The null model: what is resident, in whole blocks.
///
/// # Errors
/// [`Error::OverLimit`] where not even one block fits; a device without multiprocessors.
pub fn occupancy(device: &Device, launch: &Launch, resources: &Resources) -> Result<Residency> {
    let warps = launch.warps();
    let limits = &device.limits;
    positive("multiprocessors", f64::from(device.multiprocessors))?;
    let given = launch.blocks().div_ceil(u64::from(device.multiprocessors)) as f64;
    let shared = not_negative("shared", resources.shared.0)?;
    let registers = f64::from(resources.registers) * f64::from(warps * device.warp);
    // Rounded down; without demand there is no limit.
    let fit =
        |there_is: f64, takes: f64| if takes > 0.0 { (there_is / takes).floor() } else { f64::INFINITY };
    let by = [
        ("threads", f64::from(warps), f64::from(limits.warps)),
        ("shared", shared, limits.shared.0),
        ("registers", registers, f64::from(limits.registers)),
    ];
    let mut blocks = given.min(f64::from(limits.blocks));
    for (field, asked, limit) in by {
        if asked > limit {
            return Err(Error::OverLimit { field, asked, device: device.name.clone(), limit });
        }
        blocks = blocks.min(fit(limit, asked));
    }
    Ok(Residency { blocks: launch.blocks() as f64, blocks_per_sm: blocks, warps_per_block: f64::from(warps) })
}

/// Which pair of factors stands for which bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Captions {
    /// As González García's text prints them.
    Printed,
    /// As its tables use them.
    Tabled,
}

/// What limits the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Accesses to memory.
    Memory,
    /// Instructions.
    Computation,
}

/// All that the formulas give on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// comp_cycles.
    pub computation: Cycles,
    /// mem_cycles.
    pub memory: Cycles,
    /// bw_limit.
    pub bandwidth_limit: f64,
    /// fire_rate_limit.
    pub fire_rate_limit: f64,
    /// sim_mem_limit.
    pub simultaneous: f64,
    /// What limits it.
    pub bound: Bound,
    /// mem_factor.
    pub memory_factor: f64,
    /// comp_factor.
    pub computation_factor: f64,
    /// sm_executions.
    pub executions: f64,
    /// cycles, without overhead.
    pub cycles: Cycles,
}

/// Applies null, memory, core and roofline model, and of the extensions that of the pipeline.
///
/// # Errors
/// A parameter that has to be positive and is not; no accesses to memory.
pub fn estimate(
    machine: &Machine,
    kernel: &Kernel,
    residency: &Residency,
    captions: Captions,
) -> Result<Estimate> {
    for (field, value) in [
        ("warp", machine.warp),
        ("lanes", machine.lanes),
        ("multiprocessors", machine.multiprocessors),
        ("latency", machine.latency.0),
        ("bandwidth", machine.bandwidth.0),
        ("clock", machine.clock.0),
        ("data", kernel.data.0),
        ("rate", kernel.rate.0),
        ("blocks", residency.blocks),
        ("blocks_per_sm", residency.blocks_per_sm),
        ("warps_per_block", residency.warps_per_block),
    ] {
        positive(field, value)?;
    }
    let instructions = not_negative("computation", kernel.computation)?;
    let accesses = not_negative("loads", kernel.loads)? + not_negative("stores", kernel.stores)?;
    positive("accesses", accesses)?;

    let warps = residency.blocks_per_sm * residency.warps_per_block;
    let pipeline = not_negative("pipeline_latency", machine.pipeline_latency.0)? / warps;
    let computation = Cycles(instructions * (machine.warp / machine.lanes).max(pipeline));
    let latency = machine.latency + kernel.rate;
    let memory = latency * accesses;

    let bytes_per_warp = kernel.data.0 * machine.warp * accesses.min(1.0);
    let bandwidth_per_sm = bytes_per_warp * machine.clock.0 / latency.0;
    let bandwidth_limit = machine.bandwidth.0 / (bandwidth_per_sm * machine.multiprocessors);
    let fire_rate_limit = latency / kernel.rate;
    let simultaneous = bandwidth_limit.min(fire_rate_limit).min(warps);

    let (in_turns, once) = ((warps / simultaneous, warps - simultaneous), (1.0, warps));
    let per_sm = |(of_memory, of_computation)| memory * of_memory + computation * of_computation;
    let bound = if per_sm(in_turns) >= per_sm(once) { Bound::Memory } else { Bound::Computation };
    let factors = match (bound, captions) {
        (Bound::Memory, Captions::Tabled) | (Bound::Computation, Captions::Printed) => in_turns,
        (Bound::Memory, Captions::Printed) | (Bound::Computation, Captions::Tabled) => once,
    };
    let (memory_factor, computation_factor) = factors;
    let executions = executions(residency.blocks / (machine.multiprocessors * residency.blocks_per_sm));
    let cycles = per_sm(factors) * executions;
    Ok(Estimate {
        computation,
        memory,
        bandwidth_limit,
        fire_rate_limit,
        simultaneous,
        bound,
        memory_factor,
        computation_factor,
        executions,
        cycles,
    })
}

/// Rounded up. Where blocks_per_sm is a fraction, blocks / multiprocessors, the quotient is 1 but for the rounding of
/// three operations, 3 · 2^-53: that is not a second execution.
fn executions(quotient: f64) -> f64 {
    let nearest = quotient.round();
    if (quotient - nearest).abs() <= 2.0 * f64::EPSILON * quotient { nearest } else { quotient.ceil() }
}

impl Estimate {
    /// Time, without overhead.
    pub fn time(&self, machine: &Machine) -> Seconds {
        self.cycles / machine.clock
    }
}

/// What a launch costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// overhead_base.
    pub base: Cycles,
    /// overhead_block: of each block.
    pub block: Cycles,
    /// overhead_arg: of each argument after the fifth.
    pub argument: Cycles,
}

impl Overhead {
    /// The report's base of about 6000 cycles; it gives no numbers for blocks and arguments.
    pub const REPORTED: Self = Self { base: Cycles(6000.0), block: Cycles(0.0), argument: Cycles(0.0) };

    /// Cycles of a launch of so many blocks with so many arguments.
    pub fn cycles(&self, blocks: u64, arguments: u32) -> Cycles {
        self.base + self.block * blocks as f64 + self.argument * f64::from(arguments.saturating_sub(5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::testing::same;

    const MACHINE: Machine = Machine {
        warp: 32.0,
        lanes: 8.0,
        multiprocessors: 10.0,
        latency: Cycles(400.0),
        bandwidth: BytesPerSecond(100e9),
        clock: Hertz(1e9),
        pipeline_latency: Cycles(0.0),
    };
    const KERNEL: Kernel =
        Kernel { computation: 10.0, loads: 2.0, stores: 1.0, data: Bytes(4.0), rate: Cycles(100.0) };
    const RESIDENCY: Residency = Residency { blocks: 65.0, blocks_per_sm: 4.0, warps_per_block: 5.0 };

    /// comp = 10·32/8 = 40, mem = 3·(400 + 100) = 1500. A warp moves 4·32 = 128 bytes in 500 cycles at 1 GHz: 0.256
    /// GB/s a multiprocessor, 2.56 of ten: 100/2.56 = 39.0625 warps. 500/100 = 5 requests fit in a latency. 20 warps,
    /// 5 at a time: 20/5·1500 + 15·40 = 6600 bound by memory, 1500 + 20·40 = 2300 by computation. ⌈65/40⌉ = 2 times:
    /// 13 200 cycles, 13.2 µs.
    #[test]
    fn bound_by_memory() {
        let found = estimate(&MACHINE, &KERNEL, &RESIDENCY, Captions::Tabled).expect("positive");
        assert_eq!((found.computation, found.memory), (Cycles(40.0), Cycles(1500.0)));
        same(found.bandwidth_limit, 39.0625);
        assert_eq!((found.fire_rate_limit, found.simultaneous), (5.0, 5.0));
        assert_eq!((found.bound, found.executions), (Bound::Memory, 2.0));
        assert_eq!(found.cycles, Cycles(13_200.0));
        same(found.time(&MACHINE).0, 13.2e-6);
        // With the captions as printed: (1500 + 20·40)·2 = 4600.
        let printed = estimate(&MACHINE, &KERNEL, &RESIDENCY, Captions::Printed).expect("positive");
        assert_eq!((printed.bound, printed.cycles), (Bound::Memory, Cycles(4600.0)));
    }

    /// 250 instructions are 1000 cycles: 1500 + 20·1000 = 21 500 are more than 4·1500 + 15·1000 = 21 000; both twice.
    #[test]
    fn bound_by_computation() {
        let kernel = Kernel { computation: 250.0, ..KERNEL };
        let found = estimate(&MACHINE, &kernel, &RESIDENCY, Captions::Tabled).expect("positive");
        assert_eq!((found.bound, found.cycles), (Bound::Computation, Cycles(43_000.0)));
        let printed = estimate(&MACHINE, &kernel, &RESIDENCY, Captions::Printed).expect("positive");
        assert_eq!(printed.cycles, Cycles(42_000.0));
    }

    /// A tenth of the bandwidth: 3.90625 at a time: 20/3.90625·1500 + 16.09375·40 = 7680 + 643.75 = 8323.75, twice.
    #[test]
    fn bandwidth_limits() {
        let machine = Machine { bandwidth: BytesPerSecond(10e9), ..MACHINE };
        let found = estimate(&machine, &KERNEL, &RESIDENCY, Captions::Tabled).expect("positive");
        same(found.simultaneous, 3.90625);
        same(found.cycles.0, 16_647.5);
    }

    /// 24 cycles of pipeline over 4 warps are 6 for an instruction, more than 32/8 = 4: 60 cycles. Over 20 warps 1.2:
    /// 40. 4 warps, 4 at a time: 1500 bound by memory, but 1500 + 4·60 = 1740 by computation.
    #[test]
    fn the_pipeline_shows_with_few_warps() {
        let machine = Machine { pipeline_latency: Cycles(24.0), ..MACHINE };
        let few = Residency { blocks: 10.0, blocks_per_sm: 1.0, warps_per_block: 4.0 };
        let found = estimate(&machine, &KERNEL, &few, Captions::Tabled).expect("positive");
        assert_eq!((found.computation, found.cycles), (Cycles(60.0), Cycles(1740.0)));
        let found = estimate(&machine, &KERNEL, &RESIDENCY, Captions::Tabled).expect("positive");
        assert_eq!(found.computation, Cycles(40.0));
    }

    /// 6000 + 64·10 + (7 − 5)·100 = 6840; with 3 arguments 6640.
    #[test]
    fn overhead() {
        let overhead = Overhead { base: Cycles(6000.0), block: Cycles(10.0), argument: Cycles(100.0) };
        assert_eq!(overhead.cycles(64, 7), Cycles(6840.0));
        assert_eq!(overhead.cycles(64, 3), Cycles(6640.0));
        assert_eq!(Overhead::REPORTED.cycles(64, 7), Cycles(6000.0));
    }

    /// C2070: 48 warps, 8 blocks, 48 KiB and 32768 registers. 192 threads are 6 warps: 8 blocks by warps and by
    /// blocks. 10 KiB: 4 blocks. 40 registers of 192 threads are 7680: 4 blocks too; 63 are 12096: 2. 20 blocks over
    /// 14: 2.
    #[test]
    fn occupancy_is_the_least_of_its_limits() {
        let c2070 = Device::by_name("c2070").expect("it is described");
        let many = Launch::new(&c2070, 1000, 192).expect("it fits");
        let blocks = |launch: &Launch, registers, shared| {
            occupancy(&c2070, launch, &Resources { registers, shared: Bytes(shared) })
        };
        let of = |launch: &Launch, registers, shared| {
            blocks(launch, registers, shared).expect("it fits").blocks_per_sm
        };
        assert_eq!(of(&many, 0, 0.0), 8.0);
        assert_eq!(of(&many, 0, 10_240.0), 4.0);
        assert_eq!(of(&many, 40, 0.0), 4.0);
        assert_eq!(of(&many, 63, 10_240.0), 2.0);
        assert_eq!(of(&Launch::new(&c2070, 20, 192).expect("it fits"), 0, 0.0), 2.0);
        assert_eq!(of(&Launch::new(&c2070, 1000, 512).expect("it fits"), 0, 0.0), 3.0);
        assert!(matches!(blocks(&many, 0, 65_536.0), Err(Error::OverLimit { field: "shared", .. })));
        assert!(matches!(blocks(&many, 255, 0.0), Err(Error::OverLimit { field: "registers", .. })));
    }

    /// 32 blocks over 14, in fractions 32/14 each: one execution, though 32/(14·(32/14)) may not be 1 exactly.
    #[test]
    fn executions_of_fractions() {
        for blocks in 1..=112 {
            let blocks = f64::from(blocks);
            assert_eq!(executions(blocks / (14.0 * (blocks / 14.0))), 1.0);
        }
        assert_eq!([113.0 / 112.0, 2.0, 2.1].map(executions), [2.0, 2.0, 3.0]);
    }

    #[test]
    fn bad_parameters() {
        let bad = [
            estimate(&Machine { lanes: 0.0, ..MACHINE }, &KERNEL, &RESIDENCY, Captions::Tabled),
            estimate(&MACHINE, &Kernel { rate: Cycles(0.0), ..KERNEL }, &RESIDENCY, Captions::Tabled),
            estimate(&MACHINE, &Kernel { loads: 0.0, stores: 0.0, ..KERNEL }, &RESIDENCY, Captions::Tabled),
            estimate(&MACHINE, &Kernel { stores: -1.0, ..KERNEL }, &RESIDENCY, Captions::Tabled),
            estimate(&MACHINE, &KERNEL, &Residency { blocks: -1.0, ..RESIDENCY }, Captions::Tabled),
        ];
        assert!(bad.iter().all(Result::is_err), "{bad:?}");
    }
}
