//! The sort of every type of keys, with every width of values: one body over all backends, against a stable serial sort
//! that compares in the type's own terms.

use gpu_tests::data::random;
use std::cmp::Ordering;
use std::fmt::Debug;

use gpu_core::{Device, Element};
use gpu_oracles::stable_order;
use gpu_sort::{
    Scratch, SortKey, SortOptions, bf16, f16, sort, sort_in_place, sort_indices, sort_into, sort_pairs,
    sort_pairs_in_place, sort_pairs_in_place_scratch, sort_pairs_into,
};
use gpu_sort_kernels::{COUNT_AT_ONCE, COUNT_BLOCKS, COUNT_WARPS, MAX_FEW, Shape, segmented};
use gpu_tests::backends::{cases, cuda, for_each, for_each_small};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A type of keys, with what the oracle needs.
pub trait Sample: SortKey + Debug {
    fn from_bits_of(word: u64) -> Self;
    fn compare(self, other: Self) -> Ordering;
}

macro_rules! samples {
    ($($t:ty: $from:expr, $compare:expr;)*) => { $(
        impl Sample for $t {
            fn from_bits_of(word: u64) -> Self {
                $from(word)
            }
            fn compare(self, other: Self) -> Ordering {
                $compare(&self, &other)
            }
        }
    )* };
}
/// IEEE 754's total order of 16-bit numbers: sign and magnitude.
fn sign_and_magnitude(bits: u16) -> (bool, i32) {
    let magnitude = i32::from(bits & 0x7fff);
    if bits >> 15 == 1 { (false, -magnitude) } else { (true, magnitude) }
}
samples! {
    u8: |w| w as u8, u8::cmp;
    u16: |w| w as u16, u16::cmp;
    u32: |w| w as u32, u32::cmp;
    u64: |w| w, u64::cmp;
    i8: |w| w as i8, i8::cmp;
    i16: |w| w as i16, i16::cmp;
    i32: |w| w as i32, i32::cmp;
    i64: |w| w as i64, i64::cmp;
    f32: |w| f32::from_bits(w as u32), f32::total_cmp;
    f64: f64::from_bits, f64::total_cmp;
    f16: |w| f16::from_bits(w as u16),
        |a: &f16, b: &f16| sign_and_magnitude(a.to_bits()).cmp(&sign_and_magnitude(b.to_bits()));
    bf16: |w| bf16::from_bits(w as u16),
        |a: &bf16, b: &bf16| sign_and_magnitude(a.to_bits()).cmp(&sign_and_magnitude(b.to_bits()));
}

/// Keys of any bits; few different ones; in order already; in the opposite one; all the same; special floats.
pub fn keys<K: Sample>(kind: u64, len: usize) -> Vec<K> {
    let special = [0, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8_0001 << 32, !0, 0x7f80_0000, 0xff80_0000];
    (0..len)
        .map(|i| {
            let word = match kind % 6 {
                0 => random(kind, i),
                1 => (random(kind, i) % 5) << 3,
                2 => i as u64,
                3 => (len - i) as u64,
                4 => random(kind, 0),
                _ => special[random(kind, i) as usize % 8] >> (random(kind, i + len) % 2 * 32),
            };
            K::from_bits_of(word)
        })
        .collect()
}

/// The keys' indices in order.
pub fn order<K: Sample>(keys: &[K], descending: bool) -> Vec<u32> {
    stable_order(keys.len() as u32, &|a, b| {
        let (a, b) = (keys[a as usize], keys[b as usize]);
        if descending { b.compare(a) } else { a.compare(b) }
    })
}

pub fn options(descending: bool) -> SortOptions {
    if descending { SortOptions::descending() } else { SortOptions::ascending() }
}

pub fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

/// The order of `keys[from..]` on the device is `order`, for keys alone and for their indices.
fn one<K: Sample>(device: &Device, keys: &[K], from: usize, descending: bool) {
    let context = format!(
        "{} {} from {from}, descending: {descending}, on {device}",
        keys.len() - from,
        core::any::type_name::<K>()
    );
    let order = order(&keys[from..], descending);
    let expected: Vec<K> = order.iter().map(|&index| keys[from + index as usize]).collect();
    let buffer = device.upload(keys).unwrap();
    let sorted = sort(buffer.slice(from..), options(descending)).unwrap().to_vec().unwrap();
    assert!(bytes(&sorted) == bytes(&expected), "{context}: keys");
    let (sorted, indices) = sort_indices(buffer.slice(from..), options(descending)).unwrap();
    assert!(bytes(&sorted.to_vec().unwrap()) == bytes(&expected), "{context}: keys with indices");
    assert_eq!(indices.to_vec().unwrap(), order, "{context}: indices");
    assert!(bytes(&buffer.to_vec().unwrap()) == bytes(keys), "{context}: the input");
    let stream = device.default_stream();
    let mut buffer = buffer;
    sort_in_place(&stream, buffer.slice_mut(from..), options(descending), &mut Scratch::new(&stream))
        .unwrap();
    let in_place = buffer.to_vec().unwrap();
    assert!(bytes(&in_place[from..]) == bytes(&expected), "{context}: in place");
    assert!(bytes(&in_place[..from]) == bytes(&keys[..from]), "{context}: what lies before");
}

fn tile<K>() -> usize {
    Shape::new(size_of::<K>() as u32, 0).tile() as usize
}

/// More keys than blocks that count ask for at once: each asks several times.
#[test]
fn each_block_counts_several_times() {
    for_each_small("each_block_counts_several_times", |device| {
        let blocks = device.blocks_for(COUNT_BLOCKS, u64::MAX) as usize;
        let len = blocks * 32 * COUNT_WARPS * COUNT_AT_ONCE + 4321;
        one(device, &keys::<u32>(0, len), 0, false);
    });
}

/// Small sizes of all kinds of keys, and one that is more than a tile.
macro_rules! all_of {
    ($($test:ident: $t:ty;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                // Every kind of keys in two sizes, in both directions.
                for (number, (len, from)) in [(0, 0), (1, 0), (2, 1), (33, 0), (300, 3), (257, 1)].into_iter().enumerate() {
                    for kind in [number, number + 2] {
                        one(device, &keys::<$t>(kind as u64, len + from), from, kind == number);
                    }
                }
                let keys = keys::<$t>(0, tile::<$t>() + 1);
                let sorted = sort(&device.upload(&keys).unwrap(), options(false)).unwrap().to_vec().unwrap();
                let expected: Vec<$t> = order(&keys, false).iter().map(|&index| keys[index as usize]).collect();
                assert!(bytes(&sorted) == bytes(&expected), "more than a tile, on {device}");
            });
        }
    )* };
}
all_of! {
    sorts_u8: u8;
    sorts_u16: u16;
    sorts_u32: u32;
    sorts_u64: u64;
    sorts_i8: i8;
    sorts_i16: i16;
    sorts_i32: i32;
    sorts_i64: i64;
    sorts_f16: f16;
    sorts_bf16: bf16;
    sorts_f32: f32;
    sorts_f64: f64;
}

#[test]
fn tiles_and_their_ends() {
    for_each("tiles_and_their_ends", |device| {
        let tile = tile::<u32>();
        for (kind, len) in [(0, tile - 1), (1, tile), (5, 2 * tile + 19), (4, 3 * tile)] {
            one(device, &keys::<f32>(kind, len), 0, kind == 1);
        }
    });
}

/// One block sorts up to a tile of its own; then tiles are short.
#[test]
fn few_keys() {
    for_each("few_keys", |device| {
        let (block, short) = (segmented::tile(4) as usize, Shape::of_keys(4, 1).tile() as usize);
        for (number, len) in
            [block - 1, block, block + 1, 2 * short - 1, 2 * short, 2 * short + 1].into_iter().enumerate()
        {
            one(device, &keys::<f32>(number as u64, len), number % 2, number % 3 == 0);
        }
        // With their indices 1024.
        for (number, len) in [1023, 1024, 1025].into_iter().enumerate() {
            one(device, &keys::<f64>(number as u64, len), 0, number == 1);
        }
    });
}

/// Tiles are long where there are more keys.
#[test]
fn many_keys() {
    for_each("many_keys", |device| {
        for len in [MAX_FEW as usize, MAX_FEW as usize + 1] {
            let keys = keys::<u32>(0, len);
            let sorted = sort(&device.upload(&keys).unwrap(), options(false).by_bits(3..11)).unwrap();
            let by_bits = |at: u32| keys[at as usize] >> 3 & 255;
            let order = stable_order(len as u32, &|a, b| by_bits(a).cmp(&by_bits(b)));
            let expected: Vec<u32> = order.iter().map(|&at| keys[at as usize]).collect();
            assert!(sorted.to_vec().unwrap() == expected, "{len} on {device}");
        }
    });
}

/// Each width of keys with each width of values, those that move and those that are gathered.
#[test]
fn pairs_of_all_widths() {
    fn pairs<K: Sample, V: Element + Eq>(device: &Device, value: impl Fn(u64) -> V) {
        for (number, len) in [0usize, 1, 500, 1000].into_iter().enumerate() {
            let keys = keys::<K>(number as u64 % 2, len);
            let values: Vec<V> = (0..len).map(|i| value(random(9, i))).collect();
            let order = order(&keys, number == 2);
            let (on_device, of_keys) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
            let (sorted, moved) = sort_pairs(&on_device, &of_keys, options(number == 2)).unwrap();
            let context = format!("{len} {} on {device}", core::any::type_name::<(K, V)>());
            let expected: Vec<K> = order.iter().map(|&index| keys[index as usize]).collect();
            assert!(bytes(&sorted.to_vec().unwrap()) == bytes(&expected), "keys of {context}");
            let moved_expected: Vec<V> = order.iter().map(|&index| values[index as usize]).collect();
            assert_eq!(moved.to_vec().unwrap(), moved_expected, "values of {context}");
            let stream = device.default_stream();
            let size = sort_pairs_in_place_scratch::<K, V>(len).unwrap();
            let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
            let (mut sorted, mut moved) = (on_device, of_keys);
            sort_pairs_in_place(&stream, &mut sorted, &mut moved, options(number == 2), &mut scratch)
                .unwrap();
            assert!(bytes(&sorted.to_vec().unwrap()) == bytes(&expected), "keys in place of {context}");
            assert_eq!(moved.to_vec().unwrap(), moved_expected, "values in place of {context}");
        }
    }
    fn all<K: Sample>(device: &Device) {
        pairs::<K, u8>(device, |v| v as u8);
        pairs::<K, i16>(device, |v| v as i16);
        pairs::<K, u32>(device, |v| v as u32);
        pairs::<K, i64>(device, |v| v as i64);
        pairs::<K, u128>(device, |v| u128::from(v) << 64 | u128::from(!v));
    }
    for_each("pairs_of_all_widths", |device| {
        all::<i8>(device);
        all::<bf16>(device);
        all::<u32>(device);
        all::<f64>(device);
    });
}

/// By some of the bits of the words that stand for keys; others do not matter, and such keys stay in their order.
#[test]
fn by_some_bits() {
    fn by<K: Sample>(device: &Device, range: std::ops::Range<u32>, word: impl Fn(K) -> u64) {
        for descending in [false, true] {
            let keys = keys::<K>(0, 700);
            let mut expected = keys.clone();
            let digit = |key: &K| {
                let all = word(*key).checked_shr(range.start).unwrap_or(0);
                all & ((1u128 << (range.end - range.start)) - 1) as u64
            };
            expected.sort_by(|a, b| {
                let (a, b) = if descending { (b, a) } else { (a, b) };
                digit(a).cmp(&digit(b))
            });
            let options = options(descending).by_bits(range.clone());
            let on_device = device.upload(&keys).unwrap();
            let sorted = sort(&on_device, options.clone()).unwrap().to_vec().unwrap();
            assert!(bytes(&sorted) == bytes(&expected), "{range:?}, {descending}, on {device}");
            let (mut in_place, stream) = (on_device, device.default_stream());
            sort_in_place(&stream, &mut in_place, options, &mut Scratch::new(&stream)).unwrap();
            let in_place = in_place.to_vec().unwrap();
            assert!(bytes(&in_place) == bytes(&expected), "{range:?}, {descending}, in place, on {device}");
        }
    }
    for_each("by_some_bits", |device| {
        by::<u32>(device, 0..32, u64::from);
        by::<u32>(device, 3..7, u64::from);
        by::<u32>(device, 5..22, u64::from);
        by::<u32>(device, 32..32, u64::from);
        by::<u8>(device, 0..0, u64::from);
        by::<u64>(device, 64..64, |key| key);
        by::<u64>(device, 39..64, |key| key);
        by::<i16>(device, 7..16, |key| u64::from(key as u16 ^ 0x8000));
        by::<f32>(device, 20..32, |key: f32| {
            let bits = key.to_bits();
            u64::from(if key.is_sign_negative() { !bits } else { bits | 1 << 31 })
        });
    });
}

/// Any keys, lengths, starts and directions.
#[test]
fn any_keys() {
    println!("any_keys: ChaCha seed 5e × 32, {} cases a backend", cases() / 8);
    for_each("any_keys", |device| {
        let config = Config { cases: cases() / 8, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x5e; 32]));
        let input = (any::<u64>(), 0..2000usize, 0..9usize, any::<bool>(), 0..4u32);
        runner
            .run(&input, |(kind, len, from, descending, which)| {
                match which {
                    0 => one(device, &keys::<f32>(kind, len + from), from, descending),
                    1 => one(device, &keys::<i64>(kind, len + from), from, descending),
                    2 => one(device, &keys::<u16>(kind, len + from), from, descending),
                    _ => one(device, &keys::<i8>(kind, len + from), from, descending),
                }
                Ok(())
            })
            .unwrap();
    });
}

/// Sorts on a stream share scratch memory one after the other, of other lengths, types and numbers of passes.
#[test]
fn sorts_on_a_stream_reuse_their_scratch() {
    for_each("sorts_on_a_stream_reuse_their_scratch", |device| {
        let stream = device.stream().unwrap();
        let most = 2 * tile::<u64>() + 5;
        let mut scratch =
            Scratch::with_size(&stream, gpu_sort::sort_pairs_scratch::<u64, u64>(most).unwrap())
                .unwrap()
                .fixed();
        for (number, len) in [most, 100, 3, 0, tile::<u64>() + 1].into_iter().enumerate() {
            let bits = if number % 2 == 0 { 0..8 } else { 0..17 };
            let keys = keys::<u64>(0, len);
            let on_device = device.upload(&keys).unwrap();
            let (mut sorted, mut moved) =
                (device.zeroed(len + 2).unwrap(), device.zeroed::<u64>(len).unwrap());
            let mask = (1u64 << bits.end) - 1;
            let options = SortOptions::ascending().by_bits(bits);
            let target = sorted.slice_mut(1..=len);
            sort_into(&stream, &on_device, options.clone(), target, &mut scratch).unwrap();
            let mut expected = keys.clone();
            expected.sort_by_key(|key| key & mask);
            expected.insert(0, 0);
            expected.push(0);
            assert_eq!(sorted.to_vec().unwrap(), expected, "{len} on {device}");
            let target = sorted.slice_mut(1..=len);
            sort_pairs_into(&stream, &on_device, &on_device, options, target, &mut moved, &mut scratch)
                .unwrap();
            assert_eq!(moved.to_vec().unwrap(), expected[1..=len], "{len} pairs on {device}");
            assert_eq!(sorted.to_vec().unwrap(), expected, "{len} keys of pairs on {device}");
        }
    });
}

/// More keys than one launch sweeps, 2^30 - 1: on a GPU only, where they are a second's work.
#[test]
fn more_keys_than_a_launch_sweeps() {
    let Some(device) = cuda("more_keys_than_a_launch_sweeps") else { return };
    let part: Vec<u8> = (0..1 << 20).map(|i| random(7, i) as u8).collect();
    let keys = part.repeat((1 << 10) + 3);
    let sorted = sort(&device.upload(&keys).unwrap(), SortOptions::descending()).unwrap().to_vec().unwrap();
    let mut counts = [0; 256];
    part.iter().for_each(|key| counts[usize::from(*key)] += keys.len() / part.len());
    let mut rest = sorted.as_slice();
    for key in (0..=255u8).rev() {
        let (run, others) = rest.split_at(counts[usize::from(key)]);
        assert!(run == vec![key; run.len()], "the run of {key}");
        rest = others;
    }
    assert!(rest.is_empty());
    let indices = sort_indices(&device.upload(&keys).unwrap(), SortOptions::ascending()).unwrap().1;
    let (mut first, mut last) = ([0; 1], [0; 1]);
    indices.slice(..1).copy_to(&mut first).unwrap();
    indices.slice(keys.len() - 1..).copy_to(&mut last).unwrap();
    // Stable: the first of the smallest keys, and the last of the largest.
    let place = |key: u8| part.iter().position(|other| *other == key).unwrap();
    let from_end = part.iter().rev().position(|key| *key == 255).unwrap();
    assert_eq!((first[0] as usize, last[0] as usize), (place(0), keys.len() - 1 - from_end));
}
