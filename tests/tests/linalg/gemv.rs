//! Products of a matrix and a vector: one body over all backends, against a serial oracle.

use gpu_core::{Error as Core, Kind, Scratch, ScratchSize};
use gpu_linalg::plan::gemv::Plan;
use gpu_linalg::{Element, Error, Layout, Matrix, Order, bf16, f16, gemv, gemv_scratch, matvec};
use gpu_linalg_kernels::gemv::{ACROSS_THREADS, ACROSS_WARPS, Shape, vector};
use gpu_std::float::Float;
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::{Bits, assert_same_bits};
use gpu_tests::data::floats;
use gpu_tests::scratch::{exactly, is_of_other_stream, lacks};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const OLD: f32 = -12345.0;

/// The oracle: each product is added to the chain that the documented order gives it to, then the chains are added.
pub(super) fn naive<T: Element>(alpha: T::Sum, a: &[T], layout: Layout, x: &[T], beta: T::Sum, y: &mut [T]) {
    let zero = T::Sum::ZERO;
    let Shape { length, piece, pieces, width, .. } =
        Plan::new::<T>(layout, 0, 0, alpha != zero).unwrap().shape;
    let along = layout.order() == Order::RowMajor;
    let chains = if along { width } else { ACROSS_THREADS / width } as usize;
    for (row, y) in y.iter_mut().enumerate() {
        let mut sums = vec![zero; pieces as usize * chains];
        for column in 0..length {
            let (number, place) = (column / piece, column % piece);
            let chain = place as usize / vector::<T>() as usize % chains;
            let sum = &mut sums[number as usize * chains + chain];
            *sum = a[layout.index(row, column as usize)].widen().mul_add(x[column as usize].widen(), *sum);
        }
        let warps = if along { 1 } else { ACROSS_WARPS as usize };
        let totals = sums
            .chunks(chains)
            .map(|sums| in_order(&sums.chunks(chains / warps).map(halves).collect::<Vec<_>>()));
        let sum = in_order(&totals.collect::<Vec<_>>()) + zero;
        let result = if beta == zero { alpha * sum } else { alpha.mul_add(sum, beta * y.widen()) };
        *y = T::narrow(result);
    }
}

fn in_order<S: Float>(sums: &[S]) -> S {
    sums[1..].iter().fold(sums[0], |total, &sum| total + sum)
}

/// A tree: the first half plus the second half, element by element.
fn halves<S: Float>(sums: &[S]) -> S {
    if sums.len() == 1 {
        return sums[0];
    }
    let (low, high) = sums.split_at(sums.len() / 2);
    halves(&low.iter().zip(high).map(|(&low, &high)| low + high).collect::<Vec<_>>())
}

fn layout(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

fn values<T: Element>(seed: u64, len: usize) -> Vec<T>
where
    T::Sum: From<f32>,
{
    floats(seed, len).into_iter().map(|value| T::narrow(value.into())).collect()
}

/// Multiplies a matrix and vectors that start `offset` elements into their buffers.
fn check<T: Element>(
    device: &gpu_core::Device,
    layout: Layout,
    (alpha, beta): (f32, f32),
    offset: usize,
    seed: u64,
) where
    T::Sum: From<f32> + Bits,
{
    let (rows, columns) = layout.shape();
    let a = values::<T>(seed, offset + layout.span());
    let x = values::<T>(seed + 1, offset + columns);
    let mut expected = values::<T>(seed + 2, offset + rows + 2);
    let (a_device, x_device) = (device.upload(&a).unwrap(), device.upload(&x).unwrap());
    let mut y = device.upload(&expected).unwrap();
    let mut scratch = exactly(&device.default_stream(), gemv_scratch::<T>(layout).unwrap());
    let (alpha, beta) = (T::Sum::from(alpha), T::Sum::from(beta));
    let target = &mut expected[offset..offset + rows];
    naive(alpha, &a[offset..], layout, &x[offset..], beta, target);
    gemv(
        &device.default_stream(),
        alpha,
        Matrix::new(a_device.slice(offset..), layout).unwrap(),
        x_device.slice(offset..),
        beta,
        y.slice_mut(offset..offset + rows),
        &mut scratch,
    )
    .unwrap();
    let wide = |values: Vec<T>| values.into_iter().map(T::widen).collect::<Vec<_>>();
    let context = format!(
        "{} {layout:?}, {alpha:?}, {beta:?}, +{offset} on {}",
        core::any::type_name::<T>(),
        device.name()
    );
    assert_same_bits(&wide(y.to_vec().unwrap()), &wide(expected), &context);
}

fn check_all(device: &gpu_core::Device, layout: Layout, factors: (f32, f32), offset: usize, seed: u64) {
    check::<f32>(device, layout, factors, offset, seed);
    check::<f64>(device, layout, factors, offset, seed);
    check::<f16>(device, layout, factors, offset, seed);
    check::<bf16>(device, layout, factors, offset, seed);
}

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

#[test]
fn shapes_around_every_boundary() {
    for_each("shapes_around_every_boundary", |device| {
        for order in ORDERS {
            for rows in [1, 2, 7, 33, 129] {
                for columns in [0, 1, 3, 8, 31, 63, 64, 65, 129, 517] {
                    check_all(
                        device,
                        layout(rows, columns, order, 0),
                        (1.0, 0.0),
                        0,
                        (rows * columns) as u64,
                    );
                }
            }
        }
    });
}

/// Short and wide: sums of several pieces, added by a second launch. Tall and skinny: lanes share a warp.
#[test]
fn short_and_wide_tall_and_skinny() {
    for_each("short_and_wide_tall_and_skinny", |device| {
        for order in ORDERS {
            for (rows, columns) in [(1, 40_000), (3, 10_007), (10_007, 3), (20_000, 1), (300, 300)] {
                check_all(device, layout(rows, columns, order, 0), (0.5, 1.5), 0, rows as u64);
            }
        }
        // Sums across with groups of each width and some more lines than are in flight at once.
        for (rows, columns, width) in [(3000, 530, 8), (3900, 270, 16), (7700, 140, 32)] {
            let layout = layout(rows, columns, Order::ColumnMajor, 0);
            let shape = Plan::new::<f64>(layout, 0, 0, true).unwrap().shape;
            assert_eq!((shape.width, shape.pieces), (width, 1));
            check::<f64>(device, layout, (0.5, 1.5), 0, rows as u64);
        }
        let wide = Plan::new::<f32>(layout(3, 10_007, Order::RowMajor, 0), 0, 0, true).unwrap();
        assert!(wide.shape.pieces > 1 && wide.finish.is_some());
        let tall = Plan::new::<f32>(layout(10_007, 3, Order::RowMajor, 0), 0, 0, true).unwrap();
        assert_eq!((tall.shape.width, tall.shape.pieces), (1, 1));
    });
}

#[test]
fn any_shape_order_stride_and_factor() {
    println!("{} cases from a fixed seed", cases());
    for_each("any_shape_order_stride_and_factor", |device| {
        let config = Config { cases: cases() / 2, failure_persistence: None, ..Config::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[0x76; 32]));
        let side = || prop_oneof![0..10usize, 1..300usize, Just(64), Just(128)];
        let order = prop_oneof![Just(Order::RowMajor), Just(Order::ColumnMajor)];
        let gap = || prop_oneof![Just(0usize), Just(8), 0..9usize];
        let factor = || prop_oneof![Just(0.0f32), Just(1.0), Just(-1.0), -2.0f32..2.0];
        let input = ((side(), side()), order, gap(), gap(), (factor(), factor()), any::<u32>());
        runner
            .run(&input, |((rows, columns), order, gap, offset, factors, seed)| {
                check_all(device, layout(rows, columns, order, gap), factors, offset, seed.into());
                Ok(())
            })
            .unwrap();
    });
}

/// NaN and infinities come through; a zero `beta` clears what was in `y`, a zero `alpha` what is in A and x.
#[test]
fn what_is_not_finite_propagates_and_zero_factors_clear_it() {
    for_each("what_is_not_finite_propagates_and_zero_factors_clear_it", |device| {
        for order in ORDERS {
            let layout = layout(5, 200, order, 0);
            let mut a = vec![1.0f32; layout.span()];
            a[layout.index(1, 150)] = f32::NAN;
            a[layout.index(3, 7)] = f32::NEG_INFINITY;
            let a = device.upload(&a).unwrap();
            let x = device.upload(&[2.0f32; 200]).unwrap();
            let matrix = Matrix::new(&a, layout).unwrap();
            let run = |alpha: f32, beta: f32, old: f32| {
                let mut y = device.upload(&[old; 5]).unwrap();
                let mut scratch = exactly(&device.default_stream(), gemv_scratch::<f32>(layout).unwrap());
                gemv(&device.default_stream(), alpha, matrix, &x, beta, &mut y, &mut scratch).unwrap();
                y.to_vec().unwrap()
            };
            let y = run(1.0, 0.0, f32::NAN);
            assert_same_bits(&y, &[400.0, f32::NAN, 400.0, f32::NEG_INFINITY, 400.0], &format!("{order:?}"));
            assert_eq!(run(0.0, 3.0, 2.0), [6.0; 5]);
            assert!(run(1.0, 1.0, f32::NAN).iter().all(|y| y.is_nan()));
        }
    });
}

/// A sum of n products in any order has an error of at most gamma_n · |A| · |x|, gamma_n = n u / (1 - n u) (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2nd ed., equation 3.5). The exact value is taken from f64, whose own
/// error is 2^-29 of the bound.
#[test]
fn the_error_is_within_the_componentwise_bound() {
    for_each("the_error_is_within_the_componentwise_bound", |device| {
        for order in ORDERS {
            let (rows, columns) = (20, 5000);
            let layout = layout(rows, columns, order, 0);
            let (a, x) = (floats(1, layout.span()), floats(2, columns));
            let (a_device, x_device) = (device.upload(&a).unwrap(), device.upload(&x).unwrap());
            let matrix = Matrix::new(&a_device, layout).unwrap();
            let y = matvec(matrix, &x_device).unwrap().to_vec().unwrap();
            let unit = f64::from(f32::EPSILON) / 2.0;
            let gamma = columns as f64 * unit / (1.0 - columns as f64 * unit);
            let mut worst = 0.0f64;
            for (row, &y) in y.iter().enumerate() {
                let products =
                    (0..columns).map(|column| f64::from(a[layout.index(row, column)]) * f64::from(x[column]));
                let (exact, size) =
                    products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
                let error = (f64::from(y) - exact).abs() / (gamma * size);
                assert!(error <= 1.0, "row {row}: {error} of the bound");
                worst = worst.max(error);
            }
            // A sum that were exact by chance would show nothing.
            assert!(worst > 1e-6, "{worst:e} of the bound");
        }
    });
}

#[test]
fn bad_lengths_are_refused_and_nothing_is_written() {
    for_each("bad_lengths_are_refused_and_nothing_is_written", |device| {
        let stream = device.default_stream();
        let layout = layout(2, 30_000, Order::RowMajor, 0);
        let a = device.upload(&vec![1.0f32; layout.span()]).unwrap();
        let x = device.upload(&vec![1.0f32; 30_000]).unwrap();
        let mut y = device.upload(&[OLD; 3]).unwrap();
        let matrix = Matrix::new(&a, layout).unwrap();
        let needed = gemv_scratch::<f32>(layout).unwrap();
        let mut scratch = exactly(&stream, needed);
        let error = gemv(&stream, 1.0, matrix, &x, 0.0, &mut y, &mut scratch).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::VectorLengths { rows: 2, columns: 30_000, x: 30_000, y: 3 })),
            "{error}"
        );
        let error =
            gemv(&stream, 1.0, matrix, x.slice(1..), 0.0, y.slice_mut(..2), &mut scratch).unwrap_err();
        assert!(matches!(error, Error::Device(Core::VectorLengths { x: 29_999, y: 2, .. })), "{error}");
        let mut call = |scratch: &mut Scratch| gemv(&stream, 1.0, matrix, &x, 0.0, y.slice_mut(..2), scratch);
        assert!(is_of_other_stream(call(&mut exactly(&device.stream().unwrap(), needed))));
        if device.kind() != Kind::Cpu {
            assert!(lacks(call(&mut exactly(&stream, ScratchSize::new())), needed));
        }
        let other = gpu_core::Device::simulator();
        let foreign = other.upload(&vec![1.0f32; 30_000]).unwrap();
        let target = y.slice_mut(..2);
        let error = gemv(&stream, 1.0, matrix, &foreign, 0.0, target, &mut scratch).unwrap_err();
        assert!(matches!(error, Error::Device(Core::WrongDevice { .. })), "{error}");
        assert_eq!(y.to_vec().unwrap(), [OLD; 3]);
        gemv(&stream, 1.0, matrix, &x, 0.0, y.slice_mut(..2), &mut scratch).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(y.to_vec().unwrap(), [30_000.0, 30_000.0, OLD]);
    });
}
