//! The textbook transpositions: one body over all variants and backends, against a serial oracle.

use gpu_core::Device;
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;
use gpu_transpose::variants::{Variant, transpose_with};
use gpu_transpose::{Error, Layout};

/// Stands where nothing may be written.
const UNTOUCHED: f32 = -12345.0;

/// The oracle: element by element. Between the rows of the output lies what was there.
fn naive(input: &[f32], matrix: Layout, output_ld: usize) -> Vec<f32> {
    let transposed = Layout::row_major(matrix.columns(), matrix.rows()).unwrap();
    let transposed = transposed.with_leading_dimension(output_ld).unwrap();
    let mut output = vec![UNTOUCHED; transposed.span() + 1];
    for row in 0..matrix.rows() {
        for column in 0..matrix.columns() {
            output[column * output_ld + row] = input[row * matrix.leading_dimension() + column];
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
                    let matrix = Layout::row_major(rows, columns)
                        .and_then(|layout| layout.with_leading_dimension(columns + gap_in))
                        .unwrap();
                    let values = floats(rows as u64, matrix.span());
                    let output_ld = rows + gap_out;
                    let expected = naive(&values, matrix, output_ld);
                    let input = device.upload(&values).unwrap();
                    let mut output = device.upload(&vec![UNTOUCHED; expected.len()]).unwrap();
                    let stream = device.default_stream();
                    transpose_with(variant, &stream, &input, matrix, &mut output, output_ld).unwrap();
                    let context =
                        format!("{variant} of {rows} × {columns} +{gap_in}/{gap_out} on {}", device.name());
                    assert_same_bits(&output.to_vec().unwrap(), &expected, &context);
                }
            }
            let mut output = device.alloc(0).unwrap();
            let empty = Layout::row_major(0, 3).unwrap();
            let input = device.upload(&[]).unwrap();
            transpose_with(variant, &device.default_stream(), &input, empty, &mut output, 0).unwrap();
        }
    });
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    for_each("bad_input_is_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let input = device.upload(&[1.0; 6]).unwrap();
        let mut output = device.upload(&[UNTOUCHED; 6]).unwrap();
        let matrix = |rows, columns| Layout::row_major(rows, columns).unwrap();
        for variant in Variant::ALL {
            let mut run =
                |matrix, ld| transpose_with(variant, &stream, &input, matrix, &mut output, ld).unwrap_err();
            let error = run(matrix(2, 4), 2);
            assert!(
                matches!(
                    error,
                    Error::Device(gpu_core::Error::Length { what: "the input", expected: 8, actual: 6 })
                ),
                "{error}"
            );
            let error = run(matrix(2, 3), 3);
            assert!(
                matches!(
                    error,
                    Error::Device(gpu_core::Error::Length { what: "the output", expected: 8, actual: 6 })
                ),
                "{error}"
            );
            let error = run(matrix(3, 2), 2);
            assert!(
                matches!(
                    error,
                    Error::Device(gpu_core::Error::LeadingDimension { expected: 3, actual: 2, .. })
                ),
                "{error}"
            );
            let error = run(Layout::column_major(2, 3).unwrap(), 2);
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
    let matrix = Layout::row_major(rows, 1).unwrap();
    let error = transpose_with(Variant::Padded32, &stream, &input, matrix, &mut output, rows).unwrap_err();
    let Error::Device(gpu_core::Error::LaunchLimit { what, asked, limit, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!((what, asked, limit), ("grid size in y", 65_536, 65_535));
}
