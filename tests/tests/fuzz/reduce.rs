//! Reductions of arrays, segments and axes.

use gpu_reduce::kernels::{ArgMin, Max, Sum};
use gpu_reduce::{Offsets, Scratch, reduce_axis_into, reduce_into, reduce_segments_into};
use proptest::prelude::*;

use super::{Guarded, fuzz, length, place, wrong};

#[test]
fn arrays() {
    let cases = (place(), length(), 0usize..3, [wrong(), wrong()]);
    fuzz("reduce", cases, |(place, len, operator, wrong)| {
        let device = place.device();
        let stream = device.stream().expect("a stream");
        // Few different values: extremes come more than once.
        let values = place.values(place.offsets.0 + len, |bits| (bits % 1000) as i32 - 500);
        let input = device.upload(&values).expect("memory");
        let view = input.slice(place.offsets.0..);
        let here = &values[place.offsets.0..];
        let capacity = if wrong[1] < 0 { len / 2 } else { *len };
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_scratch(capacity)).expect("memory").fixed();
        let outputs = 1usize.saturating_add_signed(wrong[0]);
        let mut output = Guarded::new(&device, place.offsets.1, outputs, |i| i as i32);
        let mut places = Guarded::new(&device, place.offsets.1, outputs, |i| i as u64);
        let range = output.range();
        let (target, targets) = (output.buffer.slice_mut(range.clone()), places.buffer.slice_mut(range));
        let result = match operator {
            0 => reduce_into::<Sum<i32>>(&stream, view, target, &mut scratch),
            1 => reduce_into::<Max<i32>>(&stream, view, target, &mut scratch),
            _ => reduce_into::<ArgMin<i32>>(&stream, view, targets, &mut scratch),
        };
        stream.synchronize().expect("no fault");
        assert_eq!(input.to_vec().expect("its values"), values);
        if result.is_err() {
            assert!(*wrong != [0, 0] || *len == 0, "{result:?}");
            output.check(None);
            return places.check(None);
        }
        let least = here.iter().enumerate().min_by_key(|(at, value)| (**value, *at)).map(|(at, _)| at as u64);
        match operator {
            0 => output.check(Some(&[here.iter().sum()])),
            1 => output.check(Some(&[*here.iter().max().expect("not empty")])),
            _ => places.check(Some(&[least.expect("not empty")])),
        }
    });
}

#[test]
fn segments() {
    let lengths = prop::collection::vec(prop_oneof![3 => 0u32..5, 2 => 0u32..200, 1 => 0u32..9000], 0..40);
    // Offsets that decrease, or go past the end, at times.
    let cases = (place(), lengths, prop::bool::weighted(0.1), [wrong(), wrong(), wrong()]);
    fuzz("segments", cases, |(place, lengths, swapped, wrong)| {
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let mut offsets = vec![place.offsets.0 as u32];
        offsets.extend(lengths.iter().scan(place.offsets.0 as u32, |at, length| {
            *at += length;
            Some(*at)
        }));
        if *swapped {
            offsets.reverse();
        }
        let segments = match Offsets::new(&device, &offsets) {
            Ok(segments) => segments,
            Err(error) => return assert!(offsets.is_empty() || *swapped, "{error}"),
        };
        let len = segments.end().saturating_add_signed(wrong[0]);
        let values = place.values(len, |bits| (bits % 1000) as i32 - 500);
        let input = device.upload(&values).expect("memory");
        let capacity = if wrong[2] < 0 { len / 2 } else { len };
        let mut scratch =
            Scratch::with_size(&stream, gpu_reduce::reduce_segments_scratch::<Sum<i32>>(capacity))
                .expect("memory")
                .fixed();
        let results = segments.count().saturating_add_signed(wrong[1]);
        let mut output = Guarded::new(&device, place.offsets.1, results, |i| i as i32);
        let range = output.range();
        let target = output.buffer.slice_mut(range);
        let result = reduce_segments_into::<Sum<i32>>(&stream, &input, &segments, target, &mut scratch);
        stream.synchronize().expect("no fault");
        assert_eq!(input.to_vec().expect("its values"), values);
        if result.is_err() {
            assert_ne!(*wrong, [0; 3], "{result:?}");
            return output.check(None);
        }
        let expected: Vec<i32> =
            offsets.windows(2).map(|ends| values[ends[0] as usize..ends[1] as usize].iter().sum()).collect();
        output.check(Some(&expected));
    });
}

#[test]
fn axes() {
    let shapes = prop_oneof![
        prop::collection::vec(0usize..20, 0..5),
        prop::collection::vec(0usize..300, 1..3),
        prop::collection::vec(prop::sample::select(vec![0, 1, 3, usize::MAX, usize::MAX / 2, 1 << 33]), 1..5),
    ];
    let cases = (place(), shapes, 0usize..5, [wrong(), wrong()]);
    fuzz("axes", cases, |(place, shape, axis, wrong)| {
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let len = shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent));
        let is_small = len.is_some_and(|len| len < 100_000);
        let len = len.filter(|_| is_small).unwrap_or(7);
        let values = place.values(len.saturating_add_signed(wrong[0]), |bits| (bits % 1000) as i32 - 500);
        let input = device.upload(&values).expect("memory");
        let scratch = gpu_reduce::reduce_axis_scratch::<Sum<i32>>(shape, *axis)
            .and_then(|size| Scratch::with_size(&stream, size));
        let results = if is_small && *axis < shape.len() {
            let others = shape.iter().enumerate().filter(|(at, _)| at != axis);
            others.map(|(_, extent)| *extent).try_fold(1usize, usize::checked_mul)
        } else {
            None
        };
        let results = results.filter(|&results| results < 100_000);
        let is_small = results.is_some();
        let results = results.unwrap_or(7);
        let mut output =
            Guarded::new(&device, place.offsets.1, results.saturating_add_signed(wrong[1]), |i| i as i32);
        let range = output.range();
        let Ok(mut scratch) = scratch else {
            return assert!(!is_small || *axis >= shape.len(), "{:?}", scratch.err());
        };
        let target = output.buffer.slice_mut(range);
        let result = reduce_axis_into::<Sum<i32>>(&stream, &input, shape, *axis, target, &mut scratch);
        stream.synchronize().expect("no fault");
        if result.is_err() {
            assert!(*wrong != [0, 0] || !is_small || *axis >= shape.len(), "{result:?}");
            return output.check(None);
        }
        // Without results there may be extents behind the axis whose product is none.
        let inner = if results == 0 { 1 } else { shape[axis + 1..].iter().product::<usize>() };
        let extent = shape[*axis];
        let sum = |at: usize| {
            let (outer, place) = (at / inner, at % inner);
            (0..extent).map(|k| values[(outer * extent + k) * inner + place]).sum()
        };
        output.check(Some(&(0..results).map(sum).collect::<Vec<i32>>()));
    });
}
