//! What every model has to do: more work never takes less time, and a faster device scales what it should.

use gpu_model::literature::bsp::{self, Superstep};
use gpu_model::literature::gonzalez::{self, CacheRule, Copy, Flow, Giga, Path};
use gpu_model::literature::hong_kim::{self, Case};
use gpu_model::literature::mukherjee::{self, Overlap};
use gpu_model::literature::nugteren::{self, Captions};
use gpu_model::literature::qrqw::{self, Operation};
use gpu_model::literature::roofline::{Demand, Roofline};
use gpu_model::literature::{baghsorkhi, logp, pram};
use gpu_model::units::{Bytes, Cycles, Hertz, parse};
use gpu_model::{Device, Launch};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The seed is fixed, so that a failure comes back; proptest prints the input that it found.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(0x20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Fewer than 100 operations, each off by 2^-53, none subtracting what is nearly equal: less than 1e-12.
const ROUNDING: f64 = 1e-12;

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}

/// Not less, but for rounding.
fn not_less(more: f64, less: f64) -> bool {
    more >= less * (1.0 - ROUNDING)
}

fn device(index: prop::sample::Index) -> Device {
    let names: Vec<&str> = Device::names().collect();
    Device::by_name(names[index.index(names.len())]).expect("it is described")
}

/// A device `factor` times as fast, in its clock and its memory.
fn faster(device: &Device, factor: f64) -> Device {
    let mut faster = device.clone();
    faster.clock = faster.clock * factor;
    faster.memory.bandwidth = faster.memory.bandwidth * factor;
    faster.memory.clock = faster.memory.clock * factor;
    faster
}

fn c2070() -> Device {
    Device::by_name("c2070").expect("it is described")
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn copies(bytes in 0.0..1e12_f64, more in 0.0..1e12_f64, factor in 0.1..10.0_f64) {
        let device = c2070();
        for copy in [
            Copy::PageableToDevice,
            Copy::PageableToHost,
            Copy::PinnedToDevice,
            Copy::PinnedToHost,
            Copy::WithinDevice,
        ] {
            let time = |bytes, giga| gonzalez::transfer(&device, copy, Bytes(bytes), giga).unwrap().0;
            prop_assert!(time(bytes + more, Giga::Decimal) >= time(bytes, Giga::Decimal));
            prop_assert!(same(time(bytes * factor, Giga::Binary), factor * time(bytes, Giga::Binary)));
            // A GiB/s is more than a GB/s.
            prop_assert!(time(bytes, Giga::Binary) <= time(bytes, Giga::Decimal));
        }
        // A bus twice as fast.
        let mut twice = device.clone();
        twice.bus.as_mut().unwrap().peak.0 *= 2.0;
        let time = |device| gonzalez::transfer(device, Copy::PinnedToHost, Bytes(bytes), Giga::Decimal).unwrap().0;
        prop_assert!(same(2.0 * time(&twice), time(&device)));
    }

    #[test]
    fn rooflines(
        index: prop::sample::Index,
        operations in 0.0..1e15_f64,
        bytes in 1.0..1e12_f64,
        more in 0.0..1e12_f64,
        factor in 0.1..10.0_f64,
    ) {
        let device = device(index);
        let demand = |operations, bytes| Demand { operations, bytes: vec![Bytes(bytes)] };
        let of = |device: &Device, demand: Demand| Roofline::single(device).bound(&demand).unwrap().time.0;
        let time = of(&device, demand(operations, bytes));
        prop_assert!(of(&device, demand(operations, bytes + more)) >= time);
        prop_assert!(of(&device, demand(operations + more, bytes)) >= time);
        prop_assert!(same(of(&faster(&device, factor), demand(operations, bytes)) * factor, time));
        // What is attainable is what the bound says.
        if operations > 0.0 {
            let attainable = Roofline::single(&device).attainable(&[operations / bytes]).unwrap();
            prop_assert!(same(attainable.0 * time, operations));
        }
        prop_assert!(of(&device, demand(operations, bytes)) <= Roofline::double(&device)
            .bound(&demand(operations, bytes)).unwrap().time.0);
    }

    #[test]
    fn mukherjee_and_gonzalez(
        blocks in 1_u64..10_000,
        threads in 1_u32..=1024,
        instructions in 0.0..1e6_f64,
        cached in 0.0..1e6_f64,
        uncached in 0.0..1e6_f64,
        shared in 0.0..1e6_f64,
        more in 0.0..1e6_f64,
        factor in 0.1..10.0_f64,
        double: bool,
        line: bool,
    ) {
        let device = c2070();
        let rule = if line { CacheRule::Line { elements: 16.0 } } else { CacheRule::Mean };
        let issue = if double { Cycles(48.0) } else { Cycles(24.0) };
        let data = Bytes(if double { 8.0 } else { 4.0 });
        let path = Path { instructions, issue, cached, uncached, shared, data };
        let launch = Launch::new(&device, blocks, threads).unwrap();
        let time = |device: &Device, launch: &Launch, path: &Path, overlap| {
            let machine = gonzalez::Machine::new(device, rule).unwrap();
            machine.lanes.time(launch, machine.path(path, overlap).unwrap()).unwrap().0
        };
        let sum = time(&device, &launch, &path, Overlap::Sum);
        let max = time(&device, &launch, &path, Overlap::Max);
        prop_assert!(not_less(sum, max) && not_less(2.0 * max, sum));
        for overlap in [Overlap::Sum, Overlap::Max] {
            let before = time(&device, &launch, &path, overlap);
            for path in [
                Path { instructions: instructions + more, ..path },
                Path { cached: cached + more, ..path },
                Path { uncached: uncached + more, ..path },
                Path { shared: shared + more, ..path },
                // Larger elements, fewer of them in a line.
                Path { data: data * 2.0, ..path },
                // What no cache serves costs no less.
                Path { cached: 0.0, uncached: uncached + cached, ..path },
            ] {
                prop_assert!(not_less(time(&device, &launch, &path, overlap), before), "{path:?}");
            }
            let larger = Launch::new(&device, blocks + 1, threads).unwrap();
            prop_assert!(time(&device, &larger, &path, overlap) >= before);
            // Cycles are the device's: a clock that is faster takes less time in proportion.
            prop_assert!(same(time(&faster(&device, factor), &launch, &path, overlap) * factor, before));
        }
        // Branches that diverge take no less than those that do not.
        let machine = gonzalez::Machine::new(&device, rule).unwrap();
        let branches = || vec![Flow::Path(path), Flow::Path(Path { shared: shared + more, ..path })];
        let apart = machine.flow(&Flow::Divergent(branches()), Overlap::Sum).unwrap();
        prop_assert!(apart >= machine.flow(&Flow::Uniform(branches()), Overlap::Sum).unwrap());
    }

    #[test]
    fn accesses(latency in 1.0..1e4_f64, threads in 1.0..32.0_f64, more in 0.0..32.0_f64) {
        let global = |threads| mukherjee::global_access(Cycles(latency), threads).unwrap().0;
        prop_assert!(not_less(global(threads), global(threads + more)));
        let bank = |threads| mukherjee::shared_access(Cycles(latency), threads).unwrap().0;
        prop_assert!(bank(threads + more) >= bank(threads));
    }

    #[test]
    fn atomics(threads in 1_u32..512) {
        for name in ["c2070", "c1060"] {
            let device = Device::by_name(name).unwrap();
            let of = |threads| gonzalez::atomic(&device, threads).unwrap();
            prop_assert!(of(threads + 1) > of(threads));
        }
    }

    #[test]
    fn nugterens(
        blocks in 1_u64..10_000,
        threads in 1_u32..=1024,
        computation in 0.0..1e5_f64,
        accesses in 0.1..1e4_f64,
        more in 0.0..1e4_f64,
        rate in 1.0..1000.0_f64,
        pipeline in 0.0..100.0_f64,
        bandwidth in 1e8..1e12_f64,
        factor in 0.1..10.0_f64,
    ) {
        let mut device = c2070();
        device.memory.bandwidth.0 = bandwidth;
        let launch = Launch::new(&device, blocks, threads).unwrap();
        let residency = nugteren::occupancy(&device, &launch, &nugteren::Resources::default()).unwrap();
        let kernel = nugteren::Kernel {
            computation,
            loads: accesses,
            stores: 0.0,
            data: Bytes(4.0),
            rate: Cycles(rate),
        };
        let time = |device: &Device, kernel: &nugteren::Kernel| {
            let pipeline_latency = Cycles(pipeline);
            let machine =
                nugteren::Machine { pipeline_latency, ..nugteren::Machine::new(device, Cycles(500.0)) };
            nugteren::estimate(&machine, kernel, &residency, Captions::Tabled).unwrap().time(&machine).0
        };
        let before = time(&device, &kernel);
        for kernel in [
            nugteren::Kernel { computation: computation + more, ..kernel },
            nugteren::Kernel { loads: accesses + more, ..kernel },
            nugteren::Kernel { stores: more, ..kernel },
            nugteren::Kernel { data: Bytes(8.0), ..kernel },
        ] {
            prop_assert!(not_less(time(&device, &kernel), before), "{kernel:?}");
        }
        prop_assert!(same(time(&faster(&device, factor), &kernel) * factor, before));
        let mut wider = device.clone();
        wider.memory.bandwidth.0 *= 2.0;
        prop_assert!(not_less(before, time(&wider, &kernel)));
    }

    #[test]
    fn hong_and_kims(
        blocks in 1_u64..10_000,
        threads in 1_u32..=1024,
        computation in 1.0..1e6_f64,
        coalesced in 1.0..1e4_f64,
        uncoalesced in 0.0..1e4_f64,
        more in 0.0..1e6_f64,
        barriers in 0.0..100.0_f64,
        factor in 0.1..10.0_f64,
    ) {
        let device = c2070();
        let launch = Launch::new(&device, blocks, threads).unwrap();
        let residency = hong_kim::Residency::spread(&device, &launch);
        let kernel = hong_kim::Kernel {
            computation: Cycles(computation),
            coalesced,
            uncoalesced,
            transactions: 32.0,
            load_bytes: Bytes(128.0),
            barriers,
        };
        let of = |device: &Device, kernel: &hong_kim::Kernel| {
            let machine = hong_kim::Machine::new(device, Cycles(500.0)).unwrap();
            hong_kim::estimate(&machine, kernel, &residency).unwrap()
        };
        let estimate = of(&device, &kernel);
        prop_assert!(estimate.mwp <= residency.warps && estimate.cwp <= residency.warps);
        prop_assert!(estimate.cwp_full >= 1.0);
        prop_assert!(estimate.case != Case::Computation || estimate.mwp > estimate.cwp);
        // The cases do not meet at their borders; within one, more computation takes no less.
        let larger = of(&device, &hong_kim::Kernel { computation: Cycles(computation + more), ..kernel });
        if estimate.mwp >= 1.0 {
            for case in [Case::FewWarps, Case::Memory, Case::Computation] {
                prop_assert!(not_less(larger.cycles_in(case).0, estimate.cycles_in(case).0));
            }
        }
        // More bytes a warp leave fewer warps at a time.
        let wider = of(&device, &hong_kim::Kernel { load_bytes: Bytes(256.0), ..kernel });
        prop_assert!(wider.mwp <= estimate.mwp);
        let more_barriers = of(&device, &hong_kim::Kernel { barriers: barriers + 1.0, ..kernel });
        prop_assert!(estimate.mwp < 1.0 || more_barriers.synchronisation().0 >= estimate.synchronisation().0);
        // Clock and bandwidth together leave the cycles as they are.
        prop_assert!(same(of(&faster(&device, factor), &kernel).cycles().0, estimate.cycles().0));
    }

    #[test]
    fn baghsorkhis(
        warps in 1.0..64.0_f64,
        instructions in 1.0..8.0_f64,
        before in 0.0..1e3_f64,
        between in 0.0..1e3_f64,
        memory in 0.0..1e5_f64,
        more in 0.0..1e5_f64,
        part in 0.0..=1.0_f64,
    ) {
        use baghsorkhi::Node::{Branch, Compute, Read, Use, Write};
        let machine =
            baghsorkhi::Machine { warp: 32.0, lanes: 8.0, pipeline: Cycles(24.0), latency: Cycles(400.0) };
        let parallelism = baghsorkhi::Parallelism { warps, instructions };
        let ways = vec![(part, vec![Compute(between)]), (1.0 - part, vec![])];
        let kernel = [Compute(before), Read(0), Branch(ways), Use(0), Write];
        let of = |memory| baghsorkhi::reduce(&machine, &parallelism, &kernel, Cycles(memory)).unwrap();
        let reduced = of(memory);
        prop_assert!(not_less(reduced.total.0, reduced.computation.0));
        prop_assert!(not_less(of(memory + more).total.0, reduced.total.0));
        prop_assert!(reduced.exposed.0 <= 400.0);
    }

    #[test]
    fn supersteps(
        gap in 0.1..100.0_f64,
        period in 0.1..1000.0_f64,
        work in 0.0..1e6_f64,
        messages in 0.0..1e4_f64,
        more in 0.0..1e4_f64,
    ) {
        let machine = bsp::Machine::new(gap, period).unwrap();
        let step = Superstep { work, messages };
        let busy = work + gap * messages;
        let periodic = machine.periodic(&[step]).unwrap();
        let additive = machine.additive(&[step]).unwrap();
        // The next question comes after one period at most.
        prop_assert!(not_less(periodic, busy) && not_less(additive, periodic));
        for step in [Superstep { work: work + more, ..step }, Superstep { messages: messages + more, ..step }] {
            prop_assert!(machine.periodic(&[step]).unwrap() >= periodic);
            prop_assert!(machine.additive(&[step]).unwrap() >= additive);
        }
        // In other units of time everything scales.
        let double = bsp::Machine::new(gap * 2.0, period * 2.0).unwrap();
        let slow = Superstep { work: work * 2.0, messages };
        prop_assert!(same(double.additive(&[slow]).unwrap(), 2.0 * additive));
    }

    #[test]
    fn messages(
        latency in 0.1..100.0_f64,
        overhead in 0.0..100.0_f64,
        gap in 0.1..100.0_f64,
        processors in 1_u32..200,
        count in 0_u64..1000,
    ) {
        let network = logp::Network::new(latency, overhead, gap, processors).unwrap();
        let larger = logp::Network { processors: processors + 1, ..network };
        prop_assert!(larger.broadcast() >= network.broadcast());
        prop_assert!(network.messages(count + 1) > network.messages(count));
        // Nobody has it before one message; one sender alone would take no less than all together.
        prop_assert!(not_less(network.messages(u64::from(processors) - 1), network.broadcast()));
        let twice = logp::Network::new(2.0 * latency, 2.0 * overhead, 2.0 * gap, processors).unwrap();
        prop_assert!(same(twice.broadcast(), 2.0 * network.broadcast()));
    }

    #[test]
    fn queues(cells in prop::collection::vec((0_usize..4, 0_u64..20), 1..40), processors in 1_usize..20) {
        let program: Vec<Operation> =
            cells.iter().flat_map(|&(cell, work)| [Operation::Write(cell), Operation::Compute(work)]).collect();
        let time = qrqw::asynchronous(&vec![program.clone(); processors]).unwrap();
        // As many as go to one cell, and as long as one processor is busy.
        let busiest = (0..4).map(|cell| cells.iter().filter(|(one, _)| *one == cell).count()).max().unwrap();
        prop_assert!(time >= (busiest * processors) as u64);
        let alone: u64 = cells.iter().map(|(_, work)| work + 1).sum();
        prop_assert!(time >= alone);
        prop_assert!(qrqw::asynchronous(&vec![program; processors + 1]).unwrap() >= time);
    }

    #[test]
    fn steps(reads in 1_u64..100, computation in 0_u64..100, writes in 1_u64..100, contention in 1_u64..100) {
        let (read_contention, write_contention) = (contention, contention);
        let step = pram::Step { reads, computation, writes, read_contention, write_contention };
        let time = pram::time(&[step], pram::Variant::CRCW).unwrap();
        prop_assert_eq!(pram::time(&[step], pram::Variant::EREW).is_ok(), contention == 1);
        let queued = qrqw::synchronous(&[qrqw::Step { reads, computation, writes, contention }]).unwrap();
        // Queues cost what CRCW leaves out.
        prop_assert!(queued <= time.max(contention) && queued >= contention);
    }

    #[test]
    fn units(value in 1e-6..1e6_f64) {
        let [mega, giga] = ["MHz", "GHz"].map(|unit| format!("{value} {unit}"));
        prop_assert!(same(parse::<Hertz>(&mega).unwrap().0.0, value * 1e6));
        prop_assert_eq!(parse::<Hertz>(&giga).unwrap().1, value);
        prop_assert!(parse::<Bytes>(&giga).is_err());
    }

    #[test]
    fn descriptions(clock in 1e-3..1e3_f64, warps in 32_u32..1000) {
        let text = include_str!("../devices/c2070.toml");
        let text = text.replace("\"1.15 GHz\"", &format!("\"{clock} GHz\""));
        let text = text.replace("warps = 48", &format!("warps = {warps}"));
        let device = Device::from_toml(&text).unwrap();
        prop_assert!(same(device.clock.0, clock * 1e9) && device.limits.warps == warps);
    }
}
