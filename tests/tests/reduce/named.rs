//! The reductions by name, of arrays, segments and along axes: each is the one of its name.

use gpu_reduce::Segments;
use gpu_tests::backends::for_each;

/// Rows and columns of the table.
const ROWS: usize = 5;
const COLUMNS: usize = 7;

#[test]
fn names_of_all_forms() {
    for_each("names_of_all_forms", |device| {
        let stream = device.stream().unwrap();
        let of = |i: usize| if i.is_multiple_of(6) { 0 } else { i as i32 * 37 % 101 - 50 };
        let table: Vec<i32> = (0..ROWS * COLUMNS).map(of).collect();
        let floats: Vec<f32> = table.iter().map(|&value| value as f32).collect();
        let rows = Segments::of_length(COLUMNS).unwrap();
        macro_rules! named {
            ($table:ident; $($whole:ident $segments:ident $segments_into:ident $axis:ident $axis_into:ident:
                $results:expr;)*) => { $(
                let input = device.upload(&$table).unwrap();
                let context = format!("{} on {device}", stringify!($whole));
                let results = $results;
                assert_eq!(
                    gpu_reduce::$whole(&input).unwrap(),
                    gpu_reduce::$whole(&$table[..]).unwrap(),
                    "{context}"
                );
                let of_rows: Vec<_> = $table
                    .chunks(COLUMNS)
                    .flat_map(|row| results(gpu_reduce::$whole(row).unwrap()))
                    .collect();
                let of_columns: Vec<_> = (0..COLUMNS)
                    .flat_map(|first| {
                        let column: Vec<_> = $table[first..].iter().step_by(COLUMNS).copied().collect();
                        results(gpu_reduce::$whole(&column[..]).unwrap())
                    })
                    .collect();
                let (shape, mut scratch) = ([ROWS, COLUMNS], gpu_reduce::Scratch::new(&stream));
                assert_eq!(gpu_reduce::$segments(&input, rows).unwrap().to_vec().unwrap(), of_rows, "{context}");
                assert_eq!(gpu_reduce::$axis(&input, &shape, 0).unwrap().to_vec().unwrap(), of_columns, "{context}");
                let mut output = device.zeroed(of_rows.len()).unwrap();
                gpu_reduce::$segments_into(&stream, &input, rows, &mut output, &mut scratch).unwrap();
                assert_eq!(output.to_vec().unwrap(), of_rows, "{context}, segments on a stream");
                let mut output = device.zeroed(of_columns.len()).unwrap();
                gpu_reduce::$axis_into(&stream, &input, &shape, 0, &mut output, &mut scratch).unwrap();
                assert_eq!(output.to_vec().unwrap(), of_columns, "{context}, an axis on a stream");
            )* };
        }
        named! { table;
            sum sum_segments sum_segments_into sum_axis sum_axis_into: |sum: i32| [sum];
            product product_segments product_segments_into product_axis product_axis_into: |product: i32| [product];
            min min_segments min_segments_into min_axis min_axis_into: |least: i32| [least];
            max max_segments max_segments_into max_axis max_axis_into: |most: i32| [most];
            minmax minmax_segments minmax_segments_into minmax_axis minmax_axis_into:
                |(least, most): (i32, i32)| [least, most];
            argmin argmin_segments argmin_segments_into argmin_axis argmin_axis_into: |place: usize| [place as u64];
            argmax argmax_segments argmax_segments_into argmax_axis argmax_axis_into: |place: usize| [place as u64];
            sum_of_squares sum_of_squares_segments sum_of_squares_segments_into
                sum_of_squares_axis sum_of_squares_axis_into:
                |sum: i32| [sum];
            norm_l1 norm_l1_segments norm_l1_segments_into norm_l1_axis norm_l1_axis_into: |norm: u32| [norm];
            norm_max norm_max_segments norm_max_segments_into norm_max_axis norm_max_axis_into: |norm: u32| [norm];
            any any_segments any_segments_into any_axis any_axis_into: |truth: bool| [u8::from(truth)];
            all all_segments all_segments_into all_axis all_axis_into: |truth: bool| [u8::from(truth)];
            count_nonzero count_nonzero_segments count_nonzero_segments_into count_nonzero_axis count_nonzero_axis_into:
                |count: usize| [count as u64];
            bit_and bit_and_segments bit_and_segments_into bit_and_axis bit_and_axis_into: |bits: i32| [bits];
            bit_or bit_or_segments bit_or_segments_into bit_or_axis bit_or_axis_into: |bits: i32| [bits];
            bit_xor bit_xor_segments bit_xor_segments_into bit_xor_axis bit_xor_axis_into: |bits: i32| [bits];
            wide_sum wide_sum_segments wide_sum_segments_into wide_sum_axis wide_sum_axis_into: |sum: i64| [sum];
        }
        named! { floats;
            norm_l2 norm_l2_segments norm_l2_segments_into norm_l2_axis norm_l2_axis_into: |norm: f32| [norm];
            mean mean_segments mean_segments_into mean_axis mean_axis_into: |mean: f32| [mean];
        }
        // What the names say, of the first row.
        let row = &table[..COLUMNS];
        assert_eq!(gpu_reduce::bit_and(row).unwrap(), row.iter().fold(-1, |bits, value| bits & value));
        assert_eq!(gpu_reduce::bit_or(row).unwrap(), row.iter().fold(0, |bits, value| bits | value));
        assert_eq!(gpu_reduce::bit_xor(row).unwrap(), row.iter().fold(0, |bits, value| bits ^ value));
        assert_eq!(gpu_reduce::max(row).unwrap(), *row.iter().max().unwrap());
    });
}
