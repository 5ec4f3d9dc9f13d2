//! What blocks do one after the other, of small kernels where it can be counted by hand.

use gpu_sim::device::{
    Load, Ordering, Scope, Store, atomic_load, atomic_store, atomic_update, barrier, block_idx, global_load,
    global_store, shared_load, shared_store, thread_idx,
};
use gpu_sim::metrics::Architecture;
use gpu_sim::{BlockOrder, Config, Geometry, Kernel, Record, Report, Simulator, Space};

const CONFIG: fn() -> Config = || Config {
    record: Record::Full,
    caches: Some(Architecture::H200),
    block_order: BlockOrder::Ascending,
    ..Config::default()
};

/// Launches with 64 words of zeros.
fn launch(config: Config, geometry: Geometry, body: impl Fn(u64) + Sync) -> (Simulator, u64, Report) {
    let simulator = Simulator::new(config);
    let data = simulator.alloc(256).expect("memory");
    simulator.fill(data, 256, 0).expect("memory");
    let kernel = Kernel { name: "paths", file: file!(), line: line!() };
    let report = simulator.launch(kernel, geometry, &|| body(data)).expect("it is right");
    (simulator, data, report)
}

fn draw(ticket: u64) -> u32 {
    atomic_update::<u32>(Space::Global, ticket, Ordering::Relaxed, Scope::Device, |old| Some(old + 1))
}

/// One thread of 128 draws a ticket, all wait for it, and each warp loads a word twice; the last one stores.
#[test]
fn a_ticket_is_a_step_of_the_whole_block() {
    let (.., report) = launch(CONFIG(), Geometry::linear(3, 128, 4), |data| {
        if thread_idx()[0] == 0 {
            shared_store(0, draw(data));
        }
        barrier();
        for _ in 0..2 {
            global_load::<u32>(data + 128 + u64::from(thread_idx()[0] / 32) * 4, Load::Weak);
        }
        if shared_load::<u32>(0) == 2 {
            barrier();
            if thread_idx()[0] == 0 {
                draw(data + 4);
            }
        }
    });
    let paths = report.paths;
    assert_eq!((paths.all.atomics, paths.all.barriers), (4, 4));
    assert_eq!((paths.longest.atomics, paths.longest.barriers), (2, 2));
    // Of three blocks on multiprocessors of their own, the first finds the line in memory, the others in the L2.
    assert_eq!((paths.all.loads, paths.all.memory), (3, 1));
    assert_eq!(paths.hops, 0, "tickets are drawn one after another, but nobody waits for one");
}

/// A thread loads two lines twice, a sector at a time: one place, 16 loads, of which the first-level cache does not
/// have eight, which memory brings in pairs. A second block, on another multiprocessor, finds those in the L2.
#[test]
fn loads_of_a_loop_are_one_place_and_many_misses() {
    let (.., report) = launch(CONFIG(), Geometry::linear(2, 1, 0), |data| {
        for sector in (0..8).chain(0..8) {
            global_load::<u32>(data + 32 * sector, Load::Weak);
        }
    });
    let all = report.paths.all;
    assert_eq!((all.loads, all.memory, all.all_loads), (2, 1, 32));
    assert_eq!((all.misses, all.memory_misses), (16, 4));
}

/// Each block waits for the one before.
#[test]
fn a_chain_of_blocks_has_as_many_hops() {
    let (.., report) = launch(CONFIG(), Geometry::linear(8, 1, 0), |data| {
        let block = u64::from(block_idx()[0]);
        let flag = |of: u64| data + of * 4;
        let is_set =
            |of: u64| atomic_load::<u32>(Space::Global, flag(of), Ordering::Acquire, Scope::Device) == 1;
        while block > 0 && !is_set(block - 1) {}
        atomic_store(Space::Global, flag(block), 1_u32, Ordering::Release, Scope::Device);
    });
    assert_eq!(report.paths.hops, 7);
}

/// Of 64 blocks four run, one of each quarter, and not all at the same place of it.
#[test]
fn a_sample_is_spread_over_the_grid() {
    let config = Config { sample: Some(4), ..CONFIG() };
    let (simulator, data, report) = launch(config, Geometry::linear(64, 1, 0), |data| {
        global_store(data + u64::from(block_idx()[0]) * 4, 1_u32, Store::Weak);
    });
    let mut words = [0; 256];
    simulator.read(data, &mut words).expect("it is there");
    let ran: Vec<usize> = (0..64).filter(|block| words[block * 4] == 1).collect();
    assert_eq!((report.blocks, ran.len()), (4, 4));
    assert!(ran.iter().enumerate().all(|(quarter, block)| block / 16 == quarter), "{ran:?}");
    assert!(ran.windows(2).any(|pair| pair[0] % 16 != pair[1] % 16), "{ran:?}");
}

/// Counts alone are those of everything recorded, and so is what is stored: words that are written anew between atomics
/// start from what was written, in shared and in global memory.
#[test]
fn counts_are_the_same_without_races() {
    let rounds = |data: u64| {
        let (lane, number) = (thread_idx()[0], block_idx()[0]);
        let (own, sum) = (data + 4 * u64::from(number), data + 64 + 4 * u64::from(number));
        let mut found = 0;
        for round in 0..3 {
            if lane == 0 {
                shared_store(0, round);
                global_store(own, 5 + round, Store::Weak);
            }
            barrier();
            for (space, address) in [(Space::Shared, 0), (Space::Global, own)] {
                let add = |old: u32| Some(old + lane);
                atomic_update::<u32>(space, address, Ordering::Relaxed, Scope::Device, add);
            }
            barrier();
            if lane == 33 {
                let both = [(Space::Shared, 0), (Space::Global, own)];
                let load =
                    |(space, address)| atomic_load::<u32>(space, address, Ordering::Relaxed, Scope::Device);
                found += both.map(load).iter().sum::<u32>();
            }
            barrier();
        }
        if lane == 33 {
            global_store(sum, found, Store::Weak);
        }
    };
    for seed in 0..50 {
        let run = |record| {
            let config = Config { record, seed, ..CONFIG() };
            let (simulator, data, report) = launch(config, Geometry::linear(3, 64, 4), rounds);
            let mut found = [0; 12];
            simulator.read(data + 64, &mut found).expect("it is there");
            (found, report)
        };
        let [full, counts] = [Record::Full, Record::Counts].map(run);
        // Of 0 + 1 + ... + 63 twice, and 0 and 5, 1 and 6, 2 and 7.
        let sum: u32 = 3 * 2 * 2016 + 3 + 18;
        assert_eq!(
            full.0.chunks(4).map(|word| word.to_vec()).collect::<Vec<_>>(),
            vec![sum.to_le_bytes(); 3]
        );
        assert_eq!(full, counts, "seed {seed}");
    }
}

/// Two threads store to one word: a race, which is none of the counts.
#[test]
fn races_of_plain_accesses_are_no_counts() {
    let run = |record| {
        let simulator = Simulator::new(Config { record, ..CONFIG() });
        let data = simulator.alloc(4).expect("memory");
        let kernel = Kernel { name: "racing", file: file!(), line: line!() };
        let store = || global_store(data, thread_idx()[0], Store::Weak);
        simulator.launch(kernel, Geometry::linear(1, 2, 0), &store).map(|report| report.counts.global_stores)
    };
    assert!(run(Record::Full).is_err());
    assert_eq!(run(Record::Counts).map(|stores| stores.requests), Ok(1));
}
