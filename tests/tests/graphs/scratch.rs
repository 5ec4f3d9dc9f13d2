//! Scratch memory between two launches of one graph: what the first left there is not what the second finds.
//!
//! With the same input a launch that reads the words of the one before gives the same result. So each launch has
//! another, and is held against a call that has scratch memory of its own.

use gpu_core::{Count, ScratchSize};
use gpu_reduce::kernels::Sum;
use gpu_reduce::reduce_by_key_into;
use gpu_scan::{Options, scan_in_place, scan_into, scan_segments_into};
use gpu_sort::*;

use super::*;

/// Several blocks and tiles of every kernel.
const LEN: usize = 9_000;

/// Inputs that have little in common: runs, digits and sums of all of them lie elsewhere.
fn inputs() -> [Vec<u32>; 5] {
    let drawn: Vec<u32> = numbers(LEN, 1 << 32).into_iter().map(|number| number as u32).collect();
    [
        drawn.clone(),
        vec![1; LEN],
        (0..LEN as u32).rev().collect(),
        drawn.iter().map(|number| number % 3).collect(),
        drawn.iter().map(|number| !number).collect(),
    ]
}

/// Each launch of a graph, with one input after the other and again, gives what a call gives that nothing came before.
#[track_caller]
fn forgets<O: Outputs>(
    device: &Device,
    name: &str,
    outputs: impl Fn() -> O,
    work: impl Fn(&Stream, &Buffer<u32>, &mut O, &mut Scratch) -> Result<()>,
) {
    let stream = device.stream().unwrap();
    let fresh = |input: &[u32]| {
        let (input, mut outputs) = (device.upload(input).unwrap(), outputs());
        let mut scratch = Scratch::new(&stream);
        work(&stream, &input, &mut outputs, &mut scratch).unwrap();
        outputs.read()
    };
    let room = scratch(&stream, ScratchSize::new().tickets(4096).zeros(4096).array::<u8>(1 << 20));
    let inputs = inputs();
    // What is known to be clear when the graph is captured is not when it is launched again: it was used before.
    let mut held = (device.upload(&inputs[4]).unwrap(), outputs(), room);
    work(&stream, &held.0, &mut held.1, &mut held.2).unwrap();
    let mut graph = stream
        .capture(held, |stream, (input, outputs, scratch)| work(stream, input, outputs, scratch))
        .unwrap_or_else(|error| panic!("{name} captured on {device}: {error}"));
    let expected = inputs.each_ref().map(|input| fresh(input));
    for (launch, input) in inputs.iter().chain(&inputs[..2]).enumerate() {
        let expected = |number: usize| &expected[number % inputs.len()];
        let (memory, outputs, _) = graph.resources_mut();
        memory.copy_from(input).unwrap();
        outputs.spoil(&stream, 0);
        graph.launch(&stream).unwrap_or_else(|error| panic!("{name}, launch {launch} on {device}: {error}"));
        assert!(
            graph.resources().1.read() == *expected(launch),
            "{name} on {device}: launch {launch} remembers"
        );
        // And calls beside it.
        if launch % 4 == 1 {
            let (memory, outputs, scratch) = graph.resources_mut();
            memory.copy_from(&inputs[3]).unwrap();
            outputs.spoil(&stream, 0);
            work(&stream, memory, outputs, scratch).unwrap();
            assert!(outputs.read() == *expected(3), "{name} on {device}: a call remembers launch {launch}");
        }
    }
}

#[test]
fn launches_do_not_remember() {
    on_each("launches_do_not_remember", |device| {
        let zeros = || device.zeroed::<u32>(LEN).unwrap();
        let count = || device.zeroed::<Count>(1).unwrap();
        let wide = || device.zeroed::<u64>(LEN).unwrap();
        let ascending = SortOptions::ascending;
        forgets(
            device,
            "sum",
            || device.zeroed::<u32>(1).unwrap(),
            |s, x, y, scratch| gpu_reduce::sum_into(s, x, y, scratch),
        );
        forgets(device, "scan", zeros, |s, x, y, scratch| {
            scan_into::<gpu_scan::kernels::Sum<u32>>(s, x, Options::inclusive(), y, scratch)
        });
        forgets(device, "scan in place, twice", zeros, |s, x, y, scratch| {
            s.copy(&mut *y, x)?;
            scan_in_place::<gpu_scan::kernels::Max<u32>>(s, &mut *y, Options::exclusive(), scratch)?;
            scan_in_place::<gpu_scan::kernels::Sum<u32>>(s, y, Options::inclusive(), scratch)
        });
        forgets(device, "sort", zeros, |s, x, y, scratch| sort_into(s, x, ascending(), y, scratch));
        forgets(
            device,
            "sort_indices",
            || (zeros(), zeros()),
            |s, x, (sorted, indices), scratch| sort_indices_into(s, x, ascending(), sorted, indices, scratch),
        );
        forgets(
            device,
            "unique",
            || (zeros(), count()),
            |s, x, (first, count), scratch| unique_into(s, x, first, count, scratch),
        );
        forgets(
            device,
            "select_flagged",
            || (zeros(), count()),
            |s, x, (selected, count), scratch| {
                select_flagged_into(s, x, x.view().cast::<u8>().slice(..LEN), selected, count, scratch)
            },
        );
        forgets(
            device,
            "run_length_encode",
            || (zeros(), wide(), wide(), count()),
            |s, x, (values, starts, lengths, count), scratch| {
                let runs = RunsMut {
                    values: values.view_mut(),
                    starts: starts.view_mut(),
                    lengths: lengths.view_mut(),
                    count: count.view_mut(),
                };
                run_length_encode_into(s, x, runs, scratch)
            },
        );
        forgets(
            device,
            "reduce_by_key",
            || (zeros(), zeros(), count()),
            |s, x, (keys, sums, runs), scratch| {
                reduce_by_key_into::<Sum<u32>, u32>(s, x, x, keys, sums, runs, scratch)
            },
        );
        forgets(
            device,
            "top_k",
            || (zeros(), zeros()),
            |s, x, (first, indices), scratch| {
                top_k_into(s, x, 77, TopK::largest(), first.slice_mut(..77), indices.slice_mut(..77), scratch)
            },
        );
        // Calls of several kinds, which share the words.
        forgets(
            device,
            "unique, scan, sum",
            || (zeros(), count(), zeros()),
            |s, x, (first, count, sums), scratch| {
                unique_into(s, x, &mut *first, count, scratch)?;
                scan_into::<gpu_scan::kernels::Sum<u32>>(s, x, Options::inclusive(), &mut *sums, scratch)?;
                gpu_reduce::sum_into(s, x, first.slice_mut(..1), scratch)
            },
        );
    });
}

#[test]
fn launches_with_segments_do_not_remember() {
    on_each("launches_with_segments_do_not_remember", |device| {
        let stream = device.stream().unwrap();
        let offsets = || Offsets::new(device, &[0, 5, 5, 5_000, 7_345, LEN as u32]).unwrap();
        let room = scratch(&stream, ScratchSize::new().tickets(4096).zeros(4096).array::<u8>(1 << 20));
        let buffers = [(); 3].map(|()| device.zeroed::<u32>(LEN).unwrap());
        let mut graph = stream
            .capture((buffers, offsets(), room), |s, ([x, scanned, sorted], offsets, scratch)| {
                let options = Options::inclusive();
                scan_segments_into::<gpu_scan::kernels::Sum<u32>>(
                    s, &*x, &*offsets, options, scanned, scratch,
                )?;
                segmented_sort_into(s, &*x, &*offsets, SortOptions::ascending(), sorted, scratch)
            })
            .unwrap();
        for (launch, input) in inputs().iter().enumerate() {
            graph.resources_mut().0[0].copy_from(input).unwrap();
            graph.launch(&stream).unwrap();
            let (mut scanned, mut sorted) = (input.clone(), input.clone());
            for ends in [0, 5, 5, 5_000, 7_345, LEN].windows(2) {
                let range = ends[0]..ends[1];
                sorted[range.clone()].sort_unstable();
                scanned[range].iter_mut().fold(0_u32, |sum, value| {
                    *value = sum.wrapping_add(*value);
                    *value
                });
            }
            let [_, by_scan, by_sort] = &graph.resources().0;
            assert!(by_scan.to_vec().unwrap() == scanned, "scan, launch {launch} on {device}");
            assert!(by_sort.to_vec().unwrap() == sorted, "sort, launch {launch} on {device}");
        }
    });
}
