//! The first keys: one body over all backends, against a stable serial sort that compares in the type's own terms.

use gpu_core::{Device, Element};
use gpu_sort::{
    Offsets, Scratch, Segments, TopK, bf16, f16, top_k, top_k_into, top_k_pairs, top_k_rows, top_k_rows_into,
    top_k_segments,
};
use gpu_sort_kernels::top_k::{Loaded, Tile, digits_room};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::data::random;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::segmented::orders;
use crate::sort::{Sample, bytes, keys};

fn options(largest: bool) -> TopK {
    if largest { TopK::largest() } else { TopK::smallest() }
}

/// The first `k` of each segment: keys with indices, and with values.
fn one<K: Sample, V: Element>(
    device: &Device,
    keys: &[K],
    lengths: &[u32],
    rows: bool,
    k: usize,
    largest: bool,
) {
    let context = format!(
        "{k} of {} {} in {} segments of {:?}…, rows: {rows}, largest: {largest}, on {device}",
        keys.len(),
        core::any::type_name::<(K, V)>(),
        lengths.len(),
        &lengths[..lengths.len().min(8)]
    );
    let mut orders = orders(keys, lengths, largest);
    orders.iter_mut().for_each(|order| order.truncate(k));
    let starts = lengths.iter().scan(0, |start, &length| {
        *start += length as usize;
        Some(*start - length as usize)
    });
    let places: Vec<usize> = starts
        .zip(&orders)
        .flat_map(|(start, order)| order.iter().map(move |&index| start + index as usize))
        .collect();
    let expected: Vec<K> = places.iter().map(|&place| keys[place]).collect();
    let on_device = device.upload(keys).unwrap();
    let offsets = Offsets::from_lengths(device, lengths).unwrap();
    let segments =
        if rows { Segments::of_length(lengths[0] as usize).unwrap() } else { Segments::by_offsets(&offsets) };
    let (first, indices) = top_k_segments(&on_device, segments, k, options(largest)).unwrap();
    assert!(bytes(&first.to_vec().unwrap()) == bytes(&expected), "{context}: keys");
    assert_eq!(indices.to_vec().unwrap(), orders.concat(), "{context}: indices");
    let values: Vec<V> = (0..keys.len() * size_of::<V>())
        .map(|i| random(9, i) as u8)
        .collect::<Vec<u8>>()
        .chunks(size_of::<V>())
        .map(bytemuck::pod_read_unaligned)
        .collect();
    let of_keys = device.upload(&values).unwrap();
    let (first, moved) = top_k_pairs(&on_device, &of_keys, segments, k, options(largest)).unwrap();
    assert!(bytes(&first.to_vec().unwrap()) == bytes(&expected), "{context}: keys with values");
    let expected: Vec<V> = places.iter().map(|&place| values[place]).collect();
    assert!(bytes(&moved.to_vec().unwrap()) == bytes(&expected), "{context}: values");
}

macro_rules! all_of {
    ($($test:ident: $t:ty, $v:ty;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                for kind in 0..6 {
                    let large = kind % 2 == 0;
                    // Rows that are sorted, that a block selects from, and of more than a tile; of all kinds of keys.
                    one::<$t, $v>(device, &keys::<$t>(kind, 60), &[20; 3], true, 1 + kind as usize, large);
                    one::<$t, $v>(device, &keys::<$t>(kind, 2 * 1500), &[1500; 2], true, 33, large);
                    one::<$t, $v>(device, &keys::<$t>(kind, 2500), &[2500], true, 600, large);
                    one::<$t, $v>(device, &keys::<$t>(kind, 5000), &[5000], true, 1, large);
                }
                one::<$t, $v>(device, &keys::<$t>(1, 1100 + 4097), &[1100, 4097], false, 128, true);
                one::<$t, $v>(device, &keys::<$t>(5, 3), &[3], true, 3, true);
            });
        }
    )* };
}
all_of! {
    first_of_u8: u8, u8;
    first_of_i8: i8, u16;
    first_of_u16: u16, u32;
    first_of_i16: i16, u64;
    first_of_f16: f16, u128;
    first_of_bf16: bf16, u8;
    first_of_u32: u32, u16;
    first_of_i32: i32, i32;
    first_of_f32: f32, f64;
    first_of_u64: u64, u32;
    first_of_i64: i64, i64;
    first_of_f64: f64, u128;
}

/// All ways to select: `k` from 1 to all keys, tiles and one more or less, all kinds of keys.
#[test]
fn any_k_of_tiles() {
    for_each("any_k_of_tiles", |device| {
        for (number, len) in [2048usize, 4096, 4097, 9000].into_iter().enumerate() {
            for (other, k) in
                [1, 31, 127, 128, 129, 500, 1023, 1024, 1025, len - 1, len].into_iter().enumerate()
            {
                let kind = (number + other) as u64 % 6;
                one::<f32, u32>(device, &keys(kind, len), &[len as u32], true, k, kind % 2 == 1);
            }
        }
        for (number, k) in [64, 200, 512].into_iter().enumerate() {
            one::<i64, u8>(device, &keys(number as u64, 2 * 5000), &[5000; 2], true, k, number == 1);
        }
    });
}

/// Rows about as long as each tile that a block reads at once, of 32 bits and of others, with as many selected as there
/// are threads in it, and one more or less; of all kinds of keys.
#[test]
fn rows_of_all_tiles() {
    for_each("rows_of_all_tiles", |device| {
        let mut number = 0;
        for (tile, most, threads) in Tile::ALL.into_iter().flat_map(|tile| {
            [<u32 as Loaded>::ITEMS, <u64 as Loaded>::ITEMS].map(|most| (tile, most, tile.threads()))
        }) {
            let holds = tile.items(most) * threads;
            for row in [holds - 1, holds, holds + 1] {
                for k in [threads / 2, threads / 2 + 1, threads, threads + 1] {
                    let (kind, largest) = (number % 6, number % 4 > 1);
                    number += 1;
                    if most == <u32 as Loaded>::ITEMS {
                        one::<f32, u16>(device, &keys(kind, 2 * row), &[row as u32; 2], true, k, largest);
                    } else if number % 2 == 0 {
                        one::<u64, u8>(device, &keys(kind, 2 * row), &[row as u32; 2], true, k, largest);
                    } else {
                        one::<i8, u32>(device, &keys(kind, 2 * row), &[row as u32; 2], true, k, largest);
                    }
                }
            }
        }
    });
}

/// Rows that are so long that they are cut into parts.
#[test]
fn rows_of_parts() {
    for_each("rows_of_parts", |device| {
        for kind in [0, 2, 3, 4] {
            one::<f32, u16>(device, &keys(kind, 2 * 40_000), &[40_000; 2], true, 50, kind != 2);
        }
        one::<u8, u64>(device, &keys(1, 16_385 + 60_000), &[16_385, 60_000], false, 100, true);
        for kind in [1, 2, 3] {
            one::<f32, u16>(device, &keys(kind, 2 * 40_000), &[40_000; 2], true, 300, kind != 2);
        }
        one::<u8, u64>(device, &keys(1, 4500 + 60_000), &[4500, 60_000], false, 4096, true);
        one::<i64, u8>(device, &keys(0, 40_000), &[40_000], true, 2048, false);
        one::<f64, u64>(device, &keys(5, 50_000), &[50_000], true, 7, true);
    });
}

/// One array that is filtered by what a sample says, in any order, of few different keys, or all the same.
#[test]
fn long_arrays_are_filtered() {
    let largest = |kind| kind != 3;
    let arrays = [0, 1, 2, 3, 4, 5].map(|kind| {
        let keys = keys::<f32>(kind, (1 << 20) + 77);
        let order = crate::sort::order(&keys, largest(kind));
        (kind, keys, order)
    });
    for_each("long_arrays_are_filtered", |device| {
        for (kind, keys, order) in &arrays {
            let (kind, largest) = (*kind, largest(*kind));
            let on_device = device.upload(keys).unwrap();
            for k in [1, if kind % 2 == 0 { 300 } else { 1024 }] {
                let (first, indices) = top_k(&on_device, k, options(largest)).unwrap();
                assert_eq!(indices.to_vec().unwrap(), order[..k], "{k} of kind {kind} on {device}");
                let expected: Vec<f32> = order[..k].iter().map(|&index| keys[index as usize]).collect();
                assert!(
                    bytes(&first.to_vec().unwrap()) == bytes(&expected),
                    "{k} of kind {kind} on {device}"
                );
            }
        }
    });
}

/// Any keys, any lengths, any `k`.
#[test]
fn any_selection() {
    println!("any_selection: ChaCha seed 60 × 32, {} cases a backend", cases() / 8);
    for_each("any_selection", |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x60; 32]));
        let input =
            (any::<u64>(), 1..8usize, 1..3000usize, any::<u64>(), any::<bool>(), any::<bool>(), 0..4u32);
        runner
            .run(&input, |(kind, count, most, k, rows, largest, which)| {
                let length = |i| if rows { most } else { most / 2 + random(kind, i) as usize % most };
                let lengths: Vec<u32> = (0..count).map(|i| length(i).max(1) as u32).collect();
                let k = 1 + k as usize % *lengths.iter().min().unwrap() as usize;
                let len = lengths.iter().map(|&length| length as usize).sum();
                match which {
                    0 => one::<f32, u32>(device, &keys(kind, len), &lengths, rows, k, largest),
                    1 => one::<i64, u64>(device, &keys(kind, len), &lengths, rows, k, largest),
                    2 => one::<u16, u8>(device, &keys(kind, len), &lengths, rows, k, largest),
                    _ => one::<i8, u16>(device, &keys(kind, len), &lengths, rows, k, largest),
                }
                Ok(())
            })
            .unwrap();
    });
}

/// Selections on a stream share scratch memory one after the other.
#[test]
fn selections_reuse_their_scratch() {
    for_each("selections_reuse_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::top_k_scratch::<i32>(40_000, 20).unwrap()).unwrap().fixed();
        for kind in 0..4 {
            let keys = keys::<i32>(kind, 40_000);
            let on_device = device.upload(&keys).unwrap();
            let (mut first, mut indices) = (device.zeroed(20).unwrap(), device.zeroed(20).unwrap());
            top_k_into(&stream, &on_device, 20, TopK::smallest(), &mut first, &mut indices, &mut scratch)
                .unwrap();
            assert_eq!(
                indices.to_vec().unwrap(),
                crate::sort::order(&keys, false)[..20],
                "{kind} on {device}"
            );
        }
        let rows = top_k_rows(&device.upload(&[4u8, 5, 6, 1, 2, 3]).unwrap(), 3, 1, TopK::largest()).unwrap();
        assert_eq!(rows.0.to_vec().unwrap(), [6, 3]);
        // A matrix of rows.
        let keys = keys::<i32>(1, 40_000);
        let on_device = device.upload(&keys).unwrap();
        let (mut first, mut indices) = (device.zeroed(200).unwrap(), device.zeroed(200).unwrap());
        let size =
            gpu_sort::top_k_segments_scratch::<i32>(40_000, Segments::of_length(2000).unwrap(), 10).unwrap();
        let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
        let largest = TopK::largest();
        top_k_rows_into(&stream, &on_device, 2000, 10, largest, &mut first, &mut indices, &mut scratch)
            .unwrap();
        let rows: Vec<u32> =
            keys.chunks(2000).flat_map(|row| crate::sort::order(row, true)[..10].to_vec()).collect();
        assert_eq!(indices.to_vec().unwrap(), rows, "on {device}");
    });
}

/// As many as a block holds candidates, of which none too many may be taken: the last that are found would be lost.
#[test]
fn as_many_first_keys_as_there_is_room_for() {
    for_each("as many first keys as there is room for", |device| {
        let (len, room) = (9000, digits_room(8) as usize);
        let keys: Vec<u32> = (0..len).map(|at| 3 * (len - at)).collect();
        one::<u32, u32>(device, &keys, &[len], true, room, false);
        let keys: Vec<u32> = (0..len).map(|at| 3 * at).collect();
        one::<u32, u32>(device, &keys, &[len], true, room, true);
        // And all of a row that is just as long.
        let room = digits_room(16) as usize;
        let keys: Vec<u64> = (0..room).map(|at| 3 * (room - at) as u64).collect();
        one::<u64, u8>(device, &keys, &[room as u32], true, room, false);
    });
}

/// What is behind a row is no key, though it were the least that there can be: of four warps three have a key each that
/// is less than all of the fourth, where the row ends.
#[test]
fn behind_a_row_there_is_no_least_key() {
    for_each("behind a row there is no least key", |device| {
        let (len, warps) = (1500, 4);
        let warp_of = |at: usize| at / 32 % warps;
        let ends_in = warp_of(len);
        let mut keys = vec![250u8; len];
        for warp in 0..warps {
            if warp == ends_in {
                (0..len).filter(|&at| warp_of(at) == warp).for_each(|at| keys[at] = 200);
            } else {
                keys[32 * warp + 5] = 10;
            }
        }
        one::<u8, u16>(device, &keys, &[len as u32], true, warps, false);
        let keys: Vec<u16> = keys.into_iter().map(u16::from).collect();
        one::<u16, u8>(device, &keys, &[len as u32], true, warps, false);
    });
}
