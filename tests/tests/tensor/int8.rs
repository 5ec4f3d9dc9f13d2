//! Products of `i8` with sums of `i32`: one body over all backends, against a serial oracle in `i64`, to the bit.

use gpu_core::{Device, Kind, Scratch, ScratchSize};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{Batch, BatchLayout, BatchMut, Error, Layout, Matrix, MatrixMut, gemm_i8, gemm_i8_scratch};
use gpu_oracles::dot;
use gpu_tests::backends::{cuda, for_each};
use gpu_tests::data::random;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};

/// Stands where nothing may be written.
const UNTOUCHED: i32 = -64_000;
/// Stands where nothing may be read.
const OUTSIDE: i8 = 111;

/// Of `[m, n, k]`, which of A, B and C are column-major, and how many there are.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: [usize; 3],
    columns: [bool; 3],
    count: usize,
    /// Elements that the leading dimensions of A, B and C are longer than they have to be.
    leading: [usize; 3],
    /// Elements of memory before A, and before B.
    starts: [usize; 2],
    alpha: i32,
    beta: i32,
}

const PLAIN: Case = Case {
    shape: [1; 3],
    columns: [false, true, false],
    count: 1,
    leading: [0; 3],
    starts: [0; 2],
    alpha: 1,
    beta: 0,
};

impl Case {
    fn layouts(self) -> [BatchLayout; 3] {
        let [m, n, k] = self.shape;
        let mut at = 0;
        [(m, k), (k, n), (m, n)].map(|(rows, columns)| {
            let new = if self.columns[at] { Layout::column_major } else { Layout::row_major };
            let (contiguous, lines) = if self.columns[at] { (rows, columns) } else { (columns, rows) };
            let leading = contiguous.max(1) + self.leading[at];
            at += 1;
            let matrix = new(rows, columns).unwrap().with_leading_dimension(leading).unwrap();
            BatchLayout { matrix, count: self.count, stride: (leading * lines).next_multiple_of(16) + 16 }
        })
    }

    /// A, B and C, of elements that `value` makes of random bits.
    fn data(self, value: impl Fn(u64) -> i8) -> (Vec<i8>, Vec<i8>, Vec<i32>) {
        let [a, b, c] = self.layouts();
        let factor = |layout, seed, start| {
            let mut values = vec![OUTSIDE; start];
            values.extend(filled(layout, seed, OUTSIDE, &value));
            values
        };
        let c = filled(c, 3, UNTOUCHED, |bits| bits as i32);
        (factor(a, 1, self.starts[0]), factor(b, 2, self.starts[1]), c)
    }
}

/// Memory that holds a batch, and `other` between its elements.
fn filled<T: Copy>(layout: BatchLayout, seed: u64, other: T, value: impl Fn(u64) -> T) -> Vec<T> {
    let mut values = vec![other; layout.stride * layout.count + 16];
    for at in places(layout) {
        values[at] = value(random(seed, at));
    }
    values
}

fn places(layout: BatchLayout) -> impl Iterator<Item = usize> {
    let (rows, columns) = layout.matrix.shape();
    (0..layout.count * rows * columns).map(move |number| {
        let (matrix, place) = (number / (rows * columns), number % (rows * columns));
        matrix * layout.stride + layout.matrix.index(place / columns, place % columns)
    })
}

/// The oracle: sums in `i64`, of which the lower half is kept.
fn expected(case: Case, a: &[i8], b: &[i8], c: &[i32]) -> Vec<i32> {
    let [of_a, of_b, of_c] = case.layouts();
    let [m, n, k] = case.shape;
    let mut result = c.to_vec();
    let line = |of: &[i8], first: usize, index: &dyn Fn(usize) -> usize| -> Vec<f64> {
        (0..k).map(|at| f64::from(of[first + index(at)])).collect()
    };
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for matrix in 0..of_c.count {
        let (of, first) = (of_a.matrix, case.starts[0] + matrix * of_a.stride);
        rows.extend((0..m).map(|row| line(a, first, &|at| of.index(row, at))));
        let (of, first) = (of_b.matrix, case.starts[1] + matrix * of_b.stride);
        columns.extend((0..n).map(|column| line(b, first, &|at| of.index(at, column))));
    }
    for (number, at) in places(of_c).enumerate() {
        let (row, column) = (number / n, number / (m * n) * n + number % n);
        // Whole numbers below 2^53: exact.
        let sum = dot(&rows[row], &columns[column]).0 as i64;
        // Of the exact result the bits that 32 hold.
        let exact = i128::from(case.alpha) * i128::from(sum) + i128::from(case.beta) * i128::from(c[at]);
        result[at] = exact as i32;
    }
    result
}

/// The product on a device; `None` after saying so where that has no tensor cores.
fn product(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
    [a, b]: [&[i8]; 2],
    c: &[i32],
) -> Option<Vec<i32>> {
    let layouts = case.layouts();
    let (a, b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut output = device.upload(c).unwrap();
    let stream = device.default_stream();
    let a = Batch::new(a.slice(case.starts[0]..), layouts[0]).unwrap();
    let b = Batch::new(b.slice(case.starts[1]..), layouts[1]).unwrap();
    let output_batch = BatchMut::new(&mut output, layouts[2]).unwrap();
    let size = match variant {
        None => gemm_i8_scratch(a, b, layouts[2]),
        Some(variant) => variants::gemm_i8_scratch(variant, a, b, layouts[2]),
    };
    let mut scratch = exactly(&stream, size);
    let result = match variant {
        None => gemm_i8(&stream, case.alpha, a, b, case.beta, output_batch, &mut scratch),
        Some(variant) => {
            variants::gemm_i8(&stream, variant, case.alpha, a, b, case.beta, output_batch, &mut scratch)
        }
    };
    match result {
        Ok(()) => Some(output.to_vec().unwrap()),
        Err(error @ Error::NoTensorCores { .. }) => {
            println!("skipped on {}: {error}", device.name());
            None
        }
        Err(error) => panic!("{case:?} on {}: {error}", device.name()),
    }
}

fn check(device: &Device, variant: Option<TensorVariant>, case: Case, value: impl Fn(u64) -> i8) {
    let (a, b, c) = case.data(value);
    let expected = expected(case, &a, &b, &c);
    let Some(actual) = product(device, variant, case, [&a, &b], &c) else { return };
    let wrong: Vec<usize> = (0..expected.len()).filter(|&at| actual[at] != expected[at]).collect();
    if let Some(&at) = wrong.first() {
        panic!(
            "{variant:?} of {case:?} on {}: element {at} is {}, not {}; {} of {} are wrong",
            device.name(),
            actual[at],
            expected[at],
            wrong.len(),
            expected.len()
        );
    }
}

/// All numbers, each as often.
fn any(bits: u64) -> i8 {
    bits as i8
}

const SHAPES: [[usize; 3]; 14] = [
    [1, 1, 1],
    [7, 0, 5],
    [0, 9, 5],
    [6, 11, 0],
    [1, 300, 17],
    [257, 1, 31],
    [64, 128, 128],
    [128, 256, 256],
    [127, 255, 127],
    [129, 257, 129],
    [67, 131, 389],
    [5, 300, 700],
    // In parts, the last of which is shorter.
    [9, 20, 5003],
    [130, 6, 2300],
];

#[test]
fn int8_products_are_exact_in_all_layouts() {
    for_each("int8_products_are_exact_in_all_layouts", |device| {
        for (number, shape) in SHAPES.into_iter().enumerate() {
            for order in 0..4 {
                let case = Case {
                    shape,
                    columns: [order & 1 != 0, order & 2 != 0, (number + order) % 3 == 2],
                    count: 1 + (number * 5 + order) % 7 / 5,
                    leading: [[0; 3], [16, 32, 4], [1, 0, 3], [0, 5, 1]][(number + order) % 4],
                    starts: [(number + order) % 4 / 3, (number * 3 + order) % 5 / 3 * 16],
                    alpha: [1, -3, i32::MAX][(number + order) % 3],
                    beta: [0, 1, -77_777][(number + 2 * order) % 3],
                };
                check(device, Some(TensorVariant::ALL[(number + order) % 5]), case, any);
                check(device, None, case, any);
            }
        }
    });
}

/// Leading dimensions and addresses that the copy engine takes: without a copy, by each kernel.
#[test]
fn int8_products_of_aligned_factors_need_no_copies() {
    for_each("int8_products_of_aligned_factors_need_no_copies", |device| {
        let case = Case { shape: [131, 258, 176], leading: [16, 48, 2], starts: [32, 16], count: 2, ..PLAIN };
        let (a, b, _) = case.data(any);
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let layouts = case.layouts();
        let a = Batch::new(a.slice(32..), layouts[0]).unwrap();
        let b = Batch::new(b.slice(16..), layouts[1]).unwrap();
        assert_eq!(gemm_i8_scratch(a, b, layouts[2]).bytes(), 0);
        // A copy of both: 2 · (131 + 258) lines of 176 bytes.
        let packed = variants::gemm_i8_scratch(TensorVariant::Packed, a, b, layouts[2]);
        assert_eq!(packed, ScratchSize::new().array::<i8>(2 * (131 + 258) * 176));
        for variant in TensorVariant::ALL {
            check(device, Some(variant), case, any);
        }
    });
}

/// The largest product is 2¹⁴, of -128 and itself; sums wrap.
#[test]
fn int8_extremes_and_overflow() {
    for_each("int8_extremes_and_overflow", |device| {
        for variant in [TensorVariant::Lanes, TensorVariant::Narrow, TensorVariant::Wide] {
            let case = Case { shape: [3, 5, 200], ..PLAIN };
            check(device, Some(variant), case, |_| -128);
            check(device, Some(variant), case, |bits| if bits & 1 == 0 { -128 } else { 127 });
            // 2³¹ and more: 131,072 + 40 products of 2¹⁴, one chain or several.
            let long = Case { shape: [1, 2, 131_112], ..PLAIN };
            let (a, b, c) = long.data(|_| -128);
            let Some(actual) = product(device, Some(variant), long, [&a, &b], &c) else { continue };
            let sum = (131_112_i64 * 16_384) as i32;
            assert!(sum < 0);
            let at = places(long.layouts()[2]).map(|at| actual[at]).collect::<Vec<_>>();
            assert_eq!(at, [sum; 2], "{variant:?} on {}", device.name());
        }
        let scaled = Case { shape: [2, 3, 40], alpha: i32::MIN + 1, beta: i32::MAX, ..PLAIN };
        check(device, None, scaled, any);
        // Neither the factors nor the sums count.
        check(device, None, Case { alpha: 0, beta: 3, ..scaled }, any);
        check(device, None, Case { alpha: 0, beta: 0, ..scaled }, any);
    });
}

/// A factor that all matrices of a batch share, which the copy engine does not take.
#[test]
fn int8_batches_may_share_a_factor() {
    for_each("int8_batches_may_share_a_factor", |device| {
        let case = Case { shape: [33, 40, 64], count: 3, ..PLAIN };
        let (a, b, c) = case.data(any);
        let [of_a, of_b, of_c] = case.layouts();
        let shared = BatchLayout { stride: 0, ..of_b };
        // The oracle's has a copy of the first for each.
        let copies: Vec<i8> =
            (0..3).flat_map(|_| b[..of_b.stride].iter().copied()).chain([OUTSIDE; 16]).collect();
        let expected = expected(case, &a, &copies, &c);
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let (a, b) = (Batch::new(&a, of_a).unwrap(), Batch::new(&b, shared).unwrap());
        let mut output = device.upload(&c).unwrap();
        let mut scratch = exactly(&device.default_stream(), gemm_i8_scratch(a, b, of_c));
        let output_batch = BatchMut::new(&mut output, of_c).unwrap();
        match gemm_i8(&device.default_stream(), 1, a, b, 0, output_batch, &mut scratch) {
            Ok(()) => assert_eq!(output.to_vec().unwrap(), expected, "{}", device.name()),
            Err(error @ Error::NoTensorCores { .. }) => println!("skipped on {}: {error}", device.name()),
            Err(error) => panic!("{error}"),
        }
    });
}

/// Errors have the numbers, and C is as it was.
#[test]
fn int8_products_check_their_arguments() {
    for_each("int8_products_check_their_arguments", |device| {
        let stream = device.default_stream();
        let old = vec![7; 40 * 40];
        let mut output = device.upload(&old).unwrap();
        let memory = device.zeroed::<i8>(40 * 40).unwrap();
        let square = Layout::row_major(40, 40).unwrap();
        let a = Matrix::new(&memory, square).unwrap();
        let size = gemm_i8_scratch(a, a, square);
        // Copies of forty lines of 48 bytes each.
        assert_eq!(size, ScratchSize::new().array::<i8>(2 * 40 * 48));
        // None where a factor is read as it lies, having few columns.
        let (b, c) = (Layout::row_major(40, 32).unwrap(), Layout::row_major(40, 32).unwrap());
        assert_eq!(gemm_i8_scratch(a, Matrix::new(&memory, b).unwrap(), c).bytes(), 0);
        let mut scratch = exactly(&stream, size);

        let other = Matrix::new(&memory, Layout::row_major(39, 40).unwrap()).unwrap();
        let c = MatrixMut::new(&mut output, square).unwrap();
        let error = gemm_i8(&stream, 1, a, other, 0, c, &mut scratch).unwrap_err();
        let shapes = ((40, 40), (39, 40), (40, 40));
        assert!(matches!(error, Error::ProductShapes { a, b, c } if (a, b, c) == shapes), "{error}");

        let mut call = |scratch: &mut Scratch| {
            gemm_i8(&stream, 1, a, a, 0, MatrixMut::new(&mut output, square).unwrap(), scratch)
        };
        assert!(is_of_other_stream(call(&mut Scratch::new(&device.stream().unwrap()))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), size));
        }

        let two = BatchLayout { matrix: Layout::row_major(4, 4).unwrap(), count: 2, stride: 16 };
        let one = BatchLayout { count: 1, ..two };
        let (a, b) = (Batch::new(&memory, two).unwrap(), Batch::new(&memory, one).unwrap());
        let c = BatchMut::new(&mut output, two).unwrap();
        let error = gemm_i8(&stream, 1, a, b, 0, c, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, c: 2 }), "{error}");

        // What all matrices share the copy engine does not take, and the kernels named have nothing else.
        let lines = BatchLayout { matrix: Layout::row_major(2, 16).unwrap(), count: 2, stride: 0 };
        let small = BatchLayout { matrix: Layout::row_major(2, 2).unwrap(), count: 2, stride: 16 };
        let lines = Batch::new(&memory, lines).unwrap();
        let turned = lines.transposed();
        let c = BatchMut::new(&mut output, small).unwrap();
        let result = variants::gemm_i8(&stream, TensorVariant::Wide, 1, lines, turned, 0, c, &mut scratch);
        match device.kind() {
            gpu_core::Kind::Cpu => output.copy_from(&old).unwrap(),
            _ => assert!(
                matches!(result, Err(Error::Unaligned { bytes: 16 } | Error::NoTensorCores { .. })),
                "{result:?}"
            ),
        }
        assert_eq!(output.to_vec().unwrap(), old);
    });
}

/// On a GPU: sizes at which the ring, the persistent grid and the order of tiles go round many times.
#[test]
fn large_int8_products_on_a_gpu() {
    let Some(device) = cuda("large_int8_products_on_a_gpu") else { return };
    for (shape, columns) in [
        ([1000, 2000, 1023], [false, false, false]),
        ([2047, 3001, 512], [true, false, true]),
        ([2304, 4096, 1024], [false, true, false]),
        ([3000, 1111, 4776], [true, true, false]),
    ] {
        let case = Case { shape, columns, alpha: -5, beta: 3, ..PLAIN };
        let (a, b, c) = case.data(any);
        let expected = product(&Device::cpu(), None, case, [&a, &b], &c).unwrap();
        for variant in TensorVariant::ALL.map(Some).into_iter().chain([None]) {
            let Some(actual) = product(&device, variant, case, [&a, &b], &c) else { continue };
            let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{variant:?} of {case:?}: of {}", expected.len());
        }
    }
}
