//! The transposition: one body over all backends, against a serial oracle.

use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use gpu_transpose::{Matrix, transpose, transpose_into};
use gpu_transpose_kernels::TILE_B32;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const T: usize = TILE_B32.rows as usize;
/// Stands where nothing may be written.
const UNTOUCHED: f32 = -12345.0;

/// The oracle: element by element. Between the rows of the output lies what was there.
fn naive(input: &[f32], matrix: Matrix, output_ld: usize) -> Vec<f32> {
    let transposed = matrix.transposed(output_ld).unwrap();
    let mut output = vec![UNTOUCHED; transposed.len()];
    for row in 0..matrix.rows() {
        for column in 0..matrix.columns() {
            output[column * output_ld + row] = input[row * matrix.leading_dimension() + column];
        }
    }
    output
}

#[test]
fn shapes_around_every_boundary() {
    let sizes = [1, 2, 3, 4, 5, T - 1, T, T + 1, 2 * T, 131];
    for_each("shapes_around_every_boundary", |device| {
        for rows in sizes {
            for columns in sizes {
                let values = floats(rows as u64, rows * columns);
                let matrix = Matrix::new(rows, columns).unwrap();
                let input = device.upload(&values).unwrap();
                let output = transpose(&input, matrix).unwrap();
                let context = format!("{rows} × {columns} on {}", device.name());
                assert_same_bits(&output.to_vec().unwrap(), &naive(&values, matrix, rows), &context);
                assert_same_bits(&input.to_vec().unwrap(), &values, "the input changed");
            }
        }
    });
}

#[test]
fn empty_matrices_are_fine() {
    for_each("empty_matrices_are_fine", |device| {
        let input = device.upload::<f32>(&[]).unwrap();
        for (rows, columns) in [(0, 0), (0, 7), (7, 0)] {
            assert_eq!(transpose(&input, Matrix::new(rows, columns).unwrap()).unwrap().len(), 0);
        }
    });
}

#[test]
fn any_shape_offset_and_leading_dimension() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_shape_offset_and_leading_dimension", |device| {
        let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x7a; 32]));
        let side = || prop_oneof![1..10usize, T - 3..T + 4, 1..200usize];
        // Multiples of four elements are where accesses of 16 bytes become possible.
        let gap = || prop_oneof![Just(0usize), Just(4), 0..9usize];
        runner
            .run(
                &(side(), side(), gap(), gap(), gap(), gap(), any::<u64>()),
                |(rows, columns, gap_in, gap_out, from, to, seed)| {
                    let matrix = Matrix::with_leading_dimension(rows, columns, columns + gap_in).unwrap();
                    let output_ld = rows + gap_out;
                    let values = floats(seed, from + matrix.len());
                    let input = device.upload(&values).unwrap();
                    let expected = naive(&values[from..], matrix, output_ld);
                    let mut output = device.upload(&vec![UNTOUCHED; to + expected.len() + 3]).unwrap();
                    let stream = device.default_stream();
                    let (source, target) = (input.slice(from..), output.slice_mut(to..));
                    transpose_into(&stream, source, matrix, target, output_ld).unwrap();
                    let actual = output.to_vec().unwrap();
                    let context = format!(
                        "{rows} × {columns} +{gap_in}/{gap_out} from {from} to {to} on {}",
                        device.name()
                    );
                    assert_same_bits(&actual[to..to + expected.len()], &expected, &context);
                    assert!(
                        actual[..to].iter().all(|&value| value == UNTOUCHED),
                        "{context}: wrote before the output"
                    );
                    assert!(
                        actual[to + expected.len()..].iter().all(|&value| value == UNTOUCHED),
                        "{context}: wrote past it"
                    );
                    Ok(())
                },
            )
            .unwrap();
    });
}

/// NaNs with a payload, infinities and signed zeros are moved, not computed with.
#[test]
fn bits_are_moved_untouched() {
    for_each("bits_are_moved_untouched", |device| {
        let (rows, columns) = (T + 1, T + 2);
        let values: Vec<u32> = (0..(rows * columns) as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let floats: Vec<f32> = values.iter().map(|&bits| f32::from_bits(bits)).collect();
        let output = transpose(&device.upload(&floats).unwrap(), Matrix::new(rows, columns).unwrap())
            .unwrap()
            .to_vec()
            .unwrap();
        for (index, value) in output.iter().enumerate() {
            assert_eq!(value.to_bits(), values[index % rows * columns + index / rows]);
        }
    });
}

#[test]
fn more_than_two_to_the_32_bytes_and_elements() {
    let Some(device) = cuda("more_than_two_to_the_32_bytes_and_elements") else { return };
    for (rows, columns) in [(65_536 + 1, 65_536 + 64), (5, (1 << 30) + 1)] {
        let matrix = Matrix::new(rows, columns).unwrap();
        let mut input = device.zeroed::<f32>(matrix.len()).unwrap();
        let places =
            [(0, 0), (rows - 1, 0), (0, columns - 1), (rows - 1, columns - 1), (rows / 2, columns / 3)];
        for (i, (row, column)) in places.into_iter().enumerate() {
            let at = row * columns + column;
            input.slice_mut(at..at + 1).copy_from(&[i as f32 + 1.0]).unwrap();
        }
        let output = transpose(&input, matrix).unwrap();
        drop(input);
        for (i, (row, column)) in places.into_iter().enumerate() {
            let at = column * rows + row;
            let mut value = [0.0];
            output.slice(at..at + 1).copy_to(&mut value).unwrap();
            assert_eq!(value[0], i as f32 + 1.0, "{rows} × {columns}: element ({row}, {column})");
        }
        assert_eq!(gpu_reduce::sum(&output).unwrap(), 15.0, "{rows} × {columns}: nothing else was written");
    }
}
