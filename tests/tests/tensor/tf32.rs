//! Products of `f32` as tf32: one body over all backends, against a serial oracle.

use gpu_core::{Device, Kind};
use gpu_linalg::variants::{self, TensorVariant};
use gpu_linalg::{Batch, BatchMut, Error, gemm, gemm_tf32, gemm_tf32_scratch};
use gpu_tests::backends::{cuda, for_each};
use gpu_tests::scratch::exactly;

use super::{Case, UNTOUCHED, behind, cases, filled, sums, thin_cases};

/// The product on a device; `None` after saying so where that has no tensor cores.
fn product(
    device: &Device,
    variant: Option<TensorVariant>,
    case: Case,
    [a, b]: [&[f32]; 2],
    c: &[f32],
) -> Option<Vec<f32>> {
    let layouts = case.layouts();
    let (a, b) = (device.upload(a).unwrap(), device.upload(b).unwrap());
    let mut output = device.upload(c).unwrap();
    let stream = device.default_stream();
    let a = Batch::new(a.slice(case.starts[0]..), layouts[0]).unwrap();
    let b = Batch::new(b.slice(case.starts[1]..), layouts[1]).unwrap();
    let output_batch = BatchMut::new(&mut output, layouts[2]).unwrap();
    let [of_a, of_b, of_c] = layouts;
    let size = match variant {
        None => gemm_tf32_scratch(of_a, of_b, of_c),
        Some(variant) => variants::gemm_tf32_scratch(variant, of_a, of_b, of_c),
    };
    let mut scratch = exactly(&stream, size);
    let result = match variant {
        None => gemm_tf32(&stream, case.alpha, a, b, case.beta, output_batch, &mut scratch),
        Some(variant) => {
            variants::gemm_tf32(&stream, variant, case.alpha, a, b, case.beta, output_batch, &mut scratch)
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

const PLAIN: Case = Case {
    shape: [1; 3],
    columns: [false; 3],
    count: 1,
    odd: [false; 2],
    dense: false,
    starts: [0; 2],
    alpha: 1.0,
    beta: 0.0,
};

/// Small integers are tf32, and every operation with them is exact.
fn exact(device: &Device, variant: Option<TensorVariant>, case: Case) {
    let layouts = case.layouts();
    let small = |bits: u64| (bits % 5) as f32 - 2.0;
    let a = filled::<f32>(layouts[0], 1, f32::NAN, small);
    let b = filled::<f32>(layouts[1], 2, f32::NAN, small);
    let c =
        filled::<f32>(layouts[2], 3, UNTOUCHED, |bits| if case.beta == 0.0 { f32::NAN } else { small(bits) });
    let mut expected = c.clone();
    for (at, sum, _) in sums(&a, &b, layouts) {
        let old = if case.beta == 0.0 { 0.0 } else { f64::from(case.beta) * f64::from(c[at]) };
        expected[at] = (f64::from(case.alpha) * sum + old) as f32;
    }
    let (a, b) = (behind(case.starts[0], a), behind(case.starts[1], b));
    let Some(actual) = product(device, variant, case, [&a, &b], &c) else { return };
    let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
    assert_eq!(wrong, 0, "{variant:?} of {case:?} on {}: of {}", device.name(), expected.len());
}

#[test]
fn tf32_products_of_thin_factors_are_exact() {
    for_each("tf32_products_of_thin_factors_are_exact", |device| {
        thin_cases().for_each(|case| exact(device, None, case));
    });
}

#[test]
fn tf32_products_of_small_integers_are_exact() {
    for_each("tf32_products_of_small_integers_are_exact", |device| {
        for (number, case) in cases().enumerate() {
            exact(device, Some(TensorVariant::ALL[number % 5]), case);
            if number % 4 == 0 {
                exact(device, None, case);
            }
        }
    });
}

/// One factor is read where it lies, in all orders of both, whichever is the larger: the factors change places, the sums
/// are in parts or not, an address or a leading dimension is not aligned.
#[test]
fn tf32_factors_are_read_where_they_lie() {
    let orders = [[false, false], [false, true], [true, false], [true, true]];
    for_each("tf32_factors_are_read_where_they_lie", |device| {
        for (number, shape) in
            [[140, 36, 96], [36, 140, 96], [132, 40, 700], [40, 132, 700]].into_iter().enumerate()
        {
            for (order, [a, b]) in orders.into_iter().enumerate() {
                let odd = [[true; 2], [true, false], [false, true]][(number + order) % 3];
                let c = (number + order) % 4 == 3;
                let starts = [usize::from(number == 1), 0];
                let case = Case { shape, columns: [a, b, c], odd: [false; 2], beta: 0.5, ..PLAIN };
                exact(device, None, case);
                exact(device, None, Case { odd, starts, count: 1 + order % 2, ..case });
                exact(device, Some(TensorVariant::Lanes), Case { odd, starts, ..case });
            }
        }
        // As many rows as it takes for the tile of 256 columns, with lines that are not aligned.
        exact(device, None, Case { shape: [16_635, 200, 13], dense: true, ..PLAIN });
    });
}

/// Any numbers: within the bound on every device, and on the CPU and in the simulator the same bits, by each kernel.
#[test]
fn tf32_products_are_within_the_bound() {
    // Magnitudes of 2^-8 to 2^8, of both signs.
    let wide = |bits: u64| {
        let size = f32::exp2((bits % 16) as f32 - 8.0) * (1.0 + (bits >> 41) as f32 / (1 << 23) as f32);
        if bits & 32 == 0 { size } else { -size }
    };
    let case = Case { shape: [70, 140, 333], columns: [true, false, false], starts: [1, 0], ..PLAIN };
    let layouts = case.layouts();
    let a = filled::<f32>(layouts[0], 4, 0.0, wide);
    let b = filled::<f32>(layouts[1], 5, 0.0, wide);
    let c = filled::<f32>(layouts[2], 6, UNTOUCHED, wide);
    let sums = sums(&a, &b, layouts);
    let (a, b) = (behind(1, a), b);
    let (u, v) = (f64::from(f32::EPSILON), 1.0 / 2048.0);
    let relative = 2.0 * v + v * v + 2.0 * 333.0 * u * (1.0 + v) * (1.0 + v);
    let mut first: Option<Vec<f32>> = None;
    for_each("tf32_products_are_within_the_bound", |device| {
        for variant in [None, Some(TensorVariant::Lanes), Some(TensorVariant::Narrow)] {
            let Some(actual) = product(device, variant, case, [&a, &b], &c) else { continue };
            let mut worst = 0.0_f64;
            for &(at, sum, sizes) in &sums {
                let error = (f64::from(actual[at]) - sum).abs();
                assert!(error <= relative * sizes, "{}: element {at} is off by {error}", device.name());
                worst = worst.max(error / sizes);
            }
            // Of f32 it would be 333 · 2⁻²⁴ at most.
            assert!(worst > 3.0e-5, "{}: {worst} is less than what tf32 loses", device.name());
            match &first {
                None => first = Some(actual),
                Some(first) if device.kind() != Kind::Cuda => assert_eq!(&actual, first, "{}", device.name()),
                Some(_) => {}
            }
        }
    });
}

/// Elements are rounded to the nearest, not cut; NaN and infinities come through; `alpha` = 0 does not read the
/// factors.
#[test]
fn tf32_rounds_to_the_nearest() {
    let unit = 1.0 / 1024.0;
    let given =
        [1.0 + unit * 0.49, 1.0 + unit * 0.5, 1.0 + unit * 0.51, 1.0 + unit * 1.5, -3.0 + unit * 0.51];
    let rounded = [1.0, 1.0, 1.0 + unit, 1.0 + 2.0 * unit, -3.0];
    for_each("tf32_rounds_to_the_nearest", |device| {
        let case = Case { shape: [8, 8, 1], ..PLAIN };
        let layouts = case.layouts();
        let mut a = filled::<f32>(layouts[0], 7, 0.0, |_| 1.0);
        let b = filled::<f32>(layouts[1], 8, 0.0, |_| 1.0);
        let c = filled::<f32>(layouts[2], 9, UNTOUCHED, |_| 1.0);
        let specials = [f32::NAN, f32::NEG_INFINITY, f32::MAX];
        for (row, &value) in given.iter().chain(&specials).enumerate() {
            a[layouts[0].matrix.index(row, 0)] = value;
        }
        for variant in [TensorVariant::Lanes, TensorVariant::Packed] {
            let Some(actual) = product(device, Some(variant), case, [&a, &b], &c) else { continue };
            let at = |row| actual[layouts[2].matrix.index(row, 5)];
            assert_eq!([0, 1, 2, 3, 4].map(at), rounded, "{variant:?} on {}", device.name());
            assert!(at(5).is_nan(), "{}", device.name());
            assert_eq!([at(6), at(7)], [f32::NEG_INFINITY, f32::INFINITY], "{}", device.name());
        }
        let none = Case { alpha: 0.0, beta: 2.0, ..case };
        let Some(actual) = product(device, None, none, [&a, &b], &c) else { return };
        assert_eq!(actual[layouts[2].matrix.index(5, 3)], 2.0, "{}", device.name());
    });
}

/// On a GPU: sizes at which the ring, the persistent grid and the order of tiles go round many times.
#[test]
fn large_tf32_products_on_a_gpu() {
    let Some(device) = cuda("large_tf32_products_on_a_gpu") else { return };
    for (shape, columns) in [
        ([1000, 2000, 1023], [false, false, false]),
        ([2047, 3001, 512], [false, true, false]),
        ([3000, 1111, 776], [true, false, true]),
        // A large factor and a small one, in either place.
        ([3445, 64, 1776], [false; 3]),
        ([44, 9490, 172], [true, false, false]),
        ([40, 17_001, 128], [true, true, false]),
        ([86, 176, 10_220], [false; 3]),
        ([3001, 900, 511], [false; 3]),
        ([7117, 35, 682], [false, true, false]),
        ([1075, 81, 819], [true, true, false]),
    ] {
        let case = Case { shape, columns, dense: true, ..PLAIN };
        let layouts = case.layouts();
        let small = |bits: u64| (bits % 5) as f32 - 2.0;
        let (a, b) = (filled::<f32>(layouts[0], 1, 0.0, small), filled::<f32>(layouts[1], 2, 0.0, small));
        let c = filled::<f32>(layouts[2], 3, UNTOUCHED, small);
        let expected = product(&Device::cpu(), None, case, [&a, &b], &c).unwrap();
        for variant in TensorVariant::ALL.map(Some).into_iter().chain([None]) {
            let Some(actual) = product(&device, variant, case, [&a, &b], &c) else { continue };
            let wrong = actual.iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "{variant:?} of {case:?}: of {}", expected.len());
        }
    }
}

/// A single row or column is the product of a matrix and a vector, of which nothing is rounded: the bits of `gemm`.
#[test]
fn tf32_of_vectors_is_not_rounded() {
    for_each("tf32_of_vectors_is_not_rounded", |device| {
        for (number, [m, n, k]) in
            [[1, 41, 3000], [70, 1, 500], [1, 1, 9], [1, 300, 0]].into_iter().enumerate()
        {
            let columns = [number % 2 == 0, number % 3 == 0, false];
            let case = Case { shape: [m, n, k], columns, dense: true, beta: 0.5, ..PLAIN };
            let [of_a, of_b, of_c] = case.layouts();
            let third = |bits: u64| (bits % 1000) as f32 / 3.0;
            let a = device.upload(&filled::<f32>(of_a, 1, f32::NAN, third)).unwrap();
            let b = device.upload(&filled::<f32>(of_b, 2, f32::NAN, third)).unwrap();
            let c = filled::<f32>(of_c, 3, UNTOUCHED, third);
            let batches = || (Batch::new(&a, of_a).unwrap(), Batch::new(&b, of_b).unwrap());
            let stream = device.default_stream();
            let mut scratch = exactly(&device.default_stream(), gemm_tf32_scratch(of_a, of_b, of_c));
            let [mut expected, mut actual] = [0; 2].map(|_| device.upload(&c).unwrap());
            let ((a, b), to) = (batches(), BatchMut::new(&mut expected, of_c).unwrap());
            gemm(&stream, 1.0, a, b, 0.5, to, &mut scratch).unwrap();
            let ((a, b), to) = (batches(), BatchMut::new(&mut actual, of_c).unwrap());
            gemm_tf32(&stream, 1.0, a, b, 0.5, to, &mut scratch).unwrap();
            let bits = |of: &gpu_core::Buffer<f32>| {
                of.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(bits(&actual), bits(&expected), "{case:?} on {}", device.name());
        }
    });
}
