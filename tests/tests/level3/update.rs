//! `syrk` and `syr2k`.

use gpu_linalg::{Batch, BatchMut, Order, Triangle, syr2k, syr2k_scratch, syrk, syrk_scratch};
use gpu_tests::backends::for_each;
use gpu_tests::scratch::exactly;

use crate::common::*;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) twice: bool,
    pub(crate) triangle: Triangle,
    pub(crate) orders: [Order; 2],
    /// Rows of C, length of the sums, matrices.
    pub(crate) sizes: [usize; 3],
    pub(crate) gap: usize,
    pub(crate) factors: (f32, f32),
}

fn some(at: usize, sizes: [usize; 3], factors: (f32, f32)) -> Case {
    let bit = |bit: usize| at >> bit & 1;
    let orders = [ORDERS[bit(2)], ORDERS[bit(3)]];
    Case { twice: bit(0) == 1, triangle: TRIANGLES[bit(1)], orders, sizes, gap: bit(1) * 3, factors }
}

pub(crate) fn check<T: Real>(case: Case, seed: u64) {
    let Case { twice, triangle, orders, sizes: [n, k, count], gap, factors: (alpha, beta) } = case;
    let a_layout = batch(layout(n, k, orders[0], gap), count, gap);
    let c_layout = batch(layout(n, n, orders[1], gap), count, gap);
    let (a, b) = (matrices::<T>(seed, a_layout), matrices::<T>(seed + 500, a_layout));
    let old = matrices::<T>(seed + 2000, c_layout);
    let old = filled::<T>(c_layout, |number, row, column| {
        let value = old[number * c_layout.stride + c_layout.matrix.index(row, column)];
        match (triangle.holds(row, column), beta == 0.0) {
            (false, _) => T::from(CANARY),
            (true, true) => T::from(f32::NAN),
            (true, false) => value,
        }
    });
    let context = format!("{case:?}, seed {seed}");
    let mut results = Results::new();
    for_each("syrk", |device| {
        let (a, b) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut c = device.upload(&old).unwrap();
        let (of_a, of_b) = (Batch::new(&a, a_layout).unwrap(), Batch::new(&b, a_layout).unwrap());
        let of_c = BatchMut::new(&mut c, c_layout).unwrap();
        let (stream, factors) = (device.default_stream(), (T::from(alpha), T::from(beta)));
        if twice {
            let mut scratch = exactly(&device.default_stream(), syr2k_scratch::<T>(k, c_layout));
            syr2k(&stream, triangle, factors.0, of_a, of_b, factors.1, of_c, &mut scratch).unwrap();
        } else {
            let mut scratch = exactly(&device.default_stream(), syrk_scratch::<T>(k, c_layout));
            syrk(&stream, triangle, factors.0, of_a, factors.1, of_c, &mut scratch).unwrap();
        }
        results.add(device, c.to_vec().unwrap(), &context);
    });
    let c = results.take();
    assert_untouched(&old, &c, c_layout, |row, column| triangle.holds(row, column), &context);
    for number in 0..count {
        let (a, b) = (Dense::of(&a, a_layout, number), Dense::of(&b, a_layout, number));
        let b = if twice { b } else { a.clone() };
        let both = |a: &Dense, b: &Dense| {
            let product = a.times(&b.transposed());
            if twice { product.plus(&product.transposed()) } else { product }
        };
        let counts = |c: &Dense| {
            Dense::new(n, n, |row, column| if triangle.holds(row, column) { c.at(row, column) } else { 0.0 })
        };
        let scaled = |c: f64| if beta == 0.0 { 0.0 } else { c * f64::from(beta) };
        let before = counts(&Dense::of(&old, c_layout, number)).map(scaled);
        let expected = counts(&both(&a, &b).map(|sum| sum * f64::from(alpha))).plus(&before);
        // Two chains of k, parts of them, and the two factors.
        let bound = both(&a.abs(), &b.abs()).map(|sum| sum * f64::from(alpha.abs()));
        let bound = bound.plus(&before.abs()).map(|sum| sum * gamma::<T>(2 * k + 64));
        let result = counts(&Dense::of(&c, c_layout, number));
        assert_close(&result, &expected, &bound, &context);
    }
}

#[test]
fn every_triangle_and_order() {
    for at in 0..16 {
        check::<f32>(some(at, [67, 5, 1], (-1.5, 0.5)), at as u64);
        check::<f64>(some(at, [20, 33, 1], (1.0, 0.0)), at as u64);
    }
}

#[test]
fn sizes_around_squares() {
    let mut at = 0;
    for n in [0, 1, 2, 63, 64, 65, 129, 193] {
        for k in [0, 1, 19] {
            check::<f32>(some(at, [n, k, 1], (1.0, 0.0)), at as u64);
            check::<f64>(some(at + 5, [n, k, 1], (2.0, 1.0)), at as u64);
            at += 7;
        }
    }
    check::<f32>(some(2, [530, 3, 1], (1.0, 1.0)), 99);
}

#[test]
fn long_sums_in_tiles_and_in_parts() {
    for (at, [n, k, count]) in
        [[130, 40, 1], [65, 33, 2], [20, 700, 1], [9, 300, 3], [257, 35, 1]].into_iter().enumerate()
    {
        for bits in 0..4 {
            check::<f32>(some(4 * at + bits, [n, k, count], (1.0, 0.5)), at as u64);
            check::<f64>(some(4 * at + bits, [n, k, count], (-1.0, 0.0)), at as u64);
        }
    }
}

#[test]
fn without_alpha_factors_are_not_read() {
    for at in 0..4 {
        check::<f32>(some(at, [70, 3, 1], (0.0, -2.0)), at as u64);
    }
}

#[test]
fn batches() {
    for (at, (n, k, count)) in [(1, 1, 5), (5, 3, 7), (140, 2, 3), (8, 8, 0)].into_iter().enumerate() {
        check::<f32>(some(3 * at + 2, [n, k, count], (2.0, 0.0)), at as u64);
        check::<f64>(some(3 * at + 1, [n, k, count], (1.0, -1.0)), at as u64);
    }
}
