use gpu_core::{Count, Segments};
use gpu_sort::*;
use gpu_tests::threes::Threes;

use super::*;

/// Several blocks and tiles of every kernel.
const LEN: usize = 9_000;

#[test]
fn sorts() {
    on_each("sorts", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, sort_pairs_scratch::<u32, u32>(LEN).unwrap());
            let outputs = (device.zeroed::<u32>(LEN).unwrap(), device.zeroed::<u32>(LEN).unwrap());
            ((ints(device, LEN, 1 << 31), ints(device, LEN, 1 << 20)), outputs, room)
        };
        let options = SortOptions::ascending;
        replays(device, "sort", make, |s, ((keys, _), (sorted, _), scratch)| {
            sort_into(s, &*keys, options(), sorted, scratch)
        });
        replays(device, "sort_pairs", make, |s, ((keys, values), (sorted, moved), scratch)| {
            sort_pairs_into(s, &*keys, &*values, options(), sorted, moved, scratch)
        });
        replays(device, "sort_indices", make, |s, ((keys, _), (sorted, indices), scratch)| {
            sort_indices_into(s, &*keys, options(), sorted, indices, scratch)
        });
        replays(device, "sort in place", make, |s, ((keys, _), (sorted, _), scratch)| {
            s.copy(&mut *sorted, &*keys)?;
            sort_in_place(s, sorted, options(), scratch)
        });
        let make = |stream: &Stream| {
            let room = scratch(stream, sort_pairs_in_place_scratch::<u32, u32>(LEN).unwrap());
            let outputs = (device.zeroed::<u32>(LEN).unwrap(), device.zeroed::<u32>(LEN).unwrap());
            ((ints(device, LEN, 1 << 31), ints(device, LEN, 1 << 20)), outputs, room)
        };
        replays(device, "sort_pairs_in_place", make, |s, ((keys, values), (sorted, moved), scratch)| {
            s.copy(&mut *sorted, &*keys)?;
            s.copy(&mut *moved, &*values)?;
            sort_pairs_in_place(s, sorted, moved, options(), scratch)
        });
        replays(device, "sort, then fewer", make, |s, ((keys, values), (sorted, moved), scratch)| {
            sort_into(s, &*keys, options(), sorted, scratch)?;
            sort_into(s, values.slice(..300), options(), moved.slice_mut(..300), scratch)
        });
    });
}

#[test]
fn histograms() {
    on_each("histograms", |device| {
        let make = |_: &Stream| {
            let edges = device.upload(&[-31.0_f32, -7.5, 0.0, 0.5, 20.0, 31.0]).unwrap();
            ((floats(device, LEN), edges), device.zeroed::<u32>(5).unwrap(), ())
        };
        replays(device, "histogram_even", make, |s, ((x, _), counts, ())| {
            histogram_even_into(s, &*x, -20.0, 20.0, counts)
        });
        replays(device, "histogram_between", make, |s, ((x, edges), counts, ())| {
            histogram_between_into(s, &*x, &*edges, counts)
        });
    });
}

#[test]
fn selections() {
    on_each("selections", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, select_scratch::<u32>(LEN).unwrap());
            let flags: Vec<u8> = numbers(LEN, 2).into_iter().map(|flag| flag as u8).collect();
            let outputs = (
                device.zeroed::<u32>(LEN).unwrap(),
                device.zeroed::<u32>(LEN).unwrap(),
                device.zeroed::<Count>(1).unwrap(),
            );
            ((ints(device, LEN, 3), device.upload(&flags).unwrap()), outputs, room)
        };
        replays(device, "select_flagged", make, |s, ((x, flags), (out, _, count), scratch)| {
            select_flagged_into(s, &*x, &*flags, out, count, scratch)
        });
        replays(device, "partition_flagged", make, |s, ((x, flags), (out, rest, count), scratch)| {
            partition_flagged_into(s, &*x, &*flags, out, rest, count, scratch)
        });
        replays(device, "unique", make, |s, ((x, _), (out, _, count), scratch)| {
            unique_into(s, &*x, out, count, scratch)
        });
    });
}

#[test]
fn runs() {
    on_each("runs", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, select_scratch::<u32>(LEN).unwrap());
            let outputs = (
                device.zeroed::<u32>(LEN).unwrap(),
                device.zeroed::<u64>(LEN).unwrap(),
                device.zeroed::<u64>(LEN).unwrap(),
                device.zeroed::<Count>(1).unwrap(),
            );
            (ints(device, LEN, 3), outputs, room)
        };
        replays(device, "run_length_encode", make, |s, (x, (values, starts, lengths, count), scratch)| {
            let runs = RunsMut {
                values: values.view_mut(),
                starts: starts.view_mut(),
                lengths: lengths.view_mut(),
                count: count.view_mut(),
            };
            run_length_encode_into(s, &*x, runs, scratch)
        });
    });
}

#[test]
fn segmented_sorts_and_top_k() {
    on_each("segmented_sorts_and_top_k", |device| {
        let offsets = || Offsets::new(device, &[0, 40, 41, 3_000, 3_000, 5_000]).unwrap();
        let options = SortOptions::ascending;
        let make = |stream: &Stream| {
            let told = offsets();
            let room = scratch(stream, segmented_sort_pairs_scratch::<u32>(5_000, &told).unwrap());
            let outputs = (device.zeroed::<u32>(5_000).unwrap(), device.zeroed::<u32>(5_000).unwrap());
            ((ints(device, 5_000, 1 << 31), told), outputs, room)
        };
        replays(device, "segmented_sort", make, |s, ((keys, offsets), (sorted, _), scratch)| {
            segmented_sort_into(s, &*keys, &*offsets, options(), sorted, scratch)
        });
        replays(
            device,
            "segmented_sort_indices",
            make,
            |s, ((keys, offsets), (sorted, indices), scratch)| {
                segmented_sort_indices_into(s, &*keys, &*offsets, options(), sorted, indices, scratch)
            },
        );
        replays(device, "segmented_sort_pairs", make, |s, ((keys, offsets), (sorted, moved), scratch)| {
            segmented_sort_pairs_into(s, &*keys, &*keys, &*offsets, options(), sorted, moved, scratch)
        });
        replays(device, "segmented_sort_in_place", make, |s, ((keys, offsets), (sorted, _), scratch)| {
            s.copy(&mut *sorted, &*keys)?;
            segmented_sort_in_place(s, sorted, &*offsets, options(), scratch)
        });
        let make_in_place = |stream: &Stream| {
            let told = offsets();
            let size = segmented_sort_pairs_in_place_scratch::<u32, u32>(5_000, &told).unwrap();
            let outputs = (device.zeroed::<u32>(5_000).unwrap(), device.zeroed::<u32>(5_000).unwrap());
            ((ints(device, 5_000, 1 << 31), told), outputs, scratch(stream, size))
        };
        replays(
            device,
            "segmented_sort_pairs_in_place",
            make_in_place,
            |s, ((keys, offsets), (sorted, moved), scratch)| {
                s.copy(&mut *sorted, &*keys)?;
                s.copy(&mut *moved, &*keys)?;
                segmented_sort_pairs_in_place(s, sorted, moved, &*offsets, options(), scratch)
            },
        );
        let rows = Segments::of_length(500).unwrap();
        let make = |stream: &Stream| {
            let most = top_k_scratch::<u32>(5_000, 7).unwrap();
            let size = most.max(top_k_segments_scratch::<u32>(5_000, rows, 7).unwrap());
            let outputs = (device.zeroed::<u32>(70).unwrap(), device.zeroed::<u32>(70).unwrap());
            (ints(device, 5_000, 1 << 31), outputs, scratch(stream, size))
        };
        let largest = TopK::largest;
        replays(device, "top_k", make, |s, (keys, (first, indices), scratch)| {
            top_k_into(s, &*keys, 7, largest(), first.slice_mut(..7), indices.slice_mut(..7), scratch)
        });
        replays(device, "top_k_segments", make, |s, (keys, (first, indices), scratch)| {
            top_k_segments_into(s, &*keys, rows, 7, largest(), first, indices, scratch)
        });
        replays(device, "top_k_rows", make, |s, (keys, (first, indices), scratch)| {
            top_k_rows_into(s, &*keys, 500, 7, largest().in_any_order(), first, indices, scratch)
        });
        replays(device, "top_k_pairs", make, |s, (keys, (first, moved), scratch)| {
            top_k_pairs_into(s, &*keys, &*keys, rows, 7, largest(), first, moved, scratch)
        });
    });
}

/// The kernel of a predicate has no PTX here: a GPU says so when the call is captured.
#[test]
fn selections_by_a_predicate() {
    on_each("selections_by_a_predicate", |device| {
        let make = |stream: &Stream| {
            let room = scratch(stream, select_scratch::<u64>(LEN).unwrap());
            let outputs = (
                device.zeroed::<u64>(LEN).unwrap(),
                device.zeroed::<u64>(LEN).unwrap(),
                device.zeroed::<Count>(1).unwrap(),
            );
            (device.upload(&numbers(LEN, 1 << 40)).unwrap(), outputs, room)
        };
        if device.kind() == Kind::Cuda {
            let stream = device.stream().unwrap();
            let captured = stream.capture(make(&stream), |s, (x, (selected, _, count), scratch)| {
                select_if_into::<Threes>(s, &*x, selected, count, scratch)
            });
            assert!(matches!(captured, Err(Error::NoKernelImage { .. })), "{captured:?}");
            return;
        }
        replays(device, "select_if", make, |s, (x, (selected, _, count), scratch)| {
            select_if_into::<Threes>(s, &*x, selected, count, scratch)
        });
        replays(device, "partition_if", make, |s, (x, (selected, rejected, count), scratch)| {
            partition_if_into::<Threes>(s, &*x, selected, rejected, count, scratch)
        });
    });
}
