//! Inverses, determinants and systems of batches, in place and into other matrices: what each matrix alone gives.

use gpu_core::Device;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Matrix, MatrixMut, Order, Triangle, logdet, logdet_batch, potri,
    potri_scratch, potri_to, potrs, potrs_scratch, potrs_to,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, layout, oracle, placed_factor, positive, rectangle, unit,
};

/// The factors of a batch, with gaps, in memory of canaries.
fn factors<T: Real>(n: usize, count: usize, order: Order, triangle: Triangle) -> (BatchLayout, Vec<T>) {
    let matrix = layout(n, order, 1);
    let batch = BatchLayout::new(matrix, count, matrix.span() + 3).unwrap();
    let mut l = vec![T::from(CANARY); batch.span().unwrap()];
    for number in 0..count {
        let factor = oracle(&positive::<T>((n + number) as u64, n), n).0;
        placed_factor(&factor, matrix, triangle, &mut l[number * batch.stride..]);
    }
    (batch, l)
}

fn inverses<T: Real + Into<f64>>(n: usize, count: usize, order: Order, triangle: Triangle) {
    let (batch, l) = factors::<T>(n, count, order, triangle);
    let other = layout(n, ORDERS[usize::from(order == Order::RowMajor)], 0);
    let apart = BatchLayout::new(other, count, other.span() + 1).unwrap();
    // Each alone, on the CPU: of up to 64 rows in the same order of operations.
    let cpu = Device::cpu();
    let (mut expected, mut expected_apart) = (l.clone(), vec![T::from(CANARY); apart.span().unwrap()]);
    let mut logs = Vec::new();
    for number in 0..count {
        let start = number * batch.stride;
        let of = &mut expected[start..start + batch.matrix.span()];
        logs.push(logdet(Matrix::new(&*of, batch.matrix).unwrap()).unwrap());
        let mut scratch = exactly(&cpu.default_stream(), potri_scratch::<T>(n, 1).unwrap());
        let into = MatrixMut::new(&mut *of, batch.matrix).unwrap();
        potri(&cpu.default_stream(), triangle, into, &mut scratch).unwrap();
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| triangle.holds(i, j)) {
            expected_apart[number * apart.stride + other.index(i, j)] = of[batch.matrix.index(i, j)];
        }
    }
    for_each("inverses of a batch", |device| {
        let context = format!("{n} x {count}, {order:?}, {triangle:?} on {}", device.name());
        let stream = device.default_stream();
        let mut scratch = exactly(&device.default_stream(), potri_scratch::<T>(n, count).unwrap());
        let mut a = device.upload(&l).unwrap();
        assert_eq!(logdet_batch(Batch::new(&a, batch).unwrap()).unwrap(), logs, "{context}");
        let mut x = device.upload(&vec![T::from(CANARY); expected_apart.len()]).unwrap();
        let (from, to) = (Batch::new(&a, batch).unwrap(), BatchMut::new(&mut x, apart).unwrap());
        potri_to(&stream, triangle, from, to, &mut scratch).unwrap();
        assert_same_bits(&x.to_vec().unwrap(), &expected_apart, &context);
        potri(&stream, triangle, BatchMut::new(&mut a, batch).unwrap(), &mut scratch).unwrap();
        assert_same_bits(&a.to_vec().unwrap(), &expected, &context);
    });
}

#[test]
fn inverses_and_determinants_of_batches() {
    // More matrices than columns, and less; one, and none.
    for (n, count) in [(1, 1), (1, 9), (5, 3), (5, 40), (33, 2), (40, 0)] {
        for order in ORDERS {
            for triangle in TRIANGLES {
                inverses::<f32>(n, count, order, triangle);
                inverses::<f64>(n, count, order, triangle);
            }
        }
    }
    // More than a tile of what is copied.
    inverses::<f64>(3, 70, Order::ColumnMajor, Triangle::Lower);
    inverses::<f64>(66, 1, Order::RowMajor, Triangle::Upper);
}

#[test]
fn systems_into_other_matrices() {
    fn check<T: Real>(n: usize, columns: usize, count: usize, order: Order, triangle: Triangle) {
        let (batch, l) = factors::<T>(n, count, order, triangle);
        let sides = |order, gap| {
            let matrix = rectangle(n, columns, order, gap);
            BatchLayout::new(matrix, count, matrix.span() + gap).unwrap()
        };
        let (from, to) = (sides(order, 2), sides(ORDERS[usize::from(order == Order::RowMajor)], 1));
        let b: Vec<T> = (0..from.span().unwrap()).map(|at| T::of(unit(5, at))).collect();
        let before = vec![T::from(CANARY); to.span().unwrap()];
        let mut copied = before.clone();
        for number in 0..count {
            for (i, j) in (0..n * columns).map(|at| (at / columns, at % columns)) {
                copied[number * to.stride + to.matrix.index(i, j)] =
                    b[number * from.stride + from.matrix.index(i, j)];
            }
        }
        for_each("systems into other matrices", |device| {
            let context = format!("{n}, {columns} x {count}, {order:?}, {triangle:?} on {}", device.name());
            let stream = device.default_stream();
            let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, to).unwrap());
            let (l, b_there) = (device.upload(&l).unwrap(), device.upload(&b).unwrap());
            let (mut x, mut in_place) = (device.upload(&before).unwrap(), device.upload(&copied).unwrap());
            let l = Batch::new(&l, batch).unwrap();
            let (right, into) = (Batch::new(&b_there, from).unwrap(), BatchMut::new(&mut x, to).unwrap());
            potrs_to(&stream, triangle, l, right, into, &mut scratch).unwrap();
            let into = BatchMut::new(&mut in_place, to).unwrap();
            potrs(&stream, triangle, l, into, &mut scratch).unwrap();
            assert_same_bits(&x.to_vec().unwrap(), &in_place.to_vec().unwrap(), &context);
            assert_same_bits(&b_there.to_vec().unwrap(), &b, &context);
        });
    }
    for (n, columns, count) in [(1, 1, 1), (7, 5, 2), (33, 2, 9), (70, 3, 1), (9, 0, 2)] {
        for order in ORDERS {
            check::<f32>(n, columns, count, order, Triangle::Lower);
            check::<f64>(n, columns, count, order, Triangle::Upper);
        }
    }
}
