//! `trmm` and `symm`.

use gpu_linalg::{Batch, BatchMut, Diagonal, Order, Side, Triangle, symm, symm_scratch, trmm, trmm_scratch};
use gpu_tests::backends::for_each;
use gpu_tests::scratch::exactly;

use crate::common::*;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) side: Side,
    pub(crate) triangle: Triangle,
    pub(crate) diagonal: Diagonal,
    pub(crate) orders: [Order; 2],
    /// Rows of A, of B those or columns that are not A's, matrices.
    pub(crate) sizes: [usize; 3],
    pub(crate) gap: usize,
    pub(crate) factors: (f32, f32),
}

fn some(at: usize, sizes: [usize; 3], factors: (f32, f32)) -> Case {
    let bit = |bit: usize| at >> bit & 1;
    Case {
        side: SIDES[bit(0)],
        triangle: TRIANGLES[bit(1)],
        diagonal: DIAGONALS[bit(2)],
        orders: [ORDERS[bit(3)], ORDERS[bit(4)]],
        sizes,
        gap: bit(2) * 3,
        factors,
    }
}

/// `A · B` or `B · A`.
fn product(side: Side, a: &Dense, b: &Dense) -> Dense {
    if side == Side::Left { a.times(b) } else { b.times(a) }
}

pub(crate) fn check_trmm<T: Real>(case: Case, seed: u64) {
    let Case { side, triangle, diagonal, orders, sizes: [n, m, count], gap, factors: (alpha, _) } = case;
    let (rows, columns) = if side == Side::Left { (n, m) } else { (m, n) };
    let a_layout = batch(layout(n, n, orders[0], gap), count, gap);
    let b_layout = batch(layout(rows, columns, orders[1], gap), count, gap);
    let a = triangles::<T>(seed, a_layout, triangle, diagonal);
    let b = matrices::<T>(seed + 1000, b_layout);
    let context = format!("trmm, {case:?}, seed {seed}");
    let mut results = Results::new();
    for_each("trmm", |device| {
        let (a, mut result) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut scratch = exactly(&device.default_stream(), trmm_scratch::<T>(side, b_layout).unwrap());
        let (of_a, stream) = (Batch::new(&a, a_layout).unwrap(), device.default_stream());
        let of_b = BatchMut::new(&mut result, b_layout).unwrap();
        trmm(&stream, side, triangle, diagonal, T::from(alpha), of_a, of_b, &mut scratch).unwrap();
        results.add(device, result.to_vec().unwrap(), &context);
    });
    let result = results.take();
    assert_untouched(&b, &result, b_layout, |_, _| true, &context);
    for number in 0..count {
        let a = Dense::of(&a, a_layout, number).triangle(triangle, diagonal);
        let b = Dense::of(&b, b_layout, number);
        let expected = product(side, &a, &b).map(|sum| sum * f64::from(alpha));
        // A chain of n at most in each of the levels, with a rounding for alpha and one for the addition in each.
        let bound = gamma::<T>(n + 64) * f64::from(alpha.abs());
        let bound = product(side, &a.abs(), &b.abs()).map(|sum| sum * bound);
        assert_close(&Dense::of(&result, b_layout, number), &expected, &bound, &context);
    }
}

pub(crate) fn check_symm<T: Real>(case: Case, seed: u64) {
    let Case { side, triangle, orders, sizes: [n, m, count], gap, factors: (alpha, beta), .. } = case;
    let (rows, columns) = if side == Side::Left { (n, m) } else { (m, n) };
    let a_layout = batch(layout(n, n, orders[0], gap), count, gap);
    let b_layout = batch(layout(rows, columns, orders[1], gap), count, gap);
    let c_layout = batch(layout(rows, columns, orders[0], 2), count, gap);
    let a = triangles::<T>(seed, a_layout, triangle, Diagonal::Stored);
    let b = matrices::<T>(seed + 1000, b_layout);
    let mut c = matrices::<T>(seed + 2000, c_layout);
    if beta == 0.0 {
        c.fill(T::from(f32::NAN));
    }
    let context = format!("symm, {case:?}, seed {seed}");
    let mut results = Results::new();
    for_each("symm", |device| {
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut result = device.upload(&c).unwrap();
        let mut scratch = exactly(&device.default_stream(), symm_scratch::<T>(side, c_layout).unwrap());
        let (of_a, of_b) = (Batch::new(&a, a_layout).unwrap(), Batch::new(&b, b_layout).unwrap());
        let of_c = BatchMut::new(&mut result, c_layout).unwrap();
        let (stream, factors) = (device.default_stream(), (T::from(alpha), T::from(beta)));
        symm(&stream, side, triangle, factors.0, of_a, of_b, factors.1, of_c, &mut scratch).unwrap();
        results.add(device, result.to_vec().unwrap(), &context);
    });
    let result = results.take();
    assert_untouched(&c, &result, c_layout, |_, _| true, &context);
    for number in 0..count {
        let a = Dense::of(&a, a_layout, number);
        let a =
            Dense::new(
                n,
                n,
                |row, column| {
                    if triangle.holds(row, column) { a.at(row, column) } else { a.at(column, row) }
                },
            );
        let b = Dense::of(&b, b_layout, number);
        let scaled = |c: f64| if beta == 0.0 { 0.0 } else { c * f64::from(beta) };
        let old = Dense::of(&c, c_layout, number).map(scaled);
        let expected = product(side, &a, &b).map(|sum| sum * f64::from(alpha)).plus(&old);
        let bound = product(side, &a.abs(), &b.abs()).map(|sum| sum * f64::from(alpha.abs()));
        let bound = bound.plus(&old.abs()).map(|sum| sum * gamma::<T>(n + 64));
        assert_close(&Dense::of(&result, c_layout, number), &expected, &bound, &context);
    }
}

#[test]
fn every_side_triangle_diagonal_and_order() {
    for at in 0..32 {
        check_trmm::<f32>(some(at, [67, 3, 1], (-1.5, 0.0)), at as u64);
        check_symm::<f32>(some(at, [35, 3, 1], (-1.5, 0.5)), at as u64);
    }
}

#[test]
fn sizes_around_blocks() {
    let mut at = 0;
    for n in [0, 1, 31, 32, 33, 64, 65, 131] {
        for m in [0, 1, 17] {
            check_trmm::<f32>(some(at, [n, m, 1], (1.0, 0.0)), at as u64);
            check_trmm::<f64>(some(at + 1, [n, m, 1], (2.0, 0.0)), at as u64);
            check_symm::<f32>(some(at + 2, [n, m, 1], (1.0, 0.0)), at as u64);
            check_symm::<f64>(some(at + 3, [n, m, 1], (2.0, 1.0)), at as u64);
            at += 7;
        }
    }
    check_trmm::<f32>(some(3, [300, 2, 1], (1.0, 0.0)), 77);
    check_trmm::<f64>(some(6, [257, 2, 1], (0.0, 0.0)), 78);
}

#[test]
fn batches() {
    for (at, (n, m, count)) in [(1, 1, 5), (5, 3, 7), (70, 2, 3), (8, 8, 0)].into_iter().enumerate() {
        check_trmm::<f32>(some(11 * at + 2, [n, m, count], (2.0, 0.0)), at as u64);
        check_symm::<f64>(some(11 * at + 1, [n, m, count], (1.0, -1.0)), at as u64);
    }
}
