//! Products on the tensor cores in buffers of their own: of small whole numbers, so that every order of sums is exact.

use gpu_linalg::{
    Activation, Batch, BatchLayout, Epilogue, Error, Layout, Matrix, bf16, f16, matmul_batched, matmul_i8,
    matmul_i8_batched, matmul_tensor, matmul_tensor_batched, matmul_tensor_with, matmul_tf32,
    matmul_tf32_batched, matmul_tf32_with,
};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;

const COUNT: usize = 2;

fn number(seed: u64, at: usize) -> i8 {
    (random(seed, at) % 5) as i8 - 2
}

#[test]
fn products_of_every_type_are_all_sums() {
    for [m, n, k] in [[40, 48, 32], [5, 7, 9], [1, 64, 30], [3, 4, 0]] {
        // B lies along k, and A has gaps.
        let a_layout = Layout::row_major(m, k).unwrap().with_leading_dimension(k + 3).unwrap();
        let b_layout = Layout::column_major(k, n).unwrap();
        let [a_layout, b_layout] = [a_layout, b_layout]
            .map(|matrix| BatchLayout::new(matrix, COUNT, matrix.span().next_multiple_of(16) + 16).unwrap());
        let memory = |seed, layout: BatchLayout| -> Vec<i8> {
            (0..layout.span().unwrap()).map(|at| number(seed, at)).collect()
        };
        let (a, b) = (memory(1, a_layout), memory(2, b_layout));
        let sum = |matrix: usize, i: usize, j: usize| -> i32 {
            let a = |l| a[matrix * a_layout.stride + a_layout.matrix.index(i, l)];
            let b = |l| b[matrix * b_layout.stride + b_layout.matrix.index(l, j)];
            (0..k).map(|l| i32::from(a(l)) * i32::from(b(l))).sum()
        };
        let exact: Vec<i32> = (0..COUNT * m * n).map(|at| sum(at / (m * n), at / n % m, at % n)).collect();
        let expected: Vec<f32> = exact.iter().map(|&sum| sum as f32).collect();
        for_each("products on the tensor cores", |device| {
            let context = format!("{m} × {n}, sums of {k}, on {device}");
            macro_rules! product {
                ($of:ident, $number:expr) => {{
                    let number = |&value: &i8| $number(value);
                    let [a, b] = [&a, &b]
                        .map(|data| device.upload(&data.iter().map(number).collect::<Vec<_>>()).unwrap());
                    let (a, b) = (Batch::new(&a, a_layout).unwrap(), Batch::new(&b, b_layout).unwrap());
                    let fewer = Batch::new(b.data(), BatchLayout { count: 1, ..b_layout }).unwrap();
                    let error = $of(a, fewer).unwrap_err();
                    assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error}, {context}");
                    $of(a, b).unwrap().to_vec().unwrap()
                }};
            }
            let of_f16 = matmul_tensor::<f16, f32>;
            assert_eq!(product!(of_f16, |value: i8| f16::from_f32(value.into())), expected, "{context}");
            let of_bf16 = matmul_tensor::<bf16, f32>;
            assert_eq!(product!(of_bf16, |value: i8| bf16::from_f32(value.into())), expected, "{context}");
            let of_f16 = matmul_tensor::<f16, f16>;
            let narrow = product!(of_f16, |value: i8| f16::from_f32(value.into()));
            assert!(narrow.into_iter().map(f16::to_f32).eq(expected.iter().copied()), "{context}");
            assert_eq!(product!(matmul_tf32, f32::from), expected, "{context}");
            assert_eq!(product!(matmul_i8, i8::from), exact, "{context}");

            let bias: Vec<f32> = (0..n).map(|at| f32::from(number(3, at))).collect();
            let biased = |sum: f32, at: usize| (sum + bias[at % n]).max(0.0);
            let fused: Vec<f32> = expected.iter().enumerate().map(|(at, &sum)| biased(sum, at)).collect();
            let bias = device.upload(&bias).unwrap();
            let layer = Epilogue::new().bias_per_column(&bias).activation(Activation::Relu);
            let with = |a, b| matmul_tensor_with::<bf16, f32>(a, b, &layer);
            assert_eq!(product!(with, |value: i8| bf16::from_f32(value.into())), fused, "{context}");
            let with = |a, b| matmul_tf32_with(a, b, &layer);
            assert_eq!(product!(with, f32::from), fused, "{context}");

            // The second product first.
            let (mut twice, mut of_floats) = (Vec::new(), Vec::new());
            for at in [1, 0] {
                twice.extend_from_slice(&exact[at * m * n..(at + 1) * m * n]);
                of_floats.extend_from_slice(&expected[at * m * n..(at + 1) * m * n]);
            }
            macro_rules! by_starts {
                ($of:expr, $number:expr) => {{
                    let number = |&value: &i8| $number(value);
                    let [a, b] = [&a, &b]
                        .map(|data| device.upload(&data.iter().map(number).collect::<Vec<_>>()).unwrap());
                    let a = Matrix::new(&a, a_layout.matrix).unwrap();
                    let b = Matrix::new(&b, b_layout.matrix).unwrap();
                    assert!($of(a, b, &[]).unwrap().is_empty());
                    let starts = [[a_layout.stride, b_layout.stride], [0, 0]];
                    $of(a, b, &starts).unwrap().to_vec().unwrap()
                }};
            }
            assert_eq!(by_starts!(matmul_batched, f32::from), of_floats, "{context}");
            let narrow = |value: i8| bf16::from_f32(value.into());
            let of_bf16 = matmul_tensor_batched::<bf16, f32>;
            assert_eq!(by_starts!(of_bf16, narrow), of_floats, "{context}");
            assert_eq!(by_starts!(matmul_tf32_batched, f32::from), of_floats, "{context}");
            assert_eq!(by_starts!(matmul_i8_batched, i8::from), twice, "{context}");
        });
    }
}
