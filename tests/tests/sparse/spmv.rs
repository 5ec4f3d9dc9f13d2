//! Products of a matrix and a vector: one body over all backends, against serial oracles.

use gpu_sparse::{Error, Spmv, Strategy, spmv};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{Host, Value, matrix, naive_product, vector};

/// Rows of all lengths around what lanes and pieces hold, empty ones, and skewed ones.
fn matrices<T: Value>() -> Vec<(&'static str, Host<T>)> {
    let lengths = [0, 1, 7, 8, 9, 31, 32, 33, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 40_000];
    vec![
        ("no rows", matrix(0, 5, 1, |_, _| vec![])),
        ("no columns", matrix(5, 0, 1, |_, _| vec![])),
        ("empty rows", matrix(3000, 7, 1, |_, _| vec![])),
        ("one row", matrix(1, 4000, 2, |_, _| (0..4000).collect())),
        ("lengths", matrix(lengths.len(), 40_000, 3, |row, _| (0..lengths[row]).collect())),
        (
            "longest first",
            matrix(lengths.len(), 40_000, 4, |row, _| (0..lengths[lengths.len() - 1 - row]).collect()),
        ),
        // Six and more in the mean: the blocks' entries go through shared memory; with one long row in a block not all
        // do.
        (
            "streamed",
            matrix(777, 100, 6, |_, random| (0..6 + random.below(3)).map(|_| random.below(100)).collect()),
        ),
        (
            "streamed but one",
            matrix(600, 100, 7, |row, random| {
                (0..if row == 300 { 40 } else { 7 }).map(|_| random.below(100)).collect()
            }),
        ),
        // Rows of up to 32 go through shared memory; with most of them as long, more than a block has room for.
        (
            "streamed of 32",
            matrix(900, 4000, 8, |row, random| {
                let most = if row < 300 { 32 } else { random.below(33) };
                (0..if row < 500 { most } else { most / 6 }).map(|k| 100 * k + random.below(100)).collect()
            }),
        ),
        // Two blocks of 96 rows, of which the first has 2035 entries: its last row, and what a lane looks for beyond
        // it, ends where the room of 2048 does.
        (
            "streamed to the end",
            matrix(192, 2200, 9, |row, random| {
                let most = if row < 95 {
                    21 + (row < 30) as usize
                } else if row == 95 {
                    10
                } else {
                    8
                };
                (0..most).map(|k| 100 * k + random.below(100)).collect()
            }),
        ),
        ("short", matrix(777, 100, 5, |_, random| (0..random.below(9)).map(|_| random.below(100)).collect())),
        (
            "skewed",
            matrix(1200, 5000, 6, |row, random| {
                let most = if row % 300 == 17 { 5000 } else { random.below(12) };
                (0..most).map(|_| random.below(5000)).collect()
            }),
        ),
    ]
}

fn products<T: Value>(test: &str) {
    for_each(test, |device| {
        for (name, host) in matrices::<T>() {
            let a = host.on(device);
            let (x, old) = (vector::<T>(host.columns, 11), vector::<T>(host.rows, 12));
            let on_device = device.upload(&x).unwrap();
            for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
                let mut product = Spmv::new(&a).unwrap().with_strategy(strategy).unwrap();
                for (alpha, beta) in [(1.0, 0.0), (-0.5, 2.0), (0.0, 3.0)] {
                    let (alpha, beta) = (T::of(alpha), T::of(beta));
                    let mut expected = old.clone();
                    naive_product(alpha, &host, &x, beta, &mut expected);
                    let mut y = device.upload(&old).unwrap();
                    product.run(&device.default_stream(), alpha, &on_device, beta, &mut y).unwrap();
                    assert_same_bits(&y.to_vec().unwrap(), &expected, &format!("{name}, {strategy:?}"));
                }
            }
            let mut expected = vec![T::ZERO; host.rows];
            naive_product(T::ONE, &host, &x, T::ZERO, &mut expected);
            assert_same_bits(&spmv(&a, &on_device).unwrap().to_vec().unwrap(), &expected, name);
        }
    });
}

#[test]
fn products_of_f32_are_those_of_the_documented_order() {
    products::<f32>("spmv f32");
}

#[test]
fn products_of_f64_are_those_of_the_documented_order() {
    products::<f64>("spmv f64");
}

#[test]
fn what_does_not_count_is_not_read() {
    for_each("spmv of NaN", |device| {
        let host = matrix::<f32>(50, 50, 21, |row, _| vec![row]);
        let a = host.on(device);
        let (nan, ones) = (device.upload(&[f32::NAN; 50]).unwrap(), device.upload(&[1.0; 50]).unwrap());
        for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
            let mut product = Spmv::new(&a).unwrap().with_strategy(strategy).unwrap();
            let mut y = device.upload(&[f32::NAN; 50]).unwrap();
            product.run(&device.default_stream(), 1.0, &ones, 0.0, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), host.values);
            product.run(&device.default_stream(), 0.0, &nan, 0.0, &mut y).unwrap();
            assert_eq!(y.to_vec().unwrap(), [0.0; 50]);
        }
    });
}

#[test]
fn vectors_of_other_lengths_are_refused() {
    for_each("spmv lengths", |device| {
        let a = matrix::<f64>(3, 4, 22, |row, _| vec![row]).on(device);
        let (x, mut y) = (device.upload(&[1.0; 4]).unwrap(), device.upload(&[7.0; 2]).unwrap());
        let mut product = Spmv::new(&a).unwrap();
        let error = product.run(&device.default_stream(), 1.0, &x, 0.0, &mut y).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Device(gpu_core::Error::VectorLengths { rows: 3, columns: 4, x: 4, y: 2 })
            ),
            "{error}"
        );
        assert_eq!(y.to_vec().unwrap(), [7.0; 2]);
    });
}

/// More rows than the threads that look for the longest.
#[test]
fn the_longest_row_is_found_among_many() {
    for_each("spmv, the longest row", |device| {
        let rows = 1024 * 256 + 700;
        let lengths = |row: usize| {
            if row == rows - 3 { vec![0, 2, 4] } else { vec![3; row.is_multiple_of(1000) as usize] }
        };
        let host = matrix::<f32>(rows, 5, 23, |row, _| lengths(row));
        assert_eq!(Spmv::new(&host.on(device)).unwrap().statistics().longest, 3);
    });
}
