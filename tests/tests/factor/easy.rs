//! Factors, solutions and inverses in buffers of their own: the bits of those on a stream, and nothing but them.

use gpu_core::Device;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Layout, Matrix, Order, Triangle, cholesky, cholesky_inverse,
    cholesky_solve, potri_scratch, potri_to, potrs_scratch, potrs_to,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{ORDERS, Real, TRIANGLES, layout, oracle, place, placed_factor, positive, rectangle};

/// As many matrices without gaps, one after the other.
fn dense(matrix: Layout, count: usize) -> BatchLayout {
    matrix.batch(count).unwrap()
}

fn alike<T: Real>(n: usize, count: usize, order: Order, triangle: Triangle) {
    // What is in no triangle is not a number.
    let matrix = layout(n, order, 2);
    let batch = BatchLayout::new(matrix, count, matrix.span() + 3).unwrap();
    let (mut a, mut factors) = (vec![T::of(f64::NAN); batch.span().unwrap()], Vec::new());
    for number in 0..count {
        let of = positive::<T>((n + number) as u64, n);
        place(&of, matrix, triangle, a.get_mut(number * batch.stride..).unwrap_or_default());
        let mut l = vec![T::ZERO; n * n];
        placed_factor(&oracle(&of, n).0, Layout::row_major(n, n).unwrap(), triangle, &mut l);
        factors.extend(l);
    }
    let right = rectangle(n, 3, order, 1);
    let right = BatchLayout::new(right, count, right.span() + 1).unwrap();
    let b: Vec<T> = (0..right.span().unwrap()).map(|at| T::of((at % 23) as f64 - 11.0)).collect();
    let (l, x) = (dense(Layout::row_major(n, n).unwrap(), count), dense(rectangle(n, 3, order, 0), count));

    // By what is on a stream, on the CPU.
    let cpu = Device::cpu();
    let stream = cpu.default_stream();
    let mut solutions = vec![T::ZERO; x.span().unwrap()];
    let mut scratch = exactly(&cpu.default_stream(), potrs_scratch::<T>(n, x).unwrap());
    let of = |factors, layout| Batch::new(factors, layout).unwrap();
    let into = BatchMut::new(&mut solutions, x).unwrap();
    potrs_to(&stream, triangle, of(&factors, l), of(&b, right), into, &mut scratch).unwrap();
    let mut inverses = vec![T::ZERO; l.span().unwrap()];
    let mut scratch = exactly(&cpu.default_stream(), potri_scratch::<T>(n, count).unwrap());
    let into = BatchMut::new(&mut inverses, l).unwrap();
    potri_to(&stream, triangle, of(&factors, l), into, &mut scratch).unwrap();
    for at in 0..inverses.len() {
        let (number, i, j) = (at / (n * n), at / n % n, at % n);
        if !triangle.holds(i, j) {
            inverses[at] = inverses[number * n * n + j * n + i];
        }
    }

    for_each("Cholesky, in buffers of its own", |device| {
        let context = format!("{count} of {n} rows, {order:?}, {triangle:?} on {device}");
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let factor = cholesky(triangle, Batch::new(&a, batch).unwrap()).unwrap();
        assert_same_bits(&factor.to_vec().unwrap(), &factors, &context);
        let factor = Batch::new(&factor, l).unwrap();
        let found = cholesky_solve(triangle, factor, Batch::new(&b, right).unwrap()).unwrap();
        assert_same_bits(&found.to_vec().unwrap(), &solutions, &context);
        let found = cholesky_inverse(triangle, factor).unwrap();
        assert_same_bits(&found.to_vec().unwrap(), &inverses, &context);
    });
}

#[test]
fn the_bits_are_those_on_a_stream() {
    for triangle in TRIANGLES {
        for order in ORDERS {
            alike::<f64>(20, 2, order, triangle);
        }
        alike::<f32>(70, 1, Order::RowMajor, triangle);
        alike::<f32>(1, 3, Order::ColumnMajor, triangle);
        alike::<f64>(0, 2, Order::RowMajor, triangle);
        alike::<f64>(5, 0, Order::RowMajor, triangle);
    }
}

#[test]
fn what_has_no_factor_is_an_error() {
    for_each("matrices without a factor", |device| {
        let square = Layout::row_major(2, 2).unwrap();
        let a = device.upload(&[4.0, 2.0, 2.0, 5.0, 1.0, 2.0, 2.0, 1.0]).unwrap();
        let both = Batch::new(&a, dense(square, 2)).unwrap();
        for triangle in TRIANGLES {
            let error = cholesky(triangle, both).unwrap_err();
            assert!(
                matches!(error, Error::NotPositiveDefinite { matrix: 1, index: 2 }),
                "{error} on {device}"
            );
            let wide = Matrix::new(&a, Layout::row_major(2, 3).unwrap()).unwrap();
            let errors = [
                cholesky(triangle, wide).unwrap_err(),
                cholesky_inverse(triangle, wide).unwrap_err(),
                cholesky_solve(triangle, wide, wide).unwrap_err(),
            ];
            for error in errors {
                assert!(
                    matches!(error, Error::Device(gpu_core::Error::NotSquare { rows: 2, columns: 3, .. })),
                    "{error} on {device}"
                );
            }
            let one = Matrix::new(&a, square).unwrap();
            let error = cholesky_solve(triangle, both, one).unwrap_err();
            assert!(matches!(error, Error::BatchCounts { a: 2, b: 1, .. }), "{error} on {device}");
        }
    });
}
