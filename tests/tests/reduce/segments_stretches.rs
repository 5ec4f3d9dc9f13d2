//! Blocks that take several stretches of segments, one after the other: on a GPU of long arrays, here because so many
//! short ones begin that a stretch is full of them.

use gpu_core::Device;
use gpu_reduce::reference;
use gpu_reduce_kernels::{
    OFFSETS, Starts, Sum, THREADS, publishes, scratch_words, segments, segments_shared_bytes, tile, weight,
};
use gpu_sim::{Config, Record};
use gpu_std::kernel;
use gpu_std::launch::LaunchConfig;
use gpu_std::memory::{Global, GlobalMut};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;

/// The kernel of the library, whose share of the path a test may choose.
#[kernel(launch_bounds(256))]
pub fn shared_out(
    input: Global<f32>,
    len: u64,
    offsets: Global<u32>,
    count: u32,
    share: u64,
    scratch: GlobalMut<u64>,
    output: GlobalMut<f32>,
) {
    let starts = Starts { offsets, form: OFFSETS, length: 0, count };
    segments::<Sum<f32>, 4, 4>(input, len, starts, share, scratch, output);
}

/// Segments of these lengths in the shares of so many blocks.
fn check(seed: u64, blocks: u64, lengths: &[usize]) {
    check_from(seed, blocks, 0, lengths);
}

/// The same of segments behind `from` elements of none.
fn check_from(seed: u64, blocks: u64, from: u32, lengths: &[usize]) {
    let count = lengths.len();
    let mut offsets = vec![from];
    for &length in lengths {
        offsets.push(offsets.last().unwrap() + length as u32);
    }
    let len = *offsets.last().unwrap() as usize;
    let values = floats(31, len);
    let ends: Vec<usize> = offsets.iter().map(|&offset| offset as usize).collect();
    let mut expected = vec![0.0; count];
    reference::reduce_segments::<Sum<f32>, _>(&values[..], &ends, &mut expected).unwrap();
    let words = publishes::<Sum<f32>>();
    let path = len as u64 + count as u64 * u64::from(weight::<f32>());
    let device = Device::simulator_with(Config { record: Record::Races, ..Config::with_seed(seed) });
    let stream = device.stream().unwrap();
    let (input, starts) = (device.upload(&values).unwrap(), device.upload(&offsets).unwrap());
    let mut scratch = device.zeroed::<u64>(scratch_words::<f32>(words, len as u64) as usize).unwrap();
    let mut output = device.alloc::<f32>(count).unwrap();
    // SAFETY: the simulator checks every access.
    unsafe {
        shared_out::launch(
            &stream,
            LaunchConfig::linear(blocks as u32, THREADS).shared(segments_shared_bytes(words)),
            input.view().as_global(),
            len as u64,
            starts.view().as_global(),
            count as u32,
            path.div_ceil(blocks),
            scratch.view_mut().as_global_mut(),
            output.view_mut().as_global_mut(),
        )
    }
    .unwrap();
    let context = format!("seed {seed}, {blocks} blocks");
    assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
    assert!(scratch.to_vec().unwrap().iter().all(|&word| word == 0), "{context}");
}

#[test]
fn blocks_take_several_stretches() {
    println!("blocks_take_several_stretches: seeds 0 to 11");
    for seed in 0..12 {
        // Parts of long segments, among short and empty ones, bring barriers of their own, which hide others that are
        // missing.
        let long = if seed < 6 { 3 } else { 9000 };
        let length = |number: usize| match number % 1500 {
            700 => long,
            n if n % 3 == 0 => 0,
            n => n % 4,
        };
        check(seed, 1 + seed % 3, &(0..9500).map(length).collect::<Vec<_>>());
    }
}

/// Segments so long that no other begins in a stretch: the last one, and one between two others.
#[test]
fn stretches_in_which_no_segment_begins() {
    println!("stretches_in_which_no_segment_begins: seeds 20 to 23");
    for seed in [20, 22] {
        // A stretch of all others has 34 tiles at most.
        let stretch = 34 * tile::<f32>() as usize;
        check(seed, 1, &[3, 0, stretch + 1000]);
        check(seed + 1, 1, &[3, 2 * stretch + 1000, 0, 2, 2]);
    }
}

/// Blocks guess their first segment as if all were alike. Here empty ones are all on one side of a long one, or of
/// elements of none, and the guess is far off.
#[test]
fn first_segments_far_from_the_guess() {
    println!("first_segments_far_from_the_guess: seeds 40 to 42");
    let weight = weight::<f32>() as usize;
    // The second of two blocks begins at 898 · weight, right where segment 102 stands, or 898. The search looks at
    // every fourth, then at three, the last of which it is.
    let mut lengths = vec![0; 1000];
    lengths[0] = 796 * weight;
    check(40, 2, &lengths);
    lengths.rotate_left(1);
    check(41, 2, &lengths);
    // No segment stands before the second of four blocks.
    check_from(42, 4, 20_000, &[0; 1000]);
}

/// As many segments as a block reads offsets of at a time.
#[test]
fn a_round_of_offsets_that_is_just_full() {
    println!("a_round_of_offsets_that_is_just_full: seed 43");
    check(43, 1, &[1; 8 * THREADS as usize]);
}

/// Lanes that want nothing of some of their loads read nothing there: behind the last segment the array ends.
#[test]
fn segments_of_whole_loads_end_with_the_array() {
    println!("segments_of_whole_loads_end_with_the_array: seed 44");
    check(44, 1, &[8, 16, 4]);
}

/// All segments but one take as many loads, and that one an element more.
#[test]
fn a_segment_of_an_element_more_than_all_others() {
    println!("a_segment_of_an_element_more_than_all_others: seeds 45 to 46");
    check(45, 1, &[16, 17, 16]);
    check(46, 1, &[512, 512, 513]);
}
