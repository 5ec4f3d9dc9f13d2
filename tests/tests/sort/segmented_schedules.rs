//! Sorts of segments under the simulator's schedules: several blocks in flight, started, interleaved and finished in
//! any order, relaxed loads that may be stale. Lists of classes are made in whatever order; results have one.

use gpu_core::Device;
use gpu_sim::{Config, Record};
use gpu_sort::{Offsets, Segments, segmented_sort, segmented_sort_indices, segmented_sort_pairs};
use gpu_sort_kernels::segmented::{CLASSIFY_THREADS, tile};

use crate::segmented::orders;
use crate::sort::{Sample, keys, options};

/// The keys of each segment in order, with indices, with values, or alone.
fn check<K: Sample + PartialEq>(seed: u64, lengths: &[u32], is_rows: bool) {
    let resident_blocks = 2 + (seed % 7) as usize;
    let config = Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) };
    let device = Device::simulator_with(config);
    let len: u32 = lengths.iter().sum();
    let keys = keys::<K>(seed, len as usize);
    let is_descending = seed.is_multiple_of(2);
    let orders = orders(&keys, lengths, is_descending);
    let mut start = 0;
    let mut places = Vec::new();
    for (order, length) in orders.iter().zip(lengths) {
        places.extend(order.iter().map(|index| start + index));
        start += length;
    }
    let expected: Vec<K> = places.iter().map(|&place| keys[place as usize]).collect();
    let offsets = Offsets::from_lengths(&device, lengths).unwrap();
    let segments = if is_rows {
        Segments::of_length(lengths[0] as usize).unwrap()
    } else {
        Segments::by_offsets(&offsets)
    };
    let on_device = device.upload(&keys).unwrap();
    let options = options(is_descending);
    let sorted = match seed % 3 {
        0 => segmented_sort(&on_device, segments, options).unwrap(),
        1 => {
            let (sorted, indices) = segmented_sort_indices(&on_device, segments, options).unwrap();
            assert_eq!(indices.to_vec().unwrap(), orders.concat(), "indices, seed {seed}");
            sorted
        }
        _ => {
            let values = device.upload(&(0..len).map(|i| !i).collect::<Vec<_>>()).unwrap();
            let (sorted, moved) = segmented_sort_pairs(&on_device, &values, segments, options).unwrap();
            let expected: Vec<u32> = places.iter().map(|&place| !place).collect();
            assert_eq!(moved.to_vec().unwrap(), expected, "values, seed {seed}");
            sorted
        }
    };
    assert!(sorted.to_vec().unwrap() == expected, "keys, seed {seed}");
}

/// Segments of all classes but the long one, in more blocks than one that classifies them.
#[test]
fn schedules_of_lists() {
    println!("schedules_of_lists: seeds 0 to 49");
    for seed in 0..50 {
        let count = 2 * CLASSIFY_THREADS as usize + seed as usize;
        let mut lengths: Vec<u32> = (0..count).map(|i| (i as u32 * 7 + seed as u32) % 5).collect();
        lengths[3..8].copy_from_slice(&[17, 40, 100, 9, 300]);
        check::<u32>(seed, &lengths, false);
    }
}

/// Long segments among short ones, and rows: merged in several passes.
#[test]
fn schedules_of_merges() {
    println!("schedules_of_merges: seeds 1000 to 1029");
    let tile = tile(16);
    for seed in 1000..1030u64 {
        if seed.is_multiple_of(5) {
            check::<u64>(seed, &[tile + 40; 3], true);
        } else {
            check::<i64>(seed, &[5, tile + 1, 0, 2 * tile + seed as u32, 33], false);
        }
    }
}
