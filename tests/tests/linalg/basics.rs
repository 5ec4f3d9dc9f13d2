//! Products of matrices: one body over all backends, against a serial oracle.

use gpu_core::matrix::Invalid;
use gpu_core::{Error as Core, Kind, Scratch, ScratchSize};
use gpu_linalg::plan::gemm::{AsVector, Split};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Layout, Matrix, MatrixMut, Order, RealElement, gemm, gemm_scratch, matmul,
};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Stands where nothing may be written, and where nothing may be read.
const UNTOUCHED: f32 = -12345.0;

/// A type that the tests run for.
pub(super) trait Number: RealElement + Bits {
    fn of(value: f32) -> Self;
}

impl Number for f32 {
    fn of(value: f32) -> Self {
        value
    }
}

impl Number for f64 {
    // All 53 bits are in use, so that rounding shows in any order.
    fn of(value: f32) -> Self {
        f64::from(value) * (1.0 + 1.0 / 3.0)
    }
}

pub(super) fn values<T: Number>(seed: u64, len: usize) -> Vec<T> {
    floats(seed, len).into_iter().map(T::of).collect()
}

/// The oracle: of a matrix and a vector that of [`gemv`](super::gemv), else that of tiles.
fn naive<T: Number>(
    alpha: T,
    (a, a_layout): (&[T], BatchLayout),
    (b, b_layout): (&[T], BatchLayout),
    beta: T,
    (c, c_layout): (&mut [T], BatchLayout),
) {
    let layouts = [a_layout, b_layout, c_layout];
    let Some(AsVector { matrix, is_left }) = AsVector::of::<T>(layouts) else {
        return by_tiles(alpha, (a, a_layout), (b, b_layout), beta, (c, c_layout));
    };
    let k = matrix.columns();
    let (of_matrix, x) = if is_left { (a, &b[..k]) } else { (b, &a[..k]) };
    super::gemv::naive(alpha, of_matrix, matrix, x, beta, &mut c[..matrix.rows()]);
}

/// Element by element and part by part, a chain of fused multiply-adds over ascending k.
pub(super) fn by_tiles<T: Number>(
    alpha: T,
    (a, a_layout): (&[T], BatchLayout),
    (b, b_layout): (&[T], BatchLayout),
    beta: T,
    (c, c_layout): (&mut [T], BatchLayout),
) {
    let (m, n) = c_layout.matrix.shape();
    let depth = if alpha == T::ZERO { 0 } else { a_layout.matrix.columns() };
    let split = Split::of(size_of::<T>(), depth, c_layout);
    for number in 0..c_layout.count {
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let mut sum = T::ZERO;
            for part in split.ranges(depth) {
                let mut of_part = T::ZERO;
                for k in part {
                    let a = a[number * a_layout.stride + a_layout.matrix.index(row, k)];
                    let b = b[number * b_layout.stride + b_layout.matrix.index(k, column)];
                    of_part = a.mul_add(b, of_part);
                }
                sum = sum + of_part;
            }
            let c = &mut c[number * c_layout.stride + c_layout.matrix.index(row, column)];
            let product = sum + T::ZERO;
            *c = if beta == T::ZERO { alpha * product } else { alpha.mul_add(product, beta * *c) };
        }
    }
}

pub(super) fn layout(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

pub(super) fn one(matrix: Layout) -> BatchLayout {
    BatchLayout { matrix, count: 1, stride: 0 }
}

/// Multiplies batches that start `offset` elements into their buffers, and compares everything in C's memory.
pub(super) fn check<T: Number>(
    device: &gpu_core::Device,
    [a, b, c]: [BatchLayout; 3],
    (alpha, beta): (T, T),
    offset: usize,
    seed: u64,
) {
    let len = |layout: BatchLayout| layout.count.saturating_sub(1) * layout.stride + layout.matrix.span();
    let (a_values, b_values) = (values::<T>(seed, offset + len(a)), values::<T>(seed + 1, offset + len(b)));
    let mut expected = values::<T>(seed + 2, offset + len(c) + 3);
    let (a_buffer, b_buffer) = (device.upload(&a_values).unwrap(), device.upload(&b_values).unwrap());
    let mut c_buffer = device.upload(&expected).unwrap();
    naive(alpha, (&a_values[offset..], a), (&b_values[offset..], b), beta, (&mut expected[offset..], c));
    // What is in scratch memory goes nowhere.
    let mut scratch = exactly(&device.default_stream(), gemm_scratch::<T>(a.matrix.columns(), c));
    gemm(
        &device.default_stream(),
        alpha,
        Batch::new(a_buffer.slice(offset..), a).unwrap(),
        Batch::new(b_buffer.slice(offset..), b).unwrap(),
        beta,
        BatchMut::new(c_buffer.slice_mut(offset..), c).unwrap(),
        &mut scratch,
    )
    .unwrap();
    let context = format!("{a:?} · {b:?} = {c:?}, {alpha:?}, {beta:?}, +{offset} on {}", device.name());
    assert_same_bits(&c_buffer.to_vec().unwrap(), &expected, &context);
}

pub(super) const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

fn every_order<T: Number>(test: &str) {
    for_each(test, |device| {
        for a in ORDERS {
            for b in ORDERS {
                for c in ORDERS {
                    let (m, n, k) = (67, 70, 35);
                    let layouts = [layout(m, k, a, 1), layout(k, n, b, 0), layout(m, n, c, 2)].map(one);
                    check::<T>(device, layouts, (T::of(1.5), T::of(-0.75)), 1, 1);
                    let layouts = [layout(m, k, a, 0), layout(k, n, b, 0), layout(m, n, c, 0)].map(one);
                    check::<T>(device, layouts, (T::ONE, T::ZERO), 0, 2);
                    let (m, n, k) = (68, 72, 36);
                    let layouts = [layout(m, k, a, 4), layout(k, n, b, 8), layout(m, n, c, 4)].map(one);
                    check::<T>(device, layouts, (T::of(0.3), T::ONE), 4, 3);
                }
            }
        }
    });
}

#[test]
fn every_order_and_transposition_f32() {
    every_order::<f32>("every_order_and_transposition_f32");
}

#[test]
fn every_order_and_transposition_f64() {
    every_order::<f64>("every_order_and_transposition_f64");
}

/// One row, one column, or both, long enough for pieces; with gaps in the vectors they are products by tiles.
fn vectors<T: Number>(test: &str) {
    for_each(test, |device| {
        for (m, n, k) in
            [(1, 1, 0), (1, 1, 5000), (1, 37, 700), (37, 1, 700), (300, 1, 9), (1, 300, 1), (5, 1, 20_000)]
        {
            for orders in 0..8 {
                let [a, b, c] = [0, 1, 2].map(|bit| ORDERS[orders >> bit & 1]);
                for gap in [0, 2] {
                    let layouts = [layout(m, k, a, gap), layout(k, n, b, gap), layout(m, n, c, gap)].map(one);
                    check::<T>(device, layouts, (T::of(1.5), T::of(-0.5)), gap, 9);
                    check::<T>(device, layouts, (T::ONE, T::ZERO), 1, 10);
                    check::<T>(device, layouts, (T::ZERO, T::ONE), 0, 11);
                }
            }
        }
    });
}

#[test]
fn one_row_or_column_f32() {
    let one = |rows, columns| one(Layout::row_major(rows, columns).unwrap());
    assert!(AsVector::of::<f32>([one(37, 700), one(700, 1), one(37, 1)]).is_some());
    vectors::<f32>("one_row_or_column_f32");
}

#[test]
fn one_row_or_column_f64() {
    vectors::<f64>("one_row_or_column_f64");
}

#[test]
fn nothing_is_fine() {
    for_each("nothing_is_fine", |device| {
        for (m, n, k) in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)] {
            for order in ORDERS {
                let layouts = [layout(m, k, order, 0), layout(k, n, order, 3), layout(m, n, order, 1)];
                // Without k the product is zero, and beta · C is what is left.
                check::<f32>(device, layouts.map(one), (2.0, -1.5), 0, 5);
                let batch = |matrix: Layout| BatchLayout { matrix, count: 3, stride: matrix.span() + 2 };
                check::<f64>(device, layouts.map(batch), (2.0, 0.0), 0, 6);
            }
        }
    });
}

#[test]
fn any_shape_order_stride_and_factor() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_shape_order_stride_and_factor", |device| {
        let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x6e; 32]));
        let side = || prop_oneof![0..10usize, 30..35usize, 62..67usize, 1..100usize];
        let order = || prop_oneof![Just(Order::RowMajor), Just(Order::ColumnMajor)];
        let gap = || prop_oneof![Just(0usize), Just(4), 0..9usize];
        let factor = || prop_oneof![Just(0.0f32), Just(1.0), Just(-1.0), -2.0f32..2.0];
        let shape = (side(), side(), side());
        let lie = ((order(), order(), order()), (gap(), gap(), gap()), gap());
        let input = (shape, lie, (factor(), factor()), 1..4usize, any::<u32>());
        runner
            .run(&input, |((m, n, k), (orders, gaps, offset), (alpha, beta), count, seed)| {
                let layouts = [
                    layout(m, k, orders.0, gaps.0),
                    layout(k, n, orders.1, gaps.1),
                    layout(m, n, orders.2, gaps.2),
                ];
                let stride = |matrix: Layout| matrix.span().next_multiple_of(4) + gaps.0;
                let layouts = layouts.map(|matrix| BatchLayout { matrix, count, stride: stride(matrix) });
                check::<f32>(device, layouts, (alpha, beta), offset, seed.into());
                check::<f64>(device, layouts, (alpha.into(), beta.into()), offset, seed.into());
                Ok(())
            })
            .unwrap();
    });
}

/// NaN and infinities come through; a zero `beta` clears what was in C, a zero `alpha` what is in A and B.
#[test]
fn what_is_not_finite_propagates_and_zero_factors_clear_it() {
    for_each("what_is_not_finite_propagates_and_zero_factors_clear_it", |device| {
        let stream = device.default_stream();
        let (n, shape) = (40, Layout::row_major(40, 40).unwrap());
        let mut a = values::<f32>(1, n * n);
        a[3 * n + 17] = f32::NAN;
        a[5 * n + 2] = f32::INFINITY;
        let b = vec![1.0f32; n * n];
        let run = |alpha: f32, beta: f32, c: &[f32]| {
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let mut c = device.upload(c).unwrap();
            let (a, b) = (Matrix::new(&a, shape).unwrap(), Matrix::new(&b, shape).unwrap());
            let mut scratch = exactly(&device.default_stream(), gemm_scratch::<f32>(n, shape));
            gemm(&stream, alpha, a, b, beta, MatrixMut::new(&mut c, shape).unwrap(), &mut scratch).unwrap();
            c.to_vec().unwrap()
        };
        let c = run(1.0, 0.0, &vec![f32::NAN; n * n]);
        for (row, c) in c.chunks(n).enumerate() {
            match row {
                3 => assert!(c.iter().all(|c| c.is_nan())),
                5 => assert!(c.iter().all(|&c| c == f32::INFINITY)),
                _ => assert!(c.iter().all(|c| c.is_finite())),
            }
        }
        assert_eq!(run(0.0, 2.0, &vec![3.0; n * n]), vec![6.0; n * n]);
        assert!(run(1.0, 1.0, &vec![f32::NAN; n * n]).iter().all(|c| c.is_nan()));
        assert_eq!(run(0.0, 0.0, &vec![f32::NAN; n * n]), vec![0.0; n * n]);
    });
}

/// What is in the gaps between rows and after the last one is not read: NaN there goes nowhere.
#[test]
fn gaps_are_neither_read_nor_written() {
    for_each("gaps_are_neither_read_nor_written", |device| {
        for (order, gap) in ORDERS.into_iter().flat_map(|order| [(order, 3), (order, 4)]) {
            let (m, n, k) = (37, 66, 19);
            let layouts = [layout(m, k, order, gap), layout(k, n, order, gap), layout(m, n, order, gap)];
            let with_gaps = |layout: Layout, inside: f32, outside: f32| {
                let mut values = vec![outside; layout.span()];
                for row in 0..layout.rows() {
                    (0..layout.columns()).for_each(|column| values[layout.index(row, column)] = inside);
                }
                values
            };
            let a = device.upload(&with_gaps(layouts[0], 1.0, f32::NAN)).unwrap();
            let b = device.upload(&with_gaps(layouts[1], 2.0, f32::NAN)).unwrap();
            let mut c = device.upload(&with_gaps(layouts[2], 1.0, UNTOUCHED)).unwrap();
            let (a, b) = (Matrix::new(&a, layouts[0]).unwrap(), Matrix::new(&b, layouts[1]).unwrap());
            let target = MatrixMut::new(&mut c, layouts[2]).unwrap();
            let mut scratch = exactly(&device.default_stream(), gemm_scratch::<f32>(k, target.layout()));
            gemm(&device.default_stream(), 1.0, a, b, 1.0, target, &mut scratch).unwrap();
            let expected = with_gaps(layouts[2], 2.0 * k as f32 + 1.0, UNTOUCHED);
            assert_same_bits(
                &c.to_vec().unwrap(),
                &expected,
                &format!("{order:?} +{gap} on {}", device.name()),
            );
        }
    });
}

/// The error of a chain of k fused multiply-adds from zero is at most gamma_k · |A| · |B|, gamma_k = k u / (1 - k u),
/// each element for itself, whatever the order (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
/// section 3.1 and equation 3.5; a fused multiply-add rounds once where a product and a sum round twice). The exact
/// value is taken from f64, where the products of f32 are exact and whose own error is 2^-29 of the bound.
#[test]
fn the_error_is_within_the_componentwise_bound() {
    for_each("the_error_is_within_the_componentwise_bound", |device| {
        let (m, n, k) = (33, 65, 300);
        let k_all = k;
        let (a, b) = (floats(11, m * k), floats(12, k * n));
        let (a_device, b_device) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let c = matmul(
            Matrix::new(&a_device, Layout::row_major(m, k).unwrap()).unwrap(),
            Matrix::new(&b_device, Layout::row_major(k, n).unwrap()).unwrap(),
        );
        let c = c.unwrap().to_vec().unwrap();
        let unit = f64::from(f32::EPSILON) / 2.0;
        let gamma = k as f64 * unit / (1.0 - k as f64 * unit);
        let mut worst = 0.0f64;
        for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
            let products = (0..k).map(|k| f64::from(a[row * k_all + k]) * f64::from(b[k * n + column]));
            let (exact, magnitude) =
                products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
            let error = (f64::from(c[row * n + column]) - exact).abs();
            assert!(error <= gamma * magnitude, "({row}, {column}): {error:e} > {:e}", gamma * magnitude);
            worst = worst.max(error / (gamma * magnitude));
        }
        // A bound that nothing comes near would hold for wrong results, too.
        assert!(worst > 1e-3, "the largest error is {worst:e} of the bound");
    });
}

#[test]
fn bad_shapes_are_refused_and_nothing_is_written() {
    use gpu_linalg::Error;
    for_each("bad_shapes_are_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let memory = device.upload(&[1.0f32; 64]).unwrap();
        let mut output = device.upload(&[UNTOUCHED; 64]).unwrap();
        let mut none = exactly(&stream, ScratchSize::new());
        let matrix = |rows, columns| Matrix::new(&memory, Layout::row_major(rows, columns).unwrap()).unwrap();

        let error = gemm(
            &stream,
            1.0,
            matrix(2, 3),
            matrix(4, 5),
            0.0,
            MatrixMut::new(&mut output, Layout::row_major(2, 5).unwrap()).unwrap(),
            &mut none,
        )
        .unwrap_err();
        assert!(matches!(error, Error::ProductShapes { a: (2, 3), b: (4, 5), c: (2, 5) }), "{error}");
        assert_eq!(
            error.to_string(),
            "a product of 2 × 3 and 4 × 5 matrices is 2 × 5, if their inner lengths agree; the output is 2 × 5"
        );
        let target = MatrixMut::new(&mut output, Layout::row_major(5, 2).unwrap()).unwrap();
        let error = gemm(&stream, 1.0, matrix(2, 3), matrix(3, 5), 0.0, target, &mut none).unwrap_err();
        assert!(matches!(error, Error::ProductShapes { c: (5, 2), .. }), "{error}");

        let layout = |count, stride| BatchLayout { matrix: Layout::row_major(2, 2).unwrap(), count, stride };
        let error = gemm(
            &stream,
            1.0,
            Batch::new(&memory, layout(3, 4)).unwrap(),
            Batch::new(&memory, layout(3, 0)).unwrap(),
            0.0,
            BatchMut::new(&mut output, layout(2, 4)).unwrap(),
            &mut none,
        )
        .unwrap_err();
        assert!(matches!(error, Error::BatchCounts { a: 3, b: 3, c: 2 }), "{error}");
        let error = BatchMut::new(&mut output, layout(2, 3)).unwrap_err();
        assert!(matches!(error, Core::Matrix(Invalid::Overlap { expected: 4, actual: 3 })), "{error}");
        let error = Batch::new(&memory, layout(3, usize::MAX / 2)).unwrap_err();
        assert!(matches!(error, Core::Matrix(Invalid::BatchOverflow { count: 3, .. })), "{error}");
        let error = Matrix::new(&memory, Layout::row_major(8, 9).unwrap()).unwrap_err();
        assert!(matches!(error, Core::Length { expected: 72, actual: 64, .. }), "{error}");
        let error = Layout::row_major(3, 5).unwrap().with_leading_dimension(4).unwrap_err();
        let expected = matches!(
            error,
            Core::Matrix(Invalid::LeadingDimension { rows: 3, columns: 5, expected: 5, actual: 4 })
        );
        assert!(expected, "{error}");
        let error = Layout::column_major(usize::MAX / 2, 3).unwrap_err();
        assert!(matches!(error, Core::Matrix(Invalid::SizeOverflow { columns: 3, .. })), "{error}");

        let other = gpu_core::Device::simulator();
        let elsewhere = other.upload(&[1.0f32; 4]).unwrap();
        let foreign = Matrix::new(&elsewhere, Layout::row_major(2, 2).unwrap()).unwrap();
        let target = MatrixMut::new(&mut output, Layout::row_major(2, 2).unwrap()).unwrap();
        let error = gemm(&stream, 1.0, matrix(2, 2), foreign, 0.0, target, &mut none).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        let long = device.upload(&[1.0f32; 8192]).unwrap();
        let row = Matrix::new(&long, Layout::row_major(1, 8192).unwrap()).unwrap();
        let needed = gemm_scratch::<f32>(8192, Layout::row_major(1, 1).unwrap());
        let mut call = |scratch: &mut Scratch| {
            let target = MatrixMut::new(&mut output, Layout::row_major(1, 1).unwrap()).unwrap();
            gemm(&stream, 1.0, row, row.transposed(), 0.0, target, scratch)
        };
        let other = device.stream().unwrap();
        assert!(is_of_other_stream(call(&mut exactly(&other, needed))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), needed));
        }
        assert_eq!(output.to_vec().unwrap(), [UNTOUCHED; 64]);
    });
}

#[test]
fn every_run_gives_the_same_bits() {
    for_each("every_run_gives_the_same_bits", |device| {
        let (m, n, k) = (70, 90, 130);
        let (a, b) = (values::<f64>(1, m * k), values::<f64>(2, k * n));
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let a = Matrix::new(&a, Layout::row_major(m, k).unwrap()).unwrap();
        let b = Matrix::new(&b, Layout::column_major(k, n).unwrap()).unwrap();
        let first = matmul(a, b).unwrap().to_vec().unwrap();
        for _ in 0..3 {
            assert_same_bits(&matmul(a, b).unwrap().to_vec().unwrap(), &first, &device.name());
        }
    });
}

/// A number as Python's `float.hex` writes it: `-0x1.8p+3`.
fn of_hex(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let (digits, exponent) = text.strip_prefix("0x").and_then(|text| text.split_once('p')).unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // At most 53 bits, so each step is exact.
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap() as f64;
    sign * mantissa * 2f64.powi(exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32)
}

/// NumPy's own results: `numpy_products.py` writes them. Both sides are within gamma_k · |A| · |B| of the exact
/// product, so within twice that of each other; the bound itself is computed with a relative error that the third
/// gamma_k covers many times over.
#[test]
fn products_are_those_of_numpy() {
    assert_eq!([of_hex("0x1.8p+1"), of_hex("-0x1.0p-2")], [3.0, -0.25]);
    let golden = include_str!("../data/numpy_products.txt");
    let lines: Vec<&str> = golden.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 7);
    for_each("products_are_those_of_numpy", |device| {
        for line in &lines {
            let mut parts = line.split(';').map(str::split_whitespace);
            let shape: Vec<usize> = parts.next().unwrap().map(|word| word.parse().unwrap()).collect();
            let [a, b, expected] =
                core::array::from_fn(|_| parts.next().unwrap().map(of_hex).collect::<Vec<f64>>());
            let (m, n, k) = (shape[0], shape[1], shape[2]);
            let (a_device, b_device) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            let actual = matmul(
                Matrix::new(&a_device, Layout::row_major(m, k).unwrap()).unwrap(),
                Matrix::new(&b_device, Layout::row_major(k, n).unwrap()).unwrap(),
            );
            let unit = f64::EPSILON / 2.0;
            let gamma = k as f64 * unit / (1.0 - k as f64 * unit);
            for (at, (actual, expected)) in
                actual.unwrap().to_vec().unwrap().iter().zip(&expected).enumerate()
            {
                let size: f64 = (0..k).map(|i| (a[at / n * k + i] * b[i * n + at % n]).abs()).sum();
                assert!(
                    (actual - expected).abs() <= 3.0 * gamma * size,
                    "{shape:?} [{at}]: {actual} for {expected}"
                );
            }
        }
    });
}
