//! The pass that finds runs under the simulator's schedules: several blocks in flight, started, interleaved and
//! finished in any order, relaxed loads that may be stale. Blocks of two warps make many tiles affordable.

use gpu_core::{Buffer, Device, Stream};
use gpu_scan_kernels::SECTION;
use gpu_sim::{Config, Record};
use gpu_sort_kernels::runs::{RUNS_HEADER, RunsShape, find_runs};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

/// Tiles of 256.
#[kernel(launch_bounds(64))]
pub fn small_runs(
    keys: Global<u64>,
    len: u64,
    runs: GlobalMut<u32>,
    offsets: GlobalMut<u32>,
    unique: GlobalMut<u64>,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    find_runs::<u64, 2, 2, 2>(keys, len, runs, offsets, unique, words, capacity);
}

const SHAPE: RunsShape = RunsShape { warps: 2, per_load: 2, rows: 2 };
const TILE: usize = SHAPE.tile() as usize;
/// What nothing is written to keeps.
const POISON: u32 = 0xdead_beef;

/// Keys in runs of 1 to `most`, but every 50th run has three tiles.
fn keys(seed: u64, len: usize, most: u32) -> Vec<u64> {
    let (mut keys, mut run) = (Vec::with_capacity(len), 0u64);
    let lengths = gpu_tests::data::floats(seed, len);
    while keys.len() < len {
        let length = match run % 50 {
            49 => 3 * TILE,
            _ => 1 + (lengths[run as usize].to_bits() >> 3) as usize % most as usize,
        };
        keys.extend(core::iter::repeat_n((run << 32) | (run % 2), length.min(len - keys.len())));
        run += 1;
    }
    keys
}

/// A simulator of seed `seed` with more blocks in flight the larger it is, all accesses watched.
fn simulator(seed: u64) -> Device {
    let resident_blocks = 2 + (seed % 7) as usize;
    Device::simulator_with(Config { resident_blocks, record: Record::Races, ..Config::with_seed(seed) })
}

/// Finds the runs with `blocks` blocks and compares all that is written, and what is not.
fn check(stream: &Stream, keys: &[u64], blocks: u32, words: &mut Buffer<u64>, context: &str) {
    let device = stream.device();
    let on_device = device.upload(keys).unwrap();
    let mut runs = device.upload(&[POISON; 2]).unwrap();
    let mut offsets = device.upload(&vec![POISON; RUNS_HEADER as usize + keys.len() + 1]).unwrap();
    let mut unique = device.upload(&vec![u64::from(POISON); keys.len()]).unwrap();
    let capacity = words.len() as u64;
    // SAFETY: the simulator checks every access.
    unsafe {
        small_runs::launch(
            stream,
            LaunchConfig::linear(blocks, SHAPE.threads()).shared(SHAPE.shared_bytes()),
            on_device.view().as_global(),
            keys.len() as u64,
            runs.view_mut().as_global_mut(),
            offsets.view_mut().as_global_mut(),
            unique.view_mut().as_global_mut(),
            words.view_mut().as_global_mut(),
            capacity,
        )
    }
    .unwrap();
    let starts: Vec<usize> = (0..keys.len()).filter(|&i| i == 0 || keys[i] != keys[i - 1]).collect();
    let count = starts.len();
    assert_eq!(runs.to_vec().unwrap(), [count as u32, POISON], "{context}");
    let mut expected = vec![POISON; RUNS_HEADER as usize + keys.len() + 1];
    expected[0] = count as u32;
    for (place, &start) in expected[RUNS_HEADER as usize..].iter_mut().zip(starts.iter().chain([&keys.len()]))
    {
        *place = start as u32;
    }
    assert_eq!(offsets.to_vec().unwrap(), expected, "{context}");
    let unique = unique.to_vec().unwrap();
    assert!(unique[..count].iter().zip(&starts).all(|(&key, &start)| key == keys[start]), "{context}");
    assert!(unique[count..].iter().all(|&key| key == u64::from(POISON)), "{context}");
}

fn scratch(device: &Device, len: usize) -> Buffer<u64> {
    device.zeroed(SHAPE.scratch_words(len as u64) as usize).unwrap()
}

#[test]
fn a_thousand_schedules_of_a_few_tiles() {
    let keys: Vec<Vec<u64>> = [1, 2, 30].into_iter().map(|most| keys(17, 9 * TILE + 77, most)).collect();
    println!("a_thousand_schedules_of_a_few_tiles: seeds 0 to 999");
    for seed in 0..1000 {
        let stream = simulator(seed).stream().unwrap();
        let keys = &keys[seed as usize % 3];
        let mut words = scratch(stream.device(), keys.len());
        check(&stream, keys, 1 + (seed % 10) as u32, &mut words, &format!("seed {seed}"));
    }
}

/// Several groups, and launches of other lengths with the same scratch memory.
#[test]
fn many_schedules_of_several_groups() {
    let keys = keys(19, 70 * TILE + 3, 9);
    println!("many_schedules_of_several_groups: seeds 1000 to 1099");
    for seed in 1000..1100 {
        let stream = simulator(seed).stream().unwrap();
        let mut words = scratch(stream.device(), keys.len());
        for (len, blocks) in [(keys.len(), 20), (40 * TILE, 7), (300, 2), (1, 1), (keys.len(), 60)] {
            check(&stream, &keys[..len], blocks, &mut words, &format!("seed {seed}, {len}"));
        }
    }
}

/// More than a section.
#[test]
fn schedules_of_two_sections() {
    let keys = keys(23, (SECTION as usize + 40) * TILE + 9, 40);
    println!("schedules_of_two_sections: seeds 2000 to 2001");
    for seed in 2000..2002 {
        let stream = simulator(seed).stream().unwrap();
        let mut words = scratch(stream.device(), keys.len());
        check(&stream, &keys, 20, &mut words, &format!("seed {seed}"));
    }
}

/// After 2^32 - 1 launches no mark is left: that launch clears all words, and what comes after starts anew.
#[test]
fn marks_begin_again_after_all_of_them() {
    let keys = keys(29, 20 * TILE, 5);
    for seed in 0..30 {
        let stream = simulator(seed).stream().unwrap();
        let mut words = scratch(stream.device(), keys.len());
        let last = u64::from(u32::MAX - 1);
        words.slice_mut(..1).copy_from(&[(last - 1) << 32]).unwrap();
        for (number, tiles) in [20, 12, 20, 3].into_iter().enumerate() {
            let context = format!("seed {seed}, launch {number}");
            check(&stream, &keys[..tiles * TILE], 3, &mut words, &context);
            let left = words.to_vec().unwrap();
            match number {
                0 => assert_eq!(left[..2], [last << 32, 0], "{context}"),
                1 => assert_eq!(left, vec![0; words.len()], "{context}"),
                _ => assert_eq!(left[..2], [(number as u64 - 1) << 32, 0], "{context}"),
            }
        }
    }
}
