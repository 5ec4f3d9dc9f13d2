//! Offsets and columns that say anything, as if they had changed after they were checked: in the simulator, which stops
//! at every access outside of memory. What comes out is of no matter, but kernels end, and touch nothing else.

use gpu_core::{Buffer, Device, Layout, Matrix, MatrixMut, Stream};
use gpu_sim::{Config, Record};
use gpu_sparse::{CsrView, Spmv, Strategy, Transposition, transpose_by};
use gpu_sparse_kernels::levels::Rows;
use gpu_sparse_kernels::part::{self, Part};
use gpu_sparse_kernels::solve::Run;
use gpu_sparse_kernels::waiting::{ASKED, Strides};
use gpu_sparse_kernels::{NONE, THREADS, chains, free, levels, order, ordered, packed, solve};
use gpu_std::launch::LaunchConfig;

use crate::support::Random;

const ROWS: usize = 300;
const ENTRIES: usize = 900;

/// Numbers of which every kind comes often: small ones, those around the limit, and any.
fn any(random: &mut Random, limit: usize, len: usize) -> Vec<u32> {
    let one = |random: &mut Random| match random.below(3) {
        0 => random.below(limit) as u32,
        1 => (limit + random.below(5)) as u32 - 2,
        _ => random.next() as u32,
    };
    (0..len).map(|_| one(random)).collect()
}

struct Arrays {
    device: Device,
    offsets: Buffer<u32>,
    indices: Buffer<u32>,
    values: Buffer<f32>,
}

fn arrays(seed: u64) -> Arrays {
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
    let mut random = Random(500 + seed);
    let offsets = any(&mut random, ENTRIES, ROWS + 1);
    let indices = any(&mut random, ROWS, ENTRIES);
    let (offsets, indices) = (device.upload(&offsets).unwrap(), device.upload(&indices).unwrap());
    let values = device.upload(&vec![0.5; ENTRIES]).unwrap();
    Arrays { device, offsets, indices, values }
}

#[test]
fn products_stay_inside() {
    println!("products_stay_inside: seeds 0 to 19");
    for seed in 0..20 {
        let Arrays { device, offsets, indices, values } = &arrays(seed);
        // A matrix that is none.
        // SAFETY: the simulator checks every access.
        let a = unsafe { CsrView::new_unchecked(ROWS, ROWS, offsets, indices, values) };
        let stream = device.default_stream();
        let x = device.upload(&[1.0; 2 * ROWS]).unwrap();
        let mut y = device.zeroed(2 * ROWS).unwrap();
        for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
            let mut product = Spmv::new(a).unwrap().with_strategy(strategy).unwrap();
            product.run(&stream, 1.0, x.slice(..ROWS), 0.0, y.slice_mut(..ROWS)).unwrap();
        }
        let layout = Layout::row_major(ROWS, 2).unwrap();
        let (b, c) = (Matrix::new(&x, layout).unwrap(), MatrixMut::new(&mut y, layout).unwrap());
        Spmv::new(a).unwrap().run_many(&stream, 1.0, b, 0.0, c).unwrap();
    }
}

#[test]
fn transpositions_stay_inside() {
    println!("transpositions_stay_inside: seeds 0 to 19");
    for seed in 0..20 {
        let Arrays { offsets, indices, values, .. } = &arrays(seed);
        // SAFETY: the simulator checks every access.
        let a = unsafe { CsrView::new_unchecked(ROWS, ROWS, offsets, indices, values) };
        for way in [Transposition::Tiles, Transposition::Sampled, Transposition::Sorted] {
            let (ends, ..) = transpose_by(a, way).unwrap().0.into_buffers();
            let ends = ends.to_vec().unwrap();
            assert!(ends.is_sorted() && ends[ROWS] as usize == ENTRIES, "seed {seed}, {way:?}");
        }
    }
}

#[test]
fn levels_and_systems_stay_inside_and_end() {
    println!("levels_and_systems_stay_inside_and_end: seeds 0 to 19");
    for seed in 0..20 {
        let Arrays { device, offsets, indices, values } = &arrays(seed);
        let stream = device.default_stream();
        let upper = (seed % 2) as u32;
        let unit = (seed / 2 % 2) as u32;
        let (rows, chunk) = (ROWS as u32, if seed % 5 < 3 { THREADS } else { 3 * THREADS / 2 });
        let shape = Rows { rows, entries: ENTRIES as u32, upper, unit, chunk };
        let strides = Strides { b_row: 1, x_row: 1, b_column: 0, x_column: 0, systems: 1 };
        let linear = LaunchConfig::linear((ROWS as u32).div_ceil(THREADS), THREADS);
        let b = device.upload(&[1.0f32; ROWS]).unwrap();
        let ticket = || device.zeroed::<u32>(1).unwrap();
        let unknown = |stream: &Stream| {
            let mut x = device.alloc::<u32>(ROWS).unwrap();
            stream.memset(&mut x, 0xff).unwrap();
            x
        };

        let mut found = device.zeroed::<u32>(ROWS).unwrap();
        let mut profile = device.zeroed::<u32>(order::FOUND as usize).unwrap();
        // SAFETY: the simulator checks every access.
        unsafe {
            let walking = LaunchConfig::linear(rows.div_ceil(chunk), THREADS);
            let launch = walking.shared(levels::shared_bytes(chunk, THREADS));
            let arguments = (offsets, indices, &mut found, &mut ticket(), shape);
            stream.launch::<levels::sparse_levels>(launch, arguments).unwrap();
            let arguments = (offsets, indices, &mut profile, shape);
            stream.launch::<order::sparse_profile>(linear, arguments).unwrap();
            let launch = linear.shared(free::shared_bytes::<f32>());
            let (mut x, mut word) = (unknown(&stream), ticket());
            let arguments = (offsets, indices, values, &b, &mut x, &mut word, shape, strides, 1.0);
            stream.launch::<free::sparse_solve_free_f32>(launch, arguments).unwrap();
            let launch = walking.shared(chains::shared_bytes::<f32>(THREADS));
            let (mut x, mut word) = (unknown(&stream), ticket());
            let arguments = (offsets, indices, values, &b, &mut x, &mut word, shape, strides, 1.0);
            stream.launch::<chains::sparse_solve_chains_f32>(launch, arguments).unwrap();
        }
        assert!(found.to_vec().unwrap().iter().all(|&level| level > 0 && level <= ROWS as u32));

        // Ordered rows, one a warp, in an order that the clamped columns follow; and one level after the other.
        let rows: Vec<u32> =
            (0..ROWS as u32).map(|row| if upper == 1 { ROWS as u32 - 1 - row } else { row }).collect();
        let tasks: Vec<u32> = (0..ROWS as u32).flat_map(|place| [place, 1 << 8 | 5]).collect();
        let starts: Vec<u32> = (0..=7 * ROWS as u32).map(|group| group.div_ceil(7)).collect();
        let (rows, tasks) = (device.upload(&rows).unwrap(), device.upload(&tasks).unwrap());
        let starts = device.upload(&starts).unwrap();
        // SAFETY: as above.
        unsafe {
            let blocks = (ROWS as u32).div_ceil(ordered::THREADS / 32);
            let launch =
                LaunchConfig::linear(blocks, ordered::THREADS).shared(ordered::shared_bytes::<f32>());
            let (mut x, mut word) = (unknown(&stream), ticket());
            let count = ROWS as u32;
            let arguments =
                (offsets, indices, values, &b, &mut x, &rows, &tasks, &mut word, shape, strides, count, 1.0);
            stream.launch::<ordered::sparse_solve_ordered_f32>(launch, arguments).unwrap();
            // The same rows packed, a row a task.
            let units = count * packed::UNITS;
            let all = units as usize;
            let (mut of_rows, mut of_units) = (device.zeroed(ROWS).unwrap(), device.zeroed(all).unwrap());
            let (mut positions, mut known) =
                (device.alloc::<u32>(all * ASKED).unwrap(), device.alloc::<u32>(all).unwrap());
            stream.memset(&mut known, 0xff).unwrap();
            let arguments =
                (&rows, &tasks, &mut of_rows, &mut of_units, &mut positions, units, rows.len() as u32);
            let launch = LaunchConfig::linear(units.div_ceil(THREADS), THREADS);
            stream.launch::<packed::sparse_units>(launch, arguments).unwrap();
            let arguments = (offsets, indices, &of_rows, &mut positions, shape, units, 32);
            stream.launch::<packed::sparse_pack>(linear, arguments).unwrap();
            // Offsets and columns change again before the solution.
            let others = arrays(seed + 1);
            let offsets_then = device.upload(&others.offsets.to_vec().unwrap()).unwrap();
            let indices_then = device.upload(&others.indices.to_vec().unwrap()).unwrap();
            let (mut x, mut word) = (device.zeroed::<u32>(ROWS).unwrap(), ticket());
            let launch = LaunchConfig::linear(blocks, packed::THREADS).shared(packed::SHARED_BYTES);
            let packed = (&tasks, &of_units, &positions, &mut known);
            let arguments = (
                &offsets_then,
                &indices_then,
                values,
                &b,
                &mut x,
                packed.0,
                packed.1,
                packed.2,
                packed.3,
                &mut word,
                shape,
                strides,
                count,
                1.0,
            );
            stream.launch::<packed::sparse_solve_packed_f32>(launch, arguments).unwrap();
            let (mut x, run) = (unknown(&stream), Run { first: 0, count });
            let launch = LaunchConfig::linear(1, THREADS);
            let arguments = (offsets, indices, values, &b, &mut x, &rows, &starts, shape, strides, run, 1.0);
            stream.launch::<solve::sparse_solve_levels_f32>(launch, arguments).unwrap();
        }
    }
}

/// Rows of so many entries each, and their columns.
fn even(device: &Device, each: usize, columns: impl Fn(usize, usize) -> u32) -> (Buffer<u32>, Buffer<u32>) {
    let offsets: Vec<u32> = (0..=ROWS).map(|row| (each * row) as u32).collect();
    let indices: Vec<u32> = (0..ROWS)
        .flat_map(|row| (0..each).map(move |entry| (row, entry)))
        .map(|(r, e)| columns(r, e))
        .collect();
    (device.upload(&offsets).unwrap(), device.upload(&indices).unwrap())
}

fn shape(entries: usize) -> Rows {
    Rows { rows: ROWS as u32, entries: entries as u32, upper: 0, unit: 1, chunk: THREADS }
}

/// Of the rows before it in its window a row may seem to need one more than there are.
#[test]
fn rows_that_repeat_a_column_stay_inside() {
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::default() });
    let stream = device.default_stream();
    let (offsets, indices) = even(&device, 40, |row, _| row.saturating_sub(1) as u32);
    let (values, b) =
        (device.upload(&vec![0.5f32; 40 * ROWS]).unwrap(), device.upload(&[1.0f32; ROWS]).unwrap());
    let (mut x, mut ticket) = (device.alloc::<u32>(ROWS).unwrap(), device.zeroed::<u32>(1).unwrap());
    stream.memset(&mut x, 0xff).unwrap();
    let strides = Strides { b_row: 1, x_row: 1, b_column: 0, x_column: 0, systems: 1 };
    let launch = LaunchConfig::linear((ROWS as u32).div_ceil(THREADS), THREADS)
        .shared(chains::shared_bytes::<f32>(THREADS));
    let arguments = (&offsets, &indices, &values, &b, &mut x, &mut ticket, shape(40 * ROWS), strides, 1.0);
    // SAFETY: the simulator checks every access.
    unsafe { stream.launch::<chains::sparse_solve_chains_f32>(launch, arguments).unwrap() };
    assert!(x.to_vec().unwrap().iter().all(|&word| word != u32::MAX));
}

/// Of levels that say anything each row is counted once, in shared memory and where there are too many groups for it.
#[test]
fn groups_of_any_levels_are_those_that_there_are() {
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::default() });
    let stream = device.default_stream();
    let (offsets, indices) = even(&device, 1, |row, _| row.saturating_sub(1) as u32);
    for (levels, seed) in [(40, 520), (1200, 521)] {
        let count = order::CLASSES * levels;
        assert_eq!(count <= order::MOST_COUNTERS, levels == 40);
        let any_levels = device.upload(&any(&mut Random(seed), levels as usize + 1, ROWS)).unwrap();
        let (mut keys, mut counts) =
            (device.zeroed::<u32>(ROWS).unwrap(), device.zeroed::<u32>(count as usize).unwrap());
        let launch = LaunchConfig::linear((ROWS as u32).div_ceil(THREADS), THREADS)
            .shared(order::groups_shared_bytes(count));
        let arguments = (&offsets, &indices, &any_levels, &mut keys, &mut counts, shape(ROWS), count, 2);
        // SAFETY: the simulator checks every access.
        unsafe { stream.launch::<order::sparse_groups>(launch, arguments).unwrap() };
        assert_eq!(counts.to_vec().unwrap().iter().sum::<u32>(), ROWS as u32);
    }
}

/// Offsets change after the entries of each row were counted: no row gets more, and nothing is read beyond the entries.
#[test]
fn parts_of_rows_that_changed_stay_inside() {
    println!("parts_of_rows_that_changed_stay_inside: seeds 0 to 19");
    let kept: Vec<u32> = (0..=ROWS as u32).map(|row| 2 * row).collect();
    for seed in 0..20 {
        let Arrays { device, offsets, indices, .. } = &arrays(seed);
        let stream = device.default_stream();
        let (rows, entries) = (ROWS as u32, ENTRIES as u32);
        let part =
            Part { rows, entries, upper: (seed % 2) as u32, diagonal: (seed / 2 % 2) as u32, words: 2 };
        let (values, target) = (device.zeroed::<u32>(2 * ENTRIES).unwrap(), device.upload(&kept).unwrap());
        let mut columns = device.zeroed::<u32>(2 * ROWS).unwrap();
        let mut words = device.zeroed::<u32>(4 * ROWS).unwrap();
        let launch = LaunchConfig::linear(rows.div_ceil(THREADS), THREADS);
        let arguments = (offsets, indices, &values, &target, &mut columns, &mut words, part);
        // SAFETY: the simulator checks every access.
        unsafe { stream.launch::<part::sparse_part>(launch, arguments).unwrap() };
    }
}

/// Rows of one task never wait for each other, whatever their columns say; and what is no row has no unit.
#[test]
fn units_wait_for_earlier_tasks() {
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::default() });
    let stream = device.default_stream();
    let mut random = Random(522);
    let columns = any(&mut random, ROWS, 3 * ROWS);
    let (offsets, indices) = even(&device, 3, |row, entry| columns[3 * row + entry]);
    let rows_of = |task: usize| (ROWS - 32 * task).min(32) as u32;
    let tasks: Vec<u32> =
        (0..ROWS.div_ceil(32)).flat_map(|task| [32 * task as u32, rows_of(task) << 8]).collect();
    let (count, tasks) = ((tasks.len() / 2) as u32 * packed::UNITS, device.upload(&tasks).unwrap());
    let linear = |threads: u32| LaunchConfig::linear(threads.div_ceil(THREADS), THREADS);
    for is_order in [false, true] {
        let mut order: Vec<u32> = (0..ROWS as u32).collect();
        if !is_order {
            order[17] = ROWS as u32;
            order[200] = u32::MAX;
        }
        let order = device.upload(&order).unwrap();
        let (mut of_rows, mut rows) =
            (device.zeroed::<u32>(ROWS).unwrap(), device.zeroed::<u32>(count as usize).unwrap());
        let mut positions = device.zeroed::<u32>(count as usize * ASKED).unwrap();
        let arguments = (&order, &tasks, &mut of_rows, &mut rows, &mut positions, count, ROWS as u32);
        // SAFETY: the simulator checks every access.
        unsafe { stream.launch::<packed::sparse_units>(linear(count), arguments).unwrap() };
        if is_order {
            let arguments = (&offsets, &indices, &of_rows, &mut positions, shape(3 * ROWS), count, 32);
            // SAFETY: as above.
            unsafe { stream.launch::<packed::sparse_pack>(linear(ROWS as u32), arguments).unwrap() };
            let positions = positions.to_vec().unwrap();
            let task = |unit: usize| unit as u32 / packed::UNITS;
            let is_earlier =
                |(place, &unit): (usize, &u32)| unit == NONE || task(unit as usize) < task(place / ASKED);
            assert!(positions.iter().enumerate().all(is_earlier));
            assert!(positions.iter().any(|&unit| unit != NONE));
        }
    }
}
