//! Transpositions one behind the other, with nothing in between: kernels that wait by themselves for the one before
//! (programmatic launches), and the simulator watches that they do.

use gpu_core::{Buffer, Device, Element};
use gpu_sim::Config;
use gpu_transpose::{
    Layout, Matrix, MatrixMut, Scratch, permute_into, transpose_in_place, transpose_in_place_wide,
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
        let transpose = |from: &Buffer<T>, layout, to: &mut Buffer<T>, transposed| {
            let (from, to) = (Matrix::new(from, layout).unwrap(), MatrixMut::new(to, transposed).unwrap());
            transpose_into(&stream, from, to).unwrap();
        };
        transpose(&first, matrix, &mut second, back);
        transpose(&second, back, &mut third, matrix);
        // And over what the one before the last still read.
        transpose(&third, matrix, &mut first, back);
        transpose(&first, back, &mut second, matrix);
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
        let layouts = [(rows, columns), (columns, rows)].map(|(r, c)| Layout::row_major(r, c).unwrap());
        let mut scratch = Scratch::new(&stream);
        for layout in layouts {
            transpose_in_place(&stream, MatrixMut::new(&mut data, layout).unwrap(), &mut scratch).unwrap();
        }
        if rows == columns {
            for layout in layouts {
                let matrix = MatrixMut::new(&mut data, layout).unwrap();
                transpose_in_place_wide(&stream, matrix, 3).unwrap();
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
