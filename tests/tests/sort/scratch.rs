//! Scratch memory: as much as the queries say suffices, and one serves all primitives in turn.

use gpu_core::{Device, Scratch, ScratchSize, Segments, Stream};
use gpu_reduce::kernels::Sum;
use gpu_scan::Options;
use gpu_sort::{
    RunsMut, SortOptions, TopK, run_length_encode_into, segmented_sort_indices_into, segmented_sort_into,
    segmented_sort_pairs_into, segmented_sort_pairs_scratch, segmented_sort_scratch, select_scratch,
    sort_indices_into, sort_into, sort_pairs_in_place, sort_pairs_in_place_scratch, sort_pairs_into,
    sort_pairs_scratch, sort_scratch, top_k_into, top_k_pairs_into, top_k_scratch, top_k_segments_into,
    top_k_segments_scratch, unique_into,
};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;

const LEN: usize = 20_000;
const ROW: usize = 5000;

/// A call with some scratch memory, on a stream, that checks its results.
type Call<'a> = Box<dyn Fn(&Stream, &mut Scratch) + 'a>;

fn keys(seed: u64) -> Vec<u32> {
    (0..LEN).map(|i| (random(seed, i) % 999) as u32).collect()
}

/// Every primitive that takes scratch memory, and how much it says it needs.
fn calls(device: &Device) -> Vec<(&'static str, ScratchSize, Call<'_>)> {
    let rows = Segments::of_length(ROW).unwrap();
    let ascending = SortOptions::ascending;
    let sum: u32 = keys(1).iter().sum();
    let sorted = || {
        let mut sorted = keys(1);
        sorted.sort_unstable();
        sorted
    };
    let sorted_rows = || {
        let mut sorted = keys(1);
        sorted.chunks_mut(ROW).for_each(<[u32]>::sort_unstable);
        sorted
    };
    let input = move || device.upload(&keys(1)).unwrap();
    let output = move |len: usize| device.zeroed::<u32>(len).unwrap();
    vec![
        (
            "sum",
            gpu_reduce::reduce_scratch(LEN),
            Box::new(move |stream, scratch| {
                let mut result = output(1);
                gpu_reduce::sum_into(stream, &input(), &mut result, scratch).unwrap();
                assert_eq!(result.to_vec().unwrap(), [sum]);
            }),
        ),
        (
            "segments",
            gpu_reduce::reduce_segments_scratch::<Sum<u32>>(LEN),
            Box::new(move |stream, scratch| {
                let mut result = output(LEN / ROW);
                gpu_reduce::sum_segments_into(stream, &input(), rows, &mut result, scratch).unwrap();
                assert_eq!(result.to_vec().unwrap().iter().sum::<u32>(), sum);
            }),
        ),
        (
            "scan",
            gpu_scan::scan_scratch(LEN),
            Box::new(move |stream, scratch| {
                let mut result = output(LEN);
                gpu_scan::inclusive_sum_into(stream, &input(), &mut result, scratch).unwrap();
                assert_eq!(result.to_vec().unwrap()[LEN - 1], sum);
            }),
        ),
        (
            "scan of rows",
            gpu_scan::scan_segments_scratch(LEN),
            Box::new(move |stream, scratch| {
                let (mut result, options) = (output(LEN), Options::inclusive());
                gpu_scan::scan_segments_into::<gpu_scan::kernels::Sum<u32>>(
                    stream,
                    &input(),
                    rows,
                    options,
                    &mut result,
                    scratch,
                )
                .unwrap();
                assert_eq!(result.to_vec().unwrap().chunks(ROW).map(|row| row[ROW - 1]).sum::<u32>(), sum);
            }),
        ),
        (
            "by key",
            gpu_reduce::reduce_by_key_scratch::<Sum<u32>, u32>(LEN),
            Box::new(move |stream, scratch| {
                let (keys, ones) = (device.upload(&sorted()).unwrap(), device.upload(&[1u32; LEN]).unwrap());
                let (mut unique, mut sums, mut count) = (output(LEN), output(LEN), device.alloc(1).unwrap());
                gpu_reduce::reduce_by_key_into::<Sum<u32>, u32>(
                    stream,
                    &keys,
                    &ones,
                    &mut unique,
                    &mut sums,
                    &mut count,
                    scratch,
                )
                .unwrap();
                assert_eq!(sums.to_vec().unwrap().iter().sum::<u32>(), LEN as u32);
                assert_eq!(count.to_vec().unwrap(), [999]);
            }),
        ),
        (
            "unique",
            select_scratch::<u32>(LEN).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut unique, mut count) = (output(LEN), device.alloc(1).unwrap());
                unique_into(stream, &device.upload(&sorted()).unwrap(), &mut unique, &mut count, scratch)
                    .unwrap();
                assert_eq!(count.to_vec().unwrap(), [999]);
                assert!(unique.to_vec().unwrap()[..999].iter().copied().eq(0..999));
            }),
        ),
        (
            "a short unique",
            select_scratch::<u32>(7000).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut unique, mut count) = (output(7000), device.alloc(1).unwrap());
                let keys = device.upload(&[5u32; 7000]).unwrap();
                unique_into(stream, &keys, &mut unique, &mut count, scratch).unwrap();
                assert_eq!((count.to_vec().unwrap(), unique.to_vec().unwrap()[0]), (vec![1], 5));
            }),
        ),
        (
            "runs",
            select_scratch::<u32>(LEN).unwrap(),
            Box::new(move |stream, scratch| {
                let [mut starts, mut lengths] = [0; 2].map(|_| device.zeroed::<u64>(LEN).unwrap());
                let (mut values, mut count) = (output(LEN), device.alloc(1).unwrap());
                let runs = RunsMut {
                    values: values.view_mut(),
                    starts: starts.view_mut(),
                    lengths: lengths.view_mut(),
                    count: count.view_mut(),
                };
                run_length_encode_into(stream, &device.upload(&sorted()).unwrap(), runs, scratch).unwrap();
                assert_eq!(count.to_vec().unwrap(), [999]);
                assert_eq!(lengths.to_vec().unwrap().iter().sum::<u64>(), LEN as u64);
            }),
        ),
        (
            "sort",
            sort_scratch::<u32>(LEN).unwrap(),
            Box::new(move |stream, scratch| {
                let mut result = output(LEN);
                sort_into(stream, &input(), ascending(), &mut result, scratch).unwrap();
                assert_eq!(result.to_vec().unwrap(), sorted());
            }),
        ),
        (
            "sort of indices",
            sort_pairs_scratch::<u32, u32>(LEN).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut result, mut indices) = (output(LEN), output(LEN));
                sort_indices_into(stream, &input(), ascending(), &mut result, &mut indices, scratch).unwrap();
                let gathered = indices.to_vec().unwrap().into_iter().map(|index| keys(1)[index as usize]);
                assert!(gathered.take(50).eq(sorted()[..50].iter().copied()));
            }),
        ),
        (
            "sort of pairs",
            sort_pairs_scratch::<u32, u16>(LEN).unwrap(),
            Box::new(move |stream, scratch| {
                let values: Vec<u16> = keys(1).iter().map(|key| *key as u16).collect();
                let (mut result, mut moved) = (output(LEN), device.zeroed::<u16>(LEN).unwrap());
                let values = device.upload(&values).unwrap();
                sort_pairs_into(stream, &input(), &values, ascending(), &mut result, &mut moved, scratch)
                    .unwrap();
                assert!(moved.to_vec().unwrap().into_iter().map(u32::from).eq(sorted()));
            }),
        ),
        (
            "sort of rows",
            segmented_sort_scratch::<u32>(LEN, rows).unwrap(),
            Box::new(move |stream, scratch| {
                let mut result = output(LEN);
                segmented_sort_into(stream, &input(), rows, ascending(), &mut result, scratch).unwrap();
                assert_eq!(result.to_vec().unwrap(), sorted_rows());
            }),
        ),
        (
            "rows' pairs",
            segmented_sort_pairs_scratch::<u32>(LEN, rows).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut result, mut moved, order) = (output(LEN), output(LEN), ascending());
                segmented_sort_pairs_into(
                    stream,
                    &input(),
                    &input(),
                    rows,
                    order,
                    &mut result,
                    &mut moved,
                    scratch,
                )
                .unwrap();
                assert_eq!(moved.to_vec().unwrap(), sorted_rows());
            }),
        ),
        (
            "rows' indices",
            segmented_sort_pairs_scratch::<u32>(LEN, rows).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut result, mut indices) = (output(LEN), output(LEN));
                segmented_sort_indices_into(
                    stream,
                    &input(),
                    rows,
                    ascending(),
                    &mut result,
                    &mut indices,
                    scratch,
                )
                .unwrap();
                assert_eq!(result.to_vec().unwrap(), sorted_rows());
            }),
        ),
        (
            "top k",
            top_k_scratch::<u32>(LEN, 2000).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut first, mut indices) = (output(2000), output(2000));
                top_k_into(stream, &input(), 2000, TopK::smallest(), &mut first, &mut indices, scratch)
                    .unwrap();
                assert_eq!(first.to_vec().unwrap(), sorted()[..2000]);
            }),
        ),
        (
            "rows' top k",
            top_k_segments_scratch::<u32>(LEN, rows, 9).unwrap(),
            Box::new(move |stream, scratch| {
                let (mut first, mut other) = (output(9 * LEN / ROW), output(9 * LEN / ROW));
                let smallest = TopK::smallest();
                top_k_segments_into(stream, &input(), rows, 9, smallest, &mut first, &mut other, scratch)
                    .unwrap();
                assert_eq!(first.to_vec().unwrap()[..9], sorted_rows()[..9]);
                top_k_pairs_into(
                    stream,
                    &input(),
                    &input(),
                    rows,
                    9,
                    smallest,
                    &mut first,
                    &mut other,
                    scratch,
                )
                .unwrap();
                assert_eq!(other.to_vec().unwrap()[..9], sorted_rows()[..9]);
            }),
        ),
    ]
}

/// No more than the queries say: memory that does not grow suffices, twice.
#[test]
fn what_the_queries_say_suffices() {
    for_each("what_the_queries_say_suffices", |device| {
        let stream = device.stream().unwrap();
        for (name, size, call) in calls(device) {
            let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
            call(&stream, &mut scratch);
            call(&stream, &mut scratch);
            assert_eq!(scratch.bytes(), size.bytes(), "{name} on {device}");
        }
    });
}

/// One after the other in the same memory, which grows, and then in that of the caller's.
#[test]
fn all_primitives_share_one() {
    for_each("all_primitives_share_one", |device| {
        let stream = device.stream().unwrap();
        let calls = calls(device);
        let mut scratch = Scratch::new(&stream);
        let size = calls.iter().fold(ScratchSize::new(), |most, (_, size, _)| most.max(*size));
        for step in [1, 3, 7] {
            for at in 0..calls.len() {
                calls[at * step % calls.len()].2(&stream, &mut scratch);
            }
        }
        assert!(scratch.bytes() <= size.bytes(), "{device}");
        let mut own = Scratch::from_buffer(&stream, device.alloc(size.words()).unwrap()).unwrap();
        calls.iter().for_each(|(_, _, call)| call(&stream, &mut own));
    });
}

#[test]
fn what_the_query_for_pairs_in_place_says_is_enough() {
    let stream = Device::cpu().default_stream();
    for len in [1, 1000, 5000] {
        let (mut keys, mut values) = (vec![7_u16; len], vec![[1_u8; 2]; len].concat());
        let mut scratch = Scratch::with_size(&stream, sort_pairs_in_place_scratch::<u16, u8>(len).unwrap())
            .unwrap()
            .fixed();
        let (keys, values) = (&mut keys[..], &mut values[..len]);
        sort_pairs_in_place(&stream, keys, values, SortOptions::ascending(), &mut scratch).unwrap();
    }
}
