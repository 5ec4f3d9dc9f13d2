//! Sorts of keys, with values and with indices.

use std::fmt::Debug;

use gpu_core::{Device, Element, Stream};
use gpu_scan::{Scratch, SortKey, SortOptions, sort_in_place, sort_indices_into, sort_into, sort_pairs_into};
use proptest::prelude::*;

use super::{Guarded, Place, fuzz, length, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    len: usize,
    key: usize,
    what: usize,
    descending: bool,
    /// Of keys' output, values' output, scratch memory.
    wrong: [isize; 3],
    /// How many different keys there are, as a shift.
    few: u32,
}

fn of_type<K: SortKey + Element + PartialEq + Ord + Debug>(case: &Case, of: impl Fn(u64) -> K + Copy) {
    let Case { place, len, what, descending, wrong, few, .. } = *case;
    let device = place.device();
    let stream = device.stream().expect("a stream");
    let options = if descending { SortOptions::descending() } else { SortOptions::ascending() };
    let keys = place.values(place.offsets.0 + len, |bits| of(bits >> few));
    let input = device.upload(&keys).expect("memory");
    let values: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let on_device = device.upload(&values).expect("memory");
    let capacity = if wrong[2] < 0 { len / 2 } else { len };
    let mut scratch =
        Scratch::with_size(&stream, gpu_sort::sort_pairs_scratch::<K, u32>(capacity).expect("memory"))
            .expect("memory")
            .fixed();
    let outputs = [wrong[0], wrong[1]].map(|wrong| len.saturating_add_signed(wrong));
    let mut sorted = Guarded::new(&device, place.offsets.1, outputs[0], |i| of(i as u64));
    let mut moved = Guarded::new(&device, place.offsets.1, outputs[1], |i| !(i as u32));
    let (first, second) = (sorted.range(), moved.range());
    let (keys_to, values_to) = (sorted.buffer.slice_mut(first), moved.buffer.slice_mut(second));
    let view = input.slice(place.offsets.0..);
    if what == 3 {
        return in_place(&device, &stream, &keys, case, options, scratch);
    }
    let result = match what {
        0 => sort_into(&stream, view, options, keys_to, &mut scratch),
        1 => sort_pairs_into(&stream, view, &on_device, options, keys_to, values_to, &mut scratch),
        _ => sort_indices_into(&stream, view, options, keys_to, values_to, &mut scratch),
    };
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), keys);
    assert_eq!(on_device.to_vec().expect("its values"), values);
    if result.is_err() {
        assert_ne!(wrong, [0; 3], "{result:?}");
        sorted.check(None);
        return moved.check(None);
    }
    let here = &keys[place.offsets.0..];
    let mut order: Vec<usize> = (0..len).collect();
    if descending {
        order.sort_by_key(|&at| std::cmp::Reverse(here[at]));
    } else {
        order.sort_by_key(|&at| here[at]);
    }
    sorted.check(Some(&order.iter().map(|&at| here[at]).collect::<Vec<K>>()));
    match what {
        0 => moved.check(None),
        1 => moved.check(Some(&order.iter().map(|&at| values[at]).collect::<Vec<_>>())),
        _ => moved.check(Some(&order.iter().map(|&at| at as u32).collect::<Vec<_>>())),
    }
}

/// The keys behind an offset, where they are; those before stay.
fn in_place<K: SortKey + Element + PartialEq + Ord + Debug>(
    device: &Device,
    stream: &Stream,
    keys: &[K],
    case: &Case,
    options: SortOptions,
    mut scratch: Scratch,
) {
    let from = case.place.offsets.0;
    let mut buffer = device.upload(keys).expect("memory");
    let result = sort_in_place(stream, buffer.slice_mut(from..), options, &mut scratch);
    let mut expected = keys.to_vec();
    match result {
        Err(error) => assert!(case.wrong[2] < 0, "{error}"),
        Ok(()) if case.descending => expected[from..].sort_by_key(|&key| std::cmp::Reverse(key)),
        Ok(()) => expected[from..].sort(),
    }
    assert_eq!(buffer.to_vec().expect("its values"), expected);
}

#[test]
fn keys() {
    let few = prop::sample::select(vec![0u32, 30, 50, 60, 62]);
    let cases = (place(), length(), 0usize..4, 0usize..4, any::<bool>(), [wrong(), wrong(), wrong()], few);
    let cases = cases.prop_map(|(place, len, key, what, descending, wrong, few)| Case {
        place,
        len: len.min(12_000),
        key,
        what,
        descending,
        wrong,
        few,
    });
    fuzz("sort", cases, |case| match case.key {
        0 => of_type(case, |bits| bits as u8),
        1 => of_type(case, |bits| bits as i16),
        2 => of_type(case, |bits| bits as u32),
        _ => of_type(case, |bits| bits as i64),
    });
}
