//! The kernels of a transposition by tiles, over many schedules: entries are in their order, whichever thread comes
//! first.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sparse::reference;
use gpu_sparse_kernels::tiles::{
    FOUND, GROUP, IS_FAR, IS_UNEVEN, LIST_BYTES, MOST_BUCKETS, MOST_OF_ROW, MOST_OF_TILE, MOST_TILES, PAIRS,
    Tiles, sparse_list_tiles,
};
use gpu_sparse_kernels::{THREADS, from_tiles};
use gpu_std::launch::LaunchConfig;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, Value, matrix};

/// What the kernels say.
struct Said<T> {
    /// Pairs of tiles and buckets, of every other group of tiles.
    pairs: u32,
    /// The tiles of each bucket, in order.
    lists: Vec<Vec<u32>>,
    is_far: bool,
    is_uneven: bool,
    offsets: Vec<u32>,
    rows: Vec<u32>,
    values: Vec<T>,
}

/// A sample may have as many pairs as `limit`.
fn by_kernels<T: Value>(device: &Device, host: &Host<T>, (tile, slots): (u32, u32), limit: u32) -> Said<T> {
    let (stream, len) = (device.default_stream(), host.indices.len());
    let tiles =
        Tiles { rows: host.rows as u32, columns: host.columns as u32, entries: len as u32, tile, slots };
    let a = host.on(device);
    let view = a.view();
    let (offsets, indices) = (view.offsets(), view.indices());
    let (buckets, most) = (tiles.buckets() as usize, tiles.list() as usize);
    let mut lists = device.zeroed::<u32>(buckets * most).unwrap();
    let mut found = device.zeroed::<u32>(FOUND as usize + buckets).unwrap();
    for stride in [2, 1] {
        let groups = tiles.tiles().div_ceil(GROUP);
        let launch = LaunchConfig::linear(groups.div_ceil(stride), THREADS).shared(LIST_BYTES);
        let arguments = (offsets, indices, &mut lists, &mut found, tiles, stride, limit);
        // SAFETY: the simulator checks every access.
        unsafe { stream.launch::<sparse_list_tiles>(launch, arguments).unwrap() };
        if stride > 1 {
            let listed = found.slice(FOUND as usize..).to_vec().unwrap();
            assert!(listed.into_iter().chain(lists.to_vec().unwrap()).all(|word| word == 0));
        }
    }
    let list = |bucket: usize, len: u32| {
        let mut list = lists.slice(bucket * most..).to_vec().unwrap();
        list.truncate(most.min(len as usize));
        list.sort_unstable();
        list
    };
    let lengths = found.slice(FOUND as usize..).to_vec().unwrap();
    let of_buckets = lengths.into_iter().enumerate().map(|(bucket, len)| list(bucket, len)).collect();
    let (mut ends, mut rows) =
        (device.zeroed::<u32>(host.columns + 1).unwrap(), device.zeroed::<u32>(len).unwrap());
    let mut values = device.zeroed::<T>(len).unwrap();
    let launch =
        LaunchConfig::linear(tiles.buckets(), from_tiles::THREADS).shared(from_tiles::bytes::<T>(&tiles));
    let mut words = device.zeroed::<u64>(tiles.words() as usize).unwrap();
    let arguments = (
        offsets,
        indices,
        view.values(),
        &lists,
        &mut found,
        &mut ends,
        &mut rows,
        &mut values,
        &mut words,
        tiles,
    );
    // SAFETY: as above.
    unsafe { stream.launch::<T::FromTiles>(launch, arguments).unwrap() };
    let found = found.to_vec().unwrap();
    Said {
        pairs: found[PAIRS as usize],
        lists: of_buckets,
        is_far: found[IS_FAR as usize] != 0,
        is_uneven: found[IS_UNEVEN as usize] != 0,
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
        // Several groups of tiles, one tile, a last one that is not whole; buckets of 1024 to 16 columns.
        let (tile, slots) = ([3, 5, 9][seed as usize % 3], 2 + seed as u32 / 3 % 7);
        let said = by_kernels(&device, &host, (tile, slots), u32::MAX);
        let bucket = 1 << (12 - slots);
        let mut lists = vec![std::collections::BTreeSet::new(); host.columns.div_ceil(bucket)];
        for row in 0..host.rows {
            for entry in host.row(row) {
                lists[host.indices[entry] as usize / bucket].insert(row as u32 >> tile);
            }
        }
        let lists: Vec<Vec<u32>> = lists.into_iter().map(|tiles| tiles.into_iter().collect()).collect();
        let pairs = lists.iter().flatten().filter(|tile| (**tile / GROUP).is_multiple_of(2)).count();
        assert_eq!((said.pairs as usize, said.lists), (pairs, lists), "seed {seed}");
        assert!(!said.is_far && !said.is_uneven, "seed {seed}");
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
    let found = |host: &Host<f32>, tile, slots| {
        let said = by_kernels(&device, host, (tile, slots), u32::MAX);
        let is_all = !said.is_far && !said.is_uneven;
        if is_all {
            let expected = reference::transpose(host.columns, &host.offsets, &host.indices, &host.values);
            assert_eq!((said.offsets, said.rows), (expected.0, expected.1));
            assert_same_bits(&said.values, &expected.2, "values");
        }
        assert!(!said.is_far || !said.is_uneven, "nothing is read then");
        if said.is_far {
            "far"
        } else if is_all {
            ""
        } else {
            "uneven"
        }
    };
    let most = MOST_OF_ROW as usize;
    assert_eq!([most, most + 1].map(|len| found(&row(len), 5, 2)), ["", "uneven"]);
    for slots in [2, 8] {
        assert_eq!([256, 257].map(|len| found(&column(len), 7, slots)), ["", "uneven"]);
    }
    // Rows of 256, of which the first may have one more: 128 of them are half a tile's entries, 256 are as many.
    let tile = |more: usize| {
        matrix::<f32>(256, 257, 1, |row, _| (0..256 + if row == 0 { more } else { 0 }).collect())
    };
    assert_eq!(MOST_OF_TILE, 256 * 256);
    assert_eq!([0, 1].map(|more| found(&tile(more), 7, 8)), [""; 2]);
    assert_eq!([0, 1].map(|more| found(&tile(more), 8, 8)), ["", "far"]);
    // Tiles of one row, all of whose entries are in one bucket.
    let most = MOST_TILES as usize;
    let tiles =
        |count: usize| matrix::<f32>(600, 600, 1, |row, _| if row < count { vec![row] } else { vec![] });
    assert_eq!([most, most + 1].map(|count| found(&tiles(count), 0, 2)), ["", "uneven"]);
    // Every fourth bucket, of 16 columns, is one row's of eight tiles: two of them meet at each place of a table.
    let most = MOST_BUCKETS as usize;
    let buckets = |count: usize| {
        matrix::<f32>(256, 64 * 129, 1, |row, _| (row..count).step_by(256).map(|at| 64 * at).collect())
    };
    assert_eq!([most, most + 1].map(|count| found(&buckets(count), 5, 8)), ["", "far"]);
}

/// A sample of as many pairs as there may be is followed by lists; of one more nothing is written behind it.
#[test]
fn what_is_far_is_not_read_again() {
    let device = Device::simulator();
    // Tiles of 32 rows: two groups, of whose first each tile has entries of five buckets of 256 columns.
    let host = matrix::<f32>(512, 1280, 3, |row, _| vec![256 * (row % 5)]);
    let [near, far] = [40, 39].map(|limit| by_kernels(&device, &host, (5, 4), limit));
    assert_eq!([near.pairs, far.pairs], [40; 2]);
    assert_eq!([near.is_far, far.is_far], [false, true]);
    assert!(near.lists.iter().all(|list| *list == (0..16).collect::<Vec<u32>>()));
    assert!(
        far.lists.iter().all(Vec::is_empty) && far.rows.iter().chain(&far.offsets).all(|word| *word == 0)
    );
    assert!(near.offsets.last() == Some(&512));
}
