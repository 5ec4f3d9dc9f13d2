//! Batches of one size: bit for bit the textbook's factor.

use gpu_core::{Device, ScratchSize};
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Order, Triangle, expect_positive_definite, potrf, potrf_scratch,
    potrf_to, potrs, potrs_scratch,
};
use gpu_std::float::Float;
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, backward_error, layout, oracle, place, placed_factor, positive,
    rectangle, unit,
};

/// A batch of factorisations, in place and into other matrices, which is not a batch of one: those are in `large`.
fn check<T: Real>(device: &Device, n: usize, count: usize, order: Order, triangle: Triangle, gap: usize) {
    let matrix = layout(n, order, gap);
    let stride = matrix.span() + gap;
    let batch = BatchLayout::new(matrix, count, stride).unwrap();
    let canary = T::from(CANARY);
    let mut a = vec![canary; batch.span().unwrap()];
    let mut expected = a.clone();
    for number in 0..count {
        let dense = positive::<T>((n * 1000 + number) as u64, n);
        let (l, order) = oracle(&dense, n);
        assert_eq!(order, 0);
        assert!(backward_error(&dense, &l, n) <= 1.0);
        if n > 0 {
            place(&dense, matrix, triangle, &mut a[number * stride..]);
            placed_factor(&l, matrix, triangle, &mut expected[number * stride..]);
        }
    }
    let context = format!("{n} x {count}, {order:?}, {triangle:?}, +{gap} on {}", device.name());
    let stream = device.default_stream();
    let from = device.upload(&a).unwrap();
    let mut in_place = device.upload(&a).unwrap();
    let mut info = device.upload(&vec![77u32; count]).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, count).unwrap());
    let into = BatchMut::new(&mut in_place, batch).unwrap();
    potrf(&stream, triangle, into, &mut info, &mut scratch).unwrap();
    assert_same_bits(&in_place.to_vec().unwrap(), &expected, &context);
    assert_eq!(info.to_vec().unwrap(), vec![0; count], "{context}");

    // Into matrices of the other order, one behind the other.
    let other = layout(n, ORDERS[usize::from(order == Order::RowMajor)], 1);
    let to_batch = other.batch(count).unwrap();
    let mut to = device.upload(&vec![canary; to_batch.span().unwrap()]).unwrap();
    let from = Batch::new(&from, batch).unwrap();
    let into = BatchMut::new(&mut to, to_batch).unwrap();
    potrf_to(&stream, triangle, from, into, &mut info, &mut scratch).unwrap();
    let mut expected_to = vec![canary; to_batch.span().unwrap()];
    for number in 0..count * usize::from(n > 0) {
        for i in 0..n {
            for j in (0..n).filter(|&j| triangle.holds(i, j)) {
                expected_to[number * other.span() + other.index(i, j)] =
                    expected[number * stride + matrix.index(i, j)];
            }
        }
    }
    assert_same_bits(&to.to_vec().unwrap(), &expected_to, &context);
}

#[test]
fn batches_of_all_kernels_around_every_boundary() {
    for_each("batches_of_all_kernels_around_every_boundary", |device| {
        for (n, count) in [
            (0, 3),
            (1, 9),
            (4, 40),
            (7, 19),
            (8, 17),
            (9, 8),
            (13, 9),
            (16, 11),
            (17, 8),
            (31, 9),
            (32, 9),
            (33, 8),
            (47, 8),
            (48, 8),
            (64, 8),
            (65, 8),
            (127, 1),
            (128, 2),
            (129, 8),
        ] {
            for (number, order) in ORDERS.into_iter().enumerate() {
                for triangle in TRIANGLES {
                    // Of larger ones half of the combinations, each with one type.
                    let is_even = (number + n).is_multiple_of(2) == (triangle == Triangle::Lower);
                    if n <= 33 || is_even {
                        check::<f32>(device, n, count, order, triangle, n % 3);
                    }
                    if n <= 33 || !is_even {
                        check::<f64>(device, n, count, order, triangle, (n + 1) % 3);
                    }
                }
            }
        }
        check::<f64>(device, 160, 8, Order::ColumnMajor, Triangle::Lower, 0);
    });
}

/// A pivot that is not positive, at every place of a panel and of a matrix; a NaN and infinities. What comes before is
/// the factor, the rest of the triangle is NaN, the other matrices of the batch are as ever.
#[test]
fn the_order_of_the_minor_is_the_same_everywhere() {
    fn check<T: Real>(device: &Device, n: usize, at: usize, value: f64) {
        let (count, matrix) = (9, layout(n, Order::ColumnMajor, 0));
        let mut dense = positive::<T>(n as u64, n);
        let good = oracle(&dense, n).0;
        dense[at * n + at] = T::of(value);
        let (l, order) = oracle(&dense, n);
        assert_eq!(order as usize, at + 1);
        let mut a = vec![T::from(CANARY); count * matrix.span()];
        let mut expected = a.clone();
        for number in 0..count {
            let (from, to) = if number == 5 { (&dense, &l) } else { (&positive(n as u64, n), &good) };
            place(from, matrix, Triangle::Lower, &mut a[number * matrix.span()..]);
            placed_factor(to, matrix, Triangle::Lower, &mut expected[number * matrix.span()..]);
        }
        let mut a = device.upload(&a).unwrap();
        let mut info = device.alloc(count).unwrap();
        let mut scratch = exactly(&device.default_stream(), ScratchSize::new());
        let batch = matrix.batch(count).unwrap();
        let into = BatchMut::new(&mut a, batch).unwrap();
        potrf(&device.default_stream(), Triangle::Lower, into, &mut info, &mut scratch).unwrap();
        let context = format!("{n}, {value} at {at} on {}", device.name());
        assert_same_bits(&a.to_vec().unwrap(), &expected, &context);
        let mut orders = vec![0; count];
        orders[5] = order;
        assert_eq!(info.to_vec().unwrap(), orders, "{context}");
        let error = expect_positive_definite(&info).unwrap_err();
        assert!(
            matches!(error, Error::NotPositiveDefinite { matrix: 5, index } if index == at + 1),
            "{context}: {error}"
        );
    }
    for_each("the_order_of_the_minor_is_the_same_everywhere", |device| {
        for (n, at) in
            [(1, 0), (5, 2), (8, 7), (16, 0), (20, 19), (32, 31), (50, 15), (50, 16), (50, 49), (140, 130)]
        {
            check::<f32>(device, n, at, -1.0);
            check::<f64>(device, n, at, 0.0);
        }
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            check::<f32>(device, 20, 11, value);
            check::<f64>(device, 40, 21, value);
        }
    });
}

/// The order of operations of the solutions, as documented.
pub fn solve_oracle<T: Real>(l: &[T], b: &[T], n: usize) -> Vec<T> {
    let mut x = b.to_vec();
    for i in 0..n {
        let sum = (0..i).fold(x[i], |sum, k| Float::mul_add(-l[i * n + k], x[k], sum));
        x[i] = sum * (T::ONE / l[i * n + i]);
    }
    for i in (0..n).rev() {
        let sum = (i + 1..n).rev().fold(x[i], |sum, k| Float::mul_add(-l[k * n + i], x[k], sum));
        x[i] = sum * (T::ONE / l[i * n + i]);
    }
    x
}

#[test]
fn systems_with_any_number_of_right_hand_sides() {
    fn check<T: Real>(device: &Device, n: usize, columns: usize, order: Order, triangle: Triangle) {
        let (count, matrix, right) = (9, layout(n, order, 2), rectangle(n, columns, order, 1));
        let (a_stride, b_stride) = (matrix.span() + 1, right.span() + 3);
        let l_batch = BatchLayout::new(matrix, count, a_stride).unwrap();
        let b_batch = BatchLayout::new(right, count, b_stride).unwrap();
        let mut l = vec![T::from(CANARY); l_batch.span().unwrap()];
        let mut b = vec![T::from(CANARY); b_batch.span().unwrap()];
        let mut expected = b.clone();
        for number in 0..count {
            let factor = oracle(&positive::<T>(number as u64, n), n).0;
            placed_factor(&factor, matrix, triangle, &mut l[number * a_stride..]);
            for c in 0..columns {
                let of: Vec<T> = (0..n).map(|i| T::of(unit(c as u64, i + number))).collect();
                let x = solve_oracle(&factor, &of, n);
                for i in 0..n {
                    b[number * b_stride + right.index(i, c)] = of[i];
                    expected[number * b_stride + right.index(i, c)] = x[i];
                }
            }
        }
        let (l, mut b) = (device.upload(&l).unwrap(), device.upload(&b).unwrap());
        let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, b_batch).unwrap());
        let l = Batch::new(&l, l_batch).unwrap();
        let into = BatchMut::new(&mut b, b_batch).unwrap();
        potrs(&device.default_stream(), triangle, l, into, &mut scratch).unwrap();
        let context =
            format!("{n}, {columns} right-hand sides, {order:?}, {triangle:?} on {}", device.name());
        assert_same_bits(&b.to_vec().unwrap(), &expected, &context);
    }
    for_each("systems_with_any_number_of_right_hand_sides", |device| {
        for (n, columns) in [(1, 1), (4, 3), (8, 4), (31, 5), (32, 1), (33, 9), (65, 2), (130, 1)] {
            for order in ORDERS {
                for triangle in TRIANGLES {
                    check::<f32>(device, n, columns, order, triangle);
                    check::<f64>(device, n, columns, order, triangle);
                }
            }
        }
    });
}
