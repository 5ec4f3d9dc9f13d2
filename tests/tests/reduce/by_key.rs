//! Reductions by key: each run of equal keys has its key and the bits of its reduction alone, on every backend.

use core::fmt::Debug;

use crate::support::reduce::{Sample, bits_of};
use gpu_core::{Device, View};
use gpu_reduce::kernels::*;
use gpu_reduce::{
    Columns, Error, Operand, RunKey, Scratch, Segmented, reduce_by_key, reduce_by_key_into, reference,
};
use gpu_sort_kernels::runs::{self, RunsShape};
use gpu_tests::backends::{cases, cuda, for_each, for_each_small};
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const T: usize = tile::<f32>() as usize;

/// The oracle: the runs, one key after the other.
fn runs_of<K: PartialEq + Copy>(keys: &[K]) -> Vec<(K, core::ops::Range<usize>)> {
    let mut runs: Vec<(K, core::ops::Range<usize>)> = Vec::new();
    for (index, &key) in keys.iter().enumerate() {
        match runs.last_mut() {
            Some((last, range)) if *last == key => range.end = index + 1,
            _ => runs.push((key, index..index + 1)),
        }
    }
    runs
}

/// Keys and values from element `from` of their buffers on.
fn check<R, K, E>(device: &Device, from: usize, keys: &[K], values: &[E], context: &str)
where
    K: RunKey + Debug,
    E: Sample + for<'a> Operand<Views<'a> = View<'a, E>>,
    R: Segmented<Item = E>,
    for<'a> &'a [E]: Columns<Item = E>,
{
    let name = core::any::type_name::<K>();
    let context = format!("{} of {context}, {} keys {name} from {from} on, on {device}", R::NAME, keys.len());
    let (on_device, of_device) = (device.upload(keys).unwrap(), device.upload(values).unwrap());
    let actual = reduce_by_key::<R, K>(on_device.slice(from..), of_device.slice(from..));
    let (unique, results) = actual.unwrap_or_else(|error| panic!("{context}: {error}"));
    let (unique, results) = (unique.to_vec().unwrap(), results.to_vec().unwrap());
    let (keys_of, values_of) = (&keys[from..], &values[from..]);
    let runs = runs_of(keys_of);
    assert_eq!(unique, runs.iter().map(|(key, _)| *key).collect::<Vec<_>>(), "{context}");
    let outputs = R::OUTPUTS as usize;
    let mut expected = vec![R::Output::default(); runs.len() * outputs];
    for ((_, range), output) in runs.iter().zip(expected.chunks_exact_mut(outputs)) {
        reference::reduce::<R, _>(&values_of[range.clone()], output).unwrap();
    }
    assert_eq!(bits_of(&results), bits_of(&expected), "{context}");
    assert_eq!(on_device.to_vec().unwrap(), keys, "{context}: the keys changed");
    assert_eq!(bits_of(&of_device.to_vec().unwrap()), bits_of(values), "{context}: the values changed");
}

/// Keys in runs of these lengths, in turn, `len` in all. Neighbouring runs differ in one bit, a low or a high one.
fn keys_in_runs(len: usize, lengths: &[usize]) -> Vec<u64> {
    let (mut keys, mut key, mut turn) = (Vec::with_capacity(len), 0u64, 0);
    while keys.len() < len {
        let length = lengths[turn % lengths.len()].min(len - keys.len());
        keys.extend(core::iter::repeat_n(key, length));
        key ^= if turn % 3 == 0 { 1 } else { 0x8000_0000_8080_8080 };
        turn += 1;
    }
    keys
}

/// Patterns of runs: of one, all equal, around loads and warps' rows, long ones across tiles.
const PATTERNS: [&[usize]; 6] =
    [&[1], &[usize::MAX], &[1, 2, 3, 16, 17], &[128, 1, 511], &[T - 1, 1, T, T + 1], &[3 * T + 5, 2]];

#[test]
fn runs_of_every_length_and_keys_of_every_width() {
    for_each("runs_of_every_length_and_keys_of_every_width", |device| {
        for (number, lengths) in PATTERNS.into_iter().enumerate() {
            for (place, len) in [1, 2, 5, 257, T - 1, T, T + 1, 4 * T + 3, 9 * T + 1].into_iter().enumerate()
            {
                let (values, keys) = (floats(len as u64, len), keys_in_runs(len, lengths));
                let from = (number % 2).min(len - 1);
                let context = format!("runs {number}");
                // Two of the widths each: every one meets every pattern, and half of the lengths with it.
                if (number + place) % 2 == 0 {
                    check::<Sum<f32>, u64, f32>(device, from, &keys, &values, &context);
                    let keys: Vec<u16> = keys.into_iter().map(|key| key as u16).collect();
                    check::<Sum<f32>, u16, f32>(device, from, &keys, &values, &context);
                } else {
                    let keys: Vec<u32> = keys.into_iter().map(|key| key as u32).collect();
                    check::<Sum<f32>, u32, f32>(device, from, &keys, &values, &context);
                    let keys: Vec<u8> = keys.into_iter().map(|key| key as u8).collect();
                    check::<Sum<f32>, u8, f32>(device, from, &keys, &values, &context);
                }
            }
        }
    });
}

/// More than one tile of bytes, and signed keys.
#[test]
fn tiles_of_bytes_and_signed_keys() {
    for_each("tiles_of_bytes_and_signed_keys", |device| {
        let len = 9 * T + 77;
        let (values, keys) = (floats(3, len), keys_in_runs(len, &[700, 1, 1, 40]));
        let signed: Vec<i64> = keys.iter().map(|&key| key as i64).collect();
        check::<Max<f32>, i64, f32>(device, 1, &signed, &values, "signed");
        let signed: Vec<i32> = keys.iter().map(|&key| key as i32).collect();
        check::<Max<f32>, i32, f32>(device, 0, &signed, &values, "signed");
        let signed: Vec<i16> = keys.iter().map(|&key| key as i16).collect();
        check::<Max<f32>, i16, f32>(device, 3, &signed, &values, "signed");
        let signed: Vec<i8> = keys.iter().map(|&key| key as i8).collect();
        check::<Max<f32>, i8, f32>(device, 5, &signed, &values, "signed");
    });
}

#[test]
fn other_reductions_and_types() {
    for_each("other_reductions_and_types", |device| {
        let len = 2 * T + 9;
        let keys = keys_in_runs(len, &[1, 300, 7, 4, 2000]);
        check::<MinMax<i32>, u64, i32>(device, 1, &keys, &i32::any_bits(2, len), "others");
        check::<ArgMax<f64>, u64, f64>(device, 0, &keys, &f64::any_bits(3, len), "others");
        check::<WideSum<u8>, u64, u8>(device, 3, &keys, &u8::any_bits(4, len), "others");
        check::<Sum<i64>, u64, i64>(device, 0, &keys, &i64::any_bits(5, len), "others");
        check::<Product<f32>, u64, f32>(device, 1, &keys, &f32::any_bits(6, len), "others");
        check::<NormL2<f64>, u64, f64>(device, 0, &keys, &f64::any_bits(8, len), "others");
        check::<NormMax<i16>, u64, i16>(device, 2, &keys, &i16::any_bits(9, len), "others");
        check::<Count<u16>, u64, u16>(device, 1, &keys, &u16::any_bits(10, len), "others");
        check::<Xor<i8>, u64, i8>(device, 7, &keys, &i8::any_bits(12, len), "others");
        // Sums of whole numbers, by an oracle that shares nothing with the reference.
        let values = f64::whole_numbers(len);
        let (on_device, of_device) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
        let (_, sums) = reduce_by_key::<Sum<f64>, u64>(&on_device, of_device.view()).unwrap();
        let serial = runs_of(&keys).into_iter().map(|(_, range)| values[range].iter().sum::<f64>());
        assert_eq!(sums.to_vec().unwrap(), serial.collect::<Vec<_>>(), "{device}");
    });
}

#[test]
fn no_keys_have_no_runs() {
    for_each("no_keys_have_no_runs", |device| {
        let (keys, values) = (device.upload::<u32>(&[]).unwrap(), device.upload::<f32>(&[]).unwrap());
        let (unique, sums) = reduce_by_key::<Sum<f32>, u32>(&keys, values.view()).unwrap();
        assert!(unique.is_empty() && sums.is_empty());
        let (unique, maxima) = reduce_by_key::<Max<f32>, u32>(&keys, values.view()).unwrap();
        assert!(unique.is_empty() && maxima.is_empty());
    });
}

/// One scratch memory for several launches, one after the other; what lies beyond the last run stays.
#[test]
fn into_memory_of_ones_own() {
    for_each("into_memory_of_ones_own", |device| {
        let stream = device.stream().unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_by_key_scratch::<Sum<f32>, u64>(5 * T))
                .unwrap()
                .fixed();
        for (len, lengths) in [(5 * T, &[1][..]), (5 * T, &[2 * T + 3]), (0, &[1]), (3, &[2]), (4 * T, &[9])]
        {
            let (keys, values) = (keys_in_runs(len, lengths), floats(9, len));
            let (on_device, of_device) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
            let mut unique = device.upload(&vec![77u64; len]).unwrap();
            let mut results = device.upload(&vec![-77.0f32; len]).unwrap();
            let mut runs = device.upload(&[77u64]).unwrap();
            reduce_by_key_into::<Sum<f32>, u64>(
                &stream,
                &on_device,
                of_device.view(),
                &mut unique,
                &mut results,
                &mut runs,
                &mut scratch,
            )
            .unwrap();
            stream.synchronize().unwrap();
            let (expected, sums) = reference::reduce_by_key::<Sum<f32>, u64, _>(&keys, &values[..]).unwrap();
            let count = expected.len();
            assert_eq!(runs.to_vec().unwrap(), [count as u64], "{device}");
            let (unique, results) = (unique.to_vec().unwrap(), results.to_vec().unwrap());
            assert_eq!(unique[..count], expected, "{device}");
            assert_eq!(bits_of(&results[..count]), bits_of(&sums), "{device}");
            assert!(
                unique[count..].iter().all(|&key| key == 77) && results[count..].iter().all(|&r| r == -77.0)
            );
        }
    });
}

/// How much a call needs is arithmetic, and what is asked for is there or is an error, whatever the length.
#[test]
fn scratch_memory_for_any_length_takes_no_time() {
    for_each("scratch_memory_for_any_length_takes_no_time", |device| {
        let started = std::time::Instant::now();
        let stream = device.stream().unwrap();
        for len in [0, u32::MAX as usize, 1 << 40, usize::MAX] {
            let size = gpu_reduce::reduce_by_key_scratch::<Sum<f32>, u64>(len);
            match Scratch::with_size(&stream, size) {
                Ok(scratch) => assert!(scratch.bytes() >= size.bytes() && len <= 1 << 40),
                Err(Error::OutOfMemory { asked, .. }) => assert!(asked >= size.bytes() as u64 && len > 0),
                Err(other) => panic!("{other:?} of {len} on {device}"),
            }
        }
        assert!(started.elapsed().as_secs() < 5, "{:?} on {device}", started.elapsed());
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.stream().unwrap();
        let (keys, values) = (device.upload(&[1u8; 10]).unwrap(), device.upload(&[1.0f32; 10]).unwrap());
        let error = reduce_by_key::<Sum<f32>, u8>(&keys, values.slice(1..)).unwrap_err();
        assert!(matches!(error, Error::InputLengths { first: 10, second: 9, .. }), "{error}");

        let mut scratch = Scratch::with_size(&stream, gpu_reduce::reduce_by_key_scratch::<Sum<f32>, u8>(10))
            .unwrap()
            .fixed();
        let mut unique = device.upload(&[77u8; 10]).unwrap();
        let mut results = device.upload(&[-77.0f32; 10]).unwrap();
        let mut runs = device.upload(&[77u64; 2]).unwrap();
        let mut into = |unique_len: usize, results_len: usize, runs_len: usize, scratch: &mut Scratch| {
            let unique = unique.slice_mut(..unique_len);
            let (results, runs) = (results.slice_mut(..results_len), runs.slice_mut(..runs_len));
            reduce_by_key_into::<Sum<f32>, u8>(&stream, &keys, values.view(), unique, results, runs, scratch)
                .unwrap_err()
        };
        for (lengths, expected, actual) in [((9, 10, 1), 10, 9), ((10, 8, 1), 10, 8), ((10, 10, 2), 1, 2)] {
            let error = into(lengths.0, lengths.1, lengths.2, &mut scratch);
            assert!(
                matches!(error, Error::OutputLength { expected: e, actual: a, .. } if e == expected && a == actual),
                "{error}"
            );
        }
        let error = into(10, 10, 1, &mut Scratch::new(&stream).fixed());
        assert!(
            matches!(error, Error::ScratchTooSmall { expected, actual: 0, .. } if expected == scratch.bytes()),
            "{error}"
        );
        let mut foreign = Scratch::new(&device.stream().unwrap());
        let error = into(10, 10, 1, &mut foreign);
        assert!(matches!(error, Error::ScratchOfOtherStream { what: "sum" }), "{error}");
        assert_eq!(unique.to_vec().unwrap(), [77; 10]);
        assert_eq!(results.to_vec().unwrap(), [-77.0; 10]);
        assert_eq!(runs.to_vec().unwrap(), [77; 2]);
    });
}

#[test]
fn any_runs_from_anywhere() {
    println!("seed 0x6b, {} cases", cases());
    for_each("any_runs_from_anywhere", |device| {
        let config = Config { cases: cases().div_ceil(4), failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x6b; 32]));
        let length = prop_oneof![Just(1usize), 1..5usize, 1..300usize, T - 3..T + 3];
        runner
            .run(
                &(proptest::collection::vec(length, 1..20), 0..5usize, 0..2 * T + 1, any::<u64>()),
                |(lengths, from, len, seed)| {
                    let len = from + len;
                    let (keys, values) = (keys_in_runs(len, &lengths), floats(seed, len));
                    check::<Sum<f32>, u64, f32>(device, from, &keys, &values, "any runs");
                    let keys: Vec<u8> = keys.into_iter().map(|key| key as u8).collect();
                    check::<Sum<f32>, u8, f32>(device, from, &keys, &values, "any runs");
                    Ok(())
                },
            )
            .unwrap();
    });
}

/// The schedules that the simulator chooses never show in the result.
#[test]
fn every_schedule_gives_the_same_bits() {
    let len = 6 * T + 17;
    let (values, keys) = (floats(11, len), keys_in_runs(len, &[1, 5, 3 * T, 40, T]));
    for seed in 0..40 {
        let device = Device::simulator_with(gpu_sim::Config { seed, ..Default::default() });
        check::<Sum<f32>, u64, f32>(&device, 0, &keys, &values, &format!("seed {seed}"));
    }
    println!("every_schedule_gives_the_same_bits: 40 seeds");
}

/// More tiles of keys than blocks that look for runs: each takes several.
#[test]
fn each_block_looks_at_several_tiles() {
    for_each_small("each_block_looks_at_several_tiles", |device| {
        let blocks = device.blocks_for(runs::BLOCKS, u64::MAX) as usize;
        let len = 2 * blocks * RunsShape::of::<u64>().tile() as usize + 99;
        let (values, keys) = (floats(12, len), keys_in_runs(len, &[1, 700, 3, 5000]));
        check::<Sum<f32>, u64, f32>(device, 0, &keys, &values, "several tiles");
    });
}

/// More blocks than there may be: each takes several tiles.
#[test]
fn large_arrays_on_the_gpu() {
    let Some(device) = cuda("large_arrays_on_the_gpu") else { return };
    let len = 3 * MAX_BLOCKS as usize * T + 12_345;
    for lengths in [&[1][..], &[1, 2, 30, 1000, 100_000], &[usize::MAX]] {
        let keys: Vec<u32> = keys_in_runs(len, lengths).into_iter().map(|key| key as u32).collect();
        let values = floats(5, len);
        let (on_device, of_device) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
        let actual = reduce_by_key::<Sum<f32>, u32>(&on_device, of_device.view()).unwrap();
        let expected = reference::reduce_by_key::<Sum<f32>, u32, _>(&keys, &values[..]).unwrap();
        let actual = (actual.0.to_vec().unwrap(), actual.1.to_vec().unwrap());
        assert!(actual == expected, "{} runs", expected.0.len());
    }
}
