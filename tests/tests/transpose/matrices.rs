//! The transposition: one body over all backends, against a serial oracle.

use gpu_tests::backends::{cases, cuda, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use gpu_transpose::{
    Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Order, Scratch, in_place_scratch, transpose,
    transpose_in_place, transpose_into,
};
use gpu_transpose_kernels::TILE_B32;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const T: usize = TILE_B32.rows as usize;
/// Stands where nothing may be written.
const UNTOUCHED: f32 = -12345.0;

/// The oracle: element by element. Between the rows of the output lies what was there.
fn naive(input: &[f32], matrix: Layout, output_ld: usize) -> Vec<f32> {
    let transposed = Layout::row_major(matrix.columns(), matrix.rows()).unwrap();
    let transposed = transposed.with_leading_dimension(output_ld).unwrap();
    let mut output = vec![UNTOUCHED; transposed.span()];
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
                let matrix = Layout::row_major(rows, columns).unwrap();
                let input = device.upload(&values).unwrap();
                let output = transpose(Matrix::new(&input, matrix).unwrap()).unwrap();
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
            let matrix = Matrix::new(&input, Layout::row_major(rows, columns).unwrap()).unwrap();
            assert_eq!(transpose(matrix).unwrap().len(), 0);
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
                    let matrix = Layout::row_major(rows, columns)
                        .and_then(|layout| layout.with_leading_dimension(columns + gap_in))
                        .unwrap();
                    let output_ld = rows + gap_out;
                    let values = floats(seed, from + matrix.span());
                    let input = device.upload(&values).unwrap();
                    let expected = naive(&values[from..], matrix, output_ld);
                    let mut output = device.upload(&vec![UNTOUCHED; to + expected.len() + 3]).unwrap();
                    let stream = device.default_stream();
                    let transposed = Layout::row_major(columns, rows)
                        .and_then(|layout| layout.with_leading_dimension(output_ld))
                        .unwrap();
                    let source = Matrix::new(input.slice(from..), matrix).unwrap();
                    let target = MatrixMut::new(output.slice_mut(to..), transposed).unwrap();
                    transpose_into(&stream, source, target).unwrap();
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
        let input = device.upload(&floats).unwrap();
        let matrix = Matrix::new(&input, Layout::row_major(rows, columns).unwrap()).unwrap();
        let output = transpose(matrix).unwrap().to_vec().unwrap();
        for (index, value) in output.iter().enumerate() {
            assert_eq!(value.to_bits(), values[index % rows * columns + index / rows]);
        }
    });
}

#[test]
fn more_than_two_to_the_32_bytes_and_elements() {
    let Some(device) = cuda("more_than_two_to_the_32_bytes_and_elements") else { return };
    for (rows, columns) in [(65_536 + 1, 65_536 + 64), (5, (1 << 30) + 1)] {
        let matrix = Layout::row_major(rows, columns).unwrap();
        let mut input = device.zeroed::<f32>(matrix.span()).unwrap();
        let places =
            [(0, 0), (rows - 1, 0), (0, columns - 1), (rows - 1, columns - 1), (rows / 2, columns / 3)];
        for (i, (row, column)) in places.into_iter().enumerate() {
            let at = row * columns + column;
            input.slice_mut(at..at + 1).copy_from(&[i as f32 + 1.0]).unwrap();
        }
        let output = transpose(Matrix::new(&input, matrix).unwrap()).unwrap();
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

/// What is column-major is copied as it lies, and what is transposed in place keeps its order.
#[test]
fn column_major_matrices() {
    for_each("column_major_matrices", |device| {
        let stream = device.default_stream();
        for (rows, columns, gap) in [(1, 1, 0), (5, 3, 0), (5, 3, 2), (1, 9, 1), (40, 70, 0), (70, 40, 4)] {
            let ld = rows + gap;
            let layout = Layout::column_major(rows, columns).unwrap().with_leading_dimension(ld).unwrap();
            let values = floats(7, layout.span());
            let input = device.upload(&values).unwrap();
            let output_ld = rows + 1;
            let expected_layout =
                Layout::row_major(columns, rows).unwrap().with_leading_dimension(output_ld).unwrap();
            let mut output = device.upload(&vec![UNTOUCHED; expected_layout.span()]).unwrap();
            let target = MatrixMut::new(&mut output, expected_layout).unwrap();
            transpose_into(&stream, Matrix::new(&input, layout).unwrap(), target).unwrap();
            let mut expected = vec![UNTOUCHED; expected_layout.span()];
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                expected[expected_layout.index(column, row)] = values[layout.index(row, column)];
            }
            let context = format!("{rows} × {columns} + {gap} on {}", device.name());
            assert_same_bits(&output.to_vec().unwrap(), &expected, &context);

            let layout = Layout::column_major(rows, columns).unwrap();
            let mut data = device.upload(&values[..layout.span()]).unwrap();
            let size = in_place_scratch::<f32>(device, layout).unwrap();
            let mut scratch = Scratch::with_size(&stream, size).unwrap().fixed();
            transpose_in_place(&stream, MatrixMut::new(&mut data, layout).unwrap(), &mut scratch).unwrap();
            let transposed = Layout::column_major(columns, rows).unwrap();
            let mut expected = vec![UNTOUCHED; layout.span()];
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                expected[transposed.index(column, row)] = values[layout.index(row, column)];
            }
            assert_same_bits(&data.to_vec().unwrap(), &expected, &context);
        }
    });
}

/// Outputs of either order from inputs of either, alone and in batches, with gaps and without. Where the orders differ
/// nothing changes its place but for the gaps.
#[test]
fn outputs_of_either_order() {
    for_each("outputs_of_either_order", |device| {
        let stream = device.default_stream();
        for (rows, columns) in [(1, 1), (1, 9), (9, 1), (5, 3), (40, 70), (131, 64)] {
            for (count, gaps) in [(1, [0, 0]), (1, [4, 1]), (3, [0, 0]), (3, [3, 8])] {
                for orders in [Order::RowMajor, Order::ColumnMajor]
                    .map(|of_input| {
                        [Order::RowMajor, Order::ColumnMajor].map(|of_output| [of_input, of_output])
                    })
                    .concat()
                {
                    let layout = |order, (rows, columns), gap| {
                        let matrix = Layout::new(order, rows, columns).unwrap();
                        let matrix = matrix.with_leading_dimension(matrix.contiguous() + gap).unwrap();
                        BatchLayout::new(matrix, count, matrix.span() + gap).unwrap()
                    };
                    let from = layout(orders[0], (rows, columns), gaps[0]);
                    let to = layout(orders[1], (columns, rows), gaps[1]);
                    let values = floats(11, from.span().unwrap());
                    let mut expected = vec![UNTOUCHED; to.span().unwrap()];
                    for number in 0..count {
                        for (row, column) in
                            (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
                        {
                            expected[number * to.stride + to.matrix.index(column, row)] =
                                values[number * from.stride + from.matrix.index(row, column)];
                        }
                    }
                    let input = device.upload(&values).unwrap();
                    let mut output = device.upload(&vec![UNTOUCHED; expected.len()]).unwrap();
                    let target = BatchMut::new(&mut output, to).unwrap();
                    transpose_into(&stream, Batch::new(&input, from).unwrap(), target).unwrap();
                    let context =
                        format!("{count} of {rows} × {columns} + {gaps:?}, {orders:?}, on {}", device.name());
                    assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
                }
            }
        }
    });
}
