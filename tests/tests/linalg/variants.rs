//! The textbook's products, wherever kernels run: the bits of a serial loop, but for the one that adds by atomics.

use gpu_core::Kind;
use gpu_linalg::Error;
use gpu_linalg::variants::{GemmVariant, GemvVariant, add, gemm, gemv};
use gpu_std::launch::LaunchConfig;
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::data::floats;

/// Row `row` of `a`, of `n` columns, times the column of `b` that starts there and has its elements `stride` apart.
fn chain(a: &[f32], b: &[f32], stride: usize) -> f32 {
    a.iter().enumerate().fold(0.0f32, |sum, (k, &a)| a.mul_add(b[k * stride], sum)) + 0.0
}

#[test]
fn products_of_matrices_have_the_bits_of_a_loop() {
    for_each("products_of_matrices_have_the_bits_of_a_loop", |device| {
        for [m, n, k] in [[1, 1, 1], [31, 33, 32], [40, 64, 65], [130, 7, 3], [5, 5, 0], [0, 3, 2]] {
            let (a, b) = (floats(1, m * k), floats(2, k * n));
            let expected: Vec<f32> =
                (0..m * n).map(|at| chain(&a[at / n * k..][..k], &b[(at % n).min(b.len())..], n)).collect();
            let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
            for variant in GemmVariant::ALL {
                let mut c = device.upload(&vec![f32::NAN; m * n]).unwrap();
                let result = gemm(variant, &device.default_stream(), &a, &b, &mut c, [m, n, k]);
                if device.kind() == Kind::Cpu && m * n > 0 {
                    assert!(matches!(result, Err(Error::Device(gpu_core::Error::Unsupported { .. }))));
                    continue;
                }
                result.unwrap();
                let context = format!("{variant:?} {m} × {n} × {k} on {}", device.name());
                assert_same_bits(&c.to_vec().unwrap(), &expected, &context);
            }
        }
    });
}

#[test]
fn products_with_a_vector_for_any_launch() {
    for_each("products_with_a_vector_for_any_launch", |device| {
        if device.kind() == Kind::Cpu {
            return;
        }
        let stream = device.default_stream();
        for (m, n) in [(1, 1), (100, 37), (33, 200)] {
            let (a_values, x_values) = (floats(3, m * n), floats(4, n));
            let expected: Vec<f32> =
                (0..m).map(|row| chain(&a_values[row * n..][..n], &x_values, 1)).collect();
            let (a, x) = (device.upload(&a_values).unwrap(), device.upload(&x_values).unwrap());
            for threads in [16, 128, 1024] {
                for variant in [GemvVariant::Row, GemvVariant::Rows(1), GemvVariant::Rows(7)] {
                    let blocks = variant.threads(m as u32, n as u32).div_ceil(threads.into()) as u32;
                    let mut y = device.upload(&vec![f32::NAN; m]).unwrap();
                    gemv(variant, &stream, LaunchConfig::linear(blocks, threads), &a, &x, &mut y).unwrap();
                    let context = format!("{variant:?} {m} × {n}, {threads} threads on {}", device.name());
                    assert_same_bits(&y.to_vec().unwrap(), &expected, &context);
                }
                // Products rounded by themselves and added in any order: at most gamma_{n+1} · |A| · |x| away from the
                // exact value, as the chain is (Higham, Accuracy and Stability, 2nd ed., equation 3.5).
                let blocks = (n as u32).div_ceil(threads);
                let mut y = device.upload(&vec![f32::NAN; m]).unwrap();
                let config = LaunchConfig::linear(blocks, threads);
                gemv(GemvVariant::Column, &stream, config, &a, &x, &mut y).unwrap();
                let unit = f64::from(f32::EPSILON) / 2.0;
                let gamma = (n + 1) as f64 * unit / (1.0 - (n + 1) as f64 * unit);
                for (row, y) in y.to_vec().unwrap().into_iter().enumerate() {
                    let products = (0..n).map(|k| f64::from(a_values[row * n + k]) * f64::from(x_values[k]));
                    let (exact, size) = products
                        .fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
                    assert!((f64::from(y) - exact).abs() <= gamma * size, "row {row}: {y} for {exact}");
                }
            }
        }
    });
}

/// Doubles, and integers, whose sums wrap and are exact in any order.
#[test]
fn products_with_a_vector_of_doubles_and_integers() {
    for_each("products_with_a_vector_of_doubles_and_integers", |device| {
        if device.kind() == Kind::Cpu {
            return;
        }
        let stream = device.default_stream();
        let (m, n) = (70, 50);
        let config = LaunchConfig::linear(3, 32);
        let doubles: Vec<f64> = floats(7, m * n + n).into_iter().map(f64::from).collect();
        let integers: Vec<i32> =
            floats(8, m * n + n).into_iter().map(|value| value.to_bits() as i32).collect();
        for variant in [GemvVariant::Row, GemvVariant::Rows(3), GemvVariant::Column] {
            let (a, x) = (device.upload(&integers[n..]).unwrap(), device.upload(&integers[..n]).unwrap());
            let mut y = device.upload(&vec![-1; m]).unwrap();
            gemv(variant, &stream, config, &a, &x, &mut y).unwrap();
            let row = |row: &[i32]| {
                let products = row.iter().zip(&integers[..n]).map(|(a, x)| a.wrapping_mul(*x));
                products.fold(0i32, i32::wrapping_add)
            };
            let expected: Vec<i32> = integers[n..].chunks(n).map(row).collect();
            assert_eq!(y.to_vec().unwrap(), expected, "{variant:?} on {}", device.name());

            let (a, x) = (device.upload(&doubles[n..]).unwrap(), device.upload(&doubles[..n]).unwrap());
            let mut y = device.upload(&vec![f64::NAN; m]).unwrap();
            gemv(variant, &stream, config, &a, &x, &mut y).unwrap();
            for (row, y) in y.to_vec().unwrap().into_iter().enumerate() {
                let products = || doubles[n + row * n..][..n].iter().zip(&doubles[..n]);
                let chain = products().fold(0.0, |sum: f64, (a, x)| a.mul_add(*x, sum)) + 0.0;
                // Two orders differ by at most twice the bound of either.
                let unit = f64::EPSILON / 2.0;
                let gamma = (n + 1) as f64 * unit / (1.0 - (n + 1) as f64 * unit);
                let size: f64 = products().map(|(a, x)| (a * x).abs()).sum();
                let bound = if variant == GemvVariant::Column { 2.0 * gamma * size } else { 0.0 };
                assert!((y - chain).abs() <= bound, "{variant:?}, row {row}: {y} for {chain}");
            }
        }
    });
}

/// Grids that fit, that are far too large, and that fit no row.
#[test]
fn sums_for_any_grid_and_block() {
    for_each("sums_for_any_grid_and_block", |device| {
        if device.kind() == Kind::Cpu {
            return;
        }
        let stream = device.default_stream();
        for [rows, columns] in [[1, 1000], [40, 25], [33, 65], [1, 1], [3, 0]] {
            let (x, y) = (floats(5, rows * columns), floats(6, rows * columns));
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            let (x, y) = (device.upload(&x).unwrap(), device.upload(&y).unwrap());
            for block in [[1, 1], [7, 3], [32, 1], [16, 16], [1024, 1]] {
                for more in [0, 1, 5] {
                    let grid = [columns as u32, rows as u32];
                    let grid =
                        [grid[0].div_ceil(block[0]).max(1) + more, grid[1].div_ceil(block[1]) + more, 1];
                    let grid = if rows == 1 && more == 0 { [grid[0], 1, 1] } else { grid };
                    let config = LaunchConfig { grid, block: [block[0], block[1], 1], shared_bytes: 0 };
                    let mut z = device.upload(&vec![f32::NAN; rows * columns]).unwrap();
                    add(&stream, config, &x, &y, &mut z, [rows, columns]).unwrap();
                    let context = format!("{rows} × {columns}, {config:?} on {}", device.name());
                    assert_same_bits(&z.to_vec().unwrap(), &expected, &context);
                }
            }
        }
    });
}

#[test]
fn a_grid_too_small_and_short_memory_are_refused() {
    for_each("a_grid_too_small_and_short_memory_are_refused", |device| {
        let stream = device.default_stream();
        let a = device.upload(&[1.0f32; 12]).unwrap();
        let x = device.upload(&[1.0f32; 4]).unwrap();
        let mut y = device.upload(&[-7.0f32; 3]).unwrap();
        let config = LaunchConfig::linear(1, 2);
        let error = gemv(GemvVariant::Row, &stream, config, &a, &x, &mut y).unwrap_err();
        assert!(matches!(error, Error::TooFewThreads { expected: 3, actual: 2 }), "{error}");
        let error = gemv(GemvVariant::Row, &stream, config, a.slice(1..), &x, &mut y).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 12, actual: 11, .. })),
            "{error}"
        );
        let error = gemm(GemmVariant::Naive, &stream, &a, &x, &mut y, [3, 1, 5]).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 15, actual: 12, .. })),
            "{error}"
        );
        let error = add(&stream, LaunchConfig::linear(1, 2), &x, &x, &mut y, [1, 3]).unwrap_err();
        assert!(matches!(error, Error::TooFewThreads { expected: 3, actual: 2 }), "{error}");
        let flat = LaunchConfig { grid: [1, 2, 1], block: [8, 1, 1], shared_bytes: 0 };
        let error = gemv(GemvVariant::Row, &stream, flat, &a, &x, &mut y).unwrap_err();
        assert!(matches!(error, Error::TooManyAxes { axes: 1, grid: [1, 2, 1], .. }), "{error}");
        let deep = LaunchConfig { grid: [1, 1, 1], block: [8, 1, 2], shared_bytes: 0 };
        let error = add(&stream, deep, &x, &x, &mut y, [1, 3]).unwrap_err();
        assert!(matches!(error, Error::TooManyAxes { axes: 2, block: [8, 1, 2], .. }), "{error}");
        let error = add(&stream, config, &x, &x, &mut y, [2, 2]).unwrap_err();
        assert!(
            matches!(error, Error::Device(gpu_core::Error::Length { expected: 4, actual: 3, .. })),
            "{error}"
        );
        assert_eq!(y.to_vec().unwrap(), [-7.0; 3]);
    });
}
