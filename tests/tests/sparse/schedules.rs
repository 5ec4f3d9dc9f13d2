//! Kernels that wait for values, under the simulator's schedules: several blocks in flight, started, interleaved and
//! finished in any order, relaxed loads that may be stale. And what the simulator says of two faults of kernels of this
//! kind that were published, planted in one of these.

use gpu_core::{Device, Error, Layout, Matrix, MatrixMut};
use gpu_sim::{BlockOrder, Config, FaultKind, Record};
use gpu_sparse::{Algorithm, Analysis, Diagonal, Side, Spmv, Strategy, reference};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::waiting::Strides;
use gpu_sparse_kernels::{chains, levels};
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

/// Every kernel that waits for values, each under a thousand schedules, half of them of each side: levels, and three
/// solvers. The one that goes level by level waits for none, and shares a few of them.
fn schedules_of(host: &Host<f32>, side: Side) {
    let b = vector::<f32>(host.rows, 92);
    let mut expected = vec![0.0; host.rows];
    let (offsets, indices) = (&host.offsets, &host.indices);
    reference::solve(offsets, indices, &host.values, side, Diagonal::Stored, 1.0, &b, &mut expected);
    let levels = reference::levels(offsets, indices, side);
    for seed in (side as u64..1000).step_by(2) {
        let device = simulator(seed);
        let a = host.on(&device);
        let mut analysis = Analysis::new(&a, side, Diagonal::Stored).unwrap();
        let mut found = vec![0; host.rows];
        analysis.levels().copy_to(&mut found).unwrap();
        assert_eq!(found, levels, "seed {seed}");
        let right = device.upload(&b).unwrap();
        let few = seed / 2 % 10 == 0;
        for algorithm in Algorithm::ALL.into_iter().filter(|&one| few || one != Algorithm::Levels) {
            analysis = analysis.with_algorithm(algorithm).unwrap();
            let mut x = device.alloc(host.rows).unwrap();
            analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
            assert_same_bits(&x.to_vec().unwrap(), &expected, &format!("seed {seed}, {algorithm:?}"));
        }
        if seed / 2 % 4 == 0 {
            analysis = analysis.with_algorithm(Algorithm::Ordered).unwrap();
            assert_same_bits(&both(&mut analysis, &b), &[&expected[..], &expected].concat(), "two systems");
        }
    }
}

/// Two systems at a time, of ordered rows that are not packed.
fn both(analysis: &mut Analysis<'_, f32>, b: &[f32]) -> Vec<f32> {
    let device = analysis.levels().device().clone();
    let (right, mut x) = (device.upload(&[b, b].concat()).unwrap(), device.alloc(2 * b.len()).unwrap());
    let layout = Layout::column_major(b.len(), 2).unwrap();
    let columns = (Matrix::new(&right, layout).unwrap(), MatrixMut::new(&mut x, layout).unwrap());
    analysis.solve_many(&device.default_stream(), 1.0, columns.0, columns.1).unwrap();
    x.to_vec().unwrap()
}

/// Rows that a warp adds up through shared memory, some of them several times as long as what it has at a time; and such
/// as are packed, of every number of lanes.
#[test]
fn a_hundred_schedules_of_long_rows() {
    println!("a_hundred_schedules_of_long_rows: seeds 0 to 99");
    let of = |longest: usize, seed| {
        matrix::<f32>(300, 300, seed, |row, random| {
            let most = if row % 7 == 6 { row.min(longest) } else { row.min(3) };
            let mut columns: Vec<usize> = (0..most).map(|k| row - 1 - k * row / most.max(1)).collect();
            columns.extend((0..random.below(3)).map(|_| random.below(row + 1)));
            columns.push(row);
            columns
        })
    };
    let lower = [of(280, 95), of(100, 96), of(50, 97), of(30, 98), of(14, 99)];
    for seed in 0..100 {
        let (host, side) = (&lower[seed as usize / 2 % lower.len()], Side::Lower);
        let (host, side) = if seed % 2 == 1 { (&reversed(host), Side::Upper) } else { (host, side) };
        let b = vector::<f32>(host.rows, 92);
        let mut expected = vec![0.0; host.rows];
        let (offsets, indices) = (&host.offsets, &host.indices);
        reference::solve(offsets, indices, &host.values, side, Diagonal::Stored, 1.0, &b, &mut expected);
        let device = simulator(seed);
        let (a, right, mut x) =
            (host.on(&device), device.upload(&b).unwrap(), device.alloc(host.rows).unwrap());
        let mut analysis = Analysis::with(&a, side, Diagonal::Stored, Algorithm::Ordered).unwrap();
        analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
        assert_same_bits(&x.to_vec().unwrap(), &expected, &format!("seed {seed}"));
        assert_same_bits(&both(&mut analysis, &b), &[&expected[..], &expected].concat(), "two systems");
    }
}

#[test]
fn five_hundred_schedules_of_lower_triangles() {
    println!("five_hundred_schedules_of_lower_triangles: seeds 0, 2 to 998");
    schedules_of(&triangle(), Side::Lower);
}

#[test]
fn five_hundred_schedules_of_upper_triangles() {
    println!("five_hundred_schedules_of_upper_triangles: seeds 1, 3 to 999");
    schedules_of(&reversed(&triangle()), Side::Upper);
}

/// Blocks of few rows, through which their warps walk, and rings of as few words that later rows take places of.
#[test]
fn a_thousand_schedules_of_blocks_that_walk() {
    println!("a_thousand_schedules_of_blocks_that_walk: seeds 0 to 999");
    let lower = triangle();
    let hosts = [reversed(&lower), lower];
    for seed in 0..1000 {
        let (upper, chunk) = ((seed % 2) as u32, [150, 300][seed as usize / 2 % 2]);
        let (host, side) =
            (&hosts[1 - seed as usize % 2], if upper == 1 { Side::Upper } else { Side::Lower });
        let b = vector::<f32>(host.rows, 92);
        let mut expected = vec![0.0; host.rows];
        let (offsets, indices) = (&host.offsets, &host.indices);
        reference::solve(offsets, indices, &host.values, side, Diagonal::Stored, 1.0, &b, &mut expected);
        let device = simulator(seed);
        let stream = device.default_stream();
        let (rows, entries) = (host.rows as u32, host.indices.len() as u32);
        let shape = Rows { rows, entries, upper, unit: 0, chunk };
        let strides = Strides { b_row: 1, x_row: 1, b_column: 0, x_column: 0, systems: 1 };
        let (offsets, indices) = (device.upload(offsets).unwrap(), device.upload(indices).unwrap());
        let (values, b) = (device.upload(&host.values).unwrap(), device.upload(&b).unwrap());
        let (mut levels, mut ticket) = (device.zeroed(host.rows).unwrap(), device.zeroed(1).unwrap());
        let (mut x, mut again) = (device.alloc::<u32>(host.rows).unwrap(), device.zeroed(1).unwrap());
        stream.memset(&mut x, 0xff).unwrap();
        let walking = LaunchConfig::linear(rows.div_ceil(chunk), 64);
        // SAFETY: the simulator checks every access.
        unsafe {
            let launch = walking.shared(levels::shared_bytes(chunk, 64));
            let arguments = (&offsets, &indices, &mut levels, &mut ticket, shape);
            stream.launch::<levels::sparse_levels>(launch, arguments).unwrap();
            let launch = walking.shared(chains::shared_bytes::<f32>(64));
            let arguments = (&offsets, &indices, &values, &b, &mut x, &mut again, shape, strides, 1.0);
            stream.launch::<chains::sparse_solve_chains_f32>(launch, arguments).unwrap();
        }
        let levels_of_rows = reference::levels(&host.offsets, &host.indices, side);
        assert_eq!(levels.to_vec().unwrap(), levels_of_rows, "seed {seed}");
        let x: Vec<f32> = x.to_vec().unwrap().into_iter().map(f32::from_bits).collect();
        assert_same_bits(&x, &expected, &format!("seed {seed}"));
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

/// What is wrong with the kernel that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It waits by plain loads.
    Plain,
    /// Blocks take the rows of their number, and not the next ones.
    NoTicket,
    /// Lanes wait each in a loop of its own, and tell what they know once all of the warp have met.
    InWarp,
}

/// A chain: row `r` waits for row `r - 1`.
#[kernel]
fn chain(x: GlobalMut<u32>, ticket: GlobalMut<u32>, rows: u32, fault: u32) {
    let room = shared::dynamic().array::<u32>(1);
    if thread::thread_idx_x() == 0 {
        let drawn = ticket.atomic(0).fetch_add(1, Ordering::Relaxed, Scope::Device);
        room.write(0, if fault == Fault::NoTicket as u32 { thread::block_idx_x() } else { drawn });
    }
    thread::sync_threads();
    let row = room.read(0) * 32 + thread::thread_idx_x();
    let mut done = row >= rows;
    loop {
        let mut known = 0;
        if !done {
            known = if row == 0 {
                1
            } else if fault == Fault::Plain as u32 {
                x.read(row - 1)
            } else {
                x.atomic(row - 1).load(Ordering::Relaxed, Scope::Device)
            };
        }
        if fault == Fault::InWarp as u32 {
            while !done && known == 0 {
                known = x.atomic(row - 1).load(Ordering::Relaxed, Scope::Device);
            }
            warp::sync_warp(warp::FULL);
        }
        if known != 0 {
            x.atomic(row).store(known + 1, Ordering::Relaxed, Scope::Device);
            done = true;
        }
        if warp::warp_vote_all(warp::FULL, done) {
            break;
        }
    }
}

/// Rows of the chain: of 13 blocks, so that most seeds start one of them before its turn.
const CHAIN: u32 = 400;

fn run_chain(seed: u64, fault: Fault) -> Result<Vec<u32>, FaultKind> {
    // Few blocks in flight, in any order: who waits for a block of an earlier number may wait for ever.
    let config = Config {
        resident_blocks: if fault == Fault::NoTicket { 1 } else { 3 },
        block_order: BlockOrder::Any,
        record: Record::Races,
        ..Config::with_seed(seed)
    };
    let device = Device::simulator_with(config);
    let (mut x, mut ticket) = (device.zeroed(CHAIN as usize).unwrap(), device.zeroed(1).unwrap());
    let arguments = (&mut x, &mut ticket, CHAIN, fault as u32);
    // SAFETY: the simulator checks every access.
    match unsafe {
        device
            .default_stream()
            .launch::<chain>(LaunchConfig::linear(CHAIN.div_ceil(32), 32).shared(16), arguments)
    } {
        Ok(()) => Ok(x.to_vec().unwrap()),
        Err(Error::Simulator(fault)) => Err(fault.kind.clone()),
        Err(error) => panic!("{error}"),
    }
}

/// What was published of kernels of this kind: plain loads race with the store, or see for ever what was there when the
/// thread first looked; lanes that wait for one of their warp while that waits for them.
#[test]
fn planted_faults_are_found() {
    let stops = |said: &str| said.contains("Livelock") || said.contains("Deadlock");
    let expected: Vec<u32> = (2..CHAIN + 2).collect();
    let mut stuck = 0;
    for seed in 0..40 {
        assert_eq!(run_chain(seed, Fault::None).unwrap(), expected, "seed {seed}");
        let said = format!("{:?}", run_chain(seed, Fault::Plain).unwrap_err());
        assert!(said.contains("Race") || stops(&said), "seed {seed}: {said}");
        let said = format!("{:?}", run_chain(seed, Fault::InWarp).unwrap_err());
        assert!(stops(&said), "seed {seed}: {said}");
        match run_chain(seed, Fault::NoTicket) {
            // The seed starts blocks in ascending order, as a device mostly does: nothing goes wrong then.
            Ok(x) => assert_eq!(x, expected, "seed {seed}"),
            Err(kind) => {
                let said = format!("{kind:?}");
                assert!(stops(&said), "seed {seed}: {said}");
                stuck += 1;
            }
        }
    }
    println!("blocks that wait for later ones: found on {stuck} of 40 seeds");
    assert!(stuck >= 36, "only {stuck} of 40 schedules found that blocks wait for later ones");
}
