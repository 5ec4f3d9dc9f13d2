//! Scans of segments under the simulator's schedules: several blocks in flight, started, interleaved and finished in
//! any order.

use crate::support::scan::{MODES, Sample, assert_same};
use crate::support::segments::{serial, starts_of};
use gpu_collective::grid::GROUP;
use gpu_core::Device;
use gpu_scan::kernels::{Shape, Sum};
use gpu_scan_kernels::segmented::{Starts, segments, shared_bytes};
use gpu_sim::{Config, Record};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};

/// Tiles of 256, by two warps.
#[kernel(launch_bounds(64))]
pub fn small_segments(
    input: Global<u32>,
    output: GlobalMut<u32>,
    len: u64,
    kind: u32,
    starts: Global<u8>,
    count: u64,
    mode: u32,
    words: GlobalMut<u64>,
    capacity: u64,
) {
    let starts = Starts { kind, array: starts, count };
    segments::<Sum<u32>, 4, 4, 4, 1, 2>(input, output, len, starts, 3, mode, words, capacity);
}

const SMALL: Shape = Shape { warps: 2, vector: 4, rows: 1, words: 2, input_words: 4 };

fn check(seed: u64, len: usize, blocks: u32) {
    check_starts(seed, &starts_of(seed, len, 1 + seed % 300), blocks);
}

fn check_starts(seed: u64, starts: &[bool], blocks: u32) {
    let len = starts.len();
    let config =
        Config { resident_blocks: 2 + (seed % 7) as usize, record: Record::Races, ..Config::with_seed(seed) };
    let device = Device::simulator_with(config);
    let stream = device.stream().unwrap();
    let values = u32::any_bits(seed, len);
    let mode = MODES[(seed % 4) as usize];
    let expected = serial(&values, starts, mode, 3, u32::sum_of);
    let mut offsets: Vec<u32> = (0..len as u32).filter(|at| starts[*at as usize]).collect();
    offsets.push(len as u32);
    let (input, offsets) = (device.upload(&values).unwrap(), device.upload(&offsets).unwrap());
    let flags: Vec<u8> = starts.iter().map(|start| u8::from(*start)).collect();
    let flags = device.upload(&flags).unwrap();
    let (kind, array, count) = if seed.is_multiple_of(3) {
        (gpu_scan_kernels::segmented::BY_FLAGS, flags.view().as_global(), 0)
    } else {
        (gpu_scan_kernels::segmented::BY_OFFSETS, offsets.view().as_global().cast(), offsets.len() as u64)
    };
    let tiles = SMALL.tiles(len as u64);
    let mut words = device.zeroed::<u64>(2 + SMALL.scratch_words(tiles) as usize).unwrap();
    let mut output = device.zeroed::<u32>(len).unwrap();
    let capacity = words.len() as u64;
    // Now and then twice, with the same scratch memory.
    for _ in 0..1 + u32::from(seed % 16 == 7) {
        // SAFETY: the simulator checks every access.
        unsafe {
            small_segments::launch(
                &stream,
                LaunchConfig::linear(blocks.min(tiles as u32), SMALL.threads()).shared(shared_bytes(SMALL)),
                input.view().as_global(),
                output.view_mut().as_global_mut(),
                len as u64,
                kind,
                array,
                count,
                u32::from(mode.0) + 2 * u32::from(mode.1),
                words.view_mut().as_global_mut(),
                capacity,
            )
        }
        .unwrap();
        assert_same(&output.to_vec().unwrap(), &expected, || format!("seed {seed}, {mode:?}"));
    }
}

/// A block for each tile, or blocks that take several.
#[test]
fn a_thousand_schedules_of_a_few_tiles() {
    println!("a_thousand_schedules_of_a_few_tiles: seeds 0 to 999");
    (0..1000).for_each(|seed| check(seed, 6 * 256 + 77, if seed / 4 % 2 == 0 { 7 } else { 3 }));
}

/// More tiles than a group has, and more than a section.
#[test]
fn schedules_of_many_tiles() {
    println!("schedules_of_many_tiles: seeds 1000 to 1019 and 2000");
    (1000..1016).for_each(|seed| check(seed, 70 * 256 + 1, if seed / 4 % 2 == 0 { 71 } else { 5 }));
    // Groups that are all full: their words are as many as there is room for.
    (1016..1020).for_each(|seed| check(seed, 2 * GROUP as usize * 256, 5));
    check(2000, 1030 * 256 + 1, 7);
}

/// Segments that start in the first tile of a group and go on through others, from either side.
#[test]
fn schedules_of_segments_from_the_first_tile_of_a_group() {
    println!("schedules_of_segments_from_the_first_tile_of_a_group: seeds 3000 to 3023");
    const TILES: usize = 70;
    let first = GROUP as usize;
    // Backwards the element before it starts a segment.
    let from = [256 * first + 5, 256 * (TILES - 1 - first) + 5];
    let starts: Vec<bool> = (0..256 * TILES).map(|at| from.contains(&at)).collect();
    (3000..3024).for_each(|seed| check_starts(seed, &starts, if seed / 4 % 2 == 0 { 70 } else { 5 }));
}

/// The last word of a block's shared memory is used: a word less is too little.
#[test]
fn no_shared_memory_is_left_over() {
    let device = Device::simulator();
    let stream = device.default_stream();
    // Not a whole tile, so that its last row goes through the last words.
    let values = device.upload(&[1u32; 255]).unwrap();
    let mut words = device.zeroed::<u64>(2 + SMALL.scratch_words(1) as usize).unwrap();
    let capacity = words.len() as u64;
    for less in [0, 4] {
        let mut output = device.zeroed::<u32>(255).unwrap();
        // SAFETY: the simulator checks every access.
        let launched = unsafe {
            small_segments::launch(
                &stream,
                LaunchConfig::linear(1, SMALL.threads()).shared(shared_bytes(SMALL) - less),
                values.view().as_global(),
                output.view_mut().as_global_mut(),
                255,
                gpu_scan_kernels::segmented::OF_LENGTH,
                values.view().as_global().cast(),
                1,
                0,
                words.view_mut().as_global_mut(),
                capacity,
            )
        };
        assert_eq!(launched.is_ok(), less == 0, "{launched:?}");
    }
}
