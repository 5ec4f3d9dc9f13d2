//! Outer products, and products of a vector and a symmetric or triangular matrix: one body over all backends, against
//! serial oracles.

use gpu_core::{Error as Core, Kind, Scratch, ScratchSize};
use gpu_linalg::{
    Diagonal, Error, Layout, Matrix, MatrixMut, Order, RealElement, Triangle, ger, symv, symv_scratch, trmv,
    trmv_scratch,
};
use gpu_linalg_kernels::triangle::TILE;
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];
const TRIANGLES: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];
const DIAGONALS: [Diagonal; 2] = [Diagonal::Stored, Diagonal::Unit];
const OLD: f32 = -12345.0;

fn layout(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

fn values<T: From<f32>>(seed: u64, len: usize) -> Vec<T> {
    floats(seed, len).into_iter().map(Into::into).collect()
}

/// The documented order: a chain for every [`TILE`] columns, of those that `element` has, and the chains one after the
/// other.
fn row_sum<T: RealElement>(x: &[T], element: impl Fn(usize) -> Option<T>) -> T {
    let chain = |sum: T, column: usize| element(column).map_or(sum, |a| a.mul_add(x[column], sum));
    let columns: Vec<usize> = (0..x.len()).collect();
    let chains = columns.chunks(TILE as usize).map(|piece| piece.iter().copied().fold(T::ZERO, chain));
    chains.reduce(|sum, piece| sum + piece).unwrap_or(T::ZERO) + T::ZERO
}

/// A matrix whose elements outside the triangle, and on a diagonal of ones, are NaN: whoever reads them shows it.
fn stored<T: RealElement + From<f32>>(
    seed: u64,
    layout: Layout,
    triangle: Triangle,
    diagonal: Diagonal,
) -> Vec<T> {
    let mut a = values::<T>(seed, layout.span());
    for row in 0..layout.rows() {
        for column in 0..layout.columns() {
            if !triangle.holds(row, column) || row == column && diagonal == Diagonal::Unit {
                a[layout.index(row, column)] = f32::NAN.into();
            }
        }
    }
    a
}

fn check_symv<T: RealElement + From<f32> + Bits>(
    device: &gpu_core::Device,
    layout: Layout,
    triangle: Triangle,
    (alpha, beta): (f32, f32),
    seed: u64,
) {
    let n = layout.rows();
    let a = stored::<T>(seed, layout, triangle, Diagonal::Stored);
    let (x, mut expected) = (values::<T>(seed + 1, n), values::<T>(seed + 2, n));
    let (a_device, x_device) = (device.upload(&a).unwrap(), device.upload(&x).unwrap());
    let mut y = device.upload(&expected).unwrap();
    let mut scratch = exactly(&device.default_stream(), symv_scratch::<T>(n).unwrap());
    let (alpha, beta) = (T::from(alpha), T::from(beta));
    let matrix = Matrix::new(&a_device, layout).unwrap();
    symv(&device.default_stream(), triangle, alpha, matrix, &x_device, beta, &mut y, &mut scratch).unwrap();
    for (row, y) in expected.iter_mut().enumerate() {
        let element = |column: usize| {
            let (i, j) = if triangle.holds(row, column) { (row, column) } else { (column, row) };
            (alpha != T::ZERO).then(|| a[layout.index(i, j)])
        };
        let sum = row_sum(&x, element);
        *y = if beta == T::ZERO { alpha * sum } else { alpha.mul_add(sum, beta * *y) };
    }
    let context = format!("{layout:?}, {triangle:?}, {alpha:?}, {beta:?} on {}", device.name());
    assert_same_bits(&y.to_vec().unwrap(), &expected, &context);
}

fn check_trmv<T: RealElement + From<f32> + Bits>(
    device: &gpu_core::Device,
    layout: Layout,
    triangle: Triangle,
    diagonal: Diagonal,
    seed: u64,
) {
    let n = layout.rows();
    let a = stored::<T>(seed, layout, triangle, diagonal);
    let x = values::<T>(seed + 1, n);
    let (a_device, mut x_device) = (device.upload(&a).unwrap(), device.upload(&x).unwrap());
    let mut scratch = exactly(&device.default_stream(), trmv_scratch::<T>(n).unwrap());
    let matrix = Matrix::new(&a_device, layout).unwrap();
    trmv(&device.default_stream(), triangle, diagonal, matrix, &mut x_device, &mut scratch).unwrap();
    let row = |row: usize| {
        row_sum(&x, |column| match triangle.holds(row, column) {
            false => None,
            true if row == column && diagonal == Diagonal::Unit => Some(T::ONE),
            true => Some(a[layout.index(row, column)]),
        })
    };
    let expected: Vec<T> = (0..n).map(row).collect();
    let context = format!("{layout:?}, {triangle:?}, {diagonal:?} on {}", device.name());
    assert_same_bits(&x_device.to_vec().unwrap(), &expected, &context);
}

fn check_ger<T: RealElement + From<f32> + Bits>(
    device: &gpu_core::Device,
    layout: Layout,
    alpha: f32,
    offset: usize,
    seed: u64,
) {
    let (rows, columns) = layout.shape();
    let (x, y) = (values::<T>(seed, rows), values::<T>(seed + 1, columns));
    let mut expected = values::<T>(seed + 2, offset + layout.span());
    let (x_device, y_device) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
    let mut a = device.upload(&expected).unwrap();
    let alpha = T::from(alpha);
    let matrix = MatrixMut::new(a.slice_mut(offset..), layout).unwrap();
    ger(&device.default_stream(), alpha, &x_device, &y_device, matrix).unwrap();
    for (row, &x) in x.iter().enumerate() {
        for (column, &y) in y.iter().enumerate() {
            let (line, place) = if layout.order() == Order::RowMajor { (x, y) } else { (y, x) };
            let a = &mut expected[offset + layout.index(row, column)];
            *a = if alpha == T::ZERO { *a } else { (alpha * line).mul_add(place, *a) };
        }
    }
    let context = format!("{layout:?}, {alpha:?}, +{offset} on {}", device.name());
    assert_same_bits(&a.to_vec().unwrap(), &expected, &context);
}

/// Around one, two and three tiles: an odd and an even number of rows of them, and a last one that is not full.
#[test]
fn triangles_of_all_kinds_around_every_boundary() {
    for_each("triangles_of_all_kinds_around_every_boundary", |device| {
        for n in [0, 1, 2, 63, 64, 65, 128, 129, 200] {
            for order in ORDERS {
                for triangle in TRIANGLES {
                    check_symv::<f32>(device, layout(n, n, order, 0), triangle, (1.0, 0.0), n as u64);
                    check_symv::<f64>(device, layout(n, n, order, 3), triangle, (-0.5, 1.5), n as u64);
                    for diagonal in DIAGONALS {
                        check_trmv::<f32>(device, layout(n, n, order, 1), triangle, diagonal, n as u64);
                        check_trmv::<f64>(device, layout(n, n, order, 0), triangle, diagonal, n as u64);
                    }
                }
            }
        }
    });
}

#[test]
fn outer_products_around_every_boundary() {
    for_each("outer_products_around_every_boundary", |device| {
        for order in ORDERS {
            for (rows, columns) in
                [(0, 5), (5, 0), (1, 1), (3, 4096), (4096, 3), (64, 64), (31, 1025), (7, 4095), (2, 9000)]
            {
                for (gap, offset) in [(0, 0), (4, 0), (1, 0), (0, 1)] {
                    check_ger::<f32>(device, layout(rows, columns, order, gap), 1.5, offset, rows as u64);
                    check_ger::<f64>(device, layout(rows, columns, order, gap), -0.5, offset, rows as u64);
                }
            }
        }
    });
}

#[test]
fn any_size_order_stride_and_factor() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_size_order_stride_and_factor", |device| {
        let config = Config { cases: cases() / 2, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x51; 32]));
        let side = || prop_oneof![0..10usize, 1..200usize, Just(64), Just(128)];
        let factor = || prop_oneof![Just(0.0f32), Just(1.0), -2.0f32..2.0];
        let choice = |any: bool| usize::from(any);
        let input = ((side(), side()), any::<[bool; 3]>(), 0..9usize, (factor(), factor()), any::<u32>());
        runner
            .run(&input, |((rows, columns), [order, triangle, diagonal], gap, factors, seed)| {
                let (order, seed) = (ORDERS[choice(order)], seed.into());
                let (triangle, diagonal) = (TRIANGLES[choice(triangle)], DIAGONALS[choice(diagonal)]);
                let square = layout(rows, rows, order, gap);
                check_symv::<f32>(device, square, triangle, factors, seed);
                check_trmv::<f64>(device, square, triangle, diagonal, seed);
                check_ger::<f32>(device, layout(rows, columns, order, gap), factors.0, gap, seed);
                Ok(())
            })
            .unwrap();
    });
}

/// What counts as zero meets no infinity of `x`; a zero `beta` clears what was in `y`, a zero `alpha` what is in A and
/// x.
#[test]
fn what_is_not_finite_propagates_and_what_is_not_there_does_not() {
    for_each("what_is_not_finite_propagates_and_what_is_not_there_does_not", |device| {
        let stream = device.default_stream();
        for order in ORDERS {
            let layout = layout(70, 70, order, 0);
            let ones = device.upload(&vec![1.0f32; layout.span()]).unwrap();
            let matrix = Matrix::new(&ones, layout).unwrap();
            let mut scratch = exactly(&device.default_stream(), trmv_scratch::<f32>(70).unwrap());
            for (last, triangle) in [(69, Triangle::Lower), (0, Triangle::Upper)] {
                let mut x = vec![1.0f32; 70];
                x[last] = f32::INFINITY;
                let mut x = device.upload(&x).unwrap();
                trmv(&stream, triangle, Diagonal::Stored, matrix, &mut x, &mut scratch).unwrap();
                let x = x.to_vec().unwrap();
                assert!(
                    (0..70).all(|row| x[row].is_finite() == (row != last)),
                    "{order:?} {triangle:?}: {x:?}"
                );
            }
            let x = device.upload(&[f32::NAN; 70]).unwrap();
            let mut run = |alpha: f32, beta: f32, old: f32| {
                let mut y = device.upload(&[old; 70]).unwrap();
                symv(&stream, Triangle::Upper, alpha, matrix, &x, beta, &mut y, &mut scratch).unwrap();
                y.to_vec().unwrap()
            };
            assert_eq!(run(0.0, 0.0, f32::NAN), [0.0; 70]);
            assert_eq!(run(0.0, 3.0, 2.0), [6.0; 70]);
            assert!(run(1.0, 0.0, 1.0).iter().all(|y| y.is_nan()));
        }
    });
}

/// A sum of n products in any order has an error of at most gamma_n · |A| · |x|, gamma_n = n u / (1 - n u) (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., equation 3.5). The exact value is taken from f64, whose own
/// error is 2^-29 of the bound.
#[test]
fn the_error_is_within_the_componentwise_bound() {
    for_each("the_error_is_within_the_componentwise_bound", |device| {
        let n = 300;
        let layout = layout(n, n, Order::RowMajor, 0);
        let (a, x) = (floats(1, layout.span()), floats(2, n));
        let (a_device, x_device) = (device.upload(&a).unwrap(), device.upload(&x).unwrap());
        let (mut y, mut scratch) =
            (device.alloc(n).unwrap(), exactly(&device.default_stream(), symv_scratch::<f32>(n).unwrap()));
        let matrix = Matrix::new(&a_device, layout).unwrap();
        let stream = device.default_stream();
        symv(&stream, Triangle::Lower, 1.0f32, matrix, &x_device, 0.0, &mut y, &mut scratch).unwrap();
        let unit = f64::from(f32::EPSILON) / 2.0;
        let gamma = n as f64 * unit / (1.0 - n as f64 * unit);
        let mut worst = 0.0f64;
        for (row, &y) in y.to_vec().unwrap().iter().enumerate() {
            let (mut exact, mut size) = (0.0, 0.0);
            for column in 0..n {
                let product =
                    f64::from(a[layout.index(row.max(column), row.min(column))]) * f64::from(x[column]);
                exact += product;
                size += product.abs();
            }
            worst = worst.max((f64::from(y) - exact).abs() / (gamma * size));
        }
        // A sum that were exact by chance would show nothing.
        assert!(worst > 1e-6 && worst <= 1.0, "{worst:e} of the bound");
    });
}

#[test]
fn bad_shapes_are_refused_and_nothing_is_written() {
    for_each("bad_shapes_are_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let ones = device.upload(&[1.0f32; 12]).unwrap();
        let mut y = device.upload(&[OLD; 12]).unwrap();
        let mut scratch = exactly(&device.default_stream(), symv_scratch::<f32>(3).unwrap());
        let wide = Matrix::new(&ones, Layout::row_major(3, 4).unwrap()).unwrap();
        let square = Matrix::new(&ones, Layout::row_major(3, 3).unwrap()).unwrap();
        let lower = Triangle::Lower;
        let error = symv(&stream, lower, 1.0, wide, ones.slice(..4), 0.0, y.slice_mut(..3), &mut scratch);
        assert!(matches!(error.unwrap_err(), Error::Device(Core::NotSquare { rows: 3, columns: 4, .. })));
        let error = trmv(&stream, lower, Diagonal::Unit, wide, y.slice_mut(..4), &mut scratch).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a symmetric or triangular matrix has as many rows as columns, not 3 × 4"
        );
        let error = symv(&stream, lower, 1.0, square, ones.slice(..2), 0.0, y.slice_mut(..3), &mut scratch);
        assert!(matches!(
            error.unwrap_err(),
            Error::Device(Core::VectorLengths { rows: 3, columns: 3, x: 2, y: 3 })
        ));
        let error = trmv(&stream, lower, Diagonal::Unit, square, y.slice_mut(..4), &mut scratch).unwrap_err();
        assert!(matches!(error, Error::Device(Core::VectorLengths { x: 4, y: 4, .. })), "{error}");
        let needed = trmv_scratch::<f32>(3).unwrap();
        let mut call =
            |scratch: &mut Scratch| trmv(&stream, lower, Diagonal::Unit, square, y.slice_mut(..3), scratch);
        assert!(is_of_other_stream(call(&mut exactly(&device.stream().unwrap(), needed))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), needed));
        }
        let matrix = MatrixMut::new(&mut y, Layout::row_major(3, 4).unwrap()).unwrap();
        let error = ger(&stream, 1.0, ones.slice(..4), ones.slice(..4), matrix).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::VectorLengths { rows: 3, columns: 4, x: 4, y: 4 })),
            "{error}"
        );
        let foreign = gpu_core::Device::simulator().upload(&[1.0f32; 3]).unwrap();
        let matrix = MatrixMut::new(&mut y, Layout::row_major(3, 4).unwrap()).unwrap();
        let error = ger(&stream, 1.0, &foreign, ones.slice(..4), matrix).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(y.to_vec().unwrap(), [OLD; 12]);
    });
}
