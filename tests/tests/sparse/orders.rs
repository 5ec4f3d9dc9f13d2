//! Rows in the order of few groups: several blocks of tiles, diagonals that all rows store, or some, or none; and the
//! kernels over many schedules.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sparse::{Analysis, Diagonal, Side, reference};
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::order::{CLASSES, classes};
use gpu_sparse_kernels::order_narrow::{self, ALL_DIAGONALS, NO_DIAGONALS, SOME_DIAGONALS, WARPS};
use gpu_std::launch::LaunchConfig;
use gpu_tests::backends::for_each;

use crate::support::{Host, Random, matrix, reversed};

/// A triangle of so many rows of which one in `one_in` stores its diagonal, with up to `most` entries beside it.
fn triangle(rows: usize, one_in: usize, most: usize) -> Host<f32> {
    matrix(rows, rows, 88, move |row, random| {
        let count = if row > 0 { random.below(most + 1) } else { 0 };
        // Rows wait for the first ones, so that levels are few.
        let beside = (0..count).map(|_| random.below(row.min(30)));
        let columns: Vec<usize> = beside.collect();
        columns.into_iter().chain((one_in > 0 && row % one_in == 0).then_some(row)).collect()
    })
}

#[test]
fn few_groups_of_rows_are_in_order() {
    for_each("few groups", |device| {
        for (one_in, most) in [(0, 3), (1, 3), (2, 3), (1, 20), (3, 1)] {
            let lower = triangle(9000, one_in, most);
            for (host, side) in [(reversed(&lower), Side::Upper), (lower, Side::Lower)] {
                let a = host.on(device);
                let analysis = Analysis::new(&a, side, Diagonal::Unit).unwrap();
                let profile = analysis.profile();
                assert_eq!(profile.stored as usize, if one_in > 0 { 9000usize.div_ceil(one_in) } else { 0 });
                assert!(classes(profile.longest) * profile.levels <= order_narrow::MOST_KEYS, "{profile:?}");
                let levels = reference::levels(&host.offsets, &host.indices, side);
                let (offsets, indices) = (&host.offsets, &host.indices);
                let expected = reference::order_rows(offsets, indices, &levels, profile.levels, side);
                let order = analysis.order_rows().unwrap();
                let (mut rows, mut starts) = (vec![0; 9000], vec![0; expected.starts.len()]);
                order.rows().copy_to(&mut rows).unwrap();
                order.starts().copy_to(&mut starts).unwrap();
                assert!(starts == expected.starts && rows == expected.rows, "{side:?}, one in {one_in}");
            }
        }
    });
}

/// What the kernels make of a triangle and of levels, by tiles of `tile` rows: counts, and the rows in order.
fn ordered(
    device: &Device,
    host: &Host<f32>,
    (levels, count, longest): (&[u32], u32, u32),
    (tile, stored): (u32, u32),
) -> (Vec<u32>, Vec<u32>) {
    let stream = device.default_stream();
    let (rows, groups, of_level) = (host.rows as u32, CLASSES * count, classes(longest));
    let (many, blocks) = (of_level * count, rows.div_ceil(tile).div_ceil(WARPS));
    let shape = Rows { rows, entries: host.indices.len() as u32, upper: 0, unit: 1, chunk: THREADS };
    let (offsets, indices) = (device.upload(&host.offsets).unwrap(), device.upload(&host.indices).unwrap());
    let levels = device.upload(levels).unwrap();
    let (mut keys, mut counts) =
        (device.alloc::<u8>(host.rows).unwrap(), device.zeroed::<u32>(groups as usize).unwrap());
    let mut by_tile = device.alloc::<u32>((many * blocks * WARPS) as usize).unwrap();
    let launch = LaunchConfig::linear(blocks, THREADS).shared(order_narrow::count_bytes(many));
    // SAFETY: the simulator checks every access.
    unsafe {
        let to = (&mut keys, &mut counts, &mut by_tile);
        let arguments =
            (&offsets, &indices, &levels, to.0, to.1, to.2, shape, groups, of_level, tile, stored);
        stream.launch::<order_narrow::sparse_groups_narrow>(launch, arguments).unwrap();
    }
    let starts = device.upload(&reference::starts_of(&by_tile.to_vec().unwrap())[..by_tile.len()]).unwrap();
    let mut order = device.alloc::<u32>(host.rows).unwrap();
    // SAFETY: as above.
    unsafe {
        let arguments = (&keys, &starts, &mut order, rows, many, tile);
        let launch = launch.shared(order_narrow::order_bytes(many));
        stream.launch::<order_narrow::sparse_order_narrow>(launch, arguments).unwrap();
    }
    (counts.to_vec().unwrap(), order.to_vec().unwrap())
}

fn simulator(seed: u64) -> Device {
    Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) })
}

#[test]
fn three_hundred_schedules_of_orders() {
    println!("three_hundred_schedules_of_orders: seeds 0 to 299");
    for (one_in, stored) in [(0, NO_DIAGONALS), (1, ALL_DIAGONALS), (3, SOME_DIAGONALS)] {
        let host = triangle(2100, one_in, 5);
        let (offsets, indices) = (&host.offsets, &host.indices);
        let levels = reference::levels(offsets, indices, Side::Lower);
        let count = levels.iter().copied().max().unwrap();
        let longest = reference::profile(offsets, indices, Side::Lower).longest;
        let (groups, counts) = reference::count_rows(offsets, indices, &levels, count, Side::Lower);
        let rows = reference::place_rows(&groups, &reference::starts_of(&counts));
        for seed in (u64::from(stored)..300).step_by(3) {
            let tile = 128 << (seed / 3 % 2);
            let found = ordered(&simulator(seed), &host, (&levels, count, longest), (tile, stored));
            assert!(found.0 == counts && found.1 == rows, "seed {seed}");
        }
    }
}

/// Of levels that say anything each row is counted once, and has a place.
#[test]
fn rows_of_any_levels_have_places() {
    println!("rows_of_any_levels_have_places: seeds 0 to 9");
    let host = triangle(1500, 2, 5);
    for seed in 0..10 {
        let mut random = Random(90 + seed);
        let any = |_| if random.below(2) == 0 { random.below(6) as u32 } else { random.next() as u32 };
        let levels: Vec<u32> = (0..host.rows).map(any).collect();
        let (counts, mut rows) = ordered(&simulator(seed), &host, (&levels, 5, 2), (128, seed as u32 % 3));
        assert_eq!(counts.iter().sum::<u32>(), host.rows as u32);
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..host.rows as u32), "seed {seed}");
    }
}
