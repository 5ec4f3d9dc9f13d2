//! Sorts of segments: one body over all backends, against a stable serial sort of each segment that compares in the type's own
//! terms.

use gpu_core::{Device, Element};
use gpu_sort::{
    Offsets, Scratch, Segments, bf16, f16, segmented_sort, segmented_sort_in_place, segmented_sort_indices,
    segmented_sort_into, segmented_sort_pairs, segmented_sort_pairs_in_place,
    segmented_sort_pairs_in_place_scratch,
};
use gpu_sort_kernels::segmented::tile;
use gpu_tests::backends::{cases, for_each};
use gpu_tests::data::random;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::sort::{Sample, bytes, keys, options, order};

/// The indices of each segment in order, one segment behind the other.
pub fn orders<K: Sample>(keys: &[K], lengths: &[u32], descending: bool) -> Vec<Vec<u32>> {
    let mut start = 0;
    let of = |&length: &u32| {
        let end = start + length as usize;
        let order = order(&keys[start..end], descending);
        start = end;
        order
    };
    lengths.iter().map(of).collect()
}

/// What lies at these places of each segment.
fn gathered<T: Copy>(values: &[T], lengths: &[u32], orders: &[Vec<u32>]) -> Vec<T> {
    let mut start = 0;
    let mut all = Vec::new();
    for (order, length) in orders.iter().zip(lengths) {
        all.extend(order.iter().map(|&index| values[start + index as usize]));
        start += *length as usize;
    }
    all
}

/// Segments of these lengths: keys alone, in place, with indices, with values.
fn one<K: Sample, V: Element>(device: &Device, keys: &[K], lengths: &[u32], rows: bool, descending: bool) {
    let context = format!(
        "{} {} in {} segments of {:?}…, rows: {rows}, descending: {descending}, on {device}",
        keys.len(),
        core::any::type_name::<(K, V)>(),
        lengths.len(),
        &lengths[..lengths.len().min(8)]
    );
    let orders = orders(keys, lengths, descending);
    let expected = gathered(keys, lengths, &orders);
    let on_device = device.upload(keys).unwrap();
    let offsets = Offsets::from_lengths(device, lengths).unwrap();
    let segments =
        if rows { Segments::of_length(lengths[0] as usize).unwrap() } else { Segments::by_offsets(&offsets) };
    let sorted = segmented_sort(&on_device, segments, options(descending)).unwrap().to_vec().unwrap();
    assert!(bytes(&sorted) == bytes(&expected), "{context}: keys");
    let (sorted, indices) = segmented_sort_indices(&on_device, segments, options(descending)).unwrap();
    assert!(bytes(&sorted.to_vec().unwrap()) == bytes(&expected), "{context}: keys with indices");
    assert_eq!(indices.to_vec().unwrap(), orders.concat(), "{context}: indices");
    let values: Vec<V> = (0..keys.len() * size_of::<V>())
        .map(|i| random(9, i) as u8)
        .collect::<Vec<u8>>()
        .chunks(size_of::<V>())
        .map(bytemuck::pod_read_unaligned)
        .collect();
    let values_on_device = device.upload(&values).unwrap();
    let (sorted, moved) =
        segmented_sort_pairs(&on_device, &values_on_device, segments, options(descending)).unwrap();
    assert!(bytes(&sorted.to_vec().unwrap()) == bytes(&expected), "{context}: keys with values");
    let of_values = gathered(&values, lengths, &orders);
    assert!(bytes(&moved.to_vec().unwrap()) == bytes(&of_values), "{context}: values");
    assert!(bytes(&on_device.to_vec().unwrap()) == bytes(keys), "{context}: the input");
    let stream = device.stream().unwrap();
    let mut scratch =
        Scratch::with_size(&stream, gpu_sort::segmented_sort_scratch::<K>(keys.len(), segments).unwrap())
            .unwrap()
            .fixed();
    let mut here = on_device;
    segmented_sort_in_place(&stream, &mut here, segments, options(descending), &mut scratch).unwrap();
    assert!(bytes(&here.to_vec().unwrap()) == bytes(&expected), "{context}: in place");
    let size = segmented_sort_pairs_in_place_scratch::<K, V>(keys.len(), segments).unwrap();
    let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
    let (mut here, mut moved) = (device.upload(keys).unwrap(), values_on_device);
    let options = options(descending);
    segmented_sort_pairs_in_place(&stream, &mut here, &mut moved, segments, options, &mut scratch).unwrap();
    assert!(bytes(&here.to_vec().unwrap()) == bytes(&expected), "{context}: keys in place");
    assert!(bytes(&moved.to_vec().unwrap()) == bytes(&of_values), "{context}: values in place");
}

fn lengths_of(kind: u64, most: usize, count: usize) -> Vec<u32> {
    (0..count)
        .map(|i| (random(kind, i) % (1 << (random(kind + 1, i) % (u64::from(most.ilog2()) + 1)))) as u32)
        .collect()
}

fn total(lengths: &[u32]) -> usize {
    lengths.iter().map(|&length| length as usize).sum()
}

macro_rules! all_of {
    ($($test:ident: $t:ty, $v:ty;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                // Empty, single, around the widths of slots; all kinds of keys in both directions.
                let of_slots = [0, 1, 2, 7, 8, 9, 15, 16, 17, 0, 31, 32, 33, 63, 64, 65, 300, 1];
                for kind in 0..6 {
                    let keys = keys::<$t>(kind, total(&of_slots));
                    one::<$t, $v>(device, &keys, &of_slots, false, kind % 2 == 0);
                }
                one::<$t, $v>(device, &keys::<$t>(1, 3 * 100), &[100; 3], true, false);
                one::<$t, $v>(device, &keys::<$t>(0, 0), &[0], false, false);
                one::<$t, $v>(device, &keys::<$t>(0, 5), &[5], true, true);
            });
        }
    )* };
}
all_of! {
    segments_of_u8: u8, u8;
    segments_of_i8: i8, u16;
    segments_of_u16: u16, u32;
    segments_of_i16: i16, u64;
    segments_of_f16: f16, u128;
    segments_of_bf16: bf16, u8;
    segments_of_u32: u32, u16;
    segments_of_i32: i32, i32;
    segments_of_f32: f32, f64;
    segments_of_u64: u64, u32;
    segments_of_i64: i64, i64;
    segments_of_f64: f64, u128;
}

/// As long as what a warp and a block sort at once, and longer: what is merged.
#[test]
fn segments_around_tiles() {
    fn of<K: Sample>(device: &Device, composite: u32) {
        let tile = tile(composite);
        for lengths in [
            vec![tile / 8, tile / 8 + 1, tile / 2 + 1, tile - 1, tile, 0, 3],
            vec![tile + 1, 5, 2 * tile, 3 * tile + 7, tile / 4],
        ] {
            let keys = keys::<K>(u64::from(composite), total(&lengths));
            one::<K, u16>(device, &keys, &lengths, false, composite == 8);
        }
        let row = 2 * tile + 3;
        one::<K, u16>(device, &keys::<K>(1, 2 * row as usize), &[row; 2], true, true);
    }
    for_each("segments_around_tiles", |device| {
        of::<f32>(device, 8);
        of::<i64>(device, 16);
    });
}

#[test]
fn long_segments_of_keys_alone() {
    for_each("long_segments_of_keys_alone", |device| {
        let tile = tile(4);
        for kind in [0, 2, 4] {
            let lengths = [3, tile + 1, 5 * tile + 100, 7];
            let keys = keys::<i32>(kind, total(&lengths));
            let offsets = Offsets::from_lengths(device, &lengths).unwrap();
            let segments = Segments::by_offsets(&offsets);
            let sorted =
                segmented_sort(&device.upload(&keys).unwrap(), segments, options(kind == 2)).unwrap();
            let expected = gathered(&keys, &lengths, &orders(&keys, &lengths, kind == 2));
            assert!(sorted.to_vec().unwrap() == expected, "{kind} on {device}");
        }
    });
}

/// Keys of 16 bits with indices of 16 are sorted as words of 32, in segments of more than 2^16 as words of 64.
#[test]
fn indices_beside_short_keys() {
    for_each("indices_beside_short_keys", |device| {
        for (kind, longest) in [(0, 1 << 16), (2, (1 << 16) + 1)] {
            let lengths = [5, longest, 3];
            one::<u16, u8>(device, &keys(kind, total(&lengths)), &lengths, false, kind == 2);
        }
        one::<i8, u32>(device, &keys(3, 70_000), &[70_000], true, true);
    });
}

/// Any keys, any lengths.
#[test]
fn any_segments() {
    println!("any_segments: ChaCha seed 5f × 32, {} cases a backend", cases() / 8);
    for_each("any_segments", |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5f; 32]));
        let input = (any::<u64>(), 1..60usize, 1..700usize, any::<bool>(), any::<bool>(), 0..4u32);
        runner
            .run(&input, |(kind, count, most, rows, descending, which)| {
                let lengths =
                    if rows { vec![most as u32; count.min(9)] } else { lengths_of(kind, most, count) };
                let len = total(&lengths);
                match which {
                    0 => one::<f32, u32>(device, &keys(kind, len), &lengths, rows, descending),
                    1 => one::<i64, u64>(device, &keys(kind, len), &lengths, rows, descending),
                    2 => one::<u16, u8>(device, &keys(kind, len), &lengths, rows, descending),
                    _ => one::<i8, u16>(device, &keys(kind, len), &lengths, rows, descending),
                }
                Ok(())
            })
            .unwrap();
    });
}

/// Sorts on a stream share scratch memory one after the other.
#[test]
fn sorts_of_segments_reuse_their_scratch() {
    for_each("sorts_of_segments_reuse_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let of = |lengths: &[u32]| Offsets::from_lengths(device, lengths).unwrap();
        let (many, few) = ([40; 50], [900, 1100]);
        let (many_offsets, few_offsets) = (of(&many), of(&few));
        let mut scratch = Scratch::with_size(
            &stream,
            gpu_sort::segmented_sort_scratch::<u32>(2000, Segments::by_offsets(&many_offsets)).unwrap(),
        )
        .unwrap()
        .fixed();
        let keys = keys::<u32>(0, 2000);
        let on_device = device.upload(&keys).unwrap();
        let mut output = device.zeroed(2000).unwrap();
        for (lengths, offsets) in
            [(&many[..], &many_offsets), (&few[..], &few_offsets), (&many[..], &many_offsets)]
        {
            let segments = Segments::by_offsets(offsets);
            segmented_sort_into(&stream, &on_device, segments, options(false), &mut output, &mut scratch)
                .unwrap();
            let expected = gathered(&keys, lengths, &orders(&keys, lengths, false));
            assert_eq!(output.to_vec().unwrap(), expected, "on {device}");
        }
    });
}

/// What flags and keys tell, sorts and reductions take as offsets; scans take all three.
#[test]
fn offsets_of_flags_and_of_keys() {
    for_each("offsets_of_flags_and_of_keys", |device| {
        for lengths in [vec![], vec![1], vec![5, 1, 1, 300, 4097, 2]] {
            let len: usize = lengths.iter().sum();
            let mut keys = Vec::new();
            let mut flags = vec![0u8; len];
            for (number, length) in lengths.iter().enumerate() {
                flags[keys.len()] = number as u8;
                keys.extend(vec![number as u16 % 2; *length]);
            }
            let values: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 20).collect();
            let mut sorted = values.clone();
            let (mut sums, mut begin) = (Vec::new(), 0);
            for length in &lengths {
                sorted[begin..begin + length].sort_unstable();
                sums.push(values[begin..begin + length].iter().sum::<u32>());
                begin += length;
            }
            let input = device.upload(&values).unwrap();
            let (flags, keys) = (device.upload(&flags).unwrap(), device.upload(&keys).unwrap());
            let of_flags = gpu_sort::offsets_of_flags(&flags).unwrap();
            for offsets in [of_flags, gpu_sort::offsets_of_keys(&keys).unwrap()] {
                assert_eq!((offsets.count(), offsets.first(), offsets.end()), (lengths.len(), 0, len));
                assert_eq!(offsets.device(), device);
                let ours = segmented_sort(&input, &offsets, options(false)).unwrap();
                assert_eq!(ours.to_vec().unwrap(), sorted, "{lengths:?} on {device}");
                let ours = gpu_reduce::sum_segments(&input, &offsets).unwrap();
                assert_eq!(ours.to_vec().unwrap(), sums, "{lengths:?} on {device}");
                let inclusive = gpu_scan::Options::inclusive();
                let scan = |segments: gpu_scan::Segments<'_>| {
                    gpu_scan::scan_segments::<gpu_scan::kernels::Sum<u32>>(&input, segments, inclusive)
                        .unwrap()
                };
                let expected = scan(Segments::by_flags(&flags)).to_vec().unwrap();
                assert_eq!(scan((&offsets).into()).to_vec().unwrap(), expected, "{lengths:?} on {device}");
                assert_eq!(
                    scan(Segments::by_key(&keys)).to_vec().unwrap(),
                    expected,
                    "{lengths:?} on {device}"
                );
            }
        }
    });
}
