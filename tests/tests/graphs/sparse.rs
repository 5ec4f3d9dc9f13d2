use gpu_core::{Layout, Matrix, MatrixMut};
use gpu_sparse::plan::solve::Algorithm;
use gpu_sparse::{Analysis, Csr, Diagonal, Side, Spmv};

use super::*;

const ROWS: usize = 700;

/// A lower triangle with some five entries a row.
fn triangle(device: &Device) -> Csr<f64> {
    let (mut offsets, mut indices, mut values) = (vec![0_u32], Vec::new(), Vec::new());
    for (row, draw) in numbers(ROWS, 1 << 20).into_iter().enumerate() {
        let mut columns: Vec<usize> = (0..4).map(|k| (draw as usize * (k + 3) / 7) % (row + 1)).collect();
        columns.push(row);
        columns.sort_unstable();
        columns.dedup();
        for column in columns {
            indices.push(column as u32);
            values.push(if column == row { 4.0 } else { 0.25 });
        }
        offsets.push(indices.len() as u32);
    }
    Csr::upload(device, ROWS, ROWS, &offsets, &indices, &values).unwrap()
}

fn vector(device: &Device, len: usize) -> Buffer<f64> {
    device.upload(&numbers(len, 100).into_iter().map(|n| n as f64).collect::<Vec<_>>()).unwrap()
}

#[test]
fn products() {
    on_each("products", |device| {
        let a = triangle(device);
        for transposed in [false, true] {
            let make = |_: &Stream| {
                let product = if transposed { Spmv::transposed(&a) } else { Spmv::new(&a) };
                ((&a, vector(device, ROWS)), device.zeroed::<f64>(ROWS).unwrap(), product.unwrap())
            };
            replays(device, "Spmv::run", make, |s, ((_, x), y, product)| {
                Ok(product.run(s, 2.0, &*x, 0.5, y)?)
            });
        }
        let layout = Layout::row_major(ROWS, 5).unwrap();
        let make = |_: &Stream| {
            let outputs = device.zeroed::<f64>(ROWS * 5).unwrap();
            ((&a, vector(device, ROWS * 5)), outputs, Spmv::new(&a).unwrap())
        };
        replays(device, "Spmv::run_many", make, |s, ((_, b), c, product)| {
            Ok(product.run_many(s, 2.0, Matrix::new(&*b, layout)?, 0.5, MatrixMut::new(c, layout)?)?)
        });
    });
}

#[test]
fn solves() {
    on_each("solves", |device| {
        let a = triangle(device);
        for algorithm in [Algorithm::Free, Algorithm::Chains, Algorithm::Ordered, Algorithm::Levels] {
            let make = |_: &Stream| {
                let analysis = Analysis::new(&a, Side::Lower, Diagonal::Stored).unwrap();
                let analysis = analysis.with_algorithm(algorithm).unwrap();
                ((&a, vector(device, ROWS)), device.zeroed::<f64>(ROWS).unwrap(), analysis)
            };
            replays(device, &format!("solve, {algorithm:?}"), make, |s, ((_, b), x, analysis)| {
                Ok(analysis.solve(s, 2.0, &*b, x)?)
            });
        }
        let layout = Layout::row_major(ROWS, 3).unwrap();
        let make = |_: &Stream| {
            let analysis = Analysis::transposed(&a, Side::Lower, Diagonal::Stored).unwrap();
            ((&a, vector(device, ROWS * 3)), device.zeroed::<f64>(ROWS * 3).unwrap(), analysis)
        };
        replays(device, "solve_many", make, |s, ((_, b), x, analysis)| {
            Ok(analysis.solve_many(s, 2.0, Matrix::new(&*b, layout)?, MatrixMut::new(x, layout)?)?)
        });
    });
}
