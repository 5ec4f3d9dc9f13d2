//! The first keys in any order: those of the sorted result, and the order that the CPU gives.

use gpu_core::{Device, Element};
use gpu_sort::{Offsets, Segments, TopK, bf16, f16, top_k_pairs, top_k_segments};
use gpu_sort_kernels::segmented::tile;
use gpu_tests::backends::for_each;

use crate::sort::{Sample, bytes, keys};

/// The places in each segment, counted in it, of a selection with indices and of one with places as values; and the
/// keys of both.
fn selected<K: Sample>(
    device: &Device,
    keys: &[K],
    lengths: &[u32],
    is_rows: bool,
    k: usize,
    options: TopK,
) -> [(Vec<K>, Vec<u32>); 2] {
    let on_device = device.upload(keys).unwrap();
    let offsets = Offsets::from_lengths(device, lengths).unwrap();
    let segments = if is_rows {
        Segments::of_length(lengths[0] as usize).unwrap()
    } else {
        Segments::by_offsets(&offsets)
    };
    let (first, indices) = top_k_segments(&on_device, segments, k, options).unwrap();
    let places: Vec<u32> = lengths.iter().flat_map(|&length| 0..length).collect();
    let places = device.upload(&places).unwrap();
    let (first_of_pairs, moved) = top_k_pairs(&on_device, &places, segments, k, options).unwrap();
    [(first, indices), (first_of_pairs, moved)]
        .map(|(keys, of)| (keys.to_vec().unwrap(), of.to_vec().unwrap()))
}

/// Pairs in the order of their places, row by row of `k`; keys by their bits, since NaNs differ from themselves.
fn by_place<K: Element>((keys, places): &(Vec<K>, Vec<u32>), k: usize) -> Vec<(u32, Vec<u8>)> {
    let pairs = |(keys, places): (&[K], &[u32])| {
        let mut pairs: Vec<_> =
            places.iter().zip(keys).map(|(&place, key)| (place, bytemuck::bytes_of(key).to_vec())).collect();
        pairs.sort_unstable();
        pairs
    };
    keys.chunks(k).zip(places.chunks(k)).flat_map(pairs).collect()
}

fn one<K: Sample>(device: &Device, keys: &[K], lengths: &[u32], is_rows: bool, k: usize, options: TopK) {
    let context = format!(
        "{k} of {} {} in segments of {lengths:?}, rows: {is_rows}, {options:?}, on {device}",
        keys.len(),
        core::any::type_name::<K>()
    );
    let sorted = selected(&Device::cpu(), keys, lengths, is_rows, k, options);
    let options = options.in_any_order();
    let on_cpu = selected(&Device::cpu(), keys, lengths, is_rows, k, options);
    let ours = selected(device, keys, lengths, is_rows, k, options);
    for (ours, (on_cpu, sorted)) in ours.iter().zip(on_cpu.iter().zip(&sorted)) {
        assert!(by_place(ours, k) == by_place(sorted, k), "{context}: other keys");
        assert!(bytes(&ours.0) == bytes(&on_cpu.0) && ours.1 == on_cpu.1, "{context}: another order");
    }
}

macro_rules! all_of {
    ($($test:ident: $t:ty;)*) => { $(
        #[test]
        fn $test() {
            for_each(stringify!($test), |device| {
                for (kind, options) in [(0, TopK::largest()), (2, TopK::smallest()), (5, TopK::largest())] {
                    // Rows and segments, some keys of each and all.
                    for k in [1, 19, 20] {
                        one::<$t>(device, &keys(kind, 60), &[20; 3], true, k, options);
                        one::<$t>(device, &keys(kind, 20 + 70), &[20, 70], false, k, options);
                    }
                    one::<$t>(device, &keys(kind, 60), &[20; 3], false, 20, options);
                }
            });
        }
    )* };
}
all_of! {
    any_order_of_u8: u8;
    any_order_of_i8: i8;
    any_order_of_u16: u16;
    any_order_of_i16: i16;
    any_order_of_f16: f16;
    any_order_of_bf16: bf16;
    any_order_of_u32: u32;
    any_order_of_i32: i32;
    any_order_of_f32: f32;
    any_order_of_u64: u64;
    any_order_of_i64: i64;
    any_order_of_f64: f64;
}

/// As many keys as a tile has and about: all of them, and all but one.
#[test]
fn any_order_around_tiles() {
    fn of<K: Sample>(device: &Device, composite: u32) {
        for len in [tile(composite) - 1, tile(composite), tile(composite) + 1, 2 * tile(composite) + 3] {
            let keys = keys::<K>(len.into(), len as usize);
            for k in [len - 1, len] {
                one(device, &keys, &[len], len % 2 == 0, k as usize, TopK::smallest());
            }
        }
    }
    for_each("any_order_around_tiles", |device| {
        of::<f32>(device, 8);
        of::<i64>(device, 16);
    });
}

/// All keys of an array stay where they are.
#[test]
fn all_keys_stay() {
    for_each("all_keys_stay", |device| {
        for len in [4097, 9000] {
            let keys = keys::<i16>(0, len);
            let options = TopK::largest().in_any_order();
            for (ours, places) in selected(device, &keys, &[len as u32], true, len, options) {
                assert!(ours == keys && places.iter().copied().eq(0..len as u32), "{len} on {device}");
            }
        }
    });
}
