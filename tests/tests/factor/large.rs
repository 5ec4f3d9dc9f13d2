//! Single matrices of any size, in steps where they are large: within the bound of the error, and the same bits
//! everywhere.

use gpu_core::Device;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Diagonal, Error, Matrix, MatrixMut, Order, Side, Triangle,
    expect_positive_definite, potrf, potrf_scratch, potrf_to, potrs, potrs_scratch, trsm, trsm_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, backward_error, layout, place, placed_factor, positive, rectangle,
    residual_bound, unit,
};

/// The factor of a dense matrix, as memory holds it, and the order of the minor.
fn factor<T: Real>(
    device: &Device,
    dense: &[T],
    n: usize,
    (order, triangle, gap): (Order, Triangle, usize),
) -> (Vec<T>, u32) {
    let matrix = layout(n, order, gap);
    let mut a = vec![T::from(CANARY); matrix.span()];
    place(dense, matrix, triangle, &mut a);
    let mut on_device = device.upload(&a).unwrap();
    let mut info = device.upload(&[9u32]).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, 1).unwrap());
    let into = MatrixMut::new(&mut on_device, matrix).unwrap();
    potrf(&device.default_stream(), triangle, into, &mut info, &mut scratch).unwrap();
    let factor = on_device.to_vec().unwrap();
    for i in 0..n {
        for j in (0..n).filter(|&j| !triangle.holds(i, j)) {
            assert!(factor[matrix.index(i, j)] == T::from(CANARY), "({i}, {j}) is of the other triangle");
        }
    }
    (factor, info.to_vec().unwrap()[0])
}

/// A factor as a lower one, row after row.
fn dense_factor<T: Real>(factor: &[T], n: usize, order: Order, triangle: Triangle, gap: usize) -> Vec<T> {
    let matrix = layout(n, order, gap);
    let mut l = vec![T::ZERO; n * n];
    for i in 0..n {
        for j in 0..=i {
            let at = if triangle == Triangle::Lower { matrix.index(i, j) } else { matrix.index(j, i) };
            l[i * n + j] = factor[at];
        }
    }
    l
}

fn check<T: Real>(n: usize, shape: (Order, Triangle, usize)) {
    let dense = positive::<T>(n as u64, n);
    let (expected, info) = factor(&Device::cpu(), &dense, n, shape);
    assert_eq!(info, 0);
    let l = dense_factor(&expected, n, shape.0, shape.1, shape.2);
    let error = backward_error(&dense, &l, n);
    assert!(error <= 1.0, "{n}, {shape:?}: {error} times the bound");
    for_each("large", |device| {
        let (actual, info) = factor(device, &dense, n, shape);
        let context = format!("{n}, {shape:?} on {}", device.name());
        assert_same_bits(&actual, &expected, &context);
        assert_eq!(info, 0, "{context}");
    });
}

#[test]
fn single_matrices_around_every_boundary() {
    for n in [0, 1, 2, 31, 33, 127, 128, 129, 255, 257] {
        check::<f64>(n, (Order::ColumnMajor, Triangle::Lower, 0));
        check::<f32>(n, (Order::RowMajor, Triangle::Lower, 1));
    }
    for order in ORDERS {
        for triangle in TRIANGLES {
            check::<f64>(191, (order, triangle, 3));
            check::<f32>(300, (order, triangle, 0));
        }
    }
    check::<f64>(401, (Order::ColumnMajor, Triangle::Lower, 0));
}

/// Large matrices of a batch, with gaps between them, one of which is not positive definite: each as it is alone.
fn check_batch<T: Real>(n: usize, count: usize, (order, triangle, gap): (Order, Triangle, usize)) {
    let matrix = layout(n, order, gap);
    let batch = BatchLayout::new(matrix, count, matrix.span() + 2 * gap).unwrap();
    let (bad, minor) = (count / 2, n / 2);
    let mut a = vec![T::from(CANARY); batch.span().unwrap()];
    let mut expected = a.clone();
    for number in 0..count {
        let mut dense = positive::<T>((n + number) as u64, n);
        if number == bad {
            dense[minor * n + minor] = T::from(-1.0);
        }
        place(&dense, matrix, triangle, &mut a[number * batch.stride..]);
        let (alone, _) = factor(&Device::cpu(), &dense, n, (order, triangle, gap));
        expected[number * batch.stride..][..alone.len()].copy_from_slice(&alone);
    }
    for_each("batches_by_tiles", |device| {
        let context = format!("{n} x {count}, {order:?}, {triangle:?}, +{gap} on {}", device.name());
        let mut on_device = device.upload(&a).unwrap();
        let mut info = device.upload(&vec![9u32; count]).unwrap();
        let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, count).unwrap());
        let into = BatchMut::new(&mut on_device, batch).unwrap();
        potrf(&device.default_stream(), triangle, into, &mut info, &mut scratch).unwrap();
        assert_same_bits(&on_device.to_vec().unwrap(), &expected, &context);
        let orders: Vec<u32> =
            (0..count).map(|number| if number == bad { minor as u32 + 1 } else { 0 }).collect();
        assert_eq!(info.to_vec().unwrap(), orders, "{context}");
    });
}

#[test]
fn batches_by_tiles() {
    // Aligned, and not.
    check_batch::<f64>(132, 3, (Order::ColumnMajor, Triangle::Lower, 0));
    check_batch::<f32>(132, 3, (Order::RowMajor, Triangle::Upper, 4));
    check_batch::<f64>(161, 9, (Order::RowMajor, Triangle::Lower, 1));
    check_batch::<f32>(260, 2, (Order::ColumnMajor, Triangle::Upper, 3));
    check_batch::<f32>(257, 3, (Order::ColumnMajor, Triangle::Lower, 0));
}

#[test]
fn a_large_matrix_into_another() {
    for_each("a_large_matrix_into_another", |device| {
        for triangle in TRIANGLES {
            let n = 150;
            let dense = positive::<f64>(5, n);
            let (from, to) = (layout(n, Order::RowMajor, 2), layout(n, Order::ColumnMajor, 0));
            let mut a = vec![f64::NAN; from.span()];
            place(&dense, from, triangle, &mut a);
            let a = device.upload(&a).unwrap();
            let mut l = device.upload(&vec![f64::from(CANARY); to.span()]).unwrap();
            let mut info = device.alloc(1).unwrap();
            let mut scratch = exactly(&device.default_stream(), potrf_scratch::<f64>(n, 1).unwrap());
            let (a, into) = (Matrix::new(&a, from).unwrap(), MatrixMut::new(&mut l, to).unwrap());
            potrf_to(&device.default_stream(), triangle, a, into, &mut info, &mut scratch).unwrap();
            let (expected, _) = factor(&Device::cpu(), &dense, n, (Order::ColumnMajor, triangle, 0));
            assert_same_bits(&l.to_vec().unwrap(), &expected, &format!("{triangle:?} on {}", device.name()));
        }
    });
}

#[test]
fn the_order_of_a_large_minor_is_the_same_everywhere() {
    for (at, value) in [(0, -1.0), (127, 0.0), (128, -1.0), (140, f64::NAN), (299, f64::INFINITY)] {
        let n = 300;
        let mut dense = positive::<f64>(7, n);
        dense[at * n + at] = value;
        let shape = (Order::ColumnMajor, Triangle::Upper, 0);
        let (expected, _) = factor(&Device::cpu(), &dense, n, shape);
        let l = dense_factor(&expected, n, shape.0, shape.1, 0);
        // What comes before is right, the rest of the triangle is NaN.
        for i in 0..n {
            for j in 0..=i {
                assert_eq!(l[i * n + j].is_nan(), j >= at, "({i}, {j}), {value} at {at}");
            }
        }
        for_each("the_order_of_a_large_minor_is_the_same_everywhere", |device| {
            let (actual, info) = factor(device, &dense, n, shape);
            assert_eq!(info as usize, at + 1, "{value} at {at} on {}", device.name());
            assert_same_bits(&actual, &expected, &format!("{value} at {at} on {}", device.name()));
            let info = device.upload(&[info]).unwrap();
            let error = expect_positive_definite(&info).unwrap_err();
            assert!(matches!(error, Error::NotPositiveDefinite { matrix: 0, index } if index == at + 1));
        });
    }
}

/// Solutions of systems of a matrix whose factor they are computed with: within [`residual_bound`].
#[test]
fn large_systems_with_any_number_of_right_hand_sides() {
    fn check<T: Real>(n: usize, columns: usize, (order, triangle): (Order, Triangle)) {
        let dense = positive::<T>(n as u64, n);
        let shape = (order, triangle, 1);
        let (factor, _) = factor(&Device::cpu(), &dense, n, shape);
        let l = dense_factor(&factor, n, order, triangle, 1);
        let right = rectangle(n, columns, order, 2);
        let b: Vec<T> = (0..right.span()).map(|at| T::of(unit(3, at))).collect();
        let solve = |device: &Device| {
            let (l, mut x) = (device.upload(&factor).unwrap(), device.upload(&b).unwrap());
            let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, right).unwrap());
            let l = Matrix::new(&l, layout(n, order, 1)).unwrap();
            let into = MatrixMut::new(&mut x, right).unwrap();
            potrs(&device.default_stream(), triangle, l, into, &mut scratch).unwrap();
            x.to_vec().unwrap()
        };
        let expected = solve(&Device::cpu());
        let l: Vec<f64> = l.into_iter().map(T::to_f64).collect();
        let bounds = residual_bound::<T>(&l, n, 1);
        for c in 0..columns {
            let x = |i: usize| expected[right.index(i, c)].to_f64();
            let y: Vec<f64> = (0..n).map(|k| (k..n).map(|i| l[i * n + k] * x(i)).sum()).collect();
            for i in 0..n {
                let product: f64 = (0..=i).map(|k| l[i * n + k] * y[k]).sum();
                let residual = (b[right.index(i, c)].to_f64() - product).abs();
                let bound: f64 = (0..n).map(|k| bounds[i * n + k] * x(k).abs()).sum();
                assert!(residual <= bound, "{n}, {columns}, {shape:?}: ({i}, {c}): {residual} > {bound}");
            }
        }
        for_each("large_systems", |device| {
            let context = format!("{n}, {columns}, {order:?}, {triangle:?} on {}", device.name());
            assert_same_bits(&solve(device), &expected, &context);
        });
    }
    for (n, columns) in [(1, 2), (64, 3), (65, 1), (129, 1), (150, 7), (300, 2)] {
        for order in ORDERS {
            check::<f64>(n, columns, (order, Triangle::Lower));
            check::<f32>(n, columns, (order, Triangle::Upper));
        }
    }
}

/// Bit by bit, and a batch of few together.
#[test]
fn large_systems_are_two_triangular_ones() {
    fn check<T: Real>(sizes: [usize; 3], triangle: Triangle) {
        let [n, columns, count] = sizes;
        let (matrix, right) = (layout(n, Order::ColumnMajor, 1), rectangle(n, columns, Order::RowMajor, 2));
        let matrices = BatchLayout::new(matrix, count, matrix.span() + 3).unwrap();
        let sides = BatchLayout::new(right, count, right.span() + 1).unwrap();
        let mut l = vec![T::from(CANARY); matrices.span().unwrap()];
        for number in 0..count {
            // Any factor does; the oracle takes several times as long for it.
            let shape = (Order::RowMajor, Triangle::Lower, 0);
            let (factor, _) = factor(&Device::cpu(), &positive::<T>((n + number) as u64, n), n, shape);
            let factor = dense_factor(&factor, n, shape.0, shape.1, shape.2);
            placed_factor(&factor, matrix, triangle, &mut l[number * matrices.stride..]);
        }
        let b: Vec<T> = (0..sides.span().unwrap()).map(|at| T::of(unit(4, at))).collect();

        let cpu = Device::cpu();
        let (factors, mut expected) = (cpu.upload(&l).unwrap(), cpu.upload(&b).unwrap());
        let mut info = cpu.alloc(count).unwrap();
        let mut scratch = exactly(&cpu.default_stream(), trsm_scratch::<T>(Side::Left, sides).unwrap());
        let factors = Batch::new(&factors, matrices).unwrap();
        let lower = if triangle == Triangle::Lower { factors } else { factors.transposed() };
        for (of, triangle) in [(lower, Triangle::Lower), (lower.transposed(), Triangle::Upper)] {
            let into = BatchMut::new(&mut expected, sides).unwrap();
            let (stream, side, one) = (cpu.default_stream(), Side::Left, T::from(1.0));
            trsm(&stream, side, triangle, Diagonal::Stored, one, of, into, &mut info, &mut scratch).unwrap();
        }
        let expected = expected.to_vec().unwrap();

        for_each("large_systems_are_two_triangular_ones", |device| {
            let (l, mut x) = (device.upload(&l).unwrap(), device.upload(&b).unwrap());
            let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, sides).unwrap());
            let (l, into) = (Batch::new(&l, matrices).unwrap(), BatchMut::new(&mut x, sides).unwrap());
            potrs(&device.default_stream(), triangle, l, into, &mut scratch).unwrap();
            let context = format!("{sizes:?}, {triangle:?} on {}", device.name());
            assert_same_bits(&x.to_vec().unwrap(), &expected, &context);
        });
    }
    check::<f32>([70, 2, 3], Triangle::Lower);
    check::<f64>([129, 5, 2], Triangle::Upper);
    // More than a batch of eight is solved whole for, and more right-hand sides than one launch is for.
    check::<f32>([515, 1, 8], Triangle::Lower);
    check::<f64>([515, 129, 1], Triangle::Lower);
}
