//! `trsm` and `trsv`.

use gpu_linalg::{
    Batch, BatchMut, Diagonal, Layout, Matrix, Order, Side, Triangle, trsm, trsm_scratch, trsv, trsv_scratch,
};
use gpu_tests::backends::for_each;
use gpu_tests::scratch::exactly;

use crate::common::*;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) side: Side,
    pub(crate) triangle: Triangle,
    pub(crate) diagonal: Diagonal,
    pub(crate) orders: [Order; 2],
    /// Rows of A, right-hand sides, matrices.
    pub(crate) sizes: [usize; 3],
    pub(crate) gap: usize,
    pub(crate) alpha: f32,
}

/// That the residual is within its bound. With A on the left, `D` its squares on the diagonal, which are inverted, and `E` the inverses:
///
/// * Of the right-hand side of a square, `b' = alpha · b - A · x` over what is known, the computed one is within `gamma_{n+k}` of
///   `S = |alpha · b| + |A| |x|`, with `k` additions of parts and levels of the recursion (Higham, section 3.5).
/// * E is computed by substitution, `|D E - I| ≤ gamma |D| |E|` (Du Croz and Higham, *Stability of methods for matrix inversion*, 1992,
///   section 2), and `x = E b'` is within `gamma |E| |b'|`. So `|D x - b'| ≤ 2 gamma |D| |E| |b'|`.
///
/// Twice, as E is the oracle's and not the computed one.
fn assert_solves<T: Real>(case: Case, a: &Dense, b: &Dense, x: &Dense, context: &str) {
    let (a, b, x) = match case.side {
        Side::Left => (a.clone(), b.clone(), x.clone()),
        Side::Right => (a.transposed(), b.transposed(), x.transposed()),
    };
    let expected = b.map(|value| value * f64::from(case.alpha));
    assert_close(&a.times(&x), &expected, &residual_bound::<T>(&a, &expected, &x), context);
}

/// The bound of the residual `|A · x - b|` of [`assert_solves`].
pub(crate) fn residual_bound<T: Real>(a: &Dense, b: &Dense, x: &Dense) -> Dense {
    let n = a.rows;
    let unknown = gamma::<T>(2 * n + 4 * 16 + 64);
    let is_lower = (0..n).all(|row| (row + 1..n).all(|column| a.at(row, column) == 0.0));
    // Rows are counted from where a launch begins (`plan::level3::solve_square`, up to 768 right-hand sides).
    let square = |row: usize| {
        let (first, end) =
            if x.columns > 128 { (row / 512 * 512, n.min(row / 512 * 512 + 512)) } else { (0, n) };
        (first, if is_lower { (row - first) / 16 } else { (end - 1 - row) / 16 })
    };
    let outside = Dense::new(
        n,
        n,
        |row, column| if square(row) == square(column) { 0.0 } else { a.at(row, column).abs() },
    );
    let sums = b.abs().plus(&outside.times(&x.abs()));
    let inside =
        Dense::new(n, n, |row, column| if square(row) == square(column) { a.at(row, column) } else { 0.0 });
    let grown = inside.abs().times(&inverse(&inside).abs()).times(&sums);
    Dense::new(n, x.columns, |row, column| {
        2.0 * unknown * (sums.at(row, column) + 2.0 * grown.at(row, column))
    })
}

/// By substitution, whichever triangle it is.
pub(crate) fn inverse(a: &Dense) -> Dense {
    let n = a.rows;
    let lower = (0..n).all(|row| (row + 1..n).all(|column| a.at(row, column) == 0.0));
    let l = if lower { a.clone() } else { a.transposed() };
    let mut x = Dense::new(n, n, |_, _| 0.0);
    for column in 0..n {
        for row in column..n {
            let one = f64::from(u8::from(row == column));
            let sum = (column..row).fold(one, |sum, k| sum - l.at(row, k) * x.at(k, column));
            x.elements[row * n + column] = sum / l.at(row, row);
        }
    }
    if lower { x } else { x.transposed() }
}

pub(crate) fn check<T: Real>(case: Case, seed: u64) {
    let [n, m, count] = case.sizes;
    let (rows, columns) = if case.side == Side::Left { (n, m) } else { (m, n) };
    let a_layout = batch(layout(n, n, case.orders[0], case.gap), count, case.gap);
    let b_layout = batch(layout(rows, columns, case.orders[1], case.gap), count, 2 * case.gap);
    let a = triangles::<T>(seed, a_layout, case.triangle, case.diagonal);
    let b = matrices::<T>(seed + 1000, b_layout);
    let context = format!("{case:?}, seed {seed}");
    let mut results = Results::new();
    for_each("trsm", |device| {
        let (a, mut x) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut info = device.upload(&vec![7u32; count]).unwrap();
        let mut scratch = exactly(&device.default_stream(), trsm_scratch::<T>(case.side, b_layout).unwrap());
        let of_b = BatchMut::new(&mut x, b_layout).unwrap();
        let of_a = Batch::new(&a, a_layout).unwrap();
        let (alpha, stream) = (T::from(case.alpha), device.default_stream());
        let Case { side, triangle, diagonal, .. } = case;
        trsm(&stream, side, triangle, diagonal, alpha, of_a, of_b, &mut info, &mut scratch).unwrap();
        assert_eq!(info.to_vec().unwrap(), vec![u32::MAX; count], "{context}");
        results.add(device, x.to_vec().unwrap(), &context);
    });
    let x = results.take();
    assert_untouched(&b, &x, b_layout, |_, _| true, &context);
    for number in 0..count {
        let dense = Dense::of(&a, a_layout, number).triangle(case.triangle, case.diagonal);
        let (b, x) = (Dense::of(&b, b_layout, number), Dense::of(&x, b_layout, number));
        assert_solves::<T>(case, &dense, &b, &x, &context);
    }
}

#[test]
fn every_side_triangle_diagonal_and_order() {
    let mut seed = 1;
    for (side, triangle) in SIDES.into_iter().flat_map(|side| TRIANGLES.map(|triangle| (side, triangle))) {
        for (diagonal, a) in DIAGONALS.into_iter().flat_map(|diagonal| ORDERS.map(|order| (diagonal, order)))
        {
            for b in ORDERS {
                let case =
                    Case { side, triangle, diagonal, orders: [a, b], sizes: [67, 3, 1], gap: 3, alpha: 1.5 };
                check::<f32>(case, seed);
                seed += 1;
            }
        }
    }
}

/// The case numbered `at` of all sides, triangles, diagonals and orders, for sizes that are too many for all of them.
fn some(at: usize, sizes: [usize; 3], alpha: f32) -> Case {
    let bit = |bit: usize| at >> bit & 1;
    Case {
        side: SIDES[bit(0)],
        triangle: TRIANGLES[bit(1)],
        diagonal: DIAGONALS[bit(2)],
        orders: [ORDERS[bit(3)], ORDERS[bit(4)]],
        sizes,
        gap: bit(1) * 5,
        alpha,
    }
}

#[test]
fn sizes_around_blocks() {
    let mut at = 0;
    for n in [0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 131] {
        for m in [0, 1, 2, 31] {
            check::<f32>(some(at, [n, m, 1], 1.0), at as u64);
            check::<f64>(some(at + 5, [n, m, 1], -0.5), at as u64);
            at += 7;
        }
    }
}

/// Blocks that wait for several others, of the narrow form and of the wide one.
#[test]
fn several_blocks() {
    for (at, n) in [257, 300, 321, 384, 385].into_iter().enumerate() {
        check::<f32>(some(7 * at, [n, 2, 1], 1.0), at as u64);
        check::<f64>(some(7 * at + 3, [n, 5, 1], 1.0), at as u64);
    }
    // Of more blocks than the narrow form is for.
    for (at, m) in [33, 64].into_iter().enumerate() {
        check::<f32>(some(7 * at + 1, [130, m, 20], 1.0), at as u64);
        check::<f64>(some(7 * at + 2, [67, m, 30], -1.5), at as u64);
    }
}

/// Rows that are solved for 512 at a time, with products between, from the first to the last and the other way.
#[test]
fn several_launches() {
    check::<f64>(some(6, [515, 129, 1], 1.5), 1);
    check::<f64>(some(16, [529, 131, 1], 1.0), 2);
}

#[test]
fn batches() {
    for (at, (n, m, count)) in [(1, 1, 5), (5, 3, 7), (70, 2, 3), (64, 1, 0)].into_iter().enumerate() {
        check::<f32>(some(11 * at + 2, [n, m, count], 2.0), at as u64);
        check::<f64>(some(11 * at + 1, [n, m, count], 1.0), at as u64);
    }
}

#[test]
fn without_alpha_nothing_is_read() {
    for_each("trsm of zero", |device| {
        let square = Layout::row_major(70, 70).unwrap();
        let a = device.upload(&[f32::NAN; 4900]).unwrap();
        let mut b = device.upload(&[f32::NAN; 140]).unwrap();
        let right = Layout::row_major(70, 2).unwrap();
        let mut info = device.alloc(1).unwrap();
        let mut scratch = exactly(&device.default_stream(), trsm_scratch::<f32>(Side::Left, right).unwrap());
        let (a, of_b) =
            (Matrix::new(&a, square).unwrap(), gpu_linalg::MatrixMut::new(&mut b, right).unwrap());
        let stream = device.default_stream();
        let (triangle, diagonal) = (Triangle::Upper, Diagonal::Stored);
        trsm(&stream, Side::Left, triangle, diagonal, 0.0, a, of_b, &mut info, &mut scratch).unwrap();
        assert_eq!(b.to_vec().unwrap(), [0.0; 140], "{}", device.name());
    });
}

/// `trsv` of a case's triangle, and one right-hand side.
pub(crate) fn check_vector<T: Real>(case: Case, seed: u64) {
    let n = case.sizes[0];
    // A system on the left, times one.
    let case = Case { side: Side::Left, alpha: 1.0, ..case };
    let a_layout = layout(n, n, case.orders[0], case.gap);
    let a = triangles::<T>(seed, a_layout.into(), case.triangle, case.diagonal);
    let b_layout = Layout::column_major(n, 1).unwrap();
    let b = matrices::<T>(seed + 50, b_layout.into());
    let context = format!("trsv of {n}, {case:?}, seed {seed}");
    let mut results = Results::new();
    for_each("trsv", |device| {
        let (a, mut x) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut info = device.alloc(1).unwrap();
        let mut scratch = exactly(&device.default_stream(), trsv_scratch::<T>(n).unwrap());
        let (matrix, stream) = (Matrix::new(&a, a_layout).unwrap(), device.default_stream());
        trsv(&stream, case.triangle, case.diagonal, matrix, &mut x, &mut info, &mut scratch).unwrap();
        assert_eq!(info.to_vec().unwrap(), [u32::MAX], "{context}");
        results.add(device, x.to_vec().unwrap(), &context);
    });
    let dense = Dense::of(&a, a_layout.into(), 0).triangle(case.triangle, case.diagonal);
    let x = results.take();
    let (b, x) = (Dense::of(&b, b_layout.into(), 0), Dense::of(&x, b_layout.into(), 0));
    assert_solves::<T>(case, &dense, &b, &x, &context);
}

#[test]
fn vectors() {
    for (at, n) in [0, 1, 2, 64, 65, 129, 260, 331].into_iter().enumerate() {
        check_vector::<f64>(some(at, [n, 1, 1], 1.0), at as u64);
    }
}
