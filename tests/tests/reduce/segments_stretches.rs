//! Blocks that take several stretches of segments, one after the other: on a GPU of long arrays, here because so many
//! short ones begin that a stretch is full of them.

use gpu_core::Device;
use gpu_reduce::reference;
use gpu_reduce_kernels::{
    OFFSETS, Starts, Sum, THREADS, publishes, scratch_words, segments, segments_shared_bytes, weight,
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

/// The shares of so many blocks. At times long segments, which are cut into parts, are among the short and empty ones.
fn check(seed: u64, blocks: u64, long: usize) {
    let lengths = |number: usize| match number % 1500 {
        700 => long,
        n if n % 3 == 0 => 0,
        n => n % 4,
    };
    let count = 9500;
    let mut offsets = vec![0u32];
    for number in 0..count {
        offsets.push(offsets[number] + lengths(number) as u32);
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
        // Parts of long segments bring barriers of their own, which hide others that are missing.
        check(seed, 1 + seed % 3, if seed < 6 { 3 } else { 9000 });
    }
}
