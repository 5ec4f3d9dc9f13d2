//! Launches that are cut for devices of more and of fewer multiprocessors have the same results.

use gpu_core::Device;
use gpu_sort::{
    Offsets, Scratch, Segments, SortOptions, TopK, segmented_sort_indices, top_k_segments_into,
    top_k_segments_scratch,
};
use gpu_tests::backends::same_on_all_multiprocessors;

use crate::sort::{bytes, keys};

/// Short segments and long ones, of which there are more tiles than a single multiprocessor has blocks.
#[test]
fn segments_are_sorted_the_same() {
    let lengths = [3, 0, 30_000, 700, 5000, 40, 12_000, 33, 9000];
    same_on_all_multiprocessors("segmented_sort", |device| {
        let keys = keys::<f32>(1, lengths.iter().sum::<u32>() as usize);
        let offsets = Offsets::from_lengths(device, &lengths).unwrap();
        let (sorted, indices) =
            segmented_sort_indices(&device.upload(&keys).unwrap(), &offsets, SortOptions::ascending())
                .unwrap();
        (bytes(&sorted.to_vec().unwrap()).to_vec(), indices.to_vec().unwrap())
    });
}

/// Rows that are cut into several parts on many multiprocessors and are not on one, by a bound and by digits; in the
/// scratch memory that is enough for all devices.
#[test]
fn parts_of_rows_have_the_same_first_keys() {
    for (kernel, rows, row, k) in [("top_k_rows", 8, 33_000, 20), ("top_k_digits_b32", 2, 40_000, 300)] {
        same_on_all_multiprocessors(kernel, |device| first::<i32>(device, rows, row, k));
    }
}

/// An array that is filtered.
#[test]
fn filtered_arrays_have_the_same_first_keys() {
    same_on_all_multiprocessors("top_k_filter", |device| first::<u16>(device, 1, (1 << 20) + 77, 5));
}

fn first<K: crate::sort::Sample>(device: &Device, rows: usize, row: usize, k: usize) -> (Vec<u8>, Vec<u32>) {
    let stream = device.default_stream();
    let keys = device.upload(&keys::<K>(0, rows * row)).unwrap();
    let (mut first, mut indices) = (device.zeroed::<K>(rows * k).unwrap(), device.zeroed(rows * k).unwrap());
    let segments = Segments::of_length(row).unwrap();
    let size = top_k_segments_scratch::<K>(rows * row, segments, k).unwrap();
    let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
    top_k_segments_into(&stream, &keys, segments, k, TopK::largest(), &mut first, &mut indices, &mut scratch)
        .unwrap();
    (bytes(&first.to_vec().unwrap()).to_vec(), indices.to_vec().unwrap())
}
