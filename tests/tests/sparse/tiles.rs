//! The kernels of a transposition by tiles, over many schedules: entries are in their order, whichever thread comes
//! first.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sparse::reference;
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::tiles::{
    COUNT_BYTES, FOUND, GATHERERS, MOST_OF_ROW, MOST_OF_TILE, MOST_TILES, Tiles, sparse_count_tiles,
    sparse_from_tiles,
};
use gpu_std::launch::LaunchConfig;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, Value, matrix};

/// What the kernels say.
struct Said<T> {
    /// Pairs of tiles and buckets, of every other tile.
    pairs: u32,
    totals: Vec<u32>,
    is_even: bool,
    offsets: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<T>,
}

fn by_kernels<T: Value>(device: &Device, host: &Host<T>, (tile, slots): (u32, u32)) -> Said<T> {
    let (stream, len) = (device.default_stream(), host.indices.len());
    let tiles = Tiles {
        rows: host.rows as u32,
        columns: host.columns as u32,
        entries: len as u32,
        tile,
        slots,
        words: (size_of::<T>() / 4) as u32,
    };
    let a = host.on(device);
    let view = a.view();
    let (offsets, indices) = (view.offsets(), view.indices());
    let mut totals = device.zeroed::<u32>(tiles.buckets() as usize + 1).unwrap();
    let mut masks = device.zeroed::<u32>((tiles.buckets() * tiles.mask_words()) as usize).unwrap();
    let mut found = device.zeroed::<u32>(FOUND as usize).unwrap();
    for stride in [2, 1] {
        let launch = LaunchConfig::linear(tiles.tiles().div_ceil(stride), THREADS).shared(COUNT_BYTES);
        let arguments = (offsets, indices, &mut totals, &mut masks, &mut found, tiles, stride);
        // SAFETY: the simulator checks every access.
        unsafe { stream.launch::<sparse_count_tiles>(launch, arguments).unwrap() };
        if stride > 1 {
            assert!(
                totals.to_vec().unwrap().into_iter().chain(masks.to_vec().unwrap()).all(|word| word == 0)
            );
        }
    }
    let totals = totals.to_vec().unwrap();
    let mut before = 0;
    let starts: Vec<u32> = totals.iter().map(|&count| (before, before += count).0).collect();
    let starts = device.upload(&starts).unwrap();
    let (mut ends, mut rows) =
        (device.zeroed::<u32>(host.columns + 1).unwrap(), device.zeroed::<u32>(len).unwrap());
    let mut values = device.zeroed::<T>(len).unwrap();
    let launch = LaunchConfig::linear(tiles.buckets(), GATHERERS).shared(tiles.from_bytes());
    let (given, output) = (view.values().untyped(), values.view_mut().untyped());
    let arguments =
        (offsets, indices, given, &starts, &masks, &mut found, &mut ends, &mut rows, output, tiles);
    // SAFETY: as above.
    unsafe { stream.launch::<sparse_from_tiles>(launch, arguments).unwrap() };
    let found = found.to_vec().unwrap();
    Said {
        pairs: found[0],
        totals,
        is_even: found[1] == 0,
        offsets: ends.to_vec().unwrap(),
        rows: rows.to_vec().unwrap(),
        values: values.to_vec().unwrap(),
    }
}

fn schedules_of<T: Value>(seeds: std::ops::Range<u64>) {
    // Rows of many entries, of few, and of none; a column that half of the rows have; columns that none has.
    let host = matrix::<T>(420, 1400, 67, |row, random| {
        let count = if row % 50 == 7 { 90 } else { random.below(7) * (row % 4).min(1) };
        (0..count).map(|_| random.below(1300)).chain((row % 2 > 0).then_some(3)).collect()
    });
    let expected = reference::transpose(host.columns, &host.offsets, &host.indices, &host.values);
    for seed in seeds {
        let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
        // Several tiles of a word and of two, the last of them not whole; buckets of 2048 to 16 columns.
        let (tile, slots) = ([3, 5, 9][seed as usize % 3], 1 + seed as u32 / 3 % 8);
        let said = by_kernels(&device, &host, (tile, slots));
        let (bucket, mut pairs) = (1 << (12 - slots), std::collections::BTreeSet::new());
        let mut totals = vec![0; host.columns.div_ceil(bucket) + 1];
        for row in 0..host.rows {
            for entry in host.row(row) {
                let of_entry = host.indices[entry] as usize / bucket;
                totals[of_entry] += 1;
                if (row >> tile) % 2 == 0 {
                    pairs.insert((row >> tile, of_entry));
                }
            }
        }
        assert_eq!((said.pairs as usize, said.totals), (pairs.len(), totals), "seed {seed}");
        assert!(said.is_even, "seed {seed}");
        assert_eq!((said.offsets, said.rows), (expected.0.clone(), expected.1.clone()), "seed {seed}");
        assert_same_bits(&said.values, &expected.2, &format!("seed {seed}"));
    }
}

#[test]
fn schedules_of_f32() {
    println!("schedules_of_f32: seeds 0 to 47");
    schedules_of::<f32>(0..48);
}

#[test]
fn schedules_of_f64() {
    println!("schedules_of_f64: seeds 48 to 95");
    schedules_of::<f64>(48..96);
}

/// A row, a column, a tile, and a bucket's tiles of as many entries as there may be are transposed; one more is found.
#[test]
fn what_is_too_long_is_found() {
    let device = Device::simulator();
    let row =
        |len: usize| matrix::<f32>(3, 2000, 1, |row, _| if row == 1 { (0..len).collect() } else { vec![] });
    let column = |len: usize| matrix::<f32>(2000, 3, 1, |row, _| if row < len { vec![1] } else { vec![] });
    let is_even = |host: &Host<f32>, tile, slots| {
        let said = by_kernels(&device, host, (tile, slots));
        if said.is_even {
            let expected = reference::transpose(host.columns, &host.offsets, &host.indices, &host.values);
            assert_eq!((said.offsets, said.rows), (expected.0, expected.1));
            assert_same_bits(&said.values, &expected.2, "values");
        }
        said.is_even
    };
    let most = MOST_OF_ROW as usize;
    assert_eq!([most, most + 1].map(|len| is_even(&row(len), 5, 1)), [true, false]);
    for slots in [1, 8] {
        assert_eq!([256, 257].map(|len| is_even(&column(len), 7, slots)), [true, false]);
    }
    // Rows of 256, of which the first may have one more: 128 of them are half a tile's entries, 256 are as many.
    let tile = |more: usize| {
        matrix::<f32>(256, 257, 1, |row, _| (0..256 + if row == 0 { more } else { 0 }).collect())
    };
    assert_eq!(MOST_OF_TILE, 256 * 256);
    assert_eq!([0, 1].map(|more| is_even(&tile(more), 7, 8)), [true, true]);
    assert_eq!([0, 1].map(|more| is_even(&tile(more), 8, 8)), [true, false]);
    // Tiles of one row; columns of two entries.
    let most = MOST_TILES as usize;
    let tiles =
        |count: usize| matrix::<f32>(600, 600, 1, |row, _| if row < count { vec![row] } else { vec![] });
    assert_eq!([most, most + 1].map(|count| is_even(&tiles(count), 0, 1)), [true, false]);
}
