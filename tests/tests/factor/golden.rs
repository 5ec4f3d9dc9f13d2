//! What SciPy makes of the same matrices: well-conditioned, Hilbert's, graded ones, and those of a boundary value
//! problem.
//!
//! With `A = D·H·D`, D of powers of two, all is compared for H: every operation is exact in D. The bounds, in the
//! Frobenius norm, which is no less than the 2-norm, with `γ = γ_{n + n/64 + 8}` of
//! [`backward_error`](crate::common::backward_error), M of [`residual_bound`](crate::common::residual_bound) and
//! `W = |L̂|·|L̂ᵀ|`:
//!
//! * *Factor.* L̂ is the exact factor of `H + E`, `‖E‖ ≤ γ ‖W‖`, and SciPy's that of `H + F`, `‖F‖` being in the file. With `η = ‖H⁻¹‖ ‖E‖` below one
//!   a factor differs from H's by at most `√½ · √tr(H) · η / (1 - η)` (Sun, 1991: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd
//!   ed., theorem 10.8, and `‖L‖² ≤ tr(H)`); both of them together.
//! * *Determinant.* The eigenvalues of `H⁻¹·(H + E)` are within η of one, so their logarithms sum up to at most `n η / (1 - η)`; and the sum of
//!   n logarithms is wrong by `(n + 1) ε · 2 Σ |ln lᵢᵢ|`.
//! * *Solutions.* Each is that of `H + G`, `‖G‖ ≤ γ ‖W‖ + ‖M‖`, since its residual is `|M|·|x|` at most, and so
//!   differs from H's by `η / (1 - η)` of that one's norm. SciPy's were refined with exact residuals: they are wrong
//!   by a rounding. Inverses are solutions, column by column.

use gpu_core::Device;
use gpu_linalg::{
    Matrix, MatrixMut, Order, Triangle, logdet, potrf, potrf_scratch, potri, potri_scratch, potrs,
    potrs_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::golden::{Block, blocks};
use gpu_tests::scratch::exactly;

use crate::common::{CANARY, Real, TRIANGLES, layout, place, rectangle, residual_bound};

/// A matrix of the file.
struct Golden<'a> {
    block: &'a Block<'a>,
    name: &'a str,
    n: usize,
    /// H, row after row.
    h: Vec<f64>,
    /// The powers of two of D.
    d: Vec<f64>,
    inverse_norm: f64,
}

impl<'a> Golden<'a> {
    fn new(block: &'a Block<'a>) -> Self {
        let [name, n] = *block.words("matrix") else { panic!("name and rows") };
        let n: usize = n.parse().unwrap();
        let lower: Vec<f64> = if name == "green" {
            (0..n).flat_map(|i| (0..=i).map(move |j| ((j + 1) * (n - i)) as f64)).collect()
        } else {
            block.numbers("h")
        };
        let d = block.numbers::<i32>("exponents").into_iter().map(|e| f64::powi(2.0, e)).collect();
        let inverse_norm = block.numbers("inverse_norm")[0];
        Self { block, name, n, h: symmetric(&lower, n), d, inverse_norm }
    }

    /// What is left of one where a matrix differs by so much: what η / (1 - η) is the right side of, or `None`.
    fn relative(&self, difference: f64) -> Option<f64> {
        let eta = self.inverse_norm * difference;
        (eta < 0.5).then(|| eta / (1.0 - eta))
    }
}

/// The matrix with this lower triangle, row after row.
fn symmetric(lower: &[f64], n: usize) -> Vec<f64> {
    let at = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    (0..n * n).map(|index| at(index / n, index % n)).collect()
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// How many comparisons there were: of factors, solutions, and inverses.
#[derive(Default, Debug)]
struct Compared([usize; 3]);

fn check<T: Real + Into<f64>>(
    device: &Device,
    golden: &Golden<'_>,
    triangle: Triangle,
    gap: usize,
    compared: &mut Compared,
) {
    let Golden { block, n, h, d, .. } = golden;
    let n = *n;
    let context =
        format!("{} {n}, {}, {triangle:?} on {}", golden.name, std::any::type_name::<T>(), device.name());
    let stream = device.default_stream();
    let matrix = layout(n, Order::ColumnMajor, gap);
    let dense: Vec<T> = (0..n * n).map(|at| T::of(h[at] * d[at / n] * d[at % n])).collect();
    assert!(dense.iter().zip(h).enumerate().all(|(at, (a, h))| a.to_f64() == h * d[at / n] * d[at % n]));
    let mut a = vec![T::from(CANARY); matrix.span()];
    place(&dense, matrix, triangle, &mut a);
    let mut factor = device.upload(&a).unwrap();
    let mut info = device.upload(&[5u32]).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrf_scratch::<T>(n, 1).unwrap());
    let into = MatrixMut::new(&mut factor, matrix).unwrap();
    potrf(&stream, triangle, into, &mut info, &mut scratch).unwrap();
    assert_eq!(info.to_vec().unwrap(), [0], "{context}");

    // ---- H's factor, row after row
    let stored = factor.to_vec().unwrap();
    let element = |stored: &[T], i: usize, j: usize| {
        let (i, j) = if triangle == Triangle::Lower { (i, j) } else { (j, i) };
        stored[matrix.index(i, j)].to_f64()
    };
    let mut l = vec![0.0; n * n];
    (0..n).for_each(|i| (0..=i).for_each(|j| l[i * n + j] = element(&stored, i, j) / d[i]));
    let product = |i: usize, j: usize, of: fn(f64) -> f64| -> f64 {
        (0..=i.min(j)).map(|k| of(l[i * n + k]) * of(l[j * n + k])).sum()
    };
    let gamma = |count: f64, unit: f64| count * unit / (1.0 - count * unit);
    let steps = n as f64 * (1.0 + 1.0 / 64.0) + 8.0;
    let sizes = norm((0..n * n).map(|at| product(at / n, at % n, f64::abs)));
    let backward = gamma(steps, T::UNIT) * sizes;
    let residual = norm((0..n * n).map(|at| h[at] - product(at / n, at % n, |l| l)));
    // The product here is of f64.
    let bound = backward + gamma(n as f64, f64::UNIT) * sizes;
    assert!(residual <= bound, "{context}: {residual:e} of {bound:e}");

    // ---- SciPy's
    let theirs = 1.01 * block.numbers::<f64>("residual")[0];
    let own = golden.relative(backward);
    if let (Some(own), Some(theirs)) = (own, golden.relative(theirs)) {
        compared.0[0] += 1;
        let trace: f64 = (0..n).map(|i| h[i * n + i]).sum();
        let bound = (trace / 2.0).sqrt() * (own + theirs);
        let expected: Vec<((usize, usize), f64)> = if block.has("l") {
            (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).zip(block.numbers("l")).collect()
        } else {
            let last = (0..n).map(|j| (n - 1, j)).zip(block.numbers("last"));
            (0..n).map(|i| (i, i)).zip(block.numbers("diagonal")).chain(last).collect()
        };
        let difference = norm(expected.iter().map(|&((i, j), expected)| l[i * n + j] - expected));
        // The last element of the diagonal may be there twice.
        assert!(difference <= bound * 2f64.sqrt(), "{context}: {difference:e} of {bound:e}");

        let log = logdet(Matrix::new(&factor, matrix).unwrap()).unwrap();
        let logs: f64 = (0..n).map(|i| 2.0 * (l[i * n + i] * d[i]).ln().abs()).sum();
        let bound = n as f64 * (own + theirs) + 2.0 * (n + 1) as f64 * f64::EPSILON * logs;
        let expected = block.numbers::<f64>("logdet")[0];
        assert!((log - expected).abs() <= bound, "{context}: {log}, expected {expected}, {bound:e}");
    }

    let backward = backward + norm(residual_bound::<T>(&l, n, 1).into_iter());
    let Some(relative) = golden.relative(backward) else { return };
    // A rounding to T of what is exact but for a rounding.
    let relative = relative + 2.0 * f64::EPSILON;
    let b: Vec<f64> = block.numbers("b");
    let x: Vec<f64> = block.numbers("x");
    let columns = b.len() / n;
    let right = rectangle(n, columns, Order::RowMajor, gap);
    let mut of_b = vec![T::from(CANARY); right.span()];
    for (at, b) in b.iter().enumerate() {
        of_b[right.index(at / columns, at % columns)] = T::of(b * d[at / columns]);
    }
    let mut of_x = device.upload(&of_b).unwrap();
    let mut scratch = exactly(&device.default_stream(), potrs_scratch::<T>(n, right).unwrap());
    let into = MatrixMut::new(&mut of_x, right).unwrap();
    potrs(&stream, triangle, Matrix::new(&factor, matrix).unwrap(), into, &mut scratch).unwrap();
    let of_x = of_x.to_vec().unwrap();
    for column in 0..columns {
        let expected = |i: usize| x[i * columns + column];
        let actual = |i: usize| of_x[right.index(i, column)].to_f64() * d[i];
        let difference = norm((0..n).map(|i| actual(i) - expected(i)));
        let bound = relative * norm((0..n).map(expected));
        assert!(difference <= bound, "{context}: column {column}: {difference:e} of {bound:e}");
        compared.0[1] += 1;
    }

    if block.has("inverse") {
        let expected = symmetric(&block.numbers("inverse"), n);
        let mut scratch = exactly(&device.default_stream(), potri_scratch::<T>(n, 1).unwrap());
        potri(&stream, triangle, MatrixMut::new(&mut factor, matrix).unwrap(), &mut scratch).unwrap();
        let inverse = factor.to_vec().unwrap();
        for i in 0..n {
            for j in 0..=i {
                let actual = element(&inverse, i, j) * d[i] * d[j];
                // Of the column that it was computed with.
                let column = if triangle == Triangle::Lower { j } else { i };
                let bound = relative * norm((0..n).map(|k| expected[k * n + column]));
                let error = (actual - expected[i * n + j]).abs();
                assert!(error <= bound, "{context}: ({i}, {j}) of the inverse: {error:e} of {bound:e}");
            }
        }
        compared.0[2] += 1;
    }
}

#[test]
fn factors_solutions_inverses_and_determinants_are_scipys() {
    let blocks = blocks(include_str!("../data/scipy_factor.txt"), "matrix");
    assert_eq!(blocks.len(), 12);
    for_each("golden factors", |device| {
        let mut compared = Compared::default();
        for block in &blocks {
            let golden = Golden::new(block);
            for (triangle, gap) in TRIANGLES.into_iter().zip([0, 3]) {
                for &name in block.words("types") {
                    match name {
                        "f32" => check::<f32>(device, &golden, triangle, gap, &mut compared),
                        "f64" => check::<f64>(device, &golden, triangle, gap, &mut compared),
                        other => panic!("{other} is no type"),
                    }
                }
            }
        }
        // All but the Hilbert matrix of 5 rows in f32, whose solutions may be anything.
        println!("{compared:?}");
        assert_eq!(compared.0, [46, 108, 20], "on {}", device.name());
    });
}
