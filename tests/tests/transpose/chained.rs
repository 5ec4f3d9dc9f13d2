//! Transpositions one behind the other, with nothing in between: kernels that wait by themselves for the one before
//! (programmatic launches), and the simulator watches that they do.

use gpu_core::{Device, Element};
use gpu_sim::Config;
use gpu_transpose::{
    BatchLayout, Layout, in_place_scratch_len, permute_into, transpose_in_place, transpose_in_place_wide,
    transpose_into,
};

/// Whole tiles, parts of them, rows on 16 bytes and elsewhere, a narrow one: every kernel.
const SHAPES: [(usize, usize); 6] = [(128, 128), (64, 192), (80, 48), (67, 45), (33, 129), (200, 3)];

fn there_and_back<T: Element + PartialEq + std::fmt::Debug>(device: &Device, of: impl Fn(usize) -> T) {
    let stream = device.stream().unwrap();
    for (rows, columns) in SHAPES {
        let values: Vec<T> = (0..rows * columns).map(&of).collect();
        let (matrix, back) =
            (Layout::row_major(rows, columns).unwrap(), Layout::row_major(columns, rows).unwrap());
        let mut first = device.upload(&values).unwrap();
        let (mut second, mut third) =
            (device.alloc::<T>(values.len()).unwrap(), device.alloc::<T>(values.len()).unwrap());
        transpose_into(&stream, &first, matrix, &mut second, rows).unwrap();
        transpose_into(&stream, &second, back, &mut third, columns).unwrap();
        // And over what the one before the last still read.
        transpose_into(&stream, &third, matrix, &mut first, rows).unwrap();
        transpose_into(&stream, &first, back, &mut second, columns).unwrap();
        permute_into(&stream, &second, &[rows, 1, columns], &[2, 1, 0], &mut first).unwrap();
        permute_into(&stream, &first, &[1, columns, rows], &[2, 0, 1], &mut third).unwrap();
        stream.synchronize().unwrap();
        let context = format!("{rows} × {columns} of {} bytes on {}", size_of::<T>(), device.name());
        assert_eq!(second.to_vec().unwrap(), values, "{context}");
        assert_eq!(third.to_vec().unwrap(), values, "{context}");
    }
}

/// In place, twice: squares and rectangles have kernels of their own.
fn in_place<T: Element + PartialEq + std::fmt::Debug>(device: &Device, of: impl Fn(usize) -> T) {
    let stream = device.stream().unwrap();
    for (rows, columns) in [(64, 64), (37, 37), (48, 30), (160, 160)] {
        let values: Vec<T> = (0..rows * columns).map(&of).collect();
        let mut data = device.upload(&values).unwrap();
        let batches = [(rows, columns), (columns, rows)]
            .map(|(r, c)| BatchLayout::from(Layout::row_major(r, c).unwrap()));
        let len =
            batches.map(|batch| in_place_scratch_len::<T>(device, batch).unwrap()).into_iter().max().unwrap();
        let mut scratch = device.alloc(len).unwrap();
        for batch in batches {
            transpose_in_place(&stream, &mut data, batch, &mut scratch).unwrap();
        }
        if rows == columns {
            for _ in 0..2 {
                transpose_in_place_wide(&stream, &mut data, batches[0], 3).unwrap();
            }
        }
        assert_eq!(data.to_vec().unwrap(), values, "{rows} × {columns} on {}", device.name());
    }
}

#[test]
fn kernels_wait_for_the_one_before() {
    let check = |device: &Device| {
        there_and_back::<u8>(device, |i| (i % 251) as u8);
        there_and_back::<u16>(device, |i| i as u16);
        there_and_back::<u32>(device, |i| i as u32);
        there_and_back::<u64>(device, |i| i as u64);
        in_place::<u8>(device, |i| (i % 251) as u8);
        in_place::<u32>(device, |i| i as u32);
        in_place::<u64>(device, |i| i as u64);
    };
    gpu_tests::backends::for_each("kernels_wait_for_the_one_before", check);
    for seed in 0..5 {
        check(&Device::simulator_with(Config::with_seed(seed)));
    }
}
