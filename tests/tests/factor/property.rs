//! Random sizes, batches, orders, triangles and leading dimensions, which shrink to the smallest case that fails:
//! factors, in place and into other matrices, the systems solved with them, inverses and determinants, against serial
//! oracles and the bounds of `large` and `golden`; and matrices that are not positive definite or not finite, whose
//! minor has the same order everywhere.

use gpu_core::Device;
use gpu_linalg::{
    Batch, BatchLayout, BatchMut, Error, Matrix, MatrixMut, Order, Triangle, expect_positive_definite,
    logdet, potrf, potrf_scratch, potrf_to, potri, potri_scratch, potrs, potrs_scratch,
};
use gpu_tests::backends::{cases, for_each};
use gpu_tests::compare::assert_same_bits;
use gpu_tests::scratch::exactly;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::common::{
    CANARY, ORDERS, Real, TRIANGLES, backward_error, layout, oracle, place, positive, rectangle,
    residual_bound, unit,
};

/// An element that is not what a positive definite matrix has: of which matrix, where below or on the diagonal, and
/// what.
type Bad = (usize, usize, usize, f64);

#[derive(Clone, Debug)]
struct Case {
    n: usize,
    count: usize,
    columns: usize,
    order: Order,
    triangle: Triangle,
    gap: usize,
    /// Into other matrices, of the other order.
    apart: bool,
    seed: u64,
    bad: Vec<Bad>,
}

/// 0, 1, what kernels, panels and steps take and their neighbours, primes.
fn sizes() -> impl Strategy<Value = usize> {
    let edges = vec![0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65];
    let primes = vec![3, 5, 11, 13, 19, 23, 29, 37, 41, 43, 53, 59, 61, 67, 71];
    prop_oneof![
        6 => prop::sample::select(edges),
        6 => prop::sample::select(primes),
        3 => 0usize..60,
        1 => prop::sample::select(vec![127usize, 128, 129, 131, 149]),
    ]
}

/// Cases with up to `bad` elements that are not good.
fn drawn(bad: usize) -> impl Strategy<Value = Case> {
    let counts = prop_oneof![4 => Just(1usize), 1 => Just(0), 2 => 2usize..8, 2 => Just(8), 2 => 9usize..12];
    let values = vec![-1.0, 0.0, -1e30, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let bad = prop::collection::vec((any::<[u16; 3]>(), prop::sample::select(values)), bad.min(1)..=bad);
    let input = (sizes(), counts, 0usize..6, any::<[bool; 3]>(), 0usize..4, any::<u32>(), bad);
    input.prop_map(|(n, count, columns, [order, triangle, apart], gap, seed, bad)| {
        // Of several matrices no more elements than of one of 149 rows.
        let count = if n > 0 { count.min(1.max(22_000 / (n * n))) } else { count };
        let bad = bad.into_iter().filter(|_| n > 0 && count > 0);
        let bad = bad.map(|(at, value)| {
            let (i, j) = (usize::from(at[1]) % n, usize::from(at[2]) % n);
            // Beside the diagonal only what no sum hides.
            let j = if value.is_finite() { i } else { j.min(i) };
            (usize::from(at[0]) % count, i, j, value)
        });
        let bad = bad.collect();
        let (order, triangle) = (ORDERS[usize::from(order)], TRIANGLES[usize::from(triangle)]);
        Case { n, count, columns, order, triangle, gap, apart, seed: seed.into(), bad }
    })
}

/// Runs `check` on cases drawn by the seed of 32 bytes `seed`, which is printed.
fn property(what: &str, seed: u8, bad: usize, check: impl Fn(Case)) {
    println!("{what}: ChaCha of 32 bytes {seed:#x}");
    let config = Config { cases: cases() / 4, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let run = |case| {
        check(case);
        Ok(())
    };
    runner.run(&drawn(bad), run).unwrap();
}

/// What a case is, and what a backend makes of it.
struct Run<T> {
    case: Case,
    dense: Vec<Vec<T>>,
    /// Of A, and of the factors.
    from: BatchLayout,
    to: BatchLayout,
    a: Vec<T>,
    /// What is in the factors' memory before.
    before: Vec<T>,
}

impl<T: Real> Run<T> {
    fn new(case: Case) -> Self {
        let Case { n, count, order, triangle, gap, apart, seed, .. } = case;
        let mut dense: Vec<Vec<T>> = (0..count).map(|number| positive(seed + number as u64, n)).collect();
        for &(number, i, j, value) in &case.bad {
            dense[number][i * n + j] = T::of(value);
        }
        let batch = |order: Order, gap: usize| {
            let matrix = layout(n, order, gap);
            BatchLayout::new(matrix, count, matrix.span() + gap).unwrap()
        };
        let from = batch(order, gap);
        let to = if apart { batch(ORDERS[usize::from(order == Order::RowMajor)], gap / 2) } else { from };
        let mut a = vec![T::from(CANARY); from.span().unwrap()];
        for (number, dense) in dense.iter().enumerate() {
            let start = (number * from.stride).min(a.len());
            // The lower triangle of what is symmetric is what both are made of.
            let mirrored: Vec<T> =
                (0..n * n).map(|at| dense[(at / n).max(at % n) * n + (at / n).min(at % n)]).collect();
            place(&mirrored, from.matrix, triangle, &mut a[start..]);
        }
        let before = if apart { vec![T::from(CANARY); to.span().unwrap()] } else { a.clone() };
        Self { case, dense, from, to, a, before }
    }

    /// The factors' memory, and the orders of minors.
    fn factor(&self, device: &Device) -> (Vec<T>, Vec<u32>) {
        let Case { n, count, triangle, apart, .. } = self.case;
        let a = device.upload(&self.a).unwrap();
        let mut to = device.upload(&self.before).unwrap();
        let mut info = device.upload(&vec![77u32; count]).unwrap();
        let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, count).unwrap());
        let (stream, into) = (device.default_stream(), BatchMut::new(&mut to, self.to).unwrap());
        if apart {
            let from = Batch::new(&a, self.from).unwrap();
            potrf_to(&stream, triangle, from, into, &mut info, &mut scratch).unwrap();
        } else {
            potrf(&stream, triangle, into, &mut info, &mut scratch).unwrap();
        }
        (to.to_vec().unwrap(), info.to_vec().unwrap())
    }

    /// What all backends make of it: the same.
    fn factors(&self) -> (Vec<T>, Vec<u32>) {
        let mut first: Option<(Vec<T>, Vec<u32>)> = None;
        for_each("random factors", |device| {
            let (factors, info) = self.factor(device);
            let (expected, orders) = first.get_or_insert_with(|| (factors.clone(), info.clone()));
            let context = format!("{:?} on {}", self.case, device.name());
            assert_same_bits(&factors, expected, &context);
            assert_eq!(&info, orders, "{context}");
        });
        let (factors, info) = first.unwrap();
        let mut untouched = factors.clone();
        let (n, triangle) = (self.case.n, self.case.triangle);
        for number in 0..self.case.count {
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| triangle.holds(i, j)) {
                let at = number * self.to.stride + self.to.matrix.index(i, j);
                untouched[at] = self.before[at];
            }
        }
        assert_same_bits(&untouched, &self.before, &format!("{:?}: what is not the triangle", self.case));
        (factors, info)
    }

    /// A matrix's factor as a lower one, row after row.
    fn lower(&self, factors: &[T], number: usize) -> Vec<T> {
        let n = self.case.n;
        let mut l = vec![T::ZERO; n * n];
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| j <= i) {
            let (row, column) = if self.case.triangle == Triangle::Lower { (i, j) } else { (j, i) };
            l[i * n + j] = factors[number * self.to.stride + self.to.matrix.index(row, column)];
        }
        l
    }
}

fn factored<T: Real + Into<f64>>(case: Case) {
    let run = Run::<T>::new(case.clone());
    let (factors, info) = run.factors();
    assert_eq!(info, vec![0; case.count], "{case:?}");
    let lower: Vec<Vec<T>> = (0..case.count).map(|number| run.lower(&factors, number)).collect();
    for (number, (dense, l)) in run.dense.iter().zip(&lower).enumerate() {
        let error = backward_error(dense, l, case.n);
        assert!(error <= 1.0, "{case:?}: matrix {number}: {error} times the bound");
    }
    solved(&run, &factors, &lower);
    if case.count == 1 && (1..100).contains(&case.n) {
        inverted(&run, &factors, &lower[0]);
    }
}

/// Right-hand sides: the residual `|B - L·Lᵀ·X|` has the bound of `large`.
fn solved<T: Real>(run: &Run<T>, factors: &[T], lower: &[Vec<T>]) {
    let case = &run.case;
    let (n, columns) = (case.n, case.columns);
    let matrix = rectangle(n, columns, case.order, case.gap);
    let right = BatchLayout::new(matrix, case.count, matrix.span() + 2).unwrap();
    let mut b = vec![T::from(CANARY); right.span().unwrap()];
    let places = || {
        let all = move |number| (0..n * columns).map(move |at| (number, at / columns, at % columns));
        (0..case.count).flat_map(all)
    };
    let at = |(number, row, column): (usize, usize, usize)| number * right.stride + matrix.index(row, column);
    for (index, place) in places().enumerate() {
        b[at(place)] = T::of(unit(case.seed, index));
    }
    let mut first: Option<Vec<T>> = None;
    for_each("random systems", |device| {
        let (l, mut x) = (device.upload(factors).unwrap(), device.upload(&b).unwrap());
        let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, right).unwrap());
        let (l, into) = (Batch::new(&l, run.to).unwrap(), BatchMut::new(&mut x, right).unwrap());
        potrs(&device.default_stream(), case.triangle, l, into, &mut scratch).unwrap();
        let x = x.to_vec().unwrap();
        let expected = first.get_or_insert_with(|| x.clone());
        assert_same_bits(&x, expected, &format!("{case:?} on {}", device.name()));
    });
    let x = first.unwrap();
    let mut untouched = x.clone();
    places().for_each(|place| untouched[at(place)] = b[at(place)]);
    assert_same_bits(&untouched, &b, &format!("{case:?}: what is not X"));
    for number in 0..case.count {
        let l: Vec<f64> = lower[number].iter().map(|l| l.to_f64()).collect();
        let bounds = residual_bound::<T>(&l, n, case.count);
        for column in 0..columns {
            let x = |i: usize| x[at((number, i, column))].to_f64();
            let y: Vec<f64> = (0..n).map(|k| (k..n).map(|i| l[i * n + k] * x(i)).sum()).collect();
            for i in 0..n {
                let product: f64 = (0..=i).map(|k| l[i * n + k] * y[k]).sum();
                let residual = (b[at((number, i, column))].to_f64() - product).abs();
                let bound: f64 = (0..n).map(|k| bounds[i * n + k] * x(k).abs()).sum();
                assert!(residual <= bound, "{case:?}: {number}, ({i}, {column}): {residual} > {bound}");
            }
        }
    }
}

/// The inverse and the determinant, against those of the textbook's factor in f64, with the bounds of `golden`: the
/// eigenvalues of `positive` are no less than n / 2, those of one row no less than 1.2, so `‖A⁻¹‖ ≤ 2 / n`. The oracle
/// has the same bounds, of f64.
fn inverted<T: Real + Into<f64>>(run: &Run<T>, factors: &[T], lower: &[T]) {
    let case = &run.case;
    let (n, matrix) = (case.n, run.to.matrix);
    let dense: Vec<f64> = run.dense[0].iter().map(|value| value.to_f64()).collect();
    let l = oracle(&dense, n).0;
    let mut expected = vec![0.0; n * n];
    for column in 0..n {
        let mut x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == column))).collect();
        for i in 0..n {
            x[i] = (0..i).fold(x[i], |sum, k| sum - l[i * n + k] * x[k]) / l[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] = (i + 1..n).fold(x[i], |sum, k| sum - l[k * n + i] * x[k]) / l[i * n + i];
        }
        (0..n).for_each(|i| expected[i * n + column] = x[i]);
    }
    let gamma = |count: f64| {
        let of = |unit: f64| count * unit / (1.0 - count * unit);
        of(T::UNIT) + of(f64::UNIT)
    };
    let rows = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..n * n).map(|at| of(at / n, at % n).powi(2)).sum::<f64>().sqrt()
    };
    let size = |i: usize, j: usize| -> f64 {
        (0..=i.min(j)).map(|k| (lower[i * n + k].to_f64() * lower[j * n + k].to_f64()).abs()).sum()
    };
    let sizes = rows(&size) * 1.001;
    let of_factor = gamma(n as f64 * (1.0 + 1.0 / 64.0) + 8.0);
    let factor: Vec<f64> = lower.iter().map(|l| l.to_f64()).collect();
    let bounds = residual_bound::<T>(&factor, n, 1);
    let of_solution = rows(&|i, j| bounds[i * n + j]) * 1.001;
    let relative = |difference: f64| {
        let eta = 2.0 / n as f64 * difference;
        assert!(eta < 0.5, "{case:?}: {eta}");
        eta / (1.0 - eta)
    };
    let of_inverse = relative(of_factor * sizes + of_solution);
    let logs: f64 = (0..n).map(|i| 2.0 * l[i * n + i].ln().abs()).sum();
    let log_bound = n as f64 * relative(of_factor * sizes) + 2.0 * (n + 1) as f64 * f64::EPSILON * logs;
    let expected_log: f64 = (0..n).map(|i| 2.0 * l[i * n + i].ln()).sum();
    let mut first: Option<(Vec<T>, f64)> = None;
    for_each("random inverses", |device| {
        let mut l = device.upload(factors).unwrap();
        let log = logdet(Matrix::new(&l, matrix).unwrap()).unwrap();
        let mut scratch = exactly(&device.default_stream(), potri_scratch::<T>(n, 1).unwrap());
        let into = MatrixMut::new(&mut l, matrix).unwrap();
        potri(&device.default_stream(), case.triangle, into, &mut scratch).unwrap();
        let inverse = l.to_vec().unwrap();
        let (expected, expected_log) = first.get_or_insert_with(|| (inverse.clone(), log));
        assert_same_bits(&inverse, expected, &format!("{case:?} on {}", device.name()));
        assert_eq!(log, *expected_log, "{case:?} on {}", device.name());
    });
    let (inverse, log) = first.unwrap();
    assert!((log - expected_log).abs() <= log_bound, "{case:?}: {log}, expected {expected_log}");
    for i in 0..n {
        for j in 0..n {
            let at = matrix.index(i, j);
            if !case.triangle.holds(i, j) {
                assert!(
                    inverse[at].bits() == factors[at].bits(),
                    "{case:?}: ({i}, {j}) of the other triangle"
                );
                continue;
            }
            let column: f64 = (0..n).map(|k| expected[k * n + j].powi(2)).sum::<f64>().sqrt();
            let error = (inverse[at].to_f64() - expected[i * n + j]).abs();
            assert!(error <= of_inverse * column, "{case:?}: ({i}, {j}): {error} > {}", of_inverse * column);
        }
    }
}

#[test]
fn any_factor_system_inverse_and_determinant() {
    property("any_factor_system_inverse_and_determinant", 0x71, 0, |case| {
        if case.seed % 2 == 0 {
            factored::<f32>(case);
        } else {
            factored::<f64>(case);
        }
    });
}

/// The first row with a bad element is the order of the first minor that is not positive: an element below the diagonal
/// that is NaN or infinite makes its row's pivot so, and a pivot that is not above zero stays so, as squares are
/// subtracted from it. What comes before is the factor of what comes before, the rest of the triangle NaN, and the
/// batch's other matrices are as ever.
fn refused<T: Real>(case: Case) {
    let n = case.n;
    let run = Run::<T>::new(case.clone());
    let (factors, info) = run.factors();
    for (number, &order) in info.iter().enumerate() {
        let rows = case.bad.iter().filter(|bad| bad.0 == number).map(|&(_, i, ..)| i + 1);
        let expected = rows.min().unwrap_or(0);
        assert_eq!(order as usize, expected, "{case:?}: matrix {number}");
        let l = run.lower(&factors, number);
        let good = if expected == 0 { n } else { expected - 1 };
        for (i, j) in (0..n * n).map(|at| (at / n, at % n)).filter(|&(i, j)| good <= j && j <= i) {
            assert!(l[i * n + j].to_f64().is_nan(), "{case:?}: ({i}, {j}) of matrix {number}");
        }
        let leading =
            |of: &[T]| -> Vec<T> { (0..good * good).map(|at| of[at / good * n + at % good]).collect() };
        let error = backward_error(&leading(&run.dense[number]), &leading(&l), good);
        assert!(error <= 1.0, "{case:?}: matrix {number}: {error} times the bound");
    }
    let device = Device::cpu();
    let info = device.upload(&info).unwrap();
    let first = case.bad.iter().map(|bad| bad.0).min();
    match (expect_positive_definite(&info), first) {
        (Ok(()), None) => {}
        (Err(Error::NotPositiveDefinite { matrix, .. }), Some(first)) => assert_eq!(matrix, first),
        (other, _) => panic!("{case:?}: {other:?}"),
    }
}

#[test]
fn any_matrix_that_is_not_positive_definite() {
    property("any_matrix_that_is_not_positive_definite", 0x72, 4, |case| {
        if case.seed % 2 == 0 {
            refused::<f32>(case);
        } else {
            refused::<f64>(case);
        }
    });
}
