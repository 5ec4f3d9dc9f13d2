//! Sorts and selections within segments, scans of them, and histograms.

use std::cmp::Reverse;
use std::fmt::Debug;

use gpu_core::Element;
use gpu_scan::kernels::Sum;
use gpu_scan::{Options, scan_segments_into, scan_segments_scratch};
use gpu_sort::{
    Scratch, SortKey, SortOptions, TopK, histogram_even_into, segmented_sort_into, segmented_sort_pairs_into,
    top_k_segments_into,
};
use proptest::prelude::*;

use super::cuts::{Cuts, cuts};
use super::{Guarded, Place, fuzz, length, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    len: usize,
    cuts: Cuts,
    key: usize,
    /// How many of each segment are wanted; the sorts have all.
    k: Option<usize>,
    pairs: bool,
    descending: bool,
    /// Of keys' output, values' output.
    wrong: [isize; 2],
    few: u32,
}

fn of_type<K: SortKey + Element + PartialEq + Ord + Debug>(case: &Case, of: impl Fn(u64) -> K + Copy) {
    let Case { place, len, ref cuts, k, pairs, descending, wrong, few, .. } = *case;
    let device = place.device();
    let stream = device.stream().expect("a stream");
    let keys = place.values(place.offsets.0 + len, |bits| of(bits >> few));
    let input = device.upload(&keys).expect("memory");
    let values: Vec<u16> = (0..len).map(|at| at as u16).collect();
    let given = device.upload(&values).expect("memory");
    let told = cuts.told(&device, len);
    let here = &keys[place.offsets.0..];
    let is_flagged = matches!(cuts, Cuts::Flags { .. });
    let ranges = cuts.ranges(len).filter(|_| cuts.covers(len) && !is_flagged);
    // The places of what comes first in each segment.
    let first = ranges.as_ref().filter(|ranges| {
        // Where there are no segments any `k` will do.
        k.is_none_or(|k| ranges.iter().all(|range| (1..=range.len()).contains(&k)))
    });
    let order: Option<Vec<usize>> = first.map(|ranges| {
        let sorted = |range: &std::ops::Range<usize>| {
            let mut order: Vec<usize> = range.clone().collect();
            if descending {
                order.sort_by_key(|&at| Reverse(here[at]));
            } else {
                order.sort_by_key(|&at| here[at]);
            }
            order.truncate(k.unwrap_or(len));
            order
        };
        ranges.iter().flat_map(sorted).collect()
    });
    let expected = order.as_ref().map_or(len, Vec::len);
    let lens = wrong.map(|wrong| expected.saturating_add_signed(wrong));
    let mut sorted = Guarded::new(&device, place.offsets.1, lens[0], |i| of(i as u64));
    let mut moved = Guarded::new(&device, place.offsets.1, lens[1], |i| !(i as u16));
    let mut indices = Guarded::new(&device, place.offsets.1, lens[1], |i| !(i as u32));
    let (to, with, at) = (sorted.range(), moved.range(), indices.range());
    let to = sorted.buffer.slice_mut(to);
    let mut scratch = Scratch::new(&stream);
    let view = input.slice(place.offsets.0..);
    let options = if descending { SortOptions::descending() } else { SortOptions::ascending() };
    let result = match (k, pairs) {
        (Some(k), _) => {
            let options = if descending { TopK::largest() } else { TopK::smallest() };
            let at = indices.buffer.slice_mut(at);
            top_k_segments_into(&stream, view, told.segments(), k, options, to, at, &mut scratch)
        }
        (None, true) => {
            let with = moved.buffer.slice_mut(with);
            segmented_sort_pairs_into(&stream, view, &given, told.segments(), options, to, with, &mut scratch)
        }
        (None, false) => segmented_sort_into(&stream, view, told.segments(), options, to, &mut scratch),
    };
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), keys);
    let two = k.is_some() || pairs;
    let is_wrong = lens[0] != expected || two && lens[1] != expected;
    let order = match (result, order) {
        (Ok(()), Some(order)) if !is_wrong => order,
        (Err(error), Some(_)) if !is_wrong => panic!("{error}"),
        (Ok(()), _) => panic!("it was wrong, and taken"),
        (Err(_), _) => {
            sorted.check(None);
            moved.check(None);
            return indices.check(None);
        }
    };
    sorted.check(Some(&order.iter().map(|&at| here[at]).collect::<Vec<_>>()));
    let values: Vec<u16> = order.iter().map(|&at| values[at]).collect();
    moved.check((k.is_none() && pairs).then_some(&values));
    let starts = |at: usize| {
        let ranges = ranges.as_ref().expect("they were taken");
        ranges.iter().find(|range| range.contains(&at)).expect("all is covered").start
    };
    let places: Vec<u32> = order.iter().map(|&at| (at - starts(at)) as u32).collect();
    indices.check(k.is_some().then_some(&places));
}

#[test]
fn sorts() {
    let few = prop::sample::select(vec![0u32, 30, 50, 60, 62]);
    let k = prop_oneof![2 => Just(None), 3 => (0usize..70).prop_map(Some)];
    let cases =
        (place(), length(), cuts(), 0usize..4, k, [any::<bool>(), any::<bool>()], [wrong(), wrong()], few);
    let cases = cases.prop_map(|(place, len, cuts, key, k, [pairs, descending], wrong, few)| Case {
        place,
        len: len.min(12_000),
        cuts,
        key,
        k,
        pairs,
        descending,
        wrong,
        few,
    });
    fuzz("sorts of segments", cases, |case| match case.key {
        0 => of_type(case, |bits| bits as u8),
        1 => of_type(case, |bits| bits as i16),
        2 => of_type(case, |bits| bits as u32),
        _ => of_type(case, |bits| bits as i64),
    });
}

#[test]
fn scans() {
    let options = [any::<bool>(), any::<bool>()];
    let cases = (place(), length(), cuts(), options, any::<u32>(), [wrong(), wrong()]);
    fuzz("scans of segments", cases, |(place, len, cuts, [exclusive, reversed], initial, wrong)| {
        let (len, initial) = (*len, *initial);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let options = if *exclusive { Options::exclusive() } else { Options::inclusive() };
        let options = if *reversed { options.reversed() } else { options }.starting_with(initial);
        let values = place.values(place.offsets.0 + len, |bits| bits as u32);
        let input = device.upload(&values).expect("memory");
        let told = cuts.told(&device, len);
        let capacity = if wrong[1] < 0 { len / 2 } else { len };
        let mut scratch =
            Scratch::with_size(&stream, scan_segments_scratch(capacity)).expect("memory").fixed();
        let mut output =
            Guarded::new(&device, place.offsets.1, len.saturating_add_signed(wrong[0]), |i| i as u32);
        let range = output.range();
        let result = scan_segments_into::<Sum<u32>>(
            &stream,
            input.slice(place.offsets.0..),
            told.segments(),
            options,
            output.buffer.slice_mut(range),
            &mut scratch,
        );
        stream.synchronize().expect("no fault");
        assert_eq!(input.to_vec().expect("its values"), values);
        let ranges = cuts.ranges(len);
        let is_wrong = output.len != len || ranges.is_none();
        assert!(result.is_err() || !is_wrong, "it was wrong, and taken");
        let (Ok(()), Some(mut ranges)) = (&result, ranges) else {
            assert!(is_wrong || wrong[1] < 0, "{result:?}");
            return output.check(None);
        };
        // What lies before the first offset, or behind the last, is a segment, too.
        let (begin, end) =
            (ranges.first().map_or(0, |range| range.start), ranges.last().map_or(0, |range| range.end));
        ranges.extend([0..begin, end..len]);
        let here = &values[place.offsets.0..];
        let mut expected = vec![0; len];
        for range in ranges {
            let mut before = initial;
            let places: Vec<usize> = if *reversed { range.rev().collect() } else { range.collect() };
            for at in places {
                let after = before.wrapping_add(here[at]);
                expected[at] = if *exclusive { before } else { after };
                before = after;
            }
        }
        output.check(Some(&expected));
    });
}

#[test]
fn histograms() {
    let bound = || prop_oneof![3 => -300i64..300, 1 => i64::from(i32::MIN) - 2..i64::from(i32::MAX) + 4];
    let bins = prop_oneof![3 => 0usize..40, 1 => 40usize..5000];
    let cases = (place(), length(), (bound(), bound()), bins, 0u32..3);
    fuzz("histograms", cases, |(place, len, (lower, upper), bins, few)| {
        let (lower, upper, bins) = (*lower, *upper, *bins);
        let device = place.device();
        let stream = device.stream().expect("a stream");
        let samples = place.values(place.offsets.0 + len, |bits| bits as i32 >> (11 * few));
        let input = device.upload(&samples).expect("memory");
        let mut counts = Guarded::new(&device, place.offsets.1, bins, |i| i as u32);
        let range = counts.range();
        let (view, to) = (input.slice(place.offsets.0..), counts.buffer.slice_mut(range));
        let result = histogram_even_into(&stream, view, lower, upper, to);
        stream.synchronize().expect("no fault");
        assert_eq!(input.to_vec().expect("its values"), samples);
        let of_type = i64::from(i32::MIN)..=i64::from(i32::MAX) + 1;
        let is_right = bins > 0 && lower < upper && of_type.contains(&lower) && of_type.contains(&upper);
        assert_eq!(result.is_ok(), is_right, "{result:?}");
        if !is_right {
            return counts.check(None);
        }
        let mut expected = vec![0u32; bins];
        for &sample in &samples[place.offsets.0..] {
            let above = i128::from(sample) - i128::from(lower);
            if above >= 0 && i64::from(sample) < upper {
                expected[(above * bins as i128 / i128::from(upper - lower)) as usize] += 1;
            }
        }
        counts.check(Some(&expected));
    });
}
