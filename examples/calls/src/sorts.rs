//! Sorts, selections, runs and histograms: of keys and values of other widths.

use gpu_core::{Element, Scratch, Segments};
use gpu_reduce::kernels::Sum;
use gpu_reduce::{RunKey, reduce_by_key_into, reduce_by_key_scratch};
use gpu_sort::{
    HistogramSample, RunsMut, SortKey, SortOptions, TopK, histogram_between_into, histogram_even_into,
    run_length_encode_into, segmented_sort_pairs_into, segmented_sort_pairs_scratch, select_flagged_into,
    select_scratch, sort_into, sort_pairs_into, sort_pairs_scratch, sort_scratch, top_k_into,
    top_k_rows_into, top_k_scratch, top_k_segments_into, top_k_segments_scratch, unique_into,
};

use super::{Call, Part, Sample, samples};

/// Elements that are simulated of segments that are sorted.
const PASSES: usize = 1 << 15;
/// Keys that are simulated of a sort, times its passes, one for each byte, …
const PASSED: usize = 1 << 17;
/// … and the fewest of them.
const KEYS: usize = 3 << 13;
/// Elements that are simulated of what blocks wait for each other for, once.
const ONCE: usize = 1 << 16;
/// Keys of a segment, and those that are selected of it.
const SEGMENT: usize = 1 << 15;
const SELECTED: usize = 1000;
/// Elements of an array that is filtered, which shorter ones are not: all are simulated.
const FILTERED: usize = 1 << 21;
/// Elements of rows of which a few blocks are simulated.
const ROWS: usize = 1 << 18;
/// Elements of segments that are sorted with values.
const SHORT: usize = 256;
/// Elements of a run of equal ones.
const RUN: usize = 8;

/// All of them.
pub fn all() -> Vec<Call> {
    let rows = of_rows::<u8>().chain(of_rows::<f32>()).chain(of_rows::<f64>());
    let others = vec![
        sort::<u8>(),
        sort::<u16>(),
        sort::<u64>(),
        pairs::<u8, u32>(),
        pairs::<u16, u32>(),
        pairs::<u8, u64>(),
        pairs::<u16, u64>(),
        pairs::<u32, u64>(),
        pairs::<u64, u64>(),
        segmented_pairs::<u8>(),
        segmented_pairs::<u16>(),
        segmented_pairs::<u32>(),
        segmented_pairs::<u64>(),
        segmented_pairs::<u128>(),
        filtered::<u16>(),
        filtered::<f64>(),
        by_digits::<f64>(),
        by_digits::<f32>(),
        flagged::<u8>(),
        flagged::<u16>(),
        flagged::<u64>(),
        flagged::<u128>(),
        unique::<u8>(),
        unique::<u16>(),
        unique::<u64>(),
        unique::<u128>(),
        runs::<u8>(),
        runs::<u16>(),
        runs::<u64>(),
        runs::<u128>(),
        by_key::<u8>(),
        by_key::<u16>(),
        by_key::<u64>(),
        even::<f64>(-0.5, 0.5),
        even::<u16>(0, 1 << 16),
        even::<u32>(0, 1 << 32),
        between::<f32>(),
        between::<f64>(),
        between::<u8>(),
        between::<u16>(),
        between::<u32>(),
    ];
    others.into_iter().chain(rows).collect()
}

fn name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// Runs of equal elements.
fn in_runs<T: Sample>(len: usize) -> Vec<T> {
    let each = samples::<T>(len.div_ceil(RUN));
    each.into_iter().flat_map(|value| [value; RUN]).take(len).collect()
}

fn sort<K: SortKey + Sample>() -> Call {
    let bytes = 2.0 * size_of::<K>() as f64;
    let part = Part::all((PASSED / size_of::<K>()).max(KEYS));
    Call::new(format!("sort/{}", name::<K>()), bytes, part, |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&samples::<K>(len))?);
        let mut output = device.alloc(len)?;
        let mut scratch = Scratch::with_size(&stream, sort_scratch::<K>(len)?)?;
        Ok(Box::new(move || {
            Ok(sort_into(&stream, &keys, SortOptions::ascending(), &mut output, &mut scratch)?)
        }))
    })
}

fn pairs<K: SortKey + Sample, V: Element + Sample>() -> Call {
    let bytes = 2.0 * (size_of::<K>() + size_of::<V>()) as f64;
    let name = format!("sort_pairs/{}/{}", name::<K>(), name::<V>());
    Call::new(name, bytes, Part::all((PASSED / size_of::<K>()).max(KEYS)), |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&samples::<K>(len))?);
        let (values, mut output) = (device.upload(&samples::<V>(len))?, device.alloc(len)?);
        let mut moved = device.alloc(len)?;
        let mut scratch = Scratch::with_size(&stream, sort_pairs_scratch::<K, V>(len)?)?;
        Ok(Box::new(move || {
            let options = SortOptions::ascending();
            Ok(sort_pairs_into(&stream, &keys, &values, options, &mut output, &mut moved, &mut scratch)?)
        }))
    })
}

/// Values that are gathered from the places that are sorted with keys.
fn segmented_pairs<V: Element + Sample>() -> Call {
    let bytes = 2.0 * (4 + size_of::<V>()) as f64;
    let name = format!("segmented_sort_pairs/u32/{}", name::<V>());
    Call::new(name, bytes, Part::all(PASSES), |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&samples::<u32>(len))?);
        let (values, mut output) = (device.upload(&samples::<V>(len))?, device.alloc(len)?);
        let (mut moved, rows) = (device.alloc(len)?, Segments::of_length(SHORT)?);
        let mut scratch = Scratch::with_size(&stream, segmented_sort_pairs_scratch::<u32>(len, rows)?)?;
        Ok(Box::new(move || {
            let (options, rows) = (SortOptions::ascending(), Segments::of_length(SHORT)?);
            let (output, moved) = (&mut output, &mut moved);
            Ok(segmented_sort_pairs_into(
                &stream,
                &keys,
                &values,
                rows,
                options,
                output,
                moved,
                &mut scratch,
            )?)
        }))
    })
}

/// The largest few of an array, which are among the largest of a sample.
fn filtered<K: SortKey + Sample>() -> Call {
    const FEW: usize = 64;
    let name = format!("top_k/{}", name::<K>());
    let call = Call::new(name, size_of::<K>() as f64, Part::all(FILTERED), |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&samples::<K>(len))?);
        let (mut output, mut indices) = (device.alloc(FEW)?, device.alloc(FEW)?);
        let mut scratch = Scratch::with_size(&stream, top_k_scratch::<K>(len, FEW)?)?;
        Ok(Box::new(move || {
            let (output, indices) = (&mut output, &mut indices);
            Ok(top_k_into(&stream, &keys, FEW, TopK::largest(), output, indices, &mut scratch)?)
        }))
    });
    Call { size: FILTERED, ..call }
}

/// The largest few of each row of as many elements as a block of a warp or two reads at once, and of parts of them.
fn of_rows<K: SortKey + Sample>() -> impl Iterator<Item = Call> {
    const FEW: usize = 8;
    // Those of 32 bits are held twice as many as others.
    let whole = if size_of::<K>() == 4 { 1024 } else { 512 };
    [whole / 4, whole / 2, whole, 2 * whole].into_iter().map(|row| {
        let name = format!("top_k_rows/{row}/{}", name::<K>());
        let bytes = size_of::<K>() as f64 + (size_of::<K>() + 4) as f64 * FEW as f64 / row as f64;
        Call::new(name, bytes, Part::sample(ROWS, 8), move |device, len| {
            let (stream, keys) = (device.default_stream(), device.upload(&samples::<K>(len))?);
            let count = len / row * FEW;
            let (mut output, mut indices) = (device.alloc(count)?, device.alloc(count)?);
            let rows = Segments::of_length(row)?;
            let mut scratch = Scratch::with_size(&stream, top_k_segments_scratch::<K>(len, rows, FEW)?)?;
            Ok(Box::new(move || {
                let (output, indices) = (&mut output, &mut indices);
                let options = TopK::largest();
                Ok(top_k_rows_into(&stream, &keys, row, FEW, options, output, indices, &mut scratch)?)
            }))
        })
    })
}

/// The largest of segments, more than a block compares.
fn by_digits<K: SortKey + Sample>() -> Call {
    let name = format!("top_k_segments/{}", name::<K>());
    let call = Call::new(name, size_of::<K>() as f64, Part::all(4 * SEGMENT), |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&samples::<K>(len))?);
        let count = len / SEGMENT * SELECTED;
        let (mut output, mut indices) = (device.alloc(count)?, device.alloc(count)?);
        let rows = Segments::of_length(SEGMENT)?;
        let mut scratch = Scratch::with_size(&stream, top_k_segments_scratch::<K>(len, rows, SELECTED)?)?;
        Ok(Box::new(move || {
            let (options, rows) = (TopK::largest(), Segments::of_length(SEGMENT)?);
            let (output, indices) = (&mut output, &mut indices);
            Ok(top_k_segments_into(&stream, &keys, rows, SELECTED, options, output, indices, &mut scratch)?)
        }))
    });
    // More segments would be cut into fewer parts each.
    Call { size: 64 * SEGMENT, ..call }
}

/// Half of the items.
fn flagged<T: Element + Sample>() -> Call {
    let bytes = 1.0 + 1.5 * size_of::<T>() as f64;
    Call::new(format!("select_flagged/{}", name::<T>()), bytes, Part::all(ONCE), |device, len| {
        let (stream, items) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let flags: Vec<u8> = samples::<u8>(len).into_iter().map(|flag| flag & 1).collect();
        let (flags, mut selected) = (device.upload(&flags)?, device.alloc(len)?);
        let mut count = device.alloc(1)?;
        let mut scratch = Scratch::with_size(&stream, select_scratch::<T>(len)?)?;
        Ok(Box::new(move || {
            let (selected, count) = (&mut selected, &mut count);
            Ok(select_flagged_into(&stream, &items, &flags, selected, count, &mut scratch)?)
        }))
    })
}

fn unique<T: Element + Sample>() -> Call {
    let bytes = (1.0 + 1.0 / RUN as f64) * size_of::<T>() as f64;
    Call::new(format!("unique/{}", name::<T>()), bytes, Part::all(ONCE), |device, len| {
        let (stream, items) = (device.default_stream(), device.upload(&in_runs::<T>(len))?);
        let (mut selected, mut count) = (device.alloc(len)?, device.alloc(1)?);
        let mut scratch = Scratch::with_size(&stream, select_scratch::<T>(len)?)?;
        Ok(Box::new(move || Ok(unique_into(&stream, &items, &mut selected, &mut count, &mut scratch)?)))
    })
}

fn runs<T: Element + Sample>() -> Call {
    let bytes = size_of::<T>() as f64 + (size_of::<T>() + 16) as f64 / RUN as f64;
    Call::new(format!("run_length_encode/{}", name::<T>()), bytes, Part::all(ONCE), |device, len| {
        let (stream, items) = (device.default_stream(), device.upload(&in_runs::<T>(len))?);
        let (mut values, mut count) = (device.alloc(len)?, device.alloc(1)?);
        let [mut starts, mut lengths] = [device.alloc(len)?, device.alloc(len)?];
        let mut scratch = Scratch::with_size(&stream, select_scratch::<T>(len)?)?;
        Ok(Box::new(move || {
            let runs = RunsMut {
                values: values.view_mut(),
                starts: starts.view_mut(),
                lengths: lengths.view_mut(),
                count: count.view_mut(),
            };
            Ok(run_length_encode_into(&stream, &items, runs, &mut scratch)?)
        }))
    })
}

/// Sums of runs of equal keys.
fn by_key<K: RunKey + Sample>() -> Call {
    let bytes = (1.0 + 1.0 / RUN as f64) * (size_of::<K>() + 4) as f64;
    let name = format!("reduce_by_key/sum/f32/{}", name::<K>());
    Call::new(name, bytes, Part::all(ONCE), |device, len| {
        let (stream, keys) = (device.default_stream(), device.upload(&in_runs::<K>(len))?);
        let (values, mut unique) = (device.upload(&samples::<f32>(len))?, device.alloc(len)?);
        let (mut sums, mut count) = (device.alloc(len)?, device.alloc(1)?);
        let mut scratch = Scratch::with_size(&stream, reduce_by_key_scratch::<Sum<f32>, K>(len))?;
        Ok(Box::new(move || {
            let (unique, sums, count) = (&mut unique, &mut sums, &mut count);
            let scratch = &mut scratch;
            Ok(reduce_by_key_into::<Sum<f32>, K>(&stream, &keys, &values, unique, sums, count, scratch)?)
        }))
    })
}

/// Bins of the histograms.
const BINS: usize = 256;

fn even<T: HistogramSample<Bound: Send + Sync> + Sample>(lower: T::Bound, upper: T::Bound) -> Call {
    let name = format!("histogram_even/{}", name::<T>());
    let part = Part::sample(1 << 20, 4).cut();
    Call::new(name, size_of::<T>() as f64, part, move |device, len| {
        let (stream, values) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let mut counts = device.alloc::<u32>(BINS)?;
        Ok(Box::new(move || Ok(histogram_even_into(&stream, &values, lower, upper, &mut counts)?)))
    })
}

/// Between edges that are drawn.
fn between<T: HistogramSample + Sample + PartialOrd>() -> Call {
    let name = format!("histogram_between/{}", name::<T>());
    let part = Part::sample(1 << 20, 2).cut();
    Call::new(name, size_of::<T>() as f64, part, |device, len| {
        let (stream, values) = (device.default_stream(), device.upload(&samples::<T>(len))?);
        let mut edges = samples::<T>(BINS + 1);
        edges.sort_by(|one, other| one.partial_cmp(other).expect("they are no NaN"));
        let (edges, mut counts) = (device.upload(&edges)?, device.alloc::<u32>(BINS)?);
        Ok(Box::new(move || Ok(histogram_between_into(&stream, &values, &edges, &mut counts)?)))
    })
}
