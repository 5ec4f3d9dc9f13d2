//! The kernels of a transposition by buckets, over many schedules: entries are placed in their order, whichever warp
//! comes first.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sparse::reference;
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::buckets::{self, RECORD, ROUND, Split};
use gpu_std::launch::LaunchConfig;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Value, matrix};

fn schedules_of<T: Value>(seeds: std::ops::Range<u64>) {
    // Rows of many entries, of few, and of none; a column that every row has; columns that none has.
    let host = matrix::<T>(500, 700, 67, |row, random| {
        let count = if row % 50 == 7 { 90 } else { random.below(7) * (row % 4).min(1) };
        (0..count).map(|_| random.below(600)).chain((row % 5 > 0).then_some(3)).collect()
    });
    let entries = host.indices.len() as u32;
    let words = (size_of::<T>() / 4) as u32;
    let expected = reference::transpose(host.columns, &host.offsets, &host.indices, &host.values);
    for seed in seeds {
        let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
        let stream = device.default_stream();
        let shift = 8 + seed as u32 / 2 % 3;
        let split = Split {
            rows: host.rows as u32,
            columns: host.columns as u32,
            entries,
            tile: ROUND * (1 + seed as u32 % 2),
            shift,
            words,
            // As many as fit, or few, or none: some buckets have more.
            slots: [buckets::most_slots(shift), 600, 0][seed as usize % 3],
        };
        let a = host.on(&device);
        let view = a.view();
        let (offsets, indices) = (view.offsets(), view.indices());
        let count = (split.buckets() * split.tiles()) as usize + 1;
        let (mut counts, mut largest) =
            (device.alloc::<u32>(count).unwrap(), device.zeroed::<u32>(1).unwrap());
        let by_tile = LaunchConfig::linear(split.tiles(), THREADS);
        // SAFETY: the simulator checks every access.
        unsafe {
            let launch = by_tile.shared(split.count_bytes());
            stream.launch::<buckets::sparse_bucket_counts>(launch, (indices, &mut counts, split)).unwrap();
        }
        let counts = counts.to_vec().unwrap();
        assert_eq!((counts.iter().sum::<u32>(), counts[count - 1]), (entries, 0), "seed {seed}");
        let mut before = 0;
        let starts: Vec<u32> = counts.iter().map(|&count| (before, before += count).0).collect();
        let of_buckets: Vec<u32> =
            counts[..count - 1].chunks(split.tiles() as usize).map(|bucket| bucket.iter().sum()).collect();
        let starts = device.upload(&starts).unwrap();
        let mut records = device.alloc::<u32>((RECORD * entries) as usize).unwrap();
        let (mut ends, mut rows) =
            (device.alloc::<u32>(host.columns + 1).unwrap(), device.alloc::<u32>(entries as usize).unwrap());
        let mut values = device.alloc::<T>(entries as usize).unwrap();
        // SAFETY: as above.
        unsafe {
            let launch = by_tile.shared(split.to_bytes());
            let given = view.values().untyped();
            let arguments = (offsets, indices, given, &starts, &mut records, &mut largest, split);
            stream.launch::<buckets::sparse_to_buckets>(launch, arguments).unwrap();
            let launch = LaunchConfig::linear(split.buckets(), THREADS).shared(split.from_bytes());
            let arguments = (&records, &starts, &mut ends, &mut rows, values.view_mut().untyped(), split);
            stream.launch::<buckets::sparse_from_buckets>(launch, arguments).unwrap();
        }
        assert_eq!(largest.to_vec().unwrap()[0], of_buckets.into_iter().max().unwrap(), "seed {seed}");
        assert_eq!(ends.to_vec().unwrap(), expected.0, "seed {seed}");
        assert_eq!(rows.to_vec().unwrap(), expected.1, "seed {seed}");
        assert_same_bits(&values.to_vec().unwrap(), &expected.2, &format!("seed {seed}"));
    }
}

#[test]
fn three_hundred_schedules_of_f32() {
    println!("three_hundred_schedules_of_f32: seeds 0 to 299");
    schedules_of::<f32>(0..300);
}

#[test]
fn three_hundred_schedules_of_f64() {
    println!("three_hundred_schedules_of_f64: seeds 300 to 599");
    schedules_of::<f64>(300..600);
}
