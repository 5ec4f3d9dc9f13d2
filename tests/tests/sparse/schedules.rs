//! Kernels that wait for values, under the simulator's schedules: several blocks in flight, started, interleaved and
//! finished in any order, relaxed loads that may be stale. And what the simulator says of two faults of kernels of this
//! kind that were published, planted in one of these.

use gpu_core::{Device, Error};
use gpu_sim::{BlockOrder, Config, FaultKind, Record};
use gpu_sparse::{Algorithm, Analysis, Diagonal, Side, Spmv, Strategy, reference};
use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, matrix, reversed, vector};

/// A simulator of seed `seed` with more blocks in flight the larger it is, all accesses watched.
fn simulator(seed: u64) -> Device {
    let resident_blocks = 2 + (seed % 7) as usize;
    Device::simulator_with(Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) })
}

/// Three blocks whose rows wait for rows of their warp, of their block and of others.
fn triangle() -> Host<f32> {
    matrix(530, 530, 91, |row, random| {
        let mut columns = vec![row];
        if row > 0 {
            columns.extend([row - 1, row.saturating_sub(40), random.below(row)].iter().take(random.below(4)));
        }
        columns
    })
}

#[test]
fn a_thousand_schedules_of_levels_and_systems() {
    let lower = triangle();
    println!("a_thousand_schedules_of_levels_and_systems: seeds 0 to 999");
    for (host, side) in [(reversed(&lower), Side::Upper), (lower, Side::Lower)] {
        let b = vector::<f32>(host.rows, 92);
        let mut expected = vec![0.0; host.rows];
        let (offsets, indices) = (&host.offsets, &host.indices);
        reference::solve(offsets, indices, &host.values, side, Diagonal::Stored, 1.0, &b, &mut expected);
        let levels = reference::levels(offsets, indices, side);
        for seed in (side as u64..1000).step_by(2) {
            let device = simulator(seed);
            let a = host.on(&device);
            let algorithm = Algorithm::ALL[(seed / 2 % 4) as usize];
            let mut analysis =
                Analysis::new(&a, side, Diagonal::Stored).unwrap().with_algorithm(algorithm).unwrap();
            let mut found = vec![0; host.rows];
            analysis.levels().copy_to(&mut found).unwrap();
            assert_eq!(found, levels, "seed {seed}");
            let (right, mut x) = (device.upload(&b).unwrap(), device.alloc(host.rows).unwrap());
            analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
            assert_same_bits(&x.to_vec().unwrap(), &expected, &format!("seed {seed}, {algorithm:?}"));
        }
    }
}

#[test]
fn many_schedules_of_products_that_are_dealt_out() {
    let host = matrix::<f32>(40, 6000, 93, |row, random| {
        (0..if row % 9 == 4 { 5000 } else { 20 }).map(|_| random.below(6000)).collect()
    });
    let x = vector::<f32>(host.columns, 94);
    let mut expected = vec![0.0; host.rows];
    reference::spmv(1.0, &host.offsets, &host.indices, &host.values, &x, 0.0, &mut expected);
    println!("many_schedules_of_products_that_are_dealt_out: seeds 0 to 29");
    for seed in 0..30 {
        let device = simulator(seed);
        let a = host.on(&device);
        let (x, mut y) = (device.upload(&x).unwrap(), device.alloc(host.rows).unwrap());
        let mut product = Spmv::new(&a).unwrap().with_strategy(Strategy::Balanced).unwrap();
        product.run(&device.default_stream(), 1.0, &x, 0.0, &mut y).unwrap();
        assert_same_bits(&y.to_vec().unwrap(), &expected, &format!("seed {seed}"));
    }
}

/// A chain: row `r` waits for row `r - 1`. `plain` waits by plain loads, and without `ticketed` blocks take the rows of
/// their number.
#[kernel]
fn chain(x: GlobalMut<u32>, ticket: GlobalMut<u32>, rows: u32, plain: u32, ticketed: u32) {
    let room = shared::dynamic().array::<u32>(1);
    if thread::thread_idx_x() == 0 {
        let drawn = ticket.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
        room.write(0, if ticketed != 0 { drawn } else { thread::block_idx_x() });
    }
    thread::sync_threads();
    let row = room.read(0) * 32 + thread::thread_idx_x();
    let mut done = row >= rows;
    loop {
        if !done {
            let before = if row == 0 {
                1
            } else if plain != 0 {
                x.read(row - 1)
            } else {
                x.atomic(row - 1).load(Ordering::Relaxed, Scope::Device)
            };
            if before != 0 {
                x.atomic(row).store(before + 1, Ordering::Relaxed, Scope::Device);
                done = true;
            }
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}

fn run_chain(seed: u64, plain: bool, ticketed: bool) -> Result<Vec<u32>, FaultKind> {
    // Few blocks in flight, in any order: who waits for a block of an earlier number may wait for ever.
    let config = Config {
        resident_blocks: if ticketed { 3 } else { 1 },
        block_order: BlockOrder::Any,
        record: Record::Races,
        ..Config::with_seed(seed)
    };
    let device = Device::simulator_with(config);
    let (mut x, mut ticket) = (device.zeroed(100).unwrap(), device.zeroed(1).unwrap());
    let arguments = (&mut x, &mut ticket, 100, u32::from(plain), u32::from(ticketed));
    // SAFETY: the simulator checks every access.
    match unsafe {
        device.default_stream().launch::<chain>(LaunchConfig::linear(4, 32).shared(16), arguments)
    } {
        Ok(()) => Ok(x.to_vec().unwrap()),
        Err(Error::Simulator(fault)) => Err(fault.kind.clone()),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn planted_faults_are_found() {
    let mut stuck = 0;
    for seed in 0..20 {
        let expected: Vec<u32> = (2..102).collect();
        assert_eq!(run_chain(seed, false, true).unwrap(), expected, "seed {seed}");
        let plain = run_chain(seed, true, true).unwrap_err();
        // A plain load races with the store, or sees for ever what was there when the thread first looked.
        let said = format!("{plain:?}");
        assert!(said.contains("Race") || said.contains("Livelock"), "seed {seed}: {said}");
        match run_chain(seed, false, false) {
            // The seed starts blocks in ascending order.
            Ok(x) => assert_eq!(x, expected, "seed {seed}"),
            Err(kind) => {
                let said = format!("{kind:?}");
                assert!(said.contains("Livelock") || said.contains("Deadlock"), "seed {seed}: {said}");
                stuck += 1;
            }
        }
    }
    assert!(stuck > 0, "none of 20 schedules found that blocks wait for later ones");
}
