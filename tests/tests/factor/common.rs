//! Matrices, the oracle, and what the tests check of a factor.

use gpu_linalg::{FactorElement, Layout, Order, Triangle};
use gpu_std::float::Float;
use gpu_tests::compare::Bits;
use gpu_tests::data::random;

pub const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];
pub const TRIANGLES: [Triangle; 2] = [Triangle::Lower, Triangle::Upper];

/// What the tests need of a type.
pub trait Real: FactorElement + Bits + From<f32> {
    /// The distance from one to the next number, halved.
    const UNIT: f64;
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    const UNIT: f64 = f32::EPSILON as f64 / 2.0;
    fn of(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    const UNIT: f64 = f64::EPSILON / 2.0;
    fn of(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

pub fn layout(n: usize, order: Order, gap: usize) -> Layout {
    rectangle(n, n, order, gap)
}

pub fn rectangle(rows: usize, columns: usize, order: Order, gap: usize) -> Layout {
    let layout = Layout::new(order, rows, columns).unwrap();
    layout.with_leading_dimension(layout.leading_dimension() + gap).unwrap()
}

/// A number in [-1, 1).
pub fn unit(seed: u64, index: usize) -> f64 {
    (random(seed, index) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A symmetric matrix with a heavy diagonal, whose eigenvalues lie between n / 2 and 5 n / 2, row after row. Rounding
/// shows in every element of its factor.
pub fn positive<T: Real>(seed: u64, n: usize) -> Vec<T> {
    let mut a = vec![T::ZERO; n * n];
    for i in 0..n {
        for j in 0..=i {
            let value =
                if i == j { 1.5 * n as f64 + 0.3 * unit(seed, i) } else { 0.5 * unit(seed, i * n + j) };
            a[i * n + j] = T::of(value);
            a[j * n + i] = T::of(value);
        }
    }
    a
}

/// `1 / √square`: that of the number in [1, 4) from which it differs by a power of four, by two steps from an estimate
/// in `f32`, and of `f64` one more. What a step computes is documented: `y + y e (1/2 + 3/8 e)` with `e = 1 - x y²`.
fn reciprocal_root<T: Real>(square: T) -> T {
    let (mut x, mut scale) = (square.to_f64(), 1.0);
    while x >= 4.0 {
        (x, scale) = (x / 4.0, scale / 2.0);
    }
    while x < 1.0 {
        (x, scale) = (x * 4.0, scale * 2.0);
    }
    let single = x as f32;
    let mut y = f32::from_bits(0x5f37_59df - single.to_bits() / 2);
    for _ in 0..2 {
        let e = f32::mul_add(-(single * y), y, 1.0);
        y = f32::mul_add(e * y, f32::mul_add(e, 0.375, 0.5), y);
    }
    let mut y = f64::from(y);
    if T::UNIT == f64::UNIT {
        let e = f64::mul_add(-(x * y), y, 1.0);
        y = f64::mul_add(e * y, f64::mul_add(e, 0.375, 0.5), y);
    }
    T::of(y * scale)
}

/// The Cholesky factor, row after row, and the order of the first minor that is not positive, or zero: the textbook's
/// loops, of every element one chain of fused multiply-adds.
pub fn oracle<T: Real>(a: &[T], n: usize) -> (Vec<T>, u32) {
    let mut l = vec![T::ZERO; n * n];
    let mut failed = 0;
    for j in 0..n {
        let chain = |l: &[T], i: usize| {
            (0..j).fold(a[i * n + j], |sum, k| Float::mul_add(-l[i * n + k], l[j * n + k], sum))
        };
        let square = chain(&l, j);
        let (mut root, mut reciprocal) = (T::of(f64::NAN), T::of(f64::NAN));
        if square > T::ZERO && square.to_f64().is_finite() {
            root = Float::sqrt(square);
            reciprocal = reciprocal_root(square);
        } else if failed == 0 {
            failed = j as u32 + 1;
        }
        l[j * n + j] = root;
        for i in j + 1..n {
            l[i * n + j] = chain(&l, i) * reciprocal;
        }
    }
    (l, failed)
}

/// What lies outside of triangles, and between matrices.
pub const CANARY: f32 = -12345.0;

/// Writes a row-major matrix's `triangle` where `layout` says; the rest of `into` stays.
pub fn place<T: Real>(a: &[T], layout: Layout, triangle: Triangle, into: &mut [T]) {
    let n = layout.rows();
    for i in 0..n {
        for j in 0..n {
            if triangle.holds(i, j) {
                into[layout.index(i, j)] = a[i * n + j];
            }
        }
    }
}

/// A lower factor as `triangle` has it: the upper one is the transposed.
pub fn placed_factor<T: Real>(l: &[T], layout: Layout, triangle: Triangle, into: &mut [T]) {
    let n = layout.rows();
    for i in 0..n {
        for j in 0..=i {
            let at = if triangle == Triangle::Lower { layout.index(i, j) } else { layout.index(j, i) };
            into[at] = l[i * n + j];
        }
    }
}

/// The largest of `|A - L·Lᵀ|` over its bound, elementwise, both row-major.
///
/// Every element's sum is a chain of at most n fused multiply-adds, the product with a reciprocal that has three
/// roundings, and one rounding more; where steps are subtracted as sums, one addition for each step and two for the
/// pieces of a sum more. So `|A - L·Lᵀ| ≤ γ_{n + 8 + n/64} |L|·|Lᵀ|` (Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., theorem 10.3, whose proof takes one rounding for each operation on a chain), with `γ_k = k u /
/// (1 - k u)`. The product here is of f64: its own error is added.
pub fn backward_error<T: Real>(a: &[T], l: &[T], n: usize) -> f64 {
    let k = n as f64 + 8.0 + n as f64 / 64.0;
    let gamma = |u: f64| k * u / (1.0 - k * u);
    let bound = gamma(T::UNIT) + gamma(f64::UNIT);
    let mut worst: f64 = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let (mut sum, mut size) = (0.0, 0.0);
            for k in 0..=j {
                let product = l[i * n + k].to_f64() * l[j * n + k].to_f64();
                sum += product;
                size += product.abs();
            }
            let error = (a[i * n + j].to_f64() - sum).abs();
            // Not a number must not pass.
            let ratio = if error == 0.0 { 0.0 } else { error / (bound * size) };
            worst = if ratio <= worst { worst } else { ratio };
        }
    }
    worst
}

/// M of the bound `|B - L·Lᵀ·X| ≤ M |X|`, elementwise and row after row, of systems of `count` matrices with the
/// lower factor `l`.
///
/// Of those that are solved whole, by substitution, each of the two has the exact triangle of a matrix that differs
/// from L by `γ_{n+4} |L|` (Higham, theorem 8.5: a chain of n products, and one with a reciprocal).
///
/// Of larger ones squares D of 16 rows on the diagonal are inverted, from the first row on, and of the transposed
/// from the last one on. The sum before a square, `s = b - Σ l y`, is as exact as those of substitution, within
/// `γ_{n+16} (|s| + Σ |l| |y|)` with its parts. The inverse E has `|D E - I| ≤ γ_18 |D| |E|` (Du Croz and Higham,
/// *Stability of methods for matrix inversion*, 1992, section 2), and `y = E s` is within `γ_16 |E| |s|`; so, with
/// `G = |D| |E|` and `|s| ≤ |D| |y|` to first order, `|L·Y - B| ≤ (γ_{n+16} |L| + γ_34 G |D|) |Y|`, and the like for
/// `Lᵀ·X = Y`. As `|Y| ≤ |Lᵀ| |X|` to first order, `M = (γ_{n+16} |L| + γ_34 G |D|) |Lᵀ| + |L| (γ_{n+16} |Lᵀ| + γ_34
/// G' |D'|)`. A tenth is for what is left out, and for E, which is that of f64 here.
pub fn residual_bound<T: Real>(l: &[f64], n: usize, count: usize) -> Vec<f64> {
    // The residual is of f64, too.
    let gamma = |k: f64| k * T::UNIT / (1.0 - k * T::UNIT) + k * f64::EPSILON;
    let turned = |a: &[f64]| -> Vec<f64> { (0..n * n).map(|at| a[at % n * n + at / n]).collect() };
    let sum = |a: &[f64], b: &[f64], [by_a, by_b]: [f64; 2]| -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| by_a * a + by_b * b).collect()
    };
    let absolute: Vec<f64> = l.iter().map(|l| l.abs()).collect();
    let transposed = turned(&absolute);
    if n <= 64 || n <= 512 && count >= 8 {
        let (gamma, sizes) = (gamma(n as f64 + 4.0), product(&absolute, &transposed, n));
        return sum(&sizes, &sizes, [2.0 * gamma, gamma * gamma]);
    }
    // The squares of rows that have the same number, and their inverses, by substitution.
    let squares = |number: &dyn Fn(usize) -> usize| {
        let (mut d, mut e) = (vec![0.0; n * n], vec![0.0; n * n]);
        for j in 0..n {
            for i in (j..n).take_while(|&i| number(i) == number(j)) {
                let one = f64::from(u8::from(i == j));
                let sum = (j..i).fold(one, |sum, k| sum - l[i * n + k] * e[k * n + j]);
                (d[i * n + j], e[i * n + j]) = (l[i * n + j], sum / l[i * n + i]);
            }
        }
        [d, e].map(|a| a.into_iter().map(f64::abs).collect::<Vec<_>>())
    };
    let factors = [n as f64 + 16.0, 34.0].map(|k| 1.1 * gamma(k));
    let [d, e] = squares(&|row| row / 16);
    let forwards = sum(&absolute, &product(&product(&d, &e, n), &d, n), factors);
    let [d, e] = squares(&|row| (n - 1 - row) / 16).map(|a| turned(&a));
    let backwards = sum(&transposed, &product(&product(&d, &e, n), &d, n), factors);
    sum(&product(&forwards, &transposed, n), &product(&absolute, &backwards, n), [1.0; 2])
}

/// The product of square matrices, row after row, of which many elements may be zero.
fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; n * n];
    for (at, &factor) in a.iter().enumerate().filter(|&(_, &factor)| factor != 0.0) {
        let (row, k) = (at / n, at % n);
        let sums = &mut c[row * n..(row + 1) * n];
        sums.iter_mut().zip(&b[k * n..(k + 1) * n]).for_each(|(sum, b)| *sum += factor * b);
    }
    c
}
