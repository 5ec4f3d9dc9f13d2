//! The formulas against numbers worked by hand, on a device of round ones.

use super::queue::wave;
use super::*;
use crate::literature::roofline::Limit;
use crate::literature::testing::same;
use crate::units::{Bytes, BytesPerSecond, Fraction, Hertz};

/// 10 multiprocessors at 1 GHz, 4 warps a cycle; 100 GB/s of which reading gets 80, writing 50 and both 60 %; launches
/// of 2 µs with gaps of 1 µs, half of that where they wait by themselves.
fn device() -> Device {
    let mut device = Device::by_name("h200").expect("it is described");
    (device.multiprocessors, device.clock) = (10, Hertz(1e9));
    device.memory.bandwidth = BytesPerSecond(100e9);
    device.waves = Some(Calibration {
        launch: Seconds(2e-6),
        launch_dependent: Seconds(1e-6),
        gap: Seconds(1e-6),
        gap_dependent: Seconds(0.5e-6),
        blocks: Hertz(1e9),
        blocks_dependent: Hertz(0.5e9),
        turnover: Cycles(100.0),
        turnover_warp: Cycles(1.0),
        read: Fraction(0.8),
        write: Fraction(0.5),
        copy: Fraction(0.6),
        stores: Hertz(2e9),
        store: Cycles(2.0),
        l2: Bytes(500.0),
        l2_unit: Bytes(64.0),
        memory_latency: Cycles(500.0),
        memory_loaded: Cycles(1000.0),
        l2_latency: Cycles(250.0),
        l2_loaded: Cycles(350.0),
        shared_latency: Cycles(20.0),
        shuffle: Cycles(24.0),
        barrier: Cycles(10.0),
        barrier_warp: Cycles(1.0),
        source: "made up".to_owned(),
    });
    device
}

fn level(found: &Prediction, wanted: Bottleneck) -> f64 {
    found.levels.iter().find(|(name, _)| *name == wanted).expect("it is there").1.0
}

/// 25 blocks of 256 threads: 8 are resident, so one wave, of which 25 of 80 places are taken, 0.3125 of those for
/// warps; the busiest of 10 multiprocessors has 3 blocks, 1.2 times the average.
///
/// issue 1.2 · 4e6 / (4 · 10 · 1e9) = 0.12 ms; arithmetic 1.2 · 2560e6 / (2 · 10 · 128 · 1e9) = 1.2 ms; l1 1.2 · (3e6 +
/// 1e6) / (10 · 1e9) = 0.48 ms; l2 64e6 / (500 · 1e9) = 0.128 ms; stores 1e6 / 2e9 = 0.5 ms, more than 1.2 · 2e6 / (10
/// · 1e9) = 0.24; memory 2 · 32e6 / 60e9 + 18e6 / 50e9 s; starting 25 / 1e9 = 25 ns. Waits: 100 + 8 + 2 · (500 + 0.3125
/// · 500) + 250 + 0.3125 · 100 + 3 · (20 + 10 + 8) = 1815.75 cycles; chain 10 · 2 · 250 cycles, 5 µs. The last block
/// waits 500 + 250 + 38 cycles more, and for its stores 250. A block alone computes 2560e6 / 256 / 25 cycles, 0.4 ms;
/// three of them are less than memory. Bound: 40e6 / 100e9 = 0.4 ms, less than 2560e6 / 2560e9 = 1 ms.
#[test]
fn every_term() {
    let counts = Counts {
        instructions: Instructions { memory: 3e6, control: 1e6, ..Instructions::default() },
        lines: 3e6,
        lines_written: 1e6,
        wavefronts: 1e6,
        wavefronts_without_conflicts: 1e6,
        l2_read: Bytes(64e6),
        memory_read: Bytes(32e6),
        memory_written: Bytes(50e6),
        waits: Waits { memory: 2.0, l2: 1.0, shared: 3.0, ..Waits::default() },
        last: Waits { memory: 1.0, l2: 1.0, shared: 1.0, ..Waits::default() },
        chain: 10.0,
        operations: 2560e6,
        necessary: Bytes(40e6),
        ..Counts::empty("all", 25, 256)
    };
    let found = predict(&device(), &counts).expect("it fits");
    for (name, by_hand) in [
        (Bottleneck::Issue, 0.12e-3),
        (Bottleneck::Arithmetic, 1.2e-3),
        (Bottleneck::L1, 0.48e-3),
        (Bottleneck::L2, 0.128e-3),
        (Bottleneck::Stores, 0.5e-3),
        (Bottleneck::Memory, 64e6 / 60e9 + 18e6 / 50e9),
        (Bottleneck::Blocks, 25e-9),
    ] {
        same(level(&found, name), by_hand);
    }
    same(found.latency.0, 1.81575e-6);
    same(found.chain.0, 5e-6);
    same(found.time.0, 1e-6 + 1.81575e-6 + 64e6 / 60e9 + 18e6 / 50e9 + 25e-9 + 5e-6 + 1.038e-6);
    assert_eq!((found.bottleneck, found.resident, found.waves), (Bottleneck::Memory, 8, 1));
    assert_eq!((found.last_wave, found.occupancy), (25.0 / 80.0, 1.0));
    same(found.bound.time.0, 1e-3);
    assert_eq!(found.bound.limit, Limit::Peak);
}

/// 4001 blocks of 32 threads, 32 resident on each of 10: 13 waves. Half of the places for warps are taken: each waits
/// 101 + 750 cycles, together 11.063 µs, more than the 4.001 that starting them takes.
#[test]
fn waves_of_blocks_that_wait() {
    let counts =
        Counts { waits: Waits { memory: 1.0, ..Waits::default() }, ..Counts::empty("waits", 4001, 32) };
    let found = predict(&device(), &counts).expect("it fits");
    assert_eq!((found.waves, found.bottleneck), (13, Bottleneck::Latency));
    same(found.last_wave, 161.0 / 320.0);
    same(found.time.0, 1e-6 + 13.0 * 851e-9);
}

/// 1024 threads are 32 warps, of 64: 2 blocks. 100 KiB of 228: 2 blocks of 64 threads. 100 registers of 32 lanes are
/// 3200, in units of 256 3328; 8 warps 26,624 of 65,536: 2.
#[test]
fn what_limits_residence() {
    let resident = |counts: Counts| predict(&device(), &counts).map(|found| found.resident);
    assert_eq!(resident(Counts::empty("threads", 1, 1024)), Ok(2));
    let with_shared = |bytes| Counts { shared: Bytes(bytes), ..Counts::empty("shared", 1, 64) };
    assert_eq!(resident(with_shared(102_400.0)), Ok(2));
    assert!(matches!(resident(with_shared(300e3)), Err(Error::OverLimit { field: "shared", .. })));
    let with_registers =
        |threads, registers| Counts { registers: Some(registers), ..Counts::empty("registers", 1, threads) };
    assert_eq!(resident(with_registers(256, 100)), Ok(2));
    let over = resident(with_registers(1024, 65));
    assert!(matches!(over, Err(Error::OverLimit { field: "registers", .. })), "{over:?}");
    assert!(resident(Counts::empty("none", 0, 32)).is_err());
}

/// 3000 cycles of computing, of which the block's share of the multiprocessor is 400 instructions at 4 a cycle: 2900
/// are waits, beside the 102 until it has started.
#[test]
fn what_warps_compute_hides_what_they_issue() {
    let counts = Counts {
        instructions: Instructions { arithmetic: 4000.0, ..Instructions::default() },
        waits: Waits { computing: 3000.0, ..Waits::default() },
        ..Counts::empty("computes", 10, 64)
    };
    let found = predict(&device(), &counts).expect("it fits");
    same(found.latency.0, 3.002e-6);
    // 10 ns until all blocks have started.
    same(found.time.0, 1e-6 + 3.112e-6);
}

/// A million whole lines of four sectors are taken two sectors at a time, 2e6 / 2e9 s; of a sector each they are 1e6 /
/// 2e9.
#[test]
fn whole_lines_are_stored_in_two_turns() {
    let stores = |sectors| {
        let lines = Counts { lines: 1e6, lines_written: 1e6, ..Counts::empty("stores", 1000, 256) };
        let found = predict(&device(), &Counts { sectors_written: sectors, ..lines }).expect("it fits");
        level(&found, Bottleneck::Stores)
    };
    same(stores(4e6), 1e-3);
    same(stores(1e6), 0.5e-3);
}

/// 90 blocks of which 80 have a place: a wave of eight on each of 10, and one of one, which waits 1108 cycles and has
/// its 100 lines to itself.
#[test]
fn the_last_wave_has_what_is_left() {
    let counts = Counts {
        lines: 9000.0,
        waits: Waits { memory: 1.0, ..Waits::default() },
        ..Counts::empty("left", 90, 256)
    };
    let found = predict(&device(), &counts).expect("it fits");
    same(found.time.0, 1e-6 + wave(Seconds(1.108e-6), [Seconds(0.1e-6)], 8).0 + 1.208e-6);
}

/// Ten hops of 500 cycles, and beside them two reads of 500, three of 250 and 100 cycles.
#[test]
fn what_is_done_along_a_chain() {
    let path = Waits { memory: 2.0, l2: 3.0, computing: 100.0, ..Waits::default() };
    let found = predict(&device(), &Counts { chain: 10.0, path, ..Counts::empty("chain", 10, 32) });
    same(found.expect("it fits").chain.0, 6.85e-6);
}

/// 12 warps start in 112 cycles. A block's 10 lines of four sectors are stored in 40 cycles, and pass through shared
/// memory in 20 beside 10 for the lines: the tensor cores wait for 40.
#[test]
fn a_block_of_warpgroups_multiplies_nothing_while_it_writes() {
    let counts = Counts {
        lines: 100.0,
        lines_written: 100.0,
        sectors_written: 400.0,
        pipes: Pipes { warpgroups: 989.4e6, ..Pipes::default() },
        ..Counts::empty("tiles", 10, 384)
    };
    let found = predict(&device(), &counts).expect("it fits");
    same(found.latency.0, 0.152e-6);
}

#[test]
fn conflicts_are_told_from_use() {
    let counts = |wavefronts, free| Counts {
        wavefronts,
        wavefronts_without_conflicts: free,
        ..Counts::empty("tile", 1000, 256)
    };
    let of = |counts: Counts| predict(&device(), &counts).expect("it fits").bottleneck;
    assert_eq!(of(counts(1e6, 5e5)), Bottleneck::BankConflicts);
    assert_eq!(of(counts(1e6, 6e5)), Bottleneck::Shared);
    assert_eq!(of(counts(0.0, 0.0)), Bottleneck::Launch);
}

#[test]
fn launches_follow_one_another() {
    let (short, long) =
        (Counts::empty("short", 1, 32), Counts { lines: 1e6, ..Counts::empty("long", 10, 32) });
    // A gap of 1 µs, 101 cycles, and 1 ns until the block has started; the same with 10 ns, and 1e6 / 10e9 s.
    let found = sequence(&device(), &[short.clone(), long]).expect("they fit");
    same(found.time.0, 1e-6 + 101e-9 + 1e-9 + 1e-6 + 101e-9 + 10e-9 + 100e-6);
    // The host takes 2 µs for each.
    same(sequence(&device(), &[short.clone(), short]).expect("they fit").time.0, 4e-6);
    assert_eq!((found.launches.len(), found.bottleneck), (2, Bottleneck::L1));
    assert!(sequence(&device(), &[]).is_err());
}

/// Of two blocks with 1 µs of waits and 1 µs at the busiest level, the second finds half a block there: one alone takes
/// 2 µs, half of that queued. Of many each takes but 1 µs more.
#[test]
fn blocks_queue_for_the_busiest_level() {
    let of = |blocks| wave(Seconds(1e-6), [Seconds(1e-6)], blocks).0;
    same(of(1), 2e-6);
    same(of(2), 2.5e-6);
    assert!((of(1000) / 1000e-6 - 1.0).abs() < 0.01, "{}", of(1000));
}

/// A block of 4 warps that waits 10 times for memory, 9 of them in turns of a loop, 500 cycles each. The first time,
/// when all ask at a time, 4 of 640 places for warps are taken: 503.125. Nine tenths of the 4000
/// cycles at its busiest level are the turns', 900 of each warp. With 104 until it has started and 400 cycles of the
/// rest that is 607.125 + 400. Of warps by themselves, the second finds 900 / 5400 of one at that level, the third 2 ·
/// 1050 / 5550 and the fourth 3 · 1240.54 / 5740.54.
#[test]
fn warps_go_on_while_another_waits() {
    let counts = Counts {
        lines: 4000.0,
        waits: Waits { memory: 10.0, turns: 9.0, ..Waits::default() },
        ..Counts::empty("turns", 1, 128)
    };
    let time = |waits| predict(&device(), &Counts { waits, ..counts.clone() }).map(|found| found.time.0);
    let mut there = 900.0;
    for others in 1..4 {
        there = 900.0 * (1.0 + f64::from(others) * there / (4500.0 + there));
    }
    let found = predict(&device(), &counts).expect("it fits");
    same(found.latency.0, 5.107125e-6);
    same(found.time.0, 1e-6 + (607.125 + 400.0 + 4500.0 + there) * 1e-9);
    // Where it meets in each turn, 34 cycles a time, it waits as a whole before it is at its level, 1 ns after its
    // start.
    let meeting = time(Waits { shared: 9.0, ..counts.waits }).expect("it fits");
    same(meeting, 1e-6 + (5107.125 + 9.0 * 34.0 + 4001.0) * 1e-9);
    let all_at_once = time(Waits { turns: 0.0, ..counts.waits }).expect("it fits");
    same(all_at_once, 1e-6 + (104.0 + 5031.25 + 4001.0) * 1e-9);
    let too_many = time(Waits { turns: 11.0, ..counts.waits });
    assert!(matches!(too_many, Err(Error::Contradiction { field: "waits.turns", .. })), "{too_many:?}");
}

/// Half the gap, but blocks start half as fast: 100 blocks of one wave.
#[test]
fn kernels_that_wait_for_the_one_before_by_themselves() {
    let counts = Counts { lines: 1e6, ..Counts::empty("lines", 100, 32) };
    let plain = predict(&device(), &counts).expect("it fits").time.0;
    let dependent = predict(&device(), &Counts { dependent: true, ..counts }).expect("it fits").time.0;
    let difference = plain - dependent;
    assert!((difference - (0.5e-6 - 100e-9)).abs() < 1e-15, "{difference}");
}

#[test]
fn a_device_that_was_not_measured() {
    let v100 = Device::by_name("v100").expect("it is described");
    let error = predict(&v100, &Counts::empty("any", 1, 32));
    assert_eq!(error, Err(Error::NotGiven { device: "Tesla V100 PCIe 16GB".to_owned(), field: "waves" }));
}

/// Warps compare 64 lanes a cycle and multiprocessor, exchange 32, and the tensor cores do a part of what the data
/// sheet says; for warps less of it. A device without tensor cores refuses.
#[test]
fn single_units_are_levels() {
    let device = Device::by_name("h200").expect("it is described");
    let level = |pipes: Pipes, bottleneck| {
        let counts = Counts { pipes, ..Counts::empty("units", 132, 256) };
        let found = predict(&device, &counts).expect("it is described");
        let level = found.levels.iter().find(|(one, _)| *one == bottleneck).expect("it is a level");
        level.1.0
    };
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-12 * other;
    let cycles = |count: f64| count / 132.0 / device.clock.0;
    let integers = Pipes { integers: 1e9, ..Pipes::default() };
    assert!(near(level(integers, Bottleneck::Integers), cycles(5e8)));
    let exchanges = Pipes { exchanges: 1e9, ..Pipes::default() };
    assert!(near(level(exchanges, Bottleneck::L1), cycles(1e9)));
    let warpgroups = Pipes { warpgroups: 989.4e9, ..Pipes::default() };
    assert!(near(level(warpgroups, Bottleneck::Tensor), 1e-3 / 0.778));
    let warps = Pipes { warps: 989.4e9, ..Pipes::default() };
    assert!(near(level(warps, Bottleneck::Tensor), 1e-3 / 0.65));
    let without = Device { tensor: None, ..device.clone() };
    let counts = Counts { pipes: warps, ..Counts::empty("units", 132, 256) };
    assert!(matches!(predict(&without, &counts), Err(Error::NotGiven { field: "tensor", .. })));
}
