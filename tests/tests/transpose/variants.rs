//! The textbook transpositions: one body over all variants and backends, against a serial oracle.

use gpu_core::{Device, Error as Core};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use gpu_transpose::variants::{Variant, transpose_with};
use gpu_transpose::{Error, Layout, Matrix, MatrixMut};

/// Stands where nothing may be written.
const UNTOUCHED: f32 = -12345.0;

/// A row-major matrix whose rows are so far apart.
fn layout(rows: usize, columns: usize, ld: usize) -> Layout {
    Layout::row_major(rows, columns).and_then(|layout| layout.with_leading_dimension(ld)).unwrap()
}

/// The oracle: element by element. Between the rows of the output lies what was there.
fn naive(input: &[f32], matrix: Layout, transposed: Layout) -> Vec<f32> {
    let mut output = vec![UNTOUCHED; transposed.span() + 1];
    for row in 0..matrix.rows() {
        for column in 0..matrix.columns() {
            output[transposed.index(column, row)] = input[matrix.index(row, column)];
        }
    }
    output
}

#[test]
fn all_variants_transpose_any_shape() {
    for_each("all_variants_transpose_any_shape", |device| {
        for variant in Variant::ALL {
            for (rows, columns) in [
                (1, 1),
                (1, 67),
                (67, 1),
                (3, 5),
                (4, 8),
                (8, 4),
                (15, 17),
                (16, 16),
                (31, 33),
                (32, 32),
                (65, 130),
            ] {
                for (gap_in, gap_out) in [(0, 0), (3, 1)] {
                    let matrix = layout(rows, columns, columns + gap_in);
                    let values = floats(rows as u64, matrix.span());
                    let transposed = layout(columns, rows, rows + gap_out);
                    let expected = naive(&values, matrix, transposed);
                    let input = device.upload(&values).unwrap();
                    let mut output = device.upload(&vec![UNTOUCHED; expected.len()]).unwrap();
                    let stream = device.default_stream();
                    let source = Matrix::new(&input, matrix).unwrap();
                    let target = MatrixMut::new(&mut output, transposed).unwrap();
                    transpose_with(variant, &stream, source, target).unwrap();
                    let context =
                        format!("{variant} of {rows} × {columns} +{gap_in}/{gap_out} on {}", device.name());
                    assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
                }
            }
            let mut output = device.alloc(0).unwrap();
            let input = device.upload(&[]).unwrap();
            let empty = Matrix::new(&input, layout(0, 3, 3)).unwrap();
            let target = MatrixMut::new(&mut output, layout(3, 0, 0)).unwrap();
            transpose_with(variant, &device.default_stream(), empty, target).unwrap();
        }
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0; 6]).unwrap();
        let mut output = device.upload(&[UNTOUCHED; 6]).unwrap();
        let [two, three] = [layout(2, 3, 3), layout(3, 2, 2)];
        for variant in Variant::ALL {
            let mut run = |from, to| {
                let (from, to) =
                    (Matrix::new(&input, from).unwrap(), MatrixMut::new(&mut output, to).unwrap());
                transpose_with(variant, &stream, from, to).unwrap_err()
            };
            let error = run(two, two);
            assert!(
                matches!(error, Error::Device(Core::Shape { expected: (3, 2), actual: (2, 3), .. })),
                "{error}"
            );
            let error = run(two.transposed(), two);
            assert!(matches!(error, Error::ColumnMajor), "{error}");
            let error = run(three, three.transposed());
            assert!(matches!(error, Error::ColumnMajor), "{error}");
        }
        assert_eq!(output.to_vec().unwrap(), [UNTOUCHED; 6]);
    });
}

/// A grid has at most 65,535 blocks in y.
#[test]
fn too_many_tiles_are_a_typed_error() {
    let device = Device::simulator();
    let rows = 65_535 * 32 + 1;
    let input = device.zeroed::<f32>(rows).unwrap();
    let mut output = device.zeroed::<f32>(rows).unwrap();
    let stream = device.default_stream();
    let matrix = Matrix::new(&input, layout(rows, 1, 1)).unwrap();
    let target = MatrixMut::new(&mut output, layout(1, rows, rows)).unwrap();
    let error = transpose_with(Variant::Padded32, &stream, matrix, target).unwrap_err();
    let Error::Device(Core::LaunchLimit { what, asked, limit, .. }) = error else { panic!("{error}") };
    assert_eq!((what, asked, limit), ("grid size in y", 65_536, 65_535));
}
