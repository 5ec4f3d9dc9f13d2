//! Element-wise operations on vectors and matrices: one body over all backends, against a serial oracle.

use gpu_core::{Buffer, Device, Error as Core};
use gpu_linalg::{
    Error, Layout, Matrix, MatrixMut, Order, RealElement, add, axpy, copy, hadamard, scale, subtract, swap,
};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const ALPHA: f32 = -0.7;

fn layout(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

/// A matrix in a buffer, and what should be in it.
struct Subject<T: RealElement> {
    layout: Layout,
    offset: usize,
    expected: Vec<T>,
    buffer: Buffer<T>,
}

impl<T: RealElement + Bits> Subject<T> {
    /// Numbers from `seed`, with what is not finite and both zeros among them.
    fn new(device: &Device, layout: Layout, offset: usize, seed: u64, of: impl Fn(f32) -> T) -> Self {
        let mut values = floats(seed, offset + layout.span() + 3);
        let special = [f32::NAN, f32::INFINITY, -0.0, 0.0, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE];
        for (index, value) in
            values.iter_mut().enumerate().filter(|(index, _)| index % 5 == seed as usize % 5)
        {
            *value = special[(index / 5 + seed as usize) % special.len()];
        }
        let expected: Vec<T> = values.into_iter().map(of).collect();
        let buffer = device.upload(&expected).unwrap();
        Self { layout, offset, expected, buffer }
    }

    fn matrix(&self) -> Matrix<'_, T> {
        Matrix::new(self.buffer.slice(self.offset..), self.layout).unwrap()
    }

    fn matrix_mut(&mut self) -> MatrixMut<'_, T> {
        MatrixMut::new(self.buffer.slice_mut(self.offset..), self.layout).unwrap()
    }

    fn get(&self, row: usize, column: usize) -> T {
        self.expected[self.offset + self.layout.index(row, column)]
    }

    /// The oracle: element by element. Everything else stays.
    fn expect(&mut self, value: impl Fn(usize, usize) -> T) {
        for row in 0..self.layout.rows() {
            for column in 0..self.layout.columns() {
                self.expected[self.offset + self.layout.index(row, column)] = value(row, column);
            }
        }
    }

    fn check(&self, context: &str) {
        assert_same_bits(&self.buffer.to_vec().unwrap(), &self.expected, context);
    }
}

fn check_all<T: RealElement + Bits>(
    device: &Device,
    layouts: [Layout; 3],
    offset: usize,
    seed: u64,
    of: impl Fn(f32) -> T + Copy,
) {
    let stream = device.default_stream();
    let alpha = of(ALPHA);
    let context = |what: &str| format!("{what}: {layouts:?} +{offset} on {}", device.name());
    let mut x = Subject::new(device, layouts[0], offset, seed, of);
    let mut y = Subject::new(device, layouts[1], offset, seed + 1, of);
    let mut z = Subject::new(device, layouts[2], offset, seed + 2, of);

    add(&stream, x.matrix(), y.matrix(), z.matrix_mut()).unwrap();
    z.expect(|row, column| x.get(row, column) + y.get(row, column));
    z.check(&context("add"));
    subtract(&stream, x.matrix(), y.matrix(), z.matrix_mut()).unwrap();
    z.expect(|row, column| x.get(row, column) - y.get(row, column));
    z.check(&context("subtract"));
    hadamard(&stream, x.matrix(), y.matrix(), z.matrix_mut()).unwrap();
    z.expect(|row, column| x.get(row, column) * y.get(row, column));
    z.check(&context("hadamard"));
    axpy(&stream, alpha, x.matrix(), z.matrix_mut()).unwrap();
    let old = z.expected.clone();
    let (z_layout, z_offset) = (z.layout, z.offset);
    let old = |row, column| old[z_offset + z_layout.index(row, column)];
    z.expect(|row, column| alpha.mul_add(x.get(row, column), old(row, column)));
    z.check(&context("axpy"));
    copy(&stream, y.matrix(), z.matrix_mut()).unwrap();
    z.expect(|row, column| y.get(row, column));
    z.check(&context("copy"));
    scale(&stream, alpha, z.matrix_mut()).unwrap();
    z.expect(|row, column| alpha * y.get(row, column));
    z.check(&context("scale"));
    swap(&stream, x.matrix_mut(), y.matrix_mut()).unwrap();
    let (old_x, old_y) = (x.expected.clone(), y.expected.clone());
    x.expect(|row, column| old_y[offset + layouts[1].index(row, column)]);
    y.expect(|row, column| old_x[offset + layouts[0].index(row, column)]);
    x.check(&context("swap, x"));
    y.check(&context("swap, y"));
}

#[test]
fn vectors_around_every_boundary() {
    for_each("vectors_around_every_boundary", |device| {
        // A block has 4096 elements of f32, 2048 of f64.
        for len in [0, 1, 3, 4, 5, 31, 257, 2047, 2048, 2049, 4095, 4096, 4097, 12_289] {
            let layout = Layout::row_major(1, len).unwrap();
            check_all::<f32>(device, [layout; 3], 0, len as u64, |value| value);
            check_all::<f64>(device, [layout; 3], 0, len as u64, f64::from);
        }
    });
}

#[test]
fn any_matrix() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_matrix", |device| {
        let config = Config { cases: cases() / 2, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x65; 32]));
        let side = || prop_oneof![0..6usize, 1..70usize, 1..300usize];
        let order = prop_oneof![Just(Order::RowMajor), Just(Order::ColumnMajor)];
        let gap = || prop_oneof![Just(0usize), Just(4), 0..9usize];
        let input = ((side(), side()), order, (gap(), gap(), gap()), gap(), any::<u32>());
        runner
            .run(&input, |((rows, columns), order, gaps, offset, seed)| {
                let layouts = [gaps.0, gaps.1, gaps.2].map(|gap| layout(rows, columns, order, gap));
                check_all::<f32>(device, layouts, offset, seed.into(), |value| value);
                check_all::<f64>(device, layouts, offset, seed.into(), f64::from);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn operands_that_differ_are_refused_and_nothing_is_written() {
    for_each("operands_that_differ_are_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let memory = device.upload(&[1.0f32; 12]).unwrap();
        let mut output = device.upload(&[-7.0f32; 12]).unwrap();
        let matrix = |layout: Layout| Matrix::new(&memory, layout).unwrap();
        let (rows, columns) = (Layout::row_major(3, 4).unwrap(), Layout::column_major(3, 4).unwrap());
        let other = Layout::row_major(4, 3).unwrap();

        let target = MatrixMut::new(&mut output, rows).unwrap();
        let error = add(&stream, matrix(rows), matrix(other), target).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { expected: (3, 4), actual: (4, 3), .. })),
            "{error}"
        );
        let target = MatrixMut::new(&mut output, other).unwrap();
        let error = subtract(&stream, matrix(rows), matrix(rows), target).unwrap_err();
        assert!(matches!(error, Error::Device(Core::Shape { .. })), "{error}");
        let target = MatrixMut::new(&mut output, columns).unwrap();
        let error = axpy(&stream, 1.0, matrix(rows), target).unwrap_err();
        assert!(
            matches!(error, Error::Orders { expected: Order::RowMajor, actual: Order::ColumnMajor }),
            "{error}"
        );
        let error = copy(&stream, memory.slice(1..), &mut output).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { expected: (1, 11), actual: (1, 12), .. })),
            "{error}"
        );
        let elsewhere = Device::simulator();
        let foreign = elsewhere.upload(&[1.0f32; 12]).unwrap();
        let error = hadamard(&stream, &memory, &foreign, &mut output).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(output.to_vec().unwrap(), [-7.0; 12]);
    });
}

/// The reductions of level 1 are those of gpu-reduce, by BLAS's names.
#[test]
fn norms_and_products_by_their_names() {
    for_each("norms_and_products_by_their_names", |device| {
        let x = device.upload(&[3.0f64, -4.0]).unwrap();
        let y = device.upload(&[2.0f64, 0.5]).unwrap();
        assert_eq!(gpu_linalg::dot(&x, &y).unwrap(), 4.0);
        assert_eq!(gpu_linalg::nrm2(&x).unwrap(), 5.0);
        assert_eq!(gpu_linalg::asum(&x).unwrap(), 7.0);
        assert_eq!(gpu_linalg::amax(&x).unwrap(), 4.0);
    });
}
