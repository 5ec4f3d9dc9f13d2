//! Products and solutions in buffers of their own, of batches too: of small whole numbers, so that every order of
//! operations is exact.

use gpu_core::Error as Core;
use gpu_linalg::{
    Batch, BatchLayout, Diagonal, Error, Matrix, Order, Side, gram, gram_pair, matmul_symmetric,
    matmul_triangular, solve_triangular,
};
use gpu_tests::backends::for_each;
use gpu_tests::data::random;

use crate::common::{DIAGONALS, Dense, ORDERS, SIDES, TRIANGLES, batch, filled, layout};

const COUNT: usize = 2;

fn number(seed: u64, number: usize, row: usize, column: usize) -> f64 {
    (random(seed + number as u64, row * 1009 + column) % 5) as f64 - 2.0
}

/// A batch of rectangles, with gaps.
fn rectangles(seed: u64, rows: usize, columns: usize, order: Order) -> (BatchLayout, Vec<f64>) {
    let layout = batch(layout(rows, columns, order, 2), COUNT, 3);
    (layout, filled(layout, |matrix, row, column| number(seed, matrix, row, column)))
}

/// The matrices without gaps, one after the other.
fn packed(of: &[Dense], order: Order) -> Vec<f64> {
    of.iter()
        .flat_map(
            |matrix| if order == Order::RowMajor { matrix.clone() } else { matrix.transposed() }.elements,
        )
        .collect()
}

#[test]
fn one_triangle_of_a_factor_is_read() {
    let (n, others) = (70, 9);
    for (triangle, side) in TRIANGLES.into_iter().flat_map(|triangle| SIDES.map(|side| (triangle, side))) {
        for (order, diagonal) in ORDERS.into_iter().zip(DIAGONALS) {
            let (rows, columns) = if side == Side::Left { (n, others) } else { (others, n) };
            let (b_layout, b) = rectangles(20, rows, columns, order);
            let a_layout = batch(layout(n, n, order, 1), COUNT, 5);
            let whole =
                filled(a_layout, |matrix, row, column| number(10, matrix, row.max(column), row.min(column)));
            let a = filled(a_layout, |matrix, row, column| match triangle.holds(row, column) {
                true => whole[matrix * a_layout.stride + a_layout.matrix.index(row, column)],
                false => f64::NAN,
            });
            let products = |of: &dyn Fn(Dense) -> Dense| {
                let products: Vec<Dense> = (0..COUNT)
                    .map(|at| {
                        let (a, b) = (of(Dense::of(&whole, a_layout, at)), Dense::of(&b, b_layout, at));
                        if side == Side::Left { a.times(&b) } else { b.times(&a) }
                    })
                    .collect();
                packed(&products, order)
            };
            let symmetric = products(&|a| a);
            let triangular = products(&|a| a.triangle(triangle, diagonal));
            for_each("products with a triangle", |device| {
                let context = format!("{triangle:?}, {side:?}, {order:?}, {diagonal:?} on {device}");
                let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
                let (a, b) = (Batch::new(&a, a_layout).unwrap(), Batch::new(&b, b_layout).unwrap());
                let product = matmul_symmetric(side, triangle, a, b).unwrap();
                assert_eq!(product.to_vec().unwrap(), symmetric, "{context}");
                let product = matmul_triangular(side, triangle, diagonal, a, b).unwrap();
                assert_eq!(product.to_vec().unwrap(), triangular, "{context}");
                let error = matmul_symmetric(side, triangle, b, a).unwrap_err();
                assert!(matches!(error, Error::Device(Core::NotSquare { .. })), "{error}, {context}");
                let error = matmul_triangular(side, triangle, diagonal, b, a).unwrap_err();
                assert!(matches!(error, Error::Device(Core::NotSquare { .. })), "{error}, {context}");
            });
        }
    }
}

#[test]
fn gram_matrices_are_whole() {
    for (n, k) in [(9, 40), (70, 3), (1, 1), (0, 3), (3, 0)] {
        for order in ORDERS {
            let (a_layout, a) = rectangles(30, n, k, order);
            let all = |turned: bool| {
                let of = |at| {
                    let a = Dense::of(&a, a_layout, at);
                    if turned { a.transposed().times(&a) } else { a.times(&a.transposed()) }
                };
                packed(&[0, 1].map(of), Order::RowMajor)
            };
            for_each("Gram matrices", |device| {
                let context = format!("{n} × {k}, {order:?} on {device}");
                let a = device.upload(&a).unwrap();
                let a = Batch::new(&a, a_layout).unwrap();
                assert_eq!(gram(a).unwrap().to_vec().unwrap(), all(false), "{context}");
                assert_eq!(gram(a.transposed()).unwrap().to_vec().unwrap(), all(true), "{context}, turned");
            });
        }
    }
}

#[test]
fn sums_of_two_products_are_whole() {
    for (n, k) in [(9, 40), (70, 3), (1, 1), (0, 3), (3, 0)] {
        for order in ORDERS {
            let [(of_a, a), (of_b, b)] =
                [(60, order), (70, Order::RowMajor)].map(|(seed, order)| rectangles(seed, n, k, order));
            let of = |at| {
                let [a, b] = [Dense::of(&a, of_a, at), Dense::of(&b, of_b, at)];
                let (mut sum, other) = (a.times(&b.transposed()), b.times(&a.transposed()));
                sum.elements.iter_mut().zip(other.elements).for_each(|(sum, other)| *sum += other);
                sum
            };
            let expected = packed(&[0, 1].map(of), Order::RowMajor);
            for_each("sums of two products", |device| {
                let context = format!("{n} × {k}, {order:?} on {device}");
                let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
                let (a, b) = (Batch::new(&a, of_a).unwrap(), Batch::new(&b, of_b).unwrap());
                assert_eq!(gram_pair(a, b).unwrap().to_vec().unwrap(), expected, "{context}");
                let one = Matrix::new(b.data(), of_b.matrix).unwrap();
                let error = gram_pair(a, one).unwrap_err();
                assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error}, {context}");
                if n != k {
                    let error = gram_pair(a, b.transposed()).unwrap_err();
                    assert!(matches!(error, Error::Device(Core::Shape { .. })), "{error}, {context}");
                }
            });
        }
    }
}

#[test]
fn batches_of_triangular_systems_are_solved() {
    let (n, others) = (12, 3);
    for (triangle, side) in TRIANGLES.into_iter().flat_map(|triangle| SIDES.map(|side| (triangle, side))) {
        for order in ORDERS {
            let (rows, columns) = if side == Side::Left { (n, others) } else { (others, n) };
            let (b_layout, x) = rectangles(40, rows, columns, order);
            let a_layout = batch(layout(n, n, order, 1), COUNT, 5);
            let a = filled(a_layout, |matrix, row, column| match triangle.holds(row, column) {
                true if row == column => 2.0,
                true => number(50, matrix, row, column),
                false => f64::NAN,
            });
            let (mut products, mut expected) = (Vec::new(), Vec::new());
            for at in 0..COUNT {
                let a = Dense::of(&a, a_layout, at).triangle(triangle, Diagonal::Stored);
                let x = Dense::of(&x, b_layout, at);
                products.push(if side == Side::Left { a.times(&x) } else { x.times(&a) });
                expected.push(x);
            }
            let b = filled(b_layout, |matrix, row, column| products[matrix].at(row, column));
            let expected = packed(&expected, order);
            // The second matrix is singular.
            let mut singular = a.clone();
            singular[a_layout.stride + a_layout.matrix.index(7, 7)] = 0.0;
            for_each("batches of triangular systems", |device| {
                let context = format!("{triangle:?}, {side:?}, {order:?} on {device}");
                let b = device.upload(&b).unwrap();
                let b = Batch::new(&b, b_layout).unwrap();
                let solve = |a: &[f64]| {
                    let a = device.upload(a).unwrap();
                    let a = Batch::new(&a, a_layout).unwrap();
                    solve_triangular(side, triangle, Diagonal::Stored, a, b)
                };
                assert_eq!(solve(&a).unwrap().to_vec().unwrap(), expected, "{context}");
                let error = solve(&singular).unwrap_err();
                assert!(
                    matches!(error, Error::SingularTriangle { matrix: 1, index: 7 }),
                    "{error}, {context}"
                );
                let one = Matrix::new(b.data(), b_layout.matrix).unwrap();
                let all = device.upload(&a).unwrap();
                let all = Batch::new(&all, a_layout).unwrap();
                let error = solve_triangular(side, triangle, Diagonal::Stored, all, one).unwrap_err();
                assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error}, {context}");
            });
        }
    }
}
