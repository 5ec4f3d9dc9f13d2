//! Several vectors at once, and transposed matrices: one body over all backends, against serial oracles.

use gpu_core::{Device, Error as Core, Layout, Matrix, MatrixMut};
use gpu_sparse::{Algorithm, Analysis, Csc, CsrView, Diagonal, Error, Side, Spmv, Strategy, spmm, transpose};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;

use crate::support::{
    Host, Value, columns_of, matrix, naive_product, naive_solution, reversed, triangles, vector,
};

/// What is not to be written: the gaps between the lines of a matrix.
const GAP: f64 = -77.0;

/// Layouts of a matrix: dense and with gaps, of both orders.
fn layouts(rows: usize, columns: usize) -> [Layout; 4] {
    let (row_major, column_major) =
        (Layout::row_major(rows, columns).unwrap(), Layout::column_major(rows, columns).unwrap());
    [
        row_major,
        column_major,
        row_major.with_leading_dimension(columns + 3).unwrap(),
        column_major.with_leading_dimension(rows + 5).unwrap(),
    ]
}

/// A matrix of these columns in memory of a layout, gaps filled.
fn laid_out<T: Value>(layout: Layout, of_columns: &[Vec<T>]) -> Vec<T> {
    let mut memory = vec![T::of(GAP); layout.span()];
    for (column, values) in of_columns.iter().enumerate() {
        for (row, &value) in values.iter().enumerate() {
            memory[layout.index(row, column)] = value;
        }
    }
    memory
}

fn transposed_host<T: Value>(host: &Host<T>) -> Host<T> {
    let (columns, rows) = (host.columns, host.rows);
    let mut entries: Vec<(u32, u32, T)> = (0..rows)
        .flat_map(|row| host.row(row).map(move |entry| (host.indices[entry], row as u32, host.values[entry])))
        .collect();
    entries.sort_by_key(|entry| (entry.0, entry.1));
    let offsets =
        (0..=columns as u32).map(|column| entries.partition_point(|entry| entry.0 < column) as u32).collect();
    let indices = entries.iter().map(|entry| entry.1).collect();
    Host {
        rows: columns,
        columns: rows,
        offsets,
        indices,
        values: entries.iter().map(|entry| entry.2).collect(),
    }
}

fn systems<T: Value>(test: &str) {
    for_each(test, |device| {
        for (name, lower) in triangles::<T>(true) {
            for (host, side) in [(reversed(&lower), Side::Upper), (lower, Side::Lower)] {
                let a = host.on(device);
                let rows = host.rows;
                let mut analysis = Analysis::new(&a, side, Diagonal::Stored).unwrap();
                for (number, algorithm) in Algorithm::ALL.into_iter().enumerate() {
                    analysis = analysis.with_algorithm(algorithm).unwrap();
                    // Each algorithm has a layout of its own, and one with gaps.
                    let count = 1 + 2 * number;
                    let right: Vec<Vec<T>> = (0..count as u64).map(|k| vector(rows, 200 + k)).collect();
                    let expected: Vec<Vec<T>> = right
                        .iter()
                        .map(|b| naive_solution(&host, side, Diagonal::Stored, T::of(-0.5), b))
                        .collect();
                    for (b_layout, x_layout) in [
                        (layouts(rows, count)[number], layouts(rows, count)[3 - number]),
                        (layouts(rows, count)[2], layouts(rows, count)[2 + number % 2]),
                    ] {
                        let b = device.upload(&laid_out(b_layout, &right)).unwrap();
                        let mut x = device.upload(&vec![T::of(GAP); x_layout.span()]).unwrap();
                        analysis
                            .solve_many(
                                &device.default_stream(),
                                T::of(-0.5),
                                Matrix::new(&b, b_layout).unwrap(),
                                MatrixMut::new(&mut x, x_layout).unwrap(),
                            )
                            .unwrap();
                        let what = format!("{name}, {side:?}, {algorithm:?}, {b_layout:?} to {x_layout:?}");
                        assert_same_bits(&x.to_vec().unwrap(), &laid_out(x_layout, &expected), &what);
                    }
                }
            }
        }
    });
}

#[test]
fn many_systems_of_f32_have_the_bits_of_each() {
    systems::<f32>("solve_many f32");
}

#[test]
fn many_systems_of_f64_have_the_bits_of_each() {
    systems::<f64>("solve_many f64");
}

#[test]
fn more_systems_than_a_launch_has() {
    for_each("solve_many, 130 systems", |device| {
        let host = matrix::<f32>(40, 40, 300, |row, _| vec![row / 2, row]);
        let a = host.on(device);
        let right: Vec<Vec<f32>> = (0..130).map(|k| vector(40, 301 + k)).collect();
        let expected: Vec<Vec<f32>> =
            right.iter().map(|b| naive_solution(&host, Side::Lower, Diagonal::Stored, 1.0, b)).collect();
        for layout in layouts(40, 130) {
            let b = device.upload(&laid_out(layout, &right)).unwrap();
            let mut x = device.upload(&vec![GAP as f32; layout.span()]).unwrap();
            let (b, out) = (Matrix::new(&b, layout).unwrap(), MatrixMut::new(&mut x, layout).unwrap());
            let mut analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
            analysis.solve_many(&device.default_stream(), 1.0, b, out).unwrap();
            assert_same_bits(&x.to_vec().unwrap(), &laid_out(layout, &expected), &format!("{layout:?}"));
        }
    });
}

#[test]
fn transposed_systems_are_those_of_the_transposed_matrix() {
    for_each("solve transposed", |device| {
        for (name, lower) in triangles::<f64>(true) {
            for (host, side) in [(reversed(&lower), Side::Upper), (lower, Side::Lower)] {
                let (a, b) = (host.on(device), vector::<f64>(host.rows, 210));
                let other = transposed_host(&host);
                let expected = naive_solution(&other, side.transposed(), Diagonal::Stored, 1.0, &b);
                let mut analysis = Analysis::transposed(&a, side, Diagonal::Stored).unwrap();
                assert_same_bits(&solved(device, &mut analysis, &b), &expected, name);
                // The same matrix as compressed columns.
                let columns = Csc::of_transposed(transpose(&a).unwrap());
                let view = columns.transposed();
                let mut analysis = Analysis::transposed(view, side.transposed(), Diagonal::Stored).unwrap();
                let expected = naive_solution(&host, side, Diagonal::Stored, 1.0, &b);
                assert_same_bits(&solved(device, &mut analysis, &b), &expected, &format!("{name}, columns"));
            }
        }
    });
}

fn solved(device: &Device, analysis: &mut Analysis<'_, f64>, b: &[f64]) -> Vec<f64> {
    let (right, mut x) = (device.upload(b).unwrap(), device.alloc(b.len()).unwrap());
    analysis.solve(&device.default_stream(), 1.0, &right, &mut x).unwrap();
    x.to_vec().unwrap()
}

#[test]
fn a_transposed_analysis_takes_other_values_and_no_other_structure() {
    for_each("other values, transposed", |device| {
        let host = matrix::<f64>(200, 200, 42, |row, _| vec![row / 2, row]);
        let a = host.on(device);
        let other = Host { values: host.values.iter().map(|value| value * 3.0).collect(), ..host.clone() };
        let b = vector::<f64>(200, 43);
        let expected = naive_solution(&transposed_host(&other), Side::Upper, Diagonal::Stored, 1.0, &b);
        let values = device.upload(&other.values).unwrap();
        let analysis = Analysis::transposed(&a, Side::Lower, Diagonal::Stored).unwrap();
        let mut analysis = analysis.with_values(&values).unwrap();
        assert_same_bits(&solved(device, &mut analysis, &b), &expected, "other values");
        let again = other.on(device);
        let mut analysis = analysis.with_matrix(&again).unwrap();
        assert_same_bits(&solved(device, &mut analysis, &b), &expected, "another matrix");

        // As many entries, one of them elsewhere.
        let moved =
            matrix::<f64>(200, 200, 42, |row, _| vec![if row == 150 { 3 } else { row / 2 }, row]).on(device);
        let error = analysis.with_matrix(&moved).unwrap_err();
        assert!(matches!(error, Error::OtherStructure { row: 150 }), "{error}");
        let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
        let shifted = matrix::<f64>(200, 200, 42, |row, _| match row {
            0 | 70 => vec![row],
            71 => vec![1, 35, 71],
            _ => vec![row / 2, row],
        });
        let shifted = shifted.on(device);
        let error = analysis.with_matrix(&shifted).unwrap_err();
        assert!(matches!(error, Error::OtherStructure { row: 70 }), "{error}");
        let smaller = matrix::<f64>(10, 10, 42, |row, _| vec![row]).on(device);
        let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
        let error = analysis.with_matrix(&smaller).unwrap_err();
        assert!(matches!(error, Error::OtherPlan { expected: (200, 399), actual: (10, 10) }), "{error}");
    });
}

/// Matrices whose rows are a thread's, 4 lanes' and a warp's.
fn matrices<T: Value>() -> Vec<(&'static str, Host<T>)> {
    let lengths = [0, 1, 8, 9, 31, 32, 33, 1024, 1025, 2049];
    vec![
        ("no rows", matrix(0, 5, 1, |_, _| vec![])),
        ("no columns", matrix(5, 0, 1, |_, _| vec![])),
        ("lengths", matrix(lengths.len(), 3000, 3, |row, _| (0..lengths[row]).collect())),
        ("short", matrix(300, 100, 5, |_, random| columns_of(random, 9, 100))),
        ("mean of 20", matrix(200, 90, 6, |_, random| columns_of(random, 50, 90))),
    ]
}

fn products<T: Value>(test: &str) {
    for_each(test, |device| {
        for (name, host) in matrices::<T>() {
            let a = host.on(device);
            let other = transposed_host(&host);
            for (host, mut product) in
                [(&host, Spmv::new(&a).unwrap()), (&other, Spmv::transposed(&a).unwrap())]
            {
                for (count, alpha, beta) in [(1, 1.0, 0.0), (3, -0.5, 2.0), (17, 2.0, 0.0), (2, 0.0, 3.0)] {
                    let (alpha, beta) = (T::of(alpha), T::of(beta));
                    let b: Vec<Vec<T>> = (0..count).map(|k| vector(host.columns, 220 + k)).collect();
                    let old: Vec<Vec<T>> = (0..count).map(|k| vector(host.rows, 250 + k)).collect();
                    let mut expected = old.clone();
                    for (x, y) in b.iter().zip(&mut expected) {
                        naive_product(alpha, host, x, beta, y);
                    }
                    let count = count as usize;
                    for number in 0..4 {
                        let b_layout = layouts(host.columns, count)[number];
                        let c_layout = layouts(host.rows, count)[3 - number];
                        let on_device = device.upload(&laid_out(b_layout, &b)).unwrap();
                        let mut c = device.upload(&laid_out(c_layout, &old)).unwrap();
                        let (left, out) = (
                            Matrix::new(&on_device, b_layout).unwrap(),
                            MatrixMut::new(&mut c, c_layout).unwrap(),
                        );
                        product.run_many(&device.default_stream(), alpha, left, beta, out).unwrap();
                        let what = format!("{name}, {b_layout:?} to {c_layout:?}");
                        assert_same_bits(&c.to_vec().unwrap(), &laid_out(c_layout, &expected), &what);
                    }
                }
            }
        }
    });
}

#[test]
fn products_with_several_vectors_of_f32_have_the_bits_of_each() {
    products::<f32>("spmm f32");
}

#[test]
fn products_with_several_vectors_of_f64_have_the_bits_of_each() {
    products::<f64>("spmm f64");
}

#[test]
fn transposed_products_are_those_of_the_transposed_matrix() {
    for_each("spmv transposed", |device| {
        for (name, host) in matrices::<f32>() {
            let a = host.on(device);
            let other = transposed_host(&host);
            let (x, old) = (vector::<f32>(host.rows, 230), vector::<f32>(host.columns, 231));
            let mut expected = old.clone();
            naive_product(1.5, &other, &x, -1.0, &mut expected);
            for strategy in [Strategy::Thread, Strategy::Lanes4, Strategy::Balanced] {
                let mut product = Spmv::transposed(&a).unwrap().with_strategy(strategy).unwrap();
                let (x, mut y) = (device.upload(&x).unwrap(), device.upload(&old).unwrap());
                product.run(&device.default_stream(), 1.5, &x, -1.0, &mut y).unwrap();
                assert_same_bits(&y.to_vec().unwrap(), &expected, &format!("{name}, {strategy:?}"));
            }
        }
    });
}

#[test]
fn products_in_buffers_of_their_own_have_the_bits_of_each() {
    for_each("spmm", |device| {
        let host = matrix::<f64>(70, 50, 23, |row, _| (row % 7..50).step_by(1 + row % 5).collect());
        let a = host.on(device);
        for count in [0, 1, 3, 33] {
            let columns: Vec<Vec<f64>> = (0..count as u64).map(|k| vector(50, 500 + k)).collect();
            let product = |x: &Vec<f64>| {
                let mut y = vec![0.0; 70];
                naive_product(1.0, &host, x, 0.0, &mut y);
                y
            };
            let products: Vec<Vec<f64>> = columns.iter().map(product).collect();
            let expected = laid_out(Layout::row_major(70, count).unwrap(), &products);
            for layout in layouts(50, count) {
                let b = device.upload(&laid_out(layout, &columns)).unwrap();
                let product = spmm(&a, Matrix::new(&b, layout).unwrap()).unwrap();
                assert_same_bits(&product.to_vec().unwrap(), &expected, &format!("{count}, {layout:?}"));
            }
        }
        let wrong = Matrix::new(&[1.0; 8], Layout::row_major(4, 2).unwrap()).unwrap();
        let error = spmm(&a, wrong).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { what: "B", expected: (50, 2), actual: (4, 2) })),
            "{error}"
        );
    });
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    for_each("shapes of several vectors", |device| {
        let a = matrix::<f64>(3, 4, 22, |row, _| vec![row]).on(device);
        let (b, mut c) = (device.upload(&[1.0; 8]).unwrap(), device.upload(&[7.0; 8]).unwrap());
        let layout = |rows, columns| Layout::row_major(rows, columns).unwrap();
        let stream = device.default_stream();
        let mut product = Spmv::new(&a).unwrap();
        for (b_layout, c_layout, refused) in [
            (layout(3, 2), layout(3, 2), ("B", (4, 2), (3, 2))),
            (layout(4, 2), layout(4, 2), ("C", (3, 2), (4, 2))),
            (layout(4, 1), layout(3, 2), ("B", (4, 2), (4, 1))),
        ] {
            let (b, c) = (Matrix::new(&b, b_layout).unwrap(), MatrixMut::new(&mut c, c_layout).unwrap());
            match product.run_many(&stream, 1.0, b, 0.0, c).unwrap_err() {
                Error::Device(Core::Shape { what, expected, actual }) => {
                    assert_eq!((what, expected, actual), refused)
                }
                error => panic!("{error}"),
            }
        }
        let square = matrix::<f64>(4, 4, 22, |row, _| vec![row]).on(device);
        let mut analysis = Analysis::new(&square, Side::Upper, Diagonal::Stored).unwrap();
        let (right, out) =
            (Matrix::new(&b, layout(4, 1)).unwrap(), MatrixMut::new(&mut c, layout(4, 2)).unwrap());
        let error = analysis.solve_many(&stream, 1.0, right, out).unwrap_err();
        assert!(
            matches!(error, Error::Device(Core::Shape { what: "B", expected: (4, 2), actual: (4, 1) })),
            "{error}"
        );
        assert_eq!(c.to_vec().unwrap(), [7.0; 8]);
    });
}

/// A mistake in one crate's words goes through functions that return gpu-core's error, and is found again.
#[test]
fn errors_pass_as_those_of_the_core() {
    fn solves() -> gpu_core::Result<()> {
        CsrView::new(1, 1, &[0, 2], &[0], &[1.0f32])?;
        Ok(())
    }
    let Core::Primitive(own) = solves().unwrap_err() else { panic!("another error") };
    assert!(matches!(own.downcast_ref::<Error>(), Some(Error::Offsets { row: 0, .. })));
}
