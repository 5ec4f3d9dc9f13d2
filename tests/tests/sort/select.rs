//! Selections of items of every width: one body over all backends, against serial loops.

use gpu_tests::data::random;
use std::fmt::Debug;

use gpu_core::{Buffer, Device, Element, Kind};
use gpu_sort::{
    Error, RunsMut, Scratch, partition_flagged, partition_flagged_into, partition_if, run_length_encode,
    run_length_encode_into, select_flagged, select_flagged_into, select_if, select_if_into, unique,
    unique_into,
};
use gpu_sort_kernels::select::Shape;
use gpu_tests::backends::{cases, for_each, for_each_small};
use gpu_tests::threes::Threes;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Flags of which `of` in 256 are set, not all with the same value.
fn flags(seed: u64, len: usize, of: u64) -> Vec<u8> {
    let flag = |bits: u64| if bits % 256 < of { (bits >> 8) as u8 | 1 } else { 0 };
    (0..len).map(|i| flag(random(seed, i))).collect()
}

/// Items in runs of random lengths.
fn runs<T>(seed: u64, len: usize, item: impl Fn(u64) -> T) -> Vec<T> {
    let mut run = 0;
    (0..len)
        .map(|i| {
            run += u64::from(random(seed, i).is_multiple_of(3));
            item(random(seed + 1, run as usize))
        })
        .collect()
}

fn kept<T: Copy>(items: &[T], keep: impl Fn(usize) -> bool) -> Vec<T> {
    (0..items.len()).filter(|i| keep(*i)).map(|i| items[i]).collect()
}

/// All selections of `items[from..]`.
fn one<T: Element + Debug>(device: &Device, items: &[T], flags: &[u8], from: usize) {
    let context = format!("{} {} from {from} on {device}", items.len() - from, core::any::type_name::<T>());
    let (part, of_part) = (&items[from..], &flags[from..]);
    let (on_device, flags) = (device.upload(items).unwrap(), device.upload(flags).unwrap());
    let (input, flags) = (on_device.slice(from..), flags.slice(from..));
    let selected = kept(part, |i| of_part[i] != 0);
    let rejected = kept(part, |i| of_part[i] == 0);
    assert_eq!(select_flagged(input, flags).unwrap().to_vec().unwrap(), selected, "by flags, {context}");
    let (first, second) = partition_flagged(input, flags).unwrap();
    assert_eq!(first.to_vec().unwrap(), selected, "partition, {context}");
    assert_eq!(second.to_vec().unwrap(), rejected, "the others, {context}");
    let heads = kept(part, |i| i == 0 || part[i] != part[i - 1]);
    assert_eq!(unique(input).unwrap().to_vec().unwrap(), heads, "unique, {context}");
    let encoded = run_length_encode(input).unwrap();
    assert_eq!(encoded.values.to_vec().unwrap(), heads, "items of runs, {context}");
    let (starts, lengths) = (encoded.starts.to_vec().unwrap(), encoded.lengths.to_vec().unwrap());
    let mut decoded = Vec::new();
    for ((value, start), length) in heads.iter().zip(starts).zip(lengths) {
        assert_eq!(start, decoded.len() as u64, "starts of runs, {context}");
        decoded.extend(vec![*value; length as usize]);
    }
    assert_eq!(decoded, part, "runs decoded, {context}");

    // Into memory of one's own, in which nothing else is touched.
    let stream = device.default_stream();
    let len = part.len();
    let fill: Vec<T> = vec![T::default(); len + 2];
    let (mut first, mut second) = (device.upload(&fill).unwrap(), device.upload(&fill).unwrap());
    let mut count = device.upload(&[77u64]).unwrap();
    let mut scratch =
        Scratch::with_size(&stream, gpu_sort::select_scratch::<T>(len).unwrap()).unwrap().fixed();
    let (to_first, to_second) = (first.slice_mut(1..=len), second.slice_mut(1..=len));
    partition_flagged_into(&stream, input, flags, to_first, to_second, &mut count, &mut scratch).unwrap();
    assert_eq!(count.to_vec().unwrap(), [selected.len() as u64], "count, {context}");
    for (output, wanted) in [(&first, &selected), (&second, &rejected)] {
        let mut expected = fill.clone();
        expected[1..=wanted.len()].copy_from_slice(wanted);
        assert_eq!(output.to_vec().unwrap(), expected, "into a part, {context}");
    }
    unique_into(&stream, input, first.slice_mut(1..=len), &mut count, &mut scratch).unwrap();
    assert_eq!(count.to_vec().unwrap(), [heads.len() as u64], "unique, {context}");
    select_flagged_into(&stream, input, flags, first.slice_mut(1..=len), &mut count, &mut scratch).unwrap();
    assert_eq!(first.to_vec().unwrap()[1..=selected.len()], selected, "again, {context}");
}

fn sizes<T>() -> Vec<(usize, usize)> {
    let tile = Shape::new(size_of::<T>() as u32).tile() as usize;
    vec![
        (0, 0),
        (1, 0),
        (2, 1),
        (33, 0),
        (300, 3),
        (tile - 1, 0),
        (tile, 1),
        (tile + 1, 0),
        (3 * tile + 5, 1),
    ]
}

fn all<T: Element + Debug>(device: &Device, item: impl Fn(u64) -> T) {
    for (number, (len, from)) in sizes::<T>().into_iter().enumerate() {
        let (seed, of) = (number as u64, [128, 256, 0, 128, 3, 250, 128][number % 7]);
        one(device, &runs(seed, len + from, &item), &flags(seed, len + from, of), from);
    }
}

#[test]
fn items_of_all_widths() {
    for_each("items_of_all_widths", |device| {
        all(device, |bits| bits as u8);
        all(device, |bits| bits as i16);
        all(device, |bits| bits as u32);
        all(device, |bits| bits as i64);
        all(device, |bits| u128::from(bits) << 64 | u128::from(bits % 2));
    });
}

/// As bits: zeros of both signs are two, and every NaN is the same as itself.
#[test]
fn unique_floats_differ_in_bits() {
    for_each("unique_floats_differ_in_bits", |device| {
        let items = [0.0f32, -0.0, -0.0, 1.0, f32::NAN, f32::NAN, 1.0];
        let heads = unique(&device.upload(&items).unwrap()).unwrap().to_vec().unwrap();
        let bits: Vec<u32> = heads.into_iter().map(f32::to_bits).collect();
        assert_eq!(bits, [0.0, -0.0, 1.0, f32::NAN, 1.0].map(f32::to_bits));
    });
}

#[test]
fn any_lengths_and_flags() {
    println!("any_lengths_and_flags: ChaCha seed 5e × 32, {} cases a backend", cases() / 8);
    for_each("any_lengths_and_flags", |device| {
        let config = proptest::test_runner::Config {
            cases: cases() / 8,
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5e; 32]));
        runner
            .run(&(any::<u64>(), 0..9000usize, 0..9usize, 0..=256u64), |(seed, len, from, of)| {
                let flags = flags(seed, len + from, of);
                one(device, &runs(seed, len + from, |bits| bits as u16), &flags, from);
                Ok(())
            })
            .unwrap();
    });
}

/// More tiles than blocks, so that each takes several.
#[test]
fn more_tiles_than_blocks() {
    for_each_small("more_tiles_than_blocks", |device| {
        let blocks = device.blocks_for(gpu_sort_kernels::select::BLOCKS, u64::MAX) as usize;
        let len = 2 * blocks * Shape::new(16).tile() as usize + 1234;
        let items = runs(8, len, u128::from);
        let flags = flags(8, len, 100);
        let (on_device, of_items) = (device.upload(&items).unwrap(), device.upload(&flags).unwrap());
        let (first, second) = partition_flagged(&on_device, &of_items).unwrap();
        assert_eq!(first.to_vec().unwrap(), kept(&items, |i| flags[i] != 0), "{device}");
        assert_eq!(second.to_vec().unwrap(), kept(&items, |i| flags[i] == 0), "{device}");
        // Where runs start is a selection, and a block describes several lots of them.
        let runs = run_length_encode(&on_device).unwrap();
        let starts: Vec<usize> = (0..len).filter(|&i| i == 0 || items[i] != items[i - 1]).collect();
        let ends = starts[1..].iter().chain([&len]);
        let expected: Vec<u64> = starts.iter().zip(ends).map(|(start, end)| (end - start) as u64).collect();
        assert_eq!(
            runs.values.to_vec().unwrap(),
            kept(&items, |i| starts.binary_search(&i).is_ok()),
            "{device}"
        );
        assert_eq!(runs.lengths.to_vec().unwrap(), expected, "{device}");
    });
}

/// A predicate whose kernel has no PTX: on a GPU that is an error, and elsewhere it selects.
#[test]
fn by_a_predicate() {
    for_each("by_a_predicate", |device| {
        let items: Vec<u64> = (0..5000).map(|i| random(3, i)).collect();
        let on_device = device.upload(&items).unwrap();
        let selected = match select_if::<Threes>(&on_device) {
            Err(Error::NoKernelImage { .. }) if device.kind() == Kind::Cuda => {
                return;
            }
            other => other.unwrap(),
        };
        let expected = kept(&items, |i| items[i].is_multiple_of(3));
        assert_eq!(selected.to_vec().unwrap(), expected, "{device}");
        let (first, second) = partition_if::<Threes>(&on_device).unwrap();
        assert_eq!(first.to_vec().unwrap(), expected, "{device}");
        assert_eq!(second.to_vec().unwrap(), kept(&items, |i| !items[i].is_multiple_of(3)), "{device}");
        let stream = device.default_stream();
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::select_scratch::<u64>(5000).unwrap()).unwrap().fixed();
        let (mut output, mut count) = (device.zeroed(5000).unwrap(), device.zeroed(1).unwrap());
        select_if_into::<Threes>(&stream, &on_device, &mut output, &mut count, &mut scratch).unwrap();
        assert_eq!(count.to_vec().unwrap(), [expected.len() as u64], "{device}");
    });
}

#[test]
fn a_selection_checks_its_memory() {
    for_each("a_selection_checks_its_memory", |device| {
        let stream = device.stream().unwrap();
        let (items, flags) = (device.upload(&[1u32, 2, 3]).unwrap(), device.upload(&[1u8, 1, 1]).unwrap());
        let (mut selected, mut count) = (device.upload(&[9u32; 3]).unwrap(), device.upload(&[9u64]).unwrap());
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::select_scratch::<u32>(3).unwrap()).unwrap().fixed();
        let error = select_flagged(&items, flags.slice(..2)).unwrap_err();
        assert!(matches!(error, Error::InputLengths { first: 3, second: 2, .. }), "{error}");
        let short = selected.slice_mut(..2);
        let error =
            select_flagged_into(&stream, &items, &flags, short, &mut count, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::OutputLength { expected: 3, actual: 2, .. }), "{error}");
        let mut foreign =
            Scratch::with_size(&device.stream().unwrap(), gpu_sort::select_scratch::<u32>(3).unwrap())
                .unwrap()
                .fixed();
        let error = unique_into(&stream, &items, &mut selected, &mut count, &mut foreign).unwrap_err();
        assert!(matches!(error, Error::ScratchOfOtherStream { .. }), "{error}");
        // One tile needs no more than none does.
        let mut small =
            Scratch::with_size(&stream, gpu_sort::select_scratch::<u32>(3).unwrap()).unwrap().fixed();
        assert_eq!(small.bytes(), 256);
        let (many, mut room) = (device.zeroed::<u32>(60_000).unwrap(), device.zeroed::<u32>(60_000).unwrap());
        let error = unique_into(&stream, &many, &mut room, &mut count, &mut small).unwrap_err();
        assert!(matches!(error, Error::ScratchTooSmall { expected: 512, actual: 256, .. }), "{error}");
        assert_eq!((selected.to_vec().unwrap(), count.to_vec().unwrap()), (vec![9; 3], vec![9]));
    });
}

#[test]
fn an_encoding_checks_its_memory() {
    for_each("an_encoding_checks_its_memory", |device| {
        let stream = device.stream().unwrap();
        let items = device.upload(&[5i16, 5, 7]).unwrap();
        let mut values = device.upload(&[9i16; 3]).unwrap();
        let mut numbers: Vec<Buffer<u64>> = (0..3).map(|_| device.upload(&[9u64; 3]).unwrap()).collect();
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::select_scratch::<i16>(3).unwrap()).unwrap().fixed();
        let mut encode = |shortened: usize, scratch: &mut Scratch| {
            let [starts, lengths, count] = &mut numbers[..] else { unreachable!("three were made") };
            let runs = RunsMut {
                values: values.slice_mut(..3 - usize::from(shortened == 0)),
                starts: starts.slice_mut(..3 - usize::from(shortened == 1)),
                lengths: lengths.slice_mut(..3 - usize::from(shortened == 2)),
                count: count.slice_mut(..1 + usize::from(shortened == 3)),
            };
            run_length_encode_into(&stream, &items, runs, scratch)
        };
        for (output, (wanted, given)) in [(3, 2), (3, 2), (3, 2), (1, 2)].into_iter().enumerate() {
            let error = encode(output, &mut scratch).unwrap_err();
            assert!(
                matches!(error, Error::OutputLength { expected, actual, .. } if (expected, actual) == (wanted, given)),
                "output {output}: {error}"
            );
        }
        let mut foreign =
            Scratch::with_size(&device.stream().unwrap(), gpu_sort::select_scratch::<i16>(3).unwrap())
                .unwrap()
                .fixed();
        assert!(matches!(encode(4, &mut foreign), Err(Error::ScratchOfOtherStream { .. })));
        assert_eq!(values.to_vec().unwrap(), [9; 3], "something was written");
        assert!(numbers.iter().all(|numbers| numbers.to_vec().unwrap() == [9; 3]), "something was written");
        // What lies behind the runs stays.
        let mut encode_all = |scratch: &mut Scratch| {
            let [starts, lengths, count] = &mut numbers[..] else { unreachable!("three were made") };
            let runs = RunsMut {
                values: values.view_mut(),
                starts: starts.view_mut(),
                lengths: lengths.view_mut(),
                count: count.slice_mut(..1),
            };
            run_length_encode_into(&stream, &items, runs, scratch).unwrap();
        };
        encode_all(&mut scratch);
        stream.synchronize().unwrap();
        assert_eq!(values.to_vec().unwrap(), [5, 7, 9]);
        let numbers: Vec<Vec<u64>> = numbers.iter().map(|numbers| numbers.to_vec().unwrap()).collect();
        assert_eq!(numbers, [[0, 2, 9], [2, 1, 9], [2, 9, 9]]);
    });
}
