//! Selections, partitions, distinct items and runs.

use gpu_core::Element;
use gpu_sort::{
    RunsMut, Scratch, partition_flagged_into, run_length_encode_into, select_flagged_into, select_scratch,
    unique_into,
};
use proptest::prelude::*;
use std::fmt::Debug;

use super::{Guarded, Place, fuzz, length, place, wrong};

#[derive(Clone, Debug)]
struct Case {
    place: Place,
    len: usize,
    item: usize,
    what: usize,
    /// Flags are set, and neighbours differ, once in so many.
    each: u64,
    /// Of the first output, of the second, of the number of flags, of the scratch memory.
    wrong: [isize; 4],
}

fn of_type<T: Element + PartialEq + Debug>(case: &Case, of: impl Fn(u64) -> T + Copy) {
    let Case { place, len, what, each, wrong, .. } = *case;
    let device = place.device();
    let stream = device.stream().expect("a stream");
    let mut items = place.values(place.offsets.0 + len, of);
    for at in 1..items.len() {
        if !gpu_tests::data::random(!place.seed, at).is_multiple_of(each) {
            items[at] = items[at - 1];
        }
    }
    let flags: Vec<u8> = Place { seed: place.seed ^ 1, ..place }.values(
        if what < 2 { len.saturating_add_signed(wrong[2]) } else { len },
        |bits| {
            if (bits >> 8).is_multiple_of(each) { bits as u8 | 1 } else { 0 }
        },
    );
    let (input, given) = (device.upload(&items).expect("memory"), device.upload(&flags).expect("memory"));
    let capacity = if wrong[3] < 0 { len / 2 } else { len };
    let size = select_scratch::<T>(capacity).expect("not too long");
    let mut scratch = Scratch::with_size(&stream, size).expect("memory").fixed();
    let lens = [wrong[0], wrong[1]].map(|wrong| len.saturating_add_signed(wrong));
    let mut first = Guarded::new(&device, place.offsets.1, lens[0], |i| of(i as u64 ^ place.seed));
    let mut second = Guarded::new(&device, place.offsets.1, lens[1], |i| of(i as u64));
    let mut starts = Guarded::new(&device, place.offsets.0, lens[1], |i| i as u64);
    let mut lengths = Guarded::new(&device, place.offsets.0, lens[1], |i| !i as u64);
    let mut count = Guarded::new(&device, place.offsets.1, 1, |i| i as u64);
    let ranges = (first.range(), second.range(), count.range());
    let (to, rest) = (first.buffer.slice_mut(ranges.0), second.buffer.slice_mut(ranges.1));
    let number = count.buffer.slice_mut(ranges.2);
    let view = input.slice(place.offsets.0..);
    let result = match what {
        0 => select_flagged_into(&stream, view, &given, to, number, &mut scratch),
        1 => partition_flagged_into(&stream, view, &given, to, rest, number, &mut scratch),
        2 => unique_into(&stream, view, to, number, &mut scratch),
        _ => {
            let (at, of) = (starts.range(), lengths.range());
            let (starts, lengths) = (starts.buffer.slice_mut(at), lengths.buffer.slice_mut(of));
            run_length_encode_into(
                &stream,
                view,
                RunsMut { values: to, starts, lengths, count: number },
                &mut scratch,
            )
        }
    };
    stream.synchronize().expect("no fault");
    assert_eq!(input.to_vec().expect("its values"), items);
    assert_eq!(given.to_vec().expect("its values"), flags);
    let is_wrong = lens[0] != len || matches!(what, 1 | 3) && lens[1] != len || flags.len() != len;
    assert!(result.is_err() || !is_wrong, "{case:?} is wrong");
    if result.is_err() {
        assert!(is_wrong || wrong[3] < 0, "{result:?}");
        first.check(None);
        second.check(None);
        starts.check(None);
        lengths.check(None);
        return count.check(None);
    }
    let items = &items[place.offsets.0..];
    let is_first = |at: usize| at == 0 || items[at] != items[at - 1];
    let kept: Vec<usize> = match what {
        0 | 1 => (0..len).filter(|&at| flags[at] != 0).collect(),
        _ => (0..len).filter(|&at| is_first(at)).collect(),
    };
    /// What is written at the head of what was there.
    fn head<T: Copy>(old: &[T], new: impl Iterator<Item = T>) -> Vec<T> {
        let mut all = old.to_vec();
        all.iter_mut().zip(new).for_each(|(old, new)| *old = new);
        all
    }
    count.check(Some(&[kept.len() as u64]));
    first.check(Some(&head(first.old(), kept.iter().map(|&at| items[at]))));
    let rejected = (0..len).filter(|&at| what == 1 && flags[at] == 0).map(|at| items[at]);
    second.check(Some(&head(second.old(), rejected)));
    let ends = kept.iter().skip(1).copied().chain([len]);
    let of_runs: Vec<[u64; 2]> = match what {
        3 => kept.iter().zip(ends).map(|(&start, end)| [start as u64, (end - start) as u64]).collect(),
        _ => Vec::new(),
    };
    starts.check(Some(&head(starts.old(), of_runs.iter().map(|run| run[0]))));
    lengths.check(Some(&head(lengths.old(), of_runs.iter().map(|run| run[1]))));
}

#[test]
fn items() {
    let each = prop::sample::select(vec![1u64, 2, 3, 10, 1000]);
    let cases = (place(), length(), 0usize..4, 0usize..4, each, [wrong(), wrong(), wrong(), wrong()]);
    let cases = cases.prop_map(|(place, len, item, what, each, wrong)| Case {
        place,
        len: len.min(12_000),
        item,
        what,
        each,
        wrong,
    });
    fuzz("selections", cases, |case| match case.item {
        0 => of_type(case, |bits| bits as u8),
        1 => of_type(case, |bits| bits as u16),
        2 => of_type(case, |bits| bits as u32),
        _ => of_type(case, |bits| bits),
    });
}
