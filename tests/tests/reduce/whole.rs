//! The sum: one body over all backends, against a serial oracle and against the CPU's bits.

use gpu_core::Device;
use gpu_reduce::{Scratch, reference, sum, sum_into};
use gpu_reduce_kernels::{MAX_BLOCKS, tile};
use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const T: usize = tile::<f32>() as usize;

/// The oracle: one addition after the other, exact because the values are small whole numbers.
fn naive(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

fn whole_numbers(len: usize) -> Vec<f32> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 29) as f32 - 3.0).collect()
}

#[test]
fn sums_around_every_boundary() {
    let sizes = [
        0,
        1,
        2,
        3,
        4,
        5,
        31,
        32,
        33,
        2047,
        2048,
        2049,
        T - 1,
        T,
        T + 1,
        2 * T - 1,
        2 * T,
        2 * T + 1,
        100_003,
        7 * T + 4,
    ];
    for_each("sums_around_every_boundary", |device| {
        for len in sizes {
            let values = whole_numbers(len);
            let input = device.upload(&values).unwrap();
            assert_eq!(sum(&input).unwrap(), naive(&values), "{len} elements on {}", device.name());
            assert_eq!(input.to_vec().unwrap(), values, "the input changed");
        }
    });
}

#[test]
fn same_bits_on_every_backend() {
    let seed = 0x5eed;
    println!("seed {seed:#x}, {} cases", cases());
    for_each("same_bits_on_every_backend", |device| {
        let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::from_seed(
                proptest::test_runner::RngAlgorithm::ChaCha,
                &[0x5e; 32],
            ),
        );
        // Mostly a few tiles; where a slice starts decides whether loads are 16 bytes wide, never the result.
        let lengths = prop_oneof![0..200usize, T - 70..T + 70, 0..6 * T];
        runner
            .run(&(lengths, 0..9usize, any::<u64>()), |(len, offset, seed)| {
                let values = floats(seed, offset + len);
                let input = device.upload(&values).unwrap();
                let actual = sum(input.slice(offset..)).unwrap();
                let context = format!("{len} elements from {offset} on {}", device.name());
                assert_same_bits(&[actual], &[reference::sum(&values[offset..])], &context);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn special_values_pass_through() {
    for_each("special_values_pass_through", |device| {
        let on_device = |values: &[f32]| sum(&device.upload(values).unwrap()).unwrap();
        assert_eq!(on_device(&[-0.0; 5]).to_bits(), (-0.0f32).to_bits());
        assert_eq!(on_device(&[]).to_bits(), 0.0f32.to_bits());
        assert!(on_device(&[1.0, f32::NAN, 2.0]).is_nan());
        assert_eq!(on_device(&[1.0, f32::INFINITY]), f32::INFINITY);
        assert!(on_device(&[f32::NEG_INFINITY, f32::INFINITY]).is_nan());
        assert_eq!(on_device(&[f32::MIN_POSITIVE / 4.0; 3]), 3.0 * (f32::MIN_POSITIVE / 4.0), "subnormals");
    });
}

/// Launches on a stream share scratch memory one after the other, and leave it as they found it.
#[test]
fn sums_on_a_stream_reuse_their_scratch() {
    for_each("sums_on_a_stream_reuse_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_scratch(5 * T)).unwrap().fixed();
        let mut output = device.zeroed::<f32>(4).unwrap();
        let values = floats(7, 5 * T);
        let input = device.upload(&values).unwrap();
        let lengths = [5 * T, 3, 4 * T + 1, 0];
        for (slot, len) in lengths.into_iter().enumerate() {
            let target = output.slice_mut(slot..slot + 1);
            sum_into(&stream, input.slice(..len), target, &mut scratch).unwrap();
        }
        stream.synchronize().unwrap();
        let expected = lengths.map(|len| reference::sum(&values[..len]));
        assert_same_bits(&output.to_vec().unwrap(), &expected, &device.name());
    });
}

/// The schedules that the simulator chooses never show in the result.
#[test]
fn every_schedule_gives_the_same_bits() {
    let values = floats(11, 6 * T + 17);
    let expected = reference::sum(&values);
    for seed in 0..200 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        let input = device.upload(&values).unwrap();
        assert_same_bits(&[sum(&input).unwrap()], &[expected], &format!("seed {seed}"));
    }
    println!("every_schedule_gives_the_same_bits: 200 seeds");
}

/// More blocks than there may be: each takes several tiles; and more than 2^32 bytes and elements.
#[test]
fn large_arrays_on_the_gpu() {
    let Some(device) = cuda("large_arrays_on_the_gpu") else { return };
    let most = MAX_BLOCKS as usize * T;
    for len in [most - 1, most, most + 1, 3 * most + 12_345, (1 << 30) + 3] {
        let values = floats(len as u64, len);
        let input = device.upload(&values).unwrap();
        assert_same_bits(&[sum(&input).unwrap()], &[reference::sum(&values)], &format!("{len} elements"));
    }
    // Beyond 2^32 elements: zeros but for some ones, so that the sum is known without 17 GB on the host.
    let len = (1usize << 32) + 2 * T + 5;
    let mut input = device.zeroed::<f32>(len).unwrap();
    let places = [0, 1, T, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + T, len - 1];
    for place in places {
        input.slice_mut(place..place + 1).copy_from(&[1.0]).unwrap();
    }
    assert_eq!(sum(&input).unwrap(), places.len() as f32, "{len} elements");
    assert_eq!(sum(input.slice(1 << 32..)).unwrap(), 3.0, "from 2^32 on");
}
