//! Inverses, determinants and refined solutions; matrices of which the factor is known, and ill-conditioned ones.

use gpu_core::Device;
use gpu_linalg::{
    Error, Layout, Matrix, MatrixMut, Order, Triangle, logdet, potrf, potrf_scratch, potri, potri_scratch,
    potrs_refined,
};
use gpu_tests::backends::for_each;
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;

use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, backward_error, layout, oracle, place, positive, rectangle,
    residual_bound, unit,
};

fn factor<T: Real>(
    device: &Device,
    a: &[T],
    matrix: Layout,
    triangle: Triangle,
) -> (gpu_core::Buffer<T>, u32) {
    let mut on_device = device.upload(a).unwrap();
    let mut info = device.alloc(1).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(matrix.rows(), 1).unwrap());
    let into = MatrixMut::new(&mut on_device, matrix).unwrap();
    potrf(&device.default_stream(), triangle, into, &mut info, &mut scratch).unwrap();
    let info = info.to_vec().unwrap()[0];
    (on_device, info)
}

/// Pascal's matrix has binomial coefficients, and its factor too: every operation is exact, and so is the result. Its
/// determinant is one.
#[test]
fn the_factor_of_pascals_matrix_is_exact() {
    for_each("the_factor_of_pascals_matrix_is_exact", |device| {
        for n in [5, 20, 27] {
            let binomial = |n: usize, k: usize| (0..k).fold(1.0, |b, i| b * (n - i) as f64 / (i + 1) as f64);
            let dense: Vec<f64> = (0..n * n).map(|at| binomial(at / n + at % n, at % n)).collect();
            let (l, info) = factor(device, &dense, layout(n, Order::ColumnMajor, 0), Triangle::Lower);
            assert_eq!(info, 0);
            let log = logdet(Matrix::new(&l, layout(n, Order::ColumnMajor, 0)).unwrap()).unwrap();
            assert_eq!(log, 0.0);
            let l = l.to_vec().unwrap();
            for i in 0..n {
                for j in 0..=i {
                    assert_eq!(l[i + j * n], binomial(i, j), "({i}, {j}) of {n} on {}", device.name());
                }
            }
        }
    });
}

/// A = L · Lᵀ with small whole numbers, and powers of two on the diagonal: exact, across all kernels' boundaries.
#[test]
fn whole_factors_are_found_again() {
    for_each("whole_factors_are_found_again", |device| {
        for n in [8, 32, 61, 128, 200] {
            let mut l = vec![0f64; n * n];
            for i in 0..n {
                for j in 0..i {
                    l[i * n + j] = (4.0 * unit(2, i * n + j)).round();
                }
                l[i * n + i] = [1.0, 2.0, 4.0, 8.0][i % 4];
            }
            let dense: Vec<f64> =
                (0..n * n).map(|at| (0..n).map(|k| l[at / n * n + k] * l[at % n * n + k]).sum()).collect();
            for triangle in TRIANGLES {
                let matrix = layout(n, Order::RowMajor, 0);
                let (factor, info) = factor(device, &dense, matrix, triangle);
                assert_eq!(info, 0);
                let factor = factor.to_vec().unwrap();
                for i in 0..n {
                    for j in 0..=i {
                        let at = if triangle == Triangle::Lower { i * n + j } else { j * n + i };
                        assert_eq!(
                            factor[at],
                            l[i * n + j],
                            "({i}, {j}) of {n}, {triangle:?} on {}",
                            device.name()
                        );
                    }
                }
            }
        }
    });
}

/// The Hilbert matrix of 12 rows has condition 1.7e16, and one with eigenvalues from 1 to 1e-12 is factored, too: the
/// bound of the backward error knows no condition.
#[test]
fn ill_conditioned_matrices_are_within_the_bound() {
    for_each("ill_conditioned_matrices_are_within_the_bound", |device| {
        let hilbert =
            |n: usize| -> Vec<f64> { (0..n * n).map(|at| 1.0 / (at / n + at % n + 1) as f64).collect() };
        // D · P · D, P well-conditioned, D from 1 to 1e-6.
        let n = 160;
        let scaled: Vec<f64> = positive::<f64>(3, n)
            .iter()
            .enumerate()
            .map(|(at, a)| a * 1e-6f64.powf((at / n + at % n) as f64 / n as f64))
            .collect();
        for (dense, n) in [(hilbert(12), 12), (scaled, n)] {
            let (l, info) = factor(device, &dense, layout(n, Order::RowMajor, 0), Triangle::Lower);
            assert_eq!(info, 0, "{n} on {}", device.name());
            let mut l = l.to_vec().unwrap();
            (0..n).for_each(|i| l[i * n + i + 1..(i + 1) * n].fill(0.0));
            let error = backward_error(&dense, &l, n);
            assert!(error <= 1.0, "{n}: {error} times the bound on {}", device.name());
        }
    });
}

/// Pivots near the ends of the range of numbers, whose reciprocal overflows.
#[test]
fn the_smallest_and_the_largest_pivots() {
    for_each("the_smallest_and_the_largest_pivots", |device| {
        for pivot in [f64::from_bits(1), f64::MIN_POSITIVE, 1e-310, 1e300, f64::MAX] {
            let dense = [pivot, 0.0, 0.0, pivot];
            let (l, info) = factor(device, &dense, layout(2, Order::RowMajor, 0), Triangle::Lower);
            assert_eq!(info, 0);
            let l = l.to_vec().unwrap();
            assert_eq!((l[0], l[2], l[3]), (pivot.sqrt(), 0.0, pivot.sqrt()), "{pivot} on {}", device.name());
        }
    });
}

/// `|A · X - I|` of an inverse X: each of its columns is a solution, of residual [`residual_bound`] for L's own
/// product, which differs from A by `γ |L|·|Lᵀ|`, with γ of `n + n/64 + 8`.
#[test]
fn inverses_and_determinants() {
    fn check<T: Real + Into<f64>>(n: usize, order: Order, triangle: Triangle) {
        let dense = positive::<T>(n as u64, n);
        let matrix = layout(n, order, 1);
        let mut a = vec![T::from(CANARY); matrix.span()];
        place(&dense, matrix, triangle, &mut a);
        let run = |device: &Device| {
            let (mut l, info) = factor(device, &a, matrix, triangle);
            assert_eq!(info, 0);
            let log = logdet(Matrix::new(&l, matrix).unwrap()).unwrap();
            let mut scratch = exactly(&device.default_stream(), potri_scratch::<T>(n, 1).unwrap());
            let into = MatrixMut::new(&mut l, matrix).unwrap();
            potri(&device.default_stream(), triangle, into, &mut scratch).unwrap();
            (l.to_vec().unwrap(), log)
        };
        let (expected, log) = run(&Device::cpu());
        let l = oracle(&dense, n).0;
        let reference: f64 = (0..n).map(|i| 2.0 * l[i * n + i].to_f64().ln()).sum();
        assert!(
            (log - reference).abs() <= 8.0 * n as f64 * T::UNIT * (1.0 + reference.abs()),
            "{log} {reference}"
        );
        let x = |i: usize, j: usize| {
            let (i, j) = if triangle.holds(i, j) { (i, j) } else { (j, i) };
            expected[matrix.index(i, j)].to_f64()
        };
        let at = |i: usize, j: usize| l[i * n + j].to_f64().abs();
        let k = n as f64 * (1.0 + 1.0 / 64.0) + 8.0;
        let gamma = k * T::UNIT / (1.0 - k * T::UNIT) + k * f64::EPSILON;
        let lower: Vec<f64> = l.iter().map(|l| l.to_f64()).collect();
        let bounds = residual_bound::<T>(&lower, n, 1);
        for c in 0..n {
            // Only where X's own triangle was computed for this column: by symmetry each other element has the bound
            // of its row.
            let y: Vec<f64> = (0..n).map(|k| (k..n).map(|i| at(i, k) * x(i, c).abs()).sum()).collect();
            for i in 0..n {
                let sum: f64 = (0..n).map(|k| dense[i * n + k].to_f64() * x(k, c)).sum();
                let size: f64 = (0..=i).map(|k| at(i, k) * y[k]).sum();
                let error = (sum - f64::from(u8::from(i == c))).abs();
                // Elements of the mirrored triangle are from another solution, which differs from this one's by what
                // both are wrong by: at most twice the forward error, condition below five.
                let residual: f64 = (0..n).map(|k| bounds[i * n + k] * x(k, c).abs()).sum();
                assert!(error <= 12.0 * (gamma * size + residual), "{n}: ({i}, {c}): {error}");
            }
        }
        for_each("inverses_and_determinants", |device| {
            let (actual, on_device) = run(device);
            assert_same_bits(
                &actual,
                &expected,
                &format!("{n}, {order:?}, {triangle:?} on {}", device.name()),
            );
            assert_eq!(on_device, log);
        });
        for i in 0..n {
            for j in (0..n).filter(|&j| !triangle.holds(i, j)) {
                assert!(
                    expected[matrix.index(i, j)] == T::from(CANARY),
                    "({i}, {j}) is of the other triangle"
                );
            }
        }
    }
    for n in [0, 1, 7, 40, 65, 130] {
        for order in ORDERS {
            check::<f64>(n, order, Triangle::Lower);
            check::<f32>(n, order, Triangle::Upper);
        }
    }
}

#[test]
fn refined_solutions_have_residuals_of_f64() {
    for_each("refined_solutions_have_residuals_of_f64", |device| {
        for (n, columns, order, triangle) in [
            (1, 1, Order::RowMajor, Triangle::Lower),
            (50, 3, Order::ColumnMajor, Triangle::Upper),
            (140, 2, Order::RowMajor, Triangle::Lower),
        ] {
            let dense = positive::<f64>(n as u64, n);
            let (matrix, right) = (layout(n, order, 1), rectangle(n, columns, order, 1));
            let mut a = vec![f64::NAN; matrix.span()];
            place(&dense, matrix, triangle, &mut a);
            // Of very different sizes: one beyond the range of f32, one of zeros.
            let scales = [1e-60, 1e80, 0.0];
            let b: Vec<f64> = (0..n * columns).map(|at| unit(1, at) * scales[at % columns]).collect();
            let mut stored = vec![f64::from(CANARY); right.span()];
            for at in 0..n * columns {
                stored[right.index(at / columns, at % columns)] = b[at];
            }
            let (a, mut x) = (device.upload(&a).unwrap(), device.upload(&stored).unwrap());
            let a = Matrix::new(&a, matrix).unwrap();
            let done = potrs_refined(triangle, a, MatrixMut::new(&mut x, right).unwrap()).unwrap();
            assert!((2..=4).contains(&done.steps) && done.residual <= 1.0, "{done:?} on {}", device.name());
            let x = x.to_vec().unwrap();
            for c in 0..columns {
                let x = |i: usize| x[right.index(i, c)];
                let largest = (0..n).map(|i| x(i).abs()).fold(0.0, f64::max);
                let bound = 1.01 * n as f64 * f64::EPSILON * 2.0 * n as f64 * largest;
                for i in 0..n {
                    let sum: f64 = (0..n).map(|k| dense[i * n + k] * x(k)).sum();
                    let error = (sum - b[i * columns + c]).abs();
                    assert!(error <= bound, "{n}: ({i}, {c}): {error} > {bound} on {}", device.name());
                }
            }
        }
    });
}

/// Hilbert matrices: those of 4 to 6 rows converge (condition 1.5e7), those of 7 and 8 do not, those of 9 on are not
/// positive definite in f32.
#[test]
fn what_does_not_converge_says_so_and_leaves_b_alone() {
    for_each("what_does_not_converge_says_so_and_leaves_b_alone", |device| {
        let solve = |n: usize| {
            let dense: Vec<f64> = (0..n * n).map(|at| 1.0 / (at / n + at % n + 1) as f64).collect();
            let a = device.upload(&dense).unwrap();
            let mut b = device.upload(&vec![1.0; n]).unwrap();
            let matrix = Matrix::new(&a, Layout::row_major(n, n).unwrap()).unwrap();
            let right = MatrixMut::new(&mut b, Layout::column_major(n, 1).unwrap()).unwrap();
            (potrs_refined(Triangle::Lower, matrix, right), b.to_vec().unwrap())
        };
        let (done, _) = solve(4);
        assert!(done.unwrap().steps <= 6);
        let (failed, b) = solve(10);
        let error = failed.unwrap_err();
        assert!(matches!(error, Error::NotPositiveDefinite { matrix: 0, index: 9 }), "{error}");
        assert_eq!(b, [1.0; 10]);
        let (failed, b) = solve(7);
        let error = failed.unwrap_err();
        assert!(
            matches!(error, Error::NotConverged { column: 0, residual, .. } if residual > 1.0),
            "{error}"
        );
        assert_eq!(b, [1.0; 7]);
        // Well within the range of f64, and beyond that of f32.
        let a = device.upload(&[1e300]).unwrap();
        let mut b = device.upload(&[1.0]).unwrap();
        let one = Layout::row_major(1, 1).unwrap();
        let error = potrs_refined(
            Triangle::Lower,
            Matrix::new(&a, one).unwrap(),
            MatrixMut::new(&mut b, one).unwrap(),
        );
        assert!(matches!(error, Err(Error::NotPositiveDefinite { index: 1, .. })));
    });
}
